//! Snapshots of stores, for workers to start from.
//!
//! Invariant: a snapshot is created once, and every run gets a copy.

use std::path::Path;

use store_worker::{StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};
use tempfile::TempDir;
use toolcell_store::{FsckReport, RepairMode, fsck};

use super::{model, scratch, scripts};

/// Number of unsynced objects at which the store syncs all of their files.
const SYNC_BATCH: usize = 512;
/// Number of pages in the write-ahead log at which SQLite runs a checkpoint, and the size of a page
/// there, in bytes.
const CHECKPOINT_PAGES: u64 = 1_000;
const WAL_PAGE_BYTES: u64 = 4_096 + 24;

/// A store in a known state.
pub(crate) struct StoreSnapshot {
    folder: TempDir,
    pub(crate) state: StoreState,
}

impl StoreSnapshot {
    /// No store at all.
    pub(crate) fn empty() -> Self {
        Self { folder: scratch(), state: StoreState::default() }
    }

    /// A store after these orders, closed by its worker.
    pub(crate) fn after_orders(keeping: SyncMode, orders: &[StoreOrder]) -> Self {
        let folder = scratch();
        perform(&mut StoreWorker::new(folder.path(), keeping), orders);
        Self { folder, state: model::apply_all(&StoreState::default(), orders) }
    }

    /// A store after these orders, with its worker killed afterwards.
    pub(crate) fn after_crash(orders: &[StoreOrder]) -> Self {
        let store = scratch();
        let mut worker = StoreWorker::new(store.path(), SyncMode::Unsynced);
        perform(&mut worker, orders);
        // While the worker still has it open.
        let folder = scratch();
        copy(store.path(), folder.path());
        Self { folder, state: model::apply_all(&StoreState::default(), orders) }
    }

    /// A store whose next insertion syncs the files of all objects.
    pub(crate) fn about_to_sync() -> Self {
        Self::crashed_when(|store| objects(store) + 2 >= SYNC_BATCH)
    }

    /// A crashed store whose write-ahead log is about to be checkpointed.
    pub(crate) fn about_to_checkpoint() -> Self {
        Self::crashed_when(|store| {
            let log = store.join("index.sqlite-wal").metadata().unwrap().len();
            log >= (CHECKPOINT_PAGES - 30) * WAL_PAGE_BYTES
        })
    }

    /// A store whose worker crashed once it had enough tools.
    fn crashed_when(enough: impl Fn(&Path) -> bool) -> Self {
        let store = scratch();
        let mut worker = StoreWorker::new(store.path(), SyncMode::Synced);
        let orders = scripts::puts((0..SYNC_BATCH).map(|number| format!("old-{number}")));
        let done = orders.iter().position(|order| {
            perform(&mut worker, std::slice::from_ref(order));
            enough(store.path())
        });
        let state = model::apply_all(&StoreState::default(), &orders[..=done.unwrap()]);
        // While the worker still has it open.
        let folder = scratch();
        copy(store.path(), folder.path());
        Self { folder, state }
    }

    /// Returns the names in the store and in the orders.
    pub(crate) fn names(&self, orders: &[StoreOrder]) -> Vec<String> {
        let mut names = scripts::names(orders);
        names.extend(self.state.tools.values().map(|tool| tool.name.clone()));
        names.sort();
        names.dedup();
        names
    }

    /// Returns the path, which must not be changed.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies the store to a temporary folder.
    pub(crate) fn copy_to_temp(&self) -> TempDir {
        let folder = scratch();
        copy(self.folder.path(), folder.path());
        folder
    }
}

fn perform(worker: &mut StoreWorker, orders: &[StoreOrder]) {
    for order in orders {
        assert_eq!(worker.perform(order), StoreReply::Done);
    }
}

fn objects(store: &Path) -> usize {
    let folders = std::fs::read_dir(store.join("objects")).unwrap();
    folders.map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap().count()).sum()
}

/// Removes the index, so that a repair rebuilds it from the objects.
pub(crate) fn lose_index(store: &Path) {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let path = store.join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
}

/// Repairs a store. Retries while it is busy: a process that a concurrent test spawns holds this
/// process's locks until it executes its program.
pub(crate) fn repair(store: &Path) -> FsckReport {
    for _ in 0..1_000 {
        match fsck(store, RepairMode::Repair) {
            Err(error) if error.code() == "store-busy" => std::thread::sleep(std::time::Duration::from_millis(10)),
            repaired => return repaired.unwrap(),
        }
    }
    panic!("{} is in use for 10 s", store.display());
}

/// Copies a store. Objects are immutable, so they are hard-linked.
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
