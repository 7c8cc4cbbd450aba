//! Whose a request is, and how many of them there may be.
//!
//! Invariant: where tokens are asked for, nobody is a principal without one. A token that is missing and one that is wrong
//! get the same answer, but for the challenge.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use super::HttpConfig;
use super::bearers::Bearer;
use super::refusal::{Challenge, Refusal};
use crate::principal::Principal;

/// How many wrong tokens an address may show in a minute before it is told to wait.
const ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
/// How many addresses are remembered before those are forgotten that may try again anyway.
const ADDRESSES: usize = 4096;

/// Who may come in.
pub(super) struct Members {
    known: Vec<Member>,
    /// Where nobody needs a token.
    everybody: Option<Member>,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
}

/// One who may come in.
pub(super) struct Member {
    bearer: Option<Bearer>,
    principal: Principal,
    pace: Option<DefaultDirectRateLimiter>,
}

impl Members {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let pace = |rate: Option<NonZeroU32>| rate.map(|rate| RateLimiter::direct(Quota::per_minute(rate)));
        let member = |bearer: &Bearer| Member {
            principal: bearer.principal().clone(),
            pace: pace(bearer.share().requests_per_minute.or(config.rate)),
            bearer: Some(bearer.clone()),
        };
        let known: Vec<_> = config.bearers.all().iter().map(member).collect();
        let everybody =
            known.is_empty().then(|| Member { bearer: None, principal: Principal::local(), pace: pace(config.rate) });
        Self {
            known,
            everybody,
            failures: RateLimiter::keyed(Quota::per_minute(ATTEMPTS)),
            clock: DefaultClock::default(),
        }
    }

    /// Whose a request is.
    ///
    /// An address that shows too many wrong tokens is told to wait, but a right one is let in even then: many clients may
    /// share an address, and none of them should be able to lock out the others. No token is short enough to be found so.
    pub(super) fn recognise(&self, headers: &HeaderMap, peer: IpAddr) -> Result<&Member, Refusal> {
        if let Some(everybody) = &self.everybody {
            return Ok(everybody);
        }
        let Some(token) = shown(headers) else {
            return Err(Refusal::Unauthorized(Challenge::Missing));
        };
        let hash = blake3::hash(token);
        // Each is looked at, so that the time does not tell which one it was.
        let found = self.known.iter().filter(|member| member.bearer.as_ref().is_some_and(|own| own.has(&hash)));
        if let Some(member) = found.last() {
            return Ok(member);
        }
        if self.failures.len() >= ADDRESSES {
            self.failures.retain_recent();
        }
        match self.failures.check_key(&neighbourhood(peer)) {
            Ok(()) => Err(Refusal::Unauthorized(Challenge::Invalid)),
            Err(until) => Err(Refusal::TooManyAttempts { wait: self.wait(&until) }),
        }
    }

    /// Counts a request of a member.
    pub(super) fn count(&self, member: &Member) -> Result<(), Refusal> {
        let Some(pace) = &member.pace else { return Ok(()) };
        pace.check().map_err(|until| {
            let limit = until.quota().burst_size();
            Refusal::RateLimited { limit, wait: self.wait(&until) }
        })
    }

    fn wait(&self, until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>) -> Duration {
        until.wait_time_from(self.clock.now())
    }
}

impl Member {
    pub(super) const fn principal(&self) -> &Principal {
        &self.principal
    }
}

/// The token that a request shows. Two `Authorization` headers show none.
fn shown(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.as_bytes(), values.next()) else { return None };
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

/// Whoever has one address of a network of version 6 has all of it.
fn neighbourhood(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}
