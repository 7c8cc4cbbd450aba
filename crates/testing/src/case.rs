//! A single test of a tool.
//!
//! Invariant: the expectations of a case can be met. The reader of a test file refuses impossible
//! ones.

use std::time::Duration;

use toolcell::{Budget, Grant, Params, Receipt};
use toolcell_error::ErrorCode;

use crate::budget::FuelBudget;
use crate::expect::ExpectedOutcome;
use crate::mocks::Mock;
use crate::problem::FilePosition;

/// A call of a tool, and what is expected of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The claim of the test, unique in its file.
    pub name: String,
    /// The position of the test in its file.
    pub place: FilePosition,
    /// The name of the tool, if a factory makes several.
    pub tool: Option<String>,
    /// The parameters of the call.
    pub params: Params,
    /// The seed of `Math.random()`.
    pub seed: u64,
    /// The start of the tool's clock, as time since 1970.
    pub started_at: Duration,
    /// The granted capabilities.
    pub grants: Vec<Grant>,
    /// Mocks of host calls.
    pub mocks: Vec<Mock>,
    /// A recorded run that is replayed instead of a call.
    pub receipt: Option<Receipt>,
    /// The expected outcome. `None` only in an unfinished case, which `--update` completes.
    pub expectation: Option<ExpectedOutcome>,
    /// The expected console lines, if they are checked.
    pub logs: Option<Vec<String>>,
    /// The expected host calls, if they are checked.
    pub effects: Option<Vec<String>>,
    /// The fuel budget of the call.
    pub fuel: Option<FuelBudget>,
    /// The other limits of the call.
    pub limits: CaseLimits,
}

/// Limits that stop the call when it reaches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaseLimits {
    /// Bytes of linear memory.
    pub memory: Option<usize>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

impl Case {
    /// Creates a call without grants, with the clock at the start of 1970.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place: FilePosition::START,
            tool: None,
            params: Params::default(),
            seed: 0,
            started_at: Duration::ZERO,
            grants: Vec::new(),
            mocks: Vec::new(),
            receipt: None,
            expectation: None,
            logs: None,
            effects: None,
            fuel: None,
            limits: CaseLimits::default(),
        }
    }

    /// Returns the limits of the call. A fuel budget does not limit the call, so that a call that
    /// exceeds it can still be measured, unless the case expects `out-of-fuel`.
    pub(crate) fn budget(&self) -> Budget {
        let most = Budget::default();
        let fuel = match (&self.expectation, &self.fuel) {
            (Some(ExpectedOutcome::Stops(code)), Some(budget)) if code == ErrorCode::OutOfFuel.as_str() => budget.limit,
            _ => most.fuel,
        };
        Budget {
            fuel,
            memory: self.limits.memory.unwrap_or(most.memory),
            deadline: self.limits.time.unwrap_or(most.deadline),
            ..most
        }
    }
}
