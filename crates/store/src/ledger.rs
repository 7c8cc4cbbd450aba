//! What tools took and gave, and what runs take from a tool that passed.
//!
//! Invariant: sums stay at the greatest number that the index holds, rather than begin again. A tool that passed and then
//! fails in use is not taken for proven: [`FALLS_BACK_AFTER`] is the rule.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use std::time::Duration;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::audit::{Action, Attempt, Change};
use crate::error::Fault;
use crate::generation;
use crate::store::{COLUMNS, Entry, Store, TABLES, parsed};
use crate::usage::UsageEvent;

/// So many failures of its own in a row, since it passed or last went well, and a tool that passed is unverified again: one
/// may be its caller's fault, as may two.
const FALLS_BACK_AFTER: u64 = 3;
/// The failures that are a tool's own: it threw, or used up what a run is given. Where a call was broken off, was refused,
/// or the engine failed, that says nothing about the tool.
const ITS_OWN: [&str; 9] = [
    "tool-failed",
    "timeout",
    "out-of-fuel",
    "out-of-memory",
    "stack-overflow",
    "output-too-large",
    "console-too-large",
    "too-many-operations",
    "stalled",
];

/// A tool, and what its runs took and gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The tool.
    pub entry: Entry,
    /// How long all its runs took together.
    pub time: Duration,
    /// How many tokens they saved; none where no host said anything.
    pub tokens_saved: Option<u64>,
}

/// A tool that passed, and is unverified again.
pub(crate) struct FellBack {
    tool: ToolId,
    name: ToolName,
    at: Timestamp,
}

impl Store {
    /// What the runs of each tool that a name leads to took and gave, the oldest tool first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn accounts(&self) -> Result<Vec<Account>, Fault> {
        self.settle_first();
        self.index.read(|transaction| {
            let sql = format!(
                "SELECT {COLUMNS}, coalesce(micros, 0), saved FROM {TABLES} LEFT JOIN ledger ON ledger.tool = num \
                 WHERE current = 1 ORDER BY num"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| {
                let time = Duration::from_micros(row.get(19)?);
                Ok(Account { entry: Entry::of_row(row)?, time, tokens_saved: row.get(20)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Writes a line for each tool that fell back.
    pub(crate) fn say_who_fell_back(&self, fallen: &[FellBack]) {
        for FellBack { tool, name, at } in fallen {
            let mut attempt = Attempt::new(Action::Status, *at);
            (attempt.tool, attempt.name) = (Some(*tool), Some(name.to_string()));
            attempt.details.status = Some(Change { from: Status::Passed, to: Status::Unverified });
            attempt.details.decided_by = Some("runs".to_owned());
            if let Err(fault) = self.audit.record(&attempt) {
                // It is so all the same, and whoever looks at the tool sees it.
                tracing::error!(%tool, %fault, "that a tool fell back cannot be recorded");
            }
        }
    }
}

/// What the index keeps of a tool's runs.
#[derive(Default)]
struct Sums {
    micros: u64,
    saved: Option<u64>,
    in_row: u64,
}

/// Adds what runs of a tool took and gave, in the order in which they ended, and lets the tool fall back where it has to.
pub(crate) fn enter(connection: &Connection, num: i64, events: &[&UsageEvent]) -> Result<Option<FellBack>, Fault> {
    let sql = "SELECT micros, saved, in_row FROM ledger WHERE tool = ?";
    let known = connection
        .prepare_cached(sql)?
        .query_row([num], |row| Ok(Sums { micros: row.get(0)?, saved: row.get(1)?, in_row: row.get(2)? }));
    let mut sums = known.optional()?.unwrap_or_default();
    let mut fell_at = None;
    for event in events {
        let micros = u64::try_from(event.duration.as_micros()).unwrap_or(u64::MAX);
        sums.micros = sum(sums.micros, micros);
        match &event.failure {
            None => {
                sums.in_row = 0;
                let saved = event.tokens_saved.map(|tokens| sum(sums.saved.unwrap_or(0), tokens));
                sums.saved = saved.or(sums.saved);
            }
            Some(code) => sums.in_row = sum(sums.in_row, u64::from(ITS_OWN.contains(&code.as_str()))),
        }
        if sums.in_row >= FALLS_BACK_AFTER {
            fell_at = fell_at.or(Some(event.at));
        }
    }
    let sql = "INSERT OR REPLACE INTO ledger (tool, micros, saved, in_row) VALUES (?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute((num, sums.micros, sums.saved, sums.in_row))?;
    fell_at.map_or(Ok(None), |at| fall_back(connection, num, at))
}

/// Takes its proof from a tool that has one.
fn fall_back(connection: &Connection, num: i64, at: Timestamp) -> Result<Option<FellBack>, Fault> {
    let sql = "UPDATE tool SET status = 'unverified' WHERE num = ? AND status = 'passed' RETURNING id, name";
    let fallen = connection.prepare_cached(sql)?.query_row([num], |row| {
        let name = parsed(1, ToolName::parse(row.get_ref(1)?.as_str()?))?;
        Ok(FellBack { tool: ToolId::from_bytes(row.get(0)?), name, at })
    });
    let fallen = fallen.optional()?;
    if fallen.is_some() {
        generation::changed(connection)?;
    }
    Ok(fallen)
}

/// Notes how long the runs of a tool took of which nothing was kept so far.
pub(crate) fn begin(connection: &Connection, num: i64, micros: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO ledger (tool, micros, in_row) VALUES (?, ?, 0)";
    connection.prepare_cached(sql)?.execute((num, sum(micros, 0))).map(|_| ())
}

/// Forgets the failures of a tool that passes now.
pub(crate) fn passed(connection: &Connection, num: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE ledger SET in_row = 0 WHERE tool = ?")?.execute([num]).map(|_| ())
}

/// At most as much as the index holds.
fn sum(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(i64::MAX.cast_unsigned())
}
