//! Runs that are asleep: kept until somebody takes one to wake it.
//!
//! Invariant: of all who take a run, in whatever process, one gets it, and from then on it is not there. What its bytes say is
//! nothing to the store: whoever puts a run to sleep seals them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use toolcell_tool::ToolId;

use crate::error::Fault;
use crate::run_id::RunId;
use crate::store::{Store, time};

/// The most bytes of a run that is asleep.
pub const SLEEPING_LIMIT: usize = 1 << 20;

/// A run that is asleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sleeping {
    /// Which.
    pub run: RunId,
    /// The tool that it is a run of.
    pub tool: ToolId,
    /// Who runs it.
    pub caller: String,
    /// Since when it sleeps.
    pub at: Timestamp,
    /// What else it is bound to, as JSON text.
    pub bound: String,
    /// The run itself, sealed: at most [`SLEEPING_LIMIT`] bytes.
    pub blob: Vec<u8>,
}

/// A run is not put to sleep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// There is too much of it.
    #[error("the run takes {bytes} bytes while it sleeps, the limit is {SLEEPING_LIMIT}")]
    TooLarge {
        /// How much there is.
        bytes: usize,
    },
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl SleepError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large-to-sleep",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "let the tool hold less while it waits, or decide while it runs",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Store {
    /// Puts a run to sleep. One of this identifier that sleeps already is replaced.
    ///
    /// # Errors
    /// `too-large-to-sleep`, `store-read-only`, and those of the disk: it does not sleep then.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::{Settings, Sleeping, Store};
    /// use toolcell_tool::ToolId;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let run = Sleeping {
    ///     run: "r_00c0ffee00c0ffee-1f".parse()?,
    ///     tool: ToolId::from_bytes([1; 32]),
    ///     caller: "cli".to_owned(),
    ///     at: Timestamp::UNIX_EPOCH,
    ///     bound: "{}".to_owned(),
    ///     blob: b"sealed".to_vec(),
    /// };
    /// store.put_to_sleep(&run)?;
    /// assert_eq!(store.sleeping(run.run)?.as_ref(), Some(&run));
    /// assert!(store.take_sleeping(&run)?);
    /// assert!(!store.take_sleeping(&run)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn put_to_sleep(&self, run: &Sleeping) -> Result<(), SleepError> {
        let bytes = run.blob.len();
        if bytes > SLEEPING_LIMIT {
            return Err(SleepError::TooLarge { bytes });
        }
        Ok(self.index.write(self.settings.durability, |transaction| {
            let sql = "INSERT OR REPLACE INTO sleeping (run, tool, caller, at, bound, blob) VALUES (?, ?, ?, ?, ?, ?)";
            let at = run.at.as_millisecond();
            let row = (run.run.to_bytes(), run.tool.as_bytes(), &run.caller, at, &run.bound, &run.blob);
            transaction.prepare_cached(sql)?.execute(row)?;
            Ok::<_, Fault>(())
        })?)
    }

    /// A run that is asleep, if it is.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sleeping(&self, run: RunId) -> Result<Option<Sleeping>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT run, tool, caller, at, bound, blob FROM sleeping WHERE run = ?";
            Ok(transaction.prepare_cached(sql)?.query_row([run.to_bytes()], of_row).optional()?)
        })
    }

    /// Takes a run to wake it, exactly as it was read: true for the one who gets it.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk: nobody gets it then.
    pub fn take_sleeping(&self, run: &Sleeping) -> Result<bool, Fault> {
        self.index.write(self.settings.durability, |transaction| {
            let sql = "DELETE FROM sleeping WHERE run = ? AND blob = ?";
            Ok(transaction.prepare_cached(sql)?.execute((run.run.to_bytes(), &run.blob))? == 1)
        })
    }

    /// All runs that are asleep, those that sleep longest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn all_sleeping(&self) -> Result<Vec<Sleeping>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT run, tool, caller, at, bound, blob FROM sleeping ORDER BY at, run";
            Ok(transaction.prepare_cached(sql)?.query_map([], of_row)?.collect::<Result<_, _>>()?)
        })
    }
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Sleeping> {
    Ok(Sleeping {
        run: RunId::from_bytes(row.get(0)?),
        tool: ToolId::from_bytes(row.get(1)?),
        caller: row.get(2)?,
        at: time(row, 3)?,
        bound: row.get(4)?,
        blob: row.get(5)?,
    })
}

/// How many runs sleep since before a time.
pub(crate) fn overslept(transaction: &Connection, before: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM sleeping WHERE at < ?";
    transaction.prepare_cached(sql)?.query_row([before.as_millisecond()], |row| row.get(0))
}

/// Forgets them.
pub(crate) fn forget_overslept(transaction: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    transaction.prepare_cached("DELETE FROM sleeping WHERE at < ?")?.execute([before.as_millisecond()])
}

#[cfg(test)]
mod tests;
