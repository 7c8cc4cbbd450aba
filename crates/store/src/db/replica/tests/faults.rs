//! Engines that fail, processes that die, and files that are lost.

use super::*;
use crate::replication::tests::unknown_error;

/// Replaces the content of the file of an object.
fn damage(path: &Path, hash: &str) {
    let file = object_path(path, hash);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(file, b"damaged").unwrap();
}

#[test]
fn a_change_that_may_have_been_made_is_there_if_it_was() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    cluster.engine.fail_appends(&[AppendFault::UnknownAppended]);
    let error = put(one, "a", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
    assert_eq!(error.code(), "shared-unknown");
    assert_eq!((history(one, "a").as_str(), audited_changes(one).len(), cluster.len()), ("", 0, 1));
    assert_eq!((one.follow().unwrap(), two.follow().unwrap()), (1, 1));
    assert_eq!((history(one, "a"), history(two, "a")), ("1 created".to_owned(), "1 created".to_owned()));
    assert_eq!((audited_changes(one).len(), audited_changes(two).len()), (1, 0));
    // The next change of the author applies it, too.
    cluster.engine.fail_appends(&[AppendFault::UnknownAppended]);
    assert_eq!(set(one, "k", "1").unwrap_err().code(), "shared-unknown");
    assert!(set(one, "k", "2").unwrap());
    assert_eq!(get(one, "k").unwrap().version, 2);
    cluster.engine.fail_appends(&[AppendFault::UnknownAppended]);
    let error = one.suspended().save(&suspended(1)).unwrap_err();
    assert_eq!(error.code(), "shared-unknown");
    cluster.check_agreement();
    assert_eq!(two.suspended().all().unwrap(), [suspended(1)]);
}

