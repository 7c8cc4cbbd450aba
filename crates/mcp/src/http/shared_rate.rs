//! A rate limit that several servers share: each leases requests of a minute in chunks from a common count, so that the count is asked
//! much less often than requests come.
//!
//! Invariant: all servers together admit no more than the limit in a minute, by the clock of the count. What a server leased and did not
//! use lapses with the minute.

use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::principal::Principal;

/// How many leases the limit has. More of them are fairer to the servers, and fewer are asked for less often.
const LEASES: u32 = 20;
/// How long a server goes by its own limit after the count could not be reached.
const UNREACHABLE_PERIOD: Duration = Duration::from_secs(1);

/// The common count of the requests of principals.
pub trait SharedRates: Debug + Send + Sync {
    /// Takes up to `amount` of the requests that a principal has left in this minute, of `limit`; `None` if the count cannot be reached.
    /// It may block, for a time that the implementation bounds.
    fn take(&self, principal: &Principal, amount: NonZeroU32, limit: NonZeroU32) -> Option<RateLease>;
}

/// Requests that a server may admit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLease {
    /// Their number, which is zero if none is left.
    pub granted: u32,
    /// When they lapse.
    pub lapses_after: Duration,
}

/// The shared rate limit of a principal.
pub(super) struct SharedRate {
    principal: Principal,
    limit: NonZeroU32,
    rates: Arc<dyn SharedRates>,
    lease: Mutex<Lease>,
}

/// What is known of the requests that are left.
#[derive(Clone, Copy)]
enum Lease {
    /// This server may admit so many until then.
    Units { left: u32, lapses: Instant },
    /// All are used until then.
    Exhausted { until: Instant },
}

impl SharedRate {
    pub(super) fn new(principal: Principal, limit: NonZeroU32, rates: Arc<dyn SharedRates>) -> Self {
        Self { principal, limit, rates, lease: Mutex::new(Lease::Units { left: 0, lapses: Instant::now() }) }
    }

    /// Counts a request; the error is the time until the next minute begins.
    pub(super) async fn check(&self) -> Result<(), Duration> {
        // While one request asks for a lease, the others of its principal wait for it.
        let mut lease = self.lease.lock().await;
        let now = Instant::now();
        match &mut *lease {
            Lease::Units { left, lapses } if *left > 0 && *lapses > now => {
                *left -= 1;
                return Ok(());
            }
            Lease::Exhausted { until } if *until > now => return Err(*until - now),
            Lease::Units { .. } | Lease::Exhausted { .. } => {}
        }
        let taken = self.take().await;
        let end = Instant::now() + taken.lapses_after;
        let Some(left) = taken.granted.checked_sub(1) else {
            *lease = Lease::Exhausted { until: end };
            return Err(taken.lapses_after);
        };
        *lease = Lease::Units { left, lapses: end };
        Ok(())
    }

    /// Takes a lease. If the count cannot be reached, the server's own limit has to do for a while.
    async fn take(&self) -> RateLease {
        let amount = NonZeroU32::new(self.limit.get() / LEASES).unwrap_or(NonZeroU32::MIN);
        let (rates, principal, limit) = (Arc::clone(&self.rates), self.principal.clone(), self.limit);
        let taken = tokio::task::spawn_blocking(move || rates.take(&principal, amount, limit)).await;
        taken.ok().flatten().unwrap_or(RateLease { granted: u32::MAX, lapses_after: UNREACHABLE_PERIOD })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A count that has so many requests left, or cannot be reached.
    #[derive(Debug)]
    struct Count {
        left: std::sync::Mutex<Option<u32>>,
        asked: AtomicU32,
        lapses_after: Duration,
    }

    impl Count {
        fn new(left: Option<u32>, lapses_after: Duration) -> Arc<Self> {
            Arc::new(Self { left: std::sync::Mutex::new(left), asked: AtomicU32::new(0), lapses_after })
        }
    }

    impl SharedRates for Count {
        fn take(&self, _: &Principal, amount: NonZeroU32, _: NonZeroU32) -> Option<RateLease> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let mut left = self.left.lock().unwrap();
            let granted = (*left)?.min(amount.get());
            *left = left.map(|left| left - granted);
            Some(RateLease { granted, lapses_after: self.lapses_after })
        }
    }

    fn servers(count: &Arc<Count>, limit: u32, servers: usize) -> Vec<SharedRate> {
        let new = |_| {
            let rates = Arc::clone(count) as Arc<dyn SharedRates>;
            SharedRate::new(Principal::local(), NonZeroU32::new(limit).unwrap(), rates)
        };
        (0..servers).map(new).collect()
    }

    /// Sends requests to the servers in turn until all refuse, and returns the number of those that were admitted.
    async fn admitted(servers: &[SharedRate]) -> u32 {
        let mut admitted = 0;
        loop {
            let before = admitted;
            for server in servers {
                admitted += u32::from(server.check().await.is_ok());
            }
            if admitted == before {
                return admitted;
            }
        }
    }

    #[tokio::test]
    async fn servers_admit_the_limit_together_and_ask_seldom() {
        for (limit, most) in [(600, 23), (601, 24), (7, 10), (1, 4)] {
            let count = Count::new(Some(limit), Duration::from_mins(1));
            assert_eq!(admitted(&servers(&count, limit, 3)).await, limit);
            let asked = count.asked.load(Ordering::Relaxed);
            assert!(asked <= most, "{limit}: {asked}");
        }
    }

    #[tokio::test]
    async fn a_lease_lapses_with_its_minute_and_who_is_refused_may_ask_again_then() {
        let period = Duration::from_millis(50);
        let count = Count::new(Some(40), period);
        let server = &servers(&count, 40, 1)[0];
        assert!(server.check().await.is_ok());
        tokio::time::sleep(2 * period).await;
        // One of the two of the first lease was not used, and is gone.
        assert_eq!(admitted(std::slice::from_ref(server)).await, 38);
        assert!(server.check().await.unwrap_err() <= period);
        *count.left.lock().unwrap() = Some(40);
        tokio::time::sleep(2 * period).await;
        assert!(server.check().await.is_ok());
    }

    #[tokio::test]
    async fn without_the_count_a_server_admits_what_it_would_alone() {
        let count = Count::new(None, Duration::ZERO);
        let server = &servers(&count, 5, 1)[0];
        for _ in 0..100 {
            assert!(server.check().await.is_ok());
        }
        assert_eq!(count.asked.load(Ordering::Relaxed), 1);
    }
}
