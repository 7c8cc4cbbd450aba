//! The endpoint of the protocol at `/mcp`: the steps between a request and `rmcp`.
//!
//! The steps are one handler and not a stack of layers: their order is what protects the server,
//! and each holds resources of the request's principal until the response is sent, which no limit of
//! tower knows.
//!
//! Invariant: before a request reaches the protocol, its token, its principal's share of
//! connections, the rate limit and the body limits are checked, in this order; its principal is then
//! in its extensions.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ErrorData};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::authenticate::{Authenticator, PrincipalAccess};
use super::body::{GuardedBody, RequestBodyReader, RequestGuard, gather_first_events};
use super::connections::RequestConnection;
use super::hand_over::{HandOver, HandOverOutcome, HandedAnswer, HandedCall, HandedOver, Placed, STATELESS_VERSION};
use super::host_check::HostAllowlist;
use super::pool::Pool;
use super::problem::Refusal;
use super::sessions::{CALLER, Caller, MAX_INITIALIZE_BYTES, SessionOwner, Sessions};
use super::tokens::TokenScope;
use super::{HealthHooks, HttpConfig};
use crate::malformed::reply_to_malformed;
use crate::request_limiter::AdmittedRequest;

/// The path of the protocol.
const PATH: &str = "/mcp";

/// The longest time that a request holds one of its principal's dispatch permits. Operations
/// release it as soon as they wait for a permit.
const DISPATCH_TIMEOUT: Duration = Duration::from_millis(10);

/// A response of `rmcp`.
type ProtocolResponse = Response<BoxBody<Bytes, Infallible>>;

/// The endpoint of the protocol.
pub(super) struct Endpoint<H> {
    protocol: StreamableHttpService<H, Sessions>,
    sessions: Sessions,
    authenticator: Arc<Authenticator>,
    body_reader: RequestBodyReader,
    /// The requests in flight.
    request_pool: Pool,
    awaited: TaskTracker,
    health: HealthHooks,
    /// Calls that other servers run.
    hand_over: Option<Arc<dyn HandOver>>,
    /// Cancelled when the server is about to end, and takes no calls of others.
    draining: CancellationToken,
}

/// What the endpoint shares with the other routes and with the shutdown.
pub(super) struct Shared {
    pub(super) authenticator: Arc<Authenticator>,
    /// The requests whose responses a shutdown waits for.
    pub(super) awaited: TaskTracker,
    /// Cancelled when all sessions and streams have to end.
    pub(super) closing: CancellationToken,
    /// Cancelled when the server is about to end.
    pub(super) draining: CancellationToken,
}

/// The route of the protocol.
pub(super) fn route<H: ServerHandler + Clone>(endpoint: Endpoint<H>) -> Router {
    let endpoint = Arc::new(endpoint);
    if let Some(hand_over) = &endpoint.hand_over {
        // The endpoint has the hand-over, so the other way round the reference is weak.
        let (answering, runtime) = (Arc::downgrade(&endpoint), Handle::current());
        hand_over.serve(Arc::new(move |call| {
            let (answering, has_begun) = (answering.clone(), Arc::new(AtomicBool::new(false)));
            // Calls arrive on a thread of the wire, and are answered where all others are.
            let begins = Arc::clone(&has_begun);
            let answered = runtime.spawn(async move {
                begins.store(true, Ordering::Relaxed);
                match answering.upgrade() {
                    Some(endpoint) => endpoint.answer_handed_over(call).await.unwrap_or(HandOverOutcome::NotTaken),
                    None => HandOverOutcome::Closing,
                }
            });
            // Once the server has ended, nothing begins. What had begun, and has no answer, was under way.
            Box::pin(async move {
                answered.await.unwrap_or_else(|_| {
                    if has_begun.load(Ordering::Relaxed) { HandOverOutcome::Lost } else { HandOverOutcome::Closing }
                })
            })
        }));
    }
    Router::new().route(PATH, any(serve::<H>)).with_state(endpoint)
}

