//! Costs and savings of tools, and their successors.

use std::time::Duration;

use serde_json::{Value, json};
use toolcell::store::ToolRef;
use toolcell::store::{NewTool, OnConflict, Scores, UsageEvent};
use toolcell::{CostReportLine, CostTotals, Lang, RetireReason, RetireTools, RunOptions, Status, ToolMetadata};

use super::{ToolboxFixture, now, request, returned_value};
use crate::fixtures::store::sample_tool;

const PICKY: &str = "const execute = ({ n }) => { if (n < 0) throw new Error('no'); return n }";

fn run(host: &ToolboxFixture, tool: &str, n: i64, tokens_saved: Option<u64>) {
    let fields = json!({ "tool_name": tool, "parameters": { "n": n } });
    let _ = host.run_with(&fields, &RunOptions { tokens_saved, ..RunOptions::default() }).unwrap();
}

fn line(host: &ToolboxFixture, tool: &str) -> CostReportLine {
    let lines = host.toolbox().cost_report().unwrap();
    lines.into_iter().find(|line| line.tool.name.as_str() == tool).unwrap()
}

#[test]
fn the_ledger_sets_what_runs_saved_against_what_the_tool_cost() {
    let mut host = ToolboxFixture::new();
    let fields = json!({ "name": "picky", "description": "d", "code": PICKY, "cost": 2_500 });
    host.create(&fields).unwrap();
    host.tool("plain", "const execute = () => 1");
    for (n, saved) in [(1, Some(900)), (2, None), (-1, Some(900)), (3, Some(100))] {
        run(&host, "picky", n, saved);
    }
    host.reopen();
    let CostTotals { runs, failures, time, tokens_saved, cost } = line(&host, "picky").totals;
    assert_eq!((runs, failures, tokens_saved, cost), (4, 1, Some(1_000), Some(2_500)));
    assert!(time > Duration::ZERO);
    assert_eq!(line(&host, "picky").totals.balance(), Some(-1_500));
    assert_eq!(line(&host, "plain").totals, CostTotals::default());
    assert_eq!(line(&host, "plain").totals.balance(), None);
    let all = CostTotals::from_lines(&host.toolbox().cost_report().unwrap());
    assert_eq!((all.runs, all.balance()), (4, Some(-1_500)));
    // A refused run saves nothing.
    let fields = json!({ "tool_name": "picky", "parameters": [1] });
    assert!(toolcell::read_request::<toolcell::RunTool>(&fields.to_string()).is_err());
    assert_eq!(line(&host, "picky").totals.tokens_saved, Some(1_000));
}

#[test]
fn balances_stay_at_the_greatest_numbers() {
    let sums = |tokens_saved, cost| CostTotals { tokens_saved, cost, ..CostTotals::default() }.balance();
    assert_eq!(sums(Some(u64::MAX), None), Some(i64::MAX));
    assert_eq!(sums(None, Some(u64::MAX)), Some(i64::MIN));
    assert_eq!(sums(Some(u64::MAX), Some(u64::MAX)), Some(0));
}

#[test]
fn a_tool_that_passed_and_fails_in_use_is_unverified_again_and_the_log_says_so() {
    let host = ToolboxFixture::new();
    let id = host.tool("picky", PICKY).id;
    for step in [Status::Pending, Status::Passed] {
        host.store().catalog().set_status(id, step).unwrap();
    }
    for n in [-1, -1, 1, -1, -1] {
        run(&host, "picky", n, None);
    }
    assert_eq!(host.list(&json!({})).tools[0].status, Status::Passed);
    // Refused calls do not count as failures of the tool.
    assert!(host.run_with(&json!({ "tool_name": "picky", "timeout_ms": 0 }), &RunOptions::default()).is_err());
    run(&host, "picky", -1, None);
    assert_eq!(host.list(&json!({})).tools[0].status, Status::Unverified);
    let lines = host.audit_lines();
    let fell: Vec<&Value> = lines.iter().filter_map(|line| line.details.get("status")).collect();
    assert_eq!(fell, [&json!({ "from": "passed", "to": "unverified" })]);
}

