//! What becomes of a request.
//!
//! Invariant: a request passes the name of the host, then its token, then its principal's part of the connections, its pace, and
//! its part of the room for bodies, and only then, with its principal in its extensions, reaches the protocol. How the server is
//! can be asked at any load.

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

use super::body::{Answer, Held, Reading, gathered};
use super::connections::Guest;
use super::hosts::Hosts;
use super::members::{Member, Members};
use super::pages::{Pages, Told};
use super::pool::Pool;
use super::refusal::Refusal;
use super::sessions::{CALLER, Caller, OPENING_LIMIT, Sessions, Whose};
use super::wire::Activity;
use super::{HttpConfig, Probes};
use crate::calls::Calls;
use crate::malformed::malformed;
use crate::share::Admitted;

/// Where the protocol is spoken.
pub(super) const ENDPOINT: &str = "/mcp";
/// What is answered elsewhere.
const WHERE: &str =
    "Toolcell. The Model Context Protocol is spoken at /mcp; /healthz, /readyz and /metrics say how it is.\n";
/// What asks how the server is.
const READING: &str = "GET, HEAD";
/// The first revision of the protocol without sessions, whose headers say what the body asks for.
const STATELESS: &str = "2026-07-28";

/// The longest time that a request holds a place among those of its principal that are dispatched. The operations give theirs up as soon
/// as they wait for a turn.
const DISPATCHED: Duration = Duration::from_millis(10);

type Body = BoxBody<Bytes, Infallible>;

/// Answers requests.
pub(super) struct Front<H> {
    protocol: StreamableHttpService<H, Sessions>,
    sessions: Sessions,
    hosts: Hosts,
    members: Members,
    pages: Pages,
    reading: Reading,
    /// The requests that may be under way.
    places: Pool,
    /// The requests whose answers a shutdown waits for.
    awaited: TaskTracker,
    probes: Probes,
    calls: Calls,
}

impl<H: ServerHandler + Clone> Front<H> {
    pub(super) fn new(handler: H, config: &HttpConfig, calls: &Calls, bound: SocketAddr) -> Self {
        let hosts = Hosts::new(&config.hosts, bound);
        let sessions = Sessions::new(config.sessions, config.times.session, config.times.unheard);
        let protocol = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts.names())
            .with_allowed_origins(Hosts::origins(bound).chain(config.origins.iter().cloned()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(config.body_limit)
            .with_legacy_session_mode(true)
            // For what has no session: a plain answer is shorter so, and one write.
            .with_json_response(true)
            .with_cancellation_token(CancellationToken::new());
        let sharing = config.sharing();
        let reading = Reading {
            limit: config.body_limit,
            within: config.times.body,
            rate: config.body_rate,
            slack: config.times.behind,
            room: Pool::new(config.bodies, sharing),
            values: Pool::new(config.values, sharing),
        };
        Self {
            protocol: StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions.clone()), protocol),
            sessions,
            hosts,
            members: Members::new(config),
            pages: Pages::of(&config.origins),
            reading,
            places: Pool::new(config.requests, sharing),
            awaited: TaskTracker::new(),
            probes: config.probes.clone(),
            calls: calls.clone(),
        }
    }

    /// The requests whose answers a shutdown waits for.
    pub(super) const fn awaited(&self) -> &TaskTracker {
        &self.awaited
    }

    /// Ends all sessions and streams.
    pub(super) fn end(&self) {
        self.protocol.config.cancellation_token.cancel();
    }

    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        activity: &Arc<Activity>,
        guest: &Guest,
    ) -> Response<Answer> {
        let mut held = Held { exchange: activity.exchange(), place: None, room: None, values: None, awaited: None };
        if request.body().is_end_stream() {
            held.exchange.is_read();
        }
        let chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let told = self.pages.told(request.method(), request.headers());
        let mut response = match told.as_ref().and_then(Told::status) {
            Some(status) => empty(status),
            None => self.route(request, peer, guest, &mut held).await.unwrap_or_else(|refusal| {
                tracing::debug!(code = refusal.code(), %peer, "a request is refused");
                refusal.response()
            }),
        };
        if let Some(told) = told {
            told.write(response.headers_mut());
        }
        if chunked {
            // Whoever stands between may have counted the bytes of this request in another way (RFC 9112, 6.3): what
            // follows it is not read as a request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response.map(|body| Answer::new(body, held))
    }

    async fn route(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        guest: &Guest,
        held: &mut Held,
    ) -> Result<Response<Body>, Refusal> {
        self.hosts.check(request.uri(), request.headers())?;
        match request.uri().path() {
            ENDPOINT => {
                let member = self.members.recognise(request.headers(), peer)?;
                return self.ask(request, member, guest, held).await.inspect_err(|refusal| {
                    self.probes.refused(member.principal(), refusal.code(), refusal.to_string());
                });
            }
            "/" | "/healthz" | "/readyz" | "/metrics" => {}
            _ => return Err(Refusal::NotFound),
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Refusal::Method { allowed: READING });
        }
        match request.uri().path() {
            "/healthz" => Ok(text("ok\n".to_owned())),
            "/readyz" if self.calls.is_closing() => Err(Refusal::Closing),
            "/readyz" => self.probes.ready().map(|()| text("ready\n".to_owned())).map_err(Refusal::NotReady),
            "/metrics" => {
                self.members.may_measure(request.headers(), peer)?;
                let mut response = text(self.probes.metrics());
                let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                Ok(response)
            }
            _ => Ok(text(WHERE.to_owned())),
        }
    }

    /// Hands a request to the protocol.
    async fn ask(
        &self,
        request: Request<Incoming>,
        member: &Member,
        guest: &Guest,
        held: &mut Held,
    ) -> Result<Response<Body>, Refusal> {
        let principal = member.principal();
        guest.belongs_to(principal)?;
        self.members.count(member)?;
        let session = request.headers().get("mcp-session-id").and_then(|session| session.to_str().ok());
        match session.map(|session| self.sessions.whose(session, principal)) {
            Some(Whose::Foreign) => return Err(Refusal::Session),
            // The library would say that it is deleted.
            Some(Whose::Unknown) if *request.method() == Method::DELETE => return Err(Refusal::Session),
            _ => {}
        }
        let (mut parts, body) = request.into_parts();
        let whole = self.reading.read(body, principal).await?;
        held.exchange.is_read();
        let has_session = parts.headers.contains_key("mcp-session-id");
        // In a session, requests wait for each other's answers: what asks a person something ends when the client says so.
        let admitted = if has_session || listens(&parts.headers) { None } else { member.admit().await };
        let values = first_alone(member.gate(), async { self.reading.values(&whole.bytes, principal) }).await?;
        if parts.method == Method::POST && !listens(&parts.headers) {
            let limit = self.places.total();
            held.place = Some(self.places.take(principal, 1).ok_or(Refusal::Overloaded { limit })?);
            held.awaited = Some(self.awaited.token());
        }
        let is_json = is_json(&parts.headers);
        // What goes on from here may be printed.
        parts.headers.remove(AUTHORIZATION);
        parts.extensions.insert(principal.clone());
        if let Some(admitted) = &admitted {
            parts.extensions.insert(admitted.entry().clone());
        }
        let bytes = whole.bytes.clone();
        let request = Request::from_parts(parts, Full::new(whole.bytes));
        let caller = Caller { principal: principal.clone(), bytes: bytes.len() };
        let handled = CALLER.scope(caller, self.protocol.handle(request));
        let response = dispatched(admitted.as_ref(), first_alone(member.gate(), handled)).await;
        let response = if is_stream(response.headers()) { gathered(response).await } else { response };
        if response.body().size_hint().exact().is_none() {
            // What was asked for may wait for its turn as long as the stream goes on.
            (held.room, held.values) = (whole.room, Some(values));
        }
        let refusal = match in_form(response).await {
            Ok(response) => return Ok(response),
            Err(refusal) => refusal,
        };
        Err(match refusal {
            // The library says the same of a body of another type and of one that is no message.
            Refusal::Protocol { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, .. } if is_json => {
                first_alone(member.gate(), async { not_a_message(&bytes) }).await
            }
            // A session keeps what its client says of itself as long as it lives.
            Refusal::Protocol { status: StatusCode::INTERNAL_SERVER_ERROR, .. }
                if !has_session && bytes.len() > OPENING_LIMIT =>
            {
                Refusal::BodyTooLarge { length: Some(bytes.len() as u64), limit: OPENING_LIMIT }
            }
            // One that nobody made and one that somebody else made are the same to whoever asks.
            Refusal::Protocol { status: StatusCode::NOT_FOUND, .. } => Refusal::Session,
            other => other,
        })
    }
}

