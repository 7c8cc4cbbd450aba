//! A store of a single machine that becomes a library of nodes, and a library that becomes a store again.

use std::path::Path;

use serde_json::json;

use super::node::{AUTO, Library, Node, SECRET, finish, returns, wait_until};
use super::postgres_server::{PostgresServer, ServerKind};
use crate::fixtures::cli::CommandOutput;

/// Tools need an approval, and may keep values.
const ASK: &str = "[approval]\nmode = 'ask'\n[grants.default.kv]\nspace = 'notes'\n";

/// Runs `node migrate` with the store in `dir`.
fn migrate(node: &Node, url: &str, direction: &str, principal: &str, dir: &Path) -> CommandOutput {
    migrate_with(node, url, SECRET, &[direction, principal], dir)
}

fn migrate_with(node: &Node, url: &str, secret: &str, words: &[&str], dir: &Path) -> CommandOutput {
    let mut command = node.cluster_command(dir);
    command.args(["node", "migrate"]).args(words).args(["--shared", url, "--json"]);
    finish(command.env("TOOLCELL_SHARED_SECRET", secret), b"")
}

#[track_caller]
fn assert_done(output: &CommandOutput) {
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
}

#[test]
fn a_store_goes_up_to_the_nodes_and_comes_down_again() {
    let Some(postgres) = PostgresServer::start(ServerKind::Fast) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (own, taken) = (folder.path().join("own"), folder.path().join("taken"));
    let nodes = ["a", "b"].map(|name| Node::new(&folder.path().join(name), ASK, &postgres.url(), &[]));
    let local = |dir: &Path, words: &[&str], input: &str| nodes[0].detached_in(dir, words, input);

    // A tool with a history, an approval, a value and a suspended run.
    let count = "const execute = () => kv.update('n', (n) => (n ?? 0) + 1)";
    for (name, code) in [("count", count), ("one", &returns(1)), ("gone", &returns(3))] {
        assert_done(&local(
            &own,
            &["create", "-", "--name", name, "--description", "A tool", "--capabilities", "kv"],
            code,
        ));
        assert_done(&local(&own, &["approvals", "grant", name, "--yes"], ""));
    }
    assert_done(&local(&own, &["delete", "gone", "--confirm"], ""));
    assert_done(&local(&own, &["run", "count"], ""));
    let suspended = local(&own, &["run", "count", "--suspend", "--json"], "").json();
    assert_eq!(suspended["outcome"], "suspended", "{suspended}");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_else(|| panic!("{suspended}")).to_owned();
    let (run, digest) = (text(&suspended["run"]), text(&suspended["plan"][0]["digest"]));

    let up = migrate(&nodes[0], &postgres.url(), "up", "alice", &own);
    assert_done(&up);
    assert_eq!((&up.json()["tools"], &up.json()["suspended"]), (&json!(2), &json!(1)));
    // Once more: it is there already.
    assert_eq!(migrate(&nodes[0], &postgres.url(), "up", "alice", &own).json()["knownBefore"], up.json()["changes"]);
    // From now on, the store can only be read.
    assert_eq!(local(&own, &["list", "--json"], "").status, 0);
    for words in [&["run", "one"][..], &["resume", &run], &["create", "-", "--name", "more", "--description", "A tool"]]
    {
        let refused = local(&own, words, &returns(4));
        assert!(
            refused.status != 0 && refused.err.contains("library/alice"),
            "{words:?}: {}{}",
            refused.out,
            refused.err
        );
    }

    for node in &nodes {
        node.start();
    }
    let clients = [0, 1].map(|at| nodes[at].client("alice"));
    assert_eq!(clients[1].names().unwrap(), ["count", "one"]);
    // The suspended run came along, and any node may resume it; so did the approval and the value.
    let listed = nodes[1].connected("alice", &["suspended", "--json"]).json();
    assert!(listed.to_string().contains(&run), "{listed}");
    let resumed = nodes[1].connected("alice", &["resume", &run, "--approve", &digest, "--json"]);
    assert_eq!(resumed.json()["value"], 2, "{}{}", resumed.out, resumed.err);
    wait_until("the other node has the value", || {
        nodes[0].detached("alice", &["suspended", "--json"], "").json()["runs"].as_array().is_none_or(Vec::is_empty)
    });
    assert_eq!(clients[0].run("count", &json!({})), Ok(json!(3)));
    assert_eq!(clients[1].run("count", &json!({})), Ok(json!(4)));
    assert_eq!(nodes[0].client("bob").names().unwrap(), Vec::<String>::new());

    // Now the library is not empty.
    let more = folder.path().join("more");
    assert_done(&local(&more, &["create", "-", "--name", "more", "--description", "A tool"], &returns(4)));
    let refused = migrate(&nodes[0], &postgres.url(), "up", "alice", &more);
    assert_eq!(refused.status, 6, "{}{}", refused.out, refused.err);
    assert_eq!(refused.json()["error"]["code"], "shared-invalid", "{}", refused.out);

    let value = clients[0].run("count", &json!({})).unwrap().as_u64().unwrap();
    let down = migrate(&nodes[0], &postgres.url(), "down", "alice", &taken);
    assert_done(&down);
    assert_eq!(down.json()["tools"], 2);
    assert_eq!(local(&taken, &["run", "count"], "").out.trim(), (value + 1).to_string());
    assert_done(&local(&taken, &["create", "-", "--name", "after", "--description", "A tool"], &returns(5)));
    let checked = local(&taken, &["fsck", "--json"], "");
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
    // The nodes say so, at once and after a restart. The other principal goes on.
    for node in &nodes {
        let client = node.client("alice");
        wait_until("the end of the library", || {
            client.run("one", &json!({})).is_err_and(|error| error.code == "shared-invalid")
        });
        let error = client.create("new", &returns(6)).unwrap_err();
        assert!(error.text.contains("was taken to a store of its own"), "{}", error.text);
        node.kill();
        node.start();
        assert_eq!(node.client("alice").run("one", &json!({})).unwrap_err().code, "shared-invalid");
        assert_eq!(
            node.client("bob").create(&format!("of_{}", node.folder.file_name().unwrap().display()), &returns(1)),
            Ok(1)
        );
        assert!(node.is_ready(), "{:?}", node.readiness());
    }
    // It was taken once.
    let other = folder.path().join("other");
    let refused = migrate(&nodes[0], &postgres.url(), "down", "alice", &other);
    assert_eq!(refused.status, 6, "{}{}", refused.out, refused.err);
    // The store that it was taken to can go up elsewhere.
    assert_done(&migrate(&nodes[0], &postgres.url(), "up", "carol", &taken));
}

