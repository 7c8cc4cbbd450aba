//! The database of a store: directory, objects, index and audit log, and the transactions that
//! change them together.
//!
//! Reading order: [`connection`] opens the database file, [`migrations`] its schema, [`transaction`]
//! and [`index`] read and write it, [`group_commit`] shares transactions between threads, then
//! [`outbox`] and [`commit`] for changes with an audit line and [`object_buffer`] for objects whose files are not
//! durable yet, and [`replica`] for stores that are copies of a shared library.
//!
//! Invariant: the database knows no handle. What it stores, the modules above it decide.

pub(crate) mod commit;
pub(crate) mod connection;
pub(crate) mod generation;
pub(crate) mod group_commit;
pub(crate) mod index;
pub(crate) mod migrations;
pub(crate) mod object_buffer;
pub(crate) mod outbox;
pub(crate) mod read_error;
pub(crate) mod replica;
pub(crate) mod reserve;
pub(crate) mod sketch;
pub(crate) mod sql;
pub(crate) mod transaction;

use std::path::Path;
use std::sync::Mutex;

use crate::audit::{Audit, AuditConfig};
use crate::directory::{Directory, OpenError, StoreAccess};
use crate::durability::Durability;
use crate::error::MaybeFault;
use crate::notice::{self, Notice};
use crate::objects::Objects;
use crate::replication::Replication;

use index::Index;
use outbox::Outbox;
use replica::{ApplyChange, Replica};
use toolcell_i18n::Localize as _;

/// The marker file of an unfinished rebuild of the index.
pub(crate) const REBUILD_MARKER: &str = "rebuilding";

/// Whether the old index can be trusted with data that only it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreviousIndex {
    /// SQLite finds no damage.
    Intact,
    /// SQLite finds damage, or there is no index.
    Damaged,
}

/// The settings of a store.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The failures that acknowledged changes survive.
    pub durability: Durability,
    /// The maximum number of tools with a name at any one time; `None` means no limit.
    pub tool_limit: Option<u64>,
    /// The settings of the audit log.
    pub audit: AuditConfig,
    /// The shared library that the store is a copy of; `None` for a store of its own.
    pub replication: Option<Replication>,
}

/// The database of an open store. All handles share it.
pub(crate) struct Db {
    pub(crate) directory: Directory,
    pub(crate) objects: Objects,
    pub(crate) index: Index,
    pub(crate) audit: Audit,
    pub(crate) settings: Settings,
    pub(crate) replica: Replica,
    outbox: Mutex<Outbox>,
}

impl Db {
    /// Opens the database in the directory of a store. `apply` applies the changes of a shared library.
    pub(crate) fn open(directory: Directory, settings: &Settings, apply: ApplyChange) -> Result<Self, OpenError> {
        if directory.root().symlink_metadata(REBUILD_MARKER).is_ok() {
            return Err(OpenError::RepairInterrupted { path: directory.path().display().to_string() });
        }
        let objects = Objects::open(&directory)?;
        let index = Index::open(&directory)?;
        let audit = Audit::open(&directory, settings.audit)?;
        reserve::allocate(&directory);
        let replica = Replica::open(&index, settings.replication.as_ref(), apply)?;
        let outbox = Mutex::default();
        let db = Self { directory, objects, index, audit, settings: settings.clone(), replica, outbox };
        if let Err(fault) = db.recover_outbox() {
            // Not fatal: the next process that can append these lines does so.
            notice::emit_notice(&Notice::StillDelayed { why: &fault.localize() });
        }
        Ok(db)
    }

    /// The path of the store's directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether the store can be written or only read.
    pub(crate) fn access(&self) -> StoreAccess {
        self.directory.access()
    }

    /// Runs an operation that frees space, with the [reserve] to fall back on.
    pub(crate) fn with_reserve<T, E: MaybeFault>(&self, work: impl Fn() -> Result<T, E>) -> Result<T, E> {
        reserve::with_reserve(&self.directory, work)
    }

    /// Runs `work` in a write transaction, with the durability of the store. What it changes is of this store alone; for what the nodes
    /// of a library agree on, see [`Db::replicate`].
    pub(crate) fn write<T, E: MaybeFault>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.index.write(self.settings.durability, work)
    }
}

impl Drop for Db {
    /// Drains the outbox.
    fn drop(&mut self) {
        if let Err(fault) = self.drain_outbox() {
            // The next process that opens the store drains the outbox.
            tracing::warn!(%fault, "lines of the audit log are not synced yet");
        }
    }
}
