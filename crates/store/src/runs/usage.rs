//! Usage statistics of tools.
//!
//! Invariant: acknowledged usage is in the index; see [group commit](crate::db::group_commit).
//! Costs are stored as [sketches](crate::db::sketch), so a percentile is within one per cent of the
//! true value, for any number of runs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::ToolId;

use crate::db::sketch::{bucket, bucket_midpoint};
use crate::entry::Entry;
use crate::error::Fault;

use super::Runs;
use super::costs::{self, Demoted};
use super::daily_usage;
use super::usage_event::UsageEvent;

/// The confidence gained by a successful run, in ten-thousandths.
const SUCCESS_GAIN: i64 = 200;
/// The confidence lost by a failed run, in ten-thousandths.
const FAILURE_PENALTY: i64 = 500;
/// The minimum and the maximum confidence, in ten-thousandths.
const CONFIDENCE_BOUNDS: (i64, i64) = (1_000, 10_000);
/// The maximum number of characters stored of a failure code.
const MAX_CODE_CHARS: usize = 64;

/// The usage statistics of a tool over all runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUsage {
    /// The number of runs.
    pub runs: u64,
    /// The number of successful runs.
    pub successes: u64,
    /// The number of failed runs, by code.
    pub failures: BTreeMap<String, u64>,
    /// When the tool last ran.
    pub last_used_at: Option<Timestamp>,
    /// Percentiles of fuel.
    pub fuel: Percentiles,
    /// Percentiles of duration, in microseconds.
    pub micros: Percentiles,
}

/// Percentiles of a cost, each within one per cent; 0 if there were no runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Percentiles {
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
}

impl Runs<'_> {
    /// The usage statistics of a tool.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn usage(&self, entry: &Entry) -> Result<ToolUsage, Fault> {
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT code, count FROM failure WHERE tool = ?")?;
            let failures = statement.query_map([entry.num], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(ToolUsage {
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

/// Records usage in the order in which the runs ended, one update per tool, and returns the tools
/// that were demoted.
pub(crate) fn record_events<'a>(
    connection: &Connection,
    events: impl IntoIterator<Item = &'a UsageEvent>,
) -> Result<Vec<Demoted>, Fault> {
    let mut tools: BTreeMap<ToolId, Vec<&UsageEvent>> = BTreeMap::new();
    for event in events {
        tools.entry(event.tool).or_default().push(event);
    }
    let mut fallen = Vec::new();
    for (tool, events) in tools {
        if let Some(num) = record_tool_events(connection, tool, &events)? {
            daily_usage::record(connection, num, &events)?;
            fallen.extend(costs::record_costs(connection, num, &events)?);
        }
    }
    Ok(fallen)
}

/// Records the usage of one tool and returns its row number; `None` if it was garbage-collected
/// meanwhile.
fn record_tool_events(connection: &Connection, tool: ToolId, events: &[&UsageEvent]) -> Result<Option<i64>, Fault> {
    let sql = "SELECT num, confidence FROM tool WHERE id = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([tool.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((num, mut confidence)): Option<(i64, i64)> = row else { return Ok(None) };
    let (mut successes, mut last) = (0_u64, 0);
    let (mut costs, mut failures) = (BTreeMap::new(), BTreeMap::new());
    for event in events {
        let step = if event.failure.is_none() { SUCCESS_GAIN } else { -FAILURE_PENALTY };
        confidence = (confidence + step).clamp(CONFIDENCE_BOUNDS.0, CONFIDENCE_BOUNDS.1);
        successes += u64::from(event.failure.is_none());
        last = last.max(event.at.as_millisecond());
        let micros = u64::try_from(event.duration.as_micros()).unwrap_or(u64::MAX);
        for cost in [("fuel", bucket(event.fuel)), ("micros", bucket(micros))] {
            *costs.entry(cost).or_insert(0_u64) += 1;
        }
        if let Some(code) = &event.failure {
            let code: String = code.chars().take(MAX_CODE_CHARS).collect();
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
        found.map_or(0, |(bucket, _)| bucket_midpoint(*bucket))
    };
    Ok(if all == 0 {
        Percentiles::default()
    } else {
        Percentiles { p50: within(50), p90: within(90), p99: within(99) }
    })
}
