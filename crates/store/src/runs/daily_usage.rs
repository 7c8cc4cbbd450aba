//! Usage by day: how much the runs of each tool came to on each day, in UTC.
//!
//! Invariant: sums saturate at the maximum that the index can hold instead of wrapping.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::db::sql::decode_column;
use crate::entry::{ENTRY_COLUMNS, ENTRY_TABLES, Entry};
use crate::error::Fault;

use super::Runs;
use super::costs::saturating_sum;
use super::usage_event::UsageEvent;

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;
/// The columns of [`UsageTotals`]; `total()` does not overflow.
const TOTALS: &str = "sum(runs), sum(failures), min(total(fuel), 9e18), max(max_fuel), min(total(micros), 9e18), \
     min(total(saved), 9e18), count(saved)";

/// The sums of some runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTotals {
    /// The number of runs.
    pub runs: u64,
    /// The number of failed runs.
    pub failures: u64,
    /// The fuel of all runs.
    pub fuel: u64,
    /// The fuel of the most expensive run.
    pub max_fuel: u64,
    /// The duration of all runs.
    pub time: Duration,
    /// The tokens saved. `None` if no host reported any.
    pub tokens_saved: Option<u64>,
    /// The time saved. `None` if no host reported any.
    pub time_saved: Option<Duration>,
}

/// The usage of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyUsage {
    /// The day, in UTC.
    pub day: Date,
    /// The sums of its runs.
    pub totals: UsageTotals,
}

