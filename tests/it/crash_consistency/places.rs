//! Unusual directories: of another owner, of a newer version, and read-only.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use nix::unistd::geteuid;
use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, SyncMode};
use toolcell_store::{Settings, Store};

use super::process::{run_orders, worker_command};
use super::start::{StoreSnapshot, copy};
use super::{scratch, scripts};

/// A user who owns no files. Root bypasses permissions, so workers started by root run as this
/// user.
const NOBODY_UID: u32 = 65_534;

/// A few tools, and a run of one of them.
fn script() -> Vec<StoreOrder> {
    let verbs = ["sum", "mean", "max"].map(|name| StoreAction::Put(SampleTool::new(name, 1)));
    scripts::orders(verbs.into_iter().chain([StoreAction::Use("sum".to_owned(), None)]))
}

/// Gives everything below a folder to the workers' user, and removes the write permission.
fn lock(path: &Path) {
    let metadata = path.symlink_metadata().unwrap();
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            lock(&entry.unwrap().path());
        }
    }
    if geteuid().is_root() {
        chown(path, Some(NOBODY_UID), Some(NOBODY_UID)).unwrap();
    }
    let mode = if metadata.is_dir() { 0o555 } else { 0o444 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Restores the write permission, so that the folder can be removed.
fn unlock(path: &Path) {
    if path.is_dir() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        for entry in std::fs::read_dir(path).unwrap() {
            unlock(&entry.unwrap().path());
        }
    }
}

/// Returns the replies of a worker on a read-only copy of a store: to reading everything, inserting
/// a tool, and recording a run.
fn in_a_locked_copy(store: &Path) -> [StoreReply; 3] {
    // The folder above must be accessible.
    let around = scratch();
    std::fs::set_permissions(around.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = around.path().join("store");
    std::fs::create_dir(&folder).unwrap();
    copy(store, &folder);
    lock(&folder);
    let mut nobody = worker_command(&folder, SyncMode::Synced);
    if geteuid().is_root() {
        nobody.arg(NOBODY_UID.to_string());
    }
    let orders = scripts::orders([
        StoreAction::Look(scripts::names(&script())),
        StoreAction::Put(SampleTool::new("late", 1)),
        StoreAction::Use("sum".to_owned(), None),
    ]);
    let answers = run_orders(nobody, &orders);
    unlock(&folder);
    answers.try_into().unwrap()
}

/// Asserts that a read-only store is read, and reports that it is not writable.
fn assert_read_only(start: &StoreSnapshot, store: &Path) {
    let [seen, put, used] = in_a_locked_copy(store);
    match seen {
        StoreReply::Seen { writable, state } => {
            assert!(!writable);
            assert_eq!(state, start.state, "{}", state.differences(&start.state));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((put.code(), used.code()), (Some("store-read-only"), Some("store-read-only")));
}

#[test]
fn a_directory_that_must_not_be_written_is_read_and_says_so() {
    let start = StoreSnapshot::after_orders(SyncMode::Synced, &script());
    assert_read_only(&start, start.path());
    // For example a copy without the files that SQLite keeps beside the index.
    let copied = start.copy_to_temp();
    for name in ["index.sqlite-wal", "index.sqlite-shm"] {
        let path = copied.path().join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
    assert_read_only(&start, copied.path());
}

#[test]
fn a_directory_that_must_not_be_written_is_read_with_the_log_that_a_killed_process_left() {
    let start = StoreSnapshot::after_crash(&script());
    assert!(start.path().join("index.sqlite-wal").metadata().unwrap().len() > 0);
    assert_read_only(&start, start.path());
}

/// The case of a copy without SQLite's shared-memory file.
#[test]
fn a_log_that_cannot_be_read_is_not_passed_over() {
    let start = StoreSnapshot::after_crash(&script());
    let copied = start.copy_to_temp();
    std::fs::remove_file(copied.path().join("index.sqlite-shm")).unwrap();
    match in_a_locked_copy(copied.path()) {
        [StoreReply::Seen { state, .. }, ..] => assert_eq!(state, start.state, "{}", state.differences(&start.state)),
        [seen, ..] => assert_eq!(seen.code(), Some("disk-failed"), "{seen:?}"),
    }
}

#[test]
fn a_directory_of_another_owner_is_refused_and_left_alone() {
    let folder = scratch();
    let path = if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY_UID), Some(NOBODY_UID)).unwrap();
        folder.path()
    } else {
        Path::new("/")
    };
    let before = std::fs::read_dir(path).unwrap().count();
    let error = Store::open(path, &Settings::default()).err().unwrap();
    assert_eq!(error.code(), "store-owner");
    let owner = path.metadata().unwrap().uid();
    assert!(error.to_string().contains(&format!("belongs to user {owner}")), "{error}");
    assert_eq!(std::fs::read_dir(path).unwrap().count(), before);
}

/// Sets the version of the index, which SQLite keeps in the file header.
fn renumber(store: &Path, version: u32) {
    let path = store.join("index.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&version.to_be_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_store_of_a_newer_version_is_refused_by_name() {
    let start = StoreSnapshot::after_orders(SyncMode::Synced, &script());
    let refused = |store: &Path| {
        let error = Store::open(store, &Settings::default()).err().unwrap();
        assert_eq!(error.code(), "store-newer", "{error}");
        let message = error.to_string();
        assert!(message.contains("format 11") && message.contains("format 10"), "{message}");
    };
    let store = start.copy_to_temp();
    std::fs::write(store.path().join("toolcell-store"), "toolcell store, format 11\n").unwrap();
    refused(store.path());
    let store = start.copy_to_temp();
    renumber(store.path(), 11);
    refused(store.path());
}

#[test]
fn a_store_of_a_newer_version_is_not_even_read() {
    let start = StoreSnapshot::after_orders(SyncMode::Synced, &script());
    let store = start.copy_to_temp();
    renumber(store.path(), 11);
    let [seen, ..] = in_a_locked_copy(store.path());
    assert_eq!(seen.code(), Some("store-newer"), "{seen:?}");
}

#[test]
fn a_store_of_an_older_version_is_not_read_where_it_cannot_be_upgraded() {
    let start = StoreSnapshot::after_orders(SyncMode::Synced, &script());
    let store = start.copy_to_temp();
    renumber(store.path(), 1);
    let [seen, ..] = in_a_locked_copy(store.path());
    assert_eq!(seen.code(), Some("store-older"), "{seen:?}");
}

#[test]
fn what_is_no_store_is_not_opened_as_one() {
    let start = StoreSnapshot::after_orders(SyncMode::Synced, &script());
    for words in ["", "toolcell store", "toolcell store, format one\n", "\0\0\0\0"] {
        let store = start.copy_to_temp();
        std::fs::write(store.path().join("toolcell-store"), words).unwrap();
        let error = Store::open(store.path(), &Settings::default()).err().unwrap();
        assert_eq!(error.code(), "store-invalid", "{words:?}: {error}");
    }
    let folder = scratch();
    let error = Store::open_existing(folder.path(), &Settings::default()).err().unwrap();
    assert_eq!(error.code(), "store-invalid", "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
