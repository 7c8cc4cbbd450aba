//! A transaction of the index.
//!
//! Invariant: a failed transaction reports how far it got, and never claims that nothing was
//! written if something may have been.

use rusqlite::{Connection, ErrorCode};

use crate::durability::Durability;
use crate::error::{Fault, MaybeFault};

use super::read_error::reclassify;

/// A failed write.
pub(crate) struct WriteError<E> {
    pub(crate) error: E,
    pub(crate) state: CommitState,
}

/// How far a failed transaction got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitState {
    /// Nothing was written.
    NotWritten,
    /// The commit failed. Its pages may be in the write-ahead log, where a process that recovers
    /// the log may find them.
    Unknown,
    /// The transaction was committed, and a later step failed.
    Committed,
}

impl<E: MaybeFault> WriteError<E> {
    /// Same as [`reclassify`], for the fault in this error.
    pub(super) fn reclassified(self, path: &std::path::Path) -> Self {
        Self { error: reclassify(self.error, path), ..self }
    }
}

impl<E> WriteError<E> {
    /// An error before anything was written.
    pub(super) fn not_written(error: impl Into<E>) -> Self {
        Self { error: error.into(), state: CommitState::NotWritten }
    }
}

pub(super) fn run_transaction<T, E: From<Fault>>(
    connection: &Connection,
    told: &mut Option<Durability>,
    durability: Durability,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, WriteError<E>> {
    begin_transaction(connection, told, durability).map_err(WriteError::not_written)?;
    let value = work(connection).map_err(WriteError::not_written).and_then(|value| {
        let committed = execute_cached(connection, "COMMIT").map_err(Fault::from);
        committed.map(|()| value).map_err(|fault| WriteError { error: fault.into(), state: CommitState::Unknown })
    });
    if value.is_err() && !connection.is_autocommit() {
        // If the rollback fails too, the connection is not used again.
        let _ = execute_cached(connection, "ROLLBACK");
    }
    value
}

fn begin_transaction(
    connection: &Connection,
    told: &mut Option<Durability>,
    durability: Durability,
) -> Result<(), Fault> {
    if told.take() != Some(durability) {
        let synchronous = match durability {
            Durability::Synced => "PRAGMA synchronous = FULL",
            Durability::Unsynced => "PRAGMA synchronous = NORMAL",
        };
        connection.execute_batch(synchronous)?;
    }
    *told = Some(durability);
    Ok(execute_cached(connection, "BEGIN IMMEDIATE")?)
}

/// Executes a statement that starts or ends a transaction, prepared once per connection.
pub(super) fn execute_cached(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(|_| ())
}

/// Whether SQLite opened the file read-only although it was to be written.
pub(super) fn is_read_only(connection: &Connection) -> bool {
    let begun = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
    begun.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly))
}
