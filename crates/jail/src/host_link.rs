//! A worker's end of the channel to its host.
//!
//! Invariant: a worker whose host is gone exits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::channel::{Channel, WaitMode};
use crate::messages::WorkerMessage;

/// The channel, shared by all proxies.
pub(crate) struct HostLink {
    channel: Mutex<Channel>,
    /// Whether the host cancelled the call while the tool waited.
    call_cancelled: AtomicBool,
}

impl HostLink {
    pub(crate) fn new(pipe: Channel) -> Self {
        Self { channel: Mutex::new(pipe), call_cancelled: AtomicBool::new(false) }
    }

    /// Forgets the cancellation of the previous call.
    pub(crate) fn begin_request(&self) {
        self.call_cancelled.store(false, Ordering::Relaxed);
    }

    pub(crate) fn channel(&self) -> MutexGuard<'_, Channel> {
        self.channel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message to the host. Exits if the host is gone.
    pub(crate) fn send(&self, said: &WorkerMessage) {
        if self.channel().send(said, || WaitMode::KeepWaiting).is_err() {
            exit_process();
        }
    }

    /// Returns whether the current call is cancelled. During a call, cancellation is the only
    /// message that the host sends unasked.
    pub(crate) fn is_call_cancelled(&self) -> bool {
        self.call_cancelled.load(Ordering::Relaxed) || self.channel().has_pending_input()
    }

    pub(crate) fn cancel_call(&self) {
        self.call_cancelled.store(true, Ordering::Relaxed);
    }
}

/// Exits the process. All replies have been sent.
#[expect(clippy::disallowed_methods, reason = "a worker has nothing to go back to")]
pub(crate) fn exit_process() -> ! {
    std::process::exit(0)
}
