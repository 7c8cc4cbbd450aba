//! Puts runs that have ended into the index of the store, where other processes find them.
//!
//! Invariant: what has ended is there a moment later, also where nothing else happens in this process. A toolbox that runs
//! nothing has no thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, park, park_timeout};
use std::time::Duration;

use toolcell_store::Store;

/// How long the first run that has ended waits for others, so that they share a transaction.
const TOGETHER: Duration = Duration::from_millis(20);
/// How long to wait where the store could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// The thread that settles.
#[derive(Default)]
pub(crate) struct Keeper(OnceLock<Option<Thread>>);

struct Thread {
    state: Arc<State>,
    handle: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    /// Whether it waits for a run to end.
    asleep: AtomicBool,
    /// Whether the toolbox is gone.
    over: AtomicBool,
}

impl Keeper {
    /// Says that a run has ended.
    pub(crate) fn tell(&self, store: &Arc<Store>) {
        // Where there is no thread to be had, whoever asks the store settles.
        let thread = self.0.get_or_init(|| Thread::start(store));
        if let Some(thread) = thread
            && thread.state.asleep.swap(false, Ordering::SeqCst)
        {
            thread.handle.thread().unpark();
        }
    }
}

impl Thread {
    fn start(store: &Arc<Store>) -> Option<Self> {
        let (state, store) = (Arc::new(State::default()), Arc::clone(store));
        let its = Arc::clone(&state);
        let work = move || {
            while !its.over.load(Ordering::SeqCst) {
                // Who ends a run looks at this after it has ended, so that one of both sees the other.
                its.asleep.store(true, Ordering::SeqCst);
                if store.unsettled() == 0 {
                    park();
                    continue;
                }
                its.asleep.store(false, Ordering::SeqCst);
                park_timeout(TOGETHER);
                if let Err(fault) = store.settle_soon() {
                    tracing::warn!(%fault, "runs that have ended are not in the index yet");
                    park_timeout(AGAIN);
                }
            }
        };
        let handle = std::thread::Builder::new().name("toolcell-keeper".to_owned()).spawn(work).ok()?;
        Some(Self { state, handle })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(Some(thread)) = self.0.take() {
            thread.state.over.store(true, Ordering::SeqCst);
            thread.handle.thread().unpark();
            // A thread that panicked has said so.
            let _ = thread.handle.join();
        }
    }
}
