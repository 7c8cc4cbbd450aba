//! Runs a server as a process: the runtime, the signals and the transport.
//!
//! Invariant: the process exits at most [`SHUTDOWN_LIMIT`] and [`TEARDOWN_LIMIT`] after its grace
//! period, whatever its threads do. Calls in flight are recorded by then, or recorded as
//! interrupted when the store is opened next.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use toolcell_error::ErrorCode;

use crate::http::{self, HealthHooks, HttpConfig, HttpError};
use crate::in_flight::SHUTDOWN_LIMIT;
use crate::principal::Principal;
use crate::runtime::build_runtime;
use crate::server::Server;
use crate::stdio::{self, StdioError};
use crate::telemetry::Metrics;

/// How long the teardown of the server may take after that.
const TEARDOWN_LIMIT: Duration = Duration::from_millis(200);

/// The refused requests that are recorded per minute.
const MAX_RECORDED_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Serves the client at standard input and output, until the client closes them or the process
/// receives SIGINT or SIGTERM. Calls in flight then have `grace` to end.
///
/// # Errors
/// `stream`, `no-threads`
pub fn serve_stdio(server: Server, grace: Duration) -> Result<(), StdioError> {
    let runtime = build_runtime().map_err(StdioError::Threads)?;
    let kept = server.clone();
    let served = runtime.block_on(stdio::serve(server, shutdown_signal(), grace));
    let (deadline, done) = match served {
        Ok(deadline) => (deadline, Ok(())),
        Err(error) => (Instant::now(), Err(error)),
    };
    // If standard input is a terminal, a thread may still be blocked on it.
    runtime.shutdown_background();
    drop_server(kept, deadline + TEARDOWN_LIMIT);
    done
}

/// Serves HTTP at an address until the process receives SIGINT or SIGTERM. After SIGTERM it goes on for the time that the config gives
/// to load balancers, or until the next signal. `told` is called with the bound address, which tells the port if the system chose it.
///
/// # Errors
/// `http-open`, `host-invalid`, `origin-invalid`, `http-listen`, `no-threads`
pub fn serve_http(
    server: Server,
    address: SocketAddr,
    config: HttpConfig,
    told: impl FnOnce(SocketAddr),
) -> Result<(), HttpError> {
    config.check(address)?;
    let runtime = build_runtime().map_err(HttpError::Threads)?;
    let (kept, drain, grace) = (server.clone(), config.drain, config.shutdown_grace);
    let mut ordered = None;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let (calls, asked, host) = (server.calls().clone(), server.clone(), config.health.clone());
        let (degraded, more) = (host.clone(), host.clone());
        let mut probes = HealthHooks::default()
            .with_ready(move || asked.check_ready().and_then(|()| host.check_ready()))
            .with_degraded(move || degraded.describe_degraded());
        if let Some(metrics) = Metrics::install() {
            tokio::spawn(metrics.clone().run_upkeep());
            let counted = calls.clone();
            probes = probes.with_metrics(move || metrics.render(&counted) + &more.render_metrics());
        }
        let turning_away = RefusalRecorder::new(server.clone());
        let probes = probes.with_refused(move |principal, code, why| turning_away.record(principal, code, why));
        told(listener.local_addr()?);
        let draining = calls.clone();
        let shutdown = async {
            let mut signals = ShutdownSignals::new();
            if signals.recv().await == ShutdownSignal::Terminate {
                draining.drain();
                // The next signal ends it early.
                let _ = tokio::time::timeout(drain, signals.recv()).await;
            }
            ordered = Some(Instant::now());
        };
        http::serve(listener, server, &HttpConfig { health: probes, ..config }, &calls, shutdown).await
    });
    let deadline = ordered.map_or_else(Instant::now, |ordered| ordered + grace + SHUTDOWN_LIMIT);
    let deadline = deadline + TEARDOWN_LIMIT;
    if kept.calls().count() == 0 {
        runtime.shutdown_timeout(time_left(deadline));
    } else {
        runtime.shutdown_background();
    }
    drop_server(kept, deadline);
    served
}

/// Drops a server, but waits no longer than `deadline`. A thread that spins in a library or a store
/// that waits for a lock ends with the process.
fn drop_server(server: Server, deadline: Instant) {
    let under_way = server.calls().count();
    if under_way > 0 {
        tracing::warn!(
            under_way,
            "calls did not end in time: they are recorded as interrupted when the store is next opened"
        );
    }
    let (tell, ended) = channel();
    // The thread takes the server from here. If no thread can be spawned, the server must not be
    // dropped on this one.
    let slot = Arc::new(Mutex::new(Some(server)));
    let taken = Arc::clone(&slot);
    let dropping = std::thread::Builder::new().name("toolcell-end".to_owned()).spawn(move || {
        drop(taken.lock().unwrap_or_else(PoisonError::into_inner).take());
        // The receiver is gone if the process is already exiting.
        let _ = tell.send(());
    });
    if dropping.is_ok() {
        let _ = ended.recv_timeout(time_left(deadline));
    }
    // The rest ends with the process.
    std::mem::forget(slot);
}

fn time_left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(TEARDOWN_LIMIT / 2)
}

/// Records requests that were refused before they reached the protocol. A rate limit keeps a flood
/// from filling the disk.
struct RefusalRecorder {
    server: Server,
    limiter: DefaultDirectRateLimiter,
}

impl RefusalRecorder {
    fn new(server: Server) -> Self {
        Self { server, limiter: RateLimiter::direct(Quota::per_minute(MAX_RECORDED_PER_MINUTE)) }
    }

    fn record(&self, principal: &Principal, code: ErrorCode, why: String) {
        if self.limiter.check().is_err() {
            tracing::debug!(
                code = code.as_str(),
                "a refused request is not recorded: the rate limit for such records is reached"
            );
            return;
        }
        let (server, principal) = (self.server.clone(), principal.clone());
        tokio::spawn(async move {
            let Ok(tenant) = server.tenant(&principal).await else { return };
            tenant.record_rejected(None, None, code, why).await;
        });
    }
}

/// Waits for SIGINT or SIGTERM; forever if the handlers cannot be installed.
async fn shutdown_signal() {
    ShutdownSignals::new().recv().await;
}

/// A signal that ends the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShutdownSignal {
    Interrupt,
    Terminate,
}

/// The signals that end the server.
struct ShutdownSignals {
    /// `None` if the system cannot report them: the default action ends the process then.
    signals: Option<(Signal, Signal)>,
}

impl ShutdownSignals {
    fn new() -> Self {
        Self {
            signals: signal(SignalKind::interrupt()).and_then(|one| Ok((one, signal(SignalKind::terminate())?))).ok(),
        }
    }

    /// Waits for the next signal.
    async fn recv(&mut self) -> ShutdownSignal {
        let Some((interrupt, terminate)) = &mut self.signals else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => ShutdownSignal::Interrupt,
            _ = terminate.recv() => ShutdownSignal::Terminate,
        }
    }
}
