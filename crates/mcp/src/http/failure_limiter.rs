//! Counts wrong tokens, so that none is found by guessing.
//!
//! Invariant: the record of failures is bounded, however many addresses send wrong tokens.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};

/// The wrong tokens that an address may send per minute before it has to wait.
const MAX_FAILURES_PER_MINUTE: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
/// The most addresses that are tracked. Failures of further addresses are counted together.
const MAX_TRACKED_ADDRESSES: usize = 4096;
/// The wrong tokens that all untracked addresses together may send per minute.
const MAX_UNTRACKED_FAILURES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).unwrap();
/// The shortest time between two removals of addresses that may try again anyway; each removal
/// visits all of them.
const PRUNE_INTERVAL: Duration = Duration::from_secs(1);

/// The addresses that sent wrong tokens.
pub(super) struct FailureLimiter {
    by_address: DefaultKeyedRateLimiter<IpAddr>,
    untracked: DefaultDirectRateLimiter,
    last_pruned: Mutex<Option<Instant>>,
    clock: DefaultClock,
}

impl FailureLimiter {
    pub(super) fn new() -> Self {
        Self {
            by_address: RateLimiter::keyed(Quota::per_minute(MAX_FAILURES_PER_MINUTE)),
            untracked: RateLimiter::direct(Quota::per_minute(MAX_UNTRACKED_FAILURES_PER_MINUTE)),
            last_pruned: Mutex::default(),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a wrong token of an address.
    ///
    /// # Errors
    /// How long the address has to wait, if it sent too many.
    pub(super) fn count(&self, peer: IpAddr) -> Result<(), Duration> {
        let address = address_block(peer);
        if self.can_track_address() {
            self.by_address.check_key(&address).map_err(|until| self.wait_time(&until))
        } else {
            self.untracked.check().map_err(|until| self.wait_time(&until))
        }
    }

    /// The number of addresses that are tracked.
    #[cfg(test)]
    pub(super) fn tracked_addresses(&self) -> usize {
        self.by_address.len()
    }

    /// Whether another address can be tracked. Addresses that may try again anyway are removed from
    /// time to time.
    fn can_track_address(&self) -> bool {
        if self.by_address.len() < MAX_TRACKED_ADDRESSES {
            return true;
        }
        let mut forgot = self.last_pruned.lock().unwrap_or_else(PoisonError::into_inner);
        if forgot.is_none_or(|at| at.elapsed() > PRUNE_INTERVAL) {
            *forgot = Some(Instant::now());
            self.by_address.retain_recent();
        }
        self.by_address.len() < MAX_TRACKED_ADDRESSES
    }

    fn wait_time(&self, until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>) -> Duration {
        until.wait_time_from(self.clock.now())
    }
}

/// Masks an IPv6 address to its /64 network, because one client usually has all of it.
pub(super) fn address_block(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}