#[test]
fn a_change_that_may_have_been_made_is_not_there_if_it_was_not() {
    for durability in [Durability::Synced, Durability::Unsynced] {
        let cluster = Cluster::with(2, durability);
        let one = &cluster.nodes[0];
        let before = dump(one);
        cluster.engine.fail_appends(&[AppendFault::UnknownLost; 3]);
        let error = put(one, "a", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
        assert_eq!(error.code(), "shared-unknown");
        let error = set(one, "k", "1").unwrap_err();
        assert!(matches!(error, KvError::CommitUnknown(_)), "{error}");
        assert_eq!(decide(one, ToolId::from_bytes([1; 32]), Decision::Refused).unwrap_err().code(), "shared-unknown");
        assert_eq!((cluster.len(), dump(one)), (0, before));
        cluster.check_agreement();
        assert_eq!(create(one, "a"), spec("a", "const execute = () => 1").id());
        cluster.check_agreement();
    }
}

#[test]
fn without_its_engine_a_node_reads_and_changes_nothing() {
    for durability in [Durability::Synced, Durability::Unsynced] {
        let mut cluster = Cluster::with(2, durability);
        let tool = create(&cluster.nodes[0], "a");
        cluster.follow();
        cluster.engine.set_down(true);
        cluster.reopen(1);
        let two = &cluster.nodes[1];
        let before = dump(two);
        let grants = json!({});
        let code = |error: Fault| error.code();
        let refused = [
            put(two, "b", "const execute = () => 1", OnConflict::Refuse).unwrap_err().code(),
            two.catalog().delete(&reference("a"), at(2)).unwrap_err().code(),
            two.catalog().set_status(tool, Status::Pending).unwrap_err().code(),
            two.catalog().deprecate(tool, None).unwrap_err().code(),
            decide(two, tool, Decision::Refused).map_err(code).unwrap_err(),
            two.approvals().revoke(tool).map_err(code).unwrap_err(),
            two.approvals().request(tool, &grants, "me", at(1)).map_err(code).unwrap_err(),
            two.approvals().take_single(tool, &grants, at(1)).map_err(code).unwrap_err(),
            two.nonces().consume(blake3::hash(b"t"), at(9), at(1)).map_err(code).unwrap_err(),
            set(two, "k", "1").unwrap_err().code(),
            two.kv(&notes()).clear().map_err(code).unwrap_err(),
            two.suspended().save(&suspended(1)).unwrap_err().code(),
            two.suspended().take(&suspended(1)).map_err(code).unwrap_err(),
            two.labels().join(&[LabelHolder::Space(notes())], &["x".to_owned()]).map_err(code).unwrap_err(),
            two.maintenance().collect(at(1), at(1), crate::GcMode::Execute).map_err(code).unwrap_err(),
            two.follow().map_err(code).unwrap_err(),
        ];
        assert!(refused.iter().all(|code| *code == "shared-unreachable"), "{refused:?}");
        assert_eq!(dump(two), before);
        let entry = two.catalog().find(&reference("a")).unwrap();
        assert_eq!((entry.status, two.catalog().spec(&entry).unwrap().id()), (Status::Unverified, tool));
        assert_eq!(two.replication_status().unwrap().unwrap().entries, 1);
        assert_eq!(two.replication_status().unwrap().unwrap().confirmed, None);
        run(two, tool, None);

        cluster.engine.set_down(false);
        create(two, "b");
        assert_eq!(audited_changes(two).len(), 1);
        cluster.check_agreement();
    }
}

#[test]
fn an_engine_that_refuses_an_append_or_a_read_changes_nothing() {
    let cluster = Cluster::new(1);
    let one = &cluster.nodes[0];
    let refused = |expect: &str| {
        let error = put(one, "a", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
        assert_eq!((error.code().as_str(), cluster.len()), (expect, 0));
    };
    cluster.engine.fail_appends(&[AppendFault::Unreachable]);
    refused("shared-unreachable");
    cluster.engine.fail_reads(1);
    refused("shared-unreachable");
    // Nothing was appended, so it is known that nothing was changed.
    cluster.engine.fail_puts(&[unknown_error()]);
    refused("shared-unreachable");
    cluster.engine.fail_appends(&[AppendFault::Taken; 3]);
    create(one, "a");
    cluster.check_agreement();
}

#[test]
fn a_process_that_dies_after_the_append_has_made_its_change() {
    for durability in [Durability::Synced, Durability::Unsynced] {
        let mut cluster = Cluster::with(2, durability);
        create(&cluster.nodes[0], "first");
        for text in ["a", "b"] {
            cluster.engine.fail_appends(&[AppendFault::Died]);
            let died = std::panic::catch_unwind(AssertUnwindSafe(|| create(&cluster.nodes[0], text)));
            assert!(died.is_err());
            cluster.reopen(0);
            assert_eq!(history(&cluster.nodes[0], text), "");
        }
        let one = &cluster.nodes[0];
        assert_eq!((one.follow().unwrap(), audited_changes(one).len()), (1, 3));
        cluster.reopen(0);
        cluster.check_agreement();
        assert_eq!(history(&cluster.nodes[1], "a"), "1 created");
    }
}

#[test]
fn another_process_of_the_node_finishes_the_change_of_one_that_died() {
    let cluster = Cluster::new(1);
    let other = Store::open(cluster.path(0), &cluster.settings).unwrap();
    let here = &cluster.nodes[0];
    create(here, "a");
    assert_eq!(other.catalog().history(&name("a")).unwrap().len(), 1);
    cluster.engine.fail_appends(&[AppendFault::UnknownAppended]);
    assert!(put(here, "b", "const execute = () => 1", OnConflict::Refuse).is_err());
    assert_eq!(other.follow().unwrap(), 1);
    assert_eq!(here.follow().unwrap(), 0);
    create(&other, "c");
    create(here, "d");
    drop(other);
    cluster.check_agreement();
}

#[test]
fn a_change_that_lost_the_race_leaves_no_file() {
    for durability in [Durability::Synced, Durability::Unsynced] {
        let cluster = Cluster::with(2, durability);
        let mut nodes = cluster.nodes;
        let (two, one) = (Arc::new(nodes.pop().unwrap()), nodes.pop().unwrap());
        let other = Arc::clone(&two);
        cluster.engine.before_append(move || _ = replace(&other, "a", "const execute = () => 2"));
        let error = put(&one, "a", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
        assert_eq!(error.code(), "name-taken");
        // The same tool at the same time is the same version.
        let other = Arc::clone(&two);
        cluster.engine.before_append(move || _ = create(&other, "b"));
        let error = put(&one, "b", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
        assert_eq!(error.code(), "name-taken");
        let other = Arc::clone(&two);
        cluster.engine.before_append(move || _ = create(&other, "c"));
        replace(&one, "a", "const execute = () => 3");
        let cluster = Cluster { nodes: vec![one, Arc::into_inner(two).unwrap()], ..cluster };
        cluster.check_agreement();
        let sources = [object_files(cluster.path(0)), object_files(cluster.path(1))];
        for hash in &sources[1] {
            assert!(sources[0].contains(hash), "{hash}");
        }
    }
}

#[test]
fn a_change_in_the_history_is_made_even_if_its_node_cannot_commit_it() {
    for durability in [Durability::Synced, Durability::Unsynced] {
        let cluster = Cluster::with(2, durability);
        let one = &cluster.nodes[0];
        create(one, "a");
        let execute = |sql: &str| {
            one.db.index.write(Durability::Unsynced, |transaction| Ok::<_, Fault>(transaction.execute_batch(sql)?))
        };
        execute("CREATE TRIGGER full BEFORE UPDATE ON replica BEGIN SELECT RAISE(ABORT, 'full'); END").unwrap();
        let made = put(one, "a", "const execute = () => 2", OnConflict::Replace).unwrap();
        assert_eq!((made.number, cluster.len()), (2, 2));
        assert!(set(one, "k", "1").is_err());
        execute("DROP TRIGGER full").unwrap();
        assert!(set(one, "k", "1").unwrap());
        assert_eq!((history(one, "a").as_str(), cluster.len()), ("1 created, 2 replaced", 3));
        cluster.check_agreement();
    }
}

#[test]
fn a_lost_file_is_restored_from_the_library() {
    let cluster = Cluster::with(2, Durability::Unsynced);
    let two = &cluster.nodes[1];
    let tool = create(&cluster.nodes[0], "a");
    two.follow().unwrap();
    let files = object_files(cluster.path(1));
    assert_eq!(files.len(), 2);
    for hash in &files {
        std::fs::remove_file(object_path(cluster.path(1), hash)).unwrap();
    }
    let entry = two.catalog().find(&reference("a")).unwrap();
    assert_eq!((entry.status, two.catalog().spec(&entry).unwrap().id()), (Status::Unverified, tool));
    assert_eq!(object_files(cluster.path(1)), files);
    for hash in &files {
        damage(cluster.path(1), hash);
    }
    assert_eq!(two.catalog().spec(&entry).unwrap().id(), tool);
    cluster.check_agreement();
}

#[test]
fn a_damaged_file_does_not_stop_the_history() {
    let cluster = Cluster::with(2, Durability::Unsynced);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    create(one, "a");
    for hash in object_files(cluster.path(0)) {
        let file = object_path(cluster.path(1), &hash);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, b"damaged").unwrap();
    }
    two.follow().unwrap();
    let entry = two.catalog().find(&reference("a")).unwrap();
    assert_eq!(two.catalog().spec(&entry).unwrap().id(), entry.id);
    cluster.check_agreement();
}

#[test]
fn a_tool_whose_files_are_lost_is_stored_again_without_a_gap() {
    let cluster = Cluster::with(2, Durability::Unsynced);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    create(one, "a");
    replace(one, "a", "const execute = () => 2");
    two.follow().unwrap();
    for hash in object_files(cluster.path(1)) {
        std::fs::remove_file(object_path(cluster.path(1), &hash)).unwrap();
    }
    // Without the library, the tool cannot be read, but its history is known.
    cluster.engine.set_down(true);
    let error = put(two, "a", "const execute = () => 2", OnConflict::Replace).unwrap_err();
    assert_eq!(error.code(), "shared-unreachable");
    assert_eq!(history(two, "a"), "1 created, 2 replaced");
    cluster.engine.set_down(false);
    replace(two, "a", "const execute = () => 3");
    assert_eq!(history(two, "a"), "1 created, 2 replaced, 3 replaced");
    one.follow().unwrap();
    assert_eq!((dump(one), history(one, "a")), (dump(two), history(two, "a")));
}

#[test]
fn a_token_that_was_used_changes_nothing() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let token = |number: u8| blake3::hash(&[number]);
    one.nonces().consume(token(1), at(10), at(1)).unwrap();
    one.nonces().consume(token(2), at(99), at(1)).unwrap();
    two.follow().unwrap();
    // By then, the first has expired: a token that is fresh would remove it.
    assert_eq!(two.nonces().consume(token(2), at(99), at(50)).unwrap(), NonceUse::Replayed);
    assert_eq!(count(two, "SELECT count(*) FROM spent"), 2);
    cluster.check_agreement();
    assert_eq!(two.nonces().consume(token(3), at(99), at(50)).unwrap(), NonceUse::Fresh);
    assert_eq!(count(two, "SELECT count(*) FROM spent"), 2);
    cluster.check_agreement();
}

#[test]
fn a_large_change_is_made_through_a_blob() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let value = format!("\"{}\"", "x".repeat(100_000));
    set(one, "large", &value).unwrap();
    let run = SuspendedRow { blob: vec![9; crate::SUSPENDED_LIMIT], ..suspended(1) };
    two.suspended().save(&run).unwrap();
    assert!(cluster.engine.entries(LIBRARY).iter().all(|entry| entry.len() < 100));
    cluster.check_agreement();
    assert_eq!(get(two, "large").unwrap().value, value);
    assert_eq!(one.suspended().all().unwrap(), [run]);
}

#[test]
fn many_changes_are_followed_in_batches() {
    let cluster = Cluster::with(2, Durability::Unsynced);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let changes = 2 * BATCH + 3;
    for number in 0..changes {
        set(one, "n", &number.to_string()).unwrap();
    }
    assert_eq!(two.follow().unwrap(), changes as u64);
    assert_eq!(two.follow().unwrap(), 0);
    cluster.check_agreement();
}

#[test]
fn a_file_that_the_library_may_have_is_not_taken_for_lost() {
    let cluster = Cluster::with(2, Durability::Unsynced);
    let two = &cluster.nodes[1];
    create(&cluster.nodes[0], "a");
    two.follow().unwrap();
    for hash in object_files(cluster.path(1)) {
        std::fs::remove_file(object_path(cluster.path(1), &hash)).unwrap();
    }
    cluster.engine.set_down(true);
    let entry = two.catalog().find(&reference("a")).unwrap();
    assert_eq!(two.catalog().spec(&entry).unwrap_err().code(), "shared-unreachable");
    cluster.engine.set_down(false);
    let entry = two.catalog().find(&reference("a")).unwrap();
    assert_eq!((entry.status, two.catalog().spec(&entry).unwrap().id()), (Status::Unverified, entry.id));
    cluster.check_agreement();
}

#[test]
fn what_is_refused_is_decided_on_what_other_nodes_did() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    create(one, "a");
    two.with_audit(event(Action::DeleteDynamicTool)).delete(&reference("a"), at(2)).unwrap();
    create(one, "a");
    two.with_audit(event(Action::DeleteDynamicTool)).delete(&reference("a"), at(3)).unwrap();
    one.with_audit(event(Action::Undelete)).undelete(&reference("a"), at(4)).unwrap();
    two.with_audit(event(Action::Rollback)).roll_back(&name("a"), 1, at(5)).unwrap();
    cluster.check_agreement();
}

