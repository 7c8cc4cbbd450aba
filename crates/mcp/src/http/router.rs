//! Routes HTTP requests.
//!
//! Invariant: before a request reaches the protocol, its host name, its token, its principal's
//! share of connections, the rate limit and the body limits are checked, in this order; its
//! principal is then in its extensions. The health endpoints answer under any load.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ErrorData};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::authenticate::{Authenticator, PrincipalAccess};
use super::body::{GuardedBody, RequestBodyReader, RequestGuard, gather_first_events};
use super::connection::IdleTracker;
use super::connections::ConnectionSlot;
use super::cors::{Cors, CorsHeaders};
use super::host_check::HostAllowlist;
use super::pool::Pool;
use super::problem::Refusal;
use super::sessions::{CALLER, Caller, MAX_INITIALIZE_BYTES, SessionOwner, Sessions};
use super::{HealthHooks, HttpConfig};
use crate::in_flight::CallTracker;
use crate::malformed::reply_to_malformed;
use crate::request_limiter::AdmittedRequest;

/// The path of the protocol.
pub(super) const ENDPOINT: &str = "/mcp";
/// The text at `/`.
const INDEX_TEXT: &str =
    "Toolcell MCP server. Send MCP requests to /mcp; /healthz, /readyz and /metrics report its state.\n";
/// The methods of the endpoints for operators.
const READ_METHODS: &str = "GET, HEAD";
/// The first revision of the protocol without sessions. Its headers repeat the method of the body.
const STATELESS_VERSION: &str = "2026-07-28";

/// The longest time that a request holds one of its principal's dispatch permits. Operations
/// release it as soon as they wait for a permit.
const DISPATCH_TIMEOUT: Duration = Duration::from_millis(10);

type Body = BoxBody<Bytes, Infallible>;

/// Routes requests.
pub(super) struct Router<H> {
    protocol: StreamableHttpService<H, Sessions>,
    sessions: Sessions,
    hosts: HostAllowlist,
    authenticator: Authenticator,
    cors: Cors,
    body_reader: RequestBodyReader,
    /// The requests in flight.
    request_pool: Pool,
    /// The requests whose responses a shutdown waits for.
    awaited: TaskTracker,
    health: HealthHooks,
    calls: CallTracker,
}

