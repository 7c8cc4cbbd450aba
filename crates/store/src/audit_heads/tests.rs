#![expect(clippy::disallowed_methods, reason = "the tests damage files")]

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use toolcell_error::ErrorCode;

use super::*;
use crate::audit::{Action, AuditEvent, ProblemKind};
use crate::db::Settings;
use crate::replication::tests::{AppendFault, Engine};
use crate::store::Store;

const LIBRARY: &str = "library/team";
const LOG: &str = "logs/dynamic-tools-audit.jsonl";
const HEAD_FILE: &str = "logs/dynamic-tools-audit.head";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn open(folder: &TempDir, engine: &Arc<Engine>) -> Store {
    let replication = Some(engine.replication(LIBRARY));
    Store::open(folder.path(), &Settings { replication, ..Settings::default() }).unwrap()
}

fn two_nodes() -> (Arc<Engine>, [TempDir; 2], [Store; 2]) {
    let (engine, folders) = (Arc::new(Engine::default()), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let nodes = folders.each_ref().map(|folder| open(folder, &engine));
    (engine, folders, nodes)
}

/// Appends lines about runs to the log of a node.
fn run(store: &Store, lines: i64) {
    for line in 0..lines {
        store.audit().record(&AuditEvent::new(Action::RunDynamicTool, at(line))).unwrap();
    }
}

fn publish(store: &Store, second: i64) -> bool {
    let published = store.publish_audit_head("web-1", at(second)).unwrap();
    store.follow().unwrap();
    published
}

fn heads(store: &Store) -> PublishedHeads {
    store.follow().unwrap();
    store.published_heads(at(100)).unwrap()
}

fn node_id(store: &Store) -> String {
    store.replication_status().unwrap().unwrap().node
}

/// Rewrites the log of a closed store so that its own chain fits, and the index with it: what a person can do who can write the directory.
fn rewrite(path: &Path, alter: impl Fn(Vec<String>) -> Vec<String>) {
    let text = std::fs::read_to_string(path.join(LOG)).unwrap();
    let (mut log, mut seq, mut previous) = (String::new(), 0_u64, "0".repeat(64));
    for line in alter(text.lines().map(str::to_owned).collect()) {
        let mut fields: serde_json::Value = serde_json::from_str(&line).unwrap();
        seq += 1;
        fields["seq"] = seq.into();
        fields["previous"] = previous.into();
        let line = fields.to_string();
        previous = blake3::hash(line.as_bytes()).to_hex().to_string();
        log.extend([line.as_str(), "\n"]);
    }
    std::fs::write(path.join(LOG), log).unwrap();
    std::fs::write(path.join(HEAD_FILE), format!("{seq:020} {previous}\n")).unwrap();
    let index = Connection::open(path.join("index.sqlite")).unwrap();
    index.execute("DELETE FROM log_head", []).unwrap();
}

#[test]
fn a_head_is_published_if_the_log_has_grown() {
    let (engine, _folders, [one, two]) = two_nodes();
    assert!(!publish(&one, 1), "an empty log has no head");
    run(&one, 3);
    assert!(publish(&one, 2));
    assert!(!publish(&one, 3), "it was published");
    assert_eq!(engine.entries(LIBRARY).len(), 1);
    run(&one, 2);
    assert!(publish(&one, 4));
    run(&two, 1);
    assert!(publish(&two, 5));
    let (known, others) = (heads(&one), heads(&two));
    assert_eq!((known.own.unwrap().seq(), others.own.unwrap().seq()), (5, 1));
    assert_eq!((known.nodes, known.cut.len(), others.nodes, others.cut.len()), (2, 0, 2, 0));
    // A node that published nothing for a day does not count.
    assert_eq!(one.published_heads(at(90_000)).unwrap().nodes, 0);
    for store in [&one, &two] {
        assert!(store.verify_audit(None, at(9)).unwrap().is_clean());
    }
}

#[test]
fn a_store_of_its_own_publishes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    run(&store, 1);
    assert!(!store.publish_audit_head("web-1", at(1)).unwrap());
    assert_eq!(store.published_heads(at(1)).unwrap(), PublishedHeads::default());
    assert!(store.verify_audit(None, at(1)).unwrap().is_clean());
}

#[test]
fn a_log_that_was_rewritten_so_that_its_own_chain_fits_is_noticed_by_all_nodes() {
    type Alter = fn(Vec<String>) -> Vec<String>;
    let cases: [(&str, Alter, usize); 4] = [
        ("cut", |lines| lines[..3].to_vec(), 3),
        ("cut, and as long again", |lines| [&lines[..3], &lines[..5]].concat(), 8),
        ("a line altered", |lines| lines.iter().map(|line| line.replace("run_dynamic_tool", "verify")).collect(), 5),
        ("a line dropped", |lines| lines[1..].to_vec(), 4),
    ];
    for (what, alter, left) in cases {
        let (engine, folders, [one, two]) = two_nodes();
        run(&one, 5);
        assert!(publish(&one, 1), "{what}");
        let (known, node) = (heads(&one).own.unwrap(), node_id(&one));
        drop(one);
        rewrite(folders[0].path(), alter);

        // Its own chain fits, and the head that was published does not.
        let one = open(&folders[0], &engine);
        assert!(one.audit().verify(None).unwrap().is_clean(), "{what}");
        let report = one.verify_audit(None, at(2)).unwrap();
        let kinds: Vec<&ProblemKind> = report.problems.iter().map(|problem| &problem.kind).collect();
        let fits = |kind: &ProblemKind| match kind {
            ProblemKind::LostEnd { from, to } => (*from, *to) == (left as u64 + 1, 5),
            // A line that only the published head contradicts is one that was changed.
            ProblemKind::NotAsPublished | ProblemKind::Modified => left >= 5,
            _ => false,
        };
        assert!(kinds.len() == 1 && fits(kinds[0]), "{what}: {kinds:?}");

        // The next head says so, and only once.
        assert!(publish(&one, 3), "{what}");
        run(&one, 6);
        assert!(publish(&one, 4), "{what}");
        let cut = vec![CutLog { node, host: "web-1".to_owned(), head: known, noticed_at: at(3) }];
        assert_eq!((heads(&one).cut, heads(&two).cut), (cut.clone(), cut), "{what}");
        assert!(one.verify_audit(None, at(5)).unwrap().is_clean(), "{what}");
    }
}

