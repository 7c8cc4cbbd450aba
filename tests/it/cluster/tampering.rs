//! The database loses, alters or reorders what it has: a node serves nothing of that, and says what is wrong.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use super::node::{AUTO, Library, Node, returns, wait_until};
use crate::mcp::server::poll;

/// The number of tools before something is altered: each is an entry, and two objects.
const TOOLS: u64 = 6;

/// Starts a library with some tools that all nodes have.
fn start() -> Option<Library> {
    let library = Library::start(AUTO)?;
    let clients = library.clients("alice");
    for number in 0..TOOLS {
        assert_eq!(clients[0].create(&format!("tool{number}"), &returns(number)), Ok(1));
    }
    for client in &clients {
        wait_until("all nodes have the tools", || client.names().unwrap().len() == usize::try_from(TOOLS).unwrap());
    }
    library.postgres.query("CREATE TABLE kept_history AS SELECT * FROM toolcell.history WHERE key LIKE 'library/%'");
    library.postgres.query("CREATE TABLE kept_blob AS SELECT * FROM toolcell.blob");
    Some(library)
}

/// Puts back what was altered.
fn restore(library: &Library) {
    library.postgres.query(
        "DELETE FROM toolcell.history WHERE key LIKE 'library/%'; TRUNCATE toolcell.blob; INSERT INTO toolcell.history SELECT * FROM kept_history; \
         INSERT INTO toolcell.blob SELECT * FROM kept_blob",
    );
}

/// Asserts that a fresh node refuses what comes after the first `known` entries, and names the reason.
#[track_caller]
fn check_fresh_node(library: &Library, name: &str, known: u64, says: &str) -> Node {
    let fresh = library.node(name, &[]);
    let client = fresh.client("alice");
    for number in 0..TOOLS {
        let refused = client.run(&format!("tool{number}"), &json!({})).unwrap_err();
        assert!(refused.code == "shared-invalid" && refused.text.contains(says), "tool{number}: {refused:?}");
    }
    let refused = client.create("new", &returns(1)).unwrap_err();
    assert_eq!(refused.code, "shared-invalid", "{refused:?}");
    // What it lists, if it does, is a part of what was there.
    if let Ok(names) = client.names() {
        let expected: Vec<String> = (0..known).map(|number| format!("tool{number}")).collect();
        assert_eq!(names, expected);
    }
    // Once in the log, with the library; the node serves the library of another principal, and stays behind its load balancer.
    let log = fresh.log();
    assert!(log.contains("shared-invalid") && log.contains(says) && log.contains("library/alice"), "{log}");
    assert!(log.lines().count() < 20, "{log}");
    assert_eq!(fresh.client("bob").names().unwrap(), [] as [&str; 0]);
    assert_eq!(fresh.readiness().0, 200);
    fresh
}

#[test]
fn an_object_that_was_altered_or_is_lost_is_served_by_the_nodes_that_have_it_alone() {
    let Some(library) = start() else { return };
    let [on_a, on_b, _] = library.clients("alice");
    let object = "(SELECT hash FROM kept_blob ORDER BY at, hash LIMIT 1 OFFSET 4)";
    for (name, sql, says) in [
        ("altered", format!("UPDATE toolcell.blob SET bytes = bytes || 'x' WHERE hash = {object}"), "was altered"),
        ("lost", format!("DELETE FROM toolcell.blob WHERE hash = {object}"), "is lost"),
        ("emptied", format!("UPDATE toolcell.blob SET bytes = '' WHERE hash = {object}"), "was altered"),
    ] {
        library.postgres.query(&sql);
        let fresh = check_fresh_node(&library, name, 2, says);
        // The others go on, and make changes.
        for number in 0..TOOLS {
            assert_eq!(on_a.run(&format!("tool{number}"), &json!({})), Ok(number.into()));
        }
        assert_eq!(on_b.create(&format!("while-{name}"), &returns(7)), Ok(1));
        wait_until("the new tool", || on_a.run(&format!("while-{name}"), &json!({})) == Ok(7.into()));
        // Once the object is there again, the node catches up by itself.
        library.postgres.query(
            "INSERT INTO toolcell.blob SELECT * FROM kept_blob ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes",
        );
        wait_until("the node has caught up", || fresh.client("alice").list().ok() == on_a.list().ok());
        wait_until("the node is ready", || fresh.readiness().0 == 200);
    }
}

