//! What a clerk does with runs, and what is found of them.
//!
//! Invariant: a record and a line of a run tell of the same order. What was begun says which order that was, so whoever
//! closes it needs to know nothing else.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolcell_store::audit::{Action, Attempt, Failure, Filter, Line, Order};
use toolcell_store::{Begun, Entry, Fault, RUN, Record, RecordError, RunEnd, Store, UsageEvent};
use toolcell_tool::ToolId;

/// What is noted when a run is begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The time of an order.
    pub at: i64,
    /// The tool.
    pub tool: String,
}

/// What is found of a run, in a record or in a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ended {
    /// The time of the order that ended it, or that began it where it was interrupted.
    pub at: i64,
    /// Its identifier.
    pub run: String,
    /// How it ended: `returned`, `interrupted` or a code.
    pub outcome: String,
}

impl Ended {
    /// What the records of a tool say, and what the lines of the log say, in order.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn all(store: &Store, tool: ToolId) -> Result<(Vec<Self>, Vec<Self>), Fault> {
        let records = store.records_of_kind(tool, RUN, usize::MAX)?;
        let mut kept: Vec<Self> =
            records.iter().map(|(_, record)| serde_json::from_slice(&record.body).unwrap()).collect();
        let lines = store.audit().query(Filter::default(), Order::OldestFirst)?;
        let mut appended = lines.map(|line| line.map(|line| Self::said(&line))).collect::<Result<Vec<_>, _>>()?;
        kept.sort();
        appended.sort();
        Ok((kept, appended))
    }

    fn said(line: &Line) -> Self {
        let run = line.details["run"].as_str().unwrap().to_owned();
        let outcome = line.error.clone().unwrap_or_else(|| "returned".to_owned());
        Self { at: line.at.as_millisecond(), run, outcome }
    }
}

pub(crate) fn begin(store: &Store, entry: &Entry, at: i64) -> Result<Begun, Fault> {
    let noted = Noted { at, tool: entry.id.to_string() };
    store.begin_run(|_| serde_json::to_vec(&noted).unwrap())
}

/// Ends a run with an outcome. The order is known from what is noted.
pub(crate) fn end(store: &Store, begun: Begun, noted: &Noted, outcome: &str) -> Result<(), RecordError> {
    let tool: ToolId = noted.tool.parse().unwrap();
    let at = Timestamp::from_millisecond(noted.at).unwrap();
    let code = ["timeout", "interrupted"].into_iter().find(|code| *code == outcome);
    let ended = Ended { at: noted.at, run: begun.run().to_string(), outcome: outcome.to_owned() };
    let record = Record { kind: RUN.to_owned(), tool: Some(tool), at, body: serde_json::to_vec(&ended).unwrap() };
    let result = code.map_or(Ok(()), |code| Err(Failure { code, message: None }));
    let attempt = Attempt { tool: Some(tool), result, ..Attempt::new(Action::RunDynamicTool, at) };
    let failure = code.map(str::to_owned);
    let usage = UsageEvent { tool, at, failure, fuel: 1_000, duration: Duration::from_millis(20), tokens_saved: None };
    store.end_run(begun, RunEnd { usage: Some(usage), record, attempt }).map(|_| ())
}

/// Closes what was interrupted: as it ended, where that is known.
pub(crate) fn close(store: &Store) -> Result<(), RecordError> {
    for interrupted in store.interrupted_runs()? {
        let mut noted: Noted = serde_json::from_slice(&interrupted.payload).unwrap();
        let kept = interrupted.kept.map(|kept| serde_json::from_slice::<Ended>(&kept.body).unwrap());
        let ended = kept.or_else(|| interrupted.appended.as_ref().map(Ended::said));
        let mut outcome = "interrupted".to_owned();
        if let Some(ended) = ended {
            (noted.at, outcome) = (ended.at, ended.outcome);
        }
        end(store, interrupted.begun, &noted, &outcome)?;
    }
    Ok(())
}
