//! A budget of steps.
//!
//! Invariant: work is counted in steps, not in time, so the same source has the same result
//! everywhere. Every loop whose length depends on a pattern takes from a budget, or has a limit of
//! its own.

use std::cell::Cell;

/// The number of remaining steps; a step takes some nanoseconds.
#[derive(Debug)]
pub struct StepBudget(Cell<u32>);

/// The maximum number of steps for all patterns of one source: enough for a dozen of the most
/// expensive ones.
const MAX_SOURCE_STEPS: u32 = 12_000_000;

impl StepBudget {
    /// Creates the budget for all patterns of one source.
    #[must_use]
    pub fn for_source() -> Self {
        Self::new(MAX_SOURCE_STEPS)
    }

    /// Creates a budget of some steps.
    #[must_use]
    pub fn new(steps: u32) -> Self {
        Self(Cell::new(steps))
    }

    /// Splits off up to `most` steps.
    pub(crate) fn split_off(&self, most: u32) -> Self {
        let part = self.remaining().min(most);
        self.0.set(self.remaining() - part);
        Self::new(part)
    }

    /// Returns the remaining steps of a split-off budget.
    pub(crate) fn give_back(&self, part: Self) {
        self.0.set(self.remaining().saturating_add(part.0.into_inner()));
    }

    /// Takes a step; returns false if none is left.
    pub(crate) fn spend(&self) -> bool {
        self.take(1)
    }

    /// Takes some steps; if too few are left, takes all of them and returns false.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = u32::try_from(steps).ok().and_then(|steps| self.0.get().checked_sub(steps));
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns the number of remaining steps.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.0.get()
    }
}