#[test]
fn a_deprecated_tool_works_and_says_what_to_use() {
    let host = ToolboxFixture::new();
    let (old, new) = (host.tool("old", "const execute = () => 1").id, host.tool("new", "const execute = () => 2").id);
    let done = host.toolbox().deprecate("old", Some("new")).unwrap();
    assert_eq!((done.tool, done.previous_status, done.successor.unwrap().id), (old, Status::Unverified, new));
    let ran = host.run("old", &json!({})).unwrap();
    assert_eq!(returned_value(&ran), 1);
    assert!(ran.to_text(Lang::En).ends_with("\n1\n\nNote: the tool `old` is deprecated; use `new` instead"));
    assert!(ran.to_text(Lang::Ja).ends_with("補足: ツール「old」は非推奨です。代わりに「new」を使用してください"));
    assert!(host.run("new", &json!({})).unwrap().deprecated.is_none());
    let listed = host.list(&json!({ "status": "deprecated" }));
    assert!(listed.to_text(Lang::En).contains("\n- Verification: deprecated (use `new` instead)\n"));
    assert!(listed.to_text(Lang::Ja).contains("\n- 検証状態: deprecated (代わりに「new」を使用)\n"));
    assert_eq!(host.toolbox().show("old", None).unwrap().successor.unwrap().id, new);
    // The successor is the tool that the name resolves to now.
    host.delete(&json!({ "tool_name": "new", "confirm": true })).unwrap();
    assert_eq!(host.run("old", &json!({})).unwrap().deprecated.unwrap().successor, None);
    assert!(host.list(&json!({})).to_text(Lang::En).contains("- Verification: deprecated\n"));
    host.toolbox().undelete(&ToolRef::parse("new").unwrap()).unwrap();
    assert!(host.run("old", &json!({})).unwrap().deprecated.unwrap().successor.is_some());

    let lines = host.audit_lines();
    let status_line = lines.iter().find(|line| line.action == "status").unwrap();
    let change = json!({ "from": "unverified", "to": "deprecated" });
    assert_eq!((status_line.tool, &status_line.details["status"]), (Some(old), &change));
    assert_eq!(status_line.details["successor"], new.to_string());
}

#[test]
fn a_successor_that_is_none_is_refused_and_the_log_says_so() {
    let host = ToolboxFixture::new();
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        host.tool(name, &format!("const execute = () => {number}"));
    }
    host.toolbox().deprecate("a", Some("b")).unwrap();
    for (tool, successor, code, message) in [
        ("nobody", None, "tool-not-found", "there is no tool `nobody`"),
        ("c", Some("nobody"), "tool-not-found", "there is no tool `nobody`"),
        ("c", Some("c"), "successor-invalid", "`c` cannot be its own successor"),
        ("c", Some("a"), "successor-invalid", "`a` is deprecated and cannot be a successor"),
        ("b", Some("a"), "successor-invalid", "`a` is deprecated in favour of `b` and cannot be its successor"),
    ] {
        let before = host.audit_lines().len();
        let error = host.toolbox().deprecate(tool, successor).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string()), (code, message.to_owned()));
        let line = host.audit_lines().pop().unwrap();
        assert_eq!((host.audit_lines().len(), line.action.as_str()), (before + 1, "status"));
        assert_eq!(line.error.as_deref(), Some(code));
    }
}

/// Inserts a tool that was created this many days ago and had these runs and failures.
fn old(host: &ToolboxFixture, name: &str, code: &str, days: i64, (runs, failures): (u64, u64)) {
    let made = sample_tool(name, code);
    let (notes, scores) = (ToolMetadata::default(), Scores { safety: 1.0, quality: 0.5 });
    let at = now() - Duration::from_secs(days.unsigned_abs() * 86_400);
    host.store()
        .catalog()
        .insert(&NewTool { spec: &made.spec, metadata: &notes, scores, at }, OnConflict::Refuse)
        .unwrap();
    for run in 0..runs {
        let failure = (run < failures).then(|| "tool-failed".to_owned());
        let (tool, duration) = (made.id(), Duration::from_millis(1));
        let event = UsageEvent { tool, at, failure, fuel: 1, duration, tokens_saved: None, time_saved: None };
        host.store().runs().record_usage(event).unwrap();
    }
}

/// Creates a toolbox with a tool for each reason to retire, and three to keep.
fn many() -> ToolboxFixture {
    let host = ToolboxFixture::new();
    let code = |number: u64| format!("const execute = () => {number}");
    old(&host, "used", &code(1), 3, (2, 0));
    old(&host, "never", &code(2), 40, (0, 0));
    old(&host, "long_ago", &code(3), 90, (3, 0));
    old(&host, "fails", &code(4), 2, (6, 4));
    old(&host, "copy", &code(5), 1, (0, 0));
    old(&host, "first", &code(5), 2, (1, 0));
    old(&host, "disproved", &code(6), 35, (0, 0));
    old(&host, "gone_over", &code(7), 1, (0, 0));
    old(&host, "young", &code(8), 0, (0, 0));
    let disproved = host.toolbox().find("disproved").unwrap().id;
    for step in [Status::Pending, Status::Failed] {
        host.store().catalog().set_status(disproved, step).unwrap();
    }
    host.toolbox().deprecate("gone_over", Some("used")).unwrap();
    host
}

