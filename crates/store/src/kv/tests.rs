#![expect(clippy::disallowed_methods, reason = "the tests damage files, and are processes of their own")]

mod crowd;
mod model;
mod repair;

use tempfile::TempDir;

use super::*;
use crate::Store;
use crate::{Durability, GcMode, Settings};

const LIMITS: KvLimits = KvLimits { bytes: 1_000, keys: 10, value_bytes: 100 };

fn open(folder: &TempDir) -> Store {
    open_at(folder.path())
}

/// These tests do not cover power failures.
fn open_at(path: &std::path::Path) -> Store {
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    Store::open(path, &settings).unwrap()
}

fn notes() -> SpaceName {
    SpaceName::parse("notes").unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn put(key: &str, value: &str) -> KvWrite {
    KvWrite::Put { key: key.to_owned(), value: value.to_owned(), expires_at: None }
}

fn put_until(key: &str, value: &str, until: i64) -> KvWrite {
    KvWrite::Put { key: key.to_owned(), value: value.to_owned(), expires_at: Some(at(until)) }
}

fn delete(key: &str) -> KvWrite {
    KvWrite::Delete { key: key.to_owned() }
}

fn is(key: &str, version: Option<u64>) -> KvCheck {
    KvCheck { key: key.to_owned(), version }
}

fn commit(store: &Store, writes: &[KvWrite]) -> Result<bool, KvError> {
    store.kv(&notes()).commit(&[], writes, &LIMITS, at(0))
}

fn get(store: &Store, key: &str) -> Option<KvEntry> {
    store.kv(&notes()).get(key, at(0)).unwrap()
}

fn keys(store: &Store, prefix: &str, after: Option<&str>, limit: u32) -> (Vec<String>, bool) {
    store.kv(&notes()).keys(prefix, after, limit, at(0)).unwrap()
}

/// The total of the only space: keys and bytes.
fn room(store: &Store, now: i64) -> (u64, u64) {
    store.kv_spaces(at(now)).unwrap().first().map_or((0, 0), |space| (space.keys, space.bytes))
}

#[test]
fn versions_only_grow() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let mut last = 0;
    let mut grows = |pair: Option<KvEntry>| {
        let version = pair.unwrap().version;
        assert!(version > last, "{version} after {last}");
        last = version;
    };
    commit(&store, &[put("a", "1")]).unwrap();
    grows(get(&store, "a"));
    commit(&store, &[put("a", "1")]).unwrap();
    grows(get(&store, "a"));
    commit(&store, &[delete("a")]).unwrap();
    commit(&store, &[put("a", "1")]).unwrap();
    grows(get(&store, "a"));
    store.kv(&notes()).clear().unwrap();
    let other = SpaceName::parse("Notes").unwrap();
    store.kv(&other).commit(&[], &[put("a", "2")], &LIMITS, at(0)).unwrap();
    commit(&store, &[put("b", "1")]).unwrap();
    grows(store.kv(&other).get("a", at(0)).unwrap());
    grows(get(&store, "b"));
    drop(store);
    let store = open(&folder);
    commit(&store, &[put("c", "1")]).unwrap();
    grows(get(&store, "c"));
}

#[test]
fn a_commit_whose_checks_do_not_hold_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    commit(&store, &[put("a", "1"), put("b", "2")]).unwrap();
    let version = get(&store, "a").unwrap().version;
    assert_eq!(get(&store, "b").unwrap().version, version);
    let check = |checks: &[KvCheck], expect: bool| {
        let before = (get(&store, "a"), keys(&store, "", None, 9));
        let held = store.kv(&notes()).commit(checks, &[put("a", "3"), delete("b")], &LIMITS, at(0)).unwrap();
        assert_eq!((held, store.kv(&notes()).commit(checks, &[], &LIMITS, at(0)).unwrap()), (expect, false));
        if !expect {
            assert_eq!((get(&store, "a"), keys(&store, "", None, 9)), before);
        }
    };
    check(&[is("a", None)], false);
    check(&[is("a", Some(version - 1))], false);
    check(&[is("a", Some(version)), is("c", Some(version))], false);
    check(&[is("c", None), is("b", Some(u64::MAX >> 12))], false);
    check(&[is("a", Some(version)), is("b", Some(version)), is("c", None)], true);
    assert_eq!((get(&store, "a").unwrap().value.as_str(), get(&store, "b")), ("3", None));
    let version = get(&store, "a").unwrap().version;
    assert!(store.kv(&notes()).commit(&[is("a", Some(version))], &[], &LIMITS, at(0)).unwrap());
}

#[test]
fn of_two_writes_of_a_key_the_later_counts() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    commit(&store, &[put("a", "1"), delete("a"), put("b", "1"), put("b", "22"), delete("c")]).unwrap();
    assert_eq!((get(&store, "a"), get(&store, "b").unwrap().value.as_str()), (None, "22"));
    assert_eq!(room(&store, 0), (1, 3));
}

