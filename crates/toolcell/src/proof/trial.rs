//! Runs of a tool that is tried.
//!
//! Invariant: what is tried runs by the one road to the cell, under a permit that was given for the tool, and each run leaves a
//! receipt.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::Value;
use toolcell_host::{Budget, CallError, CancelToken, FuelCovers, Outcome, Place, Report, Run, Stop, Thrown, WhenFull};
use toolcell_store::Entry;

use super::{Counterexample, Kept, RECEIPTS_LIMIT, Receipt, Trying};
use crate::cell::Code;
use crate::params::{Args, Schema};
use crate::permit::Permit;
use crate::run::{inward, key, waiting};
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;

/// Errors that the engine makes, by name. Whoever throws one of these says something of their own in it.
const ENGINE: [&str; 5] = ["TypeError", "RangeError", "ReferenceError", "InternalError", "EvalError"];
/// What a call is called: as long as what a recorded run is called, so that it burns the same fuel.
const CALL_ID: &str = "call_000000000000000000000000";
/// How much of a message is looked for in the source.
const SAID: usize = 8;

/// A tool that is tried.
pub(crate) struct Trial<'a> {
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) entry: &'a Entry,
    pub(crate) tool: &'a VettedTool,
    pub(crate) schema: &'a Schema,
    /// For a call of the tool.
    pub(crate) permit: &'a Permit,
    /// Where the clock of each run starts.
    pub(crate) at: Duration,
    pub(crate) cancel: Option<&'a CancelToken>,
    pub(crate) receipts: RefCell<Vec<Receipt>>,
}

/// What is wrong with a run.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    /// In a word.
    pub(crate) kind: String,
    /// In a sentence.
    pub(crate) message: String,
    /// Line and column of the source.
    pub(crate) place: Option<(u32, u32)>,
}

impl Wrong {
    pub(crate) fn new(kind: &str, message: String) -> Self {
        Self { kind: kind.to_owned(), message, place: None }
    }

    pub(crate) fn threw(thrown: &Thrown) -> Self {
        let message = format!("it throws {}: {}", thrown.name, thrown.message);
        Self { place: thrown.line.zip(thrown.column), ..Self::new("threw", message) }
    }

    /// The input that shows it.
    pub(crate) fn with(self, check: Trying, parameters: Value, found_with: Option<Value>) -> Counterexample {
        let Self { kind, message, place } = self;
        Counterexample { check, kind, message, parameters, found_with, place }
    }
}

/// On which image a trial runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    /// That of the toolbox.
    Own,
    /// The interpreter.
    Interpreter,
}

impl Trial<'_> {
    /// Calls the tool, and keeps a receipt.
    pub(crate) fn call(&self, check: Trying, args: Args, budget: Budget) -> Result<Report, CallError> {
        self.call_on(Image::Own, check, args, budget)
    }

    /// Calls the tool on an image, and keeps a receipt.
    pub(crate) fn call_on(&self, image: Image, check: Trying, args: Args, budget: Budget) -> Result<Report, CallError> {
        let permit = self.permit.for_trial(args, budget);
        let run = Run {
            tool: None,
            call_id: CALL_ID,
            seed: 0,
            started_at: self.at,
            // What can be repeated is tried, also where the tool sees the real time in use.
            clock: None,
            operations: waiting(permit.grants()),
            cancel: self.cancel,
            partial: None,
            when_full: WhenFull::Wait,
            profile: None,
            time: None,
            fuel_covers: FuelCovers::LoadingAndCall,
        };
        let name = self.entry.name.as_str();
        let report = match image {
            Image::Own => {
                let key = key(self.entry.id, &inward(permit.grants()));
                let code = self.toolbox.kept(&key).map_or(Code::Script(self.tool.script()), Code::Evaluated);
                self.toolbox.enter(key, name, code, &permit, &run)?
            }
            Image::Interpreter => self.toolbox.enter_interpreter(name, self.tool.script(), &permit, &run)?,
        };
        self.keep(check, permit.args(), &report);
        Ok(report)
    }

    fn keep(&self, check: Trying, args: &Args, report: &Report) {
        let mut receipts = self.receipts.borrow_mut();
        if receipts.len() >= RECEIPTS_LIMIT {
            return;
        }
        let (outcome, result) = match &report.outcome {
            Outcome::Returned(value) => ("returned", value.as_ref().map(|value| Kept::of(value.as_str()))),
            Outcome::Threw(thrown) => ("threw", Some(Kept::of(&format!("{}: {}", thrown.name, thrown.message)))),
            Outcome::Stopped(stop) => ("stopped", Some(Kept::of(stop.code()))),
        };
        let (outcome, parameters) = (outcome.to_owned(), Kept::of(args.params().as_str()));
        receipts.push(Receipt { check, parameters, outcome, result, fuel: report.usage.fuel });
    }

    /// The budget of a call, as the policy has it.
    pub(crate) fn budget(&self) -> Budget {
        *self.permit.budget()
    }

    /// What is wrong with a run that took parameters which the tool declares that it takes, in a word and in a sentence.
    /// That the tool refuses them with an error of its own is its right.
    pub(crate) fn fault(&self, report: &Report) -> Option<Wrong> {
        match &report.outcome {
            Outcome::Threw(thrown) if is_deliberate(thrown, self.tool.spec().source()) => None,
            Outcome::Threw(thrown) => Some(Wrong::threw(thrown)),
            Outcome::Stopped(Stop::Cancelled) => None,
            Outcome::Stopped(stop) => Some(Wrong::new(stop.code(), format!("it is stopped: {stop}"))),
            Outcome::Returned(_) => {
                let lost = report.warnings.iter().find(|warning| warning.place == Place::Result)?;
                let place = if lost.path.is_empty() { "the result".to_owned() } else { format!("`{}`", lost.path) };
                Some(Wrong::new("result-not-json", format!("{place}: {}", lost.message)))
            }
        }
    }
}

/// What a run returned; null for `undefined`.
pub(crate) fn returned(report: &Report) -> Option<Value> {
    match &report.outcome {
        Outcome::Returned(Some(value)) => serde_json::from_str(value.as_str()).ok(),
        Outcome::Returned(None) => Some(Value::Null),
        _ => None,
    }
}

/// Whether an error is one that the author of the tool throws: it has another name than the engine's own, or says what
/// stands in the source.
pub(crate) fn is_deliberate(thrown: &Thrown, source: &str) -> bool {
    if !ENGINE.contains(&thrown.name.as_str()) {
        return true;
    }
    let said: String = thrown.message.chars().take(SAID).collect();
    said.chars().count() == SAID && source.contains(&said)
}
