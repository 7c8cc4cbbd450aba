use super::*;
use crate::gc::Mode;
use crate::{Mending, Settings, fsck};

fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path(), &Settings::default()).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn run(number: u64, since: i64) -> Sleeping {
    let (tool, caller) = (ToolId::from_bytes([7; 32]), "somebody".to_owned());
    let blob = number.to_le_bytes().to_vec();
    Sleeping { run: RunId::new(1, number), tool, caller, at: at(since), bound: "{}".to_owned(), blob }
}

#[test]
fn of_many_that_take_a_run_at_once_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..4).map(|_| open(&folder)).collect();
    for number in 0..20 {
        let run = run(number, 1);
        stores[0].put_to_sleep(&run).unwrap();
        let take = |store: &Store| store.take_sleeping(&run).unwrap();
        let got: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = stores.iter().map(|store| scope.spawn(move || take(store))).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        });
        assert_eq!(got, 1);
    }
    assert_eq!(stores[0].all_sleeping().unwrap(), []);
}

#[test]
fn what_fell_asleep_again_is_not_taken_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let (before, after) = (run(1, 1), Sleeping { blob: b"later".to_vec(), ..run(1, 2) });
    store.put_to_sleep(&before).unwrap();
    store.put_to_sleep(&after).unwrap();
    assert!(!store.take_sleeping(&before).unwrap());
    assert!(store.take_sleeping(&after).unwrap());
}

#[test]
fn what_is_too_large_does_not_sleep() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let most = Sleeping { blob: vec![1; SLEEPING_LIMIT], ..run(1, 1) };
    store.put_to_sleep(&most).unwrap();
    let more = Sleeping { blob: vec![1; SLEEPING_LIMIT + 1], ..run(2, 1) };
    assert_eq!(store.put_to_sleep(&more).unwrap_err().code(), "too-large-to-sleep");
    assert_eq!(store.all_sleeping().unwrap(), [most]);
}

#[test]
fn what_sleeps_for_long_is_collected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.put_to_sleep(&run(1, 1)).unwrap();
    store.put_to_sleep(&run(2, 9)).unwrap();
    for mode in [Mode::Plan, Mode::Do] {
        assert_eq!(store.all_sleeping().unwrap().len(), 2);
        assert_eq!(store.collect(at(5), at(10), mode).unwrap().sleeping, 1);
    }
    assert_eq!(store.all_sleeping().unwrap(), [run(2, 9)]);
}

#[test]
fn a_repair_of_a_whole_index_keeps_what_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.put_to_sleep(&run(1, 1)).unwrap();
    let said = "INSERT INTO space (name, keys, bytes) VALUES ('wrong', 1, 1)";
    store.index.write(crate::Durability::Synced, |connection| Ok::<_, Fault>(connection.execute(said, [])?)).unwrap();
    drop(store);
    let health = fsck(folder.path(), Mending::Repair).unwrap();
    assert!(health.problems.iter().any(|problem| problem.mended.is_some()), "{health:?}");
    assert_eq!(open(&folder).all_sleeping().unwrap(), [run(1, 1)]);
}
