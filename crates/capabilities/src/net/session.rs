//! The network session of a run.
//!
//! Invariant: every hop passes the same checks in the same order: grants, secrets, limits, address.
//! The effects of an earlier hop are reported even if a later hop fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, HeaderValue};
use toolcell_protocol::{Effects, OperationError};
use toolcell_tool::Method;

use crate::net::authorize::{Authorizer, origin};
use crate::net::decompress::{self, Decompressor};
use crate::net::error::{self, type_error};
use crate::net::hop::{Author, Hop};
use crate::net::origin_limiter::{OriginLimiter, OriginPermit};
use crate::net::pool::{ClientPool, Decompression};
use crate::net::redact::Redactor;
use crate::net::redirect::{self, RedirectAction};
use crate::net::request::{Request, ValidRequest};
use crate::net::response::{LocationVisibility, Response, ResponseMeta};
use crate::net::secret::Secrets;
use crate::net::{NetSessionConfig, Shared, header};

/// Sees each request of a chain of redirects before it is sent.
pub trait RequestObserver: Send + Sync {
    /// Is called before a request is sent.
    ///
    /// # Errors
    /// The request is not sent, and the chain fails with this error.
    fn before_request(&self, request: &ObservedRequest<'_>) -> Result<(), OperationError>;
}

/// A request that is about to be sent.
#[derive(Debug)]
pub struct ObservedRequest<'a> {
    /// The host, as a URL parser returns it.
    pub host: &'a str,
    /// The method.
    pub method: Method,
    /// The names of the secrets that it carries.
    pub secrets: BTreeSet<String>,
}

/// The network session of a run. It can be used by several requests concurrently.
pub struct NetSession {
    shared: Arc<Shared>,
    run: String,
    authorizer: Arc<Authorizer>,
    secrets: Secrets,
    /// The redactors by the secrets they search for, created on first use.
    redactors: Mutex<BTreeMap<Vec<usize>, Arc<Redactor>>>,
    pool: ClientPool,
    origin_limiter: OriginLimiter,
}

/// A request with its response.
struct AnsweredRequest {
    answer: reqwest::Response,
    /// The maximum size of the response body, in bytes.
    limit: u64,
    permit: OriginPermit,
    decompressor: Decompressor,
}

impl NetSession {
    pub(super) fn new(shared: Arc<Shared>, run: NetSessionConfig) -> Self {
        let NetSessionConfig { tool, run, grants, secrets, other_secrets, meters, caller } = run;
        let secrets = Secrets::new(secrets, other_secrets);
        let meter = meters.for_tool(&tool);
        let granted =
            Arc::new(Authorizer::new(tool, grants, meter, caller.map(|caller| Arc::clone(&caller.authorizer))));
        Self {
            shared,
            run,
            authorizer: granted,
            secrets,
            redactors: Mutex::default(),
            pool: ClientPool::new(),
            origin_limiter: OriginLimiter::default(),
        }
    }

    /// Sends a request and waits for the head of its response. Dropping the future cancels the
    /// request.
    ///
    /// While 16 requests to an origin are in flight, the next one waits at most 2 ms for one of
    /// them to finish.
    ///
    /// The idempotency key of a request that changes something is derived from `id`, the number of
    /// the operation. Only connecting has a timeout; everything else is bounded by the deadline of
    /// the run.
    ///
    /// # Errors
    /// `net-url`, `net-header`, `net-body`: the request is invalid. `net-not-granted`,
    /// `net-address`, `secret-not-granted`, `secret-misplaced`: the request is not granted.
    /// `net-range`, `net-coding`: a secret in the response could not be recognized.
    /// `net-too-many-calls`, `net-rate`, `net-request-too-large`: a limit is exceeded.
    /// `net-unreachable`, `net-tls`, `net-broken`, `net-redirect`: there is no usable response.
    pub async fn fetch(&self, id: u32, request: Request) -> Result<Response, OperationError> {
        self.fetch_with(id, request, None).await
    }

    /// Same as [`fetch`](Self::fetch), with an observer that sees each request of the chain before it is sent.
    ///
    /// # Errors
    /// Same as [`fetch`](Self::fetch), and those of the observer.
    pub async fn fetch_observed(
        &self,
        id: u32,
        request: Request,
        observer: &dyn RequestObserver,
    ) -> Result<Response, OperationError> {
        self.fetch_with(id, request, Some(observer)).await
    }

    async fn fetch_with(
        &self,
        id: u32,
        request: Request,
        observer: Option<&dyn RequestObserver>,
    ) -> Result<Response, OperationError> {
        let fetched = self.follow(id, request, observer).await;
        if let Err(failure) = &fetched {
            tracing::debug!(code = &*failure.code, effects = ?failure.effects, "a request failed");
        }
        match fetched {
            Ok(response) => Ok(response),
            // Messages are short, so they are searched for all secrets.
            Err(failure) => {
                let redactor = self.redactor(self.secrets.all())?;
                Err(OperationError { message: redactor.redact_text(&failure.message), ..failure })
            }
        }
    }