impl<H: ServerHandler + Clone> Router<H> {
    pub(super) fn new(handler: H, config: &HttpConfig, calls: &CallTracker, bound: SocketAddr) -> Self {
        let hosts = HostAllowlist::new(&config.allowed_hosts, bound);
        let sessions =
            Sessions::new(config.max_sessions, config.timeouts.session_idle, config.timeouts.orphaned_request);
        let protocol = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts.names())
            .with_allowed_origins(HostAllowlist::own_origins(bound).chain(config.allowed_origins.iter().cloned()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(config.max_body_bytes)
            .with_legacy_session_mode(true)
            // Without a session a plain JSON response is shorter, and one write.
            .with_json_response(true)
            .with_cancellation_token(CancellationToken::new());
        let sharing = config.sharing();
        let reading = RequestBodyReader {
            limit: config.max_body_bytes,
            timeout: config.timeouts.body,
            min_rate: config.min_body_rate,
            rate_slack: config.timeouts.body_rate_slack,
            byte_pool: Pool::new(config.max_total_body_bytes, sharing),
            value_pool: Pool::new(config.max_total_value_bytes, sharing),
        };
        Self {
            protocol: StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions.clone()), protocol),
            sessions,
            hosts,
            authenticator: Authenticator::new(config),
            cors: Cors::new(&config.allowed_origins),
            body_reader: reading,
            request_pool: Pool::new(config.max_requests, sharing),
            awaited: TaskTracker::new(),
            health: config.health.clone(),
            calls: calls.clone(),
        }
    }

    /// The requests whose responses a shutdown waits for.
    pub(super) const fn awaited(&self) -> &TaskTracker {
        &self.awaited
    }

    /// Ends all sessions and streams.
    pub(super) fn close_sessions(&self) {
        self.protocol.config.cancellation_token.cancel();
    }

    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        activity: &Arc<IdleTracker>,
        guest: &ConnectionSlot,
    ) -> Response<GuardedBody> {
        let mut held = RequestGuard {
            exchange: activity.start_exchange(),
            request_lease: None,
            body_lease: None,
            value_lease: None,
            awaited: None,
        };
        if request.body().is_end_stream() {
            held.exchange.mark_read();
        }
        let chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let told = self.cors.headers_for(request.method(), request.headers());
        let mut response = match told.as_ref().and_then(CorsHeaders::preflight_status) {
            Some(status) => empty_response(status),
            None => self.route(request, peer, guest, &mut held).await.unwrap_or_else(|refusal| {
                tracing::debug!(code = refusal.code(), %peer, "request refused");
                refusal.response()
            }),
        };
        if let Some(told) = told {
            told.append_to(response.headers_mut());
        }
        if chunked {
            // A proxy may have framed this request differently (RFC 9112, section 6.3), so the
            // bytes after it are not parsed as another request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response.map(|body| GuardedBody::new(body, held))
    }

    async fn route(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        guest: &ConnectionSlot,
        held: &mut RequestGuard,
    ) -> Result<Response<Body>, Refusal> {
        self.hosts.check(request.uri(), request.headers())?;
        match request.uri().path() {
            ENDPOINT => {
                let member = self.authenticator.authenticate(request.headers(), peer)?;
                return self.forward(request, member, guest, held).await.inspect_err(|refusal| {
                    self.health.report_refused(member.principal(), refusal.code(), refusal.to_string());
                });
            }
            "/" | "/healthz" | "/readyz" | "/metrics" => {}
            _ => return Err(Refusal::NotFound),
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Refusal::MethodNotAllowed { allowed: READ_METHODS });
        }
        match request.uri().path() {
            "/healthz" => Ok(text_response("ok\n".to_owned())),
            "/readyz" if self.calls.is_closing() => Err(Refusal::Closing),
            "/readyz" => {
                self.health.check_ready().map(|()| text_response("ready\n".to_owned())).map_err(Refusal::NotReady)
            }
            "/metrics" => {
                self.authenticator.authorize_metrics(request.headers(), peer)?;
                let mut response = text_response(self.health.render_metrics());
                let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                Ok(response)
            }
            _ => Ok(text_response(INDEX_TEXT.to_owned())),
        }
    }

    /// Forwards a request to the protocol.
    async fn forward(
        &self,
        request: Request<Incoming>,
        member: &PrincipalAccess,
        guest: &ConnectionSlot,
        held: &mut RequestGuard,
    ) -> Result<Response<Body>, Refusal> {
        let principal = member.principal();
        guest.set_owner(principal)?;
        self.authenticator.check_rate(member)?;
        let session = request.headers().get("mcp-session-id").and_then(|session| session.to_str().ok());
        match session.map(|session| self.sessions.owner_of(session, principal)) {
            Some(SessionOwner::Foreign) => return Err(Refusal::SessionUnknown),
            // `rmcp` would report that it is deleted.
            Some(SessionOwner::Unknown) if *request.method() == Method::DELETE => return Err(Refusal::SessionUnknown),
            _ => {}
        }
        let (mut parts, body) = request.into_parts();
        let whole = self.body_reader.read(body, principal).await?;
        held.exchange.mark_read();
        let has_session = parts.headers.contains_key("mcp-session-id");
        // In a session a request can wait for the answer to another one, for example to an
        // elicitation, so it must not hold a dispatch permit.
        let admitted = if has_session || is_subscription(&parts.headers) { None } else { member.admit().await };
        let values = poll_first_exclusively(member.parse_lock(), async {
            self.body_reader.reserve_values(&whole.bytes, principal)
        })
        .await?;
        if parts.method == Method::POST && !is_subscription(&parts.headers) {
            let limit = self.request_pool.total();
            held.request_lease = Some(self.request_pool.acquire(principal, 1).ok_or(Refusal::Overloaded { limit })?);
            held.awaited = Some(self.awaited.token());
        }
        let is_json = is_json(&parts.headers);
        // Everything from here on may log the headers.
        parts.headers.remove(AUTHORIZATION);
        parts.extensions.insert(principal.clone());
        if let Some(admitted) = &admitted {
            parts.extensions.insert(admitted.holder().clone());
        }
        let bytes = whole.bytes.clone();
        let request = Request::from_parts(parts, Full::new(whole.bytes));
        let caller = Caller { principal: principal.clone(), bytes: bytes.len() };
        let handled = CALLER.scope(caller, self.protocol.handle(request));
        let response = release_when_slow(admitted.as_ref(), poll_first_exclusively(member.parse_lock(), handled)).await;
        let response = if is_stream(response.headers()) { gather_first_events(response).await } else { response };
        if response.body().size_hint().exact().is_none() {
            // The request may wait for its permit as long as the stream lasts.
            (held.body_lease, held.value_lease) = (whole.lease, Some(values));
        }
        let refusal = match to_problem(response).await {
            Ok(response) => return Ok(response),
            Err(refusal) => refusal,
        };
        Err(match refusal {
            // `rmcp` answers a body of another type and one that is not a message alike.
            Refusal::Protocol { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, .. } if is_json => {
                poll_first_exclusively(member.parse_lock(), async { invalid_message(&bytes) }).await
            }
            // A session keeps its client's `initialize` request as long as it lives.
            Refusal::Protocol { status: StatusCode::INTERNAL_SERVER_ERROR, .. }
                if !has_session && bytes.len() > MAX_INITIALIZE_BYTES =>
            {
                Refusal::BodyTooLarge { length: Some(bytes.len() as u64), limit: MAX_INITIALIZE_BYTES }
            }
            // A missing session and a foreign one are reported alike.
            Refusal::Protocol { status: StatusCode::NOT_FOUND, .. } => Refusal::SessionUnknown,
            other => other,
        })
    }
}

