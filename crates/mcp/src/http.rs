//! The way in over HTTP: the protocol at `/mcp`; `/healthz`, `/readyz` and `/metrics` say how the server is.
//!
//! The protocol is the library's. Ours is what stands before it: who comes in, with how much, and for how long.
//! Reading order: [`HttpConfig`] is all that can be said; `serve` accepts connections and ends them; `front` is what becomes
//! of a request, and asks `hosts`, `members`, `pages`, `body` and `sessions`; `pool` is what principals share of a bounded
//! quantity, `connections` says whose a connection is, and `wire` is one.
//!
//! Invariant: nothing that a client does, or leaves undone, holds memory, a task or the shutdown for longer than the config
//! says, and nothing that a principal does takes all of what there is for everybody.

mod bearers;
mod body;
mod connections;
mod front;
#[cfg(test)]
mod fuzz;
mod hosts;
mod members;
mod pages;
mod pool;
mod probes;
mod refusal;
mod sessions;
#[cfg(test)]
mod tests;
mod wire;

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::body::Answer;
use self::connections::{Connections, Guest};
use self::front::Front;
use self::members::neighbourhood;
use self::pool::Sharing;
use self::wire::{Activity, Wire};
use crate::calls::{Calls, LAST};
use crate::runtime::THREADS_HINT;

pub use self::bearers::{Bearer, Bearers, BearersError, MetricsToken, Share, Tokens};
pub use self::probes::Probes;

/// How long accepting rests where the machine has nothing left to accept with.
const REST: Duration = Duration::from_millis(50);
/// How long a shutdown waits for answers to be on their way when all that ran has ended.
const ANSWERING: Duration = Duration::from_secs(2);
/// How long a shutdown waits for clients to read what is written to them.
const LEAVING: Duration = Duration::from_secs(5);
/// How many bytes of a body have to come in a second, where nothing else is said.
const BODY_RATE: NonZeroU32 = NonZeroU32::new(16 << 10).unwrap();
/// The longest head of a request, in bytes.
const HEAD: usize = 32 * 1024;
/// What is read ahead or waits to be written of one connection, in bytes.
const BUFFER: usize = 64 * 1024;