impl Runs<'_> {
    /// The usage of each of some days, of one tool or of all, oldest first. Days without runs are left out.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use jiff::civil::date;
    /// use toolcell_store::{Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// assert!(store.runs().usage_by_day(date(2026, 1, 1)..=date(2026, 1, 31), None)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn usage_by_day(&self, days: RangeInclusive<Date>, tool: Option<&Entry>) -> Result<Vec<DailyUsage>, Fault> {
        let (from, to) = (day_number(*days.start()), day_number(*days.end()));
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let of_tool = if tool.is_some() { "tool = ?3" } else { "?3 IS NULL" };
            let sql = format!(
                "SELECT day, {TOTALS} FROM daily_usage WHERE day BETWEEN ?1 AND ?2 AND {of_tool} GROUP BY day ORDER BY day"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let asked = (from, to, tool.map(|tool| tool.num));
            let saved = format!(
                "SELECT day, min(total(micros), 9e18) FROM daily_time_saved WHERE day BETWEEN ?1 AND ?2 AND {of_tool} GROUP BY day"
            );
            let mut saved = transaction.prepare_cached(&saved)?;
            let saved = saved.query_map(asked, |row| Ok((row.get(0)?, Duration::from_micros(rounded(row, 1)?))))?;
            let saved: BTreeMap<i64, Duration> = saved.collect::<Result<_, _>>()?;
            let rows = statement.query_map(asked, |row| {
                let number = row.get(0)?;
                let day = decode_column(0, date_of(number))?;
                let time_saved = saved.get(&number).copied();
                Ok(DailyUsage { day, totals: UsageTotals { time_saved, ..UsageTotals::from_row(row, 1)? } })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The tools whose runs used the most fuel on some days, the most expensive first.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn most_expensive(&self, days: RangeInclusive<Date>, limit: usize) -> Result<Vec<(Entry, UsageTotals)>, Fault> {
        let (from, to) = (day_number(*days.start()), day_number(*days.end()));
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let sql = format!(
                "WITH used AS (SELECT tool AS used_tool, {TOTALS} FROM daily_usage WHERE day BETWEEN ?1 AND ?2 \
                 GROUP BY tool ORDER BY 4 DESC, 2 DESC, 1 LIMIT ?3) \
                 SELECT {ENTRY_COLUMNS}, used.* FROM used CROSS JOIN {ENTRY_TABLES} WHERE num = used_tool"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let sql = "SELECT min(total(micros), 9e18), count(*) FROM daily_time_saved WHERE tool = ?1 AND day BETWEEN ?2 AND ?3";
            let mut saved = transaction.prepare_cached(sql)?;
            let rows = statement.query_map((from, to, limit), |row| {
                let (tool, totals) = (Entry::from_row(row)?, UsageTotals::from_row(row, 20)?);
                let time_saved = saved.query_row((tool.num, from, to), |row| {
                    let time = Duration::from_micros(rounded(row, 0)?);
                    Ok((row.get::<_, u64>(1)? > 0).then_some(time))
                })?;
                Ok((tool, UsageTotals { time_saved, ..totals }))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

impl UsageTotals {
    /// Reads [`TOTALS`] from the column `first` on. They say nothing about saved time.
    fn from_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let total = |column: usize| rounded(row, first + column);
        let has_savings = row.get::<_, u64>(first + 6)? > 0;
        Ok(Self {
            runs: row.get(first)?,
            failures: row.get(first + 1)?,
            fuel: total(2)?,
            max_fuel: row.get(first + 3)?,
            time: Duration::from_micros(total(4)?),
            tokens_saved: if has_savings { Some(total(5)?) } else { None },
            time_saved: None,
        })
    }

    fn add(&mut self, event: &UsageEvent) {
        self.runs = saturating_sum(self.runs, 1);
        self.fuel = saturating_sum(self.fuel, event.fuel);
        self.max_fuel = self.max_fuel.max(saturating_sum(event.fuel, 0));
        self.time = Duration::from_micros(saturating_sum(micros(self.time), micros(event.duration)));
        if event.failure.is_some() {
            self.failures = saturating_sum(self.failures, 1);
            return;
        }
        if let Some(saved) = event.tokens_saved {
            self.tokens_saved = Some(saturating_sum(self.tokens_saved.unwrap_or(0), saved));
        }
        if let Some(saved) = event.time_saved {
            let before = self.time_saved.map_or(0, micros);
            self.time_saved = Some(Duration::from_micros(saturating_sum(before, micros(saved))));
        }
    }
}

/// Adds the runs of a tool to its days.
pub(super) fn record(connection: &Connection, num: i64, events: &[&UsageEvent]) -> rusqlite::Result<()> {
    let mut days: BTreeMap<i64, Vec<&UsageEvent>> = BTreeMap::new();
    for event in events {
        days.entry(event.at.as_millisecond().div_euclid(DAY_MILLIS)).or_default().push(event);
    }
    let sql = "SELECT runs, failures, fuel, max_fuel, micros, saved FROM daily_usage WHERE day = ? AND tool = ?";
    let mut known = connection.prepare_cached(sql)?;
    let sql = "INSERT OR REPLACE INTO daily_usage (day, tool, runs, failures, fuel, max_fuel, micros, saved) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let mut replace = connection.prepare_cached(sql)?;
    let sql = "SELECT micros FROM daily_time_saved WHERE day = ? AND tool = ?";
    let mut known_saved = connection.prepare_cached(sql)?;
    let sql = "INSERT OR REPLACE INTO daily_time_saved (day, tool, micros) VALUES (?, ?, ?)";
    let mut replace_saved = connection.prepare_cached(sql)?;
    for (day, events) in days {
        let row = known.query_row((day, num), |row| {
            let (runs, failures, fuel, max_fuel) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let time = Duration::from_micros(row.get(4)?);
            Ok(UsageTotals { runs, failures, fuel, max_fuel, time, tokens_saved: row.get(5)?, time_saved: None })
        });
        let mut totals = row.optional()?.unwrap_or_default();
        // Few hosts report saved time, and others pay nothing for it.
        let reports_time = events.iter().any(|event| event.time_saved.is_some());
        if reports_time {
            let saved = known_saved.query_row((day, num), |row| row.get(0)).optional()?;
            totals.time_saved = saved.map(Duration::from_micros);
        }
        for event in events {
            totals.add(event);
        }
        let UsageTotals { runs, failures, fuel, max_fuel, time, tokens_saved, time_saved } = totals;
        replace.execute((day, num, runs, failures, fuel, max_fuel, micros(time), tokens_saved))?;
        if let Some(saved) = time_saved {
            replace_saved.execute((day, num, micros(saved)))?;
        }
    }
    Ok(())
}

/// Reads a sum that SQLite rounded.
fn rounded(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 9e18")]
    row.get::<_, f64>(column).map(|total| total as u64)
}

pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the number of a day, counted from 1970.
fn day_number(day: Date) -> i64 {
    let since = day.since((Unit::Day, Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC).date()));
    since.map_or(i64::MAX, |since| i64::from(since.get_days()))
}

/// Returns the day with a number.
fn date_of(number: i64) -> Result<Date, jiff::Error> {
    Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC).date().checked_add(Span::new().try_days(number)?)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (day, number) in [(date(1970, 1, 1), 0), (date(1969, 12, 31), -1), (date(2026, 11, 30), 20_787)] {
            assert_eq!((day_number(day), date_of(number).unwrap()), (number, day));
        }
        assert!(date_of(i64::MAX).is_err());
    }
}
