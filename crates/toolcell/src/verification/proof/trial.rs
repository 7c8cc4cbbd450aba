//! The runs of a tool during verification.
//!
//! Invariant: every run uses the common execution path, under a permit that was granted for the
//! tool, and leaves a receipt.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::Value;
use toolcell_host::{
    Budget, CallContext, CallError, CancelToken, FuelScope, OnOverload, Outcome, Report, Stop, Thrown, ValueSide,
};
use toolcell_i18n::{Message, message};
use toolcell_schema::{Args, Schema};
use toolcell_store::Entry;

use super::{Captured, CheckKind, Counterexample, MAX_RECEIPTS, TrialReceipt};
use crate::admission::{CallAuthorization, Permit};
use crate::execution::{Runtime, ToolCode, cache_key, only_timers, timer_calls};
use crate::vet::VettedTool;

/// The names of the engine's errors. A tool that throws one of these deliberately uses its own
/// message.
const ENGINE_ERRORS: [&str; 5] = ["TypeError", "RangeError", "ReferenceError", "InternalError", "EvalError"];
/// The call identifier, as long as that of a recorded run, so that it burns the same fuel.
const CALL_ID: &str = "call_000000000000000000000000";
/// The number of message characters that are looked up in the source.
const MATCHED_CHARS: usize = 8;

/// A tool under verification.
pub(crate) struct Trial<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) entry: &'a Entry,
    pub(crate) tool: &'a VettedTool,
    pub(crate) schema: &'a Schema,
    /// The permit for calls of the tool.
    pub(crate) permit: &'a Permit,
    /// The start time of each run's clock, since 1970.
    pub(crate) started_at: Duration,
    pub(crate) cancel: Option<&'a CancelToken>,
    pub(crate) receipts: RefCell<Vec<TrialReceipt>>,
}

/// A fault of a run.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// The kind of fault.
    pub(crate) kind: String,
    /// The message.
    pub(crate) message: Message,
    /// The line and column in the source.
    pub(crate) place: Option<(u32, u32)>,
}

impl Violation {
    pub(crate) fn new(kind: &str, message: Message) -> Self {
        Self { kind: kind.to_owned(), message, place: None }
    }

    pub(crate) fn from_thrown(thrown: &Thrown) -> Self {
        let message = message!("it throws {name}: {error}", name = thrown.name, error = thrown.message);
        Self { place: thrown.line.zip(thrown.column), ..Self::new("threw", message) }
    }

    /// Creates a counterexample with the input that shows the fault.
    pub(crate) fn into_counterexample(
        self,
        check: CheckKind,
        parameters: Value,
        found_with: Option<Value>,
    ) -> Counterexample {
        let Self { kind, message, place } = self;
        Counterexample { check, kind, message, parameters, found_with, place }
    }
}

/// The image that a run uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrialImage {
    /// The toolbox's image.
    Own,
    /// The interpreter.
    Interpreter,
}

impl Trial<'_> {
    /// Calls the tool and records a receipt.
    pub(crate) fn call(&self, check: CheckKind, args: Args, budget: Budget) -> Result<Report, CallError> {
        self.call_on(TrialImage::Own, check, args, budget)
    }

    /// Calls the tool on an image and records a receipt.
    pub(crate) fn call_on(
        &self,
        image: TrialImage,
        check: CheckKind,
        args: Args,
        budget: Budget,
    ) -> Result<Report, CallError> {
        let permit = self.permit.for_trial(args, budget);
        let run = CallContext {
            tool: None,
            call_id: CALL_ID,
            seed: 0,
            started_at: self.started_at,
            // The virtual clock keeps runs repeatable, also for tools that are granted the wall
            // clock.
            wall_clock: None,
            host_calls: timer_calls(permit.grants()),
            cancel: self.cancel,
            partial_sink: None,
            on_overload: OnOverload::Wait,
            profile: None,
            time_limit: None,
            fuel_scope: FuelScope::LoadingAndCall,
        };
        let name = self.entry.name.as_str();
        let report = match image {
            TrialImage::Own => {
                let key = cache_key(self.entry.id, &only_timers(permit.grants()));
                let code =
                    self.runtime.cached_script(&key).map_or(ToolCode::Script(self.tool.script()), ToolCode::Prepared);
                self.runtime.execute(key, name, code, CallAuthorization::Admitted(&permit), &run)?
            }
            TrialImage::Interpreter => self.runtime.execute_interpreted(name, self.tool.script(), &permit, &run)?,
        };
        self.record_receipt(check, permit.args(), &report);
        Ok(report)
    }

    fn record_receipt(&self, check: CheckKind, args: &Args, report: &Report) {
        let mut receipts = self.receipts.borrow_mut();
        if receipts.len() >= MAX_RECEIPTS {
            return;
        }
        let (outcome, result) = match &report.outcome {
            Outcome::Returned(value) => ("returned", value.as_ref().map(|value| Captured::new(value.as_str()))),
            Outcome::Threw(thrown) => ("threw", Some(Captured::new(&format!("{}: {}", thrown.name, thrown.message)))),
            Outcome::Stopped(stop) => ("stopped", Some(Captured::new(stop.code().as_str()))),
        };
        let (outcome, parameters) = (outcome.to_owned(), Captured::new(args.params().as_str()));
        receipts.push(TrialReceipt { check, parameters, outcome, result, fuel: report.usage.fuel });
    }

    /// Returns the budget of a call under the policy.
    pub(crate) fn budget(&self) -> Budget {
        *self.permit.budget()
    }

    /// Returns the fault of a run with valid parameters. A deliberate error of the tool is not a
    /// fault.
    pub(crate) fn violation(&self, report: &Report) -> Option<Violation> {
        match &report.outcome {
            Outcome::Threw(thrown) if is_deliberate(thrown, self.tool.spec().source()) => None,
            Outcome::Threw(thrown) => Some(Violation::from_thrown(thrown)),
            Outcome::Stopped(Stop::Cancelled) => None,
            Outcome::Stopped(stop) => {
                Some(Violation::new(stop.code().as_str(), message!("it is stopped: {stop}", stop)))
            }
            Outcome::Returned(_) => {
                let lost = report.warnings.iter().find(|warning| warning.place == ValueSide::Result)?;
                let message = match lost.path.as_str() {
                    "" => message!("the result: {problem}", problem = lost.message),
                    path => message!("`{path}`: {problem}", path, problem = lost.message),
                };
                Some(Violation::new("result-not-json", message))
            }
        }
    }
}

/// Returns the result of a run; null for `undefined`.
pub(crate) fn returned_value(report: &Report) -> Option<Value> {
    match &report.outcome {
        Outcome::Returned(Some(value)) => serde_json::from_str(value.as_str()).ok(),
        Outcome::Returned(None) => Some(Value::Null),
        _ => None,
    }
}

/// Returns whether the tool threw the error deliberately: its name is not one of the engine's, or
/// its message occurs in the source.
pub(crate) fn is_deliberate(thrown: &Thrown, source: &str) -> bool {
    if !ENGINE_ERRORS.contains(&thrown.name.as_str()) {
        return true;
    }
    let said: String = thrown.message.chars().take(MATCHED_CHARS).collect();
    said.chars().count() == MATCHED_CHARS && source.contains(&said)
}
