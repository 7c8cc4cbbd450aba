//! How much of something a run has taken, and how much it may.
//!
//! Invariant: what is taken is counted first, so threads that take at once never take more together than there is. What is
//! given up without having been kept is there again. What a nested run takes is taken from each run that it is called within.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much there is, and how much of it was taken.
pub(super) struct Quota {
    /// That of the run, and then those of the runs that it is called within, each counter once.
    levels: Vec<Level>,
}

#[derive(Clone)]
struct Level {
    most: u64,
    taken: Arc<AtomicU64>,
}

/// A part of a quota, given back unless it is kept.
pub(super) struct Taken<'a> {
    quota: &'a Quota,
    bytes: u64,
}

impl Level {
    fn take(&self, bytes: u64) -> Result<(), u64> {
        let within = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        let taken = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, within);
        taken.map(drop).map_err(|taken| self.most.saturating_sub(taken))
    }

    fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl Quota {
    /// A quota with the counter that it shares with other runs of the same tool, within the quota of the caller.
    pub(super) fn new(most: u64, taken: Arc<AtomicU64>, caller: Option<&Self>) -> Self {
        let mut levels = vec![Level { most, taken }];
        for above in caller.iter().flat_map(|caller| &caller.levels) {
            match levels.iter_mut().find(|level| Arc::ptr_eq(&level.taken, &above.taken)) {
                // A tool that is called within itself counts once.
                Some(same) => same.most = same.most.min(above.most),
                None => levels.push(above.clone()),
            }
        }
        Self { levels }
    }

    /// How much there ever was.
    pub(super) fn most(&self) -> u64 {
        self.levels.iter().map(|level| level.most).min().unwrap_or_default()
    }

    /// Takes so much, or says how much is left.
    pub(super) fn take(&self, bytes: u64) -> Result<Taken<'_>, u64> {
        for (at, level) in self.levels.iter().enumerate() {
            if let Err(left) = level.take(bytes) {
                self.levels[..at].iter().for_each(|taken| taken.give_back(bytes));
                return Err(left);
            }
        }
        Ok(Taken { quota: self, bytes })
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
        self.quota.levels.iter().for_each(|level| level.give_back(self.bytes));
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
        nested.take(5).unwrap().keep();
        caller.take(4).unwrap().keep();
        // Its own limit would let it.
        assert_eq!(nested.take(2).err(), Some(1));
        assert_eq!((own.load(Ordering::Relaxed), other.load(Ordering::Relaxed)), (9, 5));
        drop(nested.take(1).unwrap());
        // Another run of the same tool, and the caller called again, count with those before.
        let again = Quota::new(6, other, Some(&caller));
        assert_eq!((again.take(2).err(), again.take(1).unwrap().keep()), (Some(1), 1));
        let itself = Quota::new(10, own, Some(&caller));
        assert_eq!((itself.take(1).err(), caller.take(1).err()), (Some(0), Some(0)));
    }

    #[test]
    fn what_is_not_kept_is_given_back() {
        let quota = quota(10);
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
        let quota = quota(1_000);
        let kept = |step: u64| (0..2_000).filter_map(|_| Some(quota.take(step).ok()?.keep())).sum::<u64>();
        let all: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=8).map(|step| scope.spawn(move || kept(step))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((all, quota.take(1).err()), (1_000, Some(0)));
    }
}
