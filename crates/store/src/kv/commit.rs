//! A commit to a space.
//!
//! Invariant: the total of a space is updated in the transaction that changes its entries, so
//! concurrent commits cannot exceed the limits together.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::message;
use toolcell_tool::SpaceName;

use crate::error::Fault;

use super::error::{KvPart, KvQuantity, escape_for_display};
use super::{COMMIT_LIMIT, KEY_LIMIT, KvCheck, KvError, KvLimits, KvWrite, VALUE_LIMIT};

/// The total of a space: number of keys, and bytes of keys and values.
#[derive(Clone, Copy, Default)]
pub(super) struct Total {
    keys: u64,
    bytes: u64,
}

impl Total {
    /// The total of one entry of this size.
    fn for_entry(bytes: u64) -> Self {
        Self { keys: 1, bytes }
    }

    fn plus(self, other: Self) -> Self {
        Self { keys: self.keys.saturating_add(other.keys), bytes: self.bytes.saturating_add(other.bytes) }
    }

    /// Subtracts, saturating: a damaged index may state too small a total.
    fn minus(self, other: Self) -> Self {
        Self { keys: self.keys.saturating_sub(other.keys), bytes: self.bytes.saturating_sub(other.bytes) }
    }
}

/// Makes all checks that do not need the space itself.
pub(super) fn validate(checks: &[KvCheck], writes: &[KvWrite], limits: &KvLimits) -> Result<(), KvError> {
    for (what, count) in [(KvPart::Writes, writes.len()), (KvPart::Checks, checks.len())] {
        if count > COMMIT_LIMIT {
            return Err(KvError::TooMany { what, count, limit: COMMIT_LIMIT });
        }
    }
    checks.iter().try_for_each(|check| validate_key(&check.key))?;
    for write in writes {
        match write {
            KvWrite::Delete { key } => validate_key(key)?,
            KvWrite::Put { key, value, .. } => {
                validate_key(key)?;
                let (bytes, limit) = (value.len() as u64, limits.value_bytes.min(VALUE_LIMIT));
                if bytes > limit {
                    return Err(KvError::ValueTooLarge { key: escape_for_display(key), bytes, limit });
                }
            }
        }
    }
    Ok(())
}

fn validate_key(key: &str) -> Result<(), KvError> {
    let why = match key.len() {
        0 => message!("it is empty"),
        bytes if bytes > KEY_LIMIT => message!("it has {bytes} bytes, the limit is {limit}", bytes, limit = KEY_LIMIT),
        _ if key.contains('\0') => message!("it contains a NUL"),
        _ => return Ok(()),
    };
    Err(KvError::Key { key: escape_for_display(key), why })
}

/// Whether all checks hold.
pub(super) fn checks_hold(
    transaction: &Connection,
    space: &SpaceName,
    checks: &[KvCheck],
    now: Timestamp,
) -> Result<bool, Fault> {
    let sql = "SELECT version FROM pair WHERE space = ? AND key = ? AND (until IS NULL OR until > ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for check in checks {
        let row = (space.as_str(), &check.key, now.as_millisecond());
        let version: Option<u64> = statement.query_row(row, |row| row.get(0)).optional()?;
        if version != check.version {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes, deletes expired entries, and checks the limits.
pub(super) fn write(
    transaction: &Connection,
    space: &SpaceName,
    writes: &[KvWrite],
    limits: &KvLimits,
    now: Timestamp,
) -> Result<(), KvError> {
    let before = delete_expired_entries(transaction, space.as_str(), now).map_err(Fault::from)?;
    let after = apply_writes(transaction, space, writes, before, now).map_err(Fault::from)?;
    for (what, before, count, limit) in [
        (KvQuantity::Bytes, before.bytes, after.bytes, limits.bytes),
        (KvQuantity::Keys, before.keys, after.keys, limits.keys),
    ] {
        if count > limit && count > before {
            return Err(KvError::Quota { space: space.to_string(), what, count, limit });
        }
    }
    store_total(transaction, space.as_str(), after).map_err(Fault::from)?;
    Ok(())
}

/// Deletes expired entries of a space and returns the remaining total.
fn delete_expired_entries(transaction: &Connection, space: &str, now: Timestamp) -> rusqlite::Result<Total> {
    let mut statement = transaction.prepare_cached("SELECT keys, bytes FROM space WHERE name = ?")?;
    let total = |row: &rusqlite::Row<'_>| Ok(Total { keys: row.get(0)?, bytes: row.get(1)? });
    let mut left = statement.query_row([space], total).optional()?.unwrap_or_default();
    let sql = "DELETE FROM pair WHERE space = ? AND until <= ? RETURNING octet_length(key) + octet_length(value)";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query((space, now.as_millisecond()))?;
    while let Some(row) = rows.next()? {
        left = left.minus(Total::for_entry(row.get(0)?));
    }
    Ok(left)
}

/// Applies writes in order and returns the new total.
fn apply_writes(
    transaction: &Connection,
    space: &SpaceName,
    writes: &[KvWrite],
    before: Total,
    now: Timestamp,
) -> rusqlite::Result<Total> {
    let version = next_version(transaction)?;
    let mut remove = transaction.prepare_cached(
        "DELETE FROM pair WHERE space = ? AND key = ? RETURNING octet_length(key) + octet_length(value)",
    )?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO pair (space, key, value, version, until) VALUES (?, ?, ?, ?, ?)")?;
    let mut total = before;
    for write in writes {
        let (KvWrite::Put { key, .. } | KvWrite::Delete { key }) = write;
        let gone: Option<u64> = remove.query_row((space.as_str(), key), |row| row.get(0)).optional()?;
        total = gone.map_or(total, |bytes| total.minus(Total::for_entry(bytes)));
        let KvWrite::Put { key, value, expires_at } = write else { continue };
        if expires_at.is_some_and(|until| until <= now) {
            continue;
        }
        let until = expires_at.map(Timestamp::as_millisecond);
        insert.execute((space.as_str(), key, value, version, until))?;
        total = total.plus(Total::for_entry((key.len() + value.len()) as u64));
    }
    Ok(total)
}

/// The version number of the next commit, shared by all of its writes.
fn next_version(transaction: &Connection) -> rusqlite::Result<u64> {
    let sql = "INSERT INTO mark (what, at) VALUES ('version', 1) ON CONFLICT DO UPDATE SET at = at + 1 RETURNING at";
    transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Stores the total of a space.
fn store_total(transaction: &Connection, space: &str, total: Total) -> rusqlite::Result<()> {
    if total.keys == 0 {
        return transaction.prepare_cached("DELETE FROM space WHERE name = ?")?.execute([space]).map(|_| ());
    }
    let sql = "INSERT OR REPLACE INTO space (name, keys, bytes) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute((space, total.keys, total.bytes)).map(|_| ())
}

/// Deletes expired entries of a space.
pub(super) fn delete_expired(transaction: &Connection, space: &str, now: Timestamp) -> rusqlite::Result<()> {
    let left = delete_expired_entries(transaction, space, now)?;
    store_total(transaction, space, left)
}
