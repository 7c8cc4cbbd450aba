//! Byte quotas of a run.
//!
//! Invariant: bytes are reserved before they are used, so concurrent threads never exceed a quota
//! together. A reservation that is dropped without being committed is released. A nested run also
//! reserves from the quotas of all runs that it is nested in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A byte quota with its usage counters.
pub(super) struct Quota {
    /// The level of the run itself, then those of the calling runs. Each counter occurs once.
    levels: Vec<Level>,
}

#[derive(Clone)]
struct Level {
    limit: u64,
    used: Arc<AtomicU64>,
}

/// A reserved part of a quota, released on drop unless committed.
pub(super) struct Reservation<'a> {
    quota: &'a Quota,
    bytes: u64,
}

impl Level {
    fn reserve(&self, bytes: u64) -> Result<(), u64> {
        let within = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.limit);
        let taken = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, within);
        taken.map(drop).map_err(|taken| self.limit.saturating_sub(taken))
    }

    fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl Quota {
    /// Creates a quota inside of the caller's quota. The counter is shared with other runs of the
    /// same tool.
    pub(super) fn new(most: u64, taken: Arc<AtomicU64>, caller: Option<&Self>) -> Self {
        let mut levels = vec![Level { limit: most, used: taken }];
        for above in caller.iter().flat_map(|caller| &caller.levels) {
            match levels.iter_mut().find(|level| Arc::ptr_eq(&level.used, &above.used)) {
                // A recursive call of the same tool shares its counter, which must not count twice.
                Some(same) => same.limit = same.limit.min(above.limit),
                None => levels.push(above.clone()),
            }
        }
        Self { levels }
    }

    /// Returns the total of the quota, in bytes.
    pub(super) fn limit(&self) -> u64 {
        self.levels.iter().map(|level| level.limit).min().unwrap_or_default()
    }

    /// Reserves bytes, or returns how many are left.
    pub(super) fn reserve(&self, bytes: u64) -> Result<Reservation<'_>, u64> {
        for (at, level) in self.levels.iter().enumerate() {
            if let Err(left) = level.reserve(bytes) {
                self.levels[..at].iter().for_each(|taken| taken.release(bytes));
                return Err(left);
            }
        }
        Ok(Reservation { quota: self, bytes })
    }
}

impl Reservation<'_> {
    /// Reserves more bytes, or returns how many are left.
    pub(super) fn extend(&mut self, bytes: u64) -> Result<(), u64> {
        self.bytes += self.quota.reserve(bytes)?.commit();
        Ok(())
    }

    /// Commits this many bytes and releases the rest.
    pub(super) fn commit_partial(mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Commits all reserved bytes and returns their number.
    pub(super) fn commit(mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.quota.levels.iter().for_each(|level| level.release(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(most: u64) -> Quota {
        Quota::new(most, Arc::default(), None)
    }

    #[test]
    fn what_a_nested_run_takes_is_taken_from_its_caller_too() {
        let (own, other) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let caller = Quota::new(10, Arc::clone(&own), None);
        let nested = Quota::new(6, Arc::clone(&other), Some(&caller));
        nested.reserve(5).unwrap().commit();
        caller.reserve(4).unwrap().commit();
        // The nested quota alone would allow it.
        assert_eq!(nested.reserve(2).err(), Some(1));
        assert_eq!((own.load(Ordering::Relaxed), other.load(Ordering::Relaxed)), (9, 5));
        drop(nested.reserve(1).unwrap());
        // Another run of the same tool, and a recursive call of the caller, share the existing
        // counters.
        let again = Quota::new(6, other, Some(&caller));
        assert_eq!((again.reserve(2).err(), again.reserve(1).unwrap().commit()), (Some(1), 1));
        let itself = Quota::new(10, own, Some(&caller));
        assert_eq!((itself.reserve(1).err(), caller.reserve(1).err()), (Some(0), Some(0)));
    }

    #[test]
    fn what_is_not_kept_is_given_back() {
        let quota = quota(10);
        drop(quota.reserve(6).unwrap());
        quota.reserve(6).unwrap().commit_partial(4);
        let mut taken = quota.reserve(5).unwrap();
        assert_eq!((quota.reserve(2).err(), taken.extend(2).err()), (Some(1), Some(1)));
        taken.extend(1).unwrap();
        assert_eq!((taken.commit(), quota.reserve(1).err()), (6, Some(0)));
        assert_eq!(quota.reserve(u64::MAX).err(), Some(0));
    }

    #[test]
    fn threads_never_take_more_together_than_there_is() {
        let quota = quota(1_000);
        let kept = |step: u64| (0..2_000).filter_map(|_| Some(quota.reserve(step).ok()?.commit())).sum::<u64>();
        let all: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=8).map(|step| scope.spawn(move || kept(step))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((all, quota.reserve(1).err()), (1_000, Some(0)));
    }
}
