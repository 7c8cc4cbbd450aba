//! Stores as clerks find them when they come.
//!
//! Invariant: a start is made once, and every run has a copy of it.

use std::path::Path;

use clerk::{Answer, Clerk, Keeping, Order, State};
use tempfile::TempDir;
use toolcell_store::{Health, Mending, fsck};

use super::{model, scratch, scripts};

/// What a store holds in all before it syncs the files of its objects at once.
const UNSYNCED: usize = 512;
/// What SQLite holds in its log before it writes the index, in pages, and what a page takes there.
const LOGGED: u64 = 1_000;
const PAGE: u64 = 4_096 + 24;

/// A store with something in it.
pub(crate) struct Start {
    folder: TempDir,
    pub(crate) state: State,
}

impl Start {
    /// No store at all.
    pub(crate) fn nothing() -> Self {
        Self { folder: scratch(), state: State::default() }
    }

    /// A store in which these orders were carried out, by a clerk who has gone.
    pub(crate) fn with(keeping: Keeping, orders: &[Order]) -> Self {
        let folder = scratch();
        perform(&mut Clerk::new(folder.path(), keeping), orders);
        Self { folder, state: model::after_all(&State::default(), orders) }
    }

    /// A store in which these orders were carried out, by a clerk who was killed after that.
    pub(crate) fn left(orders: &[Order]) -> Self {
        let store = scratch();
        let mut clerk = Clerk::new(store.path(), Keeping::Unsynced);
        perform(&mut clerk, orders);
        // While the clerk is still at it.
        let folder = scratch();
        copy(store.path(), folder.path());
        Self { folder, state: model::after_all(&State::default(), orders) }
    }

    /// A store whose next tool makes it sync the files of all of them.
    pub(crate) fn about_to_sync() -> Self {
        Self::with_tools(|store| objects(store) + 2 >= UNSYNCED)
    }

    /// A store that somebody left as it was, with a log that is about to be written into the index.
    pub(crate) fn about_to_checkpoint() -> Self {
        Self::with_tools(|store| {
            let log = store.join("index.sqlite-wal").metadata().unwrap().len();
            log >= (LOGGED - 30) * PAGE
        })
    }

    /// A store that somebody left as it was once there were enough tools in it.
    fn with_tools(enough: impl Fn(&Path) -> bool) -> Self {
        let store = scratch();
        let mut clerk = Clerk::new(store.path(), Keeping::Synced);
        let orders = scripts::puts((0..UNSYNCED).map(|number| format!("old-{number}")));
        let done = orders.iter().position(|order| {
            perform(&mut clerk, std::slice::from_ref(order));
            enough(store.path())
        });
        let state = model::after_all(&State::default(), &orders[..=done.unwrap()]);
        // While the clerk is still at it.
        let folder = scratch();
        copy(store.path(), folder.path());
        Self { folder, state }
    }

    /// The names that the store or the orders have.
    pub(crate) fn names(&self, orders: &[Order]) -> Vec<String> {
        let mut names = scripts::names(orders);
        names.extend(self.state.tools.values().map(|tool| tool.name.clone()));
        names.sort();
        names.dedup();
        names
    }

    /// Where it is. It must not be changed there.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The same store at another place.
    pub(crate) fn again(&self) -> TempDir {
        let folder = scratch();
        copy(self.folder.path(), folder.path());
        folder
    }
}

fn perform(clerk: &mut Clerk, orders: &[Order]) {
    for order in orders {
        assert_eq!(clerk.perform(order), Answer::Done);
    }
}

fn objects(store: &Path) -> usize {
    let folders = std::fs::read_dir(store.join("objects")).unwrap();
    folders.map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap().count()).sum()
}

/// Takes the index of a store away, so that a repair makes it anew from the objects.
pub(crate) fn lose_index(store: &Path) {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let path = store.join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
}

/// Repairs a store. A process that another test starts has the locks of this one for a moment, until its program begins.
pub(crate) fn repaired(store: &Path) -> Health {
    for _ in 0..1_000 {
        match fsck(store, Mending::Repair) {
            Err(error) if error.code() == "store-busy" => std::thread::sleep(std::time::Duration::from_millis(10)),
            repaired => return repaired.unwrap(),
        }
    }
    panic!("{} is in use for 10 s", store.display());
}

/// Copies a store. Objects do not change, so they are the same files.
pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            std::fs::create_dir(&copy).unwrap();
            self::copy(&path, &copy);
        } else if path.components().any(|part| part.as_os_str() == "objects") {
            std::fs::hard_link(path, copy).unwrap();
        } else {
            std::fs::copy(path, copy).unwrap();
        }
    }
}
