//! Whether the tools have changed.
//!
//! Invariant: whatever changes what tools there are, what is said about them, their status, or what people said to them,
//! notes it in its own transaction. Runs do not, but for those that take its proof from a tool.

use std::hash::{BuildHasher as _, Hasher as _};

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Fault;
use crate::store::Store;

/// The tools of a store as they were at a moment: equal where nothing was changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(i64);

impl Store {
    /// What the tools are by now, to be compared with what they were. It takes some microseconds.
    ///
    /// That a tool lost its proof shows once the runs that took it are in the index.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn generation(&self) -> Result<Generation, Fault> {
        self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT at FROM mark WHERE what = 'generation'")?;
            Ok(Generation(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0)))
        })
    }
}

/// Notes that the tools are not what they were.
pub(crate) fn changed(transaction: &Connection) -> rusqlite::Result<()> {
    // A number that grew too large, by a bit that flipped, would hold up every change.
    let sql = "INSERT INTO mark (what, at) VALUES ('generation', 1) \
               ON CONFLICT DO UPDATE SET at = (at & 0x3fffffffffffffff) + 1";
    transaction.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Begins to count, in an index that does not yet.
pub(crate) fn begin(connection: &Connection) -> rusqlite::Result<()> {
    // Keys of the standard library's hash maps come from the system's random numbers: an index that is made anew does not
    // count what another one has counted.
    let start = std::collections::hash_map::RandomState::new().build_hasher().finish() >> 2;
    connection.execute("INSERT INTO mark (what, at) VALUES ('generation', ?)", [start]).map(|_| ())
}

#[cfg(test)]
mod tests;