/// What is offered over HTTP, to whom, and how much of it.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Who may come in.
    pub bearers: Bearers,
    /// The names that the server goes by, besides those of loopback and the address that it is bound to: `name` or
    /// `name:port`.
    pub hosts: Vec<String>,
    /// The origins whose pages may call: `scheme://host:port`, or `:*` for any port. None by default.
    pub origins: Vec<String>,
    /// The longest body, in bytes; 4 MiB.
    pub body_limit: usize,
    /// Who collects metrics; where nothing is said, as [`Bearers::metrics`] says.
    pub metrics: Option<MetricsToken>,
    /// What all bodies that are read may take together, in bytes; 64 MiB. A principal of several takes at most as much as is
    /// left to the others.
    pub bodies: usize,
    /// What the values of all messages may take together in memory, in bytes, as it is estimated from their number; 256 MiB. A
    /// principal of several takes at most as much as is left to the others.
    pub values: usize,
    /// How many bytes of a body have to come in a second; 16 KiB.
    pub body_rate: NonZeroU32,
    /// How many connections there may be; 4,096. Where there are tokens, a quarter of them is for those that have not shown one
    /// yet, of which the oldest of the address with the most makes room; a principal of several takes at most as many of the
    /// rest as are left to the others. Where there are none, whoever comes then waits.
    pub connections: usize,
    /// How many requests may be under way in the whole server; 512. Those that only listen do not count. A principal of
    /// several takes at most as many as are left to the others.
    pub requests: usize,
    /// How many sessions there may be; 512, which is some 65 MiB. Of the principal that has the most, the one that was
    /// used least recently makes room.
    pub sessions: usize,
    /// How many requests a principal may make in a minute, where its tokens say nothing else; as many as it likes.
    pub rate: Option<NonZeroU32>,
    /// How long what runs may go on when the server is to end; 10 s.
    pub grace: Duration,
    /// How long things may take.
    pub times: Times,
    /// How the server is.
    pub probes: Probes,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The head of a request, from its first byte; 10 s.
    pub head: Duration,
    /// The body of a request; 30 s.
    pub body: Duration,
    /// A body may be behind its rate; 5 s.
    pub behind: Duration,
    /// A client may read nothing of what is written to it; 30 s.
    pub write: Duration,
    /// A connection may be about nothing; 5 minutes.
    pub idle: Duration,
    /// An answer, where the client has ended its way towards the server; 2 s. One that vanished looks the same.
    pub half_closed: Duration,
    /// Reading what nobody wants of a client that was refused; 2 s.
    pub leave: Duration,
    /// A session may be unused; 30 minutes, which is more than a run takes.
    pub session: Duration,
    /// A request in a session may run with nobody to hear its answer; 10 s. Clients come back after 3.
    pub unheard: Duration,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Anybody in reach could come in.
    #[error("{address} can be reached from elsewhere, and no token is asked for")]
    Open {
        /// Where it would listen.
        address: SocketAddr,
    },
    /// A name is none.
    #[error("`{}` is not `name` or `name:port`", .0.escape_debug())]
    Host(String),
    /// An origin is none.
    #[error("`{}` is not `scheme://host:port`", .0.escape_debug())]
    Origin(String),
    /// The listener does not work.
    #[error("the address cannot be listened on: {0}")]
    Listener(#[from] io::Error),
    /// There are no threads to serve with.
    #[error("no thread can be started: {0}")]
    Threads(#[source] io::Error),
}

impl HttpError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } => "http-open",
            Self::Host(_) => "host-invalid",
            Self::Origin(_) => "origin-invalid",
            Self::Listener(_) => "http-listen",
            Self::Threads(_) => "no-threads",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Open { .. } => "give tokens, in a file or in the environment, or listen on 127.0.0.1",
            Self::Host(_) => "for example tools.example.com, or tools.example.com:8443",
            Self::Origin(_) => "for example https://app.example.com:443, or http://localhost:*",
            Self::Listener(_) => "take another address or port",
            Self::Threads(_) => THREADS_HINT,
        }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            bearers: Bearers::Nobody,
            hosts: Vec::new(),
            origins: Vec::new(),
            body_limit: 4 << 20,
            metrics: None,
            bodies: 64 << 20,
            values: 256 << 20,
            body_rate: BODY_RATE,
            connections: 4096,
            requests: 512,
            sessions: 512,
            rate: None,
            grace: Duration::from_secs(10),
            times: Times::default(),
            probes: Probes::default(),
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            behind: Duration::from_secs(5),
            write: Duration::from_secs(30),
            idle: Duration::from_mins(5),
            half_closed: Duration::from_secs(2),
            leave: Duration::from_secs(2),
            session: Duration::from_mins(30),
            unheard: Duration::from_secs(10),
        }
    }
}

impl HttpConfig {
    /// Whether this may be served at an address.
    ///
    /// # Errors
    /// `http-open`, `host-invalid`, `origin-invalid`
    pub fn check(&self, address: SocketAddr) -> Result<(), HttpError> {
        if !address.ip().to_canonical().is_loopback() && self.bearers.all().is_empty() {
            return Err(HttpError::Open { address });
        }
        if let Some(host) = self.hosts.iter().find(|host| hosts::parsed(host).is_none()) {
            return Err(HttpError::Host(host.clone()));
        }
        match self.origins.iter().find(|origin| !hosts::is_origin(origin)) {
            Some(origin) => Err(HttpError::Origin(origin.clone())),
            None => Ok(()),
        }
    }

    fn sharing(&self) -> Sharing {
        if self.bearers.all().len() > 1 { Sharing::Several } else { Sharing::Alone }
    }
}

/// Serves the protocol until `shutdown`, and then for as long as the grace lasts what is under way.
///
/// It is open to other servers than ours so that the conformance suite, which wants tools by name, tries this transport.
///
/// # Errors
/// `http-open`, `host-invalid`, `origin-invalid`, `http-listen`
#[doc(hidden)]
pub async fn serve<H: ServerHandler + Clone>(
    listener: TcpListener,
    handler: H,
    config: &HttpConfig,
    calls: &Calls,
    shutdown: impl Future<Output = ()>,
) -> Result<(), HttpError> {
    let address = listener.local_addr()?;
    config.check(address)?;
    let doors = Doors {
        front: Arc::new(Front::new(handler, config, calls, address)),
        times: config.times,
        places: Arc::new(Semaphore::new(config.connections.min(Semaphore::MAX_PERMITS))),
        connections: Connections::new(config.connections, !config.bearers.all().is_empty(), config.sharing()),
        open: TaskTracker::new(),
        closing: CancellationToken::new(),
        ending: CancellationToken::new(),
    };
    tokio::select! {
        () = shutdown => {}
        () = doors.accept(&listener) => {}
    }
    drop(listener);
    doors.close(calls, config.grace).await;
    Ok(())
}

