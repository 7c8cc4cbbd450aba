//! What is under way, so that a server can end without losing any of it.
//!
//! Invariant: an operation that was begun is counted until what came of it is recorded, and closing takes no longer than its
//! grace and half a second.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How long a server takes at most, after its grace, to stop what still runs and to write what is still to be answered.
pub(crate) const LAST: Duration = Duration::from_millis(700);
/// How long what was told to stop is waited for.
const STOPPING: Duration = Duration::from_millis(500);

/// The operations that are under way. A copy is about the same ones.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    tracker: TaskTracker,
    closing: CancellationToken,
    stopping: CancellationToken,
}

/// An operation that is under way, until this is dropped.
#[derive(Debug)]
pub struct UnderWay {
    _counted: TaskTrackerToken,
}

impl Calls {
    /// Counts an operation; none where the server is about to end.
    #[must_use]
    pub fn begin(&self) -> Option<UnderWay> {
        (!self.closing.is_cancelled()).then(|| UnderWay { _counted: self.tracker.token() })
    }

    /// How many are under way.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tracker.len()
    }

    /// Whether no more begin.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Cancelled where no more begin.
    #[must_use]
    pub const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Cancelled where those that are under way are to end at once.
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Lets none begin any more, gives those that are under way some time, ends what is left, and waits until what came of
    /// it is recorded: for half a second at most, since a thread may spin in a library that nobody can stop.
    pub async fn close(&self, grace: Duration) {
        self.closing.cancel();
        self.tracker.close();
        if tokio::time::timeout(grace, self.tracker.wait()).await.is_err() {
            self.stopping.cancel();
            // What is left is told where the server ends.
            let _ = tokio::time::timeout(STOPPING, self.tracker.wait()).await;
        }
    }
}