/// Waits for the answer of a request. One that takes longer waits for something, and gives its place up.
async fn dispatched<F: Future>(admitted: Option<&Admitted>, handled: F) -> F::Output {
    let Some(admitted) = admitted else { return handled.await };
    let mut handled = pin!(handled);
    match tokio::time::timeout(DISPATCHED, &mut handled).await {
        Ok(response) => response,
        Err(_) => {
            admitted.entry().waits();
            handled.await
        }
    }
}

/// Does the first step of a future while no other first step of its principal is taken. In it a body is parsed, on threads
/// that are everybody's.
async fn first_alone<F: Future>(gate: &Semaphore, future: F) -> F::Output {
    let mut future = pin!(future);
    // The gate is never closed.
    let permit = gate.acquire().await;
    let first = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    drop(permit);
    match first {
        Poll::Ready(output) => output,
        Poll::Pending => future.await,
    }
}

/// Why a body is no message, with the error that answers it.
fn not_a_message(bytes: &[u8]) -> Refusal {
    let why = serde_json::from_slice::<ClientJsonRpcMessage>(bytes).err();
    let malformed = why.and_then(|why| malformed(bytes, &why));
    let (id, error) = malformed.map_or_else(
        || (None, ErrorData::invalid_request("the message is none of the protocol", None)),
        |malformed| (malformed.id, malformed.error),
    );
    Refusal::BodyInvalid { error: json!({"jsonrpc": "2.0", "id": id, "error": error}) }
}

/// Whether a request only wants to hear of changes, and so is under way for as long as its client is there. The library
/// refuses a header that says this of another request.
fn listens(headers: &HeaderMap) -> bool {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    header("mcp-protocol-version").is_some_and(|version| version >= STATELESS)
        && header("mcp-method") == Some("subscriptions/listen")
}

/// Gives what the library refuses in words the form that refusals have here.
async fn in_form(response: Response<Body>) -> Result<Response<Body>, Refusal> {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_json(response.headers()) {
        return Ok(response);
    }
    let said = match response.into_body().collect().await {
        Ok(body) => String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        Err(never) => match never {},
    };
    Err(Refusal::Protocol { status, said })
}

fn is_json(headers: &HeaderMap) -> bool {
    is_of(headers, "application/json")
}

fn is_stream(headers: &HeaderMap) -> bool {
    is_of(headers, "text/event-stream")
}

fn is_of(headers: &HeaderMap, kind: &str) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|said| said.trim().eq_ignore_ascii_case(kind))
}

fn text(text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer with nothing in it.
fn empty(status: StatusCode) -> Response<Body> {
    let mut response = text(String::new());
    *response.status_mut() = status;
    response.headers_mut().remove(CONTENT_TYPE);
    response
}
