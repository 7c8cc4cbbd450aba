use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Store;
use crate::{RepairMode, Settings, fsck};

fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path(), &Settings::default()).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn token(number: u32) -> Hash {
    blake3::hash(&number.to_le_bytes())
}

fn remembered(store: &Store) -> u64 {
    let count = |transaction: &Connection| {
        Ok::<_, Fault>(transaction.query_row("SELECT count(*) FROM spent", [], |row| row.get(0))?)
    };
    store.db.index.read(count).unwrap()
}

#[test]
fn of_many_that_spend_a_token_at_once_one_is_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..4).map(|_| open(&folder)).collect();
    for number in 0..20 {
        let spend = |store: &Store| store.nonces().consume(token(number), at(10), at(0)).unwrap();
        let said: Vec<NonceUse> = std::thread::scope(|scope| {
            let threads: Vec<_> = stores.iter().map(|store| scope.spawn(move || spend(store))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(said.iter().filter(|said| **said == NonceUse::Fresh).count(), 1, "{said:?}");
    }
    drop(stores);
    assert_eq!(open(&folder).nonces().consume(token(3), at(10), at(1)).unwrap(), NonceUse::Replayed);
}

#[test]
fn what_is_not_good_any_more_is_forgotten_and_not_good_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    for number in 0..10 {
        assert_eq!(store.nonces().consume(token(number), at(10), at(0)).unwrap(), NonceUse::Fresh);
    }
    assert_eq!(store.nonces().consume(token(10), at(20), at(10)).unwrap(), NonceUse::Fresh);
    assert_eq!(remembered(&store), 1);
    assert_eq!(store.nonces().consume(token(1), at(10), at(10)).unwrap(), NonceUse::Expired);
    // The clock is set back: a pruned token stays used, and a token with a later expiry is valid.
    assert_eq!(store.nonces().consume(token(1), at(10), at(5)).unwrap(), NonceUse::Expired);
    assert_eq!(store.nonces().consume(token(11), at(11), at(5)).unwrap(), NonceUse::Fresh);
}

#[test]
fn a_repair_remembers_what_was_spent() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.nonces().consume(token(0), at(1), at(0)).unwrap();
    store.nonces().consume(token(1), at(10), at(5)).unwrap();
    let draft = toolcell_tool::Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
    let name = toolcell_tool::ToolName::parse("one").unwrap();
    let spec = toolcell_tool::ToolSpec::new(name, &draft, serde_json::Value::Null, serde_json::Value::Null).unwrap();
    let notes = toolcell_tool::ToolMetadata::new("One").unwrap();
    let scores = crate::Scores { safety: 1.0, quality: 1.0 };
    let registration = crate::NewTool { spec: &spec, metadata: &notes, scores, at: at(0) };
    store.catalog().insert(&registration, crate::OnConflict::Refuse).unwrap();
    drop(store);
    // An index that disagrees with the objects is rebuilt.
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    connection.execute_batch("UPDATE tool SET safety = 1").unwrap();
    drop(connection);
    let health = fsck(folder.path(), RepairMode::Repair).unwrap();
    assert!(health.is_healthy() && !health.problems.is_empty(), "{health:?}");
    let store = open(&folder);
    assert_eq!(store.nonces().consume(token(1), at(10), at(5)).unwrap(), NonceUse::Replayed);
    assert_eq!(store.nonces().consume(token(0), at(1), at(0)).unwrap(), NonceUse::Expired);
}

#[test]
fn nothing_is_spent_in_a_store_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder));
    let set = |mode| {
        for entry in [folder.path().join("tmp"), folder.path().to_owned()] {
            std::fs::set_permissions(entry, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o500);
    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let refused =
        (store.access() == crate::StoreAccess::ReadOnly).then(|| store.nonces().consume(token(0), at(1), at(0)));
    set(0o700);
    // Permissions do not bind the superuser.
    assert!(refused.is_none_or(|refused| refused.unwrap_err().code() == "store-read-only"));
}
