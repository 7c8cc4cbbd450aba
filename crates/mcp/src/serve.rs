//! A server as a process: a runtime, the signals that end it, and the way in.
//!
//! Invariant: the process ends at most [`LAST`] and [`DISMANTLE`] after its grace, whatever its threads do. What was under way
//! is recorded by then, or as interrupted when the store is opened next.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::calls::LAST;
use crate::http::{self, HttpConfig, HttpError, Probes};
use crate::principal::Principal;
use crate::runtime::runtime;
use crate::server::Server;
use crate::stdio::{self, StdioError};
use crate::telemetry::Metrics;

/// How long its parts are waited for after that.
const DISMANTLE: Duration = Duration::from_millis(200);

/// How many refused requests are recorded in a minute.
const NOTED: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Serves the client at standard input and output until it closes them, or somebody ends the process with SIGINT or
/// SIGTERM. What is under way then has `grace` to end.
///
/// # Errors
/// `stream`, `no-threads`
pub fn serve_stdio(server: Server, grace: Duration) -> Result<(), StdioError> {
    let runtime = runtime().map_err(StdioError::Threads)?;
    let kept = server.clone();
    let served = runtime.block_on(stdio::serve(server, ended_by_signal(), grace));
    let (deadline, done) = match served {
        Ok(deadline) => (deadline, Ok(())),
        Err(error) => (Instant::now(), Err(error)),
    };
    // Where standard input is a terminal, a thread may still wait for it.
    runtime.shutdown_background();
    end(kept, deadline + DISMANTLE);
    done
}

/// Serves over HTTP at an address, until somebody ends the process with SIGINT or SIGTERM. `told` hears at which address,
/// where the port was left to the system.
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
    let runtime = runtime().map_err(HttpError::Threads)?;
    let (kept, grace) = (server.clone(), config.grace);
    let mut ordered = None;
    let served = runtime.block_on(async {
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
        let shutdown = async {
            ended_by_signal().await;
            ordered = Some(Instant::now());
        };
        http::serve(listener, server, &HttpConfig { probes, ..config }, &calls, shutdown).await
    });
    let deadline = ordered.map_or_else(Instant::now, |ordered| ordered + grace + LAST);
    let deadline = deadline + DISMANTLE;
    if kept.calls().count() == 0 {
        runtime.shutdown_timeout(left(deadline));
    } else {
        runtime.shutdown_background();
    }
    end(kept, deadline);
    served
}

/// Drops a server until `deadline`. A thread that spins in a library, and a store that waits for a lock, end with the process.
fn end(server: Server, deadline: Instant) {
    let under_way = server.calls().count();
    if under_way > 0 {
        tracing::warn!(
            under_way,
            "calls did not end in time and are left behind: they are recorded as interrupted when the store is opened next"
        );
    }
    let (tell, ended) = channel();
    // The thread takes it out of here: where there is none to be had, it is not dropped on this one.
    let slot = Arc::new(Mutex::new(Some(server)));
    let taken = Arc::clone(&slot);
    let dropping = std::thread::Builder::new().name("toolcell-end".to_owned()).spawn(move || {
        drop(taken.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Where nobody waits any more, the process is ending.
        let _ = tell.send(());
    });
    if dropping.is_ok() {
        let _ = ended.recv_timeout(left(deadline));
    }
    // What is left of it ends with the process.
    std::mem::forget(slot);
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(DISMANTLE / 2)
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
            tenant.turn_away(None, None, code, why).await;
        });
    }
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
