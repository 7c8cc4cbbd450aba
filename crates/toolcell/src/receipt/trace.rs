//! The recording of host calls and their answers.
//!
//! Invariant: recording does not change what the tool sees.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolcell_error::ErrorCode;
use toolcell_host::{
    Completion, Grant, HostCall, HostCallDriver, HostCalls, Json, OperationError, OperationOutput, Remaining,
    WaitResult,
};

use super::format::{HostCallTrace, TracedCall, TracedCompletion, TracedResult, TracedWait};

/// The maximum size of a trace in bytes. It is kept in memory until the run has finished.
pub(super) const MAX_TRACE_BYTES: usize = 64 << 20;
/// The approximate size of a recorded host call without its answer, in bytes.
const ENTRY_OVERHEAD_BYTES: usize = 256;

/// Host calls that are recorded.
pub(super) struct TraceRecorder<'a> {
    operations: &'a dyn HostCalls,
    recorded: Mutex<RecordedWaits>,
    limit: usize,
}

#[derive(Default)]
struct RecordedWaits {
    waits: Vec<TracedWait>,
    bytes: usize,
}

impl<'a> TraceRecorder<'a> {
    /// Creates a recorder with a size limit in bytes.
    pub(super) fn new(operations: &'a dyn HostCalls, limit: usize) -> Self {
        Self { operations, recorded: Mutex::default(), limit }
    }

    /// Takes the trace so far.
    pub(super) fn take_trace(&self) -> HostCallTrace {
        let noted = std::mem::take(&mut *self.lock());
        if noted.bytes > self.limit {
            HostCallTrace::Missing(ErrorCode::ReceiptTooLarge.to_string())
        } else {
            HostCallTrace::Waits(noted.waits)
        }
    }

    fn record(&self, wait: TracedWait, ended: &[Completion]) {
        let mut noted = self.lock();
        let operations = wait.started.len() + wait.cancelled.len() + 1;
        noted.bytes = noted
            .bytes
            .saturating_add(operations * ENTRY_OVERHEAD_BYTES + ended.iter().map(completion_bytes).sum::<usize>());
        if noted.bytes > self.limit {
            noted.waits = Vec::new();
        } else {
            noted.waits.push(TracedWait { ended: ended.iter().map(TracedCompletion::from).collect(), ..wait });
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecordedWaits> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostCalls for TraceRecorder<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.operations.grants()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(TraceDriver { recorder: self, operations: self.operations.start(), wait: TracedWait::default() })
    }
}

/// The recorded host calls of one call.
struct TraceDriver<'a> {
    recorder: &'a TraceRecorder<'a>,
    operations: Box<dyn HostCallDriver + 'a>,
    /// The host calls since the last wait.
    wait: TracedWait,
}

impl HostCallDriver for TraceDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        self.wait.started.extend(started.iter().map(TracedCall::from));
        self.wait.cancelled.extend(cancelled);
        self.operations.submit(started, cancelled);
    }

    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult {
        let waited = self.operations.wait(left);
        let took = u64::try_from(waited.elapsed.as_nanos()).unwrap_or(u64::MAX);
        let wait = TracedWait { took, fuel: waited.fuel, ..std::mem::take(&mut self.wait) };
        self.recorder.record(wait, &waited.completions);
        waited
    }
}

/// Returns the approximate size of a recorded completion in bytes.
fn completion_bytes(ended: &Completion) -> usize {
    ENTRY_OVERHEAD_BYTES
        + match &ended.result {
            Ok(answer) => answer.json.as_str().len() + answer.bytes.as_ref().map_or(0, Vec::len),
            Err(failure) => failure.name.len() + failure.message.len() + failure.code.len(),
        }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl From<&HostCall> for TracedCall {
    fn from(operation: &HostCall) -> Self {
        Self {
            id: operation.id,
            kind: operation.kind.clone(),
            payload: hash(operation.payload.as_bytes()),
            bytes: operation.bytes.as_deref().map(hash),
        }
    }
}

impl From<&Completion> for TracedCompletion {
    fn from(ended: &Completion) -> Self {
        let result = match &ended.result {
            Ok(OperationOutput { json, bytes }) => TracedResult::Value { json: json.to_string(), bytes: bytes.clone() },
            Err(OperationError { name, message, code, effects }) => TracedResult::Failure {
                name: name.clone(),
                message: message.clone(),
                code: code.to_string(),
                effects: *effects,
            },
        };
        Self { id: ended.id, result }
    }
}

impl TracedCompletion {
    /// Converts to a completion; `None` if the answer is not JSON.
    fn to_completion(&self) -> Option<Completion> {
        let result = match &self.result {
            TracedResult::Value { json, bytes } => {
                Ok(OperationOutput { json: Json::parse(json.clone()).ok()?, bytes: bytes.clone() })
            }
            TracedResult::Failure { name, message, code, effects } => Err(OperationError {
                name: name.clone(),
                message: message.clone(),
                code: code.clone().into(),
                effects: *effects,
            }),
        };
        Some(Completion { id: self.id, result })
    }
}

impl TracedWait {
    /// Converts to the host's answer to the wait; `None` if an answer is not JSON.
    pub(super) fn to_wait_result(&self) -> Option<WaitResult> {
        let ended = self.ended.iter().map(TracedCompletion::to_completion).collect::<Option<_>>()?;
        Some(WaitResult { completions: ended, elapsed: Duration::from_nanos(self.took), fuel: self.fuel })
    }
}
