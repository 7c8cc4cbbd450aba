//! A counter that detects changes of tools.
//!
//! Invariant: whatever changes the set of tools, their metadata, their status or their approvals
//! bumps the counter in the same transaction. Runs do not bump it, except one that demotes a tool.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};

use rusqlite::{Connection, OptionalExtension as _};

/// The state of all tools at one moment. Two values are equal if nothing changed between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(i64);

impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The current generation.
pub(crate) fn current(transaction: &Connection) -> rusqlite::Result<Generation> {
    let mut statement = transaction.prepare_cached("SELECT at FROM mark WHERE what = 'generation'")?;
    Ok(Generation(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0)))
}

/// Bumps the counter.
pub(crate) fn bump(transaction: &Connection) -> rusqlite::Result<()> {
    // Masked, because a counter that a flipped bit made too large would overflow and block every
    // change.
    let sql = "INSERT INTO mark (what, at) VALUES ('generation', 1) \
               ON CONFLICT DO UPDATE SET at = (at & 0x3fffffffffffffff) + 1";
    transaction.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Starts the counter in an index that has none yet.
pub(crate) fn init(connection: &Connection) -> rusqlite::Result<()> {
    // The standard library seeds its hash maps with random numbers of the system: a rebuilt index
    // must not repeat numbers of the old one.
    let start = std::collections::hash_map::RandomState::new().build_hasher().finish() >> 2;
    connection.execute("INSERT INTO mark (what, at) VALUES ('generation', ?)", [start]).map(|_| ())
}

#[cfg(test)]
mod tests;
