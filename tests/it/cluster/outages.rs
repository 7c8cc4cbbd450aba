//! The database is gone: what goes on, what is refused and how soon, and that everything is as it was afterwards.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::client::{Client, Refused};
use super::node::{AUTO, Library, Node, returns, wait_until};
use super::note;
use crate::mcp::server::poll;

/// How soon a change is to be refused.
const AIM: Duration = Duration::from_secs(1);
/// The same on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(3);

/// Measures how long a call takes.
fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let answer = call();
    (answer, began.elapsed())
}

/// Asserts that a call is refused because the library cannot be reached, and returns how long that took.
#[track_caller]
fn is_unreachable<T: std::fmt::Debug>(what: &str, call: impl FnOnce() -> Result<T, Refused>) -> Duration {
    let (answer, time) = timed(call);
    let refused = answer.unwrap_err();
    assert_eq!(refused.code, "shared-unreachable", "{what}: {refused:?}");
    time
}

/// Creates `one` and `count`, and lets all nodes know them.
fn prepare(clients: &[Client<'_>; 3]) {
    assert_eq!(clients[0].create("one", &returns(1)), Ok(1));
    assert_eq!(clients[0].create_counter(), Ok(1));
    for client in clients {
        assert_eq!(client.run("one", &json!({})), Ok(1.into()));
    }
    wait_until("all nodes know the tools", || clients.iter().all(|client| client.names().unwrap().len() == 2));
}

#[test]
fn runs_go_on_and_changes_are_refused_while_the_database_does_not_answer() {
    let Some(library) = Library::start_impatient(AUTO, &[]) else { return };
    let clients = library.clients("alice");
    let [on_a, on_b, on_c] = &clients;
    prepare(&clients);
    library.postgres.stop();
    let stopped = Instant::now();
    let first = is_unreachable("create", || on_a.create("two", &returns(2)));
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(is_unreachable("create", || on_a.create("two", &returns(2))));
        for client in &clients {
            let (answer, time) = timed(|| client.run("one", &json!({})));
            assert_eq!(answer, Ok(1.into()));
            assert!(time < LIMIT, "a run took {time:?}");
        }
    }
    note(&format!("a create was refused after {first:?}, then after {times:?}; the aim is {AIM:?}"));
    assert!(first < LIMIT && times.iter().all(|time| *time < LIMIT), "{first:?} {times:?}");
    for (what, time) in [
        ("replace", is_unreachable("replace", || on_b.replace("one", &returns(3)))),
        ("delete", is_unreachable("delete", || on_c.delete("one"))),
        // It may have been created on a node that reached the database: that it is not there cannot be said.
        ("an unknown name", is_unreachable("an unknown name", || on_b.run("nothing", &json!({})))),
    ] {
        assert!(time < LIMIT, "{what}: {time:?}");
    }
    // A write of a tool is an error of the tool.
    let (refused, time) = timed(|| on_a.run("count", &json!({})).unwrap_err());
    assert!(refused.text.contains("the shared library cannot be reached") && time < LIMIT, "{refused:?} {time:?}");
    // Calls that come at once do not wait for each other.
    let slowest = thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let client = on_a.clone();
                scope
                    .spawn(move || is_unreachable("create", || client.create(&format!("at-once{number}"), &returns(1))))
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).max().unwrap()
    });
    note(&format!("of 8 creates at once, the last was refused after {slowest:?}"));
    assert!(slowest < LIMIT, "{slowest:?}");
    // Runs are possible, so a load balancer goes on to send them here; who looks is told what is not.
    for node in &library.nodes {
        let told = poll(|| Some(node.readiness()).filter(|(_, text)| text.contains("(shared-unreachable)")));
        let (status, text) = told.unwrap_or_else(|| panic!("{:?}", node.readiness()));
        assert_eq!(status, 200, "{text}");
        assert!(text.starts_with("ready, but a shared library cannot be followed"), "{text}");
    }
    // Who calls is told, too.
    let run = on_a.call("run_dynamic_tool", &json!({ "tool_name": "one", "parameters": {} })).unwrap();
    let age = run["_meta"]["toolcell/view"]["ageMs"].as_u64();
    assert!(age.is_some_and(|age| age > 5_000), "{run}");
    let all_behind = "toolcell_shared_libraries{state=\"followed\"} 0\n";
    let metrics = poll(|| Some(library.nodes[0].metrics()).filter(|metrics| metrics.contains(all_behind)));
    let metrics = metrics.unwrap_or_else(|| panic!("{}", library.nodes[0].metrics()));
    let age = metrics.lines().find_map(|line| line.strip_prefix("toolcell_shared_view_age_seconds ")?.parse().ok());
    assert!(age.is_some_and(|age: f64| age > 5.0), "{metrics}");
    let told = stopped.elapsed();
    note(&format!("the nodes told of it after {told:?}"));

    library.postgres.go_on();
    let is_well = |node: &Node| node.readiness() == (200, "ready\n".to_owned());
    let time = wait_until("all nodes are well", || library.nodes.iter().all(is_well));
    note(&format!("they were well {time:?} after the database went on"));
    assert!(time < Duration::from_secs(20), "{time:?}");
    wait_until("changes are made again", || on_a.create("two", &returns(2)).is_ok());
    for client in &clients {
        wait_until("the new tool", || client.run("two", &json!({})) == Ok(2.into()));
        assert_eq!(client.names().unwrap(), ["count", "one", "two"]);
    }
    let run = on_a.call("run_dynamic_tool", &json!({ "tool_name": "one", "parameters": {} })).unwrap();
    assert_eq!(run["_meta"]["toolcell/view"], Value::Null, "{run}");
    // Nothing of what was refused was made.
    assert_eq!(on_b.run("count", &json!({})), Ok(1.into()));
    let lines: Vec<_> = library.nodes.iter().flat_map(|node| node.verified_audit_lines("alice")).collect();
    let made = |action: &str| lines.iter().filter(|line| line["action"] == action && line["success"] == true).count();
    assert_eq!((made("create_tool"), made("delete_dynamic_tool")), (3, 0));
    assert!(lines.iter().any(|line| line["error"] == "shared-unreachable"));
    // A person reads the logs: one that repeats itself each second hides the rest.
    for node in &library.nodes {
        let lines = node.log().lines().count();
        assert!(lines < 20, "{lines} lines in {told:?}: {}", node.log());
    }
}

