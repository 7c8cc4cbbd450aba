//! The share of the machine that a principal has: how many of its requests are worked on at once, and how many wait.
//!
//! Every verb takes a turn before it takes a blocking thread. Runs and all other verbs wait in queues of their own, so that a
//! principal whose runs take minutes can still list its tools; together they hold one turn more than the share.
//!
//! Invariant: a request waits for requests of its own principal and of no other. A principal holds at most share + 2 blocking
//! threads: its turns, and one that writes audit lines of requests that no verb gets to see.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The share of a principal. A copy is the same share.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    runs: Queue,
    verbs: Queue,
    /// The turns of both queues together.
    turns: Arc<Semaphore>,
    recorder: Arc<Semaphore>,
}

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of a tool, which may take minutes.
    Run,
    /// Any other verb.
    Verb,
}

/// A bounded queue of requests of one kind.
#[derive(Debug, Clone)]
struct Queue {
    running: Arc<Semaphore>,
    /// Those that run or wait.
    here: Arc<Semaphore>,
    full: Full,
}

/// A turn, until it is dropped.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "named after what each is a permit of")]
pub(crate) struct Turn {
    _turn: OwnedSemaphorePermit,
    _running: OwnedSemaphorePermit,
    _here: OwnedSemaphorePermit,
}

/// What a request over HTTP holds of its principal's share until its answer is made. A copy is of the same request.
///
/// Messages are read, dispatched and written on threads that all principals share. Without this, a flood of requests that need no
/// more than that would queue there, and every other principal behind it. With it they queue at their own principal's entries.
#[derive(Debug, Clone)]
pub(crate) struct Entry(Arc<Mutex<Held>>);

/// What is held, in the order in which a request passes through it.
#[derive(Debug)]
enum Held {
    /// A place among the requests that are read and dispatched.
    #[expect(dead_code, reason = "held until it is dropped")]
    Place(OwnedSemaphorePermit),
    /// Nothing, because the request waits for something.
    Waiting,
    /// The turn in which the answer was worked out.
    #[expect(dead_code, reason = "held until it is dropped")]
    Turn(Turn),
    /// Nothing, because the answer is made.
    Answered,
}

/// A request whose answer is being made. When this is dropped, its entry holds nothing any more.
#[derive(Debug)]
pub(crate) struct Admitted(Entry);

impl Admitted {
    pub(crate) fn new(place: OwnedSemaphorePermit) -> Self {
        Self(Entry(Arc::new(Mutex::new(Held::Place(place)))))
    }

    pub(crate) const fn entry(&self) -> &Entry {
        &self.0
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        *self.0.held() = Held::Answered;
    }
}

impl Entry {
    /// The request waits from now on, and others of its principal may be dispatched meanwhile.
    pub(crate) fn waits(&self) {
        let mut held = self.held();
        if matches!(*held, Held::Place(_)) {
            *held = Held::Waiting;
        }
    }

