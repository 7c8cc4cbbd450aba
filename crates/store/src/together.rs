//! Threads that keep something of a run at the same moment share one transaction: the first that comes to the writer
//! takes along what the others have laid down.
//!
//! Invariant: what is acknowledged is in the index. The record of a run and what it adds to the usage of its tool are
//! there both or not at all, and once.

use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use rusqlite::Connection;

use crate::error::Fault;
use crate::index::Durability;
use crate::ledger::FellBack;
use crate::records::{self, RunRecord};
use crate::store::Store;
use crate::usage::{self, UsageEvent};

/// What is to be kept of a run.
pub(crate) struct Kept {
    pub(crate) record: Option<RunRecord>,
    pub(crate) usage: Option<UsageEvent>,
}

/// What waits for the writer, and where its result is laid down.
pub(crate) struct Waiting {
    kept: Kept,
    done: Arc<OnceLock<Result<(), Arc<Fault>>>>,
}

/// A run could not be recorded.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct RecordError(Arc<Fault>);

impl RecordError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// What to do next.
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
    /// Keeps something of a run, together with what other threads keep now.
    pub(crate) fn keep_together(&self, kept: Kept) -> Result<(), RecordError> {
        let done = Arc::new(OnceLock::new());
        self.waiting().push(Waiting { kept, done: Arc::clone(&done) });
        self.index.write_all_of(
            Durability::Unsynced,
            || std::mem::take(&mut *self.waiting()),
            |connection, batch: &[Waiting]| keep(connection, batch.iter().map(|waiting| &waiting.kept)),
            |batch, written| {
                let written = written.map(|fallen| self.say_who_fell_back(&fallen)).map_err(Arc::new);
                for waiting in batch {
                    // It is set once only, here.
                    let _ = waiting.done.set(written.clone());
                }
            },
        );
        // Without a result, whoever took it along did not come back.
        done.get()
            .cloned()
            .unwrap_or_else(|| Err(Arc::new(Fault::Busy { what: "the index".to_owned() })))
            .map_err(RecordError)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what is to be kept, in order, and says which tools fell back by it.
pub(crate) fn keep<'a>(
    connection: &Connection,
    kept: impl IntoIterator<Item = &'a Kept>,
) -> Result<Vec<FellBack>, Fault> {
    let mut events = Vec::new();
    for Kept { record, usage } in kept {
        // With a record that is there already its usage was counted.
        let is_new = record.as_ref().map_or(Ok(true), |record| records::insert(connection, record))?;
        events.extend(usage.as_ref().filter(|_| is_new));
    }
    usage::count(connection, events)
}
