//! Group commit: threads that record runs at the same time share one transaction. The first thread
//! to get the writer also writes what the others have queued.
//!
//! Invariant: what is acknowledged is in the index. The record of a run and its usage are written
//! both or neither, and once.

use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use rusqlite::Connection;

use crate::costs::Demoted;
use crate::error::Fault;
use crate::index::Durability;
use crate::records::{self, HashedRecord};
use crate::store::Store;
use crate::usage::{self, UsageEvent};

/// What has to be written for a run.
pub(crate) struct PendingWrite {
    pub(crate) record: Option<HashedRecord>,
    pub(crate) usage: Option<UsageEvent>,
}

/// A pending write in the queue, with the slot for its result.
pub(crate) struct QueuedWrite {
    write: PendingWrite,
    result: Arc<OnceLock<Result<(), Arc<Fault>>>>,
}

/// A run that could not be recorded.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct RecordError(Arc<Fault>);

impl RecordError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
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

impl Store {
    /// Writes something of a run, in one transaction with the pending writes of other threads.
    pub(crate) fn commit_grouped(&self, kept: PendingWrite) -> Result<(), RecordError> {
        let done = Arc::new(OnceLock::new());
        self.queued_writes().push(QueuedWrite { write: kept, result: Arc::clone(&done) });
        self.index.write_batch(
            Durability::Unsynced,
            || std::mem::take(&mut *self.queued_writes()),
            |connection, batch: &[QueuedWrite]| write_all(connection, batch.iter().map(|waiting| &waiting.write)),
            |batch, written| {
                let written = written.map(|fallen| self.audit_demotions(&fallen)).map_err(Arc::new);
                for waiting in batch {
                    // This is the only place that sets it.
                    let _ = waiting.result.set(written.clone());
                }
            },
        );
        // No result: the thread that took this write along panicked.
        done.get()
            .cloned()
            .unwrap_or_else(|| Err(Arc::new(Fault::Busy { what: "the index".to_owned() })))
            .map_err(RecordError)
    }

    fn queued_writes(&self) -> MutexGuard<'_, Vec<QueuedWrite>> {
        self.write_queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes pending records and usage in order and returns the tools that were demoted.
pub(crate) fn write_all<'a>(
    connection: &Connection,
    kept: impl IntoIterator<Item = &'a PendingWrite>,
) -> Result<Vec<Demoted>, Fault> {
    let mut events = Vec::new();
    for PendingWrite { record, usage } in kept {
        // If the record is already there, its usage was counted.
        let is_new = record.as_ref().map_or(Ok(true), |record| records::insert(connection, record))?;
        events.extend(usage.as_ref().filter(|_| is_new));
    }
    usage::record_events(connection, events)
}
