//! `list_dynamic_tools`: filters, order and paging.

use serde_json::{Value, json};
use toolcell::store::{NewTool, OnConflict, Scores};
use toolcell::{ListTools, RunOptions, ToolMetadata};

use super::{ToolboxFixture, now, request};
use crate::fixtures::store::sample_tool;

// Row 21 of the feature table.
#[test]
fn twenty_tools_are_listed_and_the_others_are_counted() {
    let host = ToolboxFixture::new();
    for number in 0..25 {
        host.tool(&format!("tool-{number:02}"), "const execute = () => 1");
    }
    let first = host.list(&json!({ "sort": "name" }));
    assert_eq!((first.tools.len(), first.total, first.remaining), (20, 25, 5));
    let cursor = first.next_cursor.unwrap().to_string();
    let rest = host.list(&json!({ "sort": "name", "cursor": cursor }));
    assert_eq!((rest.tools.len(), rest.total, rest.remaining, rest.next_cursor), (5, 25, 0, None));
    assert_eq!(host.list(&json!({ "limit": 1000 })).tools.len(), 25);
    assert_eq!(host.names(&json!({ "name": "OL-2", "sort": "name" })).len(), 5);
}

// Row 17 of the feature table.
#[test]
fn the_safety_score_is_compared_and_not_the_confidence() {
    let host = ToolboxFixture::new();
    let (made, notes) = (sample_tool("plain", "const execute = () => 1"), ToolMetadata::default());
    let scores = Scores { safety: 1.0, quality: 0.5 };
    let registration = NewTool { spec: &made.spec, metadata: &notes, scores, at: now() };
    host.store().catalog().insert(&registration, OnConflict::Refuse).unwrap();
    let listed = host.list(&json!({ "min_safety_score": 0.8 }));
    assert_eq!(listed.tools.len(), 1);
    assert!((listed.tools[0].confidence - 0.5).abs() < 1e-9);
}

#[test]
fn a_filter_out_of_its_range_is_refused_with_the_range() {
    let host = ToolboxFixture::new();
    for (fields, message) in [
        (json!({ "limit": 0 }), "limit is 0, it must be 1 to 1000"),
        (json!({ "limit": 1001 }), "limit is 1001, it must be 1 to 1000"),
        (json!({ "min_safety_score": 1.5 }), "min_safety_score is 1.5, it must be 0.0 to 1.0"),
        (json!({ "min_safety_score": -0.1 }), "min_safety_score is -0.1, it must be 0.0 to 1.0"),
        (json!({ "status": "good" }), "status is `good`, it must be unverified, pending, passed"),
        (json!({ "sort": "luck" }), "sort is `luck`, it must be created"),
    ] {
        let error = host.toolbox().list(&request::<ListTools>(&fields)).unwrap_err();
        assert_eq!(error.code(), "filter-invalid");
        assert!(error.to_string().starts_with(message), "{error}");
    }
    let error = host.toolbox().list(&request::<ListTools>(&json!({ "cursor": "nonsense" }))).unwrap_err();
    assert_eq!(error.code(), "cursor-invalid");
}

// Row 18 of the feature table.
#[test]
fn confidence_learns_from_runs() {
    let host = ToolboxFixture::new();
    let (made, notes) = (
        sample_tool("picky", "const execute = ({ n }) => { if (n < 0) throw new Error('no'); return n }"),
        ToolMetadata::default(),
    );
    let scores = Scores { safety: 1.0, quality: 0.5 };
    host.store()
        .catalog()
        .insert(&NewTool { spec: &made.spec, metadata: &notes, scores, at: now() }, OnConflict::Refuse)
        .unwrap();
    let run = |n: i64| host.run("picky", &json!({ "n": n })).unwrap();
    let confidence = || host.list(&json!({})).tools[0].confidence;
    for n in 0..10 {
        assert!(run(n).value().is_ok());
    }
    assert!((confidence() - 0.70).abs() < 1e-9, "{}", confidence());
    assert!(run(-1).value().is_err() && run(-2).value().is_err());
    assert!((confidence() - 0.60).abs() < 1e-9, "{}", confidence());
}

// Row 19 of the feature table.
#[test]
fn what_was_counted_is_there_after_a_restart() {
    let mut host = ToolboxFixture::new();
    host.tool("picky", "const execute = ({ n }) => { if (n < 0) throw new Error('no'); return n }");
    for n in [1, 2, -1] {
        let _ = host.run("picky", &json!({ "n": n })).unwrap();
    }
    let forever = json!({ "name": "forever", "description": "d", "code": "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }" });
    host.create(&forever).unwrap();
    let fields = json!({ "tool_name": "forever", "parameters": {}, "timeout_ms": 20 });
    assert_eq!(host.run_with(&fields, &RunOptions::default()).unwrap().value().unwrap_err().code(), "timeout");

    let counted = |host: &ToolboxFixture| -> Vec<Value> {
        let tools = host.list(&json!({ "sort": "name" })).tools;
        let counted = tools.iter().map(|tool| {
            let usage = host.store().runs().usage(tool).unwrap();
            json!([tool.name.as_str(), tool.runs, tool.successes, tool.last_used_at.is_some(), usage.failures])
        });
        counted.collect()
    };
    let before = counted(&host);
    host.reopen();
    assert_eq!(counted(&host), before);
    assert_eq!(before[1], json!(["picky", 3, 2, true, { "tool-failed": 1 }]));
    assert_eq!(before[0], json!(["forever", 1, 0, true, { "timeout": 1 }]));
}
