//! Nested calls: a tool that calls another tool.
//!
//! Invariant: a nested run is limited to what its caller has left, and leaves a record of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolcell_host::{Budget, Effects, OnOverload, OperationError, OperationOutput, Outcome, Remaining};
use toolcell_store::audit::Action;
use toolcell_tool::Grants;

use crate::host_calls::tools::tool_output;
use crate::host_calls::{PlanChain, RunEnvironment};
use crate::operations::run::{RunError, RunOptions, RunResult};
use crate::records::run_record::{AttemptEnd, RunRecorder};
use crate::request::RunTool;
use crate::toolbox::Toolbox;

/// The context that a calling tool gives to a nested run.
pub(crate) struct CallerContext<'a> {
    /// The grants of the caller.
    pub(crate) grants: &'a Grants,
    /// What the caller has left of its limits.
    pub(crate) remaining: &'a Remaining<'a>,
    /// The number of calling tools above the nested run.
    pub(crate) depth: u32,
    /// The plan of the outermost run, if effects are held.
    pub(crate) plan: Option<Arc<PlanChain>>,
    /// The name of the caller.
    pub(crate) caller: &'a str,
    /// The options of the outermost run.
    pub(crate) options: &'a RunOptions,
    /// The environment of the caller, whose quotas the nested run uses too.
    pub(crate) environment: &'a RunEnvironment<'a>,
}

/// The result of a nested call.
pub(crate) struct NestedResult {
    pub(crate) result: Result<OperationOutput, OperationError>,
    /// The fuel burned, including that of further nested runs.
    pub(crate) fuel: u64,
    /// The time spent waiting.
    pub(crate) waited: Duration,
    /// The effects, including those of further nested runs.
    pub(crate) effects: Effects,
}

impl NestedResult {
    /// Creates the result of a call that did not run.
    pub(crate) fn not_called(failure: OperationError) -> Self {
        Self { result: Err(failure), fuel: 0, waited: Duration::ZERO, effects: Effects::None }
    }
}

impl CallerContext<'_> {
    /// Limits a budget to what the caller has left.
    pub(crate) fn limit_budget(&self, budget: Budget) -> Budget {
        let left = self.remaining.deadline.instant().saturating_duration_since(Instant::now());
        Budget {
            // A budget of zero is invalid; one unit is used up before the tool does anything.
            fuel: budget.fuel.min(self.remaining.fuel).max(1),
            deadline: budget.deadline.min(left).max(Duration::from_millis(1)),
            memory: budget.memory.min(self.remaining.memory),
            ..budget
        }
    }
}

impl Toolbox {
    /// Runs a tool on behalf of another one.
    pub(crate) fn run_nested(&self, request: &RunTool, within: &CallerContext<'_>) -> NestedResult {
        let caller = format!("tool {}", within.caller);
        let options = RunOptions {
            caller,
            limits: crate::policy::LimitOverrides::default(),
            cancel: within.remaining.deadline.cancel_token().cloned(),
            partial: None,
            on_overload: OnOverload::Nested,
            tokens_saved: None,
            // The receipt of the calling run contains the result.
            receipt: false,
            // So does its profile for the fuel.
            profile: None,
            ..within.options.clone()
        };
        let name = request.tool_name.as_deref().unwrap_or_default();
        let begun = RunRecorder::start(self, Action::RunDynamicTool, &options.caller, name, &request.parameters);
        let mut attempted = match begun {
            Ok(attempted) => attempted,
            Err(fault) => return NestedResult::not_called(refusal_error(name, &fault.into(), Effects::None)),
        };
        let done = self.run_inner(request, &options, &mut attempted, Some(within));
        let (fuel, waited, effects) = attempted.consumed();
        let ended = match &done {
            Ok(_) => AttemptEnd::Completed,
            Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
        };
        let recorded = attempted.finish(ended).map_err(|source| RunError::RecordFailed { source, effects });
        let result = match (done, recorded) {
            (Ok(ran), Ok(_)) => to_output(name, ran, effects),
            (Err(error), _) | (_, Err(error)) => Err(refusal_error(name, &error, effects)),
        };
        NestedResult { result, fuel, waited, effects }
    }
}

/// Converts the result of a tool that ran into the output for its caller.
fn to_output(called: &str, ran: RunResult, effects: Effects) -> Result<OperationOutput, OperationError> {
    let failure = |name: &str, code: &'static str, message: String| {
        Err(OperationError { name: name.to_owned(), message, code: code.into(), effects })
    };
    match ran.report.outcome {
        Outcome::Returned(_) if ran.output_suppressed => {
            failure("NotAllowedError", "result-withheld", format!("a hook withheld the result of `{called}`"))
        }
        Outcome::Returned(value) => Ok(tool_output(value)),
        Outcome::Threw(thrown) => {
            failure(&thrown.name, "tool-failed", format!("`{called}` failed: {}", thrown.message))
        }
        Outcome::Stopped(stop) => failure("Error", stop.code(), format!("`{called}` was stopped: {stop}")),
    }
}

/// Returns the error for the caller of a tool that did not run, or whose result is withheld.
fn refusal_error(called: &str, error: &RunError, effects: Effects) -> OperationError {
    let message = match error {
        RunError::GrantOpen(error) => format!("`{called}` was not run: {}; tell the user", error.message_for_tool()),
        error => format!("`{called}` was not run: {error}; {}", error.hint()),
    };
    OperationError { name: "NotAllowedError".to_owned(), message, code: error.code().into(), effects }
}
