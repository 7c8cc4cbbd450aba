//! `grant`: one step from a tool that lacks grants to one that runs.

use std::fs;

use serde_json::{Value, json};

use super::policy::PolicyFixture;
use crate::mcp::server::BinaryFixture;
use crate::terminal::Terminal;

/// A tool that waits and keeps a value, with a finding of its own in the middle of harmless lines.
fn waiting() -> String {
    let harmless = "// harmless\n".repeat(60);
    format!(
        "{harmless}const execute = async ({{ n }}) => {{ await sleep(1); await kv.set('n', n); return kv.get('n') }}\n{harmless}"
    )
}

/// A user's policy with settings and comments of its own.
const POLICY: &str = "# mine\n[limits] # tight\nmemory_mb = 32\n\n[grants.default]\nclock = true # for all\n";

fn with_tool(policy: &str, project: &str) -> PolicyFixture {
    let place = PolicyFixture::new(policy, project);
    fs::write(place.path("waits.js"), waiting()).unwrap();
    let words = ["create", &place.text("waits.js"), "--description", "Waits", "--capabilities", "timers,kv,clock"];
    assert_eq!(place.on(&words).status, 0);
    place
}

#[test]
fn a_grant_is_written_to_the_policy_and_approves_exactly_that() {
    let place = with_tool(POLICY, "");
    let id = place.on(&["show", "waits", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let short = &id[..15];
    let denied = place.on(&["run", "waits", "n=7"]);
    let command = format!("`toolcell grant {short} timers kv=SPACE` grants what it lacks, and approves it\n");
    assert!(denied.status == 3 && denied.err.ends_with(&command), "{}", denied.err);

    let shown = place.on(&["grant", "waits", "timers", "kv=n", "--dry-run"]);
    assert!(shown.status == 0 && shown.out.ends_with("nothing was changed\n"), "{}{}", shown.out, shown.err);
    for line in ["+[grants.tools.waits]", "+timers = true", "+space = \"n\"", "  is granted: timers, clock, kv"] {
        assert!(shown.err.lines().any(|row| row.starts_with(line)), "{line}: {}", shown.err);
    }
    assert_eq!(fs::read_to_string(place.path("user.toml")).unwrap(), POLICY);
    assert_eq!(place.on(&["run", "waits", "n=7"]).status, 3);

    let done = place.on(&["grant", "waits", "timers", "kv=n", "--json"]).json();
    assert_eq!((&done["tool"], &done["dryRun"]), (&json!(id), &json!(false)));
    let text = fs::read_to_string(place.path("user.toml")).unwrap();
    assert!(text.starts_with(POLICY) && text.contains(&format!("id = \"{id}\"")), "{text}");
    let run = place.on(&["run", "waits", "n=7"]);
    assert_eq!((run.status, run.out.trim()), (0, "7"), "{}", run.err);
    let decided = place.on(&["approvals", "--json"]).json();
    assert_eq!((&decided["pending"], &decided["decided"][0]["grants"]), (&json!([]), &done["grants"]));
    // A second time it changes nothing.
    assert_eq!(place.on(&["grant", "waits", "timers", "kv=n", "--json"]).json()["diff"], "");

    // Changed code is another tool: neither the grants nor the approval are for it.
    fs::write(place.path("waits.js"), waiting().replace("sleep(1)", "sleep(2)")).unwrap();
    let words =
        ["create", &place.text("waits.js"), "--description", "Waits", "--capabilities", "timers,kv", "--replace"];
    assert_eq!(place.on(&words).status, 0);
    assert_eq!(place.on(&["run", "waits", "n=7"]).status, 3);
}

#[test]
fn a_grant_without_effect_is_refused_with_its_reason_and_changes_nothing() {
    let place = with_tool(POLICY, "[grants.tools.waits]\nkv = false\n");
    for (words, status, says) in [
        (&["waits", "net=a.example"][..], 2, "does not request `net`"),
        (&["waits", "kv=n"], 2, "kv is refused by `grants.tools.waits` (project "),
        (&["waits", "kv"], 2, "name the space: `kv=notes`"),
        (&["waits", "timers=1"], 2, "write only `timers`"),
        (&["waits", "kv=SPACE"], 2, "replace `SPACE`"),
        (&["waits", "nothing"], 2, "the capabilities are net, timers"),
        (&["waits"], 2, "<GRANT>"),
        (&["nowhere", "timers"], 4, "there is no tool `nowhere`"),
        (&["waits", "timers", "--yes", "--dry-run"], 2, "--dry-run"),
    ] {
        let done = place.on(&[&["grant"], words].concat());
        assert!(done.status == status && done.err.contains(says) && done.out.is_empty(), "{words:?}: {}", done.err);
    }
    assert_eq!(fs::read_to_string(place.path("user.toml")).unwrap(), POLICY);
    assert_eq!(place.on(&["approvals", "--json"]).json()["decided"], json!([]));
}

#[test]
fn each_host_that_the_tool_does_not_name_is_refused() {
    let place = PolicyFixture::new("", "");
    fs::write(place.path("get.js"), "const execute = async () => (await fetch('https://a.example/x')).status").unwrap();
    fs::write(place.path("get.json"), r#"{ "description": "Gets", "capabilities": { "net": ["a.example"] } }"#)
        .unwrap();
    assert_eq!(place.on(&["create", &place.text("get.js")]).status, 0);
    let done = place.on(&["grant", "get", "net=a.example", "net=b.example"]);
    assert!(done.status == 2 && done.err.contains("https://b.example) would have no effect"), "{}", done.err);
    assert_eq!(fs::read_to_string(place.path("user.toml")).unwrap(), "");
    let done = place.on(&["grant", "get", "net=a.example"]);
    assert!(done.status == 0 && done.out.contains("https://a.example"), "{}{}", done.out, done.err);
}

#[test]
fn a_granted_folder_must_not_hold_the_policy_or_the_store() {
    let place = PolicyFixture::new("", "");
    fs::write(place.path("reads.js"), "const execute = () => files.readText('in/x')").unwrap();
    place.on(&["create", &place.text("reads.js"), "--description", "Reads"]);
    let word = format!("files=in:{}:write", place.path("").display());
    let done = place.on(&["grant", "reads", &word]);
    assert_eq!(done.status, 2, "{}{}", done.out, done.err);
    assert_eq!(fs::read_to_string(place.path("user.toml")).unwrap(), "");
}

const DOWN: &str = "\u{1b}[B";

fn decided(home: &BinaryFixture) -> Vec<Value> {
    let text = home.stdout_of(&["approvals", "--json"]);
    serde_json::from_str::<Value>(&text).unwrap()["decided"].as_array().unwrap().clone()
}

#[test]
fn the_question_about_a_tool_shows_what_matters_first_and_can_grant() {
    let home = BinaryFixture::new("");
    let file = home.path("waits.js");
    fs::write(&file, waiting()).unwrap();
    home.stdout_of(&["create", file.to_str().unwrap(), "--description", "Waits"]);
    let asks = |keys: &str, space: &str| {
        let mut terminal = Terminal::start(&home, &["run", "waits", "n=7"]);
        while !terminal
            .wait_for_prompt(&["Page ", "Allow `waits` to run?"])
            .iter()
            .any(|row| row.contains("Allow `waits`"))
        {
            terminal.type_keys("\r");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        terminal.type_keys(keys);
        if !space.is_empty() {
            terminal.wait_for_prompt(&["Grant for kv=SPACE"]);
            terminal.type_keys(space);
        }
        terminal.wait_for_exit()
    };
    assert_eq!(asks("\r", "").0, Some(3));
    // The line that uses capabilities is shown though sixty harmless ones precede it.
    let listed = home.stdout_of(&["approvals"]);
    assert!(listed.contains(" 61 | const execute") && listed.contains("  … |"), "{listed}");
    assert!(listed.contains(" timers kv=SPACE\n") && !listed.contains("--shown"), "{listed}");

    let (status, out) = asks(&format!("{DOWN}\r"), "n\r");
    assert_eq!((status, out.trim()), (Some(0), "7"));
    assert_eq!(decided(&home), Vec::<Value>::new());
    let (status, out) = asks(&format!("{DOWN}{DOWN}\r"), "n\r");
    assert_eq!((status, out.trim()), (Some(0), "7"));
    assert_eq!(decided(&home)[0]["grants"]["timers"], json!(true));
    assert_eq!(home.stdout_of(&["run", "waits", "n=8"]).trim(), "8");
}
