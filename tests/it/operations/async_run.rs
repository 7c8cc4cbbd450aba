//! Asynchronous runs, which block no thread of the caller: streaming, cancellation and records.

use serde_json::json;
use toolcell::{RunOptions, RunTool};

use super::run::BEGINS;
use super::{ToolboxFixture, request, returned_value};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn run_request(tool: &str) -> RunTool {
    request(&json!({ "tool_name": tool, "parameters": {} }))
}

/// Returns the outcome and the code of the last attempt.
fn last(host: &ToolboxFixture) -> (String, String) {
    let record = host.record(host.audit_lines().last().unwrap()).unwrap();
    (record.outcome, record.code.unwrap_or_default())
}

// Row 102 of the feature table.
#[test]
fn partial_results_are_a_stream_that_ends_with_the_run() {
    let host = ToolboxFixture::new();
    let code = "export default () => ({ name: 'count', description: 'd', parameters: {}, \
        execute(id, params, onUpdate) { for (const n of [1, 2, 3]) onUpdate({ n }); return 'done' } })";
    host.tool("count", code);
    let (updates, ran) = runtime().block_on(async {
        let mut running = host.toolbox().start(run_request("count"), RunOptions::default());
        let mut updates = Vec::new();
        while let Some(update) = running.next_update().await {
            updates.push(update.to_string());
        }
        (updates, running.wait().await.unwrap())
    });
    assert_eq!(updates, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
    assert_eq!((returned_value(&ran), last(&host)), (json!("done"), ("returned".to_owned(), String::new())));
}

// Row 75 of the feature table.
#[test]
fn a_run_that_nobody_waits_for_is_cancelled_and_recorded() {
    let host = ToolboxFixture::new();
    host.tool("begins", BEGINS);
    let runtime = runtime();
    runtime.block_on(async {
        let mut running = host.toolbox().start(run_request("begins"), RunOptions::default());
        assert_eq!(running.next_update().await.unwrap().as_str(), "\"began\"");
    });
    // Dropping the runtime waits for its threads.
    drop(runtime);
    assert_eq!(last(&host), ("stopped".to_owned(), "cancelled".to_owned()));
}

#[test]
fn a_run_that_is_cancelled_says_so_to_who_waits() {
    let host = ToolboxFixture::new();
    host.tool("begins", BEGINS);
    let ran = runtime().block_on(async {
        let mut running = host.toolbox().start(run_request("begins"), RunOptions::default());
        running.next_update().await.unwrap();
        running.cancel();
        running.wait().await.unwrap()
    });
    assert_eq!(ran.value().unwrap_err().code(), "cancelled");
}
