//! What running a tool showed.
//!
//! Invariant: what is acknowledged is in the index; see `together.rs`.
//!
//! Costs are kept as sketches (`DDSketch`, arXiv 1908.10693): counts of buckets whose bounds grow by two per cent, so a
//! percentile is within one per cent of the true one, however many runs there were.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::ToolId;

use crate::error::Fault;
use crate::ledger::{self, FellBack};
use crate::store::{Entry, Store};
use crate::together::{Kept, RecordError};

/// What a success adds to the confidence in a tool, in ten-thousandths.
const UP: i64 = 200;
/// What a failure takes.
const DOWN: i64 = 500;
/// The least confidence, and the greatest.
const BOUNDS: (i64, i64) = (1_000, 10_000);
/// How much percentiles may be wrong.
const ACCURACY: f64 = 0.01;
/// The longest code of a failure that is kept.
const CODE_LIMIT: usize = 64;

/// One run of a tool.
#[derive(Debug, Clone)]
pub struct UsageEvent {
    /// Which tool.
    pub tool: ToolId,
    /// When it was run.
    pub at: Timestamp,
    /// The code of the failure, where it failed.
    pub failure: Option<String>,
    /// Fuel that it burned.
    pub fuel: u64,
    /// How long it took.
    pub duration: Duration,
    /// How many tokens it saved, where its host says so. It counts where the run went well.
    pub tokens_saved: Option<u64>,
}

/// What all runs of a tool showed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// How many there were.
    pub runs: u64,
    /// How many went well.
    pub successes: u64,
    /// How many failed, by the code of the failure.
    pub failures: BTreeMap<String, u64>,
    /// When the last one was.
    pub last_used_at: Option<Timestamp>,
    /// Fuel.
    pub fuel: Percentiles,
    /// Time, in microseconds.
    pub micros: Percentiles,
}

/// So much or less in 50, 90 and 99 of 100 runs, within one per cent; 0 where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Percentiles {
    /// The median.
    pub p50: u64,
    /// In nine of ten.
    pub p90: u64,
    /// In 99 of 100.
    pub p99: u64,
}

impl Store {
    /// Records a run. What is recorded outlasts the process at once, and a loss of power with the next change of a tool.
    ///
    /// A tool that was collected meanwhile has nothing to record.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn record_usage(&self, event: UsageEvent) -> Result<(), RecordError> {
        self.keep_together(Kept { record: None, usage: Some(event) })
    }

    /// What all runs of a tool showed.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn usage(&self, entry: &Entry) -> Result<Usage, Fault> {
        self.settle_first();
        self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT code, count FROM failure WHERE tool = ?")?;
            let failures = statement.query_map([entry.num], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Usage {
                runs: entry.runs,
                successes: entry.successes,
                failures: failures.collect::<Result<_, _>>()?,
                last_used_at: entry.last_used_at,
                fuel: percentiles(transaction, entry.num, "fuel")?,
                micros: percentiles(transaction, entry.num, "micros")?,
            })
        })
    }
}

/// Counts what runs showed, in the order in which they ended: all runs of a tool at once. It says which tools fell back.
pub(crate) fn count<'a>(
    connection: &Connection,
    events: impl IntoIterator<Item = &'a UsageEvent>,
) -> Result<Vec<FellBack>, Fault> {
    let mut tools: BTreeMap<ToolId, Vec<&UsageEvent>> = BTreeMap::new();
    for event in events {
        tools.entry(event.tool).or_default().push(event);
    }
    let mut fallen = Vec::new();
    for (tool, events) in tools {
        if let Some(num) = count_of(connection, tool, &events)? {
            fallen.extend(ledger::enter(connection, num, &events)?);
        }
    }
    Ok(fallen)
}

