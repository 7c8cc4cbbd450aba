//! Pending writes of runs: the record of a run and its usage.
//!
//! Invariant: both are written or neither, and once.

use std::sync::Arc;

use rusqlite::Connection;
use toolcell_error::ErrorCode;

use crate::db::Db;
use crate::error::Fault;

use super::costs::{Demoted, report_demotions};
use super::records::{self, HashedRecord};
use super::usage;
use super::usage_event::UsageEvent;
use super::{RunState, Runs};

/// What has to be written for a run.
pub(crate) struct PendingWrite {
    pub(crate) record: Option<HashedRecord>,
    pub(crate) usage: Option<UsageEvent>,
}

/// A run that could not be recorded.
#[derive(Debug, Clone, thiserror::Error, toolcell_i18n::Localize)]
#[error(transparent)]
pub struct RecordError(Arc<Fault>);

impl RecordError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code()
    }

    /// What the user can do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        self.0.hint()
    }
}

impl From<Fault> for RecordError {
    fn from(fault: Fault) -> Self {
        Self(Arc::new(fault))
    }
}

impl Runs<'_> {
    /// Records the usage of a run. It survives a crash of the process at once, and a power failure
    /// after the next change of a tool.
    ///
    /// If the tool was garbage-collected meanwhile, nothing is recorded.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn record_usage(&self, event: UsageEvent) -> Result<(), RecordError> {
        commit_grouped(self.db, self.state, PendingWrite { record: None, usage: Some(event) })
    }
}

/// Writes something of a run, in one transaction with the pending writes of other threads.
pub(super) fn commit_grouped(db: &Db, state: &RunState, write: PendingWrite) -> Result<(), RecordError> {
    let mut to_share = Vec::new();
    let committed = state.group_commit.commit(
        &db.index,
        write,
        |connection, batch| write_all(connection, batch),
        // The writer is held here, and a change of a shared library needs it.
        |demoted| if db.is_copy() { to_share = demoted } else { report_demotions(db, &demoted) },
    );
    report_demotions(db, &to_share);
    committed.map_err(RecordError)
}

/// Writes pending records and usage in order and returns the tools that were demoted.
pub(super) fn write_all<'a>(
    connection: &Connection,
    writes: impl IntoIterator<Item = &'a PendingWrite>,
) -> Result<Vec<Demoted>, Fault> {
    let mut events = Vec::new();
    for PendingWrite { record, usage } in writes {
        // If the record is already there, its usage was counted.
        let is_new = record.as_ref().map_or(Ok(true), |record| records::insert(connection, record))?;
        events.extend(usage.as_ref().filter(|_| is_new));
    }
    usage::record_events(connection, events)
}