/// The connections of a server.
struct Doors<H> {
    front: Arc<Front<H>>,
    times: Times,
    places: Arc<Semaphore>,
    connections: Arc<Connections>,
    open: TaskTracker,
    /// Cancelled where a connection ends with the answer that it is about.
    closing: CancellationToken,
    /// Cancelled where it ends at once.
    ending: CancellationToken,
}

impl<H: ServerHandler + Clone> Doors<H> {
    /// Accepts connections, for ever.
    async fn accept(&self, listener: &TcpListener) {
        let mut well = true;
        while let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    well = true;
                    let guest = self.connections.admit(neighbourhood(peer.ip()));
                    let connection = self.connection(stream, peer, Arc::clone(&guest));
                    let ending = self.ending.clone();
                    self.open.spawn(async move {
                        let stays = guest.evicted().run_until_cancelled(connection);
                        ending.run_until_cancelled_owned(stays).await;
                        drop((guest, place));
                    });
                }
                // That client is gone; the next one may not be.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    if std::mem::replace(&mut well, false) {
                        tracing::warn!(%error, "no connection can be accepted");
                    }
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    /// Answers what comes over a connection, until it ends.
    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        guest: Arc<Guest>,
    ) -> impl Future<Output = ()> + Send + use<H> {
        let (front, closing, times) = (Arc::clone(&self.front), self.closing.clone(), self.times);
        async move {
            // Where that fails the connection is gone, and the first read says so.
            let _ = stream.set_nodelay(true);
            let activity = Activity::new();
            let mut wire = Wire::new(stream, Arc::clone(&activity), times);
            // Between requests nothing is held but the wire: most of what a connection takes is what HTTP is read and written with.
            while closing.run_until_cancelled(wire.wakes()).await == Some(true) {
                let service = service_fn(|request| {
                    let (front, activity, guest) = (Arc::clone(&front), Arc::clone(&activity), Arc::clone(&guest));
                    Box::pin(
                        async move { Ok::<_, Infallible>(front.answer(request, peer.ip(), &activity, &guest).await) },
                    )
                });
                match Box::pin(exchange(wire, service, &activity, &closing)).await {
                    Some(rests) => wire = rests,
                    None => return,
                }
            }
        }
    }

    /// Ends what is there: first what runs, then what is answered, then the rest. No step takes what is left to the later ones.
    async fn close(&self, calls: &Calls, grace: Duration) {
        self.closing.cancel();
        let end = Instant::now() + grace + LAST;
        let left = |later: Duration| end.saturating_duration_since(Instant::now()).saturating_sub(later);
        calls.close(grace).await;
        self.front.awaited().close();
        let _ = tokio::time::timeout(ANSWERING.min(left(LAST / 5)), self.front.awaited().wait()).await;
        self.front.end();
        self.open.close();
        let leaving = self.times.write.min(LEAVING).min(left(LAST / 10));
        if tokio::time::timeout(leaving, self.open.wait()).await.is_err() {
            self.ending.cancel();
            let _ = tokio::time::timeout(left(Duration::ZERO).max(LAST / 10), self.open.wait()).await;
        }
    }
}

/// Answers what comes over a connection until it is about nothing, and gives it back; none where it has ended.
async fn exchange<S>(wire: Wire, service: S, activity: &Activity, closing: &CancellationToken) -> Option<Wire>
where
    S: HttpService<Incoming, ResBody = Answer, Error = Infallible, Future: Unpin> + Unpin,
{
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(HEAD).max_buf_size(BUFFER);
    let mut connection = http.serve_connection(TokioIo::new(wire), service);
    let mut closing = pin!(closing.cancelled());
    let (mut told, mut rests) = (false, false);
    let result = poll_fn(|cx| {
        if !told && closing.as_mut().poll(cx).is_ready() {
            told = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        let polled = connection.poll_without_shutdown(cx);
        if polled.is_ready() || told || !activity.rests() {
            return polled;
        }
        // All is written, so that the library has nothing left to do, and says so when it is told to shut down.
        (told, rests) = (true, true);
        Pin::new(&mut connection).graceful_shutdown();
        connection.poll_without_shutdown(cx)
    })
    .await;
    let parts = connection.into_parts();
    let mut wire = parts.io.into_inner();
    if rests && result.is_ok() {
        wire.unread(parts.read_buf);
        return Some(wire);
    }
    if activity.leaves_something() || result.is_err_and(|error| error.is_parse()) {
        wire.take_leave().await;
    }
    None
}
