//! Nodes and the database are killed while tools are created: each create that was acknowledged is on all nodes, once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::NO_ANSWER;
use super::node::{AUTO, Library, Node, PAYS, returns, wait_until};
use super::postgres_server::END_CONNECTIONS;
use super::{Ending, note};
use crate::mcp::server::poll;
use crate::operations::loopback::LoopbackServer;

/// Lets clients of all nodes create tools while `disturb` does something, and returns the names that were acknowledged, and those of
/// which it is not known.
fn create_during(library: &Library, disturb: impl FnOnce()) -> (BTreeSet<String>, BTreeSet<String>) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let told: Vec<(String, Option<bool>)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|writer: usize| {
                let (client, is_over) = (library.nodes[writer % 3].client("alice"), &is_over);
                scope.spawn(move || {
                    let mut told = Vec::new();
                    while !is_over.load(Ordering::Relaxed) {
                        let name = format!("tool{}", NEXT.fetch_add(1, Ordering::Relaxed));
                        let acknowledged = match client.create(&name, &returns(1)) {
                            Ok(version) => {
                                assert_eq!(version, 1);
                                Some(true)
                            }
                            Err(error) if [NO_ANSWER, "shared-unknown"].contains(&error.code.as_str()) => None,
                            Err(error) => {
                                assert_eq!(error.code, "shared-unreachable", "{error:?}");
                                Some(false)
                            }
                        };
                        if acknowledged != Some(true) {
                            thread::sleep(Duration::from_millis(20));
                        }
                        told.push((name, acknowledged));
                    }
                    told
                })
            })
            .collect();
        let ending = Ending(&is_over);
        disturb();
        drop(ending);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let those = |like: Option<bool>| {
        told.iter().filter(|(_, acknowledged)| *acknowledged == like).map(|(name, _)| name.clone()).collect()
    };
    (those(Some(true)), those(None))
}

