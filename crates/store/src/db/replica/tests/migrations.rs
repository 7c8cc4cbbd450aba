//! A store that becomes a shared library, and a library that becomes a store.

use super::*;
use crate::{Migrated, MigrationError, SuspendedKeys};

/// The state of a suspended run names the key that it was encrypted with.
fn seal(key: &[u8; 32], content: &[u8]) -> Vec<u8> {
    [&key[..], content].concat()
}

fn reencrypt(row: &SuspendedRow, from: &[u8; 32], to: &[u8; 32]) -> Option<Vec<u8>> {
    row.blob.strip_prefix(from).map(|content| seal(to, content))
}

const KEYS: SuspendedKeys<'static> = SuspendedKeys { purpose: "suspended", reencrypt: &reencrypt };

fn open_own(path: &Path) -> Store {
    Store::open(path, &Settings::default()).unwrap()
}

/// Fills a store with all that nodes agree on.
fn fill(store: &Store) {
    let tools: Vec<ToolId> = (0..130).map(|number| create(store, &format!("tool{number}"))).collect();
    replace(store, "tool1", "const execute = () => 2");
    let again = replace(store, "tool1", "const execute = () => 1");
    assert_eq!(again, tools[1]);
    for deleted in ["tool2", "tool3"] {
        store.catalog().delete(&reference(deleted), at(2)).unwrap();
    }
    store.catalog().undelete(&reference("tool2"), at(3)).unwrap();
    for to in [Status::Pending, Status::Passed] {
        store.catalog().set_status(tools[4], to).unwrap();
    }
    store.catalog().set_status(tools[5], Status::Quarantined).unwrap();
    store.catalog().deprecate(tools[6], Some(tools[4])).unwrap();
    store.catalog().deprecate(tools[7], None).unwrap();

    decide(store, tools[3], Decision::Refused).unwrap();
    decide(store, tools[8], Decision::Approved).unwrap();
    let other =
        Approval { grants: json!({ "net": ["example.com"] }), at: at(7), ..approval(tools[8], Decision::ApprovedOnce) };
    store.approvals().set_decision(&other).unwrap();
    decide(store, tools[9], Decision::Approved).unwrap();
    store.approvals().request(tools[8], &json!({ "net": ["example.net"] }), "agent", at(8)).unwrap();
    store.approvals().request(tools[10], &json!({ "kv": [1e300, 0.1] }), "agent", at(2)).unwrap();

    for server in ["mail", "tickets"] {
        let server = toolcell_tool::ServerName::parse(server).unwrap();
        let known = ["read", "send"].map(|tool| TrustedDefinition {
            tool: tool.to_owned(),
            digest: blake3::hash(tool.as_bytes()),
            form: "{}".to_owned(),
        });
        store.with_audit(event(Action::TrustServer)).trust_server_tools(&server, &known, "me", at(1)).unwrap();
    }
    let holders = [LabelHolder::Space(notes()), LabelHolder::Caller("a: b\nc".to_owned())];
    let sources: Vec<String> = (0..70).map(|number| format!("server:s{number}")).collect();
    store.labels().join(&holders, &sources[..2]).unwrap();
    store.labels().join(&holders[..1], &sources).unwrap();

    for number in 0..90 {
        set(store, &format!("key{number}"), &"1".repeat(1_000)).unwrap();
    }
    let lasting = KvWrite::Put { key: "lasting".to_owned(), value: "[]".to_owned(), expires_at: Some(at(1 << 33)) };
    store.kv(&SpaceName::parse("other").unwrap()).commit(&[], &[lasting], &LIMITS, at(1)).unwrap();
    for number in 0..3 {
        let run = suspended(number);
        let blob = seal(&store.derive_key(KEYS.purpose).unwrap(), &run.blob);
        store.suspended().save(&SuspendedRow { blob, ..run }).unwrap();
    }
}

