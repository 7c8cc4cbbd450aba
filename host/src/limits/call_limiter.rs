//! A counting semaphore that limits concurrent calls.
//!
//! Invariant: no more calls run than there are slots, because each slot is memory that the pool has
//! reserved.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::deadline::{CallDeadline, Interrupted, Notifier};

/// The behaviour of a call when all slots are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnOverload {
    /// Wait for a slot; the time counts against the call's deadline.
    #[default]
    Wait,
    /// Fail with `busy`.
    Refuse,
    /// Take no slot: another call holds one and waits for this call. A chain may have
    /// [`MAX_NESTED_CALLS`] of them.
    Nested,
}

/// The maximum depth of tools that call tools: each call with a slot may have so many nested calls
/// below it.
pub const MAX_NESTED_CALLS: u32 = 4;

/// The interval at which a waiting call polls a token whose cancellation does not wake it
/// ([`CancelToken::with_poll`](crate::CancelToken::with_poll)).
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A semaphore with one permit for each slot of a sandbox.
pub struct CallLimiter {
    capacity: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// The waiting calls, the oldest first. Each slot that becomes free wakes one of them. If there
    /// are none, releasing a slot needs no system call.
    waiting: VecDeque<Notifier>,
}

/// Whether a call was already woken for a slot.
#[derive(Clone, Copy)]
enum WasWoken {
    Yes,
    No,
}

/// The reason why a call did not get a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquireError {
    /// No slot became free in time.
    Full,
    /// The call was cancelled while it waited.
    Cancelled,
}

/// A permit for one call. Dropping it frees the slot; a permit of a nested call holds none.
#[must_use = "dropping the slot frees it"]
pub struct CallPermit<'a>(Option<&'a CallLimiter>);

impl CallLimiter {
    /// Creates a semaphore with `total` free slots.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self { capacity: total, state: Mutex::new(State { free: total, waiting: VecDeque::new() }) }
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Acquires a slot, waiting until the deadline at most.
    ///
    /// # Errors
    /// [`AcquireError::Full`] if no slot is free, [`AcquireError::Cancelled`] if the call was
    /// cancelled.
    pub fn acquire(&self, when_full: OnOverload, until: &CallDeadline) -> Result<CallPermit<'_>, AcquireError> {
        if when_full == OnOverload::Nested {
            return Ok(CallPermit(None));
        }
        let mut state = self.lock();
        if state.free == 0 {
            state = self.wait_for_slot(state, when_full, until)?;
        }
        state.free -= 1;
        Ok(CallPermit(Some(self)))
    }

    /// Waits until a slot is free. A cancellation ends the wait at once, or within 10 ms where the token
    /// is polled.
    fn wait_for_slot<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        when_full: OnOverload,
        until: &CallDeadline,
    ) -> Result<MutexGuard<'a, State>, AcquireError> {
        let notifier = Notifier::default();
        let mut was_woken = WasWoken::No;
        let end = loop {
            if state.free > 0 {
                state.forget(&notifier);
                return Ok(state);
            }
            match until.interrupted() {
                Some(Interrupted::Cancelled) => break AcquireError::Cancelled,
                Some(Interrupted::Deadline) => break AcquireError::Full,
                None if when_full == OnOverload::Refuse => break AcquireError::Full,
                None => {}
            }
            state.enqueue(&notifier, was_woken);
            drop(state);
            until.wait_for(&notifier, until.is_polled().then(|| Instant::now() + POLL_INTERVAL));
            was_woken = WasWoken::Yes;
            state = self.lock();
        };
        // No slot is free. If one woke this call, another call took it, and wakes the next one when
        // it ends.
        state.forget(&notifier);
        Err(end)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds a call to the queue unless it is there. A call that was woken for a slot which another
    /// call took comes first.
    fn enqueue(&mut self, call: &Notifier, was_woken: WasWoken) {
        if self.waiting.iter().any(|waiting| waiting.is_same(call)) {
            return;
        }
        match was_woken {
            WasWoken::Yes => self.waiting.push_front(call.clone()),
            WasWoken::No => self.waiting.push_back(call.clone()),
        }
    }

    fn forget(&mut self, call: &Notifier) {
        self.waiting.retain(|waiting| !waiting.is_same(call));
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let Some(slots) = self.0 else { return };
        let mut state = slots.lock();
        state.free += 1;
        if let Some(next) = state.waiting.pop_front() {
            next.notify();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::limits::CancelToken;

    const LONG: Duration = Duration::from_mins(1);

    fn in_a_minute(cancel: Option<&CancelToken>) -> CallDeadline {
        CallDeadline::new(Instant::now() + LONG, cancel.cloned())
    }

    /// Waits until this many calls wait.
    fn until_waiting(limiter: &CallLimiter, calls: usize) {
        while limiter.lock().waiting.len() < calls {
            thread::yield_now();
        }
    }

    #[test]
    fn each_freed_slot_wakes_one_waiting_call() {
        let limiter = CallLimiter::new(1);
        let first = limiter.acquire(OnOverload::Wait, &in_a_minute(None)).unwrap();
        thread::scope(|scope| {
            let waiting =
                [(); 3].map(|()| scope.spawn(|| limiter.acquire(OnOverload::Wait, &in_a_minute(None)).is_ok()));
            until_waiting(&limiter, 3);
            drop(first);
            assert!(waiting.into_iter().all(|call| call.join().unwrap()));
        });
        let state = limiter.lock();
        assert_eq!((state.free, state.waiting.len()), (1, 0));
    }

    #[test]
    fn a_cancellation_ends_the_wait_and_leaves_the_queue() {
        for token in [CancelToken::new(), CancelToken::with_poll(|| false)] {
            let limiter = CallLimiter::new(1);
            let first = limiter.acquire(OnOverload::Wait, &in_a_minute(None)).unwrap();
            let until = in_a_minute(Some(&token));
            thread::scope(|scope| {
                let waiting = scope.spawn(|| limiter.acquire(OnOverload::Wait, &until).err());
                until_waiting(&limiter, 1);
                token.cancel();
                assert_eq!(waiting.join().unwrap(), Some(AcquireError::Cancelled));
            });
            assert!(limiter.lock().waiting.is_empty());
            drop(first);
        }
    }

    #[test]
    fn a_call_without_a_slot_is_refused_at_its_deadline_or_at_once() {
        let limiter = CallLimiter::new(1);
        let _first = limiter.acquire(OnOverload::Wait, &in_a_minute(None)).unwrap();
        let soon = CallDeadline::new(Instant::now() + Duration::from_millis(20), None);
        assert_eq!(limiter.acquire(OnOverload::Wait, &soon).err(), Some(AcquireError::Full));
        assert_eq!(limiter.acquire(OnOverload::Refuse, &in_a_minute(None)).err(), Some(AcquireError::Full));
        assert!(limiter.acquire(OnOverload::Nested, &in_a_minute(None)).is_ok());
        assert!(limiter.lock().waiting.is_empty());
    }
}
