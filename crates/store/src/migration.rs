//! Moves what nodes agree on: from a store of its own to a shared library, and back.
//!
//! ```text
//! up:   store → the changes that make what it holds → appended to the empty history of a library
//! down: copy of a library → follow the history to its end → append that it ends → a store of its own
//! ```
//!
//! Runs, their records, usage and the audit log are of one store, and stay where they are.
//!
//! Invariant: nothing is in two places that can both change it. A store that was moved to a library can only be read. A library that was
//! taken down has an entry that says so, with the copy that it became, after which its nodes neither change nor run anything. Both ways
//! can be interrupted at any time and repeated: the changes of a store are the same each time, so those that are in the history already
//! are recognised.

use blake3::Hash;
use data_encoding::BASE64;
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use toolcell_i18n::Message;
use toolcell_tool::{Status, ToolId};

use crate::approvals::{Approval, DECIDED, decision_from_granted};
use crate::audit::{Action, AuditEvent};
use crate::db::Db;
use crate::db::replica::{Replica, detach, is_replica, write_moved};
use crate::db::sql::{decode_column, read_time};
use crate::db::transaction::WriteError;
use crate::durability::Durability;
use crate::error::{Fault, impl_maybe_fault};
use crate::file_lock::LOCK_TIMEOUT;
use crate::replication::change::{ApprovalChange, Change, NewVersion, SharedDefinition, SharedHash, SharedWrite};
use crate::replication::entry::{Entry, Position};
use crate::replication::{Appended, Replication, SharedError};
use crate::store::Store;
use crate::suspended::{SuspendedRow, suspended_from_row};
use crate::version::read_version;

/// The author of entries that come from a store: no copy of a library has this identifier.
const AUTHOR: &str = "migration";
/// How many versions, and how many writes, one entry has at most.
const ROWS_PER_ENTRY: usize = 100;
/// The size of the values that one entry has, in bytes. One value may be larger.
const BYTES_PER_ENTRY: usize = 32 << 10;

/// Decrypts the state of a suspended run with the first key and encrypts it with the second; `None` if the first key is not the right one.
pub type Reencrypt = dyn Fn(&SuspendedRow, &[u8; 32], &[u8; 32]) -> Option<Vec<u8>>;

/// Encrypts suspended runs with the key of another store.
pub struct SuspendedKeys<'a> {
    /// The purpose for which [`Store::derive_key`] derives the key.
    pub purpose: &'a str,
    /// What does it.
    pub reencrypt: &'a Reencrypt,
}

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The number of entries in the history of the library.
    pub entries: u64,
    /// How many of them were there before, because an earlier attempt was interrupted.
    pub known: u64,
    /// The number of names that lead to a tool.
    pub tools: u64,
    /// The number of suspended runs.
    pub suspended: u64,
}

/// A store or a library that cannot be moved.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum MigrationError {
    /// The library is not empty.
    #[error("the shared library `{library}` has {entries} changes, which are not those of this store")]
    #[code(SharedInvalid)]
    #[hint("choose a principal who has no library yet; nothing was changed")]
    Occupied {
        /// The key of the library's history.
        library: String,
        /// The number of entries in it.
        entries: u64,
    },
    /// The library has the beginning of another state of the store.
    #[error(
        "an earlier attempt copied {entries} changes to the shared library `{library}`, and the store was changed since"
    )]
    #[code(SharedInvalid)]
    #[hint(
        "remove the entries of this library from the database (see the guide about many nodes), and repeat it; nothing was changed"
    )]
    Outdated {
        /// The key of the library's history.
        library: String,
        /// The number of entries in it.
        entries: u64,
    },
    /// The library has no entries.
    #[error("the shared library `{library}` is empty")]
    #[code(SharedInvalid)]
    #[hint("give the name of a principal of the nodes, as their tokens have it; nothing was changed")]
    Empty {
        /// The key of the library's history.
        library: String,
    },
    /// A node changed the library meanwhile.
    #[error("a node changed the shared library `{library}` while the store was copied to it")]
    #[code(SharedInvalid)]
    #[hint(
        "keep the principal out of the tokens of all nodes until the store is there, and choose a principal who has no library yet"
    )]
    Interrupted {
        /// The key of the library's history.
        library: String,
    },
    /// A suspended run cannot be decrypted.
    #[error("the state of the suspended run {run} cannot be read")]
    #[code(Integrity)]
    #[hint(
        "resume or remove it where the other suspended runs are (`toolcell gc` removes old ones); nothing was changed"
    )]
    Suspended {
        /// The identifier of the run.
        run: String,
    },
    /// The store was not opened with its library.
    #[error("this store is not a copy of a shared library")]
    #[code(SharedInvalid)]
    #[hint("give an empty directory, or that of a node")]
    NoCopy,
    /// The store or what is shared failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl_maybe_fault!(MigrationError);

