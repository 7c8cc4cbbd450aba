//! How much of the machine a principal has: so many runs at once, and so many that wait for their turn.
//!
//! Invariant: nobody's runs wait for those of another principal.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The share of a principal.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    running: Arc<Semaphore>,
    /// Those that run or wait.
    here: Arc<Semaphore>,
    most: (usize, usize),
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _running: OwnedSemaphorePermit,
    _here: OwnedSemaphorePermit,
}

/// As many wait as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{running} runs are under way and {waiting} wait, which is the limit")]
pub(crate) struct Full {
    running: usize,
    waiting: usize,
}

impl Full {
    pub(crate) const CODE: &str = "busy";
    pub(crate) const HINT: &str = "try again in a while, or let runs end that are under way";
}

impl Share {
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let running = running.clamp(1, Semaphore::MAX_PERMITS / 2);
        let waiting = waiting.min(Semaphore::MAX_PERMITS / 2);
        let here = Arc::new(Semaphore::new(running + waiting));
        Self { running: Arc::new(Semaphore::new(running)), here, most: (running, waiting) }
    }

    /// Waits for a turn. Whoever came first has it first.
    pub(crate) async fn turn(&self) -> Result<Turn, Full> {
        let (running, waiting) = self.most;
        let full = Full { running, waiting };
        let here = Arc::clone(&self.here).try_acquire_owned().map_err(|_| full)?;
        // The semaphore is never closed.
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| full)?;
        Ok(Turn { _running: running, _here: here })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_more_than_may_wait_is_refused_and_a_turn_that_ends_makes_room() {
        let share = Share::new(1, 1);
        let first = share.turn().await.unwrap();
        let waits = tokio::spawn({
            let share = share.clone();
            async move { share.turn().await }
        });
        while share.here.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let full = share.turn().await.unwrap_err();
        assert_eq!(full.to_string(), "1 runs are under way and 1 wait, which is the limit");
        drop(first);
        drop(waits.await.unwrap().unwrap());
        assert!(share.turn().await.is_ok());
    }
}
