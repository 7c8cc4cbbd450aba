//! `decide`: decisions about calls of tools that Toolcell does not run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::policy::PolicyFixture;
use crate::fixtures::cli::CommandOutput;

const RULES: &str = r#"
[external_tools]
default = "ask"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["git *", "ls"] }
decision = "allow"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["rm *"] }
decision = "deny"
reason = "use the trash"
"#;

/// Denies `rm`, asks about `sudo`, changes `ls` to `ls -a`, and has no objection otherwise.
const HOUSE_RULES: &str = r#"
const execute = ({ toolName, toolArgs: { command } }: { toolName: string; toolArgs: { command: string } }) => {
  if (toolName === "twice") return { permissionDecision: "deny", permissionDecisionReason: "not today" };
  if (toolName !== "bash") return null;
  if (/\brm\b/.test(command)) return { permissionDecision: "deny", permissionDecisionReason: "rm is not done here" };
  if (command.startsWith("sudo")) return { permissionDecision: "ask", permissionDecisionReason: "as root?" };
  if (command === "ls") return { modifiedArgs: { command: "ls -a" }, additionalContext: "hidden files are shown" };
  if (command === "spin") for (;;);
  if (command === "throw") throw new Error("house on fire");
  if (command === "nonsense") return "yes";
};
"#;

const TOOL_HOOK: &str = "[[hooks]]\nname = 'house'\ntool = 'house_rules'\n";

fn decide(place: &PolicyFixture, words: &[&str], event: &Value) -> Value {
    let done = place.with_input(&[&["decide"], words].concat(), event.to_string().as_bytes());
    assert_eq!(done.status, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

fn bash(place: &PolicyFixture, command: &str) -> Value {
    decide(place, &[], &json!({ "toolName": "bash", "toolArgs": { "command": command } }))
}

fn deny(reason: &str) -> Value {
    json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
}

/// Returns the audit lines of decisions.
fn audit_lines(place: &PolicyFixture) -> Vec<Value> {
    let log = place.on(&["audit", "--action", "decide", "--json", "--limit", "100"]).out;
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn store_tool(place: &PolicyFixture, source: &str, more: &[&str]) -> CommandOutput {
    fs::write(place.path("rules.ts"), source).unwrap();
    let words = ["create", &place.text("rules.ts"), "--name", "house_rules", "--description", "The rules of the house"];
    place.on(&[&words[..], more].concat())
}

#[test]
fn the_policy_decides_in_the_words_of_each_host() {
    let place = PolicyFixture::new(RULES, "");
    assert_eq!(bash(&place, "git status"), json!({ "permissionDecision": "allow" }));
    assert_eq!(bash(&place, "rm -r ."), deny("use the trash"));
    let origin = format!("the policy says so (user {}:3)", place.text("user.toml"));
    assert_eq!(
        bash(&place, "git status; rm -r ."),
        json!({ "permissionDecision": "ask", "permissionDecisionReason": origin })
    );
    let copilot = json!({
        "sessionId": "s-1", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": { "command": "rm x" },
    });
    assert_eq!(decide(&place, &["--dialect", "copilot"], &copilot), deny("use the trash"));
    let claude = json!({
        "session_id": "s-2", "transcript_path": "/t", "cwd": "/", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "rm x" }, "tool_use_id": "c-1",
    });
    assert_eq!(
        decide(&place, &["--dialect", "claude", "--caller", "claude-code"], &claude),
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "use the trash",
        }})
    );
    let details: Vec<Value> = audit_lines(&place).iter().map(|line| line["details"].clone()).collect();
    assert_eq!(details.len(), 5);
    let last = details.iter().find(|it| it["caller"] == "claude-code session=s-2 call=c-1").unwrap();
    assert_eq!(last["outcome"], "deny");
    let callers: Vec<&str> = details.iter().filter_map(|it| it["caller"].as_str()).collect();
    assert!(callers.contains(&"host session=s-1") && callers.contains(&"host"), "{callers:?}");
    // Without rules there is no decision.
    let place = PolicyFixture::new("", "");
    assert_eq!(bash(&place, "rm -r ."), json!({}));
}