impl From<rusqlite::Error> for MigrationError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl From<SharedError> for MigrationError {
    fn from(error: SharedError) -> Self {
        Self::Fault(error.into())
    }
}

impl Store {
    /// Moves what nodes agree on to a library whose history is empty: names with all versions, decisions and requests, status,
    /// trusted definitions, labels, values and suspended runs. The store can only be read then: it keeps its records and its audit
    /// log. An attempt that was interrupted is continued.
    ///
    /// # Errors
    /// [`MigrationError`]. `shared-unknown` and `shared-unreachable`: repeat it.
    pub fn copy_to_library(
        &self,
        library: &Replication,
        keys: &SuspendedKeys<'_>,
        at: Timestamp,
    ) -> Result<Migrated, MigrationError> {
        if let Some(known) = self.library()
            && (known != library.library
                || self.db.index.read(|transaction| Ok::<_, Fault>(is_replica(transaction)?))?)
        {
            return Err(SharedError::Copy { library: known.to_string() }.into());
        }
        let (from, to) = (self.local_key(keys.purpose)?, library.store_key(keys.purpose));
        let migrated = self.db.index.with_exclusive_writer(LOCK_TIMEOUT, |turn| {
            let (mut changes, runs, tools) = self.db.index.read(|transaction| {
                let runs = read_suspended(transaction)?;
                Ok::<_, Fault>((to_changes(&self.db, transaction)?, runs, count_tools(transaction)?))
            })?;
            let suspended = runs.len() as u64;
            for run in runs {
                let state = keys.reencrypt(&run, &from, &to)?;
                changes.push(Change::Suspend {
                    run: run.run.to_string(),
                    tool: run.tool,
                    caller: run.caller,
                    at: run.suspended_at,
                    binding: run.binding,
                    state: BASE64.encode(&state),
                });
            }
            // Damage is found before anything is appended.
            for hash in changes.iter().flat_map(Change::objects) {
                self.db.read_object(hash)?;
            }
            let (known, position) = recognise(library, &changes)?;
            append_all(&self.db, library, &changes[known..], position)?;
            turn.write(Durability::Synced, |transaction| write_moved(transaction, &library.library, at))
                .map_err(|unwritten: WriteError<Fault>| unwritten.error)?;
            Ok::<_, MigrationError>(Migrated { entries: changes.len() as u64, known: known as u64, tools, suspended })
        })??;
        self.log(&AuditEvent::new(Action::Migrate, at))?;
        Ok(migrated)
    }

    /// Makes the copy of a library a store of its own, with all that the library holds, and ends the library: its nodes change and run
    /// nothing from then on. The store has to be opened again. An attempt that was interrupted is continued with the same directory.
    ///
    /// # Errors
    /// [`MigrationError`]. [`SharedError::Ended`]: the library was taken to another directory.
    pub fn take_from_library(self, keys: &SuspendedKeys<'_>, at: Timestamp) -> Result<Migrated, MigrationError> {
        let Replica::Node(node) = &self.db.replica else { return Err(MigrationError::NoCopy) };
        let (from, to) = (node.replication.store_key(keys.purpose), self.local_key(keys.purpose)?);
        let known = match self.follow() {
            Ok(_) => 0,
            // An earlier attempt of this copy ended it.
            Err(Fault::Shared(SharedError::Ended { .. })) if node.has_ended_library() => 1,
            Err(fault) => return Err(fault.into()),
        };
        if self.replication_status()?.is_none_or(|status| status.entries == 0) {
            return Err(MigrationError::Empty { library: node.replication.library.to_string() });
        }
        // Whether it can be taken is found out before it ends.
        self.db.sync_all_objects()?;
        let runs = self.db.index.read(read_suspended)?;
        runs.iter().try_for_each(|run| keys.reencrypt(run, &from, &to).map(drop))?;
        if known == 0 {
            self.db.end_library(node, at)?;
        }
        let entries = self.replication_status()?.map_or(0, |status| status.entries);
        // What came between the check and the end.
        self.db.sync_all_objects()?;
        let migrated = self.db.index.write(Durability::Synced, |transaction| {
            let runs = read_suspended(transaction)?;
            for run in &runs {
                let sql = "UPDATE sleeping SET blob = ? WHERE run = ?";
                let row = (keys.reencrypt(run, &from, &to)?, run.run.to_bytes());
                transaction.prepare_cached(sql)?.execute(row)?;
            }
            detach(transaction)?;
            let (tools, suspended) = (count_tools(transaction)?, runs.len() as u64);
            Ok::<_, MigrationError>(Migrated { entries, known, tools, suspended })
        })?;
        self.log(&AuditEvent::new(Action::Migrate, at))?;
        Ok(migrated)
    }
}

