//! The server of the page.
//!
//! hyper parses HTTP, axum maps paths. `axum::serve` is not used, because it has no limit of connections and no timeouts.
//!
//! Invariant: connections and request heads are bounded in number, size and time, because other users of the machine
//! can connect to loopback, too.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
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

use crate::error::UiError;
use crate::limits::ANSWER_TIMEOUT;
use crate::mounted::{LinkConfig, link_site};
use crate::routes::routes;
use crate::site::AnsweredFor;

/// The maximum number of open connections. A browser opens six for each page at most.
const MAX_CONNECTIONS: usize = 512;
/// The time to receive a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest request head, in bytes.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// How long a connection may go on without a request that has access, whatever it does: it may not read its answers.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the accept loop pauses after an error.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long a shutdown waits for requests in flight.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Serves the pages on a port of loopback, 0 for any free one, until the process is told to end. `ready` gets the URL of the one-time link once
/// the server listens.
///
/// # Errors
/// `http-listen`, `no-threads`
pub fn serve(config: LinkConfig, port: u16, ready: impl FnOnce(&str)) -> Result<(), UiError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(UiError::Start)?;
    let served = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listen = |error| UiError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?;
        let (site, app, key) = link_site(config, "", Some(bound.port()))?;
        let ended = end_signal().map_err(UiError::Start)?;
        ready(&format!("http://{bound}/open?key={key}"));
        let server = Server { routes: routes(&site, &[app]), closing: site.closing.clone(), open: TaskTracker::new() };
        tokio::select! {
            () = ended => {}
            () = server.accept(&listener) => {}
        }
        drop(listener);
        server.closing.cancel();
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

async fn serve_connection(stream: TcpStream, routes: Router, ending: CancellationToken) {
    // If this fails, the connection is gone, and the first read reports it.
    let _ = stream.set_nodelay(true);
    let is_known = Arc::new(AtomicBool::new(false));
    let knows = Arc::clone(&is_known);
    let service = service_fn(move |request: Request<Incoming>| {
        let (routes, knows) = (TowerToHyperService::new(routes.clone()), Arc::clone(&knows));
        async move {
            let answer = routes.call(request).await?;
            if answer.extensions().get::<AnsweredFor>().is_some() {
                knows.store(true, Ordering::Relaxed);
            }
            Ok::<Response<Body>, Infallible>(answer)
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
