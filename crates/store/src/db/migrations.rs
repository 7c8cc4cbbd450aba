//! The schema of the index, and migration from older formats.
//!
//! Invariant: a format adds tables to the previous one and changes none. So a migrated index has
//! exactly the schema of a new one. The migration is one transaction, made by the first process
//! that may write the index.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior};

use crate::directory::FORMAT;

use super::{generation, sketch};

/// The tables that each format adds.
const FORMAT_SCHEMAS: [&str; FORMAT as usize] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
];

/// Creates all tables in an empty index.
pub(crate) fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    FORMAT_SCHEMAS.iter().try_for_each(|added| connection.execute_batch(added))
}

/// The format of an index; 0 if it is empty.
pub(crate) fn read_format(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Adds missing tables, unless another process was faster or the index is newer than this version.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = read_format(&transaction)?;
    if before >= FORMAT {
        return Ok(());
    }
    for added in FORMAT_SCHEMAS.iter().skip(before as usize) {
        transaction.execute_batch(added)?;
    }
    if before < 2 {
        fill_format_2(&transaction)?;
    }
    if before < 3 {
        generation::init(&transaction)?;
    }
    if before < 8 {
        fill_format_8(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

/// Fills the tables of format 2: no tool has search terms yet, and durations are estimated from the
/// sketches.
fn fill_format_2(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO terms (tool, way, words) SELECT num, '', '' FROM tool WHERE current = 1", [])?;
    for (tool, micros) in estimated_times(connection)? {
        insert_time(connection, tool, micros)?;
    }
    Ok(())
}

/// Fills the table of format 8 from the run records, which say nothing about saved tokens. A record that is damaged, or of a time that
/// no calendar has, is left out, and so is a run that its caller cancelled.
fn fill_format_8(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "WITH run AS (SELECT record.tool, at, CASE WHEN json_valid(CAST(body AS TEXT)) THEN CAST(body AS TEXT) END AS body \
                   FROM record WHERE kind = 'run'), \
               used AS (SELECT at / 86400000 AS day, num, body ->> '$.outcome' AS outcome, \
                   CAST(max(body ->> '$.used.fuel', 0) AS INTEGER) AS fuel, \
                   CAST(max(body ->> '$.used.micros', 0) AS INTEGER) AS micros \
                   FROM run JOIN tool ON tool.id = run.tool \
                   WHERE body ->> '$.outcome' IN ('returned', 'threw', 'stopped') AND at BETWEEN 0 AND 253402300799999 \
                   AND coalesce(body ->> '$.code', '') <> 'cancelled') \
               INSERT OR IGNORE INTO daily_usage (day, tool, runs, failures, fuel, max_fuel, micros) \
               SELECT day, num, count(*), count(*) FILTER (WHERE outcome <> 'returned'), CAST(min(total(fuel), 9e18) AS INTEGER), \
                   max(fuel), CAST(min(total(micros), 9e18) AS INTEGER) \
               FROM used WHERE fuel IS NOT NULL AND micros IS NOT NULL GROUP BY day, num";
    connection.execute(sql, []).map(|_| ())
}

/// The total duration of all runs of each tool, in microseconds, estimated from its sketch within
/// one per cent.
fn estimated_times(connection: &Connection) -> rusqlite::Result<BTreeMap<i64, u64>> {
    let mut statement = connection.prepare("SELECT tool, bucket, count FROM cost WHERE what = 'micros'")?;
    let mut rows = statement.query([])?;
    let mut times = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let micros: &mut u64 = times.entry(row.get(0)?).or_default();
        *micros = micros.saturating_add(sketch::bucket_midpoint(row.get(1)?).saturating_mul(row.get(2)?));
    }
    Ok(times)
}

/// Sets the total duration of a tool that has no row yet.
fn insert_time(connection: &Connection, num: i64, micros: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO ledger (tool, micros, in_row) VALUES (?, ?, 0)";
    connection.prepare_cached(sql)?.execute((num, micros.min(i64::MAX.cast_unsigned()))).map(|_| ())
}

#[cfg(test)]
mod tests;
