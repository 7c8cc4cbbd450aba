//! The protocols of other hosts: scripts that work there decide the same here.

use super::*;
use crate::admission::hook::json::{decision_json, parse_call};

fn in_protocol(protocol: HookProtocol, when: HookPhase, script: &str) -> Hooks {
    hooks(CommandHook { protocol, ..command(when, script) })
}

fn check(protocol: HookProtocol, script: &str, expect: &str) {
    let admission = in_protocol(protocol, HookPhase::Before, script).admit(event(), None);
    assert_eq!(decision_text(&admission), expect, "{script}");
}

/// Checks a script with both protocols.
fn check_both(script: &str, expect: &str) {
    check(HookProtocol::Copilot, script, expect);
    check(HookProtocol::Claude, script, expect);
}

#[test]
fn a_script_reads_the_event_of_its_host() {
    let claims =
        CallerClaims { session: Some("s1".to_owned()), call: Some("c1".to_owned()), ..CallerClaims::default() };
    let event = || event().with_claims(claims.clone());
    let echo = |protocol, when| in_protocol(protocol, when, "cat >&2; exit 2");
    let seen = |protocol| match echo(protocol, HookPhase::Before).admit(event(), None).decision.reason() {
        Some(reason) => serde_json::from_str::<Value>(&reason.to_string()).unwrap(),
        None => panic!("it does not object"),
    };
    assert_eq!(
        seen(HookProtocol::Copilot),
        json!({"sessionId": "s1", "timestamp": 0, "cwd": "/srv/agent", "toolName": "send-mail", "toolArgs": {"n": 1}})
    );
    assert_eq!(
        seen(HookProtocol::Claude),
        json!({
            "session_id": "s1", "transcript_path": "", "cwd": "/srv/agent", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "send-mail", "tool_input": {"n": 1}, "tool_use_id": "c1",
        })
    );
    let end = PostRunEvent::returned(Some(toolcell_host::Json::parse("[6]").unwrap()), Duration::ZERO);
    let after = |protocol| {
        let review = echo(protocol, HookPhase::After).review(&event(), end.clone());
        assert_eq!(review.steps[0].failure, None);
        serde_json::from_str::<Value>(&review.context[0].text).unwrap()
    };
    assert_eq!(after(HookProtocol::Claude)["tool_response"], json!([6]));
    assert_eq!(
        after(HookProtocol::Copilot)["toolResult"],
        json!({"resultType": "success", "textResultForLlm": "[\n  6\n]"})
    );
}

#[test]
fn an_exit_status_of_2_is_an_objection_with_its_reason() {
    check_both("echo 'not on Sunday' >&2; echo 'nor at night' >&2; exit 2", "deny: not on Sunday\nnor at night");
    check_both("echo '{\"permissionDecision\": \"allow\"}'; exit 2", "deny: the hook `x` gives no reason");
    // Another one fails closed.
    check_both("echo oops >&2; exit 1", "deny: the hook `x` exited with status 1: oops");
    check_both("kill -9 $$", "deny: the hook `x` was killed by signal 9");
}

#[test]
fn silence_is_no_objection() {
    check_both("cat > /dev/null", "no-objection");
    check_both("echo", "no-objection");
    check_both("echo '{}'", "no-objection");
    check(HookProtocol::Claude, "echo checked", "no-objection");
    check(
        HookProtocol::Copilot,
        "echo checked",
        "deny: the hook `x` gave an invalid answer: `checked` is neither an object nor null",
    );
}