/// Counts the runs of a tool, and gives its row; none where it was collected meanwhile.
fn count_of(connection: &Connection, tool: ToolId, events: &[&UsageEvent]) -> Result<Option<i64>, Fault> {
    let sql = "SELECT num, confidence FROM tool WHERE id = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([tool.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((num, mut confidence)): Option<(i64, i64)> = row else { return Ok(None) };
    let (mut successes, mut last) = (0_u64, 0);
    let (mut costs, mut failures) = (BTreeMap::new(), BTreeMap::new());
    for event in events {
        let step = if event.failure.is_none() { UP } else { -DOWN };
        confidence = (confidence + step).clamp(BOUNDS.0, BOUNDS.1);
        successes += u64::from(event.failure.is_none());
        last = last.max(event.at.as_millisecond());
        let micros = u64::try_from(event.duration.as_micros()).unwrap_or(u64::MAX);
        for cost in [("fuel", bucket(event.fuel)), ("micros", bucket(micros))] {
            *costs.entry(cost).or_insert(0_u64) += 1;
        }
        if let Some(code) = &event.failure {
            let code: String = code.chars().take(CODE_LIMIT).collect();
            *failures.entry(code).or_insert(0_u64) += 1;
        }
    }
    let sql = "UPDATE tool SET runs = runs + ?, successes = successes + ?, last_used_at = max(last_used_at, ?), \
               confidence = ? WHERE num = ?";
    let row = (events.len() as u64, successes, last, confidence, num);
    connection.prepare_cached(sql)?.execute(row)?;
    let sql = "INSERT INTO cost (tool, what, bucket, count) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT DO UPDATE SET count = count + ?4";
    let mut statement = connection.prepare_cached(sql)?;
    for ((what, bucket), count) in costs {
        statement.execute((num, what, bucket, count))?;
    }
    let sql = "INSERT INTO failure (tool, code, count) VALUES (?1, ?2, ?3) \
               ON CONFLICT DO UPDATE SET count = count + ?3";
    let mut statement = connection.prepare_cached(sql)?;
    for (code, count) in failures {
        statement.execute((num, code, count))?;
    }
    Ok(Some(num))
}

/// How long all runs of each tool took together, in microseconds, within one per cent: as its sketch says.
pub(crate) fn estimated_times(connection: &Connection) -> rusqlite::Result<BTreeMap<i64, u64>> {
    let mut statement = connection.prepare("SELECT tool, bucket, count FROM cost WHERE what = 'micros'")?;
    let mut rows = statement.query([])?;
    let mut times = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let micros: &mut u64 = times.entry(row.get(0)?).or_default();
        *micros = micros.saturating_add(middle(row.get(1)?).saturating_mul(row.get(2)?));
    }
    Ok(times)
}

fn growth() -> f64 {
    ((1.0 + ACCURACY) / (1.0 - ACCURACY)).ln()
}

/// The bucket of a value; that of zero is 0.
fn bucket(value: u64) -> i64 {
    if value == 0 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "one per cent is asked for")]
    let logarithm = (value as f64).ln();
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 2,219")]
    let number = (logarithm / growth()).ceil() as i64;
    number + 1
}

/// The value in the middle of a bucket.
fn middle(bucket: i64) -> u64 {
    if bucket == 0 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "it is at most 2,219")]
    let upper = ((bucket - 1) as f64 * growth()).exp();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, and is positive")]
    let middle = (upper * (1.0 - ACCURACY)).round() as u64;
    middle.max(1)
}

fn percentiles(transaction: &Connection, tool: i64, what: &str) -> rusqlite::Result<Percentiles> {
    let sql = "SELECT bucket, count FROM cost WHERE tool = ? AND what = ? ORDER BY bucket";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map((tool, what), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let buckets: Vec<(i64, u64)> = rows.collect::<Result<_, _>>()?;
    let all: u128 = buckets.iter().map(|(_, count)| u128::from(*count)).sum();
    let within = |percent: u128| {
        let mut rest = (all * percent).div_ceil(100);
        let found = buckets.iter().find(|(_, count)| {
            rest = rest.saturating_sub(u128::from(*count));
            rest == 0
        });
        found.map_or(0, |(bucket, _)| middle(*bucket))
    };
    Ok(if all == 0 {
        Percentiles::default()
    } else {
        Percentiles { p50: within(50), p90: within(90), p99: within(99) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_within_one_per_cent() {
        let mut value = 1_u64;
        while value < u64::MAX / 3 {
            for value in [value, value + 1, value * 2 + 1] {
                let middle = middle(bucket(value));
                let error = middle.abs_diff(value);
                assert!(error <= value / 100 + 1, "{value} became {middle}");
            }
            value = value * 3 / 2 + 1;
        }
        assert_eq!((bucket(0), middle(0)), (0, 0));
        assert_eq!(middle(bucket(1)), 1);
    }
}
