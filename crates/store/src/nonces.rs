//! One-time tokens: a table of used nonces.
//!
//! Invariant: of all callers that consume a token, in any process, exactly one gets
//! [`NonceUse::Fresh`]. A token is remembered until it expires and refused from then on, even if
//! the clock is set back.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use crate::db::Db;
use crate::db::transaction::WriteError;
use crate::error::Fault;
use crate::replication::change::{Change, SharedHash};

/// The result of consuming a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonceUse {
    /// The token is valid and was not used before.
    Fresh,
    /// The token was already used.
    Replayed,
    /// The token has expired.
    Expired,
}

/// The one-time tokens of a store.
pub struct Nonces<'a> {
    db: &'a Db,
}

impl<'a> Nonces<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// Consumes a token, identified by its hash, that expires at `until`.
    ///
    /// The caller must authenticate `until` together with the token: it decides how long the token
    /// is remembered.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`]. The token is not consumed then.
    ///
    /// # Examples
    /// ```
    /// use jiff::{Timestamp, ToSpan};
    /// use toolcell_store::{NonceUse, Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (token, now) = (blake3::hash(b"a token"), Timestamp::UNIX_EPOCH);
    /// let until = now + 10.minutes();
    /// assert_eq!(store.nonces().consume(token, until, now)?, NonceUse::Fresh);
    /// assert_eq!(store.nonces().consume(token, until, now)?, NonceUse::Replayed);
    /// assert_eq!(store.nonces().consume(token, until, until)?, NonceUse::Expired);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn consume(&self, token: Hash, until: Timestamp, now: Timestamp) -> Result<NonceUse, Fault> {
        let used = self.db.replicate(
            self.db.settings.durability,
            |transaction| Ok(spend(transaction, token, until, now)?),
            |used| (*used == NonceUse::Fresh).then_some(Change::Spend { token: SharedHash(token), until, now }),
        );
        used.map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }
}

/// Spends a token.
pub(crate) fn spend(
    transaction: &Connection,
    token: Hash,
    until: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<NonceUse> {
    let (until, now) = (until.as_millisecond(), now.as_millisecond());
    let forgotten = pruned_until(transaction)?.unwrap_or(i64::MIN);
    if until <= now.max(forgotten) {
        return Ok(NonceUse::Expired);
    }
    let sql = "INSERT OR IGNORE INTO spent (token, until) VALUES (?, ?)";
    let spent = transaction.prepare_cached(sql)?.execute((token.as_bytes(), until))?;
    prune_expired(transaction, now)?;
    Ok(if spent == 1 { NonceUse::Fresh } else { NonceUse::Replayed })
}

/// The latest expiry among the tokens pruned so far.
fn pruned_until(transaction: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = transaction.prepare_cached("SELECT at FROM mark WHERE what = 'forgotten'")?;
    statement.query_row([], |row| row.get(0)).optional()
}

/// Prunes expired tokens and saves the latest of their expiry times.
fn prune_expired(transaction: &Connection, now: i64) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached("SELECT max(until) FROM spent WHERE until <= ?")?;
    let Some(last): Option<i64> = statement.query_row([now], |row| row.get(0))? else { return Ok(()) };
    let sql = "INSERT INTO mark (what, at) VALUES ('forgotten', ?1) ON CONFLICT DO UPDATE SET at = max(at, ?1)";
    transaction.prepare_cached(sql)?.execute([last])?;
    transaction.prepare_cached("DELETE FROM spent WHERE until <= ?")?.execute([now]).map(|_| ())
}

#[cfg(test)]
mod tests;
