//! What somebody has planted in the directory: nothing outside of it is read or written, and nobody waits for ever.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clerk::{Answer, Keeping, Order, Sample, Verb};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::process::{clerk, tell};
use super::start::Start;
use super::{scratch, scripts};

/// What takes the place of something in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plant {
    /// A link to the very same thing, which was moved out of the directory.
    Link,
    /// A link to what is not there.
    Dangling,
    /// A link to the folder above.
    Above,
    /// A pipe that nobody is at the other end of.
    Pipe,
    /// A folder.
    Folder,
}

const PLANTS: [Plant; 5] = [Plant::Link, Plant::Dangling, Plant::Above, Plant::Pipe, Plant::Folder];

impl Plant {
    fn take_the_place_of(self, path: &Path, elsewhere: &Path) {
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

/// All files below a folder, and what is in them.
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

/// Puts each plant in the place of something in a store with a tool, and says what a clerk answers who looks, puts another
/// tool and records a run.
fn planted(place: impl Fn(&Path) -> PathBuf, judge: impl Fn(Plant, &[Answer], &str)) {
    let start = Start::left(&scripts::puts(["sum".to_owned()]));
    for plant in PLANTS {
        let (store, elsewhere) = (start.again(), scratch());
        let place = place(store.path());
        plant.take_the_place_of(&place, elsewhere.path());
        let before = contents(elsewhere.path());
        let orders = scripts::orders([
            Verb::Look(vec!["sum".to_owned()]),
            Verb::Put(Sample::new("late", 1)),
            Verb::Use("sum".to_owned(), None),
        ]);
        let answers = tell(clerk(store.path(), Keeping::Unsynced), &orders);
        let context = format!("{plant:?} at {}", place.strip_prefix(store.path()).unwrap().display());
        assert_eq!(contents(elsewhere.path()), before, "{context}");
        assert_eq!(std::fs::read_dir(store.path().parent().unwrap()).unwrap().filter(is_ours).count(), 0, "{context}");
        for answer in &answers {
            let known = ["disk-failed", "integrity", "store-invalid", "store-read-only"];
            assert!(answer.code().is_none_or(|code| known.contains(&code)), "{context}: {answer:?}");
            if let Answer::Seen { state, .. } = answer {
                assert_eq!(*state, start.state, "{context}");
            }
        }
        judge(plant, &answers, &context);
    }
}

/// Whether something in the folder above a store looks like a part of one.
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
                // An empty folder is one; the objects that were in it are missing.
                let expect = if plant == Plant::Folder { usize::from(name == "objects") } else { 3 };
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
        assert_eq!(answers[1..], [Answer::Done, Answer::Done], "{context}");
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

/// It is made anew where it can be.
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
    let start = Start::left(&scripts::puts(["sum".to_owned()]));
    let store = start.again();
    let elsewhere = scratch();
    for place in ["objects/zz", "objects/note.txt", "tmp/1.0", "extra"] {
        symlink(elsewhere.path(), store.path().join(place)).unwrap();
    }
    let late = Order { at: 10_000, verb: Verb::Put(Sample::new("late", 1)) };
    let look = Order { at: 20_000, verb: Verb::Look(start.names(std::slice::from_ref(&late))) };
    let answers = tell(clerk(store.path(), Keeping::Unsynced), &[late.clone(), look]);
    let state = super::model::after(&start.state, &late).unwrap();
    assert_eq!(answers, [Answer::Done, Answer::Seen { writable: true, state }]);
    assert_eq!(contents(elsewhere.path()), BTreeMap::new());
}
