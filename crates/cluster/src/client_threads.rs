//! The threads of a client of an engine, and how callers that block ask them.
//!
//! Invariant: a caller waits for a bounded time, also if the threads do not get their turn; and what is under way does not keep the process.

use std::future::Future;
use std::io;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

/// How much longer a caller waits than the client does. It is only reached if this machine is overloaded.
const TURN_LIMIT: Duration = Duration::from_secs(5);
/// The bytes that the network is expected to carry in a second, at least: 1 MB.
const SLOWEST_NETWORK: u64 = 1_000_000;

/// The threads that talk to an engine.
pub(crate) struct ClientThreads {
    handle: Handle,
    /// It is there until the drop.
    runtime: Option<Runtime>,
}

/// The threads did not get their turn: it is not known what became of what was asked.
pub(crate) struct NoTurn;

impl ClientThreads {
    /// Starts threads with a name.
    pub(crate) fn start(name: &str, count: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(count).thread_name(name).enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// The handle of the runtime.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Lets the threads do something that ends within `limit`, and waits for what comes of it.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, NoTurn> {
        let (tell, told) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // The caller may have given up.
            let _ = tell.send(future.await);
        });
        told.recv_timeout(limit + TURN_LIMIT).map_err(|_| NoTurn)
    }
}

impl Drop for ClientThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The time that bytes need over a slow network.
pub(crate) fn transfer_time(bytes: u64) -> Duration {
    Duration::from_micros(bytes.saturating_mul(1_000_000 / SLOWEST_NETWORK))
}
