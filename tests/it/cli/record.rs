//! `audit record`: the stored record of a run, as text and as JSON.

use serde_json::{Value, json};

use crate::fixtures::cli::{CliFixture, CommandOutput, assert_refused};

const POLICY: &str =
    "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\n[grants.default.kv]\nspace = \"notes\"\n";
const NOTES: &str = "const execute = async ({ times }) => { for (let n = 0; n < times; n++) await kv.get('note'); \
    await sleep(2); await kv.set('note', times); await kv.set('', 1) }\n";

/// Creates a CLI fixture with a tool that writes notes, and returns the output of a run.
fn cli(times: u32) -> (CliFixture, Value) {
    let cli = CliFixture::new();
    cli.file("policy.toml", POLICY);
    cli.file("notes.js", NOTES);
    let made = on(&cli, &["create", "$notes.js", "--description", "Keeps notes", "--capabilities", "kv,timers"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let ran = on(&cli, &["run", "notes", &format!("times={times}"), "--json"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    let ran = ran.json();
    (cli, ran)
}

fn on(cli: &CliFixture, words: &[&str]) -> CommandOutput {
    cli.run(&[&["--no-project", "--config", "$policy.toml"], words].concat())
}

/// Returns the identifier of the last run in the audit log.
fn last_run(cli: &CliFixture) -> String {
    let line = on(cli, &["audit", "--limit", "1", "--json"]).json();
    line["details"]["run"].as_str().unwrap().to_owned()
}

#[test]
fn the_record_of_a_run_says_what_was_done_for_it() {
    let (cli, ran) = cli(1);
    let expect = json!({ "effects": [
        { "id": 0, "kind": "kv.get", "about": "note", "effects": "committed" },
        { "id": 1, "kind": "timer", "about": "2 ms", "effects": "committed" },
        { "id": 2, "kind": "kv.commit", "about": "note", "effects": "committed" },
        { "id": 3, "kind": "kv.commit", "about": "\"\"", "effects": "none", "code": "kv-key" },
    ] });
    let first = ran["done"]["effects"][0]["id"].as_u64().unwrap();
    let mut done = ran["done"].clone();
    for effect in done["effects"].as_array_mut().unwrap() {
        effect["id"] = json!(effect["id"].as_u64().unwrap() - first);
    }
    assert_eq!(done, expect);
    // The note was written before the failure.
    assert_eq!((&ran["error"]["code"], &ran["error"]["effects"]), (&json!("tool-failed"), &json!("committed")));
    let run = last_run(&cli);
    let record = on(&cli, &["audit", "record", &run, "--json"]).json();
    assert_eq!((&record["run"], &record["outcome"], &record["done"]), (&json!(run), &json!("threw"), &ran["done"]));
    let by_hash = on(&cli, &["audit", "record", ran["record"].as_str().unwrap(), "--json"]).json();
    assert_eq!(by_hash, record);
    assert_eq!(on(&cli, &["audit", "record", "--json"]).json(), record);
    let text = on(&cli, &["audit", "record", &run]).out;
    let expected = "effect   kv.get  note  committed\neffect   timer  2 ms  committed\n\
        effect   kv.commit  note  committed\neffect   kv.commit  \"\"  none  kv-key\n";
    assert!(text.starts_with(&format!("run      {run}\naction   run_dynamic_tool\ntool     notes dt_")), "{text}");
    assert!(text.contains("\noutcome  threw (tool-failed)\n") && text.ends_with(expected), "{text}");
}

#[test]
fn what_is_only_counted_is_told_by_kind() {
    let (cli, ran) = cli(300);
    let rest = json!({ "kv.get": { "committed": 44 }, "timer": { "committed": 1 }, "kv.commit": { "committed": 1, "none": 1 } });
    assert_eq!((&ran["done"]["more"], &ran["done"]["rest"]), (&json!(47), &rest));
    let text = on(&cli, &["audit", "record", &last_run(&cli)]).out;
    assert!(
        text.ends_with("\n47 more effects: kv.commit 1 none 1 committed, kv.get 44 committed, timer 1 committed\n"),
        "{text}"
    );
}

#[test]
fn an_error_of_a_run_says_how_far_it_changed_the_world() {
    let cli = cli(0).0;
    for (name, code, effects) in [
        ("reads", "const execute = async () => { await kv.get('note'); throw new Error('no') }", "none"),
        ("waits", "const execute = async () => { await sleep(1); for (;;); }", "none"),
        ("writes", "const execute = async () => { await kv.set('note', 1); for (;;); }", "committed"),
    ] {
        cli.file(&format!("{name}.js"), code);
        let file = format!("${name}.js");
        on(&cli, &["create", &file, "--description", "Fails", "--capabilities", "kv,timers"]);
        let ran = on(&cli, &["run", name, "--fuel", "50000000", "--json"]).json();
        assert_eq!(ran["error"]["effects"], effects, "{ran}");
    }
    assert_eq!(on(&cli, &["run", "none", "--json"]).json()["error"]["effects"], "none");
}

#[test]
fn a_record_that_is_not_there_is_not_shown() {
    let (cli, _) = cli(0);
    for which in ["r_00c0ffee00c0ffee-1", &"0".repeat(64), "notes", "\u{1b}[2J"] {
        assert_refused(&on(&cli, &["audit", "record", which, "--json"]), 4, "record-not-found");
    }
    let empty = CliFixture::with_mean();
    assert_refused(&empty.run(&["audit", "record", "--json"]), 4, "record-not-found");
    let refused = on(&cli, &["audit", "record", "notes"]);
    assert_eq!(refused.err, "error: no record of `notes`\nhint: list the runs with `toolcell audit`\n");
}
