use super::*;
use crate::GcMode;
use crate::Store;
use crate::{RepairMode, Settings, fsck};

fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path(), &Settings::default()).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn run(number: u64, since: i64) -> SuspendedRow {
    let (tool, caller) = (ToolId::from_bytes([7; 32]), "somebody".to_owned());
    let blob = number.to_le_bytes().to_vec();
    SuspendedRow { run: RunId::new(1, number), tool, caller, suspended_at: at(since), binding: "{}".to_owned(), blob }
}

#[test]
fn of_many_that_take_a_run_at_once_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..4).map(|_| open(&folder)).collect();
    for number in 0..20 {
        let run = run(number, 1);
        stores[0].suspended().save(&run).unwrap();
        let take = |store: &Store| store.suspended().take(&run).unwrap();
        let got: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = stores.iter().map(|store| scope.spawn(move || take(store))).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        });
        assert_eq!(got, 1);
    }
    assert_eq!(stores[0].suspended().all().unwrap(), []);
}

#[test]
fn a_run_that_was_suspended_again_is_not_taken_in_its_former_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let (before, after) = (run(1, 1), SuspendedRow { blob: b"later".to_vec(), ..run(1, 2) });
    store.suspended().save(&before).unwrap();
    store.suspended().save(&after).unwrap();
    assert!(!store.suspended().take(&before).unwrap());
    assert!(store.suspended().take(&after).unwrap());
}

#[test]
fn what_is_too_large_does_not_sleep() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let most = SuspendedRow { blob: vec![1; SUSPENDED_LIMIT], ..run(1, 1) };
    store.suspended().save(&most).unwrap();
    let more = SuspendedRow { blob: vec![1; SUSPENDED_LIMIT + 1], ..run(2, 1) };
    assert_eq!(store.suspended().save(&more).unwrap_err().code(), "too-large-to-sleep");
    assert_eq!(store.suspended().all().unwrap(), [most]);
}

#[test]
fn what_sleeps_for_long_is_collected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.suspended().save(&run(1, 1)).unwrap();
    store.suspended().save(&run(2, 9)).unwrap();
    for mode in [GcMode::DryRun, GcMode::Execute] {
        assert_eq!(store.suspended().all().unwrap().len(), 2);
        assert_eq!(store.maintenance().collect(at(5), at(10), mode).unwrap().suspended, 1);
    }
    assert_eq!(store.suspended().all().unwrap(), [run(2, 9)]);
}

#[test]
fn a_repair_of_a_whole_index_keeps_what_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.suspended().save(&run(1, 1)).unwrap();
    let said = "INSERT INTO space (name, keys, bytes) VALUES ('wrong', 1, 1)";
    store
        .db
        .index
        .write(crate::Durability::Synced, |connection| Ok::<_, Fault>(connection.execute(said, [])?))
        .unwrap();
    drop(store);
    let health = fsck(folder.path(), RepairMode::Repair).unwrap();
    assert!(health.problems.iter().any(|problem| problem.mended.is_some()), "{health:?}");
    assert_eq!(open(&folder).suspended().all().unwrap(), [run(1, 1)]);
}
