//! Planted files in the store directory: nothing outside of it is read or written, and no command
//! waits forever.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, SyncMode};

use super::process::{run_orders, worker_command};
use super::start::StoreSnapshot;
use super::{scratch, scripts};

/// What replaces a file or folder of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlantedFile {
    /// A symlink to the original, which was moved out of the directory.
    Link,
    /// A dangling symlink.
    Dangling,
    /// A symlink to the parent folder.
    Above,
    /// A named pipe without another end.
    Pipe,
    /// An empty folder.
    Folder,
}

const PLANTED_FILES: [PlantedFile; 5] =
    [PlantedFile::Link, PlantedFile::Dangling, PlantedFile::Above, PlantedFile::Pipe, PlantedFile::Folder];

impl PlantedFile {
    fn replace(self, path: &Path, elsewhere: &Path) {
        let moved = elsewhere.join(path.file_name().unwrap());
        if path.exists() {
            std::fs::rename(path, &moved).unwrap();
        }
        match self {
            Self::Link => symlink(moved, path).unwrap(),
            Self::Dangling => symlink(elsewhere.join("nothing"), path).unwrap(),
            Self::Above => symlink("..", path).unwrap(),
            Self::Pipe => mkfifo(path, Mode::S_IRWXU).unwrap(),
            Self::Folder => std::fs::create_dir(path).unwrap(),
        }
    }
}

/// Returns the files below a folder, with their content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contents.extend(self::contents(&path));
            contents.insert(path, Vec::new());
        } else {
            contents.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
    contents
}

/// Replaces something in a store with each plant, and passes to `judge` a worker's replies to
/// reading, inserting a tool and recording a run.
fn planted(place: impl Fn(&Path) -> PathBuf, judge: impl Fn(PlantedFile, &[StoreReply], &str)) {
    let start = StoreSnapshot::after_crash(&scripts::puts(["sum".to_owned()]));
    for plant in PLANTED_FILES {
        let (store, elsewhere) = (start.copy_to_temp(), scratch());
        let place = place(store.path());
        plant.replace(&place, elsewhere.path());
        let before = contents(elsewhere.path());
        let orders = scripts::orders([
            StoreAction::Look(vec!["sum".to_owned()]),
            StoreAction::Put(SampleTool::new("late", 1)),
            StoreAction::Use("sum".to_owned(), None),
        ]);
        let answers = run_orders(worker_command(store.path(), SyncMode::Unsynced), &orders);
        let context = format!("{plant:?} at {}", place.strip_prefix(store.path()).unwrap().display());
        assert_eq!(contents(elsewhere.path()), before, "{context}");
        assert_eq!(std::fs::read_dir(store.path().parent().unwrap()).unwrap().filter(is_ours).count(), 0, "{context}");
        for answer in &answers {
            let known = ["disk-failed", "integrity", "store-invalid", "store-read-only"];
            assert!(answer.code().is_none_or(|code| known.contains(&code)), "{context}: {answer:?}");
            if let StoreReply::Seen { state, .. } = answer {
                assert_eq!(*state, start.state, "{context}");
            }
        }
        judge(plant, &answers, &context);
    }
}

/// Whether an entry of the folder above a store looks like a part of one.
fn is_ours(entry: &std::io::Result<std::fs::DirEntry>) -> bool {
    let name = entry.as_ref().unwrap().file_name();
    ["toolcell-store", "index.sqlite", "objects", "lock", "writer"].iter().any(|known| name == *known)
}

#[test]
fn a_folder_of_the_store_that_is_none_is_refused() {
    for name in ["objects", "tmp", "logs"] {
        planted(
            |store| store.join(name),
            |plant, answers, context| {
                let refused = answers.iter().filter(|answer| answer.code().is_some()).count();
                // An empty folder is valid; the objects that were in it are missing.
                let expect = if plant == PlantedFile::Folder { usize::from(name == "objects") } else { 3 };
                assert_eq!(refused, expect, "{context}: {answers:?}");
            },
        );
    }
}

#[test]
fn a_folder_that_is_used_later_is_not_looked_into_before() {
    for name in ["quarantine", "keys"] {
        planted(
            |store| store.join(name),
            |_, answers, context| {
                assert!(answers.len() == 3 && answers[0].code().is_none(), "{context}: {answers:?}");
            },
        );
    }
}

#[test]
fn an_object_that_is_something_else_is_not_read() {
    let folder = |store: &Path| std::fs::read_dir(store.join("objects")).unwrap().next().unwrap().unwrap().path();
    let object = |store: &Path| std::fs::read_dir(folder(store)).unwrap().next().unwrap().unwrap().path();
    planted(folder, |_, answers, context| {
        assert!(answers[0].code().is_some(), "{context}: {answers:?}");
    });
    planted(object, |_, answers, context| {
        assert_eq!(answers[0].code(), Some("integrity"), "{context}: {answers:?}");
        assert_eq!(answers[1..], [StoreReply::Done, StoreReply::Done], "{context}");
    });
}

#[test]
fn a_file_of_the_store_that_is_something_else_is_refused() {
    for name in ["toolcell-store", "index.sqlite", "index.sqlite-wal", "lock", "writer"] {
        planted(
            |store| store.join(name),
            |_, answers, context| {
                assert!(answers.iter().all(|answer| answer.code().is_some()), "{context}: {answers:?}");
            },
        );
    }
}

/// The file is recreated if possible.
#[test]
fn memory_that_processes_share_is_no_file_elsewhere() {
    planted(
        |store| store.join("index.sqlite-shm"),
        |_, answers, context| {
            assert_eq!(answers.len(), 3, "{context}");
        },
    );
}

#[test]
fn what_does_not_belong_there_is_left_alone() {
    let start = StoreSnapshot::after_crash(&scripts::puts(["sum".to_owned()]));
    let store = start.copy_to_temp();
    let elsewhere = scratch();
    for place in ["objects/zz", "objects/note.txt", "tmp/1.0", "extra"] {
        symlink(elsewhere.path(), store.path().join(place)).unwrap();
    }
    let late = StoreOrder { at: 10_000, verb: StoreAction::Put(SampleTool::new("late", 1)) };
    let look = StoreOrder { at: 20_000, verb: StoreAction::Look(start.names(std::slice::from_ref(&late))) };
    let answers = run_orders(worker_command(store.path(), SyncMode::Unsynced), &[late.clone(), look]);
    let state = super::model::apply(&start.state, &late).unwrap();
    assert_eq!(answers, [StoreReply::Done, StoreReply::Seen { writable: true, state }]);
    assert_eq!(contents(elsewhere.path()), BTreeMap::new());
}