#[test]
fn keys_come_in_the_order_of_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let mut all = ["a", "a/", "a/1", "a/2", "a/\u{10ffff}", "b", "B", "ä", "日本", "\u{1}"].map(str::to_owned).to_vec();
    commit(&store, &all.iter().map(|key| put(key, "0")).collect::<Vec<_>>()).unwrap();
    all.sort();
    assert_eq!(keys(&store, "", None, 100), (all.clone(), false));
    assert_eq!(keys(&store, "", None, 10), (all.clone(), false));
    assert_eq!(keys(&store, "", None, 9), (all[..9].to_vec(), true));
    assert_eq!(keys(&store, "", None, 0), (Vec::new(), true));
    let check = |prefix: &str, after: Option<&str>, limit: u32, expect: &[&str], more: bool| {
        let expect = expect.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(keys(&store, prefix, after, limit), (expect, more), "{prefix:?} {after:?}");
    };
    check("a/", None, 9, &["a/", "a/1", "a/2", "a/\u{10ffff}"], false);
    check("a/", Some("a/1"), 1, &["a/2"], true);
    check("a/", Some("a/2"), 1, &["a/\u{10ffff}"], false);
    check("a/", Some("a/\u{10ffff}"), 9, &[], false);
    check("a/", Some(""), 1, &["a/"], true);
    check("a/", Some("b"), 9, &[], false);
    check("b", Some("a"), 9, &["b"], false);
    check("c", None, 9, &[], false);
    check("%", None, 9, &[], false);
    let mut seen = Vec::new();
    while let (page, true) = keys(&store, "", seen.last().map(String::as_str), 3) {
        seen.extend(page);
    }
    assert_eq!(seen, all[..9]);
}

#[test]
fn what_is_too_much_is_refused_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    commit(&store, &[put("kept", "1")]).unwrap();
    let check = |writes: &[KvWrite], code: &str, message: &str| {
        let writes: Vec<KvWrite> = [put("other", "1")].iter().chain(writes).cloned().collect();
        let error = commit(&store, &writes).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().as_str()), (code, message));
        assert!(!error.hint().is_empty());
        assert_eq!(keys(&store, "", None, 9), (vec!["kept".to_owned()], false));
    };
    check(&[put("", "1")], "kv-key", "`` is not a valid key: it is empty");
    check(&[put("a\0b", "1")], "kv-key", "`a\\0b` is not a valid key: it contains a NUL");
    let long = "é".repeat(257);
    let shown = format!("`{}…` is not a valid key: it has 514 bytes, the limit is 512", "é".repeat(64));
    check(&[delete(&long)], "kv-key", &shown);
    check(&[put("a", &"1".repeat(101))], "kv-value-too-large", "the value of `a` has 101 bytes, the limit is 100");
    let many: Vec<KvWrite> = (0..COMMIT_LIMIT).map(|_| put("a", "1")).collect();
    check(&many, "kv-too-many", "the commit has 1001 writes, the limit is 1000");
    let ten: Vec<KvWrite> = (0..9).map(|number| put(&number.to_string(), "1")).collect();
    check(&ten, "kv-quota", "the space `notes` would hold 11 keys, the limit is 10");
    let large: Vec<KvWrite> = (0..8).map(|number| put(&number.to_string(), &"1".repeat(100))).collect();
    let larger = [&large[..], &[put("other", &"1".repeat(100)), put("kept", &"1".repeat(100))]].concat();
    check(&larger, "kv-quota", "the space `notes` would hold 1017 bytes, the limit is 1000");

    let checks: Vec<KvCheck> = (0..=COMMIT_LIMIT).map(|_| is("a", None)).collect();
    let error = store.kv(&notes()).commit(&checks, &[], &LIMITS, at(0)).unwrap_err();
    assert_eq!(error.to_string(), "the commit has 1001 checks, the limit is 1000");
    let error = store.kv(&notes()).commit(&[is("", None)], &[], &LIMITS, at(0)).unwrap_err();
    assert_eq!(error.code(), "kv-key");
    // A key and a commit at their maximum sizes are accepted.
    let largest: Vec<KvWrite> = (0..COMMIT_LIMIT).map(|_| put(&"é".repeat(256), "1")).collect();
    assert!(commit(&store, &largest).unwrap());
}

