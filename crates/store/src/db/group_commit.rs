//! Group commit: threads that write at the same time share one transaction. The first thread to get
//! the writer also writes what the others have queued.
//!
//! Invariant: what is acknowledged is in the index.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::Connection;
use toolcell_i18n::message;

use crate::durability::Durability;
use crate::error::Fault;

use super::index::Index;

/// The writes of this process that wait for a transaction.
pub(crate) struct GroupCommit<W> {
    queue: Mutex<Vec<QueuedWrite<W>>>,
}

/// A pending write in the queue, with the slot for its result.
struct QueuedWrite<W> {
    write: W,
    result: Arc<OnceLock<Result<(), Arc<Fault>>>>,
}

impl<W> Default for GroupCommit<W> {
    fn default() -> Self {
        Self { queue: Mutex::default() }
    }
}

impl<W> GroupCommit<W> {
    /// Writes something in one transaction with the pending writes of other threads. `work` writes
    /// them all, and `done` gets its result before any of them is acknowledged.
    pub(crate) fn commit<R>(
        &self,
        index: &Index,
        write: W,
        work: impl FnOnce(&Connection, &mut dyn Iterator<Item = &W>) -> Result<R, Fault>,
        done: impl FnOnce(R),
    ) -> Result<(), Arc<Fault>> {
        let result = Arc::new(OnceLock::new());
        self.queued().push(QueuedWrite { write, result: Arc::clone(&result) });
        index.write_batch(
            Durability::Unsynced,
            || std::mem::take(&mut *self.queued()),
            |connection, batch: &[QueuedWrite<W>]| work(connection, &mut batch.iter().map(|queued| &queued.write)),
            |batch, written| {
                let written = written.map(done).map_err(Arc::new);
                for queued in batch {
                    // This is the only place that sets it.
                    let _ = queued.result.set(written.clone());
                }
            },
        );
        // No result: the thread that took this write along panicked.
        result.get().cloned().unwrap_or_else(|| Err(Arc::new(Fault::Busy { what: message!("the index") })))
    }

    fn queued(&self) -> MutexGuard<'_, Vec<QueuedWrite<W>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
