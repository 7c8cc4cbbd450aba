//! The records of runs, newest first.
//!
//! Invariant: listing runs changes nothing, leaves no audit line, and reads a bounded number of records.

use blake3::Hash;
use toolcell_i18n::{Message, message};
use toolcell_store::{Fault, ListedRecord, RECEIPT_KIND, RUN_KIND, RecordPosition, RunId};
use toolcell_tool::ToolId;

use crate::parts::Parts;
use crate::receipt::Receipt;
use crate::records::RunRecord;

/// The maximum number of records that one page looks at.
const MAX_SCANNED: usize = 5_000;
/// The number of records read at once.
const BATCH: usize = 500;

/// A request for a page of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRuns {
    /// The runs of this tool.
    pub tool: Option<ToolId>,
    /// The runs that ended in this way.
    pub end: Option<RunEnd>,
    /// The runs before this position.
    pub before: Option<RecordPosition>,
    /// At most this many runs.
    pub limit: usize,
}

/// How a run ended, as a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// It returned a result, or a verification found no fault.
    Returned,
    /// It threw, was stopped, was interrupted, or a verification found a fault.
    Failed,
    /// It was refused.
    Refused,
    /// It was suspended.
    Suspended,
}

/// A page of runs.
#[derive(Debug)]
pub struct RunList {
    /// The runs, newest first.
    pub runs: Vec<ListedRun>,
    /// Where the next page starts; `None` on the last one. A page with a filter may end before it is full, because it looks at a
    /// bounded number of records.
    pub next: Option<RecordPosition>,
}

/// A run in a list.
#[derive(Debug)]
pub struct ListedRun {
    /// The position of its record.
    pub position: RecordPosition,
    /// The record; `Err` if it is damaged or from another version.
    pub record: Result<RunRecord, Fault>,
}

impl RunEnd {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Returned, Self::Failed, Self::Refused, Self::Suspended];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Returned => "returned",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Suspended => "suspended",
        }
    }

    /// Looks an end up by name.
    ///
    /// # Examples
    /// ```
    /// use toolcell::RunEnd;
    ///
    /// assert_eq!(RunEnd::from_name("failed"), Some(RunEnd::Failed));
    /// assert_eq!(RunEnd::from_name("exploded"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.name() == name)
    }

    /// Returns the end that a record states.
    #[must_use]
    pub fn from_record(record: &RunRecord) -> Self {
        match &*record.outcome {
            // A verification passes, or has nothing to prove.
            "returned" | "passed" | "unproven" => Self::Returned,
            "refused" => Self::Refused,
            "suspended" => Self::Suspended,
            _ => Self::Failed,
        }
    }
}

/// Returns a page of runs.
pub(crate) fn list(parts: &Parts, request: &ListRuns) -> Result<RunList, Fault> {
    let store = parts.require_store()?;
    let (mut runs, mut before, mut scanned) = (Vec::new(), request.before, 0);
    loop {
        let batch = if request.end.is_some() { BATCH } else { request.limit.saturating_add(1).min(BATCH) };
        let listed = store.runs().newest_runs(request.tool, before, batch)?;
        let is_last = listed.len() < batch;
        for ListedRecord { position, record } in listed {
            let record = record.and_then(|record| parse(&record.body));
            let fits =
                request.end.is_none_or(|end| record.as_ref().is_ok_and(|record| RunEnd::from_record(record) == end));
            if fits && runs.len() == request.limit {
                return Ok(RunList { runs, next: before });
            }
            if fits {
                runs.push(ListedRun { position, record });
            }
            before = Some(position);
            scanned += 1;
        }
        if is_last {
            return Ok(RunList { runs, next: None });
        }
        if scanned >= MAX_SCANNED {
            return Ok(RunList { runs, next: before });
        }
    }
}

/// Returns the record of a run, if there is one.
pub(crate) fn find(parts: &Parts, run: RunId) -> Result<Option<RunRecord>, Fault> {
    let record = parts.require_store()?.runs().record_of_run(run)?;
    record.filter(|record| record.kind == RUN_KIND).map(|record| parse(&record.body)).transpose()
}

/// Returns the receipt that the store keeps of a run.
pub(crate) fn receipt(parts: &Parts, run: RunId) -> Result<Option<Receipt>, Fault> {
    let hash = find(parts, run)?.and_then(|record| Hash::from_hex(record.receipt?).ok());
    let record = hash.map(|hash| parts.require_store()?.runs().record(hash)).transpose()?.flatten();
    let Some(record) = record.filter(|record| record.kind == RECEIPT_KIND) else { return Ok(None) };
    let damaged = |what: Message| Fault::Object { hash: blake3::hash(&record.body).to_hex().to_string(), what };
    let text =
        std::str::from_utf8(&record.body).map_err(|error| damaged(message!("is not a receipt: {error}", error)))?;
    let receipt = Receipt::parse(text).map_err(|error| damaged(message!("is not a receipt: {error}", error)))?;
    Ok(Some(receipt))
}

fn parse(body: &[u8]) -> Result<RunRecord, Fault> {
    serde_json::from_slice(body).map_err(|error| Fault::Object {
        hash: blake3::hash(body).to_hex().to_string(),
        what: message!("is not a run record: {error}", error),
    })
}
