//! Hooks, approvals and grants: a hook without a decision denies, and a denial names its hook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolcell::hook::{EndKind, HookEvent, PostRunEvent};
use toolcell::store::{Approval, Decision};
use toolcell::{ApprovalAnswer, ApprovalPrompt, Approver, HookVerdict, Hooks, Json, Revision, RunOptions};

use super::{ToolboxFixture, now, refusal, returned_value};

const ECHO: &str = "const execute = (params) => params";

/// Creates a toolbox with one tool, which returns its arguments.
fn host(hooks: Hooks) -> ToolboxFixture {
    let host = ToolboxFixture::with_hooks("", hooks);
    host.create_echo(&json!({ "n": { "type": "number", "description": "a number", "default": 1 } }));
    host
}

fn before(hook: impl Fn(&HookEvent) -> HookVerdict + Send + Sync + 'static) -> ToolboxFixture {
    let mut hooks = Hooks::default();
    hooks.before("rules", hook);
    host(hooks)
}

fn after(hook: impl Fn(&HookEvent, &PostRunEvent) -> Revision + Send + Sync + 'static) -> ToolboxFixture {
    let mut hooks = Hooks::default();
    hooks.after("rules", hook);
    host(hooks)
}

// Rows 107 and 118 of the feature table.
#[test]
fn a_hook_that_panics_or_hangs_denies_and_the_host_lives() {
    let mut hooks = Hooks::default();
    hooks.before("broken", |call: &HookEvent| -> HookVerdict {
        assert!(call.args["n"] != 13, "thirteen");
        HookVerdict::no_objection()
    });
    hooks
        .before("slow", |call: &HookEvent| {
            if call.args["n"] == 14 {
                std::thread::park_timeout(Duration::from_secs(5));
            }
            HookVerdict::no_objection()
        })
        .set_timeout(Duration::from_millis(500));
    let host = host(hooks);
    let began = Instant::now();
    for (n, why) in [(13, "the hook `broken` panicked: thirteen"), (14, "the hook `slow` did not answer within 500 ms")]
    {
        assert_eq!(refusal(host.run("echo", &json!({ "n": n }))), ("permission-denied", why.to_owned()));
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(returned_value(&host.run("echo", &json!({ "n": 15 })).unwrap()), json!({ "n": 15 }));
}

// Row 117 of the feature table.
#[test]
fn arguments_that_a_hook_changed_are_checked_again() {
    let to = |args| before(move |_| HookVerdict::allow().with_args(json!(args)));
    assert_eq!(returned_value(&to(json!({ "n": "7" })).run("echo", &json!({ "n": 1 })).unwrap()), json!({ "n": 7 }));
    let (code, explanation) = refusal(to(json!({ "n": [] })).run("echo", &json!({ "n": 1 })));
    assert_eq!(code, "parameters-invalid");
    assert!(explanation.contains("/n is [] (array), expected number"), "{explanation}");
    let (code, explanation) = refusal(to(json!([1])).run("echo", &json!({ "n": 1 })));
    assert_eq!((code, explanation.contains("must be an object")), ("permission-denied", true), "{explanation}");
}

#[test]
fn what_ran_is_recorded_beside_what_was_asked_for() {
    let host = before(|_| HookVerdict::allow().with_args(json!({ "n": 7 })));
    let _ = host.run("echo", &json!({ "n": 1 })).unwrap();
    let record = host.record(host.audit_lines().last().unwrap()).unwrap();
    assert_eq!(record.parameters.bytes, r#"{"n":1}"#.len() as u64);
    assert_eq!(record.changed.unwrap().blake3, blake3::hash(br#"{"n":7}"#).to_hex().to_string());
    assert_eq!(record.decided_by.as_deref(), Some("hook rules"));
}

// Row 109 of the feature table.
#[test]
fn a_run_that_was_denied_has_used_nothing() {
    let host = before(|_| HookVerdict::deny("not today"));
    assert_eq!(refusal(host.run("echo", &json!({}))), ("permission-denied", "not today".to_owned()));
    let line = host.audit_lines().pop().unwrap();
    let record = host.record(&line).unwrap();
    assert_eq!((record.used, record.decided_by.as_deref()), (None, Some("hook rules")));
    assert!(!line.details.contains_key("durationMs") && !line.details.contains_key("fuel"), "{:?}", line.details);
    assert_eq!(host.list(&json!({})).tools[0].runs, 0);
}

#[test]
fn nobody_to_ask_is_a_no() {
    let host = before(|_| HookVerdict::ask("is that so?"));
    let (code, explanation) = refusal(host.run("echo", &json!({})));
    assert_eq!((code, explanation.contains("no approver is available")), ("permission-denied", true), "{explanation}");
}

// Rows 108 and 119 of the feature table.
#[test]
fn a_hook_after_a_run_replaces_what_came_of_it() {
    let host = after(|_, end| match &end.kind {
        EndKind::Returned => Revision::succeed(Json::parse("\"replaced\"").unwrap()).with_context("it was long"),
        _ => Revision::unchanged(),
    });
    let ran = host.run("echo", &json!({})).unwrap();
    assert_eq!((returned_value(&ran), ran.revised_by.as_deref()), (json!("replaced"), Some("rules")));
    assert_eq!((&*ran.context[0].hook, &*ran.context[0].text), ("rules", "it was long"));

    let host = after(|_, _| Revision::fail("it has an address in it"));
    let ran = host.run("echo", &json!({})).unwrap();
    assert_eq!(ran.value().unwrap_err().code(), "tool-failed");
    let ran = host.run("echo", &json!({})).unwrap();
    assert!(ran.to_text(toolcell::Lang::Ja).ends_with("it has an address in it"));
    // The record has the tool's real outcome.
    assert_eq!(host.record(host.audit_lines().last().unwrap()).unwrap().outcome, "returned");
}

#[test]
fn a_hook_that_fails_after_a_run_keeps_the_result_back() {
    let host = after(|_, _| panic!("no"));
    let (code, explanation) = refusal(host.run("echo", &json!({})));
    assert_eq!((code, explanation.contains("panicked")), ("result-withheld", true), "{explanation}");
}

/// An approver with a fixed answer.
struct FixedApprover(ApprovalAnswer);

impl Approver for FixedApprover {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        self.0.clone()
    }
}

fn asked(answer: ApprovalAnswer) -> RunOptions {
    RunOptions { approver: Some(Arc::new(FixedApprover(answer))), ..RunOptions::default() }
}

#[test]
fn an_approval_is_of_the_code_that_was_looked_at() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"ask\"");
    let echo_tool = host.tool("echo", ECHO);
    assert!(echo_tool.needs_approval.is_some());
    let fields = json!({ "tool_name": "echo", "parameters": {} });
    let (code, explanation) = refusal(host.run_with(&fields, &RunOptions::default()));
    assert_eq!((code, explanation.contains("is not approved")), ("permission-denied", true), "{explanation}");
    let hint = host.run_with(&fields, &RunOptions::default()).unwrap_err().hint().to_string();
    assert!(hint.contains(&format!("toolcell approvals grant {}", echo_tool.id.short())), "{hint}");
    assert_eq!(host.store().approvals().pending(9).unwrap().len(), 1);

    let no = asked(ApprovalAnswer::Refuse { feedback: Some(toolcell_i18n::Message::verbatim("use `cat`".to_owned())) });
    assert_eq!(refusal(host.run_with(&fields, &no)).1, "a person refused the call: use `cat`");
    assert!(host.run_with(&fields, &asked(ApprovalAnswer::Approve)).is_ok());
    assert!(host.run_with(&fields, &RunOptions::default()).is_ok());

    // Another tool under the same name needs its own approval.
    let fields = json!({ "name": "echo", "description": "d", "code": "const execute = () => 2", "replace": true });
    host.create(&fields).unwrap();
    assert_eq!(refusal(host.run("echo", &json!({}))).0, "permission-denied");
}

#[test]
fn what_somebody_refused_stays_refused() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"auto\"");
    let tool = host.tool("echo", ECHO).id;
    let refused = Approval { tool, grants: json!({}), decision: Decision::Refused, by: "me".to_owned(), at: now() };
    host.store().approvals().set_decision(&refused).unwrap();
    let (code, explanation) = refusal(host.run("echo", &json!({})));
    assert_eq!((code, explanation.contains("the approval of `echo`")), ("permission-denied", true), "{explanation}");
}

#[test]
fn a_grant_is_there_only_where_it_was_asked_for_and_given() {
    let sleep = "const execute = async () => { await new Promise((done) => setTimeout(done, 1)); return 'slept' }";
    let fields = |asked| json!({ "name": "sleep", "description": "d", "code": sleep, "capabilities": asked });
    let ran = |policy: &str, asked| {
        let host = ToolboxFixture::with_policy(&format!("[approval]\nmode = \"auto\"\n{policy}"));
        host.create(&fields(asked)).unwrap();
        host.run("sleep", &json!({})).unwrap()
    };
    assert_eq!(returned_value(&ran("[grants.default]\ntimers = true", json!(["timers"]))), "slept");
    for ran in [ran("", json!(["timers"])), ran("[grants.default]\ntimers = true", json!([]))] {
        let failed = ran.value().unwrap_err().to_string();
        assert!(failed.contains("it needs the grant `timers`"), "{failed}");
    }
}
