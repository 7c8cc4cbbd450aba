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
use axum::response::IntoResponse as _;
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
use toolcell_i18n::Lang;

use crate::access::Access;
use crate::app::App;
use crate::feed::ChangeFeed;
use crate::routes::{KnownConnection, routes};
use crate::source::ToolboxSource;

/// The maximum number of open connections. A browser opens six for each page at most.
const MAX_CONNECTIONS: usize = 512;
/// The maximum number of open event streams.
const MAX_STREAMS: usize = 200;
/// The time to receive a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time to receive a form, which is read before anything else is done.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a form, in bytes.
const MAX_FORM_BYTES: usize = 256 << 10;
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
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            closing: CancellationToken::new(),
            person,
            caller,
            lang,
        });
        let ended = end_signal().map_err(UiError::Start)?;
        ready(&format!("http://{bound}/open?key={key}"));
        let server = Server { routes: routes(&app), closing: app.closing.clone(), open: TaskTracker::new() };
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
                    let connection = serve_connection(stream, self.routes.clone(), self.closing.clone());
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

async fn serve_connection(stream: TcpStream, routes: Router, closing: CancellationToken) {
    // If this fails, the connection is gone, and the first read reports it.
    let _ = stream.set_nodelay(true);
    let is_known = Arc::new(AtomicBool::new(false));
    let knows = Arc::clone(&is_known);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let routes = TowerToHyperService::new(routes.clone());
        request.extensions_mut().insert(KnownConnection(Arc::clone(&knows)));
        async move {
            let refused = |status: StatusCode| Ok::<Response<Body>, Infallible>(status.into_response());
            let (head, body) = request.into_parts();
            let body = match timeout(FORM_TIMEOUT, Limited::new(body, MAX_FORM_BYTES).collect()).await {
                Ok(Ok(body)) => Body::from(body.to_bytes()),
                Ok(Err(error)) if error.is::<LengthLimitError>() => return refused(StatusCode::PAYLOAD_TOO_LARGE),
                Ok(Err(_)) => return refused(StatusCode::BAD_REQUEST),
                Err(_) => return refused(StatusCode::REQUEST_TIMEOUT),
            };
            match timeout(ANSWER_TIMEOUT, routes.call(Request::from_parts(head, body))).await {
                Ok(Ok(answer)) => Ok(answer),
                Err(_) => refused(StatusCode::GATEWAY_TIMEOUT),
            }
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
        () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
