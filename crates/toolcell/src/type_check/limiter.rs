//! A counting semaphore for checks.

use std::sync::{Condvar, Mutex, PoisonError};

/// Admits a number of checks at once; further ones wait.
#[derive(Debug)]
pub(super) struct Limiter {
    free: Mutex<usize>,
    released: Condvar,
}

/// The permit of a check.
#[derive(Debug)]
pub(super) struct Permit<'a>(&'a Limiter);

impl Limiter {
    pub(super) const fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits), released: Condvar::new() }
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.released.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_the_permits_run_at_once_and_all_get_one() {
        let limiter = Limiter::new(2);
        let (running, most, ended) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _permit = limiter.acquire();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(ended.into_inner(), 16);
    }
}
