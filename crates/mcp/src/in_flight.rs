//! Tracking of calls in flight, for a graceful shutdown.
//!
//! Invariant: a call is counted from its start until its outcome is recorded, and
//! [`CallTracker::close`] takes at most its grace period and half a second.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The most time that a server takes after its grace period to stop the remaining calls and to
/// write their results.
pub(crate) const SHUTDOWN_LIMIT: Duration = Duration::from_millis(700);
/// How long calls that were told to stop are waited for.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Counts the calls in flight. Clones share the same count.
#[derive(Debug, Clone, Default)]
pub struct CallTracker {
    tracker: TaskTracker,
    draining: CancellationToken,
    closing: CancellationToken,
    stopping: CancellationToken,
}

/// A call in flight; it ends when this is dropped.
#[derive(Debug)]
pub struct InFlightCall {
    _counted: TaskTrackerToken,
}

impl CallTracker {
    /// Starts a call; `None` once the server is shutting down.
    #[must_use]
    pub fn start(&self) -> Option<InFlightCall> {
        (!self.closing.is_cancelled()).then(|| InFlightCall { _counted: self.tracker.token() })
    }

    /// The number of calls in flight.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tracker.len()
    }

    /// Announces that the server will shut down: clients should send further calls to another server. New calls are still answered.
    pub fn drain(&self) {
        self.draining.cancel();
    }

    /// Cancelled when clients should send their calls to another server.
    #[must_use]
    pub const fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Whether new calls are refused.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Cancelled when new calls are refused.
    #[must_use]
    pub const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Cancelled when the calls in flight have to stop at once.
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Refuses new calls, waits for `grace`, then stops the remaining ones and waits until their
    /// outcome is recorded. The last wait takes half a second at most, because a thread may spin in
    /// a library that cannot be interrupted.
    pub async fn close(&self, grace: Duration) {
        self.close_or_stop(grace, std::future::pending()).await;
    }

    /// Like [`close`](Self::close), but stops the remaining calls as soon as `abandoned` completes.
    pub(crate) async fn close_or_stop(&self, grace: Duration, abandoned: impl Future<Output = ()>) {
        self.draining.cancel();
        self.closing.cancel();
        self.tracker.close();
        let have_ended = tokio::select! {
            ended = tokio::time::timeout(grace, self.tracker.wait()) => ended.is_ok(),
            () = abandoned => false,
        };
        if !have_ended {
            self.stopping.cancel();
            // The transport reports the calls that are left.
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.tracker.wait()).await;
        }
    }
}
