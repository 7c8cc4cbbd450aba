//! What is done to all spaces: expired pairs are collected, what the index says of them is checked, and they are taken over
//! into an index that is made anew.
//!
//! Invariant: no repair gives a version that was given before.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use crate::fsck::Health;
use crate::rebuild::Old;
use crate::spaces::commit;

/// How far versions go on where it is not known how far they went: more than anybody commits between two repairs.
const LEAP: i64 = 1 << 32;
/// No store gets as far as this version; where one says so, a bit flipped.
const VERSION_MOST: i64 = 1 << 52;

/// How many pairs have expired.
pub(crate) fn expired(transaction: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM pair JOIN space ON name = space WHERE until <= ?";
    transaction.prepare_cached(sql)?.query_row([now.as_millisecond()], |row| row.get(0))
}

/// Takes away what has expired.
pub(crate) fn forget_expired(transaction: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM space WHERE EXISTS (SELECT 1 FROM pair WHERE space = name AND until <= ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    let spaces = statement.query_map([now.as_millisecond()], |row| row.get(0))?;
    let spaces: Vec<String> = spaces.collect::<rusqlite::Result<_>>()?;
    spaces.iter().try_for_each(|space| commit::forget_expired(transaction, space, now))
}

/// Whether what is noted of the spaces is what is in them.
pub(crate) fn agree(transaction: &Connection, health: &mut Health) -> rusqlite::Result<()> {
    let sql = "SELECT coalesce(name, held) FROM space FULL JOIN (SELECT space AS held, count(*) AS count, \
               sum(octet_length(key) + octet_length(value)) AS room FROM pair GROUP BY space) ON held = name \
               WHERE keys IS NOT count OR bytes IS NOT room";
    for space in names(transaction, sql)? {
        health.index_wrong(format!("the space {space}"), "the index does not agree with what is in it");
    }
    for space in names(transaction, "SELECT DISTINCT space FROM pair WHERE NOT json_valid(value)")? {
        health.index_wrong(format!("the space {space}"), "a value in it is no JSON");
    }
    let (last, highest) = (last_version(transaction)?, highest_version(transaction)?);
    if !(highest..VERSION_MOST).contains(&last) {
        let wrong = format!("says that the last version was {last}, and the highest is {highest}");
        health.index_wrong("the index", wrong);
    }
    Ok(())
}

/// Notes what is in the spaces whose pairs were taken over.
pub(crate) fn recount(transaction: &Connection, old: Old) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM space; INSERT INTO space (name, keys, bytes) \
         SELECT space, count(*), sum(octet_length(key) + octet_length(value)) FROM pair GROUP BY space",
    )?;
    let (last, highest) = (last_version(transaction)?, highest_version(transaction)?);
    if old == Old::Whole && last >= highest {
        return Ok(());
    }
    let sql = "INSERT OR REPLACE INTO mark (what, at) VALUES ('version', ?)";
    transaction.execute(sql, [last.max(highest) + LEAP]).map(|_| ())
}

fn names(transaction: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    transaction.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The last version that a pair got; 0 where none did.
fn last_version(transaction: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT at FROM mark WHERE what = 'version'";
    Ok(transaction.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// The greatest version of those that are there; 0 where none is.
fn highest_version(transaction: &Connection) -> rusqlite::Result<i64> {
    transaction.query_row("SELECT coalesce(max(version), 0) FROM pair", [], |row| row.get(0))
}
