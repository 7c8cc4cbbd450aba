//! Runs of a store worker, and what the store keeps of them.
//!
//! Invariant: the record and the audit line of a run describe the same order. The payload of a
//! started run identifies that order, so closing the run needs no other knowledge.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolcell_error::ErrorCode;
use toolcell_store::audit::{Action, AuditEvent, AuditFilter, AuditLine, AuditOrder, EventFailure};
use toolcell_store::{ActiveRun, Entry, Fault, FinishedRun, RUN_KIND, Record, RecordError, Store, UsageEvent};
use toolcell_tool::ToolId;

/// The journal payload of a started run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedRun {
    /// The time of the order, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The tool's identifier.
    pub tool: String,
}

/// A finished run, from its record or its audit line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunEnd {
    /// The time of the order that finished it, or that started it if it was interrupted, in
    /// milliseconds since the Unix epoch.
    pub at: i64,
    /// The run's identifier.
    pub run: String,
    /// The outcome: `returned`, `interrupted` or an error code.
    pub outcome: String,
}

impl RunEnd {
    /// Returns the runs in a tool's records, and the runs in the audit log, both sorted.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn all(store: &Store, tool: ToolId) -> Result<(Vec<Self>, Vec<Self>), Fault> {
        let records = store.runs().records_of_kind(tool, RUN_KIND, usize::MAX)?;
        let mut kept: Vec<Self> =
            records.iter().map(|(_, record)| serde_json::from_slice(&record.body).unwrap()).collect();
        let lines = store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst)?;
        let mut appended = lines.map(|line| line.map(|line| Self::from_line(&line))).collect::<Result<Vec<_>, _>>()?;
        kept.sort();
        appended.sort();
        Ok((kept, appended))
    }

    fn from_line(line: &AuditLine) -> Self {
        let run = line.details["run"].as_str().unwrap().to_owned();
        let outcome = line.error.clone().unwrap_or_else(|| "returned".to_owned());
        Self { at: line.at.as_millisecond(), run, outcome }
    }
}

pub(crate) fn start(store: &Store, entry: &Entry, at: i64) -> Result<ActiveRun, Fault> {
    let noted = StartedRun { at, tool: entry.id.to_string() };
    store.runs().start(|_| serde_json::to_vec(&noted).unwrap())
}

/// Finishes a run with an outcome. The payload identifies the order.
pub(crate) fn finish(store: &Store, begun: ActiveRun, noted: &StartedRun, outcome: &str) -> Result<(), RecordError> {
    let tool: ToolId = noted.tool.parse().unwrap();
    let at = Timestamp::from_millisecond(noted.at).unwrap();
    let code = ["timeout", "interrupted"].into_iter().find(|code| *code == outcome);
    let ended = RunEnd { at: noted.at, run: begun.run().to_string(), outcome: outcome.to_owned() };
    let record = Record { kind: RUN_KIND.to_owned(), tool: Some(tool), at, body: serde_json::to_vec(&ended).unwrap() };
    let result = code.map_or(Ok(()), |code| Err(EventFailure { code: ErrorCode::parse(code).unwrap(), message: None }));
    let attempt = AuditEvent { tool: Some(tool), result, ..AuditEvent::new(Action::RunDynamicTool, at) };
    let failure = code.map(str::to_owned);
    let usage = UsageEvent {
        tool,
        at,
        failure,
        fuel: 1_000,
        duration: Duration::from_millis(20),
        tokens_saved: None,
        time_saved: None,
    };
    store.runs().finish(begun, FinishedRun { usage: Some(usage), record, audit_event: attempt }).map(|_| ())
}

/// Closes interrupted runs, with their known outcome if a record or a line has it.
pub(crate) fn close_interrupted(store: &Store) -> Result<(), RecordError> {
    for interrupted in store.runs().interrupted()? {
        let mut noted: StartedRun = serde_json::from_slice(&interrupted.payload).unwrap();
        let kept = interrupted.record.map(|kept| serde_json::from_slice::<RunEnd>(&kept.body).unwrap());
        let ended = kept.or_else(|| interrupted.audit_line.as_ref().map(RunEnd::from_line));
        let mut outcome = "interrupted".to_owned();
        if let Some(ended) = ended {
            (noted.at, outcome) = (ended.at, ended.outcome);
        }
        finish(store, interrupted.active, &noted, &outcome)?;
    }
    Ok(())
}
