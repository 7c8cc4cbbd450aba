//! `run_dynamic_tool`: selection of the tool, limits, and the reported outcome.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use toolcell::policy::LimitOverrides;
use toolcell::{
    Budget, CallContext, CancelToken, Draft, OnOverload, Outcome, Params, Precheck, RunOptions, RunTool, Status,
};

use super::{AUTO, ToolboxFixture, refusal, returned_value};

const ONE: &str = "const execute = () => 1";
/// A tool that loops forever. The analysis does not detect the loop, so the tool needs no approval.
const FOREVER: &str = "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }";
/// A tool that reports progress and then loops forever.
pub(super) const BEGINS: &str = "export default () => ({ name: 'begins', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { onUpdate('began'); let n = 1; while (n >= 0) n = (n + 1) % 7 } })";

// Row 24 of the feature table.
#[test]
fn a_name_and_an_identifier_mean_the_same_tool_or_nothing() {
    let host = ToolboxFixture::new();
    let (one, two) = (host.tool("one", ONE).id, host.tool("two", ONE).id);
    let run =
        |id: String| host.run_with(&json!({ "tool_id": id, "tool_name": "one", "parameters": {} }), &<_>::default());
    for id in [one.to_string(), one.short(), one.to_string()[..11].to_owned()] {
        assert_eq!(run(id).unwrap().tool, one);
    }
    let (code, detail) = refusal(run(two.short()));
    assert_eq!(code, "tool-mismatch");
    assert!(detail.contains(&one.to_string()) && detail.contains(&two.to_string()), "{detail}");
    let error = host.delete(&json!({ "tool_id": two, "tool_name": "one", "confirm": true })).unwrap_err();
    assert_eq!(error.code(), "tool-mismatch");
    assert_eq!(host.list(&json!({})).total, 2);

    let (code, detail) = refusal(host.run_with(&json!({ "parameters": {} }), &<_>::default()));
    assert_eq!((code, detail.contains("`tool_id` or `tool_name`")), ("request-invalid", true));
}

// Row 97 of the feature table.
#[test]
fn a_name_that_is_not_there_is_answered_with_the_nearest_one() {
    let host = ToolboxFixture::new();
    host.tool("calculate-average", ONE);
    for typo in ["calculate-avrage", "calcualte_average", "Calculate average"] {
        let (code, detail) = refusal(host.run(typo, &json!({})));
        assert_eq!(code, "tool-not-found");
        assert!(detail.ends_with("did you mean `calculate-average`?"), "{detail}");
    }
    let (_, detail) = refusal(host.run("send-mail", &json!({})));
    assert_eq!(detail, "there is no tool `send-mail`");
}

// Row 123 of the feature table.
#[test]
fn an_identifier_that_was_superseded_is_answered_with_the_new_one() {
    let host = ToolboxFixture::new();
    let old = host.tool("tool", ONE).id;
    let fields = json!({ "name": "tool", "description": "d", "code": "const execute = () => 2", "replace": true });
    let new = host.create(&fields).unwrap().id;
    let run = || host.run_with(&json!({ "tool_id": old.short(), "parameters": {} }), &<_>::default());
    let (code, detail) = refusal(run());
    assert_eq!(code, "tool-not-found");
    assert!(detail.contains(&format!("`tool` is now {new}")), "{detail}");
    host.delete(&json!({ "tool_name": "tool", "confirm": true })).unwrap();
    assert!(refusal(run()).1.contains("`tool` was deleted"));
}

// Row 68 of the feature table.
#[test]
fn a_time_out_of_its_range_is_refused_with_the_range() {
    let host = ToolboxFixture::new();
    host.tool("one", ONE);
    let run = |timeout: u64| {
        host.run_with(&json!({ "tool_name": "one", "parameters": {}, "timeout_ms": timeout }), &<_>::default())
    };
    for timeout in [0, 600_001, 1_000_000_000] {
        let (code, detail) = refusal(run(timeout));
        assert_eq!((code, detail), ("limit-invalid", format!("timeout_ms is {timeout}, it must be 1 to 600000")));
    }
    assert_eq!(returned_value(&run(600_000).unwrap()), 1);
}