/// What a store holds of what nodes agree on, apart from where it is: the numbers of values, and the keys of suspended runs.
fn contents(store: &Store) -> String {
    let is_same =
        |line: &&str| !["spent:", "position:", "sleeping:", "pair:"].iter().any(|what| line.starts_with(what));
    let dumped = dump(store);
    let mut lines: Vec<String> = dumped.lines().filter(is_same).map(str::to_owned).collect();
    let key = store.derive_key(KEYS.purpose).unwrap();
    for run in store.suspended().all().unwrap() {
        let content = run.blob.strip_prefix(&key[..]).map(<[u8]>::to_vec);
        lines.push(format!("{:?}", SuspendedRow { blob: content.unwrap(), ..run }));
    }
    let pairs = "SELECT coalesce(group_concat(space || key || value || coalesce(until, '')), '') FROM \
                 (SELECT * FROM pair ORDER BY space, key)";
    let pairs: String =
        store.db.index.read(|transaction| Ok::<_, Fault>(transaction.query_row(pairs, [], |row| row.get(0))?)).unwrap();
    lines.push(pairs);
    lines.join("\n")
}

#[test]
fn what_a_store_holds_is_on_all_nodes_after_it_was_copied_to_a_library() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Arc::new(Engine::default()));
    let store = open_own(folder.path());
    fill(&store);
    let before = contents(&store);
    let migrated = store.copy_to_library(&engine.replication(LIBRARY), &KEYS, at(9)).unwrap();
    assert_eq!((migrated.known, migrated.tools, migrated.suspended), (0, 129, 3));
    assert_eq!(migrated.entries, engine.entries(LIBRARY).len() as u64);
    // From now on, the store can only be read.
    assert_eq!(contents(&store), before);
    let moved = open_own(folder.path());
    assert_eq!(moved.library().unwrap().as_str(), LIBRARY);
    for store in [&store, &moved] {
        let refused = put(store, "more", "const execute = () => 1", OnConflict::Refuse).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SharedCopy, "{refused}");
        assert!(store.suspended().take(&store.suspended().all().unwrap()[0]).is_err());
    }
    assert_eq!(moved.check_view().unwrap_err().code(), ErrorCode::SharedCopy);
    let line = store.audit().query(AuditFilter::default(), AuditOrder::NewestFirst).unwrap().next().unwrap().unwrap();
    assert_eq!(line.action, "migrate");
    // Entries are small enough to be sent at once.
    assert!(engine.entries(LIBRARY).iter().all(|entry| entry.len() <= 128 << 10));

    let mut cluster = Cluster { nodes: Vec::new(), folders: Vec::new(), settings: Settings::default(), engine };
    cluster.settings.replication = Some(cluster.engine.replication(LIBRARY));
    for _ in 0..2 {
        cluster.folders.push(tempfile::tempdir().unwrap());
        let node = Store::open(cluster.folders.last().unwrap().path(), &cluster.settings).unwrap();
        node.follow().unwrap();
        assert_eq!(contents(&node), before);
        cluster.nodes.push(node);
    }
    create(&cluster.nodes[0], "new");
    cluster.check_agreement();
}

#[test]
fn an_interrupted_copy_is_continued_wherever_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_own(folder.path());
    fill(&store);
    let count = {
        let engine = Arc::new(Engine::default());
        store.copy_to_library(&engine.replication(LIBRARY), &KEYS, at(9)).unwrap();
        engine.entries(LIBRARY).len()
    };
    for stop in 0..count {
        for fault in [AppendFault::Unreachable, AppendFault::UnknownAppended, AppendFault::UnknownLost] {
            let engine = Arc::new(Engine::default());
            let library = engine.replication(LIBRARY);
            engine.fail_append_after(stop, fault);
            let error = store.copy_to_library(&library, &KEYS, at(9)).unwrap_err();
            assert!(matches!(error, MigrationError::Fault(Fault::Shared(_))), "{error}");
            engine.mend();
            let Migrated { entries, known, .. } = store.copy_to_library(&library, &KEYS, at(9)).unwrap();
            assert_eq!(entries, count as u64);
            assert_eq!(known, stop as u64 + u64::from(fault == AppendFault::UnknownAppended));
            // A third attempt has nothing to do.
            assert_eq!(store.copy_to_library(&library, &KEYS, at(9)).unwrap().known, entries);
            store
                .db
                .index
                .write(Durability::Unsynced, |transaction| {
                    Ok::<_, Fault>(transaction.execute("DELETE FROM mark WHERE what GLOB 'moved *'", []).map(drop)?)
                })
                .unwrap();
            if stop % 7 == 0 {
                let copy = tempfile::tempdir().unwrap();
                let settings = Settings { replication: Some(library), ..Settings::default() };
                let node = Store::open(copy.path(), &settings).unwrap();
                node.follow().unwrap();
                assert_eq!(contents(&node), contents(&store));
            }
        }
    }
}

