//! Notifies clients that the list of tools changed.
//!
//! Many processes share a store, so changes are detected by polling the store's generation counter. After a call of this
//! process that may have changed something, it is read at once.
//! Notifications are an optimisation: a client that misses one still finds every tool through the
//! operations.
//!
//! Invariant: the store is polled only while at least one receiver exists.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use toolcell::Toolbox;
use toolcell::store::Generation;

/// How often the store is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Watches the generation of a store.
pub(crate) struct ChangeNotifier {
    toolbox: Weak<Toolbox>,
    sender: Arc<watch::Sender<u64>>,
    is_polled: Arc<Mutex<bool>>,
    may_have_changed: Arc<Notify>,
}

impl ChangeNotifier {
    pub(crate) fn new(toolbox: &Arc<Toolbox>) -> Self {
        Self {
            toolbox: Arc::downgrade(toolbox),
            sender: Arc::default(),
            is_polled: Arc::default(),
            may_have_changed: Arc::default(),
        }
    }

    /// Tells that a call of this process may have changed the store.
    pub(crate) fn check_now(&self) {
        self.may_have_changed.notify_waiters();
    }

    /// Subscribes to changes from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        let receiver = self.sender.subscribe();
        let mut is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *is_polled, true) {
            let (told, polled) = (Arc::clone(&self.sender), Arc::clone(&self.is_polled));
            // Read synchronously, in microseconds, so that every later change is noticed.
            let before = self.toolbox.upgrade().and_then(|toolbox| generation(&toolbox));
            tokio::spawn(poll(self.toolbox.clone(), told, polled, before, Arc::clone(&self.may_have_changed)));
        }
        receiver
    }
}

/// Polls the store until the last receiver is dropped.
async fn poll(
    toolbox: Weak<Toolbox>,
    told: Arc<watch::Sender<u64>>,
    is_polled: Arc<Mutex<bool>>,
    mut before: Option<Generation>,
    may_have_changed: Arc<Notify>,
) {
    loop {
        // Created before the store is read, so that no change after that is missed.
        let changed = may_have_changed.notified();
        {
            let mut is_polled = is_polled.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_closed() {
                *is_polled = false;
                return;
            }
        }
        let Some(toolbox) = toolbox.upgrade() else { return };
        // A store that fails temporarily is polled again.
        if let Some(now) = toolbox.spawn_blocking(generation).await {
            if before.is_some_and(|before| before != now) {
                told.send_modify(|count| *count += 1);
            }
            before = Some(now);
        }
        drop(toolbox);
        let _ = tokio::time::timeout(POLL_INTERVAL, changed).await;
    }
}

fn generation(toolbox: &Toolbox) -> Option<Generation> {
    toolbox.store()?.catalog().generation().ok()
}
