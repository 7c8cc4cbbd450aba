//! The call of a tool by another tool.
//!
//! Invariant: it has what its caller has left, and leaves a record of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolcell_host::{Budget, Effects, Left, OperationAnswer, OperationFailure, Outcome, WhenFull};
use toolcell_store::audit::Action;
use toolcell_tool::Grants;

use crate::operations::tools::given;
use crate::operations::{Given, PlanChain};
use crate::record::{Attempted, Ended};
use crate::request::RunTool;
use crate::run::{Ran, RunError, RunOptions};
use crate::toolbox::Toolbox;

/// Within what a tool is called by another.
pub(crate) struct Within<'a> {
    /// What the caller is granted.
    pub(crate) grants: &'a Grants,
    /// What the caller has left.
    pub(crate) left: &'a Left<'a>,
    /// How many tools wait for it.
    pub(crate) depth: u32,
    /// The plan of the first of the tools that wait, where what they do is held.
    pub(crate) plan: Option<Arc<PlanChain>>,
    /// The name of the caller.
    pub(crate) caller: &'a str,
    /// How the first of the tools that wait was asked for.
    pub(crate) options: &'a RunOptions,
    /// What the caller was handed: what the call uses counts there as well.
    pub(crate) given: &'a Given<'a>,
}

/// What came of it.
pub(crate) struct Called {
    pub(crate) result: Result<OperationAnswer, OperationFailure>,
    /// Fuel that it burned, with all that it called.
    pub(crate) fuel: u64,
    /// How long it waited.
    pub(crate) waited: Duration,
    /// How far it changed the world, with all that it called.
    pub(crate) changed: Effects,
}

impl Called {
    /// Nothing was called.
    pub(crate) fn in_vain(failure: OperationFailure) -> Self {
        Self { result: Err(failure), fuel: 0, waited: Duration::ZERO, changed: Effects::None }
    }
}

impl Within<'_> {
    /// A budget, as far as the caller has it left.
    pub(super) fn narrow(&self, budget: Budget) -> Budget {
        let left = self.left.until.deadline().saturating_duration_since(Instant::now());
        Budget {
            // None at all would be no budget; it is gone before anything is done with it.
            fuel: budget.fuel.min(self.left.fuel).max(1),
            deadline: budget.deadline.min(left).max(Duration::from_millis(1)),
            memory: budget.memory.min(self.left.memory),
            ..budget
        }
    }
}

impl Toolbox {
    /// Runs a tool that another one calls.
    pub(crate) fn run_within(&self, request: &RunTool, within: &Within<'_>) -> Called {
        let caller = format!("tool {}", within.caller);
        let options = RunOptions {
            caller,
            limits: crate::policy::Wanted::default(),
            cancel: within.left.until.token().cloned(),
            partial: None,
            when_full: WhenFull::Nested,
            tokens_saved: None,
            // What it comes to is in the receipt of who called it.
            receipt: false,
            // So is what it burned, in the profile.
            profile: None,
            ..within.options.clone()
        };
        let name = request.tool_name.as_deref().unwrap_or_default();
        let begun = Attempted::begin(self, Action::RunDynamicTool, &options.caller, name, &request.parameters);
        let mut attempted = match begun {
            Ok(attempted) => attempted,
            Err(fault) => return Called::in_vain(refused(name, &fault.into(), Effects::None)),
        };
        let done = self.run_attempted(request, &options, &mut attempted, Some(within));
        let (fuel, waited, effects) = attempted.spent();
        let ended = match &done {
            Ok(_) => Ended::AsItRan,
            Err(error) => Ended::Refused { code: error.code(), message: error.to_string() },
        };
        let recorded = attempted.end(ended).map_err(|source| RunError::Unrecorded { source, effects });
        let result = match (done, recorded) {
            (Ok(ran), Ok(_)) => answer(name, ran, effects),
            (Err(error), _) | (_, Err(error)) => Err(refused(name, &error, effects)),
        };
        Called { result, fuel, waited, changed: effects }
    }
}

/// What the caller sees of a tool that ran.
fn answer(called: &str, ran: Ran, effects: Effects) -> Result<OperationAnswer, OperationFailure> {
    let failure = |name: &str, code: &'static str, message: String| {
        Err(OperationFailure { name: name.to_owned(), message, code: code.into(), effects })
    };
    match ran.report.outcome {
        Outcome::Returned(_) if ran.suppressed => {
            failure("NotAllowedError", "result-withheld", format!("a gate keeps back what `{called}` returned"))
        }
        Outcome::Returned(value) => Ok(given(value)),
        Outcome::Threw(thrown) => {
            failure(&thrown.name, "tool-failed", format!("`{called}` failed: {}", thrown.message))
        }
        Outcome::Stopped(stop) => failure("Error", stop.code(), format!("`{called}` was stopped: {stop}")),
    }
}

/// What the caller sees of a tool that did not run, or whose result is kept back.
fn refused(called: &str, error: &RunError, effects: Effects) -> OperationFailure {
    let message = match error {
        RunError::Reach(error) => format!("`{called}` was not run: {}; tell who runs it", error.to_tool()),
        error => format!("`{called}` was not run: {error}; {}", error.hint()),
    };
    OperationFailure { name: "NotAllowedError".to_owned(), message, code: error.code().into(), effects }
}
