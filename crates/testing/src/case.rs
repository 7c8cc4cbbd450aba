//! One test of a tool.
//!
//! Invariant: what a case says is possible. Whoever reads one from a file has refused the rest.

use std::time::Duration;

use toolcell::{Budget, Grant, Params, Receipt};

use crate::answers::Answer;
use crate::budget::FuelBudget;
use crate::expect::Expectation;
use crate::problem::Place;

/// A call of a tool, and what is expected of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is claimed.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// Which tool, where a factory makes several.
    pub call: Option<String>,
    /// What the tool is given.
    pub params: Params,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Where its clock starts, since 1970.
    pub started_at: Duration,
    /// What it is granted.
    pub grants: Vec<Grant>,
    /// What the host answers it.
    pub answers: Vec<Answer>,
    /// A recorded run, which is done again in place of a call.
    pub receipt: Option<Receipt>,
    /// How it is to end. Nothing is expected only by a case that is not finished, which `--update` finishes.
    pub expectation: Option<Expectation>,
    /// What it is to write to its console, where that is said.
    pub logs: Option<Vec<String>>,
    /// What it is to ask of the host, where that is said.
    pub effects: Option<Vec<String>>,
    /// What it may cost.
    pub fuel: Option<FuelBudget>,
    /// What it may use besides.
    pub limits: Limits,
}

/// Ceilings that are handed to the call, which ends when it hits one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: Option<usize>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

impl Case {
    /// A call with nothing granted, at the start of 1970.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place: Place::BEGINNING,
            call: None,
            params: Params::default(),
            seed: 0,
            started_at: Duration::ZERO,
            grants: Vec::new(),
            answers: Vec::new(),
            receipt: None,
            expectation: None,
            logs: None,
            effects: None,
            fuel: None,
            limits: Limits::default(),
        }
    }

    /// The limits of the call. A budget of fuel is none, unless the case expects to run out of it: what it takes is measured
    /// beyond it.
    pub(crate) fn budget(&self) -> Budget {
        let most = Budget::default();
        let fuel = match (&self.expectation, &self.fuel) {
            (Some(Expectation::Stops(code)), Some(budget)) if code == "out-of-fuel" => budget.limit,
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