#[test]
fn a_principal_of_a_stopped_node_comes_down_with_its_records() {
    let Some(library) = Library::start(AUTO) else { return };
    let client = library.nodes[0].client("alice");
    assert_eq!((client.create("one", &returns(1)), client.run("one", &json!({}))), (Ok(1), Ok(json!(1))));
    let node = &library.nodes[0];
    // While the node runs, the directory is its own.
    node.kill();
    assert_done(&migrate(node, &library.postgres.url(), "down", "alice", &node.store("alice")));
    let audit = node.detached("alice", &["audit", "--json"], "");
    for action in ["create_tool", "run_dynamic_tool", "migrate"] {
        assert!(audit.out.contains(action), "{}", audit.out);
    }
    assert_eq!(node.verified_audit_lines("alice").last().unwrap()["action"], "migrate");
    assert_eq!(node.detached("alice", &["run", "one"], "").out.trim(), "1");
}

#[test]
fn what_cannot_be_moved_is_refused_with_its_reason() {
    let Some(postgres) = PostgresServer::start(ServerKind::Fast) else { return };
    let folder = tempfile::tempdir().unwrap();
    let node = Node::new(&folder.path().join("a"), AUTO, &postgres.url(), &[]);
    let own = folder.path().join("own");
    assert_done(&node.detached_in(&own, &["create", "-", "--name", "one", "--description", "A tool"], &returns(1)));
    let refuse = |words: &[&str], secret: &str, dir: &Path, status: u8, text: &str| {
        let output = migrate_with(&node, &postgres.url(), secret, words, dir);
        assert_eq!(output.status, status, "{words:?}: {}{}", output.out, output.err);
        assert!(output.out.contains(text), "{words:?}: {}{}", output.out, output.err);
    };
    refuse(&["up", "Alice!"], SECRET, &own, 2, "Alice!");
    refuse(&["up", "alice"], "short", &own, 2, "64 hexadecimal digits");
    refuse(&["up", "alice"], SECRET, &folder.path().join("none"), 4, "store");
    refuse(&["down", "alice"], SECRET, &own, 2, "not a copy of the library of `alice`");
    assert_done(&migrate(&node, &postgres.url(), "up", "alice", &own));
    refuse(&["up", "alice"], &SECRET.replace('0', "1"), &own, 6, "the secret is not that of the other nodes");
    refuse(&["up", "bob"], SECRET, &own, 3, "library/alice");
    refuse(&["down", "bob"], SECRET, &folder.path().join("empty"), 6, "`library/bob` is empty");
    // Nothing of the refused attempts is in the database.
    let keys = "SELECT string_agg(DISTINCT key, ' ' ORDER BY key) FROM toolcell.history";
    assert_eq!(postgres.query(keys), "library/alice objects secret");
}