// Row 69 of the feature table.
#[test]
fn a_loop_ends_at_its_time() {
    let host = ToolboxFixture::new();
    host.tool("forever", FOREVER);
    let began = Instant::now();
    let ran = host.run_with(&json!({ "tool_name": "forever", "parameters": {}, "timeout_ms": 200 }), &<_>::default());
    assert_eq!(ran.unwrap().value().unwrap_err().code(), "timeout");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

// Rows 70 and 137 of the feature table.
#[test]
fn the_same_run_is_the_same_at_every_host() {
    let run = |name: &str, code: &str| {
        let host = ToolboxFixture::new();
        host.tool(name, code);
        let limits = LimitOverrides { fuel: Some(5_000_000), ..LimitOverrides::default() };
        let options = RunOptions { limits, seed: 7, ..RunOptions::default() };
        let ran = host.run_with(&json!({ "tool_name": name, "parameters": { "n": 3 } }), &options).unwrap();
        (ran.report.outcome, ran.report.usage.fuel, ran.report.usage.load_fuel)
    };
    let dice = "const execute = ({ n }) => [n, Math.random(), Date.now()]";
    assert_eq!(run("dice", dice), run("dice", dice));
    assert_eq!(run("forever", FOREVER), run("forever", FOREVER));
}

// Rows 67 and 101 of the feature table.
#[test]
fn what_a_tool_logged_is_in_the_answer_also_where_it_throws() {
    let host = ToolboxFixture::new();
    host.tool("tool", "const execute = () => {\n  console.log('before'); throw new Error('no')\n}");
    let ran = host.run("tool", &json!({})).unwrap();
    assert_eq!(ran.report.logs[0].text, "before");
    let Outcome::Threw(thrown) = ran.report.outcome else { panic!("it throws") };
    assert_eq!((&*thrown.message, thrown.line), ("no", Some(2)));
}

// Rows 74 and 76 of the feature table.
#[test]
fn nothing_of_a_run_is_there_in_the_next() {
    let host = ToolboxFixture::with_policy(AUTO);
    host.tool(
        "tool",
        "let runs = 0; const execute = () => { runs += 1; const was = ({}).polluted; \
         Object.prototype.polluted = true; return [runs, was === undefined] }",
    );
    for _ in 0..3 {
        assert_eq!(returned_value(&host.run("tool", &json!({})).unwrap()), json!([1, true]));
    }
}

/// Starts a run of [`BEGINS`], acts while it runs, cancels it, and returns its error code.
fn meanwhile(host: &ToolboxFixture, act: impl FnOnce()) -> &'static str {
    host.tool("begins", BEGINS);
    let ((update, updates), cancel) = (channel(), CancelToken::new());
    let partial = Arc::new(move |_: &str| update.send(()).unwrap());
    let options = RunOptions { cancel: Some(cancel.clone()), partial: Some(partial), ..RunOptions::default() };
    std::thread::scope(|scope| {
        let running = scope.spawn(move || host.run_with(&json!({ "tool_name": "begins", "parameters": {} }), &options));
        // A refused run never reports progress.
        if updates.recv().is_ok() {
            act();
        }
        cancel.cancel();
        running.join().unwrap().unwrap().value().unwrap_err().code().as_str()
    })
}

// Rows 75 and 103 of the feature table.
#[test]
fn a_run_that_does_not_cooperate_is_cancelled() {
    let host = ToolboxFixture::new();
    assert_eq!(meanwhile(&host, || ()), "cancelled");
    // A cancelled call does not count for or against the tool.
    assert_eq!(host.list(&json!({})).tools[0].runs, 0);
}

// Row 102 of the feature table.
#[test]
fn partial_results_come_in_order_and_none_after_the_end() {
    let host = ToolboxFixture::new();
    let code = "export default (pi) => ({ name: 'tool', description: 'd', parameters: {}, \
        execute(id, params, onUpdate) { onUpdate(1); onUpdate(2); Promise.resolve().then(() => {}).then(() => onUpdate(3)); \
        return 'done' } })";
    host.tool("tool", code);
    let updates = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&updates);
    let partial = Arc::new(move |update: &str| sink.lock().unwrap().push(update.to_owned()));
    let options = RunOptions { partial: Some(partial), ..RunOptions::default() };
    let ran = host.run_with(&json!({ "tool_name": "tool", "parameters": {} }), &options).unwrap();
    assert_eq!(returned_value(&ran), "done");
    let seen = updates.lock().unwrap().clone();
    assert_eq!(seen, ["1", "2"]);
}

// Rows 104 and 127 of the feature table.
#[test]
fn more_runs_than_there_is_room_for_wait_and_none_is_mixed_up() {
    let host = ToolboxFixture::new().with_slots(2);
    host.tool("twice", "const execute = ({ n }) => { let a = 0; while (a < 1e5) a += 1; return 2 * n }");
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..10)
            .map(|n| {
                (
                    n,
                    scope.spawn({
                        let host = &host;
                        move || host.run("twice", &json!({ "n": n }))
                    }),
                )
            })
            .collect();
        for (n, run) in runs {
            assert_eq!(returned_value(&run.join().unwrap().unwrap()), 2 * n);
        }
    });
    assert_eq!(host.list(&json!({})).tools[0].runs, 10);
}