#[test]
fn a_space_is_filled_to_the_last_byte() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let limits = KvLimits { bytes: 10, keys: 2, value_bytes: 9 };
    let commit = |limits: &KvLimits, writes: &[KvWrite]| {
        store.kv(&notes()).commit(&[], writes, limits, at(0)).map_err(|error| error.code().as_str())
    };
    assert_eq!(commit(&limits, &[put("a", "1234"), put("b", "1234")]), Ok(true));
    assert_eq!(commit(&limits, &[put("b", "12345")]), Err("kv-quota"));
    assert_eq!(commit(&limits, &[put("a", "123"), put("b", "12345")]), Ok(true));
    // Lowered limits: existing entries stay and cannot grow.
    let less = KvLimits { bytes: 5, keys: 1, value_bytes: 9 };
    assert_eq!(commit(&less, &[put("b", "54321")]), Ok(true));
    assert_eq!(commit(&less, &[put("a", "1"), put("b", "1234567")]), Ok(true));
    assert_eq!(commit(&less, &[put("a", "12")]), Err("kv-quota"));
    assert_eq!(commit(&less, &[put("c", "1"), delete("b")]), Ok(true));
    assert_eq!(room(&store, 0), (2, 4));
    assert_eq!(commit(&less, &[delete("a"), put("c", "1234")]), Ok(true));
    assert_eq!(commit(&limits, &[put("d", "123")]), Ok(true));
    assert_eq!(room(&store, 0), (2, 9));
}

#[test]
fn what_has_expired_is_not_there_and_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let limits = KvLimits { bytes: 10, keys: 2, value_bytes: 9 };
    let commit = |checks: &[KvCheck], writes: &[KvWrite], now: i64| {
        store.kv(&notes()).commit(checks, writes, &limits, at(now)).map_err(|error| error.code().as_str())
    };
    let seen = |now: i64| {
        let keys = store.kv(&notes()).keys("", None, 9, at(now)).unwrap().0;
        assert!(keys.iter().all(|key| store.kv(&notes()).get(key, at(now)).unwrap().is_some()));
        keys.join(" ")
    };
    assert_eq!(commit(&[], &[put_until("a", "1234", 10), put_until("b", "1234", 20)], 0), Ok(true));
    assert_eq!((seen(9), seen(10), seen(20)), ("a b".to_owned(), "b".to_owned(), String::new()));
    assert_eq!(store.kv(&notes()).get("a", at(10)).unwrap(), None);
    assert_eq!((room(&store, 9), room(&store, 10), room(&store, 20)), ((2, 10), (1, 5), (0, 0)));
    assert_eq!(commit(&[], &[put("c", "1234")], 9), Err("kv-quota"));
    assert_eq!(commit(&[is("a", None)], &[put("c", "1234")], 10), Ok(true));
    // Deleted entries stay deleted, even if the clock is set back.
    assert_eq!(seen(0), "b c");
    assert_eq!(commit(&[], &[put_until("b", "1", 10), put_until("d", "1", 9)], 10), Ok(true));
    assert_eq!((seen(10), room(&store, 10)), ("c".to_owned(), (1, 5)));
    // A value that is set again without an expiry stays.
    assert_eq!(commit(&[], &[put_until("e", "1", 30)], 20), Ok(true));
    assert_eq!(commit(&[], &[put("e", "1")], 20), Ok(true));
    assert_eq!(seen(99), "c e");
}

#[test]
fn what_has_expired_is_collected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let other = SpaceName::parse("other").unwrap();
    commit(&store, &[put_until("a", "1", 10), put_until("b", "1", 20), put("c", "1")]).unwrap();
    store.kv(&other).commit(&[], &[put_until("a", "1", 10)], &LIMITS, at(0)).unwrap();
    let collect = |now, mode| store.maintenance().collect(at(0), at(now), mode).unwrap().expired;
    assert_eq!((collect(9, GcMode::Execute), collect(10, GcMode::DryRun), collect(10, GcMode::DryRun)), (0, 2, 2));
    assert_eq!((collect(10, GcMode::Execute), collect(10, GcMode::Execute), collect(99, GcMode::Execute)), (2, 0, 1));
    assert_eq!(keys(&store, "", None, 9), (vec!["c".to_owned()], false));
    assert_eq!(store.kv_spaces(at(0)).unwrap(), [KvSpace { space: notes(), keys: 1, bytes: 2 }]);
}

#[test]
fn a_space_is_cleared_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let other = SpaceName::parse("Notes").unwrap();
    commit(&store, &[put_until("a", "1", 10), put("b", "1")]).unwrap();
    store.kv(&other).commit(&[], &[put("a", "other")], &LIMITS, at(0)).unwrap();
    let spaces: Vec<String> = store.kv_spaces(at(0)).unwrap().iter().map(|space| space.space.to_string()).collect();
    assert_eq!(spaces, ["Notes", "notes"]);
    assert_eq!((store.kv(&notes()).clear().unwrap(), store.kv(&notes()).clear().unwrap()), (2, 0));
    assert_eq!(store.kv_spaces(at(0)).unwrap(), [KvSpace { space: other.clone(), keys: 1, bytes: 6 }]);
    assert_eq!(store.kv(&other).get("a", at(0)).unwrap().unwrap().value, "other");
}