    /// Keeps a turn until the answer is made. A request may take no further turn after this one, for which it would wait for itself.
    pub(crate) fn keep(&self, turn: Turn) {
        let mut held = self.held();
        if !matches!(*held, Held::Answered) {
            *held = Held::Turn(turn);
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queue of a principal is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{running} {} are under way and {waiting} wait, which is the limit", .kind.plural())]
pub(crate) struct Full {
    kind: Kind,
    running: usize,
    waiting: usize,
}

impl Kind {
    const fn plural(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Verb => "requests",
        }
    }
}

impl Full {
    pub(crate) const CODE: &str = "busy";
    pub(crate) const HINT: &str = "try again in a while, or let runs end that are under way";
    /// When a client should try again.
    pub(crate) const RETRY: Duration = Duration::from_secs(1);
}

impl Queue {
    fn new(kind: Kind, running: usize, waiting: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self { running: semaphore(running), here: semaphore(running + waiting), full: Full { kind, running, waiting } }
    }
}

impl Share {
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let running = running.clamp(1, Semaphore::MAX_PERMITS / 2 - 1);
        let waiting = waiting.min(Semaphore::MAX_PERMITS / 2);
        Self {
            runs: Queue::new(Kind::Run, running, waiting),
            verbs: Queue::new(Kind::Verb, running, waiting),
            turns: Arc::new(Semaphore::new(running + 1)),
            recorder: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits for a turn. The turns of a kind are taken in the order of their requests.
    pub(crate) async fn turn(&self, kind: Kind) -> Result<Turn, Full> {
        let queue = match kind {
            Kind::Run => &self.runs,
            Kind::Verb => &self.verbs,
        };
        let here = Arc::clone(&queue.here).try_acquire_owned().map_err(|_| queue.full)?;
        // The semaphores are never closed.
        let running = Arc::clone(&queue.running).acquire_owned().await.map_err(|_| queue.full)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| queue.full)?;
        Ok(Turn { _turn: turn, _running: running, _here: here })
    }

    /// Waits until no other audit line of this principal is written by itself.
    pub(crate) async fn recorder(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.recorder).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Polls once. The runtime lets a task take so many permits, and makes it wait then for no other reason.
    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let future = pin!(tokio::task::unconstrained(future));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn what_is_more_than_may_wait_is_refused_and_a_turn_that_ends_makes_room() {
        for (kind, named) in [(Kind::Run, "runs"), (Kind::Verb, "requests")] {
            let share = Share::new(1, 1);
            let first = share.turn(kind).await.unwrap();
            let mut waits = pin!(share.turn(kind));
            assert!(poll(waits.as_mut()).is_none());
            let full = share.turn(kind).await.unwrap_err();
            assert_eq!(full.to_string(), format!("1 {named} are under way and 1 wait, which is the limit"));
            drop(first);
            drop(poll(waits.as_mut()).unwrap().unwrap());
            assert!(share.turn(kind).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_full_queue_of_one_principal_leaves_the_next_turn_to_another() {
        let (flooding, other) = (Share::new(1, 64), Share::new(1, 64));
        let mut served = vec![flooding.turn(Kind::Verb).await.unwrap()];
        let mut waiting: Vec<_> = (0..64).map(|_| Box::pin(flooding.turn(Kind::Verb))).collect();
        assert!(waiting.iter_mut().all(|turn| poll(turn.as_mut()).is_none()));
        // The other principal has its turn at once: no turn of the queue is taken before it.
        let next = poll(pin!(other.turn(Kind::Verb))).unwrap().unwrap();
        assert!(waiting.iter_mut().all(|turn| poll(turn.as_mut()).is_none()));
        drop(next);
        // Each turn that ends lets in exactly one, in the order in which they came.
        for at in 0..64 {
            served.clear();
            served.push(poll(waiting[at].as_mut()).unwrap().unwrap());
            assert!(waiting[at + 1..].iter_mut().all(|turn| poll(turn.as_mut()).is_none()));
        }
    }

    #[tokio::test]
    async fn a_request_that_waits_gives_its_place_up_and_keeps_its_turn_until_it_is_answered() {
        let places = Arc::new(Semaphore::new(1));
        let share = Share::new(1, 8);
        let admitted = Admitted::new(Arc::clone(&places).try_acquire_owned().unwrap());
        let entry = admitted.entry().clone();
        assert_eq!(places.available_permits(), 0);
        entry.waits();
        assert_eq!(places.available_permits(), 1);
        entry.keep(share.turn(Kind::Verb).await.unwrap());
        entry.waits();
        assert!(poll(pin!(share.turn(Kind::Verb))).is_none());
        drop(admitted);
        let turn = poll(pin!(share.turn(Kind::Verb))).unwrap().unwrap();
        // Nothing is kept for an answer that is made.
        entry.keep(turn);
        assert!(poll(pin!(share.turn(Kind::Verb))).is_some());
    }

    #[tokio::test]
    async fn runs_that_take_long_leave_a_turn_to_the_other_verbs() {
        let share = Share::new(2, 8);
        let runs = [share.turn(Kind::Run).await.unwrap(), share.turn(Kind::Run).await.unwrap()];
        assert!(poll(pin!(share.turn(Kind::Run))).is_none());
        let verb = poll(pin!(share.turn(Kind::Verb))).unwrap().unwrap();
        // No more threads than the share and one.
        assert!(poll(pin!(share.turn(Kind::Verb))).is_none());
        drop((runs, verb));
        let verbs = [share.turn(Kind::Verb).await.unwrap(), share.turn(Kind::Verb).await.unwrap()];
        assert!(poll(pin!(share.turn(Kind::Verb))).is_none());
        assert!(poll(pin!(share.turn(Kind::Run))).is_some());
        drop(verbs);
    }
}
