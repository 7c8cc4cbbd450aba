//! Directories that are not as they should be: of another owner, of a newer version, and such as must not be written.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use clerk::{Answer, Keeping, Order, Sample, Verb};
use nix::unistd::geteuid;
use toolcell_store::{Settings, Store};

use super::process::{clerk, tell};
use super::start::{Start, copy};
use super::{scratch, scripts};

/// A user who owns nothing. No permission binds root, so clerks of root are this one.
const NOBODY: u32 = 65_534;

/// A few tools, and a run of one of them.
fn script() -> Vec<Order> {
    let verbs = ["sum", "mean", "max"].map(|name| Verb::Put(Sample::new(name, 1)));
    scripts::orders(verbs.into_iter().chain([Verb::Use("sum".to_owned(), None)]))
}

/// Gives everything below a folder to whom clerks are, and takes the permission to write away.
fn lock(path: &Path) {
    let metadata = path.symlink_metadata().unwrap();
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            lock(&entry.unwrap().path());
        }
    }
    if geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mode = if metadata.is_dir() { 0o555 } else { 0o444 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives the permission to write back, or the folder could not be removed.
fn unlock(path: &Path) {
    if path.is_dir() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        for entry in std::fs::read_dir(path).unwrap() {
            unlock(&entry.unwrap().path());
        }
    }
}

/// What a clerk says who must not write in a copy of this store, first of everything, then of a tool, then of a run.
fn in_a_locked_copy(store: &Path) -> [Answer; 3] {
    // The folder around it is the way to it.
    let around = scratch();
    std::fs::set_permissions(around.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = around.path().join("store");
    std::fs::create_dir(&folder).unwrap();
    copy(store, &folder);
    lock(&folder);
    let mut nobody = clerk(&folder, Keeping::Synced);
    if geteuid().is_root() {
        nobody.arg(NOBODY.to_string());
    }
    let orders = scripts::orders([
        Verb::Look(scripts::names(&script())),
        Verb::Put(Sample::new("late", 1)),
        Verb::Use("sum".to_owned(), None),
    ]);
    let answers = tell(nobody, &orders);
    unlock(&folder);
    answers.try_into().unwrap()
}

/// A store that must not be written is read, and says that nothing is kept.
fn is_read_and_not_written(start: &Start, store: &Path) {
    let [seen, put, used] = in_a_locked_copy(store);
    match seen {
        Answer::Seen { writable, state } => {
            assert!(!writable);
            assert_eq!(state, start.state, "{}", state.differences(&start.state));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((put.code(), used.code()), (Some("store-read-only"), Some("store-read-only")));
}

#[test]
fn a_directory_that_must_not_be_written_is_read_and_says_so() {
    let start = Start::with(Keeping::Synced, &script());
    is_read_and_not_written(&start, start.path());
    // Such as a copy that left out what SQLite keeps beside the index.
    let copied = start.again();
    for name in ["index.sqlite-wal", "index.sqlite-shm"] {
        let path = copied.path().join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
    is_read_and_not_written(&start, copied.path());
}

#[test]
fn a_directory_that_must_not_be_written_is_read_with_the_log_that_a_killed_process_left() {
    let start = Start::left(&script());
    assert!(start.path().join("index.sqlite-wal").metadata().unwrap().len() > 0);
    is_read_and_not_written(&start, start.path());
}

/// It is so in a copy that left out what SQLite shares between processes.
#[test]
fn a_log_that_cannot_be_read_is_not_passed_over() {
    let start = Start::left(&script());
    let copied = start.again();
    std::fs::remove_file(copied.path().join("index.sqlite-shm")).unwrap();
    match in_a_locked_copy(copied.path()) {
        [Answer::Seen { state, .. }, ..] => assert_eq!(state, start.state, "{}", state.differences(&start.state)),
        [seen, ..] => assert_eq!(seen.code(), Some("disk-failed"), "{seen:?}"),
    }
}

#[test]
fn a_directory_of_another_owner_is_refused_and_left_alone() {
    let folder = scratch();
    let path = if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
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

/// Makes the index one of another version: SQLite keeps its number in the header.
fn renumber(store: &Path, version: u32) {
    let path = store.join("index.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&version.to_be_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_store_of_a_newer_version_is_refused_by_name() {
    let start = Start::with(Keeping::Synced, &script());
    let refused = |store: &Path| {
        let error = Store::open(store, &Settings::default()).err().unwrap();
        assert_eq!(error.code(), "store-newer", "{error}");
        let message = error.to_string();
        assert!(message.contains("format 6") && message.contains("format 5"), "{message}");
    };
    let store = start.again();
    std::fs::write(store.path().join("toolcell-store"), "toolcell store, format 6\n").unwrap();
    refused(store.path());
    let store = start.again();
    renumber(store.path(), 6);
    refused(store.path());
}

#[test]
fn a_store_of_a_newer_version_is_not_even_read() {
    let start = Start::with(Keeping::Synced, &script());
    let store = start.again();
    renumber(store.path(), 6);
    let [seen, ..] = in_a_locked_copy(store.path());
    assert_eq!(seen.code(), Some("store-newer"), "{seen:?}");
}

#[test]
fn a_store_of_an_older_version_is_not_read_where_it_cannot_be_upgraded() {
    let start = Start::with(Keeping::Synced, &script());
    let store = start.again();
    renumber(store.path(), 1);
    let [seen, ..] = in_a_locked_copy(store.path());
    assert_eq!(seen.code(), Some("store-older"), "{seen:?}");
}

#[test]
fn what_is_no_store_is_not_opened_as_one() {
    let start = Start::with(Keeping::Synced, &script());
    for words in ["", "toolcell store", "toolcell store, format one\n", "\0\0\0\0"] {
        let store = start.again();
        std::fs::write(store.path().join("toolcell-store"), words).unwrap();
        let error = Store::open(store.path(), &Settings::default()).err().unwrap();
        assert_eq!(error.code(), "store-invalid", "{words:?}: {error}");
    }
    let folder = scratch();
    let error = Store::open_existing(folder.path(), &Settings::default()).err().unwrap();
    assert_eq!(error.code(), "store-invalid", "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
