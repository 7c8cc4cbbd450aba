//! Maintenance of all spaces: deletion of expired entries, consistency check, and recovery after a
//! rebuild of the index.
//!
//! Invariant: no repair reuses a version number.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use toolcell_i18n::{Message, message};

use crate::db::PreviousIndex;

use super::commit;

/// The version numbers skipped if the last one used is unknown: more than any store uses between
/// two repairs.
const VERSION_SKIP: i64 = 1 << 32;
/// No store reaches this version; a greater one is a flipped bit.
const MAX_VERSION: i64 = 1 << 52;

/// The number of expired entries.
pub(crate) fn count_expired(transaction: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM pair JOIN space ON name = space WHERE until <= ?";
    transaction.prepare_cached(sql)?.query_row([now.as_millisecond()], |row| row.get(0))
}

/// Deletes expired entries.
pub(crate) fn delete_expired(transaction: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM space WHERE EXISTS (SELECT 1 FROM pair WHERE space = name AND until <= ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    let spaces = statement.query_map([now.as_millisecond()], |row| row.get(0))?;
    let spaces: Vec<String> = spaces.collect::<rusqlite::Result<_>>()?;
    spaces.iter().try_for_each(|space| commit::delete_expired(transaction, space, now))
}

/// Checks that the recorded totals of the spaces match their entries, and reports each problem: what
/// it affects, and what is wrong.
pub(crate) fn check_consistency(
    transaction: &Connection,
    report: &mut dyn FnMut(Message, Message),
) -> rusqlite::Result<()> {
    let sql = "SELECT coalesce(name, held) FROM space FULL JOIN (SELECT space AS held, count(*) AS count, \
               sum(octet_length(key) + octet_length(value)) AS room FROM pair GROUP BY space) ON held = name \
               WHERE keys IS NOT count OR bytes IS NOT room";
    for space in query_names(transaction, sql)? {
        report(message!("the space {space}", space), message!("its totals in the index do not match its contents"));
    }
    for space in query_names(transaction, "SELECT DISTINCT space FROM pair WHERE NOT json_valid(value)")? {
        report(message!("the space {space}", space), message!("one of its values is not valid JSON"));
    }
    let (last, highest) = (last_version(transaction)?, highest_version(transaction)?);
    if !(highest..MAX_VERSION).contains(&last) {
        let wrong = message!("says that the last version is {last}, but the highest is {highest}", last, highest);
        report(message!("the index"), wrong);
    }
    Ok(())
}

/// Recomputes the totals of the spaces after their entries were copied.
pub(crate) fn recount(transaction: &Connection, old: PreviousIndex) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM space; INSERT INTO space (name, keys, bytes) \
         SELECT space, count(*), sum(octet_length(key) + octet_length(value)) FROM pair GROUP BY space",
    )?;
    let (last, highest) = (last_version(transaction)?, highest_version(transaction)?);
    if old == PreviousIndex::Intact && last >= highest {
        return Ok(());
    }
    let sql = "INSERT OR REPLACE INTO mark (what, at) VALUES ('version', ?)";
    transaction.execute(sql, [last.max(highest) + VERSION_SKIP]).map(|_| ())
}

fn query_names(transaction: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    transaction.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The last version number used, or 0 if no version was used.
fn last_version(transaction: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT at FROM mark WHERE what = 'version'";
    Ok(transaction.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// The greatest version number of an existing entry, or 0 if the store is empty.
fn highest_version(transaction: &Connection) -> rusqlite::Result<i64> {
    transaction.query_row("SELECT coalesce(max(version), 0) FROM pair", [], |row| row.get(0))
}
