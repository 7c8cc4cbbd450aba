//! What becomes of a request.
//!
//! Invariant: a request passes the name of the host, then its token, then its principal's pace, then the limits of its body,
//! and only then, with its principal in its extensions, reaches the protocol. How the server is can be asked at any load.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::{Answer, Held, Reading, gathered};
use super::hosts::Hosts;
use super::members::{Member, Members};
use super::pages::{Pages, Told};
use super::refusal::Refusal;
use super::sessions::{CALLER, Sessions, Whose};
use super::wire::Activity;
use super::{HttpConfig, Probes};
use crate::calls::Calls;

/// Where the protocol is spoken.
pub(super) const ENDPOINT: &str = "/mcp";
/// What is answered elsewhere.
const WHERE: &str =
    "Toolcell. The Model Context Protocol is spoken at /mcp; /healthz, /readyz and /metrics say how it is.\n";
/// What asks how the server is.
const READING: &str = "GET, HEAD";
/// The first revision of the protocol without sessions, whose headers say what the body asks for.
const STATELESS: &str = "2026-07-28";

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
    places: Arc<Semaphore>,
    limit: usize,
    /// The requests whose answers a shutdown waits for.
    awaited: TaskTracker,
    probes: Probes,
    calls: Calls,
    tokens: bool,
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
        let room = Arc::new(Semaphore::new(config.bodies.min(Semaphore::MAX_PERMITS)));
        Self {
            protocol: StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions.clone()), protocol),
            sessions,
            hosts,
            members: Members::new(config),
            pages: Pages::of(&config.origins),
            reading: Reading { limit: config.body_limit, within: config.times.body, room, size: config.bodies },
            places: Arc::new(Semaphore::new(config.requests.min(Semaphore::MAX_PERMITS))),
            limit: config.requests,
            awaited: TaskTracker::new(),
            probes: config.probes.clone(),
            calls: calls.clone(),
            tokens: !config.bearers.all().is_empty(),
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
    ) -> Response<Answer> {
        let mut held = Held { exchange: activity.exchange(), place: None, awaited: None };
        if request.body().is_end_stream() {
            held.exchange.is_read();
        }
        let chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let told = self.pages.told(request.method(), request.headers());
        let mut response = match told.as_ref().and_then(Told::status) {
            Some(status) => empty(status),
            None => self.route(request, peer, &mut held).await.unwrap_or_else(|refusal| {
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
        held: &mut Held,
    ) -> Result<Response<Body>, Refusal> {
        self.hosts.check(request.uri(), request.headers())?;
        match request.uri().path() {
            ENDPOINT => {
                let member = self.members.recognise(request.headers(), peer)?;
                return self.ask(request, member, held).await.inspect_err(|refusal| {
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
                if self.tokens {
                    self.members.recognise(request.headers(), peer)?;
                }
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
        held: &mut Held,
    ) -> Result<Response<Body>, Refusal> {
        self.members.count(member)?;
        let principal = member.principal();
        let session = request.headers().get("mcp-session-id").and_then(|session| session.to_str().ok());
        match session.map(|session| self.sessions.whose(session, principal)) {
            Some(Whose::Foreign) => return Err(Refusal::Session),
            // The library would say that it is deleted.
            Some(Whose::Unknown) if *request.method() == Method::DELETE => return Err(Refusal::Session),
            _ => {}
        }
        let (mut parts, body) = request.into_parts();
        // Its room is given back when the library has read it.
        let whole = self.reading.read(body).await?;
        held.exchange.is_read();
        if parts.method == Method::POST && !listens(&parts.headers) {
            let place = Arc::clone(&self.places).try_acquire_owned();
            held.place = Some(place.map_err(|_| Refusal::Overloaded { limit: self.limit })?);
            held.awaited = Some(self.awaited.token());
        }
        let is_json = is_json(&parts.headers);
        // What goes on from here may be printed.
        parts.headers.remove(AUTHORIZATION);
        parts.extensions.insert(principal.clone());
        let request = Request::from_parts(parts, Full::new(whole.bytes));
        let response = CALLER.scope(principal.clone(), self.protocol.handle(request)).await;
        drop(whole.room);
        let response = if is_stream(response.headers()) { gathered(response).await } else { response };
        in_form(response).await.map_err(|refusal| match refusal {
            // The library says the same of a body of another type and of one that is no message.
            Refusal::Protocol { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, .. } if is_json => Refusal::BodyInvalid,
            // One that nobody made and one that somebody else made are the same to whoever asks.
            Refusal::Protocol { status: StatusCode::NOT_FOUND, .. } => Refusal::Session,
            other => other,
        })
    }
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
