//! How a gate fails, and what is said of it.
//!
//! Invariant: a failure names the gate and the cause in one line. Nothing in it makes a terminal do anything.

use std::time::Duration;

/// How much of a foreign text is shown, in characters.
const SHOWN: usize = 200;

/// A gate gave no answer that counts. Before a run that denies it, after a run its result is withheld.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the gate `{gate}` {cause}{}", .stderr.as_ref().map_or_else(String::new, |line| format!(": {line}")))]
#[non_exhaustive]
pub struct GateFailure {
    /// The gate.
    pub gate: String,
    /// What it did instead of answering.
    pub cause: Cause,
    /// The first line that a command wrote to its standard error, cut at 200 characters.
    pub stderr: Option<String>,
}

/// What a gate did instead of answering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// It took too long.
    #[error("did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It panicked.
    #[error("panicked: {0}")]
    Panicked(String),
    /// It says itself that it failed.
    #[error("failed: {0}")]
    Failed(String),
    /// It ended well and printed nothing.
    #[error("answered nothing; the answer without an objection is `{{}}`")]
    Silent,
    /// Its answer is not of the form that was agreed.
    #[error("gave an answer that does not count: {0}")]
    Nonsense(String),
    /// It printed too much.
    #[error("printed more than {limit} bytes")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// It ended with another status than 0.
    #[error("exited with status {0}")]
    Status(i32),
    /// It was killed.
    #[error("was killed by signal {0}")]
    Signal(i32),
    /// It did not start.
    #[error("cannot be started: {0}")]
    NotStarted(String),
    /// It is not what somebody trusted.
    #[error("does not run: {0}")]
    Untrusted(String),
    /// Too many of its earlier runs still hang.
    #[error("is not asked: {hanging} of its runs still hang, the limit is {limit}")]
    Exhausted {
        /// How many there are.
        hanging: usize,
        /// How many there may be.
        limit: usize,
    },
}

impl GateFailure {
    pub(super) fn new(gate: &str, fault: Fault) -> Self {
        Self { gate: gate.to_owned(), cause: fault.cause, stderr: fault.stderr }
    }

    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.cause {
            Cause::Timeout(_) => "gate-timeout",
            Cause::Panicked(_) | Cause::Failed(_) | Cause::Status(_) | Cause::Signal(_) => "gate-failed",
            Cause::Silent | Cause::Nonsense(_) | Cause::TooMuch { .. } => "gate-answer-invalid",
            Cause::NotStarted(_) => "gate-not-started",
            Cause::Untrusted(_) => "gate-untrusted",
            Cause::Exhausted { .. } => "gate-exhausted",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.cause {
            Cause::Timeout(_) => "make the gate faster, or give it more time",
            Cause::Panicked(_) | Cause::Failed(_) => "a gate that has an objection answers deny; this one needs repair",
            Cause::Silent | Cause::Nonsense(_) => {
                "a gate prints one JSON object with the agreed keys on standard output, and nothing else there"
            }
            Cause::TooMuch { .. } => "a gate prints its answer on standard output, and anything else on standard error",
            Cause::Status(_) | Cause::Signal(_) => "a command that has an objection prints its answer and exits with 0",
            Cause::Untrusted(_) => "look at what has changed, and then trust its file anew: toolcell config trust FILE",
            Cause::NotStarted(_) => "name a program that is there and may be executed",
            Cause::Exhausted { .. } => "find out why the gate hangs, and restart the host",
        }
    }
}

/// A cause, before it is known whose.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) stderr: Option<String>,
}

impl From<Cause> for Fault {
    fn from(cause: Cause) -> Self {
        Self { cause, stderr: None }
    }
}

/// So much of a foreign text that a message stays a line, and nothing that a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (count, char) in text.trim().chars().enumerate() {
        match char {
            _ if count == SHOWN => {
                shown.push('…');
                break;
            }
            char if is_obeyed(char) => shown.extend(char.escape_default()),
            char => shown.push(char),
        }
    }
    shown
}

/// Controls, line and paragraph separators, and what turns the direction of writing.
fn is_obeyed(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
