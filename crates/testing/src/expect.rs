//! Expected outcomes of a call, and the failures of those that differ.
//!
//! Invariant: failures use the author's terms: values as JSON, errors as the tool threw them.

use serde::Serialize;
use serde_json::Value;
use toolcell::{Outcome, Stop, Thrown};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message};

use crate::diff::{diff_texts, diff_values, is_equal, summarize, truncate};
use crate::predicate::Predicate;

/// The expected outcome of a call.
#[derive(Debug, Clone)]
pub enum ExpectedOutcome {
    /// The call returns this value; `None` stands for `undefined`.
    Returns(Option<Value>),
    /// The call returns a value that satisfies all of these predicates.
    Satisfies(Vec<Predicate>),
    /// The call throws an error.
    Throws {
        /// The error's name, if it is checked.
        name: Option<String>,
        /// A part of the error's message, if it is checked.
        message: Option<String>,
    },
    /// The call is stopped with this code.
    Stops(String),
    /// The analysis refuses the tool: the name of a rule, or the code of the refusal.
    Refused(String),
    /// The replay of a receipt equals the recorded run.
    Replays,
}

/// The codes of stops that a test may expect. Cancellation and bugs of Toolcell are excluded.
pub(crate) const STOP_CODES: [ErrorCode; 8] = [
    ErrorCode::OutOfFuel,
    ErrorCode::Timeout,
    ErrorCode::OutOfMemory,
    ErrorCode::StackOverflow,
    ErrorCode::OutputTooLarge,
    ErrorCode::ConsoleTooLarge,
    ErrorCode::TooManyOperations,
    ErrorCode::Stalled,
];

/// A failure of a test case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseFailure {
    /// The stable code: `returns-differ`, `satisfies-not`, `throws-differ`, `outcome-differs`,
    /// `logs-differ`, `effects-differ`, `answer-missing`, `answer-unused`, `not-refused`,
    /// `replay-differs`, `fuel-over-budget`, `fuel-regressed`, `load-fuel-over-budget`,
    /// `load-fuel-regressed`, `not-run`.
    pub code: &'static str,
    /// The failure in one line.
    pub message: Message,
    /// The diff between the expected and the actual lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Message>,
}

impl CaseFailure {
    pub(crate) const fn new(code: &'static str, message: Message) -> Self {
        Self { code, message, diff: None }
    }

    fn with_diff(code: &'static str, message: Message, diff: Message) -> Self {
        Self { diff: Some(diff), ..Self::new(code, message) }
    }
}

impl ExpectedOutcome {
    /// Returns the failures of an outcome.
    pub(crate) fn check(&self, outcome: &Outcome) -> Vec<CaseFailure> {
        match (self, outcome) {
            (Self::Returns(expected), Outcome::Returned(_)) => {
                check_returned(expected.as_ref(), returned_value(outcome).as_ref())
            }
            (Self::Satisfies(predicates), Outcome::Returned(_)) => {
                let value = returned_value(outcome).unwrap_or(Value::Null);
                let misses = predicates.iter().flat_map(|predicate| predicate.mismatches(&value));
                misses.map(|miss| CaseFailure::new("satisfies-not", miss)).collect()
            }
            (Self::Throws { name, message }, Outcome::Threw(thrown)) => {
                check_thrown(name.as_ref(), message.as_ref(), thrown)
            }
            (Self::Stops(code), Outcome::Stopped(stop)) if ErrorCode::parse(code) == Some(stop.code()) => Vec::new(),
            (Self::Refused(_), _) => {
                vec![CaseFailure::new("not-refused", self.differs_from(outcome))]
            }
            (Self::Replays, _) => Vec::new(),
            _ => vec![CaseFailure::new("outcome-differs", self.differs_from(outcome))],
        }
    }

    /// Describes an outcome, and the expected one.
    fn differs_from(&self, outcome: &Outcome) -> Message {
        message!("{actual}; {expected}", actual = describe_outcome(outcome), expected = self.describe())
    }

    /// Describes the expected outcome.
    fn describe(&self) -> Message {
        match self {
            Self::Returns(None) => message!("expected it to return nothing"),
            Self::Returns(Some(value)) => message!("expected it to return {value}", value = summarize(value)),
            Self::Satisfies(_) => message!("expected it to return"),
            Self::Throws { name: None, .. } => message!("expected it to throw an error"),
            Self::Throws { name: Some(name), .. } => message!("expected it to throw {name}", name),
            Self::Stops(code) => message!("expected it to stop with `{code}`", code),
            Self::Refused(_) => message!("expected the analysis to refuse it"),
            Self::Replays => message!("expected the recorded result"),
        }
    }
}

