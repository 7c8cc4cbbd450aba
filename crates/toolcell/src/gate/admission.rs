//! What all gates together said.
//!
//! Invariant: deny beats ask beats allow, whatever the order, and what nobody decided stays undecided. A decision is only
//! ever replaced by a stricter one, until a person settles it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::call::{Answer, GateCall, Person, Question, Waiting};
use super::end::{Ending, GateEnd};
use super::failure::{Cause, GateFailure};
use super::verdict::{Change, Decision, Revision, Verdict};

/// The code of a run whose result nobody gets to see, because a gate after it failed.
pub const RESULT_WITHHELD: &str = "result-withheld";

/// A text that a gate adds for the model. It is to be shown once, as what the gate of that name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The gate.
    pub gate: String,
    /// The text.
    pub text: String,
}

/// What one gate did before a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The gate.
    pub gate: String,
    /// What it decided; deny, where it failed.
    pub decision: Decision,
    /// How it failed.
    pub failure: Option<GateFailure>,
    /// Whether it changed the arguments.
    pub args: Touched,
    /// How long it took, with the time that a person took to answer it.
    pub took: Duration,
}

/// Whether something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Touched {
    /// It is as it was.
    #[default]
    Kept,
    /// It is another.
    Changed,
}

/// What the gates before a run said, all in all.
#[derive(Debug, Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct Admission {
    /// Their decision. An ask is to be [settled](Self::settle).
    pub decision: Decision,
    /// The gate that made it, or the first of those that made the same.
    pub decided_by: Option<String>,
    /// The arguments, where a gate changed them. They are still to be validated.
    pub args: Option<Arc<Value>>,
    /// What the model should read.
    pub context: Vec<Context>,
    /// Whether the output is kept from the model. The record has it all the same.
    pub suppress_output: bool,
    /// What a denial waits for, where it waits for something.
    pub waits: Option<Waiting>,
    /// What each gate did, in order.
    pub steps: Vec<Step>,
}

impl Admission {
    /// Takes in what a gate said, and gives the call the arguments that the next one sees.
    pub(super) fn take(&mut self, gate: &str, said: Result<Verdict, GateFailure>, took: Duration, call: &mut GateCall) {
        let (verdict, failure) = match said.and_then(|verdict| sound(gate, verdict)) {
            Ok(verdict) => (verdict, None),
            Err(failure) => (Verdict::deny(failure.to_string()), Some(failure)),
        };
        let args = if verdict.modified_args.is_some() { Touched::Changed } else { Touched::Kept };
        if let Some(args) = verdict.modified_args {
            call.args = Arc::new(args);
            self.args = Some(Arc::clone(&call.args));
        }
        self.context.extend(verdict.additional_context.map(|text| Context { gate: gate.to_owned(), text }));
        self.suppress_output |= verdict.suppress_output;
        self.steps.push(Step { gate: gate.to_owned(), decision: verdict.decision.clone(), failure, args, took });
        self.combine(gate, verdict.decision);
    }

    /// Takes in that the person who was asked by the last gate answers later. Where the gate did not wait for it, nothing
    /// does.
    pub(super) fn take_put_off(&mut self) {
        let has_failed = self.steps.last().is_some_and(|step| step.failure.is_some());
        if matches!(self.decision, Decision::Deny { .. }) && !has_failed {
            self.waits = Some(Waiting::Question);
        }
    }

    fn combine(&mut self, gate: &str, decision: Decision) {
        match (&mut self.decision, decision) {
            // A person should know every reason.
            (Decision::Ask { reason }, Decision::Ask { reason: other }) => {
                reason.push_str("; ");
                reason.push_str(&other);
            }
            (current, decision) if decision.strictness() > current.strictness() => {
                *current = decision;
                self.decided_by = Some(gate.to_owned());
            }
            _ => {}
        }
    }