#[test]
fn a_host_that_will_not_wait_is_told_that_all_is_in_use() {
    let host = ToolboxFixture::new().with_slots(1);
    host.tool("one", ONE);
    meanwhile(&host, || {
        let hurried = RunOptions { on_overload: OnOverload::Refuse, ..RunOptions::default() };
        let (code, detail) = refusal(host.run_with(&json!({ "tool_name": "one", "parameters": {} }), &hurried));
        assert_eq!((code, &*detail), ("busy", "all 1 slots of the sandbox are in use"));
        let line = host.audit_lines().pop().unwrap();
        assert_eq!((host.record(&line).unwrap().code.as_deref(), line.error.as_deref()), (Some("busy"), Some("busy")));
    });
}

// Row 124 of the feature table.
#[test]
fn a_draft_runs_once_and_the_store_stays_as_it_is() {
    let host = ToolboxFixture::new();
    let before = crate::fixtures::store::files_below(&host.path().join("objects"));
    let draft = Draft::from_bytes("draft.ts", b"const execute = ({ n }: { n: number }) => 2 * n").unwrap();
    let params = Params::parse(r#"{"n": 21}"#).unwrap();
    let report =
        host.toolbox().exec(&draft, &params, &Budget::default(), &CallContext::default(), Precheck::Critical).unwrap();
    assert!(matches!(report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "42"));
    assert!(report.usage.fuel > 0);
    assert_eq!(crate::fixtures::store::files_below(&host.path().join("objects")), before);
    assert_eq!(host.list(&json!({})).total, 0);
    assert_eq!(refusal(host.run("draft.ts", &json!({}))).0, "tool-not-found");
}

// Row 113 of the feature table.
#[test]
fn a_tool_that_was_deleted_is_not_found_and_says_how_it_comes_back() {
    let host = ToolboxFixture::new();
    host.tool("one", ONE);
    let _ = host.run("one", &json!({})).unwrap();
    host.delete(&json!({ "tool_name": "one", "confirm": true })).unwrap();
    let (code, detail) = refusal(host.run("one", &json!({})));
    assert_eq!(code, "tool-not-found");
    assert!(detail.contains("`one` was deleted"), "{detail}");
}

// Rows 16 and 93 of the feature table.
#[test]
fn a_tool_in_quarantine_does_not_run() {
    let host = ToolboxFixture::with_policy(AUTO);
    let id = host.tool("one", ONE).id;
    let _ = host.run("one", &json!({})).unwrap();
    host.store().catalog().set_status(id, Status::Quarantined).unwrap();
    let (code, detail) = refusal(host.run("one", &json!({})));
    assert_eq!(code, "permission-denied");
    assert!(detail.contains("quarantine"), "{detail}");
    let explanation = host.toolbox().explain(&RunTool::new("one", Params::default()), &RunOptions::default());
    assert_eq!(explanation.admitted.unwrap_err().code(), "permission-denied");
    host.store().catalog().set_status(id, Status::Unverified).unwrap();
    let _ = host.run("one", &json!({})).unwrap();
}

#[test]
fn what_would_be_decided_is_told_and_nothing_runs() {
    let host = ToolboxFixture::new();
    host.tool("one", ONE);
    let lines = host.audit_lines().len();
    let explanation = host.toolbox().explain(&RunTool::new("one", Params::default()), &RunOptions::default());
    assert!(explanation.admitted.is_ok());
    let stages: Vec<&str> = explanation.steps.iter().map(|step| step.stage).collect();
    assert_eq!((stages.first(), stages.last()), (Some(&"tool"), Some(&"approval")));
    assert_eq!((host.audit_lines().len(), host.list(&json!({})).tools[0].runs), (lines, 0));
}

#[test]
fn a_name_in_the_place_of_an_identifier_names_the_tool() {
    let host = ToolboxFixture::new();
    host.tool("innocent", "const execute = () => 1");
    // A name may look like an identifier.
    host.tool("deadbeef", "const execute = () => 1");
    let run = |id: &str| host.run_with(&json!({ "tool_id": id, "parameters": {} }), &RunOptions::default());
    for name in ["innocent", "deadbeef"] {
        assert_eq!(returned_value(&run(name).unwrap()), 1);
    }
    let error = run("inocent").unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `inocent`; did you mean `innocent`?");
    let error = host.run("inocent", &json!({})).unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `inocent`; did you mean `innocent`?");
}
