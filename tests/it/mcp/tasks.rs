//! Runs that may take longer than a client waits: tasks, where the client knows them.

use serde_json::{Value, json};

use super::BEGINS;
use super::home::{Home, until};
use super::peer::{Peer, tasks};

/// More than a client waits.
const LONG: u64 = 120_000;

fn run(peer: &mut Peer, name: &str) -> Value {
    peer.call("run_dynamic_tool", json!({ "tool_name": name, "timeout_ms": LONG })).result()
}

fn get(peer: &mut Peer, task: &Value) -> Value {
    peer.ask("tasks/get", json!({ "taskId": task["taskId"] })).result()
}

fn clients(home: &Home, check: impl Fn(&mut Peer)) {
    check(&mut home.piped(&[]).stateless(tasks()));
    check(&mut home.web(&[]).peer().stateless(tasks()));
}

#[test]
fn a_long_run_is_a_task_that_can_be_looked_after_and_cancelled() {
    let home = Home::new("");
    home.piped(&[]).stateless(json!({})).make("begins", BEGINS);
    clients(&home, |peer| {
        let before = home.failures("begins", "cancelled").len();
        let task = run(peer, "begins");
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
        assert!(task["ttlMs"].as_u64().unwrap() > LONG && task["pollIntervalMs"].is_u64(), "{task}");
        let began = until(|| Some(get(peer, &task)).filter(|seen| seen["statusMessage"] == "began")).unwrap();
        assert_eq!(began["status"], "working");
        peer.ask("tasks/cancel", json!({ "taskId": task["taskId"] })).result();
        assert!(until(|| (get(peer, &task)["status"] == "cancelled").then_some(())).is_some());
        let ended = until(|| (home.failures("begins", "cancelled").len() == before + 1).then_some(()));
        assert!(ended.is_some(), "{:?}", home.audit());
    });
}

#[test]
fn a_task_that_is_done_has_the_answer_of_the_call() {
    let home = Home::new("");
    let mut peer = home.piped(&[]).stateless(tasks());
    peer.make("one", "const execute = () => 1");
    let task = run(&mut peer, "one");
    let done = until(|| Some(get(&mut peer, &task)).filter(|seen| seen["status"] == "completed")).unwrap();
    assert_eq!(done["result"]["structuredContent"]["value"], 1, "{done}");
    assert_eq!(done["result"]["isError"], false, "{done}");

    peer.make("fails", "function execute() { throw new Error('no') }");
    let task = run(&mut peer, "fails");
    // A tool that fails is an answer.
    let done = until(|| Some(get(&mut peer, &task)).filter(|seen| seen["status"] == "completed")).unwrap();
    assert_eq!(done["result"]["_meta"]["toolcell/error"]["code"], "tool-failed", "{done}");
    assert_eq!(peer.ask("tasks/get", json!({ "taskId": "nobody" })).message["error"]["code"], -32_602);
}

#[test]
fn who_does_not_know_tasks_has_a_call() {
    let home = Home::new("");
    let mut peer = home.piped(&[]).stateless(json!({}));
    peer.make("one", "const execute = () => 1");
    let result = run(&mut peer, "one");
    assert_eq!((&result["structuredContent"]["value"], result.get("taskId")), (&json!(1), None));
    // What does not take long is a call for who knows them as well.
    let mut peer = home.piped(&[]).stateless(tasks());
    peer.run("one", json!({})).returns(&json!(1));
}

#[test]
fn a_task_is_nobody_elses() {
    let home = Home::new("");
    let tokens = home.tokens(&["alice", "bob"], "");
    let web = home.web(&["--tokens", &tokens]);
    let of = |name: &str| web.peer_of(&Home::token(name)).stateless(tasks());
    let (mut alice, mut bob) = (of("alice"), of("bob"));
    alice.make("begins", BEGINS);
    let task = run(&mut alice, "begins");
    for method in ["tasks/get", "tasks/cancel"] {
        let reply = bob.ask(method, json!({ "taskId": task["taskId"] }));
        assert_eq!(reply.message["error"]["code"], -32_602, "{}", reply.message);
    }
    assert_eq!(get(&mut alice, &task)["status"], "working");
    alice.ask("tasks/cancel", json!({ "taskId": task["taskId"] })).result();
    assert!(until(|| (get(&mut alice, &task)["status"] == "cancelled").then_some(())).is_some());
}

#[test]
fn a_task_under_way_is_recorded_when_the_server_ends() {
    let home = Home::new("");
    let mut peer = home.piped(&["--grace", "0"]).stateless(tasks());
    peer.make("begins", BEGINS);
    let task = run(&mut peer, "begins");
    until(|| Some(get(&mut peer, &task)).filter(|seen| seen["statusMessage"] == "began")).unwrap();
    peer.hang_up();
    assert_eq!(peer.process().ends(), Some(0));
    home.logs_failure("begins", "cancelled");
}
