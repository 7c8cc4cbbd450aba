//! A counting semaphore that limits concurrent calls.
//!
//! Invariant: no more calls run than there are slots, because each slot is memory that the pool has
//! reserved.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::deadline::CallDeadline;

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

/// A semaphore with one permit for each slot of a sandbox.
pub struct CallLimiter {
    capacity: usize,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    free: usize,
    /// The number of waiting calls. If it is zero, releasing a slot needs no system call.
    waiting: usize,
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
        Self { capacity: total, state: Mutex::new(State { free: total, waiting: 0 }), freed: Condvar::new() }
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
        while state.free == 0 {
            if until.is_cancelled() {
                return Err(AcquireError::Cancelled);
            }
            let left = until.instant().saturating_duration_since(Instant::now());
            if when_full == OnOverload::Refuse || left.is_zero() {
                return Err(AcquireError::Full);
            }
            // A cancellation does not wake this wait, so the token is polled every 10 ms.
            let left = left.min(Duration::from_millis(10));
            state.waiting += 1;
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        state.free -= 1;
        Ok(CallPermit(Some(self)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let Some(slots) = self.0 else { return };
        let mut state = slots.lock();
        state.free += 1;
        if state.waiting > 0 {
            slots.freed.notify_one();
        }
    }
}
