//! Nested calls: a tool that calls another stored tool.
//!
//! Invariant: this module runs nothing. The operation that starts a run provides its
//! [`NestedCalls`], so host calls do not depend on operations.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolcell_flows::Label;
use toolcell_host::{Budget, Effects, OperationError, OperationOutput, Params, Remaining};
use toolcell_tool::{Grants, ToolName};

use super::RunEnvironment;
use super::held::PlanChain;

/// Runs stored tools on behalf of a calling tool.
pub(crate) trait NestedCalls: Sync {
    /// Runs the tool with this name.
    fn call(&self, name: &ToolName, params: Params, within: &CallerContext<'_>) -> NestedResult;
}

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
    /// Where the operations of the caller come from that are under way: their answers may show in how the run goes.
    pub(crate) under_way: &'a Label,
    /// Whether nothing else is under way, in the caller and in all runs above it.
    pub(crate) is_alone: bool,
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
    /// Where the result came from, if flows are followed.
    pub(crate) label: Option<Label>,
    /// Whether the result lost sources by a rule of the policy.
    pub(crate) is_declassified: bool,
}

/// The position of a run in a chain of nested calls.
pub(crate) struct NestingContext<'a> {
    /// The context of the calling tool, if a tool makes the call.
    pub(crate) caller: Option<&'a CallerContext<'a>>,
    /// The plan shared by the whole call chain, if effects are held.
    pub(crate) plan: Option<Arc<PlanChain>>,
}

impl NestedResult {
    /// Creates the result of a call that did not run.
    pub(crate) fn not_called(failure: OperationError) -> Self {
        Self {
            result: Err(failure),
            fuel: 0,
            waited: Duration::ZERO,
            effects: Effects::None,
            label: None,
            is_declassified: false,
        }
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
