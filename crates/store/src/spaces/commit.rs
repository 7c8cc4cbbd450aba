//! One commit to a space.
//!
//! Invariant: how much is in a space is worked out in the same transaction as what is in it, so no two commits fill a space
//! together beyond what either of them may.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::SpaceName;

use crate::error::Fault;
use crate::spaces::error::shown;
use crate::spaces::{COMMIT_LIMIT, Check, KEY_LIMIT, SpaceError, SpaceLimits, VALUE_LIMIT, Write};

/// How much is in a space.
#[derive(Clone, Copy, Default)]
pub(super) struct Total {
    keys: u64,
    bytes: u64,
}

impl Total {
    /// One key and its value, given what they take.
    fn of_one(bytes: u64) -> Self {
        Self { keys: 1, bytes }
    }

    fn with(self, other: Self) -> Self {
        Self { keys: self.keys.saturating_add(other.keys), bytes: self.bytes.saturating_add(other.bytes) }
    }

    /// What is left; an index that is damaged may say that there was less than went.
    fn without(self, other: Self) -> Self {
        Self { keys: self.keys.saturating_sub(other.keys), bytes: self.bytes.saturating_sub(other.bytes) }
    }
}

/// Refuses what can be refused without a look at the space.
pub(super) fn must_be_sound(checks: &[Check], writes: &[Write], limits: &SpaceLimits) -> Result<(), SpaceError> {
    for (what, count) in [("writes", writes.len()), ("checks", checks.len())] {
        if count > COMMIT_LIMIT {
            return Err(SpaceError::TooMany { what, count, limit: COMMIT_LIMIT });
        }
    }
    checks.iter().try_for_each(|check| must_be_key(&check.key))?;
    for write in writes {
        match write {
            Write::Delete { key } => must_be_key(key)?,
            Write::Put { key, value, .. } => {
                must_be_key(key)?;
                let (bytes, limit) = (value.len() as u64, limits.value_bytes.min(VALUE_LIMIT));
                if bytes > limit {
                    return Err(SpaceError::ValueTooLarge { key: shown(key), bytes, limit });
                }
            }
        }
    }
    Ok(())
}

fn must_be_key(key: &str) -> Result<(), SpaceError> {
    let why = match key.len() {
        0 => "it is empty".to_owned(),
        bytes if bytes > KEY_LIMIT => format!("it has {bytes} bytes, the limit is {KEY_LIMIT}"),
        _ if key.contains('\0') => "a NUL is in it".to_owned(),
        _ => return Ok(()),
    };
    Err(SpaceError::Key { key: shown(key), why })
}

/// Whether all checks hold.
pub(super) fn holds(
    transaction: &Connection,
    space: &SpaceName,
    checks: &[Check],
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

/// Writes, and takes away what has expired.
pub(super) fn write(
    transaction: &Connection,
    space: &SpaceName,
    writes: &[Write],
    limits: &SpaceLimits,
    now: Timestamp,
) -> Result<(), SpaceError> {
    let before = sweep(transaction, space.as_str(), now).map_err(Fault::from)?;
    let after = apply(transaction, space, writes, before, now).map_err(Fault::from)?;
    for (what, before, count, limit) in
        [("bytes", before.bytes, after.bytes, limits.bytes), ("keys", before.keys, after.keys, limits.keys)]
    {
        if count > limit && count > before {
            return Err(SpaceError::Quota { space: space.to_string(), what, count, limit });
        }
    }
    keep(transaction, space.as_str(), after).map_err(Fault::from)?;
    Ok(())
}

/// Takes away what has expired in a space, and gives what is left.
fn sweep(transaction: &Connection, space: &str, now: Timestamp) -> rusqlite::Result<Total> {
    let mut statement = transaction.prepare_cached("SELECT keys, bytes FROM space WHERE name = ?")?;
    let total = |row: &rusqlite::Row<'_>| Ok(Total { keys: row.get(0)?, bytes: row.get(1)? });
    let mut left = statement.query_row([space], total).optional()?.unwrap_or_default();
    let sql = "DELETE FROM pair WHERE space = ? AND until <= ? RETURNING octet_length(key) + octet_length(value)";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query((space, now.as_millisecond()))?;
    while let Some(row) = rows.next()? {
        left = left.without(Total::of_one(row.get(0)?));
    }
    Ok(left)
}

/// Does what is written, one after the other, and gives how much there is then.
fn apply(
    transaction: &Connection,
    space: &SpaceName,
    writes: &[Write],
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
        let (Write::Put { key, .. } | Write::Delete { key }) = write;
        let gone: Option<u64> = remove.query_row((space.as_str(), key), |row| row.get(0)).optional()?;
        total = gone.map_or(total, |bytes| total.without(Total::of_one(bytes)));
        let Write::Put { key, value, expires_at } = write else { continue };
        if expires_at.is_some_and(|until| until <= now) {
            continue;
        }
        let until = expires_at.map(Timestamp::as_millisecond);
        insert.execute((space.as_str(), key, value, version, until))?;
        total = total.with(Total::of_one((key.len() + value.len()) as u64));
    }
    Ok(total)
}

/// The version of what is written next. All that is written at once has the same.
fn next_version(transaction: &Connection) -> rusqlite::Result<u64> {
    let sql = "INSERT INTO mark (what, at) VALUES ('version', 1) ON CONFLICT DO UPDATE SET at = at + 1 RETURNING at";
    transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Notes how much is in a space.
fn keep(transaction: &Connection, space: &str, total: Total) -> rusqlite::Result<()> {
    if total.keys == 0 {
        return transaction.prepare_cached("DELETE FROM space WHERE name = ?")?.execute([space]).map(|_| ());
    }
    let sql = "INSERT OR REPLACE INTO space (name, keys, bytes) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute((space, total.keys, total.bytes)).map(|_| ())
}

/// Takes away what has expired in a space.
pub(super) fn forget_expired(transaction: &Connection, space: &str, now: Timestamp) -> rusqlite::Result<()> {
    let left = sweep(transaction, space, now)?;
    keep(transaction, space, left)
}
