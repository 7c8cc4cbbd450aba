//! The server of the page.
//!
//! hyper parses HTTP, axum maps paths. `axum::serve` is not used, because it has no limit of connections and no timeouts.
//!
//! Invariant: connections, request heads, forms and pages are bounded in number, size and time, because other users of the machine
//! can connect to loopback, too.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolcell::CancelToken;
use toolcell_i18n::{Lang, message};

use crate::access::Access;
use crate::app::App;
use crate::feed::ChangeFeed;
use crate::flame_graphs::FlameGraphs;
use crate::routes::{KnownConnection, routes};
use crate::source::ToolboxSource;
use crate::{headers, pages};

/// The maximum number of open connections. A browser opens six for each page at most.
const MAX_CONNECTIONS: usize = 512;
/// The maximum number of runs and replays at once. A browser opens six connections to a server, and pages need some of them.
const MAX_RUNS: usize = 2;
/// The maximum number of open event streams.
const MAX_STREAMS: usize = 200;
/// The time to receive a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time to receive a form, which is read before anything else is done.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a form, in bytes: a source of 64 KiB takes up to 600 KiB as it is sent, and examples come with it.
const MAX_FORM_BYTES: usize = 2 << 20;
/// The maximum size of a form without access, which is refused whatever it holds.
const MAX_UNAUTHENTICATED_FORM_BYTES: usize = 64 << 10;
/// The time to answer a request: a suspended run that a person continues may take as long as any run.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(12);
/// The longest request head, in bytes.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// How long a connection may go on without a request that has access, whatever it does: it may not read its answers.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the accept loop pauses after an error.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long a shutdown waits for requests in flight.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// What the page shows, and to whom.
#[derive(Clone)]
pub struct UiConfig {
    /// Where the tools are found.
    pub source: Arc<dyn ToolboxSource>,
    /// The person at the page, as decisions name them.
    pub person: String,
    /// The caller whose suspended runs the person may continue: that of the command line.
    pub caller: String,
    /// The language for browsers that ask for none that there is.
    pub lang: Lang,
    /// The port on loopback; 0 for any free one.
    pub port: u16,
}

/// An error of starting the server.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum UiError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    #[code(HttpListen)]
    #[hint("use another port with `--port`, or none for any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: io::Error,
    },
    /// The system provides no threads or no random numbers.
    #[error("cannot start the server: {0}")]
    #[code(NoThreads)]
    #[hint("raise the limit on processes and threads (`ulimit -u`), or end other processes")]
    Start(#[source] io::Error),
}

/// Serves the page until the process is told to end. `ready` gets the URL of the one-time link once the server listens.
///
/// # Errors
/// `http-listen`, `no-threads`
pub fn serve(config: UiConfig, ready: impl FnOnce(&str)) -> Result<(), UiError> {
    // Pages are read and rendered on blocking threads.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build();
    let runtime = runtime.map_err(UiError::Start)?;
    let served = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port));
        let listen = |error| UiError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?;
        let (access, key) = Access::new(bound).map_err(|error| UiError::Start(io::Error::other(error.to_string())))?;
        let UiConfig { source, person, caller, lang, port: _ } = config;
        let feed = ChangeFeed::new(Arc::clone(&source));
        let app = Arc::new(App {
            source,
            is_read_only: Arc::default(),
            access,
            decisions: Arc::default(),
            cancel: CancelToken::new(),
            feed,
            flame_graphs: FlameGraphs::default(),
            runs: Semaphore::new(MAX_RUNS),
            checks: Semaphore::new(1),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            closing: CancellationToken::new(),
            person,
            caller,
            lang,
        });
        let ended = end_signal().map_err(UiError::Start)?;
        ready(&format!("http://{bound}/open?key={key}"));
        let closing = app.closing.clone();
        let server = Server { routes: routes(&app), app: Arc::clone(&app), closing, open: TaskTracker::new() };
        tokio::select! {
            () = ended => {}
            () = server.accept(&listener) => {}
        }
        drop(listener);
        server.closing.cancel();
        app.cancel.cancel();
        server.open.close();
        let _ = timeout(SHUTDOWN_GRACE, server.open.wait()).await;
        Ok(())
    });
    // Work that does not end by itself does not keep the process.
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    served
}

/// Completes when the process is told to end.
fn end_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

struct Server {
    routes: Router,
    app: Arc<App>,
    closing: CancellationToken,
    open: TaskTracker,
}

impl Server {
    /// Accepts connections, forever.
    async fn accept(&self, listener: &TcpListener) {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let connection = serve_connection(stream, self.routes.clone(), Arc::clone(&self.app));
                    self.open.spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }
}

/// Why a request has no page.
enum Unanswered {
    TooLarge { limit: usize },
    Broken,
    Unsent,
    TooSlow,
}

impl Unanswered {
    fn to_response(&self, lang: Lang) -> Response<Body> {
        let (status, message, hint) = match self {
            Self::TooLarge { limit } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                message!("the form is larger than {limit} bytes: nothing was done", limit),
                message!("go back, and send less"),
            ),
            Self::Broken => (
                StatusCode::BAD_REQUEST,
                message!("the form did not arrive whole: nothing was done"),
                message!("go back, and send it again"),
            ),
            Self::Unsent => (
                StatusCode::REQUEST_TIMEOUT,
                message!("the form was not sent in time: nothing was done"),
                message!("go back, and send it again"),
            ),
            Self::TooSlow => (
                StatusCode::GATEWAY_TIMEOUT,
                message!("the answer takes too long"),
                message!("look at the runs: what was begun may still finish"),
            ),
        };
        pages::refusal(lang, status, &message, &hint)
    }
}

async fn serve_connection(stream: TcpStream, routes: Router, app: Arc<App>) {
    // If this fails, the connection is gone, and the first read reports it.
    let _ = stream.set_nodelay(true);
    let is_known = Arc::new(AtomicBool::new(false));
    let (knows, ending) = (Arc::clone(&is_known), app.closing.clone());
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (routes, app) = (TowerToHyperService::new(routes.clone()), Arc::clone(&app));
        request.extensions_mut().insert(KnownConnection(Arc::clone(&knows)));
        async move {
            let (head, body) = request.into_parts();
            let lang = app.lang_of(&head.headers);
            let limit =
                if app.access.has_session(&head.headers) { MAX_FORM_BYTES } else { MAX_UNAUTHENTICATED_FORM_BYTES };
            let answer = match timeout(FORM_TIMEOUT, Limited::new(body, limit).collect()).await {
                Ok(Ok(body)) => {
                    let request = Request::from_parts(head, Body::from(body.to_bytes()));
                    match timeout(ANSWER_TIMEOUT, routes.call(request)).await {
                        Ok(Ok(answer)) => return Ok::<Response<Body>, Infallible>(answer),
                        Err(_) => Unanswered::TooSlow,
                    }
                }
                Ok(Err(error)) if error.is::<LengthLimitError>() => Unanswered::TooLarge { limit },
                Ok(Err(_)) => Unanswered::Broken,
                Err(_) => Unanswered::Unsent,
            };
            Ok(headers::secure(answer.to_response(lang)).await)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_header_size(MAX_HEAD_BYTES);
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    let stranger = async {
        tokio::time::sleep(STRANGER_TIMEOUT).await;
        while is_known.load(Ordering::Relaxed) {
            tokio::time::sleep(ANSWER_TIMEOUT).await;
        }
    };
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stranger => return,
        () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
