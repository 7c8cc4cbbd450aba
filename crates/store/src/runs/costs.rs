//! Total costs of tools, and the demotion of tools that keep failing.
//!
//! Invariant: sums saturate at the maximum that the index can hold instead of wrapping. A tool that
//! passed verification and then fails [`MAX_CONSECUTIVE_FAILURES`] times in a row loses its status.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_error::ErrorCode;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::audit::{Action, AuditEvent, StatusChange};
use crate::db::replica::is_replica;
use crate::db::sql::decode_column;
use crate::db::{Db, generation};
use crate::entry::{ENTRY_COLUMNS, ENTRY_TABLES, Entry};
use crate::error::Fault;
use crate::replication::change::Change;

use super::Runs;
use super::usage_event::UsageEvent;

/// A passed tool becomes unverified after this many failures of its own in a row, counted since it
/// passed or last succeeded. One or two may be the fault of the caller.
const MAX_CONSECUTIVE_FAILURES: u64 = 3;
/// A tool and the totals of its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCosts {
    /// The tool.
    pub entry: Entry,
    /// The total duration of all runs.
    pub time: Duration,
    /// The total of tokens saved; `None` if no host reported any.
    pub tokens_saved: Option<u64>,
}

/// A tool that was demoted from passed to unverified.
pub(crate) struct Demoted {
    tool: ToolId,
    name: ToolName,
    at: Timestamp,
}

impl Runs<'_> {
    /// The costs of all tools that names resolve to, oldest tool first.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn tool_costs(&self) -> Result<Vec<ToolCosts>, Fault> {
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let sql = format!(
                "SELECT {ENTRY_COLUMNS}, coalesce(micros, 0), saved FROM {ENTRY_TABLES} \
                 LEFT JOIN ledger ON ledger.tool = num WHERE current = 1 ORDER BY num"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| {
                let time = Duration::from_micros(row.get(19)?);
                Ok(ToolCosts { entry: Entry::from_row(row)?, time, tokens_saved: row.get(20)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The costs of one tool.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn costs_of(&self, entry: &Entry) -> Result<ToolCosts, Fault> {
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT micros, saved FROM ledger WHERE tool = ?")?;
            let row = statement.query_row([entry.num], |row| Ok((Duration::from_micros(row.get(0)?), row.get(1)?)));
            let (time, tokens_saved) = row.optional()?.unwrap_or_default();
            Ok(ToolCosts { entry: entry.clone(), time, tokens_saved })
        })
    }
}

/// Appends an audit line for each demoted tool. In the copy of a shared library, the tools are demoted here, on all nodes.
pub(crate) fn report_demotions(db: &Db, fallen: &[Demoted]) {
    for Demoted { tool, name, at } in fallen {
        let mut attempt = AuditEvent::new(Action::Status, *at);
        (attempt.tool, attempt.name) = (Some(*tool), Some(name.to_string()));
        attempt.details.status = Some(StatusChange { from: Status::Passed, to: Status::Unverified });
        attempt.details.decided_by = Some("runs".to_owned());
        if db.is_copy() {
            if let Err(fault) = share_demotion(db, *tool, attempt) {
                // If the next run fails as well, it is tried again.
                tracing::warn!(%tool, %fault, "a tool could not be demoted to `unverified` in the shared library");
            }
        } else if let Err(fault) = db.audit.record(&attempt) {
            // The demotion is in effect anyway and visible in the tool's status.
            tracing::error!(%tool, %fault, "the demotion of a tool to `unverified` could not be recorded");
        }
    }
}

/// Demotes a tool in a shared library, unless its status is another one meanwhile.
fn share_demotion(db: &Db, tool: ToolId, attempt: AuditEvent<'_>) -> Result<(), Fault> {
    let work = |connection: &Connection, _: &mut AuditEvent<'_>| {
        let sql = "UPDATE tool SET status = 'unverified' WHERE id = ? AND status = 'passed'";
        let is_demoted = connection.prepare_cached(sql)?.execute([tool.as_bytes()])? == 1;
        generation::bump(connection)?;
        Ok::<_, Fault>(is_demoted.then_some(()))
    };
    let describe = |(): &()| Change::SetStatus { tool, status: Status::Unverified };
    db.commit_change(Some(attempt), work, describe, |_, _| ()).map(drop)
}

/// The row of a tool in the index.
#[derive(Default)]
struct Sums {
    micros: u64,
    saved: Option<u64>,
    consecutive_failures: u64,
}

/// Adds the costs of a tool's runs, in the order in which they ended, and demotes the tool if it
/// failed too often in a row.
pub(crate) fn record_costs(
    connection: &Connection,
    num: i64,
    events: &[&UsageEvent],
) -> Result<Option<Demoted>, Fault> {
    let sql = "SELECT micros, saved, in_row FROM ledger WHERE tool = ?";
    let known = connection.prepare_cached(sql)?.query_row([num], |row| {
        Ok(Sums { micros: row.get(0)?, saved: row.get(1)?, consecutive_failures: row.get(2)? })
    });
    let mut sums = known.optional()?.unwrap_or_default();
    let mut fell_at = None;
    for event in events {
        let micros = u64::try_from(event.duration.as_micros()).unwrap_or(u64::MAX);
        sums.micros = saturating_sum(sums.micros, micros);
        match &event.failure {
            None => {
                sums.consecutive_failures = 0;
                let saved = event.tokens_saved.map(|tokens| saturating_sum(sums.saved.unwrap_or(0), tokens));
                sums.saved = saved.or(sums.saved);
            }
            Some(code) => {
                // An unknown code is not a fault of the tool.
                let is_tool_fault = ErrorCode::parse(code).is_some_and(ErrorCode::is_tool_fault);
                sums.consecutive_failures = saturating_sum(sums.consecutive_failures, u64::from(is_tool_fault));
            }
        }
        if sums.consecutive_failures >= MAX_CONSECUTIVE_FAILURES {
            fell_at = fell_at.or(Some(event.at));
        }
    }
    let sql = "INSERT OR REPLACE INTO ledger (tool, micros, saved, in_row) VALUES (?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute((num, sums.micros, sums.saved, sums.consecutive_failures))?;
    fell_at.map_or(Ok(None), |at| demote_if_passed(connection, num, at))
}

/// Demotes a tool if its status is passed. In the copy of a shared library, [`report_demotions`] does.
fn demote_if_passed(connection: &Connection, num: i64, at: Timestamp) -> Result<Option<Demoted>, Fault> {
    let is_shared = is_replica(connection)?;
    let sql = if is_shared {
        "SELECT id, name FROM tool WHERE num = ? AND status = 'passed'"
    } else {
        "UPDATE tool SET status = 'unverified' WHERE num = ? AND status = 'passed' RETURNING id, name"
    };
    let fallen = connection.prepare_cached(sql)?.query_row([num], |row| {
        let name = decode_column(1, ToolName::parse(row.get_ref(1)?.as_str()?))?;
        Ok(Demoted { tool: ToolId::from_bytes(row.get(0)?), name, at })
    });
    let fallen = fallen.optional()?;
    if fallen.is_some() && !is_shared {
        generation::bump(connection)?;
    }
    Ok(fallen)
}

/// Resets the count of consecutive failures of a tool that passes now.
pub(crate) fn reset_failures(connection: &Connection, num: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE ledger SET in_row = 0 WHERE tool = ?")?.execute([num]).map(|_| ())
}

/// Adds two numbers, saturating at the maximum that the index can hold.
pub(super) fn saturating_sum(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(i64::MAX.cast_unsigned())
}
