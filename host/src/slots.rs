//! How many calls run at once.
//!
//! Invariant: never more than there are slots, because each slot is memory that the pool has reserved.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::watch::Until;

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
    free: Mutex<usize>,
    freed: Condvar,
}

/// One slot, given back when dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, free: Mutex::new(total), freed: Condvar::new() }
    }

    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// A slot, if one is free before the call has to end.
    pub(crate) fn take(&self, when_full: WhenFull, until: &Until) -> Option<Slot<'_>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            let left = until.deadline().saturating_duration_since(Instant::now());
            if when_full == WhenFull::Refuse || left.is_zero() || until.is_cancelled() {
                return None;
            }
            // A cancellation does not wake this wait, so it looks again now and then.
            let left = left.min(std::time::Duration::from_millis(10));
            free = self.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Slot(self))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