/// Authenticates a request and forwards it to the protocol.
async fn serve<H: ServerHandler + Clone>(
    State(endpoint): State<Arc<Endpoint<H>>>,
    Extension(connection): Extension<RequestConnection>,
    mut request: Request,
) -> Result<Response, Refusal> {
    request.extensions_mut().remove::<RequestConnection>();
    let (access, scope) = endpoint.authenticator.authenticate(request.headers(), connection.peer)?;
    let mut guard = RequestGuard::default();
    let forwarded = endpoint.forward(request, (access, scope), &connection, &mut guard).await;
    if let Err(refusal) = &forwarded {
        endpoint.health.report_refused(access.principal(), refusal.code(), refusal.to_string());
    }
    let response = forwarded.map(|response| response.map(Body::new)).into_response();
    Ok(response.map(|body| Body::new(GuardedBody::new(body, guard))))
}

impl<H: ServerHandler + Clone> Endpoint<H> {
    pub(super) fn new(handler: H, config: &HttpConfig, hosts: &HostAllowlist, shared: Shared) -> Self {
        let sessions =
            Sessions::new(config.max_sessions, config.timeouts.session_idle, config.timeouts.orphaned_request);
        let protocol = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts.names())
            .with_allowed_origins(hosts.own_origins().chain(config.allowed_origins.iter().cloned()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(config.max_body_bytes)
            .with_legacy_session_mode(true)
            // Without a session a plain JSON response is shorter, and one write.
            .with_json_response(true)
            .with_cancellation_token(shared.closing);
        let sharing = config.sharing();
        let body_reader = RequestBodyReader {
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
            authenticator: shared.authenticator,
            body_reader,
            request_pool: Pool::new(config.max_requests, sharing),
            awaited: shared.awaited,
            health: config.health.clone(),
            hand_over: config.hand_over.clone(),
            draining: shared.draining,
        }
    }

    /// Forwards a request to the protocol.
    async fn forward(
        &self,
        request: Request,
        (access, scope): (&PrincipalAccess, TokenScope),
        connection: &RequestConnection,
        guard: &mut RequestGuard,
    ) -> Result<ProtocolResponse, Refusal> {
        let principal = access.principal();
        connection.registered.set_owner(principal)?;
        self.authenticator.check_rate(access).await?;
        let session = request.headers().get("mcp-session-id").and_then(|session| session.to_str().ok());
        match session.map(|session| self.sessions.owner_of(session, principal, scope)) {
            Some(SessionOwner::Foreign) => return Err(Refusal::SessionUnknown),
            // `rmcp` would report that it is deleted.
            Some(SessionOwner::Unknown) if *request.method() == Method::DELETE => return Err(Refusal::SessionUnknown),
            _ => {}
        }
        let (mut parts, body) = request.into_parts();
        let whole = self.body_reader.read(body, principal).await?;
        connection.activity.mark_read();
        let has_session = parts.headers.contains_key("mcp-session-id");
        // In a session a request can wait for the answer to another one, for example to an
        // elicitation, so it must not hold a dispatch permit.
        let admitted = if has_session || is_subscription(&parts.headers) { None } else { access.admit().await };
        let values = poll_first_exclusively(access.parse_lock(), async {
            self.body_reader.reserve_values(&whole.bytes, principal)
        })
        .await?;
        if parts.method == Method::POST && !is_subscription(&parts.headers) {
            let limit = self.request_pool.total();
            guard.request_lease = Some(self.request_pool.acquire(principal, 1).ok_or(Refusal::Overloaded { limit })?);
            guard.awaited = Some(self.awaited.token());
        }
        if let Some(hand_over) = self.hand_over.as_deref()
            && let Some(placed) = Placed::find(hand_over, principal, scope, &parts, &whole.bytes)
        {
            if let Some(admitted) = &admitted {
                admitted.holder().release_dispatch();
            }
            if let Some(answer) = placed.answer(hand_over).await {
                return Ok(to_response(answer));
            }
        }
        let is_json = is_json(&parts.headers);
        // Everything from here on may log the headers.
        parts.headers.remove(AUTHORIZATION);
        parts.extensions.insert(principal.clone());
        parts.extensions.insert(scope);
        if let Some(admitted) = &admitted {
            parts.extensions.insert(admitted.holder().clone());
        }
        let bytes = whole.bytes.clone();
        let request = Request::from_parts(parts, Full::new(whole.bytes));
        let caller = Caller { principal: principal.clone(), scope, bytes: bytes.len() };
        let handled = CALLER.scope(caller, self.protocol.handle(request));
        let response = release_when_slow(admitted.as_ref(), poll_first_exclusively(access.parse_lock(), handled)).await;
        let response = if is_stream(response.headers()) { gather_first_events(response).await } else { response };
        if response.body().size_hint().exact().is_none() {
            // The request may wait for its permit as long as the stream lasts.
            (guard.body_lease, guard.value_lease) = (whole.lease, Some(values));
        }
        let refusal = match to_problem(response).await {
            Ok(response) => return Ok(response),
            Err(refusal) => refusal,
        };
        Err(match refusal {
            // `rmcp` answers a body of another type and one that is not a message alike.
            Refusal::Protocol { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, .. } if is_json => {
                poll_first_exclusively(access.parse_lock(), async { invalid_message(&bytes) }).await
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

impl<H: ServerHandler + Clone> Endpoint<H> {
    /// Answers a call that another server handed over, which has counted it against the rate of its principal; `None` if it cannot be
    /// taken. It did not run then.
    async fn answer_handed_over(&self, call: HandedCall) -> Option<HandOverOutcome> {
        let HandedCall { principal, headers, body } = call;
        if self.draining.is_cancelled() {
            return Some(HandOverOutcome::Closing);
        }
        let access = self.authenticator.access_of(&principal)?;
        let mut request = Request::builder().method(Method::POST).uri(PATH);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let (mut parts, ()) = request.body(()).ok()?.into_parts();
        // It was checked where the request came in.
        parts.headers.insert(HOST, HeaderValue::from_static("localhost"));
        let _request_lease = self.request_pool.acquire(&principal, 1)?;
        let _awaited = self.awaited.token();
        let _values = self.body_reader.reserve_values(&body, &principal).ok()?;
        let admitted = access.admit().await?;
        parts.extensions.insert(principal.clone());
        parts.extensions.insert(TokenScope::Client);
        parts.extensions.insert(HandedOver);
        parts.extensions.insert(admitted.holder().clone());
        let caller = Caller { principal, scope: TokenScope::Client, bytes: body.len() };
        let handled = CALLER.scope(caller, self.protocol.handle(Request::from_parts(parts, Full::new(body))));
        let handled = poll_first_exclusively(access.parse_lock(), handled);
        let response = release_when_slow(Some(&admitted), handled).await;
        let (parts, body) = response.into_parts();
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (status, content_type) = (parts.status.as_u16(), content_type.to_owned());
        if !is_json(&parts.headers) && !is_stream(&parts.headers) {
            // The protocol refused it before it ran, and refuses it where it came in, too; or it was interrupted.
            return (!parts.status.is_client_error()).then_some(HandOverOutcome::Lost);
        }
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(never) => match never {},
        };
        Some(HandOverOutcome::Answered(HandedAnswer { status, content_type, body }))
    }
}

/// The response with the answer of another server.
fn to_response(answer: HandedAnswer) -> ProtocolResponse {
    let HandedAnswer { status, content_type, body } = answer;
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    if let Ok(content_type) = HeaderValue::from_str(&content_type) {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
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
async fn poll_first_exclusively<F: Future>(parse_lock: &Semaphore, future: F) -> F::Output {
    let mut future = pin!(future);
    // The semaphore is never closed.
    let permit = parse_lock.acquire().await;
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
async fn to_problem(response: ProtocolResponse) -> Result<ProtocolResponse, Refusal> {
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
