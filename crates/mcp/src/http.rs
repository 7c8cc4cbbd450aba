//! The HTTP transport: the protocol at `/mcp`, `/healthz`, `/readyz` and `/metrics` for monitoring, and
//! pages of the host.
//!
//! `rmcp` implements the protocol, hyper HTTP/1.1, axum and tower-http routing and CORS. This module
//! implements what stands in front of the protocol: authentication, quotas and timeouts.
//!
//! Reading order: [`HttpConfig`] holds all settings. `serve` accepts connections and shuts them
//! down. `router` has the routes: `endpoint` forwards requests to the protocol, with the help of
//! `authenticate`, `body`, `sessions` and `hand_over`, `health` has the endpoints for monitoring, and `pages` those of
//! the host for people, whom `operators` knows; `host_check` and `cors` are around them. `pool` shares a bounded resource between principals, `connections`
//! assigns connections to principals, and `connection` enforces the timeouts of one.
//!
//! Connections are accepted and served by hand and not by `axum::serve`, which has no limit of
//! connections and none of their timeouts, keeps hyper's buffers while a connection is idle, and
//! drops the rest of a refused request, so that its client cannot read the refusal.
//!
//! Invariant: no client can hold memory, a task or the shutdown for longer than the config allows,
//! and no principal can use up a shared resource.

mod authenticate;
mod body;
mod connection;
mod connections;
mod cors;
mod endpoint;
mod failure_limiter;
#[cfg(test)]
mod fuzz;
mod hand_over;
mod health;
mod host_check;
mod operators;
mod pages;
mod pool;
mod problem;
mod router;
mod sessions;
mod shared_rate;
#[cfg(test)]
mod tests;
mod tokens;

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::body::GuardedBody;
use self::connection::{Connection, Exchange, IdleTracker};
use self::connections::{Connections, RegisteredConnection, RequestConnection};
use self::failure_limiter::address_block;
use self::pool::Sharing;
use self::router::HttpRoutes;
use crate::in_flight::{CallTracker, SHUTDOWN_LIMIT};
use crate::runtime::THREADS_HINT;

pub use self::hand_over::{AnswerHandedCall, HandOver, HandOverFuture, HandOverOutcome, HandedAnswer, HandedCall};
pub(crate) use self::hand_over::{HAND_OVER_DURATION, HAND_OVERS, HandedOver};
pub use self::health::HealthHooks;
pub use self::operators::{Operators, SignInError};
pub use self::pages::{HostPages, PAGES_PATH};
pub use self::shared_rate::{RateLease, SharedRates};
pub(crate) use self::tokens::TokenScope;
pub use self::tokens::{
    MetricsToken, OperatorToken, PrincipalLimits, PrincipalToken, TokenSet, TokenStore, TokenStoreError,
};