#[test]
fn a_node_whose_own_index_was_altered_too_is_noticed_by_the_others() {
    let (engine, folders, [one, two]) = two_nodes();
    run(&one, 5);
    assert!(publish(&one, 1));
    let known = heads(&two);
    drop(one);
    rewrite(folders[0].path(), |lines| lines[..2].to_vec());
    let index = Connection::open(folders[0].path().join("index.sqlite")).unwrap();
    index.execute("DELETE FROM mark WHERE what GLOB 'head *'", []).unwrap();
    let one = open(&folders[0], &engine);
    assert!(one.verify_audit(None, at(2)).unwrap().is_clean());
    run(&one, 9);
    assert!(publish(&one, 3));
    assert_eq!((known.cut.len(), heads(&two).cut.len()), (0, 1));
}

#[test]
fn two_processes_on_copies_of_a_directory_are_noticed() {
    let (engine, folders, [one, two]) = two_nodes();
    run(&one, 2);
    assert!(publish(&one, 1));
    drop(one);
    // The directory is copied, with the identifier of the node.
    let copied = tempfile::tempdir().unwrap();
    let copy = std::process::Command::new("cp").arg("-a").arg(folders[0].path().join(".")).arg(copied.path()).status();
    assert!(copy.unwrap().success());
    let (one, clone) = (open(&folders[0], &engine), open(&copied, &engine));
    run(&one, 1);
    for _ in 0..2 {
        clone.audit().record(&AuditEvent::new(Action::Verify, at(9))).unwrap();
    }
    assert!(publish(&one, 2) && heads(&two).cut.is_empty());
    // The clone learns of the head of the other one first.
    assert!(!publish(&clone, 3) && publish(&clone, 4));
    assert_eq!(heads(&two).cut.len(), 1);
}

#[test]
fn a_head_whose_append_is_lost_is_published_later_and_cuts_nothing() {
    for fault in [AppendFault::Unreachable, AppendFault::UnknownLost, AppendFault::UnknownAppended, AppendFault::Taken]
    {
        let (engine, _folders, [one, two]) = two_nodes();
        run(&one, 2);
        engine.fail_appends(&[fault]);
        let failed = one.publish_audit_head("web-1", at(1));
        let expected = match fault {
            AppendFault::Unreachable => Some(ErrorCode::SharedUnreachable),
            AppendFault::Taken => None,
            _ => Some(ErrorCode::SharedUnknown),
        };
        assert_eq!(failed.err().map(|fault| fault.code()), expected, "{fault:?}");
        run(&one, 2);
        publish(&one, 2);
        run(&one, 1);
        assert!(publish(&one, 3), "{fault:?}");
        assert_eq!(heads(&one).own.unwrap().seq(), 5, "{fault:?}");
        assert_eq!((heads(&one).cut, heads(&two).cut), (Vec::new(), Vec::new()), "{fault:?}");
    }
}

#[test]
fn a_head_file_that_is_damaged_is_a_fault_and_not_an_empty_log() {
    let (_engine, folders, [one, two]) = two_nodes();
    run(&one, 2);
    assert!(publish(&one, 1));
    let path = folders[0].path().join(HEAD_FILE);
    run(&two, 2);
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "x").unwrap();
    // The log of the second node has no published head yet.
    std::fs::write(folders[1].path().join(HEAD_FILE), "x").unwrap();
    for store in [&one, &two] {
        assert_eq!(store.publish_audit_head("web-1", at(2)).unwrap_err().code(), ErrorCode::DiskFailed);
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(one.publish_audit_head("web-1", at(3)).unwrap_err().code(), ErrorCode::DiskFailed);
}

#[test]
fn a_head_that_cannot_be_parsed_is_refused() {
    let index = Connection::open_in_memory().unwrap();
    index.execute("CREATE TABLE mark (what TEXT PRIMARY KEY, at INTEGER)", []).unwrap();
    let right = format!("1:{}", "0a".repeat(32));
    for (previous, head) in [(None, "1:xy"), (Some("0:"), right.as_str())] {
        let refused = apply(&index, ("n", "web-1"), previous, head, at(1)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SharedInvalid, "{previous:?} {head}");
    }
    apply(&index, ("n", "web-1"), None, &right, at(1)).unwrap();
}
