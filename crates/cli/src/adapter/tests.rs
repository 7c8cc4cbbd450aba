//! The files of agents: what is written, and what is kept.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

const DECIDE: &str = "toolcell decide --dialect claude --caller claude || exit 2";

fn settings(gate: bool) -> AdapterSettings {
    let server = client_config::ServerTarget::command("toolcell".to_owned(), vec!["mcp".to_owned()]).unwrap();
    let entry = ClientEntry::new(client_config::DEFAULT_NAME, server).unwrap();
    AdapterSettings { program: "toolcell".to_owned(), options: Vec::new(), entry, gate }
}

fn file(kind: FileKind) -> AdapterFile {
    AdapterFile { path: PathBuf::new(), kind }
}

fn upsert(kind: FileKind, text: &str) -> Result<String, String> {
    file(kind).upsert(&settings(true), text, OnForeignEntry::Refuse).map_err(|error| error.to_string())
}

fn remove(kind: FileKind, text: &str) -> Result<String, String> {
    file(kind).remove(&settings(true), text, OnForeignEntry::Refuse).map_err(|error| error.to_string())
}

#[test]
fn every_value_of_this_machine_is_in_the_extension() {
    let odd = AdapterSettings {
        program: "/opt/\"a\" b/toolcell".to_owned(),
        options: vec!["--dir".to_owned(), "/srv/`${x}`".to_owned()],
        ..settings(true)
    };
    let text = with_settings(PI_EXTENSION, "pi", &odd);
    assert!(!text.contains('@'), "{text}");
    assert!(text.contains(r#"|| "/opt/\"a\" b/toolcell";"#), "{text}");
    assert!(text.contains(r#"= ["--dir","/srv/`${x}`","mcp","--publish","32"];"#), "{text}");
    assert!(text.contains(r#"= "on" === "#));
    assert!(with_settings(PI_EXTENSION, "omp", &settings(false)).contains(r#"= "off" === "#));
    assert_eq!(
        decide_command(&odd, "copilot"),
        "'/opt/\"a\" b/toolcell' --dir '/srv/`${x}`' decide --dialect copilot --caller copilot || exit 2"
    );
    assert_eq!(shell_quote("it's"), r"'it'\''s'");
}

#[test]
fn a_file_of_ours_is_replaced_and_one_that_was_edited_is_not() {
    for kind in [FileKind::Extension("pi"), FileKind::OmpTools, FileKind::CopilotExtension, FileKind::CopilotHook] {
        let ours = upsert(kind, "").unwrap();
        assert_eq!(upsert(kind, &ours).unwrap(), ours);
        assert_eq!(remove(kind, &ours).unwrap(), "");
        let without_gate = file(kind).upsert(&settings(false), &ours, OnForeignEntry::Refuse);
        assert!(without_gate.is_ok(), "{kind:?}");
        let foreign = "the file was not written by `toolcell adapter`, or was edited since";
        let edited = ours.replacen("toolcell", "toolcelll", 2).replace("dialect", "dialekt");
        for text in [edited.as_str(), "export default () => {}", "{}", "{\"hooks\": {\"preToolUse\": []}}"] {
            assert_eq!(upsert(kind, text).unwrap_err(), foreign, "{kind:?}: {text}");
            assert_eq!(remove(kind, text).unwrap_err(), foreign, "{kind:?}: {text}");
            let forced = file(kind).upsert(&settings(true), text, OnForeignEntry::Replace).unwrap();
            assert_eq!(forced, ours);
        }
    }
    let hook: Value = serde_json::from_str(&upsert(FileKind::CopilotHook, "").unwrap()).unwrap();
    let command = "toolcell decide --dialect copilot --caller copilot || exit 2";
    assert_eq!(
        hook,
        json!({ "version": 1, "hooks": { "preToolUse": [{ "type": "command", "bash": command, "timeoutSec": 30 }] } })
    );
}

#[test]
fn the_settings_of_claude_get_one_hook_and_lose_it_again() {
    let entry = json!({ "matcher": "*", "hooks": [{ "type": "command", "command": DECIDE, "timeout": 30 }] });
    let with = |text: &str| upsert(FileKind::ClaudeHooks, text).unwrap();
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let new = with("");
    assert_eq!(value(&new), json!({ "hooks": { "PreToolUse": [entry] } }));
    assert_eq!(with(&new), new);
    assert_eq!(remove(FileKind::ClaudeHooks, &new).unwrap(), "");

    let other = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \
                 \"hooks\": [{ \"type\": \"command\", \"command\": \"./mine.sh\" }] }\n    ]\n  }\n}\n";
    let both = with(other);
    assert!(both.contains("// mine") && both.contains("./mine.sh") && both.contains(DECIDE), "{both}");
    assert_eq!(with(&both), both);
    assert_eq!(
        value(&remove(FileKind::ClaudeHooks, &both).unwrap().replace("// mine", "")),
        value(&other.replace("// mine", ""))
    );
    assert_eq!(remove(FileKind::ClaudeHooks, other).unwrap(), other);

    let elsewhere = both.replace("toolcell decide", "/old/toolcell decide");
    assert_eq!(value(&with(&elsewhere).replace("// mine", "")), value(&both.replace("// mine", "")));
    assert_eq!(upsert(FileKind::ClaudeHooks, "{\"hooks\": []}").unwrap_err(), "line 1: `hooks` has another type");
    assert!(upsert(FileKind::ClaudeHooks, "{").unwrap_err().starts_with("line 1, column "));
}