    async fn follow(
        &self,
        id: u32,
        request: Request,
        observer: Option<&dyn RequestObserver>,
    ) -> Result<Response, OperationError> {
        let asked = ValidRequest::parse(request)?;
        let redirect = asked.redirect;
        let mut hop = Hop::new(asked, &self.run, id);
        let mut done = Effects::None;
        for _ in 0..=redirect::MAX_REDIRECTS {
            let known = |failure: OperationError| {
                let effects = failure.effects.max(done);
                failure.with_effects(effects)
            };
            let redactor = self.redactor(self.secrets.watched_for(hop.destination().host)).map_err(known)?;
            if let Some(observer) = observer {
                let (host, method, secrets) = (hop.destination().host, hop.method, hop.secret_names());
                observer.before_request(&ObservedRequest { host, method, secrets }).map_err(known)?;
            }
            let sent = self.send(&hop).await.map_err(known)?;
            done = Effects::Committed;
            let all = self.redactor(self.secrets.all()).map_err(|failure| failure.with_effects(done))?;
            let mentioned = |bytes: &[u8]| -> BTreeSet<usize> { all.secrets_in(bytes) };
            let next = redirect::decide(&hop, &sent.answer, redirect, &self.secrets, mentioned);
            match next.map_err(|failure| failure.with_effects(done))? {
                RedirectAction::Deliver => {
                    return Ok(build_response(hop, sent, &redactor, LocationVisibility::Visible));
                }
                RedirectAction::DeliverWithoutLocation => {
                    return Ok(build_response(hop, sent, &redactor, LocationVisibility::Hidden));
                }
                RedirectAction::Follow(next) => hop = next,
            }
        }
        let message =
            format!("{} redirects more than {} times; use another URL", origin(&hop.url), redirect::MAX_REDIRECTS);
        Err(type_error("net-redirect", message).with_effects(done))
    }

    /// Sends a single request of the chain.
    async fn send(&self, hop: &Hop) -> Result<AnsweredRequest, OperationError> {
        let mut allowed = self.authorizer.authorize(&hop.url, hop.method)?;
        let mut request = hop.fill(&self.secrets)?;
        // If some tool may send a secret to this host, the response must be complete and
        // searchable.
        let is_held = self.secrets.has_any_for(hop.destination().host);
        if is_held {
            header::reject_range_headers(&hop.headers, allowed.origin())?;
            allowed.pool_key.decompression = Decompression::Ourselves;
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(decompress::ACCEPT_ENCODING_VALUE));
        }
        let body = request.body().and_then(reqwest::Body::as_bytes).map_or(0, <[u8]>::len);
        let client = self.pool.get_or_create(allowed.pool_key.clone(), &self.shared).await?;
        let permit = self.origin_limiter.acquire(allowed.origin()).await;
        let limit = self.authorizer.admit(&allowed, body as u64, &self.shared.rates)?;
        let answer = client.execute(request).await;
        let answer = answer.map_err(|error| error::no_response(&error, &origin(&hop.url)))?;
        let unpacking = if is_held { check_searchable(&answer, allowed.origin())? } else { Decompressor::Plain };
        Ok(AnsweredRequest { answer, limit, permit, decompressor: unpacking })
    }

    /// Returns the redactor for some of the secrets.
    fn redactor(&self, places: Vec<usize>) -> Result<Arc<Redactor>, OperationError> {
        let mut made = self.redactors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(redactor) = made.get(&places) {
            return Ok(Arc::clone(redactor));
        }
        let redactor = Redactor::new(self.secrets.select(&places)).map_err(|_| {
            type_error("secret-not-granted", "the secrets of this run are too long; grant fewer of them")
        })?;
        Ok(Arc::clone(made.entry(places).or_insert(Arc::new(redactor))))
    }
}

/// Rejects a response in which a secret could not be recognized. Otherwise returns the decompressor
/// of the body.
fn check_searchable(answer: &reqwest::Response, origin: &str) -> Result<Decompressor, OperationError> {
    let why = "a tool may send a secret there, and it could not be detected in that";
    if answer.status() == StatusCode::PARTIAL_CONTENT || answer.headers().contains_key(CONTENT_RANGE) {
        let message = format!("{origin} sent a partial response: {why}; request the whole");
        return Err(type_error("net-range", message).with_effects(Effects::Committed));
    }
    Decompressor::from_headers(answer.headers()).map_err(|codings| {
        let codings = error::escape_for_display(&codings);
        let message = format!("{origin} encoded its response as `{codings}`: {why}; only gzip or deflate is supported");
        type_error("net-coding", message).with_effects(Effects::Committed)
    })
}

fn build_response(hop: Hop, sent: AnsweredRequest, redactor: &Arc<Redactor>, location: LocationVisibility) -> Response {
    let AnsweredRequest { answer, limit, permit, decompressor: unpacking } = sent;
    let (origin, redirected) = (origin(&hop.url), hop.author == Author::Server);
    let from = ResponseMeta { origin, redirected, url: hop.url, limit, permit, decompressor: unpacking, location };
    Response::new(answer, from, redactor)
}

impl fmt::Debug for NetSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetRun").field("run", &self.run).finish_non_exhaustive()
    }
}