    /// Puts an ask to the person: yes allows, no denies, and so does nobody being there. An answer that comes later denies
    /// as well, and says that it [waits](Self::waits). Any other decision stays.
    ///
    /// The call is the one that was admitted; the question shows it with the arguments as the gates changed them. Validate
    /// those before, so that nobody is asked about what cannot run.
    pub fn settle(mut self, call: &GateCall, person: Option<&dyn Person>) -> Self {
        let Decision::Ask { reason } = self.decision else { return self };
        let gate = self.decided_by.clone().unwrap_or_default();
        let answer = person.map(|person| {
            let mut call = call.clone();
            if let Some(args) = &self.args {
                call.args = Arc::clone(args);
            }
            person.ask(&Question { gate: gate.clone(), text: reason.clone(), call, approving: None })
        });
        self.decision = match answer {
            Some(Answer::Yes) => Decision::Allow,
            Some(Answer::No { feedback: None }) => Decision::Deny { reason: format!("a person said no: {reason}") },
            Some(Answer::No { feedback: Some(feedback) }) => {
                Decision::Deny { reason: format!("a person said no: {reason}; {feedback}") }
            }
            Some(Answer::NotShown { reason: why }) => {
                let next = "shorten the arguments, or run the tool with `toolcell run` on a terminal";
                Decision::Deny { reason: format!("the gate `{gate}` asks, and nobody was asked: {why}: {next}") }
            }
            Some(Answer::Later) => {
                self.waits = Some(Waiting::Question);
                Decision::Deny { reason: format!("somebody is being asked: {reason}") }
            }
            None => {
                Decision::Deny { reason: format!("the gate `{gate}` asks, and nobody is there to answer: {reason}") }
            }
        };
        self
    }
}

/// A verdict whose arguments can be arguments.
fn sound(gate: &str, verdict: Verdict) -> Result<Verdict, GateFailure> {
    match &verdict.modified_args {
        None | Some(Value::Object(_)) => Ok(verdict),
        Some(other) => {
            let kind = match other {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::String(_) => "a string",
                Value::Array(_) | Value::Object(_) => "an array",
            };
            let cause = Cause::Nonsense(format!("the arguments became {kind}, they must be an object"));
            Err(GateFailure::new(gate, cause.into()))
        }
    }
}

/// What one gate did after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewStep {
    /// The gate.
    pub gate: String,
    /// How it failed.
    pub failure: Option<GateFailure>,
    /// Whether it changed the end. What it would have changed after another gate failed is not.
    pub end: Touched,
    /// How long it took.
    pub took: Duration,
}

/// What the gates after a run made of its end.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct Reviewed {
    /// The end that the caller gets to see.
    pub end: GateEnd,
    /// The gate that made it what it is; none where it is as it was.
    pub decided_by: Option<String>,
    /// What the model should read.
    pub context: Vec<Context>,
    /// Whether the output is kept from the model. The record has it all the same.
    pub suppress_output: bool,
    /// What each gate did, in order.
    pub steps: Vec<ReviewStep>,
}

impl Reviewed {
    pub(super) const fn unseen(end: GateEnd) -> Self {
        Self { end, decided_by: None, context: Vec::new(), suppress_output: false, steps: Vec::new() }
    }

    /// Takes in what a gate said. After one that failed the end is final: the others see it, and do not change it.
    pub(super) fn take(&mut self, gate: &str, said: Result<Revision, GateFailure>, took: Duration) {
        let is_final = self.steps.iter().any(|step| step.failure.is_some());
        let (revision, failure) = match said {
            Ok(revision) => (revision, None),
            Err(failure) => (Revision::keep(), Some(failure)),
        };
        let duration = self.end.duration;
        let end = match (revision.change, &failure) {
            _ if is_final => None,
            (_, Some(failure)) => {
                Some(GateEnd::failed(Ending::Refused, RESULT_WITHHELD, failure.to_string(), duration))
            }
            (Change::Keep, None) => None,
            (Change::Succeed(result), None) => Some(GateEnd::returned(Some(result), duration)),
            (Change::Fail(message), None) => Some(GateEnd::failed(Ending::Threw, "tool-failed", message, duration)),
        };
        let touched = if end.is_some() { Touched::Changed } else { Touched::Kept };
        if let Some(end) = end {
            self.end = end;
            self.decided_by = Some(gate.to_owned());
        }
        self.context.extend(revision.additional_context.map(|text| Context { gate: gate.to_owned(), text }));
        self.suppress_output |= revision.suppress_output;
        self.steps.push(ReviewStep { gate: gate.to_owned(), failure, end: touched, took });
    }
}
