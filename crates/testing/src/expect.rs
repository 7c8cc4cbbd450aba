//! How a call is to end, and what is wrong with how it did.
//!
//! Invariant: what is wrong is said in the author's terms: values as JSON, errors as the tool threw them.

use serde::Serialize;
use serde_json::Value;
use toolcell::{Outcome, Stop, Thrown};

use crate::diff::{cut, of_texts, of_values, same, short};
use crate::predicate::Predicate;

/// How a call is to end.
#[derive(Debug, Clone)]
pub enum Expectation {
    /// It returns this; nothing stands for `undefined`.
    Returns(Option<Value>),
    /// It returns something of which these hold.
    Satisfies(Vec<Predicate>),
    /// It throws an error with this name, where one is said, and with this in its message.
    Throws {
        /// The error's name.
        name: Option<String>,
        /// What is in its message.
        message: Option<String>,
    },
    /// It is ended, with this code.
    Stops(String),
    /// The analysis does not let it run: the name of a rule, or the code of the refusal.
    Refused(String),
    /// It comes out as it is recorded.
    Replays,
}

/// The codes of what ends a tool. What somebody cancels or what is a fault of ours is expected by no test.
pub(crate) const STOPS: [&str; 8] = [
    "out-of-fuel",
    "timeout",
    "out-of-memory",
    "stack-overflow",
    "output-too-large",
    "console-too-large",
    "too-many-operations",
    "stalled",
];

/// Something that is not as it is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable code: `returns-differ`, `satisfies-not`, `throws-differ`, `outcome-differs`, `logs-differ`, `effects-differ`,
    /// `answer-missing`, `answer-unused`, `not-refused`, `replay-differs`, `fuel-over-budget`, `fuel-regressed`,
    /// `load-fuel-over-budget`, `load-fuel-regressed`, `not-run`.
    pub code: &'static str,
    /// What is wrong, in a line.
    pub message: String,
    /// What is expected beside what came, by line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), diff: None }
    }

    fn showing(code: &'static str, message: impl Into<String>, diff: String) -> Self {
        Self { diff: Some(diff), ..Self::new(code, message) }
    }
}

impl Expectation {
    /// What is wrong with how a call ended.
    pub(crate) fn judge(&self, outcome: &Outcome) -> Vec<Failure> {
        match (self, outcome) {
            (Self::Returns(expected), Outcome::Returned(_)) => returned(expected.as_ref(), value(outcome).as_ref()),
            (Self::Satisfies(predicates), Outcome::Returned(_)) => {
                let value = value(outcome).unwrap_or(Value::Null);
                let misses = predicates.iter().flat_map(|predicate| predicate.misses(&value));
                misses.map(|miss| Failure::new("satisfies-not", miss)).collect()
            }
            (Self::Throws { name, message }, Outcome::Threw(thrown)) => threw(name.as_ref(), message.as_ref(), thrown),
            (Self::Stops(code), Outcome::Stopped(stop)) if stop.code() == code => Vec::new(),
            (Self::Refused(_), _) => {
                vec![Failure::new("not-refused", format!("{}; it was to be refused by the analysis", told(outcome)))]
            }
            (Self::Replays, _) => Vec::new(),
            _ => vec![Failure::new("outcome-differs", format!("{}; {}", told(outcome), self.wanted()))],
        }
    }

    /// What was to happen.
    fn wanted(&self) -> String {
        match self {
            Self::Returns(None) => "it was to return nothing".to_owned(),
            Self::Returns(Some(value)) => format!("it was to return {}", short(value)),
            Self::Satisfies(_) => "it was to return".to_owned(),
            Self::Throws { name, .. } => format!("it was to throw {}", name.as_deref().unwrap_or("an error")),
            Self::Stops(code) => format!("it was to be ended with `{code}`"),
            Self::Refused(_) => "it was to be refused by the analysis".to_owned(),
            Self::Replays => "it was to come out as recorded".to_owned(),
        }
    }
}

/// What a tool returned, as a value.
pub(crate) fn value(outcome: &Outcome) -> Option<Value> {
    let Outcome::Returned(Some(json)) = outcome else { return None };
    // A number that no double holds is written as text: JSON sets it no bound, and JavaScript does.
    Some(serde_json::from_str(json.as_str()).unwrap_or_else(|_| Value::String(json.as_str().to_owned())))
}

fn returned(expected: Option<&Value>, actual: Option<&Value>) -> Vec<Failure> {
    match (expected, actual) {
        (None, None) => Vec::new(),
        (Some(expected), Some(actual)) if same(expected, actual) => Vec::new(),
        (Some(expected), Some(actual)) => {
            let message = format!("it returns {}, expected {}", short(actual), short(expected));
            vec![Failure::showing("returns-differ", message, of_values(expected, actual))]
        }
        (expected, actual) => {
            let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), short);
            let message = format!("it returns {}, expected {}", shown(actual), shown(expected));
            vec![Failure::new("returns-differ", message)]
        }
    }
}

fn threw(name: Option<&String>, message: Option<&String>, thrown: &Thrown) -> Vec<Failure> {
    let mut failures = Vec::new();
    if let Some(name) = name.filter(|name| **name != thrown.name) {
        let message = format!("it throws {}, expected an error of the name {name}", told_error(thrown));
        failures.push(Failure::new("throws-differ", message));
    }
    if let Some(part) = message.filter(|part| !thrown.message.contains(part.as_str())) {
        let message = format!("it throws {}, expected a message with `{}`", told_error(thrown), cut(part));
        failures.push(Failure::showing("throws-differ", message, of_texts(part, &thrown.message)));
    }
    failures
}

/// What is wrong with what a tool wrote, or with what it asked for.
pub(crate) fn lines(code: &'static str, what: &str, expected: &[String], actual: &[String]) -> Option<Failure> {
    (expected != actual).then(|| {
        let message = format!("{what} not what is expected: {} lines, expected {}", actual.len(), expected.len());
        Failure::showing(code, message, of_texts(&expected.join("\n"), &actual.join("\n")))
    })
}

/// How a call ended, in a line.
pub(crate) fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Returned(None) => "it returns nothing".to_owned(),
        Outcome::Returned(Some(_)) => format!("it returns {}", value(outcome).as_ref().map(short).unwrap_or_default()),
        Outcome::Threw(thrown) => format!("it throws {}", told_error(thrown)),
        Outcome::Stopped(stop) => format!("it is ended with `{}`: {}", stop.code(), told_stop(stop)),
    }
}

fn told_error(thrown: &Thrown) -> String {
    let place = match (thrown.line, thrown.column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    format!("{}: {}{place}", thrown.name, cut(&thrown.message))
}

fn told_stop(stop: &Stop) -> String {
    cut(&stop.to_string())
}
