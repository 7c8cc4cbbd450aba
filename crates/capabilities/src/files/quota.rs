//! How much of something a run has taken, and how much it may.
//!
//! Invariant: what is taken is counted first, so threads that take at once never take more together than there is. What is
//! given up without having been kept is there again.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much there is, and how much of it was taken.
pub(super) struct Quota {
    most: u64,
    taken: AtomicU64,
}

/// A part of a quota, given back unless it is kept.
pub(super) struct Taken<'a> {
    quota: &'a Quota,
    bytes: u64,
}

impl Quota {
    pub(super) fn new(most: u64) -> Self {
        Self { most, taken: AtomicU64::new(0) }
    }

    /// How much there ever was.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Takes so much, or says how much is left.
    pub(super) fn take(&self, bytes: u64) -> Result<Taken<'_>, u64> {
        let within = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        match self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, within) {
            Ok(_) => Ok(Taken { quota: self, bytes }),
            Err(taken) => Err(self.most - taken),
        }
    }
}

impl Taken<'_> {
    /// Takes more, or says how much is left.
    pub(super) fn more(&mut self, bytes: u64) -> Result<(), u64> {
        self.bytes += self.quota.take(bytes)?.keep();
        Ok(())
    }

    /// Gives back all but so much, which is kept.
    pub(super) fn keep_only(mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Keeps all of it.
    pub(super) fn keep(mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.quota.taken.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_given_back() {
        let quota = Quota::new(10);
        drop(quota.take(6).unwrap());
        quota.take(6).unwrap().keep_only(4);
        let mut taken = quota.take(5).unwrap();
        assert_eq!((quota.take(2).err(), taken.more(2).err()), (Some(1), Some(1)));
        taken.more(1).unwrap();
        assert_eq!((taken.keep(), quota.take(1).err()), (6, Some(0)));
        assert_eq!(quota.take(u64::MAX).err(), Some(0));
    }

    #[test]
    fn threads_never_take_more_together_than_there_is() {
        let quota = Quota::new(1_000);
        let kept = |step: u64| (0..2_000).filter_map(|_| Some(quota.take(step).ok()?.keep())).sum::<u64>();
        let all: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=8).map(|step| scope.spawn(move || kept(step))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((all, quota.take(1).err()), (1_000, Some(0)));
    }
}
