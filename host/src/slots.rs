//! How many calls run at once.
//!
//! Invariant: never more than there are slots, because each slot is memory that the pool has reserved.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::until::Until;

/// What a call does where all slots are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// Wait for one; the time counts against the call's deadline.
    #[default]
    Wait,
    /// Say so, with `busy`.
    Refuse,
}

pub(crate) struct Slots {
    total: usize,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    free: usize,
    /// Calls that wait: where there are none, giving a slot back needs no system call.
    waiting: usize,
}

/// Why a call has no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSlot {
    /// None is free, or none was free in time.
    Full,
    /// Somebody ended the call while it waited.
    Cancelled,
}

/// One slot, given back when dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, state: Mutex::new(State { free: total, waiting: 0 }), freed: Condvar::new() }
    }

    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// A slot, if one is free before the call has to end.
    pub(crate) fn take(&self, when_full: WhenFull, until: &Until) -> Result<Slot<'_>, NoSlot> {
        let mut state = self.lock();
        while state.free == 0 {
            if until.is_cancelled() {
                return Err(NoSlot::Cancelled);
            }
            let left = until.deadline().saturating_duration_since(Instant::now());
            if when_full == WhenFull::Refuse || left.is_zero() {
                return Err(NoSlot::Full);
            }
            // A cancellation does not wake this wait, so it looks again now and then.
            let left = left.min(Duration::from_millis(10));
            state.waiting += 1;
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        state.free -= 1;
        Ok(Slot(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        if state.waiting > 0 {
            self.0.freed.notify_one();
        }
    }
}
