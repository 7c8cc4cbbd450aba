//! Tasks: long runs for clients that support them.

use serde_json::{Value, json};

use super::BEGINS;
use super::raw_client::{RawClient, task_capabilities};
use super::server::{BinaryFixture, poll};

/// A timeout in milliseconds that makes a run a task.
const LONG: u64 = 120_000;

fn run(peer: &mut RawClient, name: &str) -> Value {
    peer.call("run_dynamic_tool", json!({ "tool_name": name, "timeout_ms": LONG })).result()
}

fn get(peer: &mut RawClient, task: &Value) -> Value {
    peer.request("tasks/get", json!({ "taskId": task["taskId"] })).result()
}

fn clients(home: &BinaryFixture, check: impl Fn(&mut RawClient)) {
    check(&mut home.start_stdio(&[]).stateless(task_capabilities()));
    check(&mut home.start_http(&[]).client().stateless(task_capabilities()));
}

#[test]
fn a_long_run_is_a_task_that_can_be_looked_after_and_cancelled() {
    let home = BinaryFixture::new("");
    home.start_stdio(&[]).stateless(json!({})).create_tool("begins", BEGINS);
    clients(&home, |peer| {
        let before = home.failures("begins", "cancelled").len();
        let task = run(peer, "begins");
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
        assert!(task["ttlMs"].as_u64().unwrap() > LONG && task["pollIntervalMs"].is_u64(), "{task}");
        let began = poll(|| Some(get(peer, &task)).filter(|seen| seen["statusMessage"] == "began")).unwrap();
        assert_eq!(began["status"], "working");
        peer.request("tasks/cancel", json!({ "taskId": task["taskId"] })).result();
        assert!(poll(|| (get(peer, &task)["status"] == "cancelled").then_some(())).is_some());
        let ended = poll(|| (home.failures("begins", "cancelled").len() == before + 1).then_some(()));
        assert!(ended.is_some(), "{:?}", home.audit_lines());
    });
}

#[test]
fn a_task_that_is_done_has_the_answer_of_the_call() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(task_capabilities());
    peer.create_tool("one", "const execute = () => 1");
    let task = run(&mut peer, "one");
    let done = poll(|| Some(get(&mut peer, &task)).filter(|seen| seen["status"] == "completed")).unwrap();
    assert_eq!(done["result"]["structuredContent"]["value"], 1, "{done}");
    assert_eq!(done["result"]["isError"], false, "{done}");

    peer.create_tool("fails", "function execute() { throw new Error('no') }");
    let task = run(&mut peer, "fails");
    // An exception of the tool is a completed task.
    let done = poll(|| Some(get(&mut peer, &task)).filter(|seen| seen["status"] == "completed")).unwrap();
    assert_eq!(done["result"]["_meta"]["toolcell/error"]["code"], "tool-failed", "{done}");
    assert_eq!(peer.request("tasks/get", json!({ "taskId": "nobody" })).message["error"]["code"], -32_602);
}

#[test]
fn who_does_not_know_tasks_has_a_call() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    let result = run(&mut peer, "one");
    assert_eq!((&result["structuredContent"]["value"], result.get("taskId")), (&json!(1), None));
    // A short run is an ordinary call for these clients too.
    let mut peer = home.start_stdio(&[]).stateless(task_capabilities());
    peer.run("one", json!({})).returns(&json!(1));
}

#[test]
fn a_task_is_nobody_elses() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let of = |name: &str| web.client_with_token(&BinaryFixture::token(name)).stateless(task_capabilities());
    let (mut alice, mut bob) = (of("alice"), of("bob"));
    alice.create_tool("begins", BEGINS);
    let task = run(&mut alice, "begins");
    for method in ["tasks/get", "tasks/cancel"] {
        let reply = bob.request(method, json!({ "taskId": task["taskId"] }));
        assert_eq!(reply.message["error"]["code"], -32_602, "{}", reply.message);
    }
    assert_eq!(get(&mut alice, &task)["status"], "working");
    alice.request("tasks/cancel", json!({ "taskId": task["taskId"] })).result();
    assert!(poll(|| (get(&mut alice, &task)["status"] == "cancelled").then_some(())).is_some());
}

#[test]
fn a_task_under_way_is_recorded_when_the_server_ends() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--grace", "0"]).stateless(task_capabilities());
    peer.create_tool("begins", BEGINS);
    let task = run(&mut peer, "begins");
    poll(|| Some(get(&mut peer, &task)).filter(|seen| seen["statusMessage"] == "began")).unwrap();
    peer.close_stdin();
    assert_eq!(peer.process().wait_for_exit(), Some(0));
    home.wait_for_failure("begins", "cancelled");
}