impl SuspendedKeys<'_> {
    fn reencrypt(&self, run: &SuspendedRow, from: &[u8; 32], to: &[u8; 32]) -> Result<Vec<u8>, MigrationError> {
        (self.reencrypt)(run, from, to).ok_or_else(|| MigrationError::Suspended { run: run.run.to_string() })
    }
}

fn count_tools(transaction: &Connection) -> rusqlite::Result<u64> {
    transaction.query_row("SELECT count(*) FROM tool WHERE current = 1", [], |row| row.get(0))
}

/// The changes that make what a store holds, apart from suspended runs, in an order in which they can be applied. They are the same as
/// long as the store is.
fn to_changes(db: &Db, transaction: &Connection) -> Result<Vec<Change>, Fault> {
    let mut changes = Vec::new();
    add_versions(db, transaction, &mut changes)?;
    add_status(transaction, &mut changes)?;
    add_decisions(transaction, &mut changes)?;
    add_definitions(transaction, &mut changes)?;
    add_labels(transaction, &mut changes)?;
    add_values(transaction, &mut changes)?;
    Ok(changes)
}

fn add_versions(db: &Db, transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    // A tool has one name, so names do not depend on each other.
    let mut statement = transaction.prepare("SELECT folded, number, hash FROM version ORDER BY folded, number")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, Hash::from_bytes(row.get(2)?))))?;
    let mut versions = Vec::new();
    for row in rows {
        let (folded, number, hash) = row?;
        let source = read_version(db, hash)?.code_hash().map_err(|reason| Fault::object(hash, reason))?;
        let (version, source) = (SharedHash(hash), SharedHash(source));
        versions.push(NewVersion { folded, number, version, source, demotes: false });
    }
    changes.extend(versions.chunks(ROWS_PER_ENTRY).map(|part| Change::Versions { versions: part.to_vec() }));
    Ok(())
}

fn add_status(transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    let sql = "SELECT id, status, successor FROM tool LEFT JOIN successor ON tool = num WHERE status <> 'unverified' ORDER BY id";
    let mut statement = transaction.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let status = row.get_ref(1)?.as_str()?;
        let status = decode_column(1, Status::from_name(status).ok_or_else(|| status.to_owned()))?;
        let successor: Option<[u8; 32]> = row.get(2)?;
        Ok((ToolId::from_bytes(row.get(0)?), status, successor.map(ToolId::from_bytes)))
    })?;
    for row in rows {
        changes.push(match row? {
            (tool, Status::Deprecated, successor) => Change::Deprecate { tool, successor },
            (tool, status, _) => Change::SetStatus { tool, status },
        });
    }
    Ok(())
}

fn add_decisions(transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    let sql = format!("SELECT tool, form, granted, by, at FROM {DECIDED} AS decided ORDER BY at, tool, grants");
    let mut statement = transaction.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Approval {
            tool: ToolId::from_bytes(row.get(0)?),
            grants: decode_column(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?,
            decision: decision_from_granted(row.get(2)?),
            by: row.get(3)?,
            at: read_time(row, 4)?,
        })
    })?;
    for approval in rows {
        changes.push(approval?.to_change());
    }
    let sql = "SELECT tool, form, by, at FROM approval WHERE granted IS NULL ORDER BY at, tool, grants";
    let mut statement = transaction.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let grants: Value = decode_column(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?;
        let tool = ToolId::from_bytes(row.get(0)?);
        Ok(Change::Decide {
            tool,
            grants,
            decision: ApprovalChange::Requested,
            by: row.get(2)?,
            at: read_time(row, 3)?,
        })
    })?;
    for request in rows {
        changes.push(request?);
    }
    Ok(())
}

fn add_definitions(transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    let sql = "SELECT server, by, at, tool, digest, form FROM server_tool ORDER BY server, at, by, tool";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (server, by, at): (String, String, Timestamp) = (row.get(0)?, row.get(1)?, read_time(row, 2)?);
        let digest = SharedHash(Hash::from_bytes(row.get(4)?));
        let known = SharedDefinition { tool: row.get(3)?, digest, form: row.get(5)? };
        match changes.last_mut() {
            Some(Change::Trust { server: last, tools, .. }) if *last == server => tools.push(known),
            _ => changes.push(Change::Trust { server, tools: vec![known], by, at }),
        }
    }
    Ok(())
}

