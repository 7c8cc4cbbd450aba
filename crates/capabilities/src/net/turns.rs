//! Whose turn it is, where many requests of a run go to one server.
//!
//! Opening a connection costs both ends more than a request does by one that is open. Where the server is near, those who wait
//! find one open; where it is far, a moment more makes no difference.
//!
//! Invariant: nobody waits where few are under way to the same origin, and nobody waits for longer than a moment, so that requests
//! which are answered only together all get there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many requests to one origin are under way before the next one waits. One is until its answer was read to the end or given up.
const FEW: usize = 16;
/// How long it waits at most.
const MOMENT: Duration = Duration::from_millis(2);

/// The turns of one run, by origin.
#[derive(Default)]
pub(super) struct Turns(Mutex<BTreeMap<String, Arc<Semaphore>>>);

/// The next one's turn comes when this is dropped. Nothing if it was not waited for any longer.
pub(super) type Turn = Option<OwnedSemaphorePermit>;

impl Turns {
    /// Waits until fewer requests to an origin are under way, or for a moment.
    pub(super) async fn wait(&self, origin: &str) -> Turn {
        let turns = self.of(origin);
        if let Ok(turn) = turns.clone().try_acquire_owned() {
            return Some(turn);
        }
        timeout(MOMENT, turns.acquire_owned()).await.ok()?.ok()
    }

    fn of(&self, origin: &str) -> Arc<Semaphore> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = all.get(origin) {
            return turns.clone();
        }
        all.entry(origin.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(FEW))).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// What is given without waiting.
    fn now(future: impl Future<Output = Turn>) -> Option<Turn> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn few_wait_for_nothing_and_others_for_one_of_them() {
        let turns = Turns::default();
        let few: Vec<_> = (0..FEW).map(|_| now(turns.wait("http://a.test")).unwrap().unwrap()).collect();
        // Who goes to another origin stands in nobody's way.
        assert!(now(turns.wait("http://a.test:81")).unwrap().is_some());
        let mut next = pin!(turns.wait("http://a.test"));
        assert!(now(next.as_mut()).is_none());
        drop(few);
        assert!(next.await.is_some());
    }

    #[tokio::test]
    async fn who_has_waited_for_a_moment_goes_without_a_turn() {
        let turns = Turns::default();
        let _few: Vec<_> = (0..FEW).map(|_| now(turns.wait("http://a.test")).unwrap().unwrap()).collect();
        assert!(turns.wait("http://a.test").await.is_none());
    }
}