/// How long the accept loop pauses after an error, for example when no file descriptor is left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long a shutdown waits for responses to be sent after all calls have ended.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a shutdown waits for clients to read what is written to them.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// The default minimum rate of a request body, in bytes per second.
const DEFAULT_MIN_BODY_RATE: NonZeroU32 = NonZeroU32::new(16 << 10).unwrap();
/// The longest request head, in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The read and write buffer of a connection, in bytes.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// The settings of the HTTP transport.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The tokens that grant access.
    pub tokens: TokenStore,
    /// The `Host` names of the server, besides the loopback names and the bound address: `name` or
    /// `name:port`.
    pub allowed_hosts: Vec<String>,
    /// The origins whose web pages may call: `scheme://host:port`, or `:*` for any port. None by
    /// default.
    pub allowed_origins: Vec<String>,
    /// The longest request body, in bytes; 4 MiB by default.
    pub max_body_bytes: usize,
    /// The token for `/metrics`. If it is `None`, [`TokenStore::metrics`] is used.
    pub metrics_token: Option<MetricsToken>,
    /// The most memory for all bodies that are being read, in bytes; 64 MiB by default. If there
    /// are several principals, one of them can take at most as much as it leaves free.
    pub max_total_body_bytes: usize,
    /// The most memory for the parsed values of all messages, in bytes, estimated from their
    /// number; 256 MiB by default. If there are several principals, one of them can take at most as
    /// much as it leaves free.
    pub max_total_value_bytes: usize,
    /// The minimum rate of a request body, in bytes per second; 16 KiB by default.
    pub min_body_rate: NonZeroU32,
    /// The most open connections; 4,096 by default. If tokens are configured, a quarter of them is
    /// reserved for connections that have not authenticated yet; when it is full, the oldest
    /// connection of the address that has the most is closed. Of the rest, a principal can take at
    /// most as many as it leaves free, if there are several principals. Without tokens, further
    /// connections wait.
    pub max_connections: usize,
    /// The most requests in flight in the whole server; 512 by default. Subscriptions do not count.
    /// If there are several principals, one of them can take at most as many as it leaves free.
    pub max_requests: usize,
    /// The most sessions; 512 by default, which take about 65 MiB. When it is full, the least
    /// recently used session of the principal that has the most is closed.
    pub max_sessions: usize,
    /// The default request rate of a principal, per minute. `None` means no limit.
    pub requests_per_minute: Option<NonZeroU32>,
    /// The count of requests that this server shares with others, so that the rates hold for all of them together; none by default. Each
    /// server goes by the rates alone while the count cannot be reached.
    pub shared_rates: Option<Arc<dyn SharedRates>>,
    /// Hands calls over to other servers that have their tool in memory; none by default.
    pub hand_over: Option<Arc<dyn HandOver>>,
    /// How long [`serve_http`](crate::serve_http) still answers after SIGTERM, while `/readyz` reports that the server is closing: the time
    /// that a load balancer has to choose another server. None by default.
    pub drain: Duration,
    /// How long calls in flight may go on when the server shuts down; 10 s by default.
    pub shutdown_grace: Duration,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// The hooks behind `/readyz` and `/metrics`. [`serve_http`](crate::serve_http) asks the readiness check after its own, appends the metrics to its own, and sets the observer of refused requests.
    pub health: HealthHooks,
    /// Pages of the host at [`PAGES_PATH`]; none by default.
    pub pages: Option<HostPages>,
}

/// The timeouts of the HTTP transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To receive a request head, from its first byte; 10 s by default.
    pub head: Duration,
    /// To receive a request body; 30 s by default.
    pub body: Duration,
    /// How far a body may fall behind its minimum rate; 5 s by default.
    pub body_rate_slack: Duration,
    /// How long a client may not read what is written to it; 30 s by default.
    pub write: Duration,
    /// How long a connection may be idle; 5 minutes by default.
    pub idle: Duration,
    /// To finish a response after the client has closed its sending side; 2 s by default. A client
    /// that vanished looks the same.
    pub half_closed: Duration,
    /// How long the rest of a refused request is read and discarded; 2 s by default.
    pub linger: Duration,
    /// How long a session may be unused; 30 minutes by default, which is longer than any run.
    pub session_idle: Duration,
    /// How long a request in a session goes on after its client has disconnected; 10 s by default.
    /// Clients reconnect after 3 s.
    pub orphaned_request: Duration,
}

/// An error of starting the HTTP transport.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is reachable from other machines, and no token is configured.
    #[error("{address} is reachable from other machines, and no token is configured")]
    #[code(HttpOpen)]
    #[hint("configure tokens in a file or in the environment, or listen on 127.0.0.1")]
    Unprotected {
        /// The address to listen on.
        address: SocketAddr,
    },
    /// A host name is invalid.
    #[error("`{}` is not `name` or `name:port`", .0.escape_debug())]
    #[code(HostInvalid)]
    #[hint("for example tools.example.com, or tools.example.com:8443")]
    Host(String),
    /// An origin is invalid.
    #[error("`{}` is not `scheme://host:port`", .0.escape_debug())]
    #[code(OriginInvalid)]
    #[hint("for example https://app.example.com:443, or http://localhost:*")]
    Origin(String),
    /// The address cannot be listened on.
    #[error("cannot listen on the address: {0}")]
    #[code(HttpListen)]
    #[hint("use another address or port")]
    Listener(#[from] io::Error),
    /// The system provides no threads.
    #[error("cannot start a thread: {0}")]
    #[code(NoThreads)]
    #[hint(THREADS_HINT)]
    Threads(#[source] io::Error),
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            tokens: TokenStore::Unauthenticated,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 4 << 20,
            metrics_token: None,
            max_total_body_bytes: 64 << 20,
            max_total_value_bytes: 256 << 20,
            min_body_rate: DEFAULT_MIN_BODY_RATE,
            max_connections: 4096,
            max_requests: 512,
            max_sessions: 512,
            requests_per_minute: None,
            shared_rates: None,
            hand_over: None,
            drain: Duration::ZERO,
            shutdown_grace: Duration::from_secs(10),
            timeouts: Timeouts::default(),
            health: HealthHooks::default(),
            pages: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            body_rate_slack: Duration::from_secs(5),
            write: Duration::from_secs(30),
            idle: Duration::from_mins(5),
            half_closed: Duration::from_secs(2),
            linger: Duration::from_secs(2),
            session_idle: Duration::from_mins(30),
            orphaned_request: Duration::from_secs(10),
        }
    }
}

