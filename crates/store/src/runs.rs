//! Runs: their journal, their records and their costs.
//!
//! Reading order: [`run_id`] identifies a run, [`journal`] survives its process, [`active`] starts,
//! finishes and recovers it, [`flush`] moves finished runs into the index, where [`records`],
//! [`usage`], [`daily_usage`] and [`costs`] read them.
//!
//! Invariant: a started run ends up with exactly one run record and one audit line.

mod active;
pub(crate) mod costs;
pub(crate) mod daily_usage;
mod flush;
mod journal;
mod pending;
pub(crate) mod records;
mod run_id;
mod usage;
mod usage_event;

pub use active::{ActiveRun, FinishedRun, InterruptedRun};
pub use costs::ToolCosts;
pub use daily_usage::{DailyUsage, UsageTotals};
pub use journal::PAYLOAD_LIMIT;
pub use pending::RecordError;
pub use records::{ListedRecord, PLAN_KIND, RECEIPT_KIND, RUN_KIND, ReceiptLimits, Record, RecordPosition};
pub use run_id::{RunId, RunIdError};
pub use usage::{Percentiles, ToolUsage};
pub use usage_event::UsageEvent;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::db::Db;
use crate::db::group_commit::GroupCommit;

use flush::FlushQueue;
use journal::Journal;
use pending::PendingWrite;

/// The runs of this process that are not in the index yet.
#[derive(Default)]
pub(crate) struct RunState {
    group_commit: GroupCommit<PendingWrite>,
    flush_queue: FlushQueue,
    /// The run journal of this process, created with the first run.
    journal: Mutex<Option<Arc<Journal>>>,
    /// Whether the audit line of the last run could not be appended yet.
    is_log_behind: AtomicBool,
}

/// The runs of a store: their journal, their records, their usage and their costs.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    db: &'a Db,
    state: &'a RunState,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(db: &'a Db, state: &'a RunState) -> Self {
        Self { db, state }
    }
}

#[cfg(test)]
mod tests;
