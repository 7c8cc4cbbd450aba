#![expect(clippy::disallowed_methods, reason = "the tests look at files, and damage them")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;
use crate::Store;
use crate::{RepairMode, Settings, fsck};

fn open(path: &Path) -> Store {
    Store::open(path, &Settings::default()).unwrap()
}

#[test]
fn all_that_ask_at_once_get_the_same_secret() {
    let folder = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..8).map(|_| open(folder.path())).collect();
    let secrets: Vec<[u8; 32]> = std::thread::scope(|scope| {
        let threads: Vec<_> = stores.iter().map(|store| scope.spawn(|| store.derive_key("a").unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    assert_eq!(open(folder.path()).derive_key("a").unwrap(), secrets[0]);
    let elsewhere = tempfile::tempdir().unwrap();
    assert_ne!(open(elsewhere.path()).derive_key("a").unwrap(), secrets[0]);
}

#[test]
fn nobody_else_reads_the_secret_and_nothing_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let derived = store.derive_key("a").unwrap();
    let path = folder.path().join(FILE);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read(&path).unwrap();
    assert_ne!(secret, derived);
    assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}

#[test]
fn a_secret_that_is_none_is_not_made_again_until_it_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let before = open(folder.path()).derive_key("a").unwrap();
    std::fs::write(folder.path().join(FILE), b"short").unwrap();
    assert_eq!(open(folder.path()).derive_key("a").unwrap_err().code(), "disk-failed");
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    let problem = &health.problems[0];
    assert_eq!(format!("{}: {}", problem.what, problem.wrong), "secret: it is not 32 bytes");
    assert!(fsck(folder.path(), RepairMode::Repair).unwrap().is_healthy());
    assert_ne!(open(folder.path()).derive_key("a").unwrap(), before);
}

#[test]
fn a_repair_of_a_damaged_index_takes_the_secret_away() {
    let folder = tempfile::tempdir().unwrap();
    let before = open(folder.path()).derive_key("a").unwrap();
    let index = folder.path().join("index.sqlite");
    let bytes = std::fs::read(&index).unwrap();
    std::fs::write(&index, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fsck(folder.path(), RepairMode::Repair).unwrap().is_healthy());
    assert_ne!(open(folder.path()).derive_key("a").unwrap(), before);
}

#[test]
fn a_link_in_the_place_of_the_secret_is_not_followed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    std::fs::write(elsewhere.path(), [7; 32]).unwrap();
    let store = open(folder.path());
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(FILE)).unwrap();
    assert_eq!(store.derive_key("a").unwrap_err().code(), "disk-failed");
    drop(store);
    assert_eq!(fsck(folder.path(), RepairMode::Check).unwrap().problems[0].wrong, "it is not a regular file");
}

#[test]
fn where_nothing_can_be_written_only_a_secret_that_is_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let read_only = |path: &Path| {
        let set = |mode| {
            for entry in [path.join("tmp"), path.to_owned()] {
                std::fs::set_permissions(entry, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        set(0o500);
        let store = Store::open_existing(path, &Settings::default()).unwrap();
        let said = (store.access() == crate::StoreAccess::ReadOnly).then(|| store.derive_key("a"));
        set(0o700);
        said
    };
    // Permissions do not bind the superuser.
    if let Some(said) = read_only(folder.path()) {
        assert_eq!(said.unwrap_err().code(), "store-read-only");
        let secret = open(folder.path()).derive_key("a").unwrap();
        assert_eq!(read_only(folder.path()).unwrap().unwrap(), secret);
    }
}
