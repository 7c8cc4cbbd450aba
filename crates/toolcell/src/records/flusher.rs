//! Flushes finished runs into the index of the store, where other processes find them.
//!
//! Invariant: a finished run is flushed a moment later, even if nothing else happens in this
//! process. A toolbox that runs nothing has no thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, park, park_timeout};
use std::time::Duration;

use toolcell_store::Store;

/// How long the first finished run waits for others, so that they share a transaction.
const BATCH_DELAY: Duration = Duration::from_millis(20);
/// How long to wait after a failed write.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The background thread that flushes runs.
#[derive(Default)]
pub(super) struct RunFlusher(OnceLock<Option<FlushThread>>);

struct FlushThread {
    state: Arc<FlushState>,
    handle: JoinHandle<()>,
}

#[derive(Default)]
struct FlushState {
    /// Whether the thread is parked until a run finishes.
    is_parked: AtomicBool,
    /// Whether the toolbox was dropped.
    is_stopped: AtomicBool,
}

impl RunFlusher {
    /// Notifies the thread that a run has finished.
    pub(super) fn notify(&self, store: &Arc<Store>) {
        // Without a thread, the next read of the store flushes the runs.
        let thread = self.0.get_or_init(|| FlushThread::start(store));
        if let Some(thread) = thread
            && thread.state.is_parked.swap(false, Ordering::SeqCst)
        {
            thread.handle.thread().unpark();
        }
    }
}

impl FlushThread {
    fn start(store: &Arc<Store>) -> Option<Self> {
        let (state, store) = (Arc::new(FlushState::default()), Arc::clone(store));
        let its = Arc::clone(&state);
        let work = move || {
            while !its.is_stopped.load(Ordering::SeqCst) {
                // A finishing run checks this flag after it has finished, and the thread checks for
                // runs after it has set the flag, so neither misses the other.
                its.is_parked.store(true, Ordering::SeqCst);
                if store.runs().unflushed() == 0 {
                    park();
                    continue;
                }
                its.is_parked.store(false, Ordering::SeqCst);
                park_timeout(BATCH_DELAY);
                if let Err(fault) = store.runs().flush_soon() {
                    tracing::warn!(%fault, "finished runs cannot be flushed to the index; retrying");
                    park_timeout(RETRY_DELAY);
                }
            }
        };
        let handle = std::thread::Builder::new().name("toolcell-keeper".to_owned()).spawn(work).ok()?;
        Some(Self { state, handle })
    }
}

impl Drop for RunFlusher {
    fn drop(&mut self) {
        if let Some(Some(thread)) = self.0.take() {
            thread.state.is_stopped.store(true, Ordering::SeqCst);
            thread.handle.thread().unpark();
            // A panic of the thread was reported when it happened.
            let _ = thread.handle.join();
        }
    }
}
