//! Histories and stores that do not belong together.

use super::*;
use crate::replication::change::NewVersion;

/// A cluster of which the first node made changes that the second has not seen: two of a name and one of a space.
fn behind() -> Cluster {
    let cluster = Cluster::new(2);
    create(&cluster.nodes[0], "a");
    replace(&cluster.nodes[0], "a", "const execute = () => 2");
    set(&cluster.nodes[0], "k", "1").unwrap();
    cluster
}

/// Checks that the second node applies this many entries of a history, and refuses the next one.
#[track_caller]
fn refuses(cluster: &Cluster, entries: Vec<Vec<u8>>, applied: u64) {
    let two = &cluster.nodes[1];
    cluster.engine.set_entries(LIBRARY, entries);
    assert_eq!(two.follow().unwrap_err().code(), "shared-invalid");
    assert_eq!(two.replication_status().unwrap().unwrap().entries, applied);
    let (before, versions) = (dump(two), two.catalog().history(&name("a")).unwrap().len() as u64);
    assert_eq!(versions, applied.min(2));
    assert_eq!(set(two, "other", "1").unwrap_err().code(), "shared-invalid");
    assert_eq!(two.follow().unwrap_err().code(), "shared-invalid");
    assert_eq!((dump(two), audited_changes(two)), (before, Vec::new()));
}

#[test]
fn an_altered_entry_is_not_applied() {
    for bad in 0..3 {
        for part in [0, 40, 100] {
            let cluster = behind();
            let mut entries = cluster.engine.entries(LIBRARY);
            entries[bad][part] ^= 1;
            refuses(&cluster, entries, bad as u64);
        }
    }
}

#[test]
fn entries_in_another_order_are_not_applied() {
    let cluster = behind();
    let mut entries = cluster.engine.entries(LIBRARY);
    entries.swap(1, 2);
    refuses(&cluster, entries, 1);
    let cluster = behind();
    let mut entries = cluster.engine.entries(LIBRARY);
    entries.remove(0);
    refuses(&cluster, entries, 0);
}

#[test]
fn an_entry_is_not_applied_twice() {
    for place in [1, 2, 3] {
        let cluster = behind();
        let mut entries = cluster.engine.entries(LIBRARY);
        entries.insert(place, entries[place - 1].clone());
        refuses(&cluster, entries, place as u64);
    }
}

#[test]
fn an_entry_that_was_cut_off_is_not_applied() {
    for len in [0, 1, 32, 33, 60] {
        let cluster = behind();
        let mut entries = cluster.engine.entries(LIBRARY);
        entries[2].truncate(len);
        refuses(&cluster, entries, 2);
    }
}

#[test]
fn an_entry_of_another_secret_or_library_is_not_applied() {
    let cluster = behind();
    let ours = cluster.engine.replication(LIBRARY);
    let strangers = [Replication { secret: [8; 32], ..ours.clone() }, cluster.engine.replication("library/other")];
    for stranger in strangers {
        let cluster = behind();
        let mut entries = cluster.engine.entries(LIBRARY);
        let place = entries.iter().fold(Position::start(), |at, entry| at.after(entry));
        let change = Change::ClearSpace { space: "notes".to_owned() };
        entries.push(stranger.seal(&Entry { node: "n".to_owned(), audit: None, change }, place).unwrap());
        refuses(&cluster, entries, 3);
    }
}

/// An entry of a node that has the secret, after those that are there.
fn append(cluster: &Cluster, change: Change) -> Vec<Vec<u8>> {
    let mut entries = cluster.engine.entries(LIBRARY);
    let place = entries.iter().fold(Position::start(), |at, entry| at.after(entry));
    let entry = Entry { node: "n".to_owned(), audit: None, change };
    entries.push(cluster.engine.replication(LIBRARY).seal(&entry, place).unwrap());
    entries
}

#[test]
fn an_entry_that_this_node_cannot_read_or_apply_is_where_it_stops() {
    let cluster = behind();
    let mut entries = cluster.engine.entries(LIBRARY);
    let place = entries.iter().fold(Position::start(), |at, entry| at.after(entry));
    let body = b"\0{\"node\":\"n\",\"change\":{\"do\":\"explode\"}}";
    entries.push([&cluster.engine.replication(LIBRARY).tag(place, body).as_bytes()[..], body].concat());
    refuses(&cluster, entries, 3);

    let (tool, text) = (ToolId::from_bytes([1; 32]), |text: &str| text.to_owned());
    for change in [
        Change::SetStatus { tool, status: Status::Passed },
        Change::Deprecate { tool, successor: None },
        Change::TakeSuspended { run: text("no run") },
        Change::Write { space: text("no space"), writes: Vec::new(), now: at(1) },
        Change::Label { holders: vec![text("nothing")], sources: vec![text("x")] },
    ] {
        let cluster = behind();
        refuses(&cluster, append(&cluster, change), 3);
    }
    // The second version once more.
    let cluster = behind();
    let Change::Versions { versions } = cluster.entries()[1].change.clone() else { unreachable!() };
    refuses(&cluster, append(&cluster, Change::Versions { versions }), 3);
}