fn proposed(host: &ToolboxFixture, fields: &Value) -> Vec<String> {
    let retirements = host.toolbox().retirements(&request::<RetireTools>(fields)).unwrap();
    let status_line = retirements.iter().map(|it| {
        let reasons: Vec<&str> = it.reasons.iter().map(RetireReason::name).collect();
        let successor = it.successor.as_ref().map_or(String::new(), |entry| format!(" → {}", entry.name));
        format!("{}: {}{successor}", it.tool.name, reasons.join(", "))
    });
    status_line.collect()
}

#[test]
fn what_should_be_retired_is_named_with_its_reasons_the_worst_first() {
    let host = many();
    let expect = [
        "disproved: failed, unused",
        "fails: failing",
        "copy: duplicate → first",
        "gone_over: superseded → used",
        "long_ago: unused",
        "never: unused",
    ];
    assert_eq!(proposed(&host, &json!({})), expect);
    assert_eq!(proposed(&host, &json!({ "unused_days": 60 }))[0], "disproved: failed");
    assert_eq!(proposed(&host, &json!({ "unused_days": 60 })).len(), 5);
    assert_eq!(proposed(&host, &json!({ "unused_days": 36_525 })).len(), 4);
    // A tool that is to be retired itself is not suggested as a successor.
    assert!(proposed(&host, &json!({ "unused_days": 0.5 })).contains(&"copy: duplicate, unused".to_owned()));
    let reasons = &host.toolbox().retirements(&RetireTools::default()).unwrap()[1].reasons;
    assert_eq!(reasons[0].to_text(Lang::En), "4 of 6 runs failed");
    assert_eq!(reasons[0].to_text(Lang::Ja), "6回の実行のうち4回失敗した");
    for days in ["-1", "1e9", "1e300"] {
        let request = toolcell::read_request(&format!("{{\"unused_days\": {days}}}")).unwrap();
        assert_eq!(host.toolbox().retirements(&request).unwrap_err().code(), "filter-invalid", "{days}");
    }
}

#[test]
fn nothing_is_retired_that_nobody_confirmed_and_what_is_goes_on_to_work() {
    let host = many();
    let before = host.audit_lines().len();
    let error = host.toolbox().retire(&RetireTools::default()).unwrap_err();
    assert_eq!((error.code().as_str(), error.to_string().as_str()), ("confirm-required", "5 tools were not retired"));
    assert_eq!(error.to_text(Lang::En), "error: set confirm: true to retire 5 tools");
    assert_eq!(proposed(&host, &json!({})).len(), 6);
    let refused = host.audit_lines().pop().unwrap();
    assert_eq!((host.audit_lines().len(), refused.error.as_deref()), (before + 1, Some("confirm-required")));

    let done = host.toolbox().retire(&request(&json!({ "confirm": true }))).unwrap();
    assert_eq!(done.len(), 6);
    let lines: Vec<String> = host.audit_lines()[before + 1..].iter().map(|line| line.name.clone().unwrap()).collect();
    assert_eq!(lines, ["disproved", "fails", "copy", "long_ago", "never"]);
    let deprecated = host.names(&json!({ "status": "deprecated", "sort": "name" }));
    assert_eq!(deprecated, ["copy", "disproved", "fails", "gone_over", "long_ago", "never"]);
    let ran = host.run("copy", &json!({})).unwrap();
    assert_eq!((returned_value(&ran), ran.deprecated.unwrap().successor.unwrap().as_str()), (json!(5), "first"));
    // A superseded tool stays on the list until it is deleted; there is nothing else to do with it.
    assert_eq!(proposed(&host, &json!({})), ["gone_over: superseded → used", "copy: superseded → first"]);
    assert!(host.toolbox().retire(&RetireTools::default()).is_ok());
}

#[test]
fn what_nobody_used_is_listed() {
    let host = many();
    let names = |days: f64| host.names(&json!({ "unused_days": days, "sort": "name" }));
    assert_eq!(names(30.0), ["disproved", "long_ago", "never"]);
    assert_eq!(names(89.9), ["long_ago"]);
    assert_eq!(names(90.1), [""; 0]);
    assert_eq!(names(0.5).len(), 8);
    let error = host.toolbox().list(&request(&json!({ "unused_days": -0.5 }))).unwrap_err();
    let message = "unused_days is -0.5, it must be 0 to 36525";
    assert_eq!((error.code().as_str(), error.to_string().as_str()), ("filter-invalid", message));
}
