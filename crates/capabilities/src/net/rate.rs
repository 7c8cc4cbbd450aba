//! How often tools have asked.
//!
//! Invariant: what is counted of a tool is counted in all of its runs. A tool may make its whole minute's requests at once, and
//! has them back one by one over a minute (GCRA).

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use lru::LruCache;

/// How many tools are remembered: one that has not asked for longest is forgotten first.
const TOOLS: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

type Limiters = LruCache<(String, NonZeroU32), Arc<DefaultDirectRateLimiter>>;

/// How often tools have asked.
pub(super) struct Rates(Mutex<Limiters>);

impl Default for Rates {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(TOOLS)))
    }
}

impl Rates {
    /// Counts one request of a tool, if there may be one.
    pub(super) fn admit(&self, tool: &str, per_minute: NonZeroU32) -> bool {
        let limiter = {
            let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let limiter = || Arc::new(RateLimiter::direct(Quota::per_minute(per_minute)));
            limiters.get_or_insert((tool.to_owned(), per_minute), limiter).clone()
        };
        limiter.check().is_ok()
    }
}