#[test]
fn an_object_that_is_lost_or_altered_is_where_the_history_stops() {
    for take in [|version: &NewVersion| version.version.0, |version: &NewVersion| version.source.0] {
        let cluster = behind();
        let blobs = cluster.engine.blobs();
        let Change::Versions { versions } = cluster.entries()[1].change.clone() else { unreachable!() };
        let hash = take(&versions[0]);
        let mut altered = blobs.clone();
        altered.insert(hash, b"altered".to_vec());
        cluster.engine.set_blobs(altered);
        refuses(&cluster, cluster.engine.entries(LIBRARY), 1);
        let mut without = blobs.clone();
        without.remove(&hash);
        cluster.engine.set_blobs(without);
        refuses(&cluster, cluster.engine.entries(LIBRARY), 1);
        cluster.engine.set_blobs(blobs);
        assert_eq!(cluster.nodes[1].follow().unwrap(), 2);
        cluster.check_agreement();
    }
}

#[test]
fn a_history_that_was_restored_from_a_backup_is_refused() {
    let cluster = behind();
    let one = &cluster.nodes[0];
    let entries = cluster.engine.entries(LIBRARY);
    for kept in 0..3 {
        cluster.engine.set_entries(LIBRARY, entries[..kept].to_vec());
        let before = dump(one);
        assert_eq!(one.follow().unwrap_err().code(), "shared-invalid");
        assert_eq!(set(one, "k", "2").unwrap_err().code(), "shared-invalid");
        assert_eq!((dump(one), cluster.len()), (before, kept));
    }
    // Another node went on from the backup.
    cluster.engine.set_entries(LIBRARY, entries[..2].to_vec());
    let two = &cluster.nodes[1];
    for number in 0..3 {
        set(two, "k", &number.to_string()).unwrap();
    }
    assert_eq!(one.follow().unwrap_err().code(), "shared-invalid");
    assert_eq!(create_error(one), "shared-invalid");
    assert_eq!(cluster.len(), 5);
    assert_eq!(get(one, "k").unwrap().value, "1");
}

fn create_error(store: &Store) -> String {
    put(store, "b", "const execute = () => 1", OnConflict::Refuse).unwrap_err().code().as_str().to_owned()
}

#[test]
fn a_store_belongs_to_one_library() {
    let cluster = behind();
    cluster.follow();
    let path = cluster.path(1);
    let open = |replication: Replication| {
        Store::open(path, &Settings { replication: Some(replication), ..Settings::default() })
    };
    let code = |opened: Result<Store, OpenError>| opened.map(drop).unwrap_err().code();
    assert_eq!(code(open(cluster.engine.replication("library/other"))), "shared-invalid");
    // With another secret, it would append what no other node can read.
    let other = || Replication { secret: [8; 32], ..cluster.engine.replication(LIBRARY) };
    assert_eq!(code(open(other())), "shared-invalid");
    // A copy that is new with another secret finds no entry that is right.
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { replication: Some(other()), ..Settings::default() };
    let stranger = Store::open(folder.path(), &settings).unwrap();
    let before = dump(&stranger);
    assert_eq!(stranger.follow().unwrap_err().code(), "shared-invalid");
    assert_eq!(create_error(&stranger), "shared-invalid");
    assert_eq!((dump(&stranger), cluster.len()), (before, 3));
}

#[test]
fn a_store_with_changes_of_its_own_joins_no_library() {
    let cluster = behind();
    let joins = |change: &dyn Fn(&Store)| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        change(&store);
        drop(store);
        let refused = Store::open(folder.path(), &cluster.settings).map(drop).unwrap_err();
        assert_eq!(refused.code(), "shared-invalid");
        // It stays what it was.
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        assert_eq!(store.replication_status().unwrap(), None);
        create(&store, "later");
    };
    joins(&|store| _ = create(store, "a"));
    joins(&|store| _ = set(store, "k", "1").unwrap());
    joins(&|store| store.suspended().save(&suspended(1)).unwrap());
    joins(&|store| _ = store.nonces().consume(blake3::hash(b"t"), at(9), at(1)).unwrap());
    joins(&|store| _ = decide(store, ToolId::from_bytes([1; 32]), Decision::Refused).unwrap());
    joins(&|store| store.labels().join(&[LabelHolder::Space(notes())], &["x".to_owned()]).unwrap());
}

#[test]
fn a_store_that_was_emptied_counts_as_the_others_do() {
    let cluster = behind();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    for _ in 0..5 {
        set(&store, "k", "1").unwrap();
    }
    store.kv(&notes()).clear().unwrap();
    drop(store);
    let store = Store::open(folder.path(), &cluster.settings).unwrap();
    store.follow().unwrap();
    assert_eq!((get(&store, "k"), dump(&store)), (get(&cluster.nodes[0], "k"), dump(&cluster.nodes[0])));
}

