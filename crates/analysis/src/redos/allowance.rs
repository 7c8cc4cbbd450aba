//! How much work may still be done.
//!
//! Invariant: work is counted in steps and not in time, so that the same source has the same answer everywhere. Every
//! loop whose length a pattern decides takes from an allowance, or has a limit of its own.

use std::cell::Cell;

/// Steps that may still be taken, of some nanoseconds each.
#[derive(Debug)]
pub(crate) struct Allowance(Cell<u32>);

/// How many steps the patterns of one source may take together: those of a dozen as costly as can be.
const MAX_IN_SOURCE: u32 = 12_000_000;

impl Allowance {
    /// For all patterns of a source.
    pub(crate) fn of_source() -> Self {
        Self::of(MAX_IN_SOURCE)
    }

    pub(super) fn of(steps: u32) -> Self {
        Self(Cell::new(steps))
    }

    /// As much as there is, up to some steps.
    pub(super) fn part(&self, most: u32) -> Self {
        let part = self.left().min(most);
        self.0.set(self.left() - part);
        Self::of(part)
    }

    /// What is left of a part.
    pub(super) fn give_back(&self, part: Self) {
        self.0.set(self.left().saturating_add(part.0.into_inner()));
    }

    /// Takes a step, if there is one left.
    pub(super) fn spend(&self) -> bool {
        self.take(1)
    }

    /// Takes some steps, or else all that are left.
    pub(super) fn take(&self, steps: usize) -> bool {
        let left = u32::try_from(steps).ok().and_then(|steps| self.0.get().checked_sub(steps));
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn left(&self) -> u32 {
        self.0.get()
    }
}
