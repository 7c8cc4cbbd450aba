//! That the tools changed, for clients that listen.
//!
//! Many processes share a store, so what changed is asked of the store, and only while somebody listens. Nothing relies on
//! it: a client that hears nothing finds every tool through the operations.
//!
//! Invariant: nobody listens, nothing is polled.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use toolcell::Toolbox;
use toolcell::store::Generation;

/// How often the store is asked.
const EVERY: Duration = Duration::from_millis(500);

/// The changes of a store.
pub(crate) struct Changes {
    toolbox: Weak<Toolbox>,
    told: Arc<watch::Sender<u64>>,
    is_polled: Arc<Mutex<bool>>,
}

impl Changes {
    pub(crate) fn of(toolbox: &Arc<Toolbox>) -> Self {
        Self { toolbox: Arc::downgrade(toolbox), told: Arc::default(), is_polled: Arc::default() }
    }

    /// Whoever holds it is told of changes from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        let receiver = self.told.subscribe();
        let mut is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *is_polled, true) {
            let (told, polled) = (Arc::clone(&self.told), Arc::clone(&self.is_polled));
            // It is read here and now, in some microseconds: what changes from now on is told.
            let before = self.toolbox.upgrade().and_then(|toolbox| generation(&toolbox));
            tokio::spawn(poll(self.toolbox.clone(), told, polled, before));
        }
        receiver
    }
}

/// Asks the store as long as somebody listens.
async fn poll(
    toolbox: Weak<Toolbox>,
    told: Arc<watch::Sender<u64>>,
    is_polled: Arc<Mutex<bool>>,
    mut before: Option<Generation>,
) {
    loop {
        {
            let mut is_polled = is_polled.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_closed() {
                *is_polled = false;
                return;
            }
        }
        let Some(toolbox) = toolbox.upgrade() else { return };
        // A store that fails now and then is asked again.
        if let Some(now) = toolbox.off_thread(generation).await {
            if before.is_some_and(|before| before != now) {
                told.send_modify(|count| *count += 1);
            }
            before = Some(now);
        }
        drop(toolbox);
        tokio::time::sleep(EVERY).await;
    }
}

fn generation(toolbox: &Toolbox) -> Option<Generation> {
    toolbox.store()?.generation().ok()
}