#[test]
fn a_history_that_was_altered_is_followed_up_to_that_place() {
    let Some(library) = start() else { return };
    let swap = |left: u64, right: u64| {
        format!(
            "UPDATE toolcell.history SET entry = kept.entry FROM kept_history kept \
             WHERE history.key LIKE 'library/%' AND history.n IN ({left}, {right}) AND kept.n = {left} + {right} - history.n"
        )
    };
    let none_made = "is not one that this library's secret made";
    for (name, sql, known, says) in [
        ("altered", "UPDATE toolcell.history SET entry = entry || 'x' WHERE n = 3".to_owned(), 2, none_made),
        (
            "flipped",
            "UPDATE toolcell.history SET entry = set_byte(entry, 40, get_byte(entry, 40) # 1) WHERE n = 2".to_owned(),
            1,
            none_made,
        ),
        ("emptied", "UPDATE toolcell.history SET entry = '' WHERE n = 4".to_owned(), 3, "entry 4"),
        ("swapped", swap(2, 3), 1, none_made),
        ("first", swap(1, 2), 0, none_made),
        (
            "repeated",
            "UPDATE toolcell.history SET entry = (SELECT entry FROM kept_history WHERE n = 2) WHERE n = 3".to_owned(),
            2,
            none_made,
        ),
        ("gap", "DELETE FROM toolcell.history WHERE n = 3".to_owned(), 0, "has no entry 3"),
        (
            "left-out",
            "DELETE FROM toolcell.history WHERE n = 3; UPDATE toolcell.history SET n = n - 1 WHERE n = 4; \
            UPDATE toolcell.history SET n = n - 1 WHERE n = 5; UPDATE toolcell.history SET n = n - 1 WHERE n = 6"
                .to_owned(),
            2,
            none_made,
        ),
    ] {
        library.postgres.query(&sql);
        drop(check_fresh_node(&library, name, known, says));
        restore(&library);
    }
    // The nodes from before serve what they have, and go on.
    let [on_a, on_b, _] = library.clients("alice");
    assert_eq!(on_a.run("tool5", &json!({})), Ok(5.into()));
    wait_until("changes are made again", || on_b.create("after", &returns(7)).is_ok());
    let fresh = library.node("fresh", &[]);
    assert_eq!(fresh.client("alice").names().unwrap().len(), usize::try_from(TOOLS).unwrap() + 1);
}

#[test]
fn a_history_of_another_principal_is_not_taken_for_this_one() {
    let Some(library) = start() else { return };
    library.postgres.query(
        "INSERT INTO toolcell.history SELECT 'library/bob', n, entry FROM kept_history WHERE key = 'library/alice'",
    );
    let bob = library.nodes[1].client("bob");
    let refused = bob.run("tool0", &json!({})).unwrap_err();
    assert_eq!(refused.code, "shared-invalid", "{refused:?}");
    assert_eq!(bob.create("own", &returns(1)).unwrap_err().code, "shared-invalid");
    // One principal's library does not stop that of another.
    assert_eq!(library.nodes[1].client("alice").create("after", &returns(1)), Ok(1));
}

