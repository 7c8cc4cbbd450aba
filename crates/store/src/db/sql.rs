//! Column values of the index.
//!
//! Invariant: a value that the store never writes is reported as damage of the index.

use jiff::Timestamp;
use rusqlite::Row;

use crate::error::Cause;

/// `MAX_STORED_TIME` is the latest time that the tables accept, `MAX_READ_TIME` the latest that is
/// read unchanged.
const MAX_STORED_TIME: i64 = 253_402_207_200_999;
const MAX_READ_TIME: i64 = 253_402_207_200_000;

/// Reports a column value that does not parse as damage of the index.
pub(crate) fn decode_column<T, E: Into<Cause>>(column: usize, value: Result<T, E>) -> rusqlite::Result<T> {
    value.map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into()))
}

/// Reads a column of milliseconds since 1970. Times in the last second of the tables' range are
/// clamped, because the calendar ends before it.
pub(crate) fn read_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let stored: i64 = row.get(column)?;
    let stored = if (MAX_READ_TIME..=MAX_STORED_TIME).contains(&stored) { MAX_READ_TIME } else { stored };
    decode_column(column, Timestamp::from_millisecond(stored))
}
