//! A bounded quantity that principals share: places for requests, bytes of bodies, connections.
//!
//! A principal may hold as much as is left to all others (the dynamic threshold of Choudhury and Hahne, "Dynamic queue length
//! thresholds for shared-memory packet switches", 1998). With one that takes all it can, half of the pool stays free; with n of
//! them, one part of n + 1. So nothing is set aside for those who want nothing, and there is always room for the next one.
//!
//! Invariant: what is held together is never more than the total, and a principal that holds nothing finds something free as
//! long as the total has a unit for each principal that holds something.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::principal::Principal;

/// A quantity that principals share. A copy is the same one.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    total: usize,
    sharing: Sharing,
    held: Mutex<Held>,
}

/// Who takes from a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// One principal, which may take all of it.
    Alone,
    /// Several.
    Several,
}

#[derive(Default)]
struct Held {
    all: usize,
    by: HashMap<Principal, usize>,
}

/// What a principal holds of a pool, until this is dropped.
pub(super) struct Lease {
    pool: Pool,
    principal: Principal,
    amount: usize,
}

impl Pool {
    pub(super) fn new(total: usize, sharing: Sharing) -> Self {
        Self(Arc::new(Inner { total, sharing, held: Mutex::default() }))
    }

    pub(super) fn total(&self) -> usize {
        self.0.total
    }

    /// Takes an amount for a principal; none where it is more than there is for it now.
    pub(super) fn take(&self, principal: &Principal, amount: usize) -> Option<Lease> {
        let mut lease = Lease { pool: self.clone(), principal: principal.clone(), amount: 0 };
        lease.grow(amount).then_some(lease)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Takes more; whether there is so much for its principal now.
    #[must_use]
    pub(super) fn grow(&mut self, more: usize) -> bool {
        let mut held = self.pool.held();
        let free = self.pool.0.total - held.all;
        let own = held.by.get(&self.principal).copied().unwrap_or_default();
        let fits = match self.pool.0.sharing {
            Sharing::Alone => more <= free,
            Sharing::Several => more <= free && own.saturating_add(more) <= free,
        };
        if fits && more > 0 {
            held.all += more;
            *held.by.entry(self.principal.clone()).or_default() += more;
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
        let mut held = self.pool.held();
        held.all -= self.amount;
        if let Some(own) = held.by.get_mut(&self.principal) {
            *own -= self.amount;
            if *own == 0 {
                held.by.remove(&self.principal);
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

    /// All that a principal gets, one by one.
    fn all(pool: &Pool, name: &str) -> Vec<Lease> {
        std::iter::from_fn(|| pool.take(&principal(name), 1)).collect()
    }

    #[test]
    fn a_principal_that_takes_all_it_can_leaves_as_much_to_the_others() {
        let pool = Pool::new(512, Sharing::Several);
        let first = all(&pool, "a");
        let second = all(&pool, "b");
        let third = all(&pool, "c");
        assert_eq!([first.len(), second.len(), third.len()], [256, 128, 64]);
        // What is given back is there for everybody.
        drop((first, second, third));
        assert_eq!(all(&pool, "d").len(), 256);
        assert_eq!(pool.held().by.len(), 0);
    }

    #[test]
    fn one_alone_takes_all_of_it_and_no_more() {
        let pool = Pool::new(3, Sharing::Alone);
        let leases = all(&pool, "a");
        assert_eq!(leases.len(), 3);
        assert!(pool.take(&principal("a"), 1).is_none());
    }

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let pool = Pool::new(100, Sharing::Several);
        let mut lease = pool.take(&principal("a"), 40).unwrap();
        assert!(!lease.grow(usize::MAX) && !lease.grow(21) && lease.grow(10));
        assert!(pool.take(&principal("b"), 51).is_none());
        assert!(pool.take(&principal("b"), 50).is_some());
        drop(lease);
        assert_eq!(pool.held().all, 0);
    }
}