#[test]
fn a_database_from_an_older_backup_is_noticed_by_the_nodes_that_are_ahead() {
    let Some(library) = start() else { return };
    let clients = library.clients("alice");
    library.postgres.query("DELETE FROM toolcell.history WHERE n > 4");
    // A database does not answer while it is restored.
    library.postgres.kill();
    for client in &clients {
        assert_eq!(client.create("new", &returns(1)).unwrap_err().code, "shared-unreachable");
    }
    library.postgres.start_again();
    let says = "restored from an older backup";
    for (node, client) in library.nodes.iter().zip(&clients) {
        let answered =
            || client.create("new", &returns(1)).err().filter(|refused| refused.code != "shared-unreachable");
        let refused = poll(answered).unwrap();
        assert!(refused.code == "shared-invalid" && refused.text.contains(says), "{refused:?}");
        // The log has the new reason as well.
        assert!(poll(|| node.log().contains(says).then_some(())).is_some(), "{}", node.log());
        // The libraries of other principals go on, and so do runs, as without the database.
        wait_until("the node is ready", || node.readiness().0 == 200);
        assert_eq!(client.run("tool5", &json!({})), Ok(5.into()));
    }
    // A node that begins anew goes on from the backup, as the guide says. The others do not mistake its entries for theirs.
    let fresh = library.node("fresh", &[]);
    let newcomer = fresh.client("alice");
    for number in 0..3 {
        assert_eq!(newcomer.create(&format!("new{number}"), &returns(number)), Ok(1));
    }
    assert_eq!(library.postgres.query("SELECT max(n) FROM toolcell.history"), "7");
    for client in &clients {
        let refused = client.create("other", &returns(1)).unwrap_err();
        assert!(refused.code == "shared-invalid" && refused.text.contains(says), "{refused:?}");
    }
    for node in &library.nodes {
        node.kill();
        fs::remove_dir_all(node.folder.join("store")).unwrap();
        node.start();
        assert_eq!(node.client("alice").list().unwrap(), newcomer.list().unwrap());
    }
    assert_eq!(clients[0].create("together", &returns(1)), Ok(1));
    assert_eq!(newcomer.run("together", &json!({})), Ok(1.into()));
}

#[test]
fn an_audit_log_that_was_cut_while_its_node_was_down_is_noticed_by_all_nodes() {
    let Some(library) = Library::start_with(AUTO, &["--drain", "0", "--audit-heads", "1"]) else { return };
    let clients = library.clients("alice");
    assert_eq!(clients[0].create("one", &returns(1)), Ok(1));
    for client in &clients {
        wait_until("the tool", || client.run("one", &json!({})) == Ok(json!(1)));
    }
    // A node that ends tells the end of its log.
    library.nodes[0].signal(Signal::SIGTERM);
    library.nodes[0].wait();
    let path = library.nodes[0].store("alice").join("logs/dynamic-tools-audit.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let (kept, cut) = whole.trim_end().rsplit_once('\n').unwrap();
    assert!(cut.contains("run_dynamic_tool"), "{cut}");
    fs::write(&path, format!("{kept}\n")).unwrap();
    let seq = whole.lines().count();
    let head = path.with_extension("head");
    fs::write(head, format!("{:020} {}\n", seq - 1, blake3::hash(kept.lines().last().unwrap().as_bytes()).to_hex()))
        .unwrap();
    let verified = library.nodes[0].detached("alice", &["audit", "verify"], "");
    let says = format!("entries {seq} to {seq} are missing");
    assert!(verified.status == 6 && verified.out.contains(&says), "{} {}", verified.status, verified.out);

    library.nodes[0].start();
    assert_eq!(clients[0].run("one", &json!({})), Ok(json!(1)));
    for node in &library.nodes {
        wait_until("the log of one node was cut", || node.metrics().contains("toolcell_shared_audit_logs_cut 1\n"));
        let says = "the audit log of a node does not have an entry any more";
        wait_until("the node logs it", || node.log().contains(says));
        assert_eq!(node.log().matches(says).count(), 1, "{}", node.log());
        let verified = node.detached("alice", &["audit", "verify", "--json"], "").json();
        assert_eq!(verified["cutLogs"].as_array().map(Vec::len), Some(1), "{verified}");
        let told = node.detached("alice", &["audit", "verify"], "");
        assert!(told.err.contains(&format!("does not have its entry {seq} any more")), "{}", told.err);
    }
    // The logs of the others are whole.
    for node in &library.nodes[1..] {
        assert!(!node.verified_audit_lines("alice").is_empty());
    }
}