#[test]
fn large_changes_are_followed_a_few_at_a_time() {
    let cluster = Cluster::with(1, Durability::Unsynced);
    let one = &cluster.nodes[0];
    let mut run = suspended(1);
    run.blob = vec![7; crate::SUSPENDED_LIMIT];
    // As text they take a third more.
    let count = 2 * BATCH_BYTES / crate::SUSPENDED_LIMIT;
    for number in 0..count {
        one.suspended().save(&SuspendedRow { run: suspended(number as u64).run, ..run.clone() }).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let two = Store::open(folder.path(), &cluster.settings).unwrap();
    let Replica::Node(node) = &two.db.replica else { unreachable!() };
    let batch = two.db.read_batch(node).unwrap();
    assert!((1..count).contains(&batch.entries.len()), "{}", batch.entries.len());
    assert_eq!(two.follow().unwrap(), count as u64);
    assert_eq!(dump(&two), dump(one));
}

#[test]
fn the_length_of_the_history_says_whether_a_copy_is_up_to_date() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let length =
        || cluster.settings.replication.as_ref().unwrap().histories.lengths(&[one.library().unwrap()]).unwrap()[0];
    let (asked, age) = (Instant::now(), |store: &Store| store.replication_status().unwrap().unwrap().confirmed);
    // That a copy was never compared with the history is not healed by a number.
    assert!(!two.confirm_length(length(), asked).unwrap() && age(two).is_none());
    two.follow().unwrap();
    create(one, "a");
    assert!(!two.confirm_length(length(), asked).unwrap());
    two.follow().unwrap();
    let later = Instant::now();
    assert!(two.confirm_length(length(), later).unwrap() && age(two).unwrap() <= later.elapsed());
    // A failure is over only when the history was read again.
    cluster.engine.set_down(true);
    assert!(two.follow().is_err());
    cluster.engine.set_down(false);
    assert!(!two.confirm_length(length(), Instant::now()).unwrap());
    two.follow().unwrap();
    assert!(two.confirm_length(length(), Instant::now()).unwrap());
}
