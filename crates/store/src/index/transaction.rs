//! One transaction of the index.
//!
//! Invariant: who is told that it failed is told how far it got, and never that nothing is written where something may be.

use rusqlite::{Connection, ErrorCode};

use super::Durability;
use crate::error::{Fault, OfFault};

/// Something that is not written as it was to be.
pub(crate) struct Unwritten<E> {
    pub(crate) error: E,
    pub(crate) reached: Reached,
}

/// How far a transaction got that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Nothing is written.
    Nothing,
    /// It failed while it was committed. Who reads the log after the end of this process may find it there.
    Commit,
    /// It is written, and what came after failed.
    All,
}

impl<E: OfFault> Unwritten<E> {
    /// The same, which says of an index that cannot be read whether it is damaged.
    pub(super) fn judged(self, path: &std::path::Path) -> Self {
        Self { error: self.error.judged(path), ..self }
    }
}

impl<E> Unwritten<E> {
    /// It failed before anything was written.
    pub(super) fn nothing(error: impl Into<E>) -> Self {
        Self { error: error.into(), reached: Reached::Nothing }
    }
}

pub(super) fn transact<T, E: From<Fault>>(
    connection: &Connection,
    told: &mut Option<Durability>,
    durability: Durability,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, Unwritten<E>> {
    begin(connection, told, durability).map_err(Unwritten::nothing)?;
    let value = work(connection).map_err(Unwritten::nothing).and_then(|value| {
        let committed = say(connection, "COMMIT").map_err(Fault::from);
        committed.map(|()| value).map_err(|fault| Unwritten { error: fault.into(), reached: Reached::Commit })
    });
    if value.is_err() && !connection.is_autocommit() {
        // Where even this fails the connection is not used again.
        let _ = say(connection, "ROLLBACK");
    }
    value
}

fn begin(connection: &Connection, told: &mut Option<Durability>, durability: Durability) -> Result<(), Fault> {
    if told.take() != Some(durability) {
        let synchronous = match durability {
            Durability::Synced => "PRAGMA synchronous = FULL",
            Durability::Unsynced => "PRAGMA synchronous = NORMAL",
        };
        connection.execute_batch(synchronous)?;
    }
    *told = Some(durability);
    Ok(say(connection, "BEGIN IMMEDIATE")?)
}

/// Begins or ends a transaction. The statement is compiled once for each connection.
pub(super) fn say(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(|_| ())
}

/// Whether SQLite opened the file to read it, where it was to be written.
pub(super) fn only_reads(connection: &Connection) -> bool {
    let begun = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
    begun.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly))
}
