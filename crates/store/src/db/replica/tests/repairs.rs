//! Copies that `fsck` repairs.

use super::*;

/// Two nodes of a library with two versions of a name, a value, and another name; the second is closed.
fn closed() -> Cluster {
    let mut cluster = Cluster::with(2, Durability::Unsynced);
    create(&cluster.nodes[0], "a");
    replace(&cluster.nodes[0], "a", "const execute = () => 2");
    set(&cluster.nodes[0], "k", "1").unwrap();
    create(&cluster.nodes[0], "c");
    cluster.follow();
    drop(cluster.nodes.pop());
    cluster
}

fn repair(cluster: &Cluster) {
    let health = fsck(cluster.path(1), RepairMode::Repair).unwrap();
    assert!(health.is_healthy() && !health.problems.is_empty(), "{health:#?}");
}

fn execute(path: &Path, sql: &str) {
    Connection::open(path.join("index.sqlite")).unwrap().execute_batch(sql).unwrap();
}

/// Opens the second node again, which does not follow the library any more.
fn is_left_behind(cluster: &Cluster) {
    let refused = |store: &Store| {
        let (before, created) = (dump(store), put(store, "b", "const execute = () => 1", OnConflict::Refuse));
        assert_eq!(dump(store), before);
        created.unwrap_err().code()
    };
    let store = Store::open(cluster.path(1), &Settings::default()).unwrap();
    assert_eq!(refused(&store), "shared-copy");
    drop(store);
    let store = Store::open(cluster.path(1), &cluster.settings).unwrap();
    assert_eq!(
        (refused(&store), store.follow().unwrap_err().code()),
        (ErrorCode::SharedInvalid, ErrorCode::SharedInvalid)
    );
    assert_eq!(cluster.len(), 4);
}

#[test]
fn a_repair_keeps_what_a_store_is_a_copy_of() {
    let mut cluster = closed();
    execute(cluster.path(1), "UPDATE tool SET safety = 1");
    repair(&cluster);
    cluster.nodes.push(Store::open(cluster.path(1), &cluster.settings).unwrap());
    create(&cluster.nodes[1], "b");
    set(&cluster.nodes[1], "k", "2").unwrap();
    cluster.check_agreement();
}

#[test]
fn a_repair_leaves_to_the_library_what_it_has() {
    let mut cluster = closed();
    for hash in object_files(cluster.path(1)) {
        std::fs::remove_file(object_path(cluster.path(1), &hash)).unwrap();
    }
    repair(&cluster);
    cluster.nodes.push(Store::open(cluster.path(1), &cluster.settings).unwrap());
    let two = &cluster.nodes[1];
    let entry = two.catalog().find(&reference("a")).unwrap();
    assert_eq!((entry.status, two.catalog().spec(&entry).unwrap().id()), (Status::Unverified, entry.id));
    two.with_audit(event(Action::Rollback)).roll_back(&name("a"), 1, at(4)).unwrap();
    assert_eq!(history(two, "a"), "1 created, 2 replaced, 3 rolled-back");
    cluster.nodes[0].follow().unwrap();
    assert_eq!(dump(two), dump(&cluster.nodes[0]));
}

#[test]
fn a_copy_whose_history_was_rebuilt_with_gaps_is_left_behind() {
    let cluster = closed();
    execute(cluster.path(1), "UPDATE tool SET safety = 1 WHERE name = 'c'");
    let Change::Versions { versions } = cluster.entries()[0].change.clone() else { unreachable!() };
    std::fs::remove_file(object_path(cluster.path(1), &versions[0].version.0.to_hex())).unwrap();
    repair(&cluster);
    is_left_behind(&cluster);
}

#[test]
fn a_copy_whose_index_was_damaged_is_left_behind() {
    let cluster = closed();
    execute(cluster.path(1), "CREATE TABLE planted (x)");
    repair(&cluster);
    is_left_behind(&cluster);
}

#[test]
fn a_copy_that_lost_a_value_is_left_behind() {
    let cluster = closed();
    // What is no JSON is not copied to the new index.
    execute(cluster.path(1), "PRAGMA ignore_check_constraints = 1; UPDATE pair SET value = '{'");
    repair(&cluster);
    is_left_behind(&cluster);
}

#[test]
fn a_repair_adopts_no_version_that_the_library_does_not_have() {
    let mut cluster = closed();
    let two = Store::open(cluster.path(1), &cluster.settings).unwrap();
    // The files of versions that another node collects stay here until this one collects.
    cluster.nodes[0].with_audit(event(Action::DeleteDynamicTool)).delete(&reference("c"), at(2)).unwrap();
    cluster.nodes[0].with_audit(event(Action::Gc)).collect(at(20), at(60)).unwrap();
    two.follow().unwrap();
    drop(two);
    let Change::Versions { versions } = cluster.entries()[0].change.clone() else { unreachable!() };
    std::fs::remove_file(object_path(cluster.path(1), &versions[0].version.0.to_hex())).unwrap();
    fsck(cluster.path(1), RepairMode::Repair).unwrap();
    cluster.nodes.push(Store::open(cluster.path(1), &cluster.settings).unwrap());
    create(&cluster.nodes[1], "b");
    cluster.follow();
    assert_eq!(dump(&cluster.nodes[0]), dump(&cluster.nodes[1]));
    assert_eq!(history(&cluster.nodes[1], "c"), "");
}