fn add_labels(transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    let sql = "SELECT kind || ':' || name, source FROM label ORDER BY kind, name, source";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (holder, source): (String, String) = (row.get(0)?, row.get(1)?);
        match changes.last_mut() {
            Some(Change::Label { holders, sources }) if *holders == [holder.as_str()] => sources.push(source),
            _ => changes.push(Change::Label { holders: vec![holder], sources: vec![source] }),
        }
    }
    Ok(())
}

fn add_values(transaction: &Connection, changes: &mut Vec<Change>) -> Result<(), Fault> {
    let sql = "SELECT space, key, value, until FROM pair ORDER BY space, key";
    let mut statement = transaction.prepare(sql)?;
    let (mut rows, mut bytes) = (statement.query([])?, 0);
    while let Some(row) = rows.next()? {
        let (space, key, value): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let expires_at: Option<i64> = row.get(3)?;
        let expires_at = expires_at.map(Timestamp::from_millisecond).transpose();
        let expires_at = expires_at.map_err(|error| Fault::index(Message::verbatim(error.to_string())))?;
        let size = key.len() + value.len();
        let write = SharedWrite { key, value: Some(value), expires_at };
        match changes.last_mut() {
            Some(Change::Write { space: last, writes, .. })
                if *last == space && writes.len() < ROWS_PER_ENTRY && bytes + size <= BYTES_PER_ENTRY =>
            {
                writes.push(write);
                bytes += size;
            }
            // At this time, nothing has expired: what has is left to the nodes.
            _ => {
                changes.push(Change::Write { space, writes: vec![write], now: Timestamp::UNIX_EPOCH });
                bytes = size;
            }
        }
    }
    Ok(())
}

fn read_suspended(transaction: &Connection) -> Result<Vec<SuspendedRow>, Fault> {
    let sql = "SELECT run, tool, caller, at, bound, blob FROM sleeping ORDER BY at, run";
    Ok(transaction.prepare_cached(sql)?.query_map([], suspended_from_row)?.collect::<Result<_, _>>()?)
}

/// Reads the history of a library and returns how many of the changes it begins with, and the place after them.
fn recognise(library: &Replication, changes: &[Change]) -> Result<(usize, Position), MigrationError> {
    library.check_secret()?;
    let (mut known, mut position) = (0, Position::start());
    loop {
        let entries = library.histories.read(&library.library, position.count, ROWS_PER_ENTRY)?;
        if entries.is_empty() {
            return Ok((known, position));
        }
        for bytes in entries {
            let (entry, _) = library.open(&bytes, position)?;
            let is_copied = entry.node == AUTHOR;
            if !is_copied || changes.get(known).is_none_or(|change| !is_same(change, &entry.change)) {
                let lengths = library.histories.lengths(std::slice::from_ref(&library.library))?;
                let entries = lengths.first().copied().unwrap_or(0);
                let library = library.library.to_string();
                return Err(if is_copied {
                    MigrationError::Outdated { library, entries }
                } else {
                    MigrationError::Occupied { library, entries }
                });
            }
            (known, position) = (known + 1, position.after(&bytes));
        }
    }
}

/// Whether two changes are the same. The state of a suspended run is encrypted anew each time.
fn is_same(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (
            Change::Suspend { run, tool, at, .. },
            Change::Suspend { run: other_run, tool: other_tool, at: other_at, .. },
        ) => (run, tool, at) == (other_run, other_tool, other_at),
        _ => one == other,
    }
}

/// Appends changes to the history of a library, which no other process may do meanwhile.
fn append_all(
    db: &Db,
    library: &Replication,
    changes: &[Change],
    mut position: Position,
) -> Result<(), MigrationError> {
    for change in changes {
        for hash in change.objects() {
            library.put_blob(hash, &db.read_object(hash)?)?;
        }
        let entry = Entry { node: AUTHOR.to_owned(), audit: None, change: change.clone() };
        let bytes = library.seal(&entry, position)?;
        match library.histories.append(&library.library, position.count, &bytes)? {
            Appended::Done => position = position.after(&bytes),
            Appended::Taken => return Err(MigrationError::Interrupted { library: library.library.to_string() }),
        }
    }
    Ok(())
}