#[test]
fn runs_are_refused_without_the_database_where_that_is_asked_for() {
    let Some(library) = Library::start_impatient(AUTO, &["--offline-runs", "refuse"]) else { return };
    let clients = library.clients("alice");
    prepare(&clients);
    library.postgres.stop();
    for client in &clients {
        let (refused, time) = timed(|| client.run("one", &json!({})).unwrap_err());
        assert_eq!(refused.code, "shared-unreachable", "{refused:?}");
        assert!(time < LIMIT, "{time:?}");
    }
    // A load balancer is told, with the reason.
    for node in &library.nodes {
        let told = poll(|| Some(node.readiness()).filter(|(status, _)| *status == 503));
        let (_, text) = told.unwrap_or_else(|| panic!("{:?}", node.readiness()));
        assert!(text.contains("a shared library cannot be followed (shared-unreachable)"), "{text}");
    }
    library.postgres.go_on();
    for client in &clients {
        wait_until("runs go on", || client.run("one", &json!({})) == Ok(1.into()));
    }
}

#[test]
fn runs_go_on_without_the_database_for_the_time_that_is_given() {
    let Some(library) = Library::start_impatient(AUTO, &["--offline-runs", "4s"]) else { return };
    let clients = library.clients("alice");
    prepare(&clients);
    library.postgres.stop();
    assert_eq!(clients[0].run("one", &json!({})), Ok(1.into()));
    let refused = poll(|| clients[0].run("one", &json!({})).err()).unwrap();
    assert!(refused.code == "shared-unreachable" && refused.text.contains("runs go on for 4 s"), "{refused:?}");
    library.postgres.go_on();
    wait_until("runs go on", || clients[0].run("one", &json!({})) == Ok(1.into()));
}

#[test]
fn a_node_does_not_answer_for_a_library_that_it_has_never_seen() {
    let Some(library) = Library::start_impatient(AUTO, &[]) else { return };
    let [on_a, on_b, _] = library.clients("alice");
    assert_eq!(on_a.create("one", &returns(1)), Ok(1));
    library.postgres.stop();
    // This node has not opened the library of this principal yet: an empty list would be wrong.
    let listed = on_b.names();
    let ran = on_b.run("one", &json!({}));
    library.postgres.go_on();
    assert_eq!(listed.unwrap_err().code, "shared-unreachable");
    assert_eq!(ran.unwrap_err().code, "shared-unreachable");
    wait_until("the node has followed", || on_b.names().is_ok_and(|names| names == ["one"]));
}

#[test]
fn a_node_that_restarts_without_the_database_runs_what_it_knows() {
    let Some(library) = Library::start_impatient(AUTO, &["--offline-runs", "go-on"]) else { return };
    let clients = library.clients("alice");
    prepare(&clients);
    library.postgres.kill();
    let node = &library.nodes[0];
    node.kill();
    node.start();
    assert_eq!(clients[0].run("one", &json!({})), Ok(1.into()));
    is_unreachable("create", || clients[0].create("two", &returns(2)));
    let (status, text) = node.readiness();
    assert!(status == 200 && text.contains("(shared-unreachable)"), "{status} {text}");
    library.postgres.start_again();
    wait_until("changes are made again", || clients[0].create("two", &returns(2)).is_ok());
    wait_until("the new tool", || clients[1].run("two", &json!({})) == Ok(2.into()));
}

#[test]
fn a_node_ends_soon_although_the_database_does_not_answer() {
    let Some(library) = Library::start_impatient(AUTO, &["--drain", "0"]) else { return };
    let clients = library.clients("alice");
    prepare(&clients);
    library.postgres.stop();
    let node = &library.nodes[0];
    let ended = timed(|| {
        node.signal(Signal::SIGTERM);
        node.wait()
    });
    library.postgres.go_on();
    note(&format!("a node ended {:?} after SIGTERM", ended.1));
    assert!(ended.0 == Some(0) && ended.1 < Duration::from_secs(10), "{ended:?} {}", node.log());
}

#[test]
fn commands_that_read_work_without_the_database() {
    let Some(library) = Library::start_impatient(AUTO, &[]) else { return };
    prepare(&library.clients("alice"));
    let node = &library.nodes[0];
    library.postgres.stop();
    let outputs = [&["list"][..], &["show", "one"], &["approvals"], &["suspended"], &["audit"], &["audit", "verify"]]
        .map(|words| (words, node.connected("alice", words)));
    let changed = node.connected("alice", &["delete", "one", "--confirm"]);
    library.postgres.go_on();
    for (words, output) in outputs {
        assert_eq!(output.status, 0, "{words:?}: {}", output.err);
    }
    assert!(changed.status == 5 && changed.err.contains("cannot be reached"), "{}", changed.err);
}
