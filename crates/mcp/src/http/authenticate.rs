//! Authenticates requests and limits their rate.
//!
//! The rate limiters are those of `governor`. The rest is written by hand: the bearer layer of
//! `tower_http` knows a single token and compares it as text.
//!
//! Invariant: if tokens are configured, no request gets a principal without one. A missing and a
//! wrong token get the same response except for the challenge.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::Semaphore;

use super::HttpConfig;
use super::failure_limiter::FailureLimiter;
use super::problem::{Challenge, Refusal};
use super::shared_rate::SharedRate;
use super::tokens::{MetricsToken, PrincipalToken, TokenScope};
use crate::principal::Principal;
use crate::request_limiter::AdmittedRequest;
use crate::runtime::WORKERS;

/// The requests of a principal that are dispatched at once, until each waits for something or is
/// answered: one per thread that messages are read on.
const MAX_DISPATCHED: usize = WORKERS;

/// The principals that have access.
pub(super) struct Authenticator {
    principals: Vec<PrincipalAccess>,
    /// The principal of all requests, if no token is required.
    anonymous: Option<PrincipalAccess>,
    /// The token for `/metrics`.
    metrics: Option<MetricsToken>,
    failures: FailureLimiter,
    clock: DefaultClock,
}

/// A principal that has access, with its limiters.
pub(super) struct PrincipalAccess {
    token: Option<PrincipalToken>,
    principal: Principal,
    rate: Option<PrincipalRate>,
    parse_lock: Semaphore,
    dispatch_permits: Arc<Semaphore>,
}

/// The rate limit of a principal.
struct PrincipalRate {
    limit: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
    /// The same limit for all servers that share it.
    shared: Option<SharedRate>,
}

impl Authenticator {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let rate_of = |principal: &Principal, limit: Option<NonZeroU32>| {
            let limit = limit.or(config.requests_per_minute)?;
            let share = |rates| SharedRate::new(principal.clone(), limit, rates);
            let shared = config.shared_rates.clone().map(share);
            Some(PrincipalRate { limit, limiter: RateLimiter::direct(Quota::per_minute(limit)), shared })
        };
        let access = |bearer: &PrincipalToken| PrincipalAccess {
            principal: bearer.principal().clone(),
            rate: rate_of(bearer.principal(), bearer.limits().requests_per_minute),
            token: Some(bearer.clone()),
            parse_lock: Semaphore::new(1),
            dispatch_permits: Arc::new(Semaphore::new(MAX_DISPATCHED)),
        };
        let known: Vec<_> = config.tokens.principal_tokens().iter().map(access).collect();
        let everybody = known.is_empty().then(|| PrincipalAccess {
            token: None,
            principal: Principal::local(),
            rate: rate_of(&Principal::local(), None),
            // A single principal waits for no other.
            parse_lock: Semaphore::new(Semaphore::MAX_PERMITS),
            dispatch_permits: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        });
        Self {
            principals: known,
            anonymous: everybody,
            metrics: config.metrics_token.clone().or_else(|| config.tokens.metrics().cloned()),
            failures: FailureLimiter::new(),
            clock: DefaultClock::default(),
        }
    }

    /// Returns the principal of a request, and what its token allows. Without tokens no request is
    /// one of the host: any program of this machine could send it.
    ///
    /// An address that sent too many wrong tokens has to wait, but a correct token is accepted even
    /// then: many clients may share an address, and none of them may lock out the others. No token
    /// is short enough to be found by guessing at this rate.
    pub(super) fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
    ) -> Result<(&PrincipalAccess, TokenScope), Refusal> {
        if let Some(everybody) = &self.anonymous {
            return Ok((everybody, TokenScope::Client));
        }
        let Some(token) = bearer_token(headers) else {
            return Err(Refusal::Unauthorized(Challenge::Missing));
        };
        let hash = blake3::hash(token);
        self.find(&hash).ok_or_else(|| self.count_failure(peer))
    }

    /// Checks the token for `/metrics`. Metrics cover the whole server, so the token of a principal
    /// does not suffice. Without any tokens, `/metrics` is open.
    pub(super) fn authorize_metrics(&self, headers: &HeaderMap, peer: IpAddr) -> Result<(), Refusal> {
        if self.metrics.is_none() && self.anonymous.is_some() {
            return Ok(());
        }
        let Some(token) = bearer_token(headers) else {
            return Err(Refusal::Unauthorized(Challenge::Missing));
        };
        let hash = blake3::hash(token);
        let known = self.find(&hash).is_some();
        match &self.metrics {
            Some(metrics) if metrics.matches(&hash) => Ok(()),
            _ if known => Err(Refusal::MetricsForbidden),
            _ => Err(self.count_failure(peer)),
        }
    }

    /// Returns the access of a principal.
    pub(super) fn access_of(&self, principal: &Principal) -> Option<&PrincipalAccess> {
        self.principals.iter().chain(&self.anonymous).find(|access| access.principal == *principal)
    }

    /// Finds the principal of a token, and what the token allows. All tokens are compared, so that the
    /// time does not depend on which one matches.
    fn find(&self, hash: &blake3::Hash) -> Option<(&PrincipalAccess, TokenScope)> {
        let scope_of = |access: &PrincipalAccess| access.token.as_ref().and_then(|own| own.scope_of(hash));
        self.principals.iter().filter_map(|access| Some((access, scope_of(access)?))).last()
    }

    /// The number of addresses that are tracked.
    #[cfg(test)]
    pub(super) fn tracked_addresses(&self) -> usize {
        self.failures.tracked_addresses()
    }

    /// Counts a wrong token of an address.
    fn count_failure(&self, peer: IpAddr) -> Refusal {
        match self.failures.count(peer) {
            Ok(()) => Refusal::Unauthorized(Challenge::Invalid),
            Err(wait) => Refusal::TooManyAttempts { wait },
        }
    }

    /// Counts a request against the principal's rate limit.
    pub(super) async fn check_rate(&self, access: &PrincipalAccess) -> Result<(), Refusal> {
        let Some(PrincipalRate { limit, limiter, shared }) = &access.rate else { return Ok(()) };
        let refused = |wait| Refusal::RateLimited { limit: *limit, wait };
        limiter.check().map_err(|until| refused(until.wait_time_from(self.clock.now())))?;
        match shared {
            Some(shared) => shared.check().await.map_err(refused),
            None => Ok(()),
        }
    }
}

impl PrincipalAccess {
    pub(super) const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Waits for a dispatch permit; `None` if the semaphore is closed.
    pub(super) async fn admit(&self) -> Option<AdmittedRequest> {
        Arc::clone(&self.dispatch_permits).acquire_owned().await.ok().map(AdmittedRequest::new)
    }

    /// Held while a body of the principal is parsed.
    pub(super) const fn parse_lock(&self) -> &Semaphore {
        &self.parse_lock
    }
}

/// The bearer token of a request. Two `Authorization` headers count as none.
fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.as_bytes(), values.next()) else { return None };
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}
