//! Host calls: the work that the host does for a tool while the tool waits.
//!
//! Invariant: a tool sees the results of host calls in the order in which they are returned here,
//! and nothing else about how they were done.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toolcell_json::Json;

use crate::limits::CallDeadline;

pub use toolcell_protocol::{
    Effects, FetchReadRequest, FetchRequest, FileAction, FileRequest, Grant, HostCall, HostRequest, KvCommitRequest,
    KvGetRequest, KvListRequest, KvVersionCheck, KvWriteRequest, OperationError, ParsedHostCall, Payload, PayloadError,
    Redirect, ServerCallRequest, ServerDescribeRequest, ServerSearchRequest, TimerRequest, ToolCallRequest,
    UnknownKind, WriteMode,
};

/// A provider of host calls.
///
/// A host implements this for the capabilities it grants; [`NoHostCalls`] grants none, [`Timers`]
/// grants timers.
pub trait HostCalls: Sync {
    /// Returns the capabilities that are granted. A capability that is not granted does not exist
    /// for the tool.
    fn grants(&self) -> Vec<Grant>;

    /// Starts the host calls of one call.
    fn start(&self) -> Box<dyn HostCallDriver + '_>;
}

/// The host calls of one call, in flight.
pub trait HostCallDriver {
    /// Submits host calls that the tool has just started, and drops those that it cancelled. A
    /// finished host call is cancelled too if the tool does not read the rest of its result.
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]);

    /// Waits until at least one host call has completed, or until the call must end. An empty
    /// result means that nothing is pending.
    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult;

    /// Waits like [`Self::wait`], in a call that may be suspended. If the remaining host calls take
    /// too long, the implementation saves them and returns [`WaitOutcome::Suspend`]. When the call
    /// resumes, [`HostCalls::start`] returns them again, and none of them is restarted.
    fn wait_or_suspend(&mut self, left: &Remaining<'_>) -> WaitOutcome {
        WaitOutcome::Completed(self.wait(left))
    }
}

/// The outcome of a wait in a call that may be suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitOutcome {
    /// Host calls completed, and the call continues.
    Completed(WaitResult),
    /// The call is to be suspended.
    Suspend {
        /// Time that the call waited before it was suspended.
        elapsed: Duration,
    },
}

/// The resources that a call has left while it waits. A host call that runs another tool runs it
/// within these limits.
#[derive(Debug, Clone, Copy)]
pub struct Remaining<'a> {
    /// The deadline of the call.
    pub deadline: &'a CallDeadline,
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: usize,
}

/// The result of a wait for host calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WaitResult {
    /// The host calls that completed, in the order in which the tool sees them.
    pub completions: Vec<Completion>,
    /// Time spent waiting; the tool's virtual clock advances by it.
    pub elapsed: Duration,
    /// Fuel that other tools burned on behalf of this call.
    pub fuel: u64,
}

impl WaitResult {
    /// Returns a result without completions: nothing is pending.
    #[must_use]
    pub fn nothing_pending() -> Self {
        Self::default()
    }

    /// Returns these completions, with the time since the wait began.
    #[must_use]
    pub fn since(began: Instant, ended: Vec<Completion>) -> Self {
        Self { completions: ended, elapsed: began.elapsed(), fuel: 0 }
    }
}

/// A completed host call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The identifier of the host call.
    pub id: u32,
    /// The value that resolves the tool's promise, or the error that rejects it.
    pub result: Result<OperationOutput, OperationError>,
}

/// The output of a successful host call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationOutput {
    /// The result as JSON.
    pub json: Json,
    /// Binary data that accompanies the result, such as a chunk of a response body.
    #[serde(with = "serde_bytes")]
    pub bytes: Option<Vec<u8>>,
}

impl From<Json> for OperationOutput {
    fn from(json: Json) -> Self {
        Self { json, bytes: None }
    }
}

/// A provider that grants nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHostCalls;

impl HostCalls for NoHostCalls {
    fn grants(&self) -> Vec<Grant> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(Self)
    }
}

impl HostCallDriver for NoHostCalls {
    fn submit(&mut self, _: Vec<HostCall>, _: &[u32]) {}

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        WaitResult::nothing_pending()
    }
}

/// A provider that grants timers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timers;

impl HostCalls for Timers {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(PendingTimers::default())
    }
}

#[derive(Default)]
struct PendingTimers {
    /// The due time and the identifier of each timer.
    due: Vec<(Instant, u32)>,
    malformed: Vec<Completion>,
}

impl HostCallDriver for PendingTimers {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        let now = Instant::now();
        for operation in started {
            match timer_delay(&operation) {
                Some(wait) => self.due.push((now + wait, operation.id)),
                None => self.malformed.push(Completion {
                    id: operation.id,
                    result: Err(OperationError::without_effects(
                        "TypeError",
                        "operation-unknown",
                        format!("the operation `{}` is not a timer", operation.kind),
                    )),
                }),
            }
        }
        self.due.retain(|(_, id)| !cancelled.contains(id));
    }

    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult {
        let began = Instant::now();
        if !self.malformed.is_empty() {
            return WaitResult::since(began, std::mem::take(&mut self.malformed));
        }
        self.due.sort_unstable();
        let Some(&(first, id)) = self.due.first() else { return WaitResult::nothing_pending() };
        left.deadline.sleep_until(first);
        if Instant::now() < first {
            return WaitResult::nothing_pending();
        }
        // One timer at a time, so that the next callback sees what this one did, as in a browser.
        self.due.remove(0);
        WaitResult::since(began, vec![Completion { id, result: Ok(Json::NULL.into()) }])
    }
}

/// Returns the delay of a timer.
fn timer_delay(operation: &HostCall) -> Option<Duration> {
    let HostRequest::Timer(Ok(TimerRequest { ms })) = HostRequest::parse(operation) else { return None };
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}