#[test]
fn a_copy_without_its_library_is_read_and_not_changed() {
    let mut cluster = behind();
    cluster.follow();
    for to in [Status::Pending, Status::Passed] {
        let tool = spec("a", "const execute = () => 2").id();
        cluster.nodes[1].catalog().set_status(tool, to).unwrap();
    }
    cluster.follow();
    drop(cluster.nodes.pop());
    let store = Store::open(cluster.path(1), &Settings::default()).unwrap();
    let entry = store.catalog().find(&reference("a")).unwrap();
    let (tool, grants) = (entry.id, json!({}));
    assert_eq!(store.catalog().spec(&entry).unwrap().id(), tool);
    let before = dump(&store);
    let code = |error: Fault| error.code();
    let refused = [
        put(&store, "b", "const execute = () => 1", OnConflict::Refuse).unwrap_err().code(),
        store.catalog().delete(&reference("a"), at(2)).unwrap_err().code(),
        store.catalog().roll_back(&name("a"), 1, at(2)).unwrap_err().code(),
        store.catalog().set_status(tool, Status::Pending).unwrap_err().code(),
        store.catalog().deprecate(tool, None).unwrap_err().code(),
        decide(&store, tool, Decision::Approved).map_err(code).unwrap_err(),
        store.approvals().revoke(tool).map_err(code).unwrap_err(),
        store.approvals().request(tool, &grants, "me", at(1)).map_err(code).unwrap_err(),
        store.approvals().take_single(tool, &grants, at(1)).map_err(code).unwrap_err(),
        store.nonces().consume(blake3::hash(b"t"), at(9), at(1)).map_err(code).unwrap_err(),
        set(&store, "k", "1").unwrap_err().code(),
        store.kv(&notes()).clear().map_err(code).unwrap_err(),
        store.suspended().save(&suspended(1)).unwrap_err().code(),
        store.suspended().take(&suspended(1)).map_err(code).unwrap_err(),
        store.labels().join(&[LabelHolder::Space(notes())], &["x".to_owned()]).map_err(code).unwrap_err(),
        store
            .with_audit(event(Action::ClearContext))
            .clear_label(&LabelHolder::Space(notes()))
            .map_err(code)
            .unwrap_err(),
        store.maintenance().collect(at(1), at(1), crate::GcMode::Execute).map_err(code).unwrap_err(),
    ];
    assert!(refused.iter().all(|code| *code == "shared-copy"), "{refused:?}");
    // Runs are of this store alone. What they would change of the tool is not.
    for _ in 0..4 {
        run(&store, tool, Some("tool-failed"));
    }
    let entry = store.catalog().find(&reference("a")).unwrap();
    assert_eq!((entry.runs, entry.status, dump(&store)), (4, Status::Passed, before));
    assert_eq!((store.follow().unwrap(), store.replication_status().unwrap()), (0, None));
    drop(store);

    cluster.nodes.push(Store::open(cluster.path(1), &cluster.settings).unwrap());
    cluster.check_agreement();
}

#[test]
fn of_two_libraries_that_a_store_joins_at_once_one_has_it() {
    let engine = Arc::new(Engine::default());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    // As in a process that found no library, and then another process was faster.
    let join = |library: &str| {
        let replication = engine.replication(library);
        let row =
            store.db.index.write(Durability::Unsynced, |transaction| create_replica(transaction, &replication))?;
        row.check(&replication).map(|()| row)
    };
    let node = join("one").unwrap();
    assert_eq!(join("one").unwrap(), node);
    assert_eq!(join("two").unwrap_err().code(), "shared-invalid");
}

#[test]
fn a_node_with_another_secret_changes_nothing_in_an_empty_library() {
    let cluster = behind();
    let folder = tempfile::tempdir().unwrap();
    let replication = |secret| Replication { secret, ..cluster.engine.replication("library/empty") };
    let open = |secret| {
        let settings = Settings { replication: Some(replication(secret)), ..Settings::default() };
        Store::open(folder.path(), &settings).unwrap()
    };
    let stranger = open([8; 32]);
    assert_eq!(stranger.follow().unwrap_err().code(), "shared-invalid");
    assert_eq!(create_error(&stranger), "shared-invalid");
    assert!(cluster.engine.entries("library/empty").is_empty());
    drop(stranger);
    // Its directory can be used with the right secret.
    let store = open([7; 32]);
    create(&store, "a");
    assert_eq!(cluster.engine.entries("library/empty").len(), 1);
}

#[test]
fn a_store_that_became_a_copy_is_not_changed_as_one_of_its_own() {
    let cluster = behind();
    let folder = tempfile::tempdir().unwrap();
    let own = Store::open(folder.path(), &Settings::default()).unwrap();
    let copy = Store::open(folder.path(), &cluster.settings).unwrap();
    assert_eq!(create_error(&own), "shared-copy");
    assert_eq!(set(&own, "k", "9").unwrap_err().code(), "shared-copy");
    copy.follow().unwrap();
    assert_eq!((get(&copy, "k"), dump(&copy)), (get(&cluster.nodes[0], "k"), dump(&cluster.nodes[0])));
}