impl HttpConfig {
    /// Checks the config for an address to listen on.
    ///
    /// # Errors
    /// `http-open`, `host-invalid`, `origin-invalid`
    pub fn check(&self, address: SocketAddr) -> Result<(), HttpError> {
        if !address.ip().to_canonical().is_loopback() && self.tokens.principal_tokens().is_empty() {
            return Err(HttpError::Unprotected { address });
        }
        if let Some(host) = self.allowed_hosts.iter().find(|host| host_check::parse_host(host).is_none()) {
            return Err(HttpError::Host(host.clone()));
        }
        match self.allowed_origins.iter().find(|origin| !host_check::is_origin(origin)) {
            Some(origin) => Err(HttpError::Origin(origin.clone())),
            None => Ok(()),
        }
    }

    fn sharing(&self) -> Sharing {
        if self.tokens.principal_tokens().len() > 1 { Sharing::Multiple } else { Sharing::Single }
    }
}

/// Serves the protocol until `shutdown` completes, then waits up to the grace period for calls in
/// flight. From [`CallTracker::drain`] on, `/readyz` reports that the server is closing, and each response ends its connection.
///
/// The handler is generic so that the conformance suite, which needs tools with fixed names, can
/// test this transport.
///
/// # Errors
/// `http-open`, `host-invalid`, `origin-invalid`, `http-listen`
#[doc(hidden)]
pub async fn serve<H: ServerHandler + Clone>(
    listener: TcpListener,
    handler: H,
    config: &HttpConfig,
    calls: &CallTracker,
    shutdown: impl Future<Output = ()>,
) -> Result<(), HttpError> {
    let address = listener.local_addr()?;
    config.check(address)?;
    let server = HttpServer {
        routes: Arc::new(HttpRoutes::new(handler, config, calls, address)),
        timeouts: config.timeouts,
        connection_permits: Arc::new(Semaphore::new(config.max_connections.min(Semaphore::MAX_PERMITS))),
        connections: Connections::new(
            config.max_connections,
            !config.tokens.principal_tokens().is_empty(),
            config.sharing(),
        ),
        open_connections: TaskTracker::new(),
        draining: calls.draining().clone(),
        closing: CancellationToken::new(),
        aborting: CancellationToken::new(),
    };
    tokio::select! {
        () = shutdown => {}
        () = server.accept(&listener) => {}
    }
    drop(listener);
    server.shut_down(calls, config.shutdown_grace).await;
    Ok(())
}

/// The state of the accept loop.
struct HttpServer {
    routes: Arc<HttpRoutes>,
    timeouts: Timeouts,
    connection_permits: Arc<Semaphore>,
    connections: Arc<Connections>,
    open_connections: TaskTracker,
    /// Cancelled when a connection has to end after its next response.
    draining: CancellationToken,
    /// Cancelled when a connection has to end after the response in progress.
    closing: CancellationToken,
    /// Cancelled when all connections have to end at once.
    aborting: CancellationToken,
}

