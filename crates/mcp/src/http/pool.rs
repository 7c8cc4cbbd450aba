//! A bounded resource that principals share: requests, bytes of bodies, connections.
//!
//! A principal may hold at most as much as is free (the dynamic threshold of Choudhury and Hahne,
//! "Dynamic queue length thresholds for shared-memory packet switches", 1998). One principal that
//! takes all it can leaves half of the pool free; n of them leave one part of n + 1. Nothing is
//! reserved for principals that want nothing, and there is always room for the next one.
//!
//! A semaphore would not do: its waiters have no principal, and it serves them in the order of their
//! arrival, so that one principal could hold everything. A pool has no waiters: a request that does not
//! fit is refused, and its client retries.
//!
//! Invariant: the amount in use never exceeds the total, and a principal that holds nothing finds
//! something free as long as the total has a unit for each principal that holds something.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::principal::Principal;

/// A resource that principals share. Clones share the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    total: usize,
    sharing: Sharing,
    usage: Mutex<PoolUsage>,
}

/// The number of principals that use a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// One principal, which may take everything.
    Single,
    /// Several principals.
    Multiple,
}

#[derive(Default)]
struct PoolUsage {
    total: usize,
    by_principal: HashMap<Principal, usize>,
}

/// An amount that a principal holds until this is dropped.
pub(super) struct Lease {
    pool: Pool,
    principal: Principal,
    amount: usize,
}

impl Pool {
    pub(super) fn new(total: usize, sharing: Sharing) -> Self {
        Self(Arc::new(Inner { total, sharing, usage: Mutex::default() }))
    }

    pub(super) fn total(&self) -> usize {
        self.0.total
    }

    /// Acquires an amount for a principal; `None` if its share of the free amount is smaller.
    pub(super) fn acquire(&self, principal: &Principal, amount: usize) -> Option<Lease> {
        let mut lease = Lease { pool: self.clone(), principal: principal.clone(), amount: 0 };
        lease.try_grow(amount).then_some(lease)
    }

    fn lock_usage(&self) -> MutexGuard<'_, PoolUsage> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Acquires more. Returns whether the principal's share of the free amount was large enough.
    #[must_use]
    pub(super) fn try_grow(&mut self, more: usize) -> bool {
        let mut held = self.pool.lock_usage();
        let free = self.pool.0.total - held.total;
        let own = held.by_principal.get(&self.principal).copied().unwrap_or_default();
        let fits = match self.pool.0.sharing {
            Sharing::Single => more <= free,
            Sharing::Multiple => more <= free && own.saturating_add(more) <= free,
        };
        if fits && more > 0 {
            held.total += more;
            *held.by_principal.entry(self.principal.clone()).or_default() += more;
            drop(held);
            self.amount += more;
        }
        fits
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut held = self.pool.lock_usage();
        held.total -= self.amount;
        if let Some(own) = held.by_principal.get_mut(&self.principal) {
            *own -= self.amount;
            if *own == 0 {
                held.by_principal.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(name: &str) -> Principal {
        Principal::parse(name).unwrap()
    }

    /// Acquires single units until it fails.
    fn all(pool: &Pool, name: &str) -> Vec<Lease> {
        std::iter::from_fn(|| pool.acquire(&principal(name), 1)).collect()
    }

    #[test]
    fn a_principal_that_takes_all_it_can_leaves_as_much_to_the_others() {
        let pool = Pool::new(512, Sharing::Multiple);
        let first = all(&pool, "a");
        let second = all(&pool, "b");
        let third = all(&pool, "c");
        assert_eq!([first.len(), second.len(), third.len()], [256, 128, 64]);
        // A released amount is available to all.
        drop((first, second, third));
        assert_eq!(all(&pool, "d").len(), 256);
        assert_eq!(pool.lock_usage().by_principal.len(), 0);
    }

    #[test]
    fn one_alone_takes_all_of_it_and_no_more() {
        let pool = Pool::new(3, Sharing::Single);
        let leases = all(&pool, "a");
        assert_eq!(leases.len(), 3);
        assert!(pool.acquire(&principal("a"), 1).is_none());
    }

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let pool = Pool::new(100, Sharing::Multiple);
        let mut lease = pool.acquire(&principal("a"), 40).unwrap();
        assert!(!lease.try_grow(usize::MAX) && !lease.try_grow(21) && lease.try_grow(10));
        assert!(pool.acquire(&principal("b"), 51).is_none());
        assert!(pool.acquire(&principal("b"), 50).is_some());
        drop(lease);
        assert_eq!(pool.lock_usage().total, 0);
    }
}
