//! A soft limit on concurrent requests of a run to one origin.
//!
//! Opening a connection is more expensive for both ends than reusing one. If the server is near, a
//! short wait is enough to find an idle connection; if it is far, the wait is negligible.
//!
//! The limiter is one Tokio semaphore per origin; a wait that takes too long ends without a permit.
//!
//! Invariant: a request waits only if many are in flight to the same origin, and only for a short
//! time. So requests that the server answers only together cannot deadlock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The number of requests to one origin that may be in flight without waiting. A request is in
/// flight until its response was read to the end or dropped.
const MAX_WITHOUT_WAIT: usize = 16;
/// The maximum time that a request waits.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// The semaphores of a run, by origin.
#[derive(Default)]
pub(super) struct OriginLimiter(Mutex<BTreeMap<String, Arc<Semaphore>>>);

/// A permit, released on drop. `None` if the wait timed out: the request proceeds without one.
pub(super) type OriginPermit = Option<OwnedSemaphorePermit>;

impl OriginLimiter {
    /// Waits for a permit for an origin, at most [`MAX_WAIT`].
    pub(super) async fn acquire(&self, origin: &str) -> OriginPermit {
        let semaphore = self.semaphore(origin);
        if let Ok(permit) = semaphore.clone().try_acquire_owned() {
            return Some(permit);
        }
        timeout(MAX_WAIT, semaphore.acquire_owned()).await.ok()?.ok()
    }

    fn semaphore(&self, origin: &str) -> Arc<Semaphore> {
        let mut semaphores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = semaphores.get(origin) {
            return semaphore.clone();
        }
        semaphores.entry(origin.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_WITHOUT_WAIT))).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Returns the permit if it is available without waiting.
    fn now(future: impl Future<Output = OriginPermit>) -> Option<OriginPermit> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn few_wait_for_nothing_and_others_for_one_of_them() {
        let limiter = OriginLimiter::default();
        let few: Vec<_> =
            (0..MAX_WITHOUT_WAIT).map(|_| now(limiter.acquire("http://a.test")).unwrap().unwrap()).collect();
        // Requests to another origin do not wait.
        assert!(now(limiter.acquire("http://a.test:81")).unwrap().is_some());
        let mut next = pin!(limiter.acquire("http://a.test"));
        assert!(now(next.as_mut()).is_none());
        drop(few);
        assert!(next.await.is_some());
    }

    #[tokio::test]
    async fn who_has_waited_for_a_moment_goes_without_a_turn() {
        let limiter = OriginLimiter::default();
        let _few: Vec<_> =
            (0..MAX_WITHOUT_WAIT).map(|_| now(limiter.acquire("http://a.test")).unwrap().unwrap()).collect();
        assert!(limiter.acquire("http://a.test").await.is_none());
    }
}
