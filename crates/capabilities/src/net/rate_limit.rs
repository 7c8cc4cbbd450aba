//! Rate limits of tools.
//!
//! Invariant: requests are counted per tool, over all its runs. A tool may use its whole quota of a
//! minute at once; the quota is replenished continuously over a minute (GCRA).

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use lru::LruCache;

/// The maximum number of tracked limiters. The least recently used one is evicted first.
const MAX_TRACKED_TOOLS: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

type Limiters = LruCache<(String, NonZeroU32), Arc<DefaultDirectRateLimiter>>;

/// The rate limiters, by tool and rate.
pub(super) struct RateLimits(Mutex<Limiters>);

impl Default for RateLimits {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_TRACKED_TOOLS)))
    }
}

impl RateLimits {
    /// Counts a request of a tool, and returns whether it is within the rate.
    pub(super) fn admit(&self, tool: &str, per_minute: NonZeroU32) -> bool {
        let limiter = {
            let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let limiter = || Arc::new(RateLimiter::direct(Quota::per_minute(per_minute)));
            limiters.get_or_insert((tool.to_owned(), per_minute), limiter).clone()
        };
        limiter.check().is_ok()
    }
}
