//! Tokens that are good for one time.
//!
//! Invariant: of all who spend a token, in whatever process, one is the first. A token is remembered until it would not be
//! good any more, and is refused from then on, also by a clock that was set back.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Fault;
use crate::store::Store;

/// What came of spending a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spending {
    /// It is good, and was not spent before.
    First,
    /// It was spent before.
    Again,
    /// It is not good any more.
    TooLate,
}

impl Store {
    /// Spends a token, known by its hash, that is good until a time.
    ///
    /// Until when it is good has to come with the token, such that nobody can change it: it decides how long the token is
    /// remembered.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk: it is not spent then.
    ///
    /// # Examples
    /// ```
    /// use jiff::{Timestamp, ToSpan};
    /// use toolcell_store::{Settings, Spending, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (token, now) = (blake3::hash(b"a token"), Timestamp::UNIX_EPOCH);
    /// let until = now + 10.minutes();
    /// assert_eq!(store.spend(token, until, now)?, Spending::First);
    /// assert_eq!(store.spend(token, until, now)?, Spending::Again);
    /// assert_eq!(store.spend(token, until, until)?, Spending::TooLate);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spend(&self, token: Hash, until: Timestamp, now: Timestamp) -> Result<Spending, Fault> {
        let (until, now) = (until.as_millisecond(), now.as_millisecond());
        self.index.write(self.settings.durability, |transaction| {
            let forgotten = forgotten(transaction)?.unwrap_or(i64::MIN);
            if until <= now.max(forgotten) {
                return Ok(Spending::TooLate);
            }
            let sql = "INSERT OR IGNORE INTO spent (token, until) VALUES (?, ?)";
            let spent = transaction.prepare_cached(sql)?.execute((token.as_bytes(), until))?;
            forget(transaction, now)?;
            Ok(if spent == 1 { Spending::First } else { Spending::Again })
        })
    }
}

/// The latest time that a token would have been good until which is not remembered any more.
fn forgotten(transaction: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = transaction.prepare_cached("SELECT at FROM mark WHERE what = 'forgotten'")?;
    statement.query_row([], |row| row.get(0)).optional()
}

/// Forgets the tokens that are not good any more, and until when they were.
fn forget(transaction: &Connection, now: i64) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached("SELECT max(until) FROM spent WHERE until <= ?")?;
    let Some(last): Option<i64> = statement.query_row([now], |row| row.get(0))? else { return Ok(()) };
    let sql = "INSERT INTO mark (what, at) VALUES ('forgotten', ?1) ON CONFLICT DO UPDATE SET at = max(at, ?1)";
    transaction.prepare_cached(sql)?.execute([last])?;
    transaction.prepare_cached("DELETE FROM spent WHERE until <= ?")?.execute([now]).map(|_| ())
}

#[cfg(test)]
mod tests;
