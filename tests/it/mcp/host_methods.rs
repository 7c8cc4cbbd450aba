//! The extension `toolcell/host`: methods for the program that started the server.

use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::server::BinaryFixture;

const RULES: &str = "[external_tools]\ndefault = 'ask'\n[[external_tools.rules]]\ntools = ['bash']\n\
                     args = { command = ['rm *'] }\ndecision = 'deny'\nreason = 'use the trash'\n";
const WAITS: &str = "const execute = ({ ms }) => { setTimeout(() => {}, ms) }";
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

fn host() -> Value {
    json!({ "extensions": { "toolcell/host": {} } })
}

/// Checks with a client of each revision.
fn for_each_revision(check: impl Fn(&BinaryFixture, RawClient)) {
    let home = BinaryFixture::new(RULES);
    check(&home, home.start_stdio(&[]).in_session(host()));
    let home = BinaryFixture::new(RULES);
    check(&home, home.start_stdio(&[]).stateless(host()));
}

/// Returns the audit lines of an action.
fn audit_lines(home: &BinaryFixture, action: &str) -> Vec<Value> {
    let log = home.stdout_of(&["audit", "--action", action, "--json"]);
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_host_asks_about_its_own_tools() {
    for_each_revision(|home, mut peer| {
        let mut decide = |call: Value| peer.request("toolcell/decide", call).result();
        let told = decide(json!({
            "toolName": "Bash", "toolArgs": { "command": "rm x" }, "sessionId": "s", "agentId": "a", "toolCallId": "c",
        }));
        assert_eq!(told["permissionDecision"], "deny");
        assert_eq!(told["permissionDecisionReason"], "use the trash");
        assert!(told["decidedBy"].as_str().unwrap().starts_with("policy user "), "{told}");
        assert_eq!(decide(json!({ "toolName": "read" }))["permissionDecision"], "ask");
        let lines = audit_lines(home, "decide");
        assert_eq!(lines.len(), 2);
        let with_claims = |line: &&Value| {
            line["details"]["caller"].as_str().is_some_and(|caller| caller.ends_with(" session=s agent=a call=c"))
        };
        assert_eq!(lines.iter().filter(with_claims).count(), 1, "{lines:?}");
        peer.request("toolcell/decide", json!({ "toolNames": "x" })).is_refused_with(INVALID_PARAMS);
        assert_eq!(audit_lines(home, "decide").len(), 3);
    });
}

#[test]
fn a_host_with_its_own_dialogue_shows_a_tool_and_approves_what_was_shown() {
    for_each_revision(|home, mut peer| {
        peer.create_tool("waits", WAITS);
        let call = json!({ "tool": "waits", "parameters": { "ms": 1 } });
        let told = peer.request("toolcell/explain", call.clone()).result();
        assert_eq!((&told["admitted"], &told["asks"], &told["error"]), (&json!(true), &json!(true), &Value::Null));
        let shown = peer.request("toolcell/approval", json!({ "tool": "waits" })).result();
        assert_eq!((&shown["name"], &shown["source"]), (&json!("waits"), &json!(WAITS)));
        assert_eq!(shown["missing"], json!(["timers"]));
        let facts = shown["facts"].to_string();
        assert!(facts.contains("waits") && facts.contains("timers"), "{facts}");
        let digest = shown["digest"].clone();
        let other = json!({ "tool": "waits", "digest": "0".repeat(64) });
        peer.request("toolcell/approve", other).is_refused_with(INVALID_PARAMS);
        let approved = peer.request("toolcell/approve", json!({ "tool": "waits", "digest": digest })).result();
        assert_eq!((&approved["name"], &approved["grants"]), (&json!("waits"), &json!({})));
        let told = peer.request("toolcell/explain", call).result();
        assert_eq!((&told["admitted"], &told["asks"]), (&json!(true), &json!(false)));
        assert_eq!(audit_lines(home, "approve").len(), 1);

        let told = peer.request("toolcell/explain", json!({ "tool": "no-such" })).result();
        assert_eq!((&told["admitted"], &told["error"]["code"]), (&json!(false), &json!("tool-not-found")));
        peer.request("toolcell/approval", json!({ "tool": "no-such" })).is_refused_with(INVALID_PARAMS);
        peer.request("toolcell/explain", json!({ "tool": "waits", "params": {} })).is_refused_with(INVALID_PARAMS);
    });
}

#[test]
fn nobody_else_has_these_methods() {
    let home = BinaryFixture::new(RULES);
    let decide = |mut peer: RawClient| {
        peer.request("toolcell/decide", json!({ "toolName": "bash" })).is_refused_with(METHOD_NOT_FOUND);
        peer.request("toolcell/approve", json!({ "tool": "x", "digest": "y" })).is_refused_with(METHOD_NOT_FOUND);
    };
    decide(home.start_stdio(&[]).in_session(json!({})));
    decide(home.start_stdio(&[]).stateless(json!({})));
    let web = home.start_http(&[]);
    decide(web.client().in_session(host()));
    decide(web.client().stateless(host()));
}
