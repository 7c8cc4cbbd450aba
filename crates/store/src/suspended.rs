//! Suspended runs, stored until one process takes and resumes them.
//!
//! Invariant: of all processes that take a suspended run, exactly one gets it, and the row is gone
//! afterwards. The store does not interpret the bytes of a run: the caller encrypts them.

use data_encoding::BASE64;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use toolcell_tool::ToolId;

use crate::db::Db;
use crate::db::sql::read_time;
use crate::db::transaction::WriteError;
use crate::error::{Fault, impl_maybe_fault};
use crate::replication::change::Change;
use crate::runs::RunId;

/// The maximum size of a suspended run, in bytes.
pub const SUSPENDED_LIMIT: usize = 1 << 20;

/// A suspended run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedRow {
    /// The identifier of the run.
    pub run: RunId,
    /// The tool of the run.
    pub tool: ToolId,
    /// The caller of the run.
    pub caller: String,
    /// When the run was suspended.
    pub suspended_at: Timestamp,
    /// What else the run is bound to, as JSON text.
    pub binding: String,
    /// The encrypted state of the run, at most [`SUSPENDED_LIMIT`] bytes.
    pub blob: Vec<u8>,
}

/// A run that could not be suspended.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum SuspendError {
    /// The state of the run is too large.
    #[error("the state of the suspended run takes {bytes} bytes, the limit is {SUSPENDED_LIMIT}")]
    #[code(TooLargeToSleep)]
    #[hint("reduce the memory that the tool holds while it waits, or decide without suspending the run")]
    TooLarge {
        /// The size of the state, in bytes.
        bytes: usize,
    },
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl_maybe_fault!(SuspendError);

/// The suspended runs of a store.
pub struct Suspended<'a> {
    db: &'a Db,
}

impl<'a> Suspended<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// Stores a suspended run, and replaces a suspended run with the same identifier.
    ///
    /// # Errors
    /// `too-large-to-sleep`, `store-read-only`, or another [`Fault`]. The run is not suspended
    /// then. `shared-unknown`: it may be, and is found by [`all`](Self::all) if it is.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::{Settings, Store, SuspendedRow};
    /// use toolcell_tool::ToolId;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let run = SuspendedRow {
    ///     run: "r_00c0ffee00c0ffee-1f".parse()?,
    ///     tool: ToolId::from_bytes([1; 32]),
    ///     caller: "cli".to_owned(),
    ///     suspended_at: Timestamp::UNIX_EPOCH,
    ///     binding: "{}".to_owned(),
    ///     blob: b"sealed".to_vec(),
    /// };
    /// store.suspended().save(&run)?;
    /// assert_eq!(store.suspended().find(run.run)?.as_ref(), Some(&run));
    /// assert!(store.suspended().take(&run)?);
    /// assert!(!store.suspended().take(&run)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, run: &SuspendedRow) -> Result<(), SuspendError> {
        let bytes = run.blob.len();
        if bytes > SUSPENDED_LIMIT {
            return Err(SuspendError::TooLarge { bytes });
        }
        let written = self.db.replicate(
            self.db.settings.durability,
            |transaction| Ok(insert_suspended(transaction, run)?),
            |()| {
                Some(Change::Suspend {
                    run: run.run.to_string(),
                    tool: run.tool,
                    caller: run.caller.clone(),
                    at: run.suspended_at,
                    binding: run.binding.clone(),
                    state: BASE64.encode(&run.blob),
                })
            },
        );
        written.map_err(|unwritten: WriteError<Fault>| unwritten.error.into())
    }

    /// Returns the suspended run with this identifier, if it exists.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn find(&self, run: RunId) -> Result<Option<SuspendedRow>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT run, tool, caller, at, bound, blob FROM sleeping WHERE run = ?";
            Ok(transaction.prepare_cached(sql)?.query_row([run.to_bytes()], suspended_from_row).optional()?)
        })
    }

    /// Takes a suspended run in order to resume it, if it is still exactly as it was read. Returns
    /// true to the one caller that gets it.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`]. No caller gets the run then.
    pub fn take(&self, run: &SuspendedRow) -> Result<bool, Fault> {
        let taken = self.db.replicate(
            self.db.settings.durability,
            |transaction| {
                let sql = "DELETE FROM sleeping WHERE run = ? AND blob = ?";
                Ok(transaction.prepare_cached(sql)?.execute((run.run.to_bytes(), &run.blob))? == 1)
            },
            |is_taken| is_taken.then(|| Change::TakeSuspended { run: run.run.to_string() }),
        );
        taken.map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }

    /// All suspended runs, longest suspended first.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn all(&self) -> Result<Vec<SuspendedRow>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT run, tool, caller, at, bound, blob FROM sleeping ORDER BY at, run";
            Ok(transaction.prepare_cached(sql)?.query_map([], suspended_from_row)?.collect::<Result<_, _>>()?)
        })
    }
}

/// Stores a suspended run.
pub(crate) fn insert_suspended(transaction: &Connection, run: &SuspendedRow) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO sleeping (run, tool, caller, at, bound, blob) VALUES (?, ?, ?, ?, ?, ?)";
    let at = run.suspended_at.as_millisecond();
    let row = (run.run.to_bytes(), run.tool.as_bytes(), &run.caller, at, &run.binding, &run.blob);
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// Deletes a suspended run that another node took.
pub(crate) fn delete_suspended(transaction: &Connection, run: RunId) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM sleeping WHERE run = ?")?.execute([run.to_bytes()]).map(|_| ())
}

pub(crate) fn suspended_from_row(row: &Row<'_>) -> rusqlite::Result<SuspendedRow> {
    Ok(SuspendedRow {
        run: RunId::from_bytes(row.get(0)?),
        tool: ToolId::from_bytes(row.get(1)?),
        caller: row.get(2)?,
        suspended_at: read_time(row, 3)?,
        binding: row.get(4)?,
        blob: row.get(5)?,
    })
}

/// The number of runs suspended before a time.
pub(crate) fn count_expired(transaction: &Connection, before: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM sleeping WHERE at < ?";
    transaction.prepare_cached(sql)?.query_row([before.as_millisecond()], |row| row.get(0))
}

/// Deletes the runs suspended before a time.
pub(crate) fn delete_expired(transaction: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    transaction.prepare_cached("DELETE FROM sleeping WHERE at < ?")?.execute([before.as_millisecond()])
}

#[cfg(test)]
mod tests;
