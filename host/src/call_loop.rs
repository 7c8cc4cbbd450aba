//! The request and reply loop between host and guest during one call.
//!
//! Invariant: every reply of the guest is checked before it is used, and every way in which the
//! loop can end early is an [`EarlyExit`].

use std::convert::Infallible;
use std::time::Duration;

use toolcell_json::{Json, Params};
use toolcell_protocol::{
    Call, CompletionRef, LimitExceeded, Load, OperationErrorRef, OperationOutputRef, Reply, Resume,
};

use crate::context::{CallContext, ScriptSource};
use crate::host_calls::{HostCallDriver, Remaining, WaitOutcome, WaitResult};
use crate::instance::{GuestExport, GuestInstance, GuestStop};
use crate::limits::{Budget, CallDeadline, Interrupted};
use crate::outcome::{Outcome, Stop, Thrown, ValueSide, Warning};
use crate::stack_trace;

/// The maximum size of a tool manifest, in bytes of JSON: the host reads it before any call.
const MAX_MANIFEST_BYTES: usize = 256 << 10;

/// A reason why the loop ended before the tool returned.
pub(crate) enum EarlyExit {
    Threw(Thrown),
    Stopped(Stop),
    Interrupted(Interrupted),
}

impl EarlyExit {
    pub(crate) fn into_outcome(self, script: &ScriptSource<'_>, budget: &Budget) -> Outcome {
        match self {
            Self::Threw(mut thrown) => {
                stack_trace::fix_positions(&mut thrown, script.name, script.source);
                Outcome::Threw(thrown)
            }
            Self::Interrupted(Interrupted::Deadline) => Outcome::Stopped(Stop::Deadline { limit: budget.deadline }),
            Self::Interrupted(Interrupted::Cancelled) => Outcome::Stopped(Stop::Cancelled),
            // If the limit also covers loading the script, the call started with less fuel than the
            // configured limit.
            Self::Stopped(Stop::OutOfFuel { .. }) => Outcome::Stopped(Stop::OutOfFuel { limit: budget.fuel }),
            Self::Stopped(stop) => Outcome::Stopped(stop),
        }
    }
}

impl From<Stop> for EarlyExit {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<GuestStop> for EarlyExit {
    fn from(stop: GuestStop) -> Self {
        match stop {
            GuestStop::Stopped(stop) => Self::Stopped(stop),
            GuestStop::Interrupted(interrupted) => Self::Interrupted(interrupted),
        }
    }
}

/// The shape of the tools that a script defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolShape {
    /// One function without a description.
    Function,
    /// An object, or the tools of a factory: the guest must be asked for their descriptions.
    Described,
}

/// Evaluates a script in a fresh instance.
pub(crate) fn load(
    cell: &mut GuestInstance<'_>,
    script: &ScriptSource<'_>,
    budget: &Budget,
    run: &CallContext<'_>,
) -> Result<ToolShape, EarlyExit> {
    let request = Load { name: script.name, source: script.source, grants: run.host_calls.grants() };
    match cell.call_export(GuestExport::Load, &request)? {
        Reply::Done { value, .. } if value.as_deref() == Some("\"function\"") => Ok(ToolShape::Function),
        Reply::Done { .. } => Ok(ToolShape::Described),
        Reply::Pending { .. } => Err(Stop::Stalled.into()),
        other => Err(early_exit(other, budget)),
    }
}

/// Returns the manifest of the loaded tools.
pub(crate) fn describe(cell: &mut GuestInstance<'_>) -> Result<Json, EarlyExit> {
    match cell.call_export(GuestExport::Describe, &())? {
        Reply::Done { value: Some(manifest), .. } if manifest.len() > MAX_MANIFEST_BYTES => {
            Err(Stop::OutputTooLarge { limit: MAX_MANIFEST_BYTES }.into())
        }
        Reply::Done { value: Some(manifest), .. } => parse_guest_json(manifest),
        other => Err(early_exit(other, &Budget::default())),
    }
}

/// Whether a call may be suspended while it waits for host calls.
pub(crate) trait SuspendMode {
    /// The data that describes a suspension; uninhabited if the call must not be suspended.
    type Suspension;

    fn wait(operations: &mut dyn HostCallDriver, left: &Remaining<'_>) -> Result<WaitResult, Self::Suspension>;

    /// Returns how long the call waited before it was suspended.
    fn elapsed(sleep: &Self::Suspension) -> Duration;
}

/// The call is never suspended.
pub(crate) enum NeverSuspend {}

impl SuspendMode for NeverSuspend {
    type Suspension = Infallible;

    fn wait(operations: &mut dyn HostCallDriver, left: &Remaining<'_>) -> Result<WaitResult, Infallible> {
        Ok(operations.wait(left))
    }

    fn elapsed(sleep: &Infallible) -> Duration {
        match *sleep {}
    }
}

/// The call may be suspended.
pub(crate) enum MaySuspend {}

impl SuspendMode for MaySuspend {
    type Suspension = Duration;

    fn wait(operations: &mut dyn HostCallDriver, left: &Remaining<'_>) -> Result<WaitResult, Duration> {
        match operations.wait_or_suspend(left) {
            WaitOutcome::Completed(waited) => Ok(waited),
            WaitOutcome::Suspend { elapsed: took } => Err(took),
        }
    }

