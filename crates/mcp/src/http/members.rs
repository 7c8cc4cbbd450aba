//! Whose a request is, and how many of them there may be.
//!
//! Invariant: where tokens are asked for, nobody is a principal without one. A token that is missing and one that is wrong
//! get the same answer, but for the challenge. What is remembered of wrong ones is bounded, however many addresses show them.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use tokio::sync::Semaphore;

use super::HttpConfig;
use super::bearers::{Bearer, MetricsToken};
use super::refusal::{Challenge, Refusal};
use crate::principal::Principal;
use crate::runtime::WORKERS;
use crate::share::Admitted;

/// How many wrong tokens an address may show in a minute before it is told to wait.
const ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
/// How many addresses are remembered at most. Where there are more, wrong tokens of the others are counted together.
const ADDRESSES: usize = 4096;
/// How many wrong tokens all those others may show in a minute.
const OTHERS: NonZeroU32 = NonZeroU32::new(600).unwrap();
/// How often addresses are forgotten that may try again anyway, at most: each is looked at for that.
const FORGETTING: Duration = Duration::from_secs(1);

/// How many requests of a principal are dispatched at once, until each waits for something or its answer is made: one for each thread
/// that messages are read on.
const ENTRIES: usize = WORKERS;

/// Who may come in.
pub(super) struct Members {
    known: Vec<Member>,
    /// Where nobody needs a token.
    everybody: Option<Member>,
    /// Who may see metrics.
    metrics: Option<MetricsToken>,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    others: DefaultDirectRateLimiter,
    forgot: Mutex<Option<Instant>>,
    clock: DefaultClock,
}

/// One who may come in.
pub(super) struct Member {
    bearer: Option<Bearer>,
    principal: Principal,
    pace: Option<DefaultDirectRateLimiter>,
    gate: Semaphore,
    entries: Arc<Semaphore>,
}

impl Members {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let pace = |rate: Option<NonZeroU32>| rate.map(|rate| RateLimiter::direct(Quota::per_minute(rate)));
        let member = |bearer: &Bearer| Member {
            principal: bearer.principal().clone(),
            pace: pace(bearer.share().requests_per_minute.or(config.rate)),
            bearer: Some(bearer.clone()),
            gate: Semaphore::new(1),
            entries: Arc::new(Semaphore::new(ENTRIES)),
        };
        let known: Vec<_> = config.bearers.all().iter().map(member).collect();
        let everybody = known.is_empty().then(|| Member {
            bearer: None,
            principal: Principal::local(),
            pace: pace(config.rate),
            // Who is alone waits for nobody.
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            entries: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        });
        Self {
            known,
            everybody,
            metrics: config.metrics.clone().or_else(|| config.bearers.metrics().cloned()),
            others: RateLimiter::direct(Quota::per_minute(OTHERS)),
            forgot: Mutex::default(),
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
        self.known(&hash).ok_or_else(|| self.wrong(peer))
    }

    /// Whether a request may see metrics: they are of the whole server, so the token of a principal is not enough. Where
    /// nobody needs a token, and none is set for metrics, everybody may.
    pub(super) fn may_measure(&self, headers: &HeaderMap, peer: IpAddr) -> Result<(), Refusal> {
        if self.metrics.is_none() && self.everybody.is_some() {
            return Ok(());
        }
        let Some(token) = shown(headers) else {
            return Err(Refusal::Unauthorized(Challenge::Missing));
        };
        let hash = blake3::hash(token);
        let known = self.known(&hash).is_some();
        match &self.metrics {
            Some(metrics) if metrics.has(&hash) => Ok(()),
            _ if known => Err(Refusal::Metrics),
            _ => Err(self.wrong(peer)),
        }
    }

    /// Whose a token is. Each is looked at, so that the time does not tell which one it was.
    fn known(&self, hash: &blake3::Hash) -> Option<&Member> {
        self.known.iter().filter(|member| member.bearer.as_ref().is_some_and(|own| own.has(hash))).last()
    }

    /// How many addresses are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.failures.len()
    }

    /// Counts a wrong token of an address.
    fn wrong(&self, peer: IpAddr) -> Refusal {
        let address = neighbourhood(peer);
        let counted = if self.remembers_more() {
            self.failures.check_key(&address).map_err(|until| self.wait(&until))
        } else {
            self.others.check().map_err(|until| self.wait(&until))
        };
        match counted {
            Ok(()) => Refusal::Unauthorized(Challenge::Invalid),
            Err(wait) => Refusal::TooManyAttempts { wait },
        }
    }

    /// Whether another address can be remembered. Those are forgotten now and then that may try again anyway.
    fn remembers_more(&self) -> bool {
        if self.failures.len() < ADDRESSES {
            return true;
        }
        let mut forgot = self.forgot.lock().unwrap_or_else(PoisonError::into_inner);
        if forgot.is_none_or(|at| at.elapsed() > FORGETTING) {
            *forgot = Some(Instant::now());
            self.failures.retain_recent();
        }
        self.failures.len() < ADDRESSES
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

    /// Waits until one of its requests may be dispatched; none where it may not any more.
    pub(super) async fn admit(&self) -> Option<Admitted> {
        Arc::clone(&self.entries).acquire_owned().await.ok().map(Admitted::new)
    }

    /// Whoever holds it parses a body.
    pub(super) const fn gate(&self) -> &Semaphore {
        &self.gate
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
pub(super) fn neighbourhood(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}
