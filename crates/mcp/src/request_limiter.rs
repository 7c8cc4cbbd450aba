//! Limits the concurrent and the waiting requests of each principal.
//!
//! A limiter is a few Tokio semaphores, which serve their waiters in the order of their arrival; each
//! principal has its own, so that this order is fair between principals. A permit is one permit of
//! each semaphore of its queue.
//!
//! Every operation acquires a permit before it uses a blocking thread. Runs and all other
//! operations wait in separate queues, so that a principal whose runs take minutes can still list
//! its tools; together they hold at most one permit more than the limit.
//!
//! Invariant: a request waits only for requests of its own principal. A principal holds at most
//! limit + 2 blocking threads: its permits, and one that writes audit lines of rejected requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

/// The limiter of a principal. Clones share the same limiter.
#[derive(Debug, Clone)]
pub(crate) struct RequestLimiter {
    runs: RequestQueue,
    others: RequestQueue,
    /// The permits of both queues together.
    total: Arc<Semaphore>,
    audit: Arc<Semaphore>,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A run of a tool, which may take minutes.
    Run,
    /// Any other operation.
    Other,
}

/// A bounded queue of requests of one kind.
#[derive(Debug, Clone)]
struct RequestQueue {
    running: Arc<Semaphore>,
    /// Running and waiting requests together.
    admitted: Arc<Semaphore>,
    full: Overloaded,
}

/// Permission to perform a request, released on drop.
#[derive(Debug)]
pub(crate) struct RequestPermit {
    _total: OwnedSemaphorePermit,
    _running: OwnedSemaphorePermit,
    _admitted: OwnedSemaphorePermit,
}

/// The permits that a request over HTTP holds until it is answered. Clones belong to the same
/// request.
///
/// Messages are read, dispatched and written on threads that all principals share. A flood of cheap
/// requests would otherwise queue there and delay every other principal. With dispatch permits it
/// queues behind its own principal's limit.
#[derive(Debug, Clone)]
pub(crate) struct PermitHolder(Arc<Mutex<HeldPermit>>);

/// The permit that is held, in the order of the states of a request.
#[derive(Debug)]
enum HeldPermit {
    /// A dispatch permit: the request is being read and dispatched.
    #[expect(dead_code, reason = "held until it is dropped")]
    Dispatch(OwnedSemaphorePermit),
    /// None: the request is waiting.
    Waiting,
    /// The request permit with which the result was computed.
    #[expect(dead_code, reason = "held until it is dropped")]
    Request(RequestPermit),
    /// None: the response was computed.
    Answered,
}

/// A request whose response is being computed. Its permits are released on drop.
#[derive(Debug)]
pub(crate) struct AdmittedRequest(PermitHolder);

impl AdmittedRequest {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Self {
        Self(PermitHolder(Arc::new(Mutex::new(HeldPermit::Dispatch(permit)))))
    }

    pub(crate) const fn holder(&self) -> &PermitHolder {
        &self.0
    }
}

impl Drop for AdmittedRequest {
    fn drop(&mut self) {
        *self.0.lock() = HeldPermit::Answered;
    }
}

impl PermitHolder {
    /// Releases the dispatch permit because the request is waiting, so that others of its principal
    /// can be dispatched.
    pub(crate) fn release_dispatch(&self) {
        let mut held = self.lock();
        if matches!(*held, HeldPermit::Dispatch(_)) {
            *held = HeldPermit::Waiting;
        }
    }