#[test]
fn a_store_is_not_copied_where_it_cannot_be_right() {
    let cluster = Cluster::new(1);
    let library = cluster.engine.replication(LIBRARY);
    create(&cluster.nodes[0], "a");
    let folder = tempfile::tempdir().unwrap();
    let store = open_own(folder.path());
    create(&store, "b");
    let copy = |store: &Store, library: &Replication| store.copy_to_library(library, &KEYS, at(1)).unwrap_err();
    let error = copy(&store, &library);
    assert_eq!(error.to_string(), "the shared library `library/team` has 1 changes, which are not those of this store");
    // A copy of a library is moved by its nodes.
    assert_eq!(copy(&cluster.nodes[0], &cluster.engine.replication("library/other")).code(), ErrorCode::SharedCopy);
    // Another secret.
    let other = Replication { secret: [9; 32], ..cluster.engine.replication("library/other") };
    assert_eq!(copy(&store, &other).code(), ErrorCode::SharedInvalid);
    // A run that no key opens, and an object that is lost: found before anything is appended.
    let free = cluster.engine.replication("library/free");
    store.suspended().save(&suspended(1)).unwrap();
    assert!(matches!(copy(&store, &free), MigrationError::Suspended { .. }));
    store.suspended().take(&suspended(1)).unwrap();
    let hash = object_files(folder.path()).remove(0);
    std::fs::remove_file(object_path(folder.path(), &hash)).unwrap();
    store
        .db
        .index
        .write(Durability::Unsynced, |transaction| {
            Ok::<_, Fault>(transaction.execute("DELETE FROM unsynced", []).map(drop)?)
        })
        .unwrap();
    assert_eq!(copy(&store, &free).code(), ErrorCode::Integrity);
    assert!(cluster.engine.entries("library/free").is_empty());
    assert_eq!(cluster.len(), 1);
}

#[test]
fn a_change_of_a_node_during_the_copy_is_noticed() {
    let engine = Arc::new(Engine::default());
    let library = engine.replication(LIBRARY);
    let folders = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let store = open_own(folders[0].path());
    create(&store, "a");
    let settings = Settings { replication: Some(library.clone()), ..Settings::default() };
    let node = Store::open(folders[1].path(), &settings).unwrap();
    engine.before_append(move || {
        create(&node, "b");
    });
    let error = store.copy_to_library(&library, &KEYS, at(1)).unwrap_err();
    assert!(matches!(error, MigrationError::Interrupted { .. }), "{error}");
    assert_eq!(engine.entries(LIBRARY).len(), 1);
}

