//! Notices changes of the store and of the policy.
//!
//! Many processes share a store, so it is polled: one read in half a second, however many pages are open, and none while no page is.
//!
//! Invariant: the store is polled only while at least one receiver exists.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::source::ToolboxSource;

/// How often the store is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The changes of a store, as its readers see them.
pub(crate) struct ChangeFeed {
    source: Arc<dyn ToolboxSource>,
    state: Arc<watch::Sender<Option<String>>>,
    is_polled: Arc<Mutex<bool>>,
    decided: Arc<Notify>,
}

impl ChangeFeed {
    pub(crate) fn new(source: Arc<dyn ToolboxSource>) -> Self {
        Self { source, state: Arc::new(watch::channel(None).0), is_polled: Arc::default(), decided: Arc::default() }
    }

    /// Reads the store at once, because this process changed it.
    pub(crate) fn check_now(&self) {
        self.decided.notify_waiters();
    }

    /// Subscribes to the state of the store.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<String>> {
        let receiver = self.state.subscribe();
        let mut is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *is_polled, true) {
            let (state, is_polled, decided) =
                (Arc::clone(&self.state), Arc::clone(&self.is_polled), Arc::clone(&self.decided));
            tokio::spawn(poll(Arc::clone(&self.source), state, is_polled, decided));
        }
        receiver
    }
}

/// Polls the store until the last stream ends.
async fn poll(
    source: Arc<dyn ToolboxSource>,
    state: Arc<watch::Sender<Option<String>>>,
    is_polled: Arc<Mutex<bool>>,
    decided: Arc<Notify>,
) {
    loop {
        // Created before the store is read, so that no change after that is missed.
        let changed = decided.notified();
        {
            let mut is_polled = is_polled.lock().unwrap_or_else(PoisonError::into_inner);
            if state.is_closed() {
                *is_polled = false;
                return;
            }
        }
        let source = Arc::clone(&source);
        let read = tokio::task::spawn_blocking(move || {
            // Pages ask again, and show the error.
            let marker = source.current().and_then(|current| current.marker());
            marker.unwrap_or_else(|error| format!("error.{}", error.code))
        });
        if let Ok(marker) = read.await {
            state.send_if_modified(|known| {
                let is_new = known.as_ref() != Some(&marker);
                *known = Some(marker);
                is_new
            });
        }
        let _ = timeout(POLL_INTERVAL, changed).await;
    }
}