#[test]
fn a_stored_tool_decides_once_it_is_approved() {
    let place = PolicyFixture::new(TOOL_HOOK, "");
    assert_eq!(bash(&place, "id"), deny("the hook `house` cannot be started: there is no tool `house_rules`"));
    let id = store_tool(&place, HOUSE_RULES, &["--json"]).json()["id"].as_str().unwrap()[..15].to_owned();
    let unapproved = |id: &str| {
        deny(&format!(
            "the hook `house` does not run: `house_rules` ({id}) is not approved; review it, then run: toolcell \
             approvals grant {id}"
        ))
    };
    assert_eq!(bash(&place, "id"), unapproved(&id));
    place.on(&["approvals", "grant", "house_rules"]);
    assert_eq!(bash(&place, "id"), json!({}));
    assert_eq!(bash(&place, "rm -r ."), deny("rm is not done here"));
    assert_eq!(bash(&place, "sudo id"), json!({ "permissionDecision": "ask", "permissionDecisionReason": "as root?" }));
    assert_eq!(
        bash(&place, "ls"),
        json!({ "modifiedArgs": { "command": "ls -a" }, "additionalContext": "house: hidden files are shown" })
    );
    assert_eq!(bash(&place, "throw"), deny("the hook `house` failed: Error: house on fire"));
    assert_eq!(
        bash(&place, "nonsense"),
        deny("the hook `house` gave an invalid answer: `\"yes\"` is neither an object nor null")
    );
    // It is asked about our own tools as well.
    fs::write(place.path("user.toml"), "[[hooks]]\nname = 'house'\ntool = 'house_rules'\ntools = ['twice']\n").unwrap();
    place.on(&["create", &place.text("twice.js"), "--name", "twice", "--description", "Doubles"]);
    let done = place.on(&["run", "twice", r#"{"n": 21}"#]);
    assert!(done.status == 3 && done.err.contains("not today"), "{}", done.err);
    // Another tool under the name decides nothing.
    fs::write(place.path("user.toml"), TOOL_HOOK).unwrap();
    let other = store_tool(&place, "const execute = () => ({ permissionDecision: 'allow' })", &["--replace", "--json"]);
    let other = other.json()["id"].as_str().unwrap()[..15].to_owned();
    assert_eq!(bash(&place, "rm -r ."), unapproved(&other));
    assert_eq!(audit_lines(&place).len(), 9);
}

#[test]
fn a_tool_that_decides_is_bounded() {
    let policy = format!("[limits]\nfuel = 5_000_000\n{TOOL_HOOK}");
    let place = PolicyFixture::new(&policy, "");
    store_tool(&place, HOUSE_RULES, &[]);
    place.on(&["approvals", "grant", "house_rules", "--yes"]);
    let told = bash(&place, "spin")["permissionDecisionReason"].as_str().unwrap().to_owned();
    assert!(told.starts_with("the hook `house` failed: ") && told.contains("fuel"), "{told}");
    fs::write(place.path("user.toml"), format!("{TOOL_HOOK}timeout_ms = 50\n[limits]\nfuel = 900_000_000_000\n"))
        .unwrap();
    let told = bash(&place, "spin")["permissionDecisionReason"].as_str().unwrap().to_owned();
    assert!(told.starts_with("the hook `house` failed: ") && told.contains("50 ms"), "{told}");
}

#[test]
fn arguments_that_a_hook_changed_are_decided_about_again() {
    let hook = "[[hooks]]\nname = 'worse'\n\
                command = ['sh', '-c', 'echo \"{\\\"modifiedArgs\\\": {\\\"command\\\": \\\"rm x\\\"}}\"']\n";
    let place = PolicyFixture::new(&format!("{RULES}{hook}"), "");
    let told = bash(&place, "git status");
    assert_eq!(
        (&told["permissionDecision"], &told["permissionDecisionReason"]),
        (&json!("deny"), &json!("use the trash"))
    );
}

#[test]
fn a_published_hook_decides_as_in_its_own_host() {
    let script = "#!/bin/sh\ngrep -q 'git push' && { echo 'a person pushes' >&2; exit 2; }\nexit 0\n";
    for protocol in ["copilot", "claude"] {
        let hook = format!("[[hooks]]\nname = 'push'\ncommand = ['./push.sh']\nprotocol = '{protocol}'\n");
        let place = PolicyFixture::new(&hook, "");
        fs::write(place.path("push.sh"), script).unwrap();
        fs::set_permissions(place.path("push.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(bash(&place, "git push"), deny("a person pushes"));
        assert_eq!(bash(&place, "git status"), json!({}));
    }
}

#[test]
fn whatever_goes_wrong_is_a_denial_that_the_host_reads() {
    let place = PolicyFixture::new(RULES, "");
    let told = |words: &[&str], input: &[u8]| {
        let done = place.with_input(&[&["decide"], words].concat(), input);
        assert!(done.status == 0 && done.err.starts_with("error: "), "{} {}", done.status, done.err);
        let answer: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(answer["permissionDecision"], "deny");
        answer["permissionDecisionReason"].as_str().unwrap().to_owned()
    };
    let event = br#"{"toolName": "bash", "toolArgs": {"command": "ls"}}"#;
    let not = "Toolcell cannot decide: the event is not of this protocol: ";
    assert_eq!(told(&[], b""), format!("{not}EOF while parsing a value at line 1 column 0"));
    assert_eq!(
        told(&[], b"{\"toolName\": 1}"),
        format!("{not}invalid type: integer `1`, expected a string at line 1 column 14")
    );
    assert!(told(&[], b"\xff").contains("UTF-8"));
    assert_eq!(told(&[], &vec![b' '; (4 << 20) + 1]), "Toolcell cannot decide: the call is longer than 4194304 bytes");
    let typo = br#"{"toolName": "bash", "toolArg": {}}"#;
    assert!(told(&[], typo).starts_with(&format!("{not}unknown field `toolArg`")));
    // These are in the log as well.
    let errors: Vec<Value> = audit_lines(&place).iter().map(|line| line["error"].clone()).collect();
    assert_eq!(errors.len(), 5);
    assert!(errors.iter().filter(|error| *error == "request-invalid").count() >= 4, "{errors:?}");
    let file = place.text("twice.js");
    assert!(told(&["--dir", &file], event).contains("twice.js"));
    fs::write(place.path("user.toml"), "[external_tool]").unwrap();
    assert!(told(&[], event).contains("did you mean `external_tools`?"));
    fs::remove_file(place.path("user.toml")).unwrap();
    assert!(told(&[], event).contains("no such file"));
    // So are those of a policy that cannot be read, in the store that is there.
    fs::write(place.path("user.toml"), RULES).unwrap();
    let lines = audit_lines(&place);
    let of_policies = lines.iter().filter(|line| line["toolName"] == "bash" && line["error"].is_string());
    assert_eq!((lines.len(), of_policies.count()), (7, 2), "{lines:?}");

    let usage = place.with_input(&["decide", "--dialect", "codex"], event);
    assert_eq!((usage.status, usage.out.as_str()), (2, ""));
    let usage = place.with_input(&["decide", "--timeout-ms", "0"], event);
    assert_eq!((usage.status, usage.out.as_str()), (2, ""));
}

#[test]
fn a_hook_that_hangs_is_a_denial_within_the_limit_and_nothing_is_left() {
    let place = PolicyFixture::new("", "");
    let pid = place.text("pid");
    let hook =
        format!("[[hooks]]\nname = 'slow'\ncommand = ['sh', '-c', 'echo $$ > {pid}; sleep 60']\ntimeout_ms = 60_000\n");
    fs::write(place.path("user.toml"), hook).unwrap();
    let began = Instant::now();
    let told = decide(&place, &["--timeout-ms", "300"], &json!({ "toolName": "bash" }));
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    let reason = told["permissionDecisionReason"].as_str().unwrap();
    // Opening the toolbox is not part of the time, and neither is the policy.
    assert!(reason.starts_with("the hook `slow` did not answer within ") && reason.ends_with(" ms"), "{reason}");
    let pid = fs::read_to_string(pid).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid}");
}

#[test]
fn twenty_calls_at_once_get_twenty_decisions() {
    let hook = "[[hooks]]\nname = 'slow'\ncommand = ['sh', '-c', 'sleep 0.2; exit 2']\nprotocol = 'copilot'\n\
                timeout_ms = 60_000\n";
    let place = PolicyFixture::new(hook, "");
    let event = json!({ "toolName": "bash" });
    let words = ["--timeout-ms", "60000"];
    let decisions: Vec<Value> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..20).map(|_| scope.spawn(|| decide(&place, &words, &event))).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(decisions, vec![deny("the hook `slow` gives no reason"); 20]);
    assert_eq!(audit_lines(&place).len(), 20);
}