#[test]
fn a_library_that_was_taken_down_is_a_store_and_its_nodes_have_ended() {
    let cluster = Cluster::new(3);
    let [one, two, _] = &cluster.nodes[..] else { unreachable!() };
    create(one, "a");
    let tool = replace(two, "a", "const execute = () => 2");
    decide(two, tool, Decision::Approved).unwrap();
    set(one, "k", "1").unwrap();
    let key = one.derive_key(KEYS.purpose).unwrap();
    one.suspended().save(&SuspendedRow { blob: seal(&key, b"state"), ..suspended(1) }).unwrap();
    cluster.follow();
    let before = contents(one);

    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), &cluster.settings).unwrap();
    let migrated = open().take_from_library(&KEYS, at(9)).unwrap();
    assert_eq!((migrated.tools, migrated.suspended, migrated.known), (1, 1, 0));
    assert_eq!(migrated.entries, cluster.len() as u64);
    let own = open_own(folder.path());
    assert_eq!(contents(&own), before);
    assert!(own.library().is_none());
    create(&own, "b");
    assert!(fsck(folder.path(), RepairMode::Check).unwrap().problems.is_empty());
    assert_eq!(cluster.len() as u64, migrated.entries);

    // The nodes neither change nor run anything, also those that allow runs for ever, and after they were opened again.
    for at in 0..3 {
        let node = &cluster.nodes[at];
        assert_eq!(node.follow().unwrap_err().code(), ErrorCode::SharedInvalid);
        let error = node.check_view().unwrap_err();
        assert!(error.to_string().ends_with("was taken to a store of its own at 1970-01-01T00:00:09Z"), "{error}");
        assert!(put(node, "c", "const execute = () => 3", OnConflict::Refuse).is_err());
        let reopened = Store::open(cluster.path(at), &cluster.settings).unwrap();
        assert!(reopened.check_view().is_err());
        assert!(!reopened.confirm_length(migrated.entries, Instant::now()).unwrap());
    }
    // It cannot be taken to another directory, nor with that of a node, and a store cannot be copied to where it was.
    let other = tempfile::tempdir().unwrap();
    for path in [other.path(), cluster.path(2)] {
        let error = Store::open(path, &cluster.settings).unwrap().take_from_library(&KEYS, at(9)).unwrap_err();
        assert!(matches!(error, MigrationError::Fault(Fault::Shared(SharedError::Ended { .. }))), "{error}");
    }
    assert!(own.copy_to_library(&cluster.engine.replication(LIBRARY), &KEYS, at(9)).is_err());
    // It can be to another principal's.
    own.copy_to_library(&cluster.engine.replication("library/other"), &KEYS, at(9)).unwrap();
}

#[test]
fn a_library_does_not_end_if_it_cannot_be_taken() {
    let cluster = Cluster::new(1);
    let take = || {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path(), &cluster.settings).unwrap().take_from_library(&KEYS, at(9)).unwrap_err()
    };
    assert!(matches!(take(), MigrationError::Empty { .. }));
    create(&cluster.nodes[0], "a");
    // A run that no key opens.
    cluster.nodes[0].suspended().save(&suspended(1)).unwrap();
    assert!(matches!(take(), MigrationError::Suspended { .. }));
    create(&cluster.nodes[0], "b");
    cluster.check_agreement();
}

#[test]
fn a_library_that_is_taken_down_survives_an_interruption() {
    for fault in [AppendFault::Unreachable, AppendFault::UnknownAppended, AppendFault::UnknownLost, AppendFault::Died] {
        let cluster = Cluster::new(1);
        create(&cluster.nodes[0], "a");
        let before = contents(&cluster.nodes[0]);
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(folder.path(), &cluster.settings).unwrap();
        cluster.engine.fail_appends(&[fault]);
        let taken = std::panic::catch_unwind(AssertUnwindSafe(|| open().take_from_library(&KEYS, at(9)).map(drop)));
        assert!(!matches!(taken, Ok(Ok(()))), "{fault:?}");
        cluster.engine.mend();
        // A power failure loses what was not synced: the position, and what was applied.
        let index = Store::open(folder.path(), &cluster.settings).unwrap();
        index
            .db
            .index
            .write(Durability::Synced, |transaction| {
                for sql in ["UPDATE replica SET seen = 0", "DELETE FROM mark WHERE what GLOB 'ended *'"] {
                    transaction.execute(sql, [])?;
                }
                let position = "UPDATE replica SET count = count - 1, last = ? WHERE count = ?";
                let entries = cluster.engine.entries(LIBRARY);
                if let [.., before, _] = &entries[..] {
                    transaction.execute(position, (blake3::hash(before).as_bytes(), entries.len() as u64))?;
                }
                Ok::<_, Fault>(())
            })
            .unwrap();
        drop(index);
        open().take_from_library(&KEYS, at(9)).unwrap();
        let own = open_own(folder.path());
        assert_eq!(contents(&own), before);
        create(&own, "b");
    }
    // The copy of a node can be taken in place, with its records.
    let cluster = Cluster::new(1);
    create(&cluster.nodes[0], "a");
    let Cluster { mut nodes, folders, settings, .. } = cluster;
    nodes.clear();
    Store::open(folders[0].path(), &settings).unwrap().take_from_library(&KEYS, at(9)).unwrap();
    create(&open_own(folders[0].path()), "b");
    let error = open_own(folders[0].path()).take_from_library(&KEYS, at(9)).unwrap_err();
    assert!(matches!(error, MigrationError::NoCopy));
}
