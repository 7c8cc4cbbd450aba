//! Proxies for a tool in a worker: its host calls, clock and partial results are forwarded to the
//! host.
//!
//! Invariant: nothing is done in the worker. Replies of the host are passed on unchanged.

use std::sync::Arc;
use std::time::Duration;

use toolcell_host::{
    CallContext, CancelToken, Grant, HostCall, HostCallDriver, HostCalls, OnOverload, PartialResultSink, Remaining,
    WaitOutcome, WaitResult, WallClock,
};

use crate::channel::WaitMode;
use crate::host_link::{HostLink, exit_process};
use crate::messages::{HostMessage, StartedCalls, WaitDone, WireContext, WorkerMessage};

/// The proxies of one call.
pub(crate) struct ProxyContext {
    host_calls: ProxyCalls,
    cancel: CancelToken,
    wall_clock: Option<WallClock>,
    partial_sink: Option<PartialResultSink>,
}

/// Host calls that are forwarded to the host.
struct ProxyCalls {
    link: Arc<HostLink>,
    grants: Vec<Grant>,
}

impl ProxyContext {
    pub(crate) fn new(link: &Arc<HostLink>, terms: &WireContext<'_>) -> Self {
        let clock = || {
            let link = Arc::clone(link);
            Arc::new(move || read_host_clock(&link)) as WallClock
        };
        let partial = || {
            let link = Arc::clone(link);
            Arc::new(move |json: &str| link.send(&WorkerMessage::Partial(json.to_owned()))) as PartialResultSink
        };
        if terms.is_cancelled {
            link.cancel_call();
        }
        let looking = Arc::clone(link);
        Self {
            host_calls: ProxyCalls { link: Arc::clone(link), grants: terms.grants.clone() },
            cancel: CancelToken::with_poll(move || looking.is_call_cancelled()),
            wall_clock: terms.has_wall_clock.then(clock),
            partial_sink: terms.wants_partial_results.then(partial),
        }
    }
}

/// Returns the context of a call, with these proxies.
pub(crate) fn call_context<'a>(granted: &'a ProxyContext, terms: &'a WireContext<'_>) -> CallContext<'a> {
    CallContext {
        tool: terms.tool,
        call_id: terms.call_id,
        seed: terms.seed,
        started_at: terms.started_at,
        wall_clock: granted.wall_clock.as_ref(),
        host_calls: &granted.host_calls,
        cancel: Some(&granted.cancel),
        partial_sink: granted.partial_sink.as_ref(),
        on_overload: OnOverload::Refuse,
        time_limit: Some(terms.time_limit),
        profile: None,
        fuel_scope: terms.fuel_scope,
    }
}

/// Asks the host for the time.
fn read_host_clock(link: &HostLink) -> Duration {
    link.send(&WorkerMessage::ReadClock);
    loop {
        match link.channel().recv::<HostMessage<'_>>(usize::MAX, |_| WaitMode::KeepWaiting) {
            Ok(HostMessage::Now(now)) => return now,
            Ok(HostMessage::Cancel) => link.cancel_call(),
            _ => exit_process(),
        }
    }
}

impl HostCalls for ProxyCalls {
    fn grants(&self) -> Vec<Grant> {
        self.grants.clone()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(ProxyDriver { link: &self.link, unsent: None })
    }
}

struct ProxyDriver<'a> {
    link: &'a HostLink,
    /// Started and cancelled calls that were not sent to the host yet.
    unsent: Option<StartedCalls>,
}

impl HostCallDriver for ProxyDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        let begun = self.unsent.get_or_insert_default();
        begun.started.extend(started);
        begun.cancelled.extend_from_slice(cancelled);
    }

    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult {
        match self.wait_for_host(left) {
            WaitOutcome::Completed(waited) => waited,
            WaitOutcome::Suspend { .. } => WaitResult::nothing_pending(),
        }
    }

    fn wait_or_suspend(&mut self, left: &Remaining<'_>) -> WaitOutcome {
        self.wait_for_host(left)
    }
}

impl ProxyDriver<'_> {
    fn wait_for_host(&mut self, left: &Remaining<'_>) -> WaitOutcome {
        let begun = self.unsent.take();
        self.link.send(&WorkerMessage::Waiting { calls: begun, fuel: left.fuel, memory: left.memory });
        loop {
            match self.link.channel().recv::<HostMessage<'_>>(usize::MAX, |_| WaitMode::KeepWaiting) {
                Ok(HostMessage::WaitDone(WaitDone { outcome: rest, time_left: time, is_cancelled: cancelled })) => {
                    left.deadline.set_remaining(time);
                    if cancelled {
                        self.link.cancel_call();
                    }
                    return rest;
                }
                Ok(HostMessage::Cancel) => self.link.cancel_call(),
                _ => exit_process(),
            }
        }
    }
}