#[test]
fn copilot_answers_decide() {
    let check = |answer: &str, expect: &str| check(HookProtocol::Copilot, &format!("echo '{answer}'"), expect);
    check(r#"{"permissionDecision":"allow","version":1}"#, "allow");
    check(r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#, "deny: no");
    check(r#"{"permissionDecision":"ask","permissionDecisionReason":"sure?"}"#, "ask: sure?");
    check(
        r#"{"permissionDecision":"block"}"#,
        "deny: the hook `x` gave an invalid answer: `permissionDecision` is `block`, it must be allow, ask or deny",
    );
    for args in [r#"{"n":2}"#, r#""{\"n\":2}""#] {
        let script = format!("cat <<'END'\n{{\"modifiedArgs\":{args}}}\nEND");
        let admission = in_protocol(HookProtocol::Copilot, HookPhase::Before, &script).admit(event(), None);
        assert_eq!(admission.args.as_deref(), Some(&json!({"n": 2})), "{args}");
    }
}

#[test]
fn claude_answers_decide() {
    let check = |answer: &str, expect: &str| check(HookProtocol::Claude, &format!("echo '{answer}'"), expect);
    let output = |fields: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{fields}}}}}"#);
    check(&output(r#""permissionDecision":"allow""#), "allow");
    check(&output(r#""permissionDecision":"deny","permissionDecisionReason":"no""#), "deny: no");
    check(&output(r#""permissionDecision":"ask","permissionDecisionReason":"sure?""#), "ask: sure?");
    check(r#"{"decision":"block","reason":"no"}"#, "deny: no");
    check(r#"{"decision":"approve","suppressOutput":true}"#, "allow");
    check(r#"{"continue":false,"stopReason":"enough"}"#, "deny: enough");
    check(r#"{"continue":true,"systemMessage":"hello"}"#, "no-objection");
    check(
        &output(r#""permissionDecision":"defer""#),
        "deny: the hook `x` gave an invalid answer: `permissionDecision` is `defer`, it must be allow, ask or deny",
    );
    let script = format!("echo '{}'", output(r#""updatedInput":{"n":2},"additionalContext":"was 1""#));
    let admission = in_protocol(HookProtocol::Claude, HookPhase::Before, &script).admit(event(), None);
    assert_eq!(admission.args.as_deref(), Some(&json!({"n": 2})));
    assert_eq!(admission.context[0].text, "was 1");
}

#[test]
fn answers_after_a_run_change_it() {
    let end = PostRunEvent::returned(Some(toolcell_host::Json::parse("6").unwrap()), Duration::ZERO);
    let review = |protocol, answer: &str| {
        in_protocol(protocol, HookPhase::After, &format!("echo '{answer}'")).review(&event(), end.clone())
    };
    let reviewed =
        review(HookProtocol::Copilot, r#"{"modifiedResult":{"textResultForLlm":"x","resultType":"success"}}"#);
    assert_eq!(reviewed.end.result.as_ref().unwrap().as_str(), "\"x\"");
    let reviewed =
        review(HookProtocol::Copilot, r#"{"modifiedResult":{"textResultForLlm":"x","resultType":"denied"}}"#);
    assert_eq!((reviewed.end.kind, reviewed.end.error.as_deref()), (EndKind::Threw, Some("x")));
    let reviewed = review(HookProtocol::Claude, r#"{"decision":"block","reason":"look again"}"#);
    assert_eq!(reviewed.end.result.as_ref().unwrap().as_str(), "6");
    assert_eq!(reviewed.context[0].text, "look again");
    let reviewed = review(HookProtocol::Claude, r#"{"hookSpecificOutput":{"updatedToolOutput":[7]}}"#);
    assert_eq!(reviewed.end.result.as_ref().unwrap().as_str(), "[7]");
}

#[test]
fn the_folder_of_the_project_is_in_the_environment() {
    let script = r#"echo "$CLAUDE_PROJECT_DIR|$COPILOT_PROJECT_DIR" >&2; exit 2"#;
    check(HookProtocol::Claude, script, "deny: /srv/agent|");
    check(HookProtocol::Copilot, script, "deny: /srv/agent|/srv/agent");
}

#[test]
fn a_call_that_cannot_be_read_is_told() {
    let check = |protocol, text: &str, expect: &str| {
        let error = parse_call(protocol, text).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().as_str()), ("request-invalid", expect), "{text}");
    };
    let not = "the event is not of this protocol";
    check(HookProtocol::Toolcell, "", &format!("{not}: EOF while parsing a value at line 1 column 0"));
    check(HookProtocol::Toolcell, r#"["preToolUse", "bash"]"#, &format!("{not}: an array, it must be an object"));
    check(HookProtocol::Copilot, "{}", &format!("{not}: missing field `toolName` at line 1 column 2"));
    check(HookProtocol::Claude, "{}", &format!("{not}: missing field `hook_event_name` at line 1 column 2"));
    check(HookProtocol::Claude, r#"{"hook_event_name":"PreToolUse"}"#, &format!("{not}: `tool_name` is missing"));
    check(
        HookProtocol::Claude,
        r#"{"hook_event_name":"PostToolUse","tool_name":"Bash"}"#,
        "the event is `PostToolUse`; only `PreToolUse` has a decision",
    );
    check(
        HookProtocol::Copilot,
        r#"{"toolName":"bash","toolResult":{}}"#,
        "the event is `postToolUse`; only `preToolUse` has a decision",
    );
    check(
        HookProtocol::Copilot,
        r#"{"toolName":"bash","toolArgs":"ls"}"#,
        "the arguments of the tool must be an object",
    );
    let name = "the name of the tool must have 1 to 256 characters, and no control characters";
    check(HookProtocol::Toolcell, r#"{"toolName":" "}"#, name);
    check(HookProtocol::Toolcell, r#"{"toolName":"a\u001b[2J"}"#, name);
    check(HookProtocol::Toolcell, &format!(r#"{{"toolName":"{}"}}"#, "x".repeat(257)), name);
}

#[test]
fn a_call_is_read_and_a_decision_written_in_each_protocol() {
    let args = json!({"command": "ls"});
    let copilot = r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}"#;
    let claude = r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"bash",
        "tool_input":{"command":"ls"},"permission_mode":"plan","effort":{"level":"high"}}"#;
    let own = r#"{"toolName":"bash","toolArgs":{"command":"ls"},"cwd":"/w","sessionId":"s"}"#;
    for (protocol, text) in
        [(HookProtocol::Copilot, copilot), (HookProtocol::Claude, claude), (HookProtocol::Toolcell, own)]
    {
        let call = parse_call(protocol, text).unwrap();
        assert_eq!((call.tool_name.as_str(), &call.args), ("bash", &args));
        assert_eq!((call.cwd.as_deref(), call.claims.session.as_deref()), (Some("/w"), Some("s")));
    }
    let mut decision = ExternalDecision::failed(&Message::verbatim("x".to_owned()));
    let deny = "Toolcell cannot decide: x";
    let written = |decision: &ExternalDecision, protocol| decision_json(protocol, decision, toolcell_i18n::Lang::En);
    assert_eq!(
        written(&decision, HookProtocol::Copilot),
        json!({"permissionDecision": "deny", "permissionDecisionReason": deny})
    );
    assert_eq!(
        written(&decision, HookProtocol::Claude),
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": deny,
        }})
    );
    decision.decision = HookDecision::NoObjection;
    for protocol in [HookProtocol::Toolcell, HookProtocol::Copilot, HookProtocol::Claude] {
        assert_eq!(written(&decision, protocol), json!({}));
    }
    decision.args = Some(args.clone());
    assert_eq!(
        written(&decision, HookProtocol::Claude),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": args}})
    );
}
