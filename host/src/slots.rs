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
    /// Take none: the call is made for one that has a slot, and that waits for it. There may be [`NESTED`] of them in a chain.
    Nested,
}

/// How many calls deep tools may call tools: below each call that has a slot, there is room for so many.
pub const NESTED: u32 = 4;

/// The slots of a sandbox.
pub struct Slots {
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
pub enum NoSlot {
    /// None is free, or none was free in time.
    Full,
    /// Somebody ended the call while it waited.
    Cancelled,
}

/// One slot, given back when dropped; or none, of a call that is made within another.
#[must_use = "a slot that is dropped is free again"]
pub struct Slot<'a>(Option<&'a Slots>);

impl Slots {
    /// So many, all of them free.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self { total, state: Mutex::new(State { free: total, waiting: 0 }), freed: Condvar::new() }
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// A slot, if one is free before the call has to end.
    ///
    /// # Errors
    /// Why there is none.
    pub fn take(&self, when_full: WhenFull, until: &Until) -> Result<Slot<'_>, NoSlot> {
        if when_full == WhenFull::Nested {
            return Ok(Slot(None));
        }
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
        Ok(Slot(Some(self)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let Some(slots) = self.0 else { return };
        let mut state = slots.lock();
        state.free += 1;
        if state.waiting > 0 {
            slots.freed.notify_one();
        }
    }
}