/// Asserts that all nodes have the same tools: those that were acknowledged, and some of which it was not known. Each of them has one
/// line in all audit logs together.
fn check_tools(library: &Library, acknowledged: &BTreeSet<String>, unknown: &BTreeSet<String>) {
    let clients = library.clients("alice");
    let mut lists: Vec<Vec<Value>> = Vec::new();
    wait_until("all nodes have the same tools", || {
        lists = clients.iter().filter_map(|client| client.list().ok()).collect();
        lists.len() == clients.len() && lists.iter().all(|list| *list == lists[0])
    });
    let names: BTreeSet<String> = lists[0].iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), lists[0].len());
    let lost: Vec<_> = acknowledged.difference(&names).collect();
    assert!(lost.is_empty(), "acknowledged, and not there: {lost:?}");
    let extra: Vec<_> = names.iter().filter(|name| !acknowledged.contains(*name) && !unknown.contains(*name)).collect();
    assert!(extra.is_empty(), "refused, and there: {extra:?}");
    let count_lines = || {
        let mut lines = BTreeMap::<String, usize>::new();
        for line in library.nodes.iter().flat_map(|node| node.verified_audit_lines("alice")) {
            if line["action"] == "create_tool" && line["success"] == true {
                *lines.entry(line["toolName"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        lines
    };
    let expected: BTreeMap<String, usize> = names.iter().map(|name| (name.clone(), 1)).collect();
    // The line of a change that a node could not finish follows the change by a moment.
    let seen = poll(|| Some(()).filter(|()| count_lines() == expected));
    assert!(seen.is_some(), "{:?} instead of {expected:?}", count_lines());
    note(&format!("{} acknowledged, {} unknown, {} there", acknowledged.len(), unknown.len(), names.len()));
}

#[test]
fn a_node_that_is_killed_loses_no_create_and_makes_none_twice() {
    let Some(library) = Library::start(AUTO) else { return };
    let (acknowledged, unknown) = create_during(&library, || {
        for round in 0..6 {
            thread::sleep(Duration::from_millis(300));
            let node = &library.nodes[round % 3];
            node.kill();
            node.start();
        }
    });
    assert!(!acknowledged.is_empty());
    check_tools(&library, &acknowledged, &unknown);
}

#[test]
fn nodes_and_a_database_that_are_killed_lose_no_create_and_make_none_twice() {
    let Some(library) = Library::start(AUTO) else { return };
    let (acknowledged, unknown) = create_during(&library, || {
        for round in 0..3 {
            thread::sleep(Duration::from_millis(400));
            let node = &library.nodes[round];
            // The node does not learn what became of its changes.
            library.postgres.kill();
            node.kill();
            library.postgres.start_again();
            node.start();
            thread::sleep(Duration::from_millis(200));
            library.postgres.kill();
            library.postgres.start_again();
        }
        thread::sleep(Duration::from_millis(500));
    });
    assert!(!acknowledged.is_empty());
    check_tools(&library, &acknowledged, &unknown);
}

#[test]
fn connections_that_end_lose_no_create_and_make_none_twice() {
    let Some(library) = Library::start(AUTO) else { return };
    let (acknowledged, unknown) = create_during(&library, || {
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(100));
            library.postgres.query(END_CONNECTIONS);
        }
    });
    check_tools(&library, &acknowledged, &unknown);
}

#[test]
fn all_nodes_that_are_killed_at_once_have_everything_again() {
    let Some(library) = Library::start(AUTO) else { return };
    let (acknowledged, unknown) = create_during(&library, || {
        thread::sleep(Duration::from_millis(700));
        for node in &library.nodes {
            node.kill();
        }
        for node in &library.nodes {
            node.start();
        }
        thread::sleep(Duration::from_millis(300));
    });
    check_tools(&library, &acknowledged, &unknown);
}

#[test]
fn a_run_whose_node_is_killed_after_its_effect_is_interrupted_and_no_node_repeats_it() {
    let (effects, is_answered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let server = LoopbackServer::with_handler({
        let (effects, is_answered) = (Arc::clone(&effects), Arc::clone(&is_answered));
        move |_| {
            effects.fetch_add(1, Ordering::Relaxed);
            // It answers once nothing listens any more.
            poll(|| is_answered.load(Ordering::Relaxed).then_some(()));
            ("200 OK", "{}".to_owned())
        }
    });
    let policy = format!("{AUTO}{}", server.grant_for("pay", ""));
    let Some(library) = Library::start(&policy) else { return };
    let [on_a, on_b, on_c] = library.clients("alice");
    assert_eq!(on_a.create_with("pay", PAYS, &json!({ "capabilities": ["net"] })), Ok(1));
    let parameters = json!({ "url": server.url(""), "id": "once" });
    let killed = thread::scope(|scope| {
        let running = scope.spawn(|| on_a.run("pay", &parameters));
        wait_until("the effect", || effects.load(Ordering::Relaxed) == 1);
        library.nodes[0].kill();
        is_answered.store(true, Ordering::Relaxed);
        running.join().unwrap()
    });
    assert_eq!(killed.unwrap_err().code, NO_ANSWER);
    library.nodes[0].start();
    for client in [&on_a, &on_b, &on_c] {
        client.names().unwrap();
    }
    let of_run = |node: &Node| -> Vec<Value> {
        let lines = node.verified_audit_lines("alice").into_iter();
        lines.filter(|line| line["action"] == "run_dynamic_tool").map(|line| line["error"].clone()).collect()
    };
    wait_until("the run has ended", || !of_run(&library.nodes[0]).is_empty());
    thread::sleep(Duration::from_secs(1));
    assert_eq!(library.nodes.iter().map(of_run).collect::<Vec<_>>(), [vec![json!("interrupted")], vec![], vec![]]);
    assert_eq!(effects.load(Ordering::Relaxed), 1);
}