impl HttpServer {
    /// Accepts connections, forever.
    async fn accept(&self, listener: &TcpListener) {
        let mut well = true;
        while let Ok(permit) = Arc::clone(&self.connection_permits).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    well = true;
                    let registered = self.connections.admit(address_block(peer.ip()));
                    let connection = self.serve_connection(stream, peer.ip(), Arc::clone(&registered));
                    let aborting = self.aborting.clone();
                    self.open_connections.spawn(async move {
                        let until_evicted = registered.evicted().run_until_cancelled(connection);
                        aborting.run_until_cancelled_owned(until_evicted).await;
                        drop((registered, permit));
                    });
                }
                // That client is gone; the next one may not be.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    if std::mem::replace(&mut well, false) {
                        tracing::warn!(%error, "cannot accept connections");
                    }
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Serves the requests of a connection until it ends.
    fn serve_connection(
        &self,
        stream: TcpStream,
        peer: IpAddr,
        registered: Arc<RegisteredConnection>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (routes, timeouts) = (Arc::clone(&self.routes), self.timeouts);
        let (draining, closing) = (self.draining.clone(), self.closing.clone());
        async move {
            // If this fails, the connection is gone, and the first read reports it.
            let _ = stream.set_nodelay(true);
            let activity = IdleTracker::new();
            let origin = RequestConnection { peer, activity: Arc::clone(&activity), registered };
            let mut wire = Connection::new(stream, Arc::clone(&activity), timeouts);
            // Between requests only the socket is kept: hyper's buffers are most of the memory of a
            // connection.
            while closing.run_until_cancelled(wire.wait_readable()).await == Some(true) {
                let service = service_fn(|request| {
                    let (routes, origin, draining) = (Arc::clone(&routes), origin.clone(), draining.clone());
                    Box::pin(async move {
                        let mut response = routes.handle(request, origin).await;
                        if draining.is_cancelled() {
                            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                        }
                        Ok::<_, Infallible>(response)
                    })
                });
                match Box::pin(serve_until_idle(wire, service, &activity, &closing)).await {
                    Some(rests) => wire = rests,
                    None => return,
                }
            }
        }
    }

    /// Shuts down in steps: the calls, then their responses, then the connections. Each step leaves
    /// time to the later ones.
    async fn shut_down(&self, calls: &CallTracker, grace: Duration) {
        self.draining.cancel();
        self.closing.cancel();
        let end = Instant::now() + grace + SHUTDOWN_LIMIT;
        let left = |later: Duration| end.saturating_duration_since(Instant::now()).saturating_sub(later);
        calls.close(grace).await;
        self.routes.awaited().close();
        let _ = tokio::time::timeout(ANSWER_TIMEOUT.min(left(SHUTDOWN_LIMIT / 5)), self.routes.awaited().wait()).await;
        self.routes.close_sessions();
        self.open_connections.close();
        let leaving = self.timeouts.write.min(FLUSH_TIMEOUT).min(left(SHUTDOWN_LIMIT / 10));
        if tokio::time::timeout(leaving, self.open_connections.wait()).await.is_err() {
            self.aborting.cancel();
            let _ =
                tokio::time::timeout(left(Duration::ZERO).max(SHUTDOWN_LIMIT / 10), self.open_connections.wait()).await;
        }
    }
}

/// Serves requests until the connection is idle, and returns it; `None` if it has ended.
async fn serve_until_idle<S>(
    wire: Connection,
    service: S,
    activity: &IdleTracker,
    closing: &CancellationToken,
) -> Option<Connection>
where
    S: HttpService<Incoming, ResBody = GuardedBody<Exchange>, Error = Infallible, Future: Unpin> + Unpin,
{
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_BUFFER_BYTES);
    let mut connection = http.serve_connection(TokioIo::new(wire), service);
    let mut closing = pin!(closing.cancelled());
    let (mut told, mut rests) = (false, false);
    let result = poll_fn(|cx| {
        if !told && closing.as_mut().poll(cx).is_ready() {
            told = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        let polled = connection.poll_without_shutdown(cx);
        if polled.is_ready() || told || !activity.is_idle() {
            return polled;
        }
        // Everything is written, so a graceful shutdown makes hyper give the connection back.
        (told, rests) = (true, true);
        Pin::new(&mut connection).graceful_shutdown();
        connection.poll_without_shutdown(cx)
    })
    .await;
    let parts = connection.into_parts();
    let mut wire = parts.io.into_inner();
    if rests && result.is_ok() {
        wire.push_back(parts.read_buf);
        return Some(wire);
    }
    if activity.has_unread_body() || result.is_err_and(|error| error.is_parse()) {
        wire.close_lingering().await;
    }
    None
}