    /// Holds a request permit until the response is computed. The request must not acquire another
    /// one afterwards: it would wait for itself.
    pub(crate) fn hold(&self, permit: RequestPermit) {
        let mut held = self.lock();
        if !matches!(*held, HeldPermit::Answered) {
            *held = HeldPermit::Request(permit);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HeldPermit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queue of a principal is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("{}", self.message())]
pub(crate) struct Overloaded {
    kind: RequestKind,
    running: usize,
    waiting: usize,
}

impl Overloaded {
    pub(crate) const CODE: ErrorCode = ErrorCode::Busy;
    pub(crate) const HINT: &str = msgid!("try again later, or wait until a run in progress ends");
    /// When a client should retry.
    pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

    fn message(&self) -> Message {
        let Self { running, waiting, .. } = self;
        match self.kind {
            RequestKind::Run => message!(
                "{running} runs are in progress and {waiting} are waiting, which is the limit",
                running,
                waiting,
            ),
            RequestKind::Other => message!(
                "{running} requests are in progress and {waiting} are waiting, which is the limit",
                running,
                waiting,
            ),
        }
    }
}

impl RequestQueue {
    fn new(kind: RequestKind, running: usize, waiting: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self {
            running: semaphore(running),
            admitted: semaphore(running + waiting),
            full: Overloaded { kind, running, waiting },
        }
    }
}

impl RequestLimiter {
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let running = running.clamp(1, Semaphore::MAX_PERMITS / 2 - 1);
        let waiting = waiting.min(Semaphore::MAX_PERMITS / 2);
        Self {
            runs: RequestQueue::new(RequestKind::Run, running, waiting),
            others: RequestQueue::new(RequestKind::Other, running, waiting),
            total: Arc::new(Semaphore::new(running + 1)),
            audit: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits for a permit. Requests of one kind are served in the order of their arrival.
    pub(crate) async fn acquire(&self, kind: RequestKind) -> Result<RequestPermit, Overloaded> {
        let queue = match kind {
            RequestKind::Run => &self.runs,
            RequestKind::Other => &self.others,
        };
        let here = Arc::clone(&queue.admitted).try_acquire_owned().map_err(|_| queue.full)?;
        // The semaphores are never closed.
        let running = Arc::clone(&queue.running).acquire_owned().await.map_err(|_| queue.full)?;
        let permit = Arc::clone(&self.total).acquire_owned().await.map_err(|_| queue.full)?;
        Ok(RequestPermit { _total: permit, _running: running, _admitted: here })
    }

    /// Waits until no other audit line of a rejected request of this principal is being written.
    pub(crate) async fn acquire_audit_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.audit).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Polls once, outside of Tokio's cooperative budget, which would make a task yield after a
    /// number of permits.
    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let future = pin!(tokio::task::unconstrained(future));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn what_is_more_than_may_wait_is_refused_and_a_turn_that_ends_makes_room() {
        for (kind, named) in [(RequestKind::Run, "runs"), (RequestKind::Other, "requests")] {
            let limiter = RequestLimiter::new(1, 1);
            let first = limiter.acquire(kind).await.unwrap();
            let mut waits = pin!(limiter.acquire(kind));
            assert!(poll(waits.as_mut()).is_none());
            let full = limiter.acquire(kind).await.unwrap_err();
            assert_eq!(full.to_string(), format!("1 {named} are in progress and 1 are waiting, which is the limit"));
            drop(first);
            drop(poll(waits.as_mut()).unwrap().unwrap());
            assert!(limiter.acquire(kind).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_full_queue_of_one_principal_leaves_the_next_turn_to_another() {
        let (flooding, other) = (RequestLimiter::new(1, 64), RequestLimiter::new(1, 64));
        let mut served = vec![flooding.acquire(RequestKind::Other).await.unwrap()];
        let mut waiting: Vec<_> = (0..64).map(|_| Box::pin(flooding.acquire(RequestKind::Other))).collect();
        assert!(waiting.iter_mut().all(|permit| poll(permit.as_mut()).is_none()));
        // The other principal gets a permit at once, before all of the queue.
        let next = poll(pin!(other.acquire(RequestKind::Other))).unwrap().unwrap();
        assert!(waiting.iter_mut().all(|permit| poll(permit.as_mut()).is_none()));
        drop(next);
        // Each released permit admits exactly one request, in the order of arrival.
        for at in 0..64 {
            served.clear();
            served.push(poll(waiting[at].as_mut()).unwrap().unwrap());
            assert!(waiting[at + 1..].iter_mut().all(|permit| poll(permit.as_mut()).is_none()));
        }
    }

    #[tokio::test]
    async fn a_request_that_waits_gives_its_place_up_and_keeps_its_turn_until_it_is_answered() {
        let semaphore = Arc::new(Semaphore::new(1));
        let limiter = RequestLimiter::new(1, 8);
        let admitted = AdmittedRequest::new(Arc::clone(&semaphore).try_acquire_owned().unwrap());
        let holder = admitted.holder().clone();
        assert_eq!(semaphore.available_permits(), 0);
        holder.release_dispatch();
        assert_eq!(semaphore.available_permits(), 1);
        holder.hold(limiter.acquire(RequestKind::Other).await.unwrap());
        holder.release_dispatch();
        assert!(poll(pin!(limiter.acquire(RequestKind::Other))).is_none());
        drop(admitted);
        let permit = poll(pin!(limiter.acquire(RequestKind::Other))).unwrap().unwrap();
        // No permit is held for a request that was answered.
        holder.hold(permit);
        assert!(poll(pin!(limiter.acquire(RequestKind::Other))).is_some());
    }

    #[tokio::test]
    async fn runs_that_take_long_leave_a_turn_to_the_other_verbs() {
        let limiter = RequestLimiter::new(2, 8);
        let runs = [limiter.acquire(RequestKind::Run).await.unwrap(), limiter.acquire(RequestKind::Run).await.unwrap()];
        assert!(poll(pin!(limiter.acquire(RequestKind::Run))).is_none());
        let other = poll(pin!(limiter.acquire(RequestKind::Other))).unwrap().unwrap();
        // Together at most one more than the limit.
        assert!(poll(pin!(limiter.acquire(RequestKind::Other))).is_none());
        drop((runs, other));
        let both =
            [limiter.acquire(RequestKind::Other).await.unwrap(), limiter.acquire(RequestKind::Other).await.unwrap()];
        assert!(poll(pin!(limiter.acquire(RequestKind::Other))).is_none());
        assert!(poll(pin!(limiter.acquire(RequestKind::Run))).is_some());
        drop(both);
    }
}
