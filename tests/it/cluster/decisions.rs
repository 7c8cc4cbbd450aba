//! Decisions of a person hold on all nodes: approvals, and those about suspended runs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolcell_host::GUEST_DIGEST;

use super::client::Client;
use super::node::{AUTO, Library, Node, binary, wait_until};
use super::note;
use crate::fixtures::cli::CommandOutput;

/// Every tool needs an approval.
const ASK: &str = "[approval]\nmode = 'ask'\n[grants.default.kv]\nspace = 'notes'\n";
/// How late a decision may be seen on a machine that does other things, too. The aim is 1 s.
const TOO_LATE: Duration = Duration::from_secs(10);

#[track_caller]
fn assert_done(output: &CommandOutput) {
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
}

#[test]
fn an_approval_and_its_revocation_hold_on_all_nodes() {
    let Some(library) = Library::start(ASK) else { return };
    let (alice, bob) = (library.clients("alice"), library.clients("bob"));
    assert_eq!(alice[0].create_counter(), Ok(1));
    assert_eq!(bob[0].create_counter(), Ok(1));
    let is_denied =
        |client: &Client<'_>| client.run("count", &json!({})).is_err_and(|error| error.code == "permission-denied");
    assert!(alice.iter().chain(&bob).all(is_denied));
    // Each node knows what waits for a decision.
    for node in &library.nodes {
        let listed = node.connected("alice", &["approvals", "--json"]);
        assert_eq!(listed.json()["pending"][0]["name"], "count", "{}{}", listed.out, listed.err);
    }
    for round in 0..3 {
        let (here, there) = (&library.nodes[round], [(round + 1) % 3, (round + 2) % 3]);
        assert_done(&here.connected("alice", &["approvals", "grant", "count", "--yes"]));
        for other in there {
            let delay = wait_until("the approval", || alice[other].run("count", &json!({})).is_ok());
            note(&format!("an approval was seen after {delay:?}"));
            assert!(delay < TOO_LATE, "{delay:?}");
        }
        assert_done(&here.connected("alice", &["approvals", "revoke", "count"]));
        for other in there {
            let delay = wait_until("the revocation", || is_denied(&alice[other]));
            note(&format!("a revocation was seen after {delay:?}"));
            assert!(delay < TOO_LATE, "{delay:?}");
        }
    }
    assert!(bob.iter().all(is_denied));
    assert_done(&library.nodes[2].connected("alice", &["approvals", "refuse", "count"]));
    wait_until("the refusal", || {
        let decided = library.nodes[0].detached("alice", &["approvals", "--json"], "").json();
        decided["decided"].as_array().unwrap().iter().any(|decided| decided["name"] == "count")
    });
    // Without the library, nothing is decided.
    let refused = library.nodes[0].detached("alice", &["approvals", "grant", "count", "--yes"], "");
    assert_eq!(refused.status, 3, "{}", refused.err);
    assert!(is_denied(&alice[0]));
}

#[test]
fn an_approval_for_one_run_is_used_by_one_node() {
    let Some(library) = Library::start(ASK) else { return };
    let clients = library.clients("alice");
    assert_eq!(clients[0].create_counter(), Ok(1));
    for client in &clients {
        client.names().unwrap();
    }
    for round in 1..=5 {
        let node = &library.nodes[round % 3];
        assert_done(&node.connected("alice", &["approvals", "grant", "count", "--once", "--yes"]));
        // All of them know it, and use it at once.
        for node in &library.nodes {
            assert_done(&node.connected("alice", &["list"]));
        }
        let start = Barrier::new(6);
        let ran: Vec<Result<Value, _>> = thread::scope(|scope| {
            let running: Vec<_> = (0..6)
                .map(|run: usize| {
                    let (client, start) = (&clients[run % 3], &start);
                    scope.spawn(move || {
                        start.wait();
                        client.run("count", &json!({}))
                    })
                })
                .collect();
            running.into_iter().map(|running| running.join().unwrap()).collect()
        });
        let values: Vec<&Value> = ran.iter().filter_map(|ran| ran.as_ref().ok()).collect();
        assert_eq!(values, [&json!(round)], "{ran:?}");
        let refused = ran.iter().filter_map(|ran| ran.as_ref().err());
        assert!(refused.clone().all(|error| error.code == "permission-denied"), "{ran:?}");
    }
}

/// Suspends a run on a node, and returns its identifier and the digest of the effect that it waits with.
#[track_caller]
fn suspend(node: &Node) -> (String, String) {
    let output = node.connected("alice", &["run", "count", "--suspend", "--json"]);
    let suspended = output.json();
    assert_eq!(suspended["outcome"], "suspended", "{}{}", output.out, output.err);
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{suspended}")).to_owned();
    (text(&suspended["run"]), text(&suspended["plan"][0]["digest"]))
}