/// Waits for a response. A request that takes longer than [`DISPATCH_TIMEOUT`] waits for something,
/// and releases its dispatch permit.
async fn release_when_slow<F: Future>(admitted: Option<&AdmittedRequest>, handled: F) -> F::Output {
    let Some(admitted) = admitted else { return handled.await };
    let mut handled = pin!(handled);
    match tokio::time::timeout(DISPATCH_TIMEOUT, &mut handled).await {
        Ok(response) => response,
        Err(_) => {
            admitted.holder().release_dispatch();
            handled.await
        }
    }
}

/// Polls a future for the first time while no other one of the same principal is polled for the
/// first time. That poll parses the body, on threads that all principals share.
async fn poll_first_exclusively<F: Future>(hook: &Semaphore, future: F) -> F::Output {
    let mut future = pin!(future);
    // The semaphore is never closed.
    let permit = hook.acquire().await;
    let first = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    drop(permit);
    match first {
        Poll::Ready(output) => output,
        Poll::Pending => future.await,
    }
}

/// Explains why a body is not a message, with the JSON-RPC error that answers it.
fn invalid_message(bytes: &[u8]) -> Refusal {
    let why = serde_json::from_slice::<ClientJsonRpcMessage>(bytes).err();
    let malformed = why.and_then(|why| reply_to_malformed(bytes, &why));
    let (id, error) = malformed.map_or_else(
        || (None, ErrorData::invalid_request("the message is not an MCP message", None)),
        |malformed| (malformed.id, malformed.error),
    );
    Refusal::BodyInvalid { error: json!({"jsonrpc": "2.0", "id": id, "error": error}) }
}

/// Whether a request is a subscription, which stays in flight while its client is connected. `rmcp`
/// refuses a header that does not match the body.
fn is_subscription(headers: &HeaderMap) -> bool {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    header("mcp-protocol-version").is_some_and(|version| version >= STATELESS_VERSION)
        && header("mcp-method") == Some("subscriptions/listen")
}

/// Converts a plain-text refusal by `rmcp` into a problem document.
async fn to_problem(response: Response<Body>) -> Result<Response<Body>, Refusal> {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_json(response.headers()) {
        return Ok(response);
    }
    let said = match response.into_body().collect().await {
        Ok(body) => String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        Err(never) => match never {},
    };
    Err(Refusal::Protocol { status, message: said })
}

fn is_json(headers: &HeaderMap) -> bool {
    has_content_type(headers, "application/json")
}

fn is_stream(headers: &HeaderMap) -> bool {
    has_content_type(headers, "text/event-stream")
}

fn has_content_type(headers: &HeaderMap, kind: &str) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|said| said.trim().eq_ignore_ascii_case(kind))
}

fn text_response(text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A response without a body.
fn empty_response(status: StatusCode) -> Response<Body> {
    let mut response = text_response(String::new());
    *response.status_mut() = status;
    response.headers_mut().remove(CONTENT_TYPE);
    response
}