/// Returns the value that a tool returned, if it did.
pub(crate) fn returned_value(outcome: &Outcome) -> Option<Value> {
    let Outcome::Returned(Some(json)) = outcome else { return None };
    // A number beyond the range of a double is kept as text: JSON has no limit, but JavaScript has.
    Some(serde_json::from_str(json.as_str()).unwrap_or_else(|_| Value::String(json.as_str().to_owned())))
}

fn check_returned(expected: Option<&Value>, actual: Option<&Value>) -> Vec<CaseFailure> {
    match (expected, actual) {
        (None, None) => Vec::new(),
        (Some(expected), Some(actual)) if is_equal(expected, actual) => Vec::new(),
        (Some(expected), Some(actual)) => {
            let message = message!(
                "it returns {actual}, expected {expected}",
                actual = summarize(actual),
                expected = summarize(expected),
            );
            vec![CaseFailure::with_diff("returns-differ", message, diff_values(expected, actual))]
        }
        (expected, actual) => {
            let shown = |value: Option<&Value>| {
                value.map_or_else(|| message!("nothing"), |value| Message::verbatim(summarize(value)))
            };
            let message = message!(
                "it returns {actual}, expected {expected}",
                actual = shown(actual),
                expected = shown(expected),
            );
            vec![CaseFailure::new("returns-differ", message)]
        }
    }
}

fn check_thrown(name: Option<&String>, message: Option<&String>, thrown: &Thrown) -> Vec<CaseFailure> {
    let mut failures = Vec::new();
    if let Some(name) = name.filter(|name| **name != thrown.name) {
        let error = describe_error(thrown);
        let message = message!("it throws {error}, expected an error named {name}", error, name);
        failures.push(CaseFailure::new("throws-differ", message));
    }
    if let Some(part) = message.filter(|part| !thrown.message.contains(part.as_str())) {
        let (error, text) = (describe_error(thrown), truncate(part));
        let message = message!("it throws {error}, expected a message with `{text}`", error, text);
        failures.push(CaseFailure::with_diff("throws-differ", message, diff_texts(part, &thrown.message)));
    }
    failures
}

/// Compares console lines with the expected ones.
pub(crate) fn check_logs(expected: &[String], actual: &[String]) -> Option<CaseFailure> {
    (expected != actual).then(|| {
        let message = message!(
            "its log lines differ from the expected ones: {actual} lines, expected {expected}",
            actual = actual.len(),
            expected = expected.len(),
        );
        CaseFailure::with_diff("logs-differ", message, diff_texts(&expected.join("\n"), &actual.join("\n")))
    })
}

/// Compares host calls with the expected ones.
pub(crate) fn check_host_calls(expected: &[String], actual: &[String]) -> Option<CaseFailure> {
    (expected != actual).then(|| {
        let message = message!(
            "its host calls differ from the expected ones: {actual} lines, expected {expected}",
            actual = actual.len(),
            expected = expected.len(),
        );
        CaseFailure::with_diff("effects-differ", message, diff_texts(&expected.join("\n"), &actual.join("\n")))
    })
}

/// Describes an outcome in one line.
pub(crate) fn describe_outcome(outcome: &Outcome) -> Message {
    match outcome {
        Outcome::Returned(None) => message!("it returns nothing"),
        Outcome::Returned(Some(_)) => {
            let value = returned_value(outcome).as_ref().map(summarize).unwrap_or_default();
            message!("it returns {value}", value)
        }
        Outcome::Threw(thrown) => message!("it throws {error}", error = describe_error(thrown)),
        Outcome::Stopped(stop) => {
            message!("it stopped with `{code}`: {reason}", code = stop.code(), reason = describe_stop(stop))
        }
    }
}

fn describe_error(thrown: &Thrown) -> Message {
    let error = format!("{}: {}", thrown.name, truncate(&thrown.message));
    match (thrown.line, thrown.column) {
        (Some(line), Some(column)) => message!("{error} (line {line}, column {column})", error, line, column),
        _ => Message::verbatim(error),
    }
}

fn describe_stop(stop: &Stop) -> Message {
    match stop {
        // The text of a failure of the engine may be long.
        Stop::Crashed { .. } | Stop::WorkerDied { .. } => Message::verbatim(truncate(&stop.to_string())),
        stop => message!("{stop}", stop),
    }
}