#[test]
fn a_suspended_run_is_resumed_on_any_node_and_once() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    assert_eq!(clients[0].create_counter(), Ok(1));
    for client in &clients {
        client.names().unwrap();
    }
    for round in 1..=3 {
        let here = round % 3;
        let (run, digest) = suspend(&library.nodes[here]);
        let there = [(here + 1) % 3, (here + 2) % 3].map(|index| &library.nodes[index]);
        for node in there {
            let listed = node.connected("alice", &["suspended", "--json"]).json();
            assert_eq!(listed["runs"][0]["run"], json!(run), "{listed}");
        }
        let start = Barrier::new(2);
        let resumed: Vec<CommandOutput> = thread::scope(|scope| {
            let resuming = there.map(|node| {
                let (run, digest, start) = (&run, &digest, &start);
                scope.spawn(move || {
                    start.wait();
                    node.connected("alice", &["resume", run, "--approve", digest, "--json"])
                })
            });
            resuming.into_iter().map(|resuming| resuming.join().unwrap()).collect()
        });
        let answers: Vec<(u8, Value)> = resumed.iter().map(|output| (output.status, output.json())).collect();
        let finished: Vec<&Value> = answers.iter().filter(|(status, _)| *status == 0).map(|(_, done)| done).collect();
        let [done] = &finished[..] else { panic!("{answers:?}") };
        assert_eq!(done["value"], json!(round), "{done}");
        let late = answers.iter().find(|(status, _)| *status != 0).unwrap();
        assert_eq!((late.0, &late.1["error"]["code"]), (4, &json!("run-not-asleep")), "{answers:?}");
        for node in &library.nodes {
            assert_eq!(node.connected("alice", &["suspended", "--json"]).json()["runs"], json!([]));
        }
    }
    // What the runs wrote is there, once each.
    assert_eq!(clients[0].run("count", &json!({})), Ok(4.into()));
}

#[test]
fn a_run_that_was_not_resumed_for_want_of_the_database_can_be_resumed_later() {
    let Some(library) = Library::start(AUTO) else { return };
    let [on_a, ..] = library.clients("alice");
    assert_eq!(on_a.create_counter(), Ok(1));
    let (run, digest) = suspend(&library.nodes[0]);
    let resume =
        |node: usize| library.nodes[node].connected("alice", &["resume", &run, "--approve", &digest, "--json"]);
    library.postgres.stop();
    let refused = resume(0);
    library.postgres.go_on();
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (5, &json!("shared-unreachable")),
        "{}",
        refused.out
    );
    library.clients("alice")[1].names().unwrap();
    let mut resumed = None;
    wait_until("the run is resumed", || {
        let output = resume(1);
        let is_done = output.status == 0;
        resumed = Some(output);
        is_done
    });
    assert_eq!(resumed.unwrap().json()["value"], 1);
    assert_eq!(resume(0).status, 4);
    wait_until("the node counts again", || on_a.run("count", &json!({})) == Ok(2.into()));
}

/// Writes a binary with another guest: the same one under another digest, as its nodes and its suspended runs name it. Returns the digest.
fn write_binary_with_another_guest(path: &Path) -> String {
    let original = binary("toolcell-cluster");
    let other: String = GUEST_DIGEST.chars().rev().collect();
    let mut replace = Command::new("sed");
    replace.env("LC_ALL", "C").args(["--binary", &format!("s/{GUEST_DIGEST}/{other}/g")]).arg(&original);
    let replaced = replace.stdout(fs::File::create(path).unwrap()).status().unwrap();
    assert!(replaced.success());
    fs::set_permissions(path, fs::metadata(original).unwrap().permissions()).unwrap();
    other
}

#[test]
fn during_an_upgrade_of_the_guest_a_run_is_resumed_by_the_guest_that_suspended_it() {
    let Some(library) = Library::start_with(AUTO, &["--drain", "0"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("toolcell-cluster");
    let digest = write_binary_with_another_guest(&program);
    let [on_old, ..] = library.clients("alice");
    assert_eq!(on_old.create_counter(), Ok(1));
    let old = &library.nodes[0];
    let new = library.node_of("new", &program, &[]);
    let on_new = new.client("alice");
    wait_until("the new node has the tool", || on_new.run("count", &json!({})).is_ok());
    let counted = on_old.run("count", &json!({})).unwrap().as_u64().unwrap();

    // Each guest resumes its runs, and leaves those of the other one.
    let (of_old, of_new) = (suspend(old), suspend(&new));
    let status = old.cluster_status();
    assert!(status.contains(&GUEST_DIGEST[..8]) && status.contains(&digest[..8]), "{status}");
    let resume = |node: &Node, (run, digest): &(String, String)| {
        let output = node.connected("alice", &["resume", run, "--approve", digest, "--json"]);
        (output.status, output.json())
    };
    for (node, run) in [(&new, &of_old), (old, &of_new)] {
        let (status, refused) = resume(node, run);
        assert!(status != 0 && refused["error"]["code"] == "asleep-guest", "{refused}");
        let listed = node.connected("alice", &["suspended", "--json"]).json();
        assert_eq!(listed["runs"].as_array().map(Vec::len), Some(2), "{listed}");
    }
    // The old nodes are replaced one by one; the last of them resumes what only it can.
    library.nodes[1].kill();
    library.nodes[2].kill();
    let (status, resumed) = resume(old, &of_old);
    assert_eq!((status, &resumed["value"]), (0, &json!(counted + 1)), "{resumed}");
    old.kill();
    // Its value has changed since it was suspended, so it writes another one, which has to be approved.
    let (run, digest) = of_new;
    let (_, again) = resume(&new, &(run.clone(), digest));
    let digest = again["plan"][1]["digest"].as_str().unwrap_or_else(|| panic!("{again}")).to_owned();
    let (status, resumed) = resume(&new, &(run, digest));
    assert_eq!((status, &resumed["value"]), (0, &json!(counted + 2)), "{resumed}");
    assert_eq!(on_new.run("count", &json!({})), Ok(json!(counted + 3)));
}