    fn elapsed(sleep: &Duration) -> Duration {
        *sleep
    }
}

/// The result of running a call until it returns or is to be suspended.
pub(crate) enum CallStep<S> {
    /// The tool returned this value; the warnings name what was converted inexactly.
    Returned(Option<Json>, Vec<Warning>),
    /// The call is to be suspended.
    Suspends(S),
}

/// Calls the tool and serves its host calls until it finishes or is to be suspended.
pub(crate) fn run_call<P: SuspendMode>(
    cell: &mut GuestInstance<'_>,
    params: &Params,
    budget: &Budget,
    run: &CallContext<'_>,
    until: &CallDeadline,
) -> Result<CallStep<P::Suspension>, EarlyExit> {
    let request = Call {
        tool: run.tool,
        call_id: run.call_id,
        params: params.as_str(),
        result_bytes: u32::try_from(budget.output).unwrap_or(u32::MAX),
        operations: budget.operations,
    };
    let reply = cell.call_export(GuestExport::Call, &request)?;
    drive::<P>(cell, reply, None, budget, run, until)
}

/// Resumes a call that was suspended while it waited for host calls.
pub(crate) fn resume_call<P: SuspendMode>(
    cell: &mut GuestInstance<'_>,
    budget: &Budget,
    run: &CallContext<'_>,
    until: &CallDeadline,
) -> Result<CallStep<P::Suspension>, EarlyExit> {
    let mut operations = run.host_calls.start();
    match wait_and_resume::<P>(cell, &mut *operations, budget, until)? {
        Ok(reply) => drive::<P>(cell, reply, Some(operations), budget, run, until),
        Err(sleep) => Ok(CallStep::Suspends(sleep)),
    }
}

fn drive<'a, P: SuspendMode>(
    cell: &mut GuestInstance<'_>,
    mut reply: Reply,
    mut operations: Option<Box<dyn HostCallDriver + 'a>>,
    budget: &Budget,
    run: &CallContext<'a>,
    until: &CallDeadline,
) -> Result<CallStep<P::Suspension>, EarlyExit> {
    loop {
        match reply {
            Reply::Done { value, warnings } => {
                let value = value.map(parse_guest_json).transpose()?;
                let warning = |it: toolcell_protocol::Warning| Warning::new(ValueSide::Result, it.path, it.message);
                let warnings = warnings.into_iter().map(warning);
                return Ok(CallStep::Returned(value, warnings.collect()));
            }
            Reply::Pending { started, cancelled } => {
                let operations = operations.get_or_insert_with(|| run.host_calls.start());
                operations.submit(started, &cancelled);
                match wait_and_resume::<P>(cell, &mut **operations, budget, until)? {
                    Ok(next) => reply = next,
                    Err(sleep) => return Ok(CallStep::Suspends(sleep)),
                }
            }
            other => return Err(early_exit(other, budget)),
        }
    }
}

/// Waits for host calls, and resumes the guest with their results.
fn wait_and_resume<P: SuspendMode>(
    cell: &mut GuestInstance<'_>,
    operations: &mut dyn HostCallDriver,
    budget: &Budget,
    until: &CallDeadline,
) -> Result<Result<Reply, P::Suspension>, EarlyExit> {
    let (fuel, memory) = (cell.fuel_left(), budget.memory.saturating_sub(cell.memory_bytes()));
    let waited = P::wait(operations, &Remaining { deadline: until, fuel, memory });
    if let Ok(waited) = &waited {
        cell.charge_fuel(waited.fuel)?;
    }
    if let Some(interrupted) = until.interrupted() {
        return Err(EarlyExit::Interrupted(interrupted));
    }
    let waited = match waited {
        Ok(waited) => waited,
        Err(sleep) => {
            cell.state().advance_by_wait(P::elapsed(&sleep));
            return Ok(Err(sleep));
        }
    };
    if waited.completions.is_empty() {
        return Err(Stop::Stalled.into());
    }
    cell.state().advance_by_wait(waited.elapsed);
    let settled = waited.completions.iter().map(|ended| CompletionRef {
        id: ended.id,
        result: match &ended.result {
            Ok(answer) => Ok(OperationOutputRef { json: answer.json.as_str(), bytes: answer.bytes.as_deref() }),
            Err(failure) => Err(OperationErrorRef {
                name: &failure.name,
                message: &failure.message,
                code: &failure.code,
                effects: failure.effects,
            }),
        },
    });
    Ok(Ok(cell.call_export(GuestExport::Resume, &Resume { settled: settled.collect() })?))
}

/// Converts a reply that ends a request early.
fn early_exit(reply: Reply, budget: &Budget) -> EarlyExit {
    match reply {
        Reply::Threw(thrown) => EarlyExit::Threw(Thrown {
            name: thrown.name,
            message: thrown.message,
            line: thrown.line,
            column: thrown.column,
            stack: thrown.stack,
        }),
        Reply::Exceeded(LimitExceeded::ResultBytes) => Stop::OutputTooLarge { limit: budget.output }.into(),
        Reply::Exceeded(LimitExceeded::Operations) => Stop::TooManyOperations { limit: budget.operations }.into(),
        Reply::Done { .. } | Reply::Pending { .. } => {
            Stop::Crashed { detail: "the guest's reply does not match its request".to_owned() }.into()
        }
    }
}

/// Parses text that the guest claims is JSON.
fn parse_guest_json(text: String) -> Result<Json, EarlyExit> {
    Json::parse(text)
        .map_err(|error| Stop::Crashed { detail: format!("the guest's result is not valid JSON: {error}") }.into())
}
