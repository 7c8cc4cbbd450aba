//! A server as a process: a runtime, the signals that end it, and the way in.
//!
//! Invariant: when this returns, what was under way is recorded.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::http::{self, HttpConfig, HttpError, Probes};
use crate::principal::Principal;
use crate::server::Server;
use crate::stdio::{self, StdioError};
use crate::telemetry::Metrics;

/// How many threads read and write messages. Tools run on threads of their own.
const THREADS: usize = 2;

/// How many refused requests are recorded in a minute.
const NOTED: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Serves the client at standard input and output until it closes them, or somebody ends the process with SIGINT or
/// SIGTERM. What is under way then has `grace` to end.
///
/// # Errors
/// `stream`
pub fn serve_stdio(server: Server, grace: Duration) -> Result<(), StdioError> {
    let runtime = runtime().map_err(StdioError::Streams)?;
    let done = runtime.block_on(stdio::serve(server, ended_by_signal(), grace));
    // Where standard input is a terminal, a thread may still wait for it.
    runtime.shutdown_background();
    done
}

/// Serves over HTTP at an address, until somebody ends the process with SIGINT or SIGTERM. `told` hears at which address,
/// where the port was left to the system.
///
/// # Errors
/// `http-open`, `host-invalid`, `origin-invalid`, `http-listen`
pub fn serve_http(
    server: Server,
    address: SocketAddr,
    config: HttpConfig,
    told: impl FnOnce(SocketAddr),
) -> Result<(), HttpError> {
    config.check(address)?;
    runtime()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let (calls, asked) = (server.calls().clone(), server.clone());
        let mut probes = Probes::default().with_ready(move || asked.is_ready());
        if let Some(metrics) = Metrics::of_process() {
            tokio::spawn(metrics.clone().keep_up());
            let counted = calls.clone();
            probes = probes.with_metrics(move || metrics.render(&counted));
        }
        let turning_away = TurningAway::of(server.clone());
        let probes = probes.with_refused(move |principal, code, why| turning_away.note(principal, code, why));
        told(listener.local_addr()?);
        http::serve(listener, server, &HttpConfig { probes, ..config }, &calls, ended_by_signal()).await
    })
}

/// Records what was refused before the protocol saw it; of a flood the beginning, so that nobody fills a disk with it.
struct TurningAway {
    server: Server,
    limiter: DefaultDirectRateLimiter,
}

impl TurningAway {
    fn of(server: Server) -> Self {
        Self { server, limiter: RateLimiter::direct(Quota::per_minute(NOTED)) }
    }

    fn note(&self, principal: &Principal, code: &'static str, why: String) {
        if self.limiter.check().is_err() {
            tracing::debug!(code, "a request that is refused is not recorded: there are too many");
            return;
        }
        let (server, principal) = (self.server.clone(), principal.clone());
        tokio::spawn(async move {
            let Ok(tenant) = server.tenant(&principal).await else { return };
            let noted = tenant.toolbox.off_thread(move |toolbox| toolbox.turn_away(None, None, code, why)).await;
            if let Err(fault) = noted {
                tracing::warn!(code = fault.code(), "a request that was refused is not recorded: {fault}");
            }
        });
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()
}

/// Waits until somebody ends the process. Where signals cannot be had, nobody does.
async fn ended_by_signal() {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else { return std::future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
