//! How a call ended, and what it used.
//!
//! Invariant: everything that a tool can do ends in one of these values.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcell_protocol::Level;

use crate::json::Json;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The tool returned: JSON text, or `None` for `undefined`.
    Returned(Option<Json>),
    /// The tool threw, or its promise was rejected.
    Threw(Thrown),
    /// The tool was ended.
    Stopped(Stop),
}

/// What a tool threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// The error's name, such as `TypeError`.
    pub name: String,
    /// The error's message, cut at 16 KiB.
    pub message: String,
    /// Line in the author's text, counted from 1.
    pub line: Option<u32>,
    /// Column in the author's text in UTF-16 units, counted from 1.
    pub column: Option<u32>,
    /// The stack, a frame a line, without frames of the guest itself.
    pub stack: String,
}

/// Why a tool was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Stop {
    /// It burned all its fuel.
    OutOfFuel {
        /// The limit.
        limit: u64,
    },
    /// Its time was up.
    Deadline {
        /// The limit.
        limit: Duration,
    },
    /// It asked for more memory than it may have, whatever it made of the refusal.
    OutOfMemory {
        /// The limit in bytes.
        limit: usize,
    },
    /// Its machine stack was used up in native code of the engine. (Recursion of JavaScript is a `RangeError`.)
    StackOverflow,
    /// Its result is too long.
    OutputTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It wrote too much to the console.
    ConsoleTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It had too many operations pending at once.
    TooManyOperations {
        /// The limit.
        limit: u32,
    },
    /// Its promise cannot be settled any more: no job is left and no operation is pending.
    Stalled,
    /// The host cancelled it.
    Cancelled,
    /// The engine inside the cell failed. The cell is gone, the process is not affected; it is a fault of ours.
    Crashed {
        /// What the engine's machine said.
        detail: String,
    },
    /// The process that ran it ended. What the tool used and logged until then is not known; what the host did for it is. The
    /// next call has a new process.
    WorkerDied {
        /// How it ended.
        detail: String,
    },
}

impl Stop {
    /// The stable code of this stop.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OutOfFuel { .. } => "out-of-fuel",
            Self::Deadline { .. } => "timeout",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::StackOverflow => "stack-overflow",
            Self::OutputTooLarge { .. } => "output-too-large",
            Self::ConsoleTooLarge { .. } => "console-too-large",
            Self::TooManyOperations { .. } => "too-many-operations",
            Self::Stalled => "stalled",
            Self::Cancelled => "cancelled",
            Self::Crashed { .. } => "crashed",
            Self::WorkerDied { .. } => "worker-died",
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfFuel { limit } => write!(f, "the tool burned all of its {limit} units of fuel"),
            Self::Deadline { limit } => write!(f, "the tool ran longer than {} ms", limit.as_millis()),
            Self::OutOfMemory { limit } => write!(f, "the tool needs more than {limit} bytes of memory"),
            Self::StackOverflow => write!(f, "the tool used up the stack in native code"),
            Self::OutputTooLarge { limit } => write!(f, "the result is longer than {limit} bytes"),
            Self::ConsoleTooLarge { limit } => write!(f, "the tool wrote more than {limit} bytes to the console"),
            Self::TooManyOperations { limit } => write!(f, "the tool had more than {limit} operations pending at once"),
            Self::Stalled => write!(f, "the tool waits for a promise that nothing can settle"),
            Self::Cancelled => write!(f, "the call was cancelled"),
            Self::Crashed { detail } => write!(f, "the engine inside the cell failed: {detail}"),
            Self::WorkerDied { detail } => write!(f, "the process that ran the tool ended: {detail}"),
        }
    }
}

/// Everything about a call that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to the console, in order; kept also where it was stopped.
    pub logs: Vec<LogLine>,
    /// What was not exact on the way in or out.
    pub warnings: Vec<Warning>,
    /// What the real clock said to it, in order; nothing where it ran on the virtual one.
    pub readings: Vec<Reading>,
    /// What it used.
    pub usage: Usage,
}

/// What the real clock said to a tool, until it said something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The time since 1970, in whole milliseconds.
    pub at: Duration,
    /// How often it said so.
    pub times: u64,
}

/// One console call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Which of the console's functions.
    pub level: Level,
    /// The text, control characters and all: whoever prints it must escape it.
    pub text: String,
}

impl LogLine {
    /// How many times as long as its limit the console may be as JSON.
    pub(crate) const JSON_TIMES: usize = 4;
    /// What a line takes in an answer beside its text: `{"level":"debug","text":""},`.
    const FRAME: usize = 28;

    pub(crate) fn json_bytes(&self) -> usize {
        Self::FRAME + json_bytes(&self.text)
    }
}

/// A value that could not be kept exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// On the way in or on the way out.
    pub place: Place,
    /// Where in the parameters or the result: a JSON Pointer (RFC 6901), `""` for all of it. A long one is cut, and ends
    /// with `…`.
    pub path: String,
    /// What was there and what it became.
    pub message: String,
}

impl Warning {
    /// The longest path that is kept, in characters. A longer one is cut, and ends with `…`.
    const PATH_LIMIT: usize = 500;
    /// What a warning takes in an answer beside its texts, in bytes of JSON.
    const FRAME: usize = 48;

    pub(crate) fn new(place: Place, path: String, message: String) -> Self {
        Self { place, path: cut(path, Self::PATH_LIMIT), message: cut(message, Self::PATH_LIMIT) }
    }

    /// The warnings that an answer has room for; the last one counts those that are left out.
    pub(crate) fn fitting(warnings: Vec<Self>, room: usize) -> Vec<Self> {
        let mut left = room;
        let count = warnings.len();
        let fits = |warning: &Self| {
            let bytes = Self::FRAME + json_bytes(&warning.path) + json_bytes(&warning.message);
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let mut kept: Vec<Self> = warnings.into_iter().take_while(fits).collect();
        if kept.len() < count {
            // The note takes the place of the last one.
            kept.pop();
            let message = format!("at least {} more values were converted", count - kept.len());
            kept.push(Self { place: Place::Result, path: String::new(), message });
        }
        kept
    }
}

fn cut(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The length of a text in JSON, without its quotes.
pub(crate) fn json_bytes(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    });
    escaped.sum()
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The parameters of the call.
    Params,
    /// The result of the call.
    Result,
}

/// What a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Fuel of the call. It means something only together with the guest's digest and the engine's version.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// The most bytes of linear memory that it had; memory never shrinks.
    pub memory: usize,
    /// Wall-clock time, from the start of the call to its outcome.
    pub duration: Duration,
    /// How much of that it waited for operations.
    pub waited: Duration,
    /// Bytes of the result's JSON text.
    pub output: usize,
    /// Bytes of console text.
    pub console: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_take_no_more_than_there_is_room_for() {
        let long = Warning::new(Place::Result, "/x".repeat(25_000), "NaN became null".to_owned());
        assert_eq!(long.path.chars().count(), Warning::PATH_LIMIT + 1);
        let kept = Warning::fitting(vec![long.clone(); 99], 2_000);
        assert_eq!(kept.len(), 3);
        assert_eq!(kept[2].message, "at least 97 more values were converted");
        assert_eq!(Warning::fitting(vec![long.clone()], 2_000), [long]);
        assert_eq!(Warning::fitting(Vec::new(), 0), []);
    }

    #[test]
    fn a_text_is_as_long_as_json_writes_it() {
        for (text, json) in [
            ("", ""),
            ("a\"b\\c", r#"a\"b\\c"#),
            ("\n\r\t\u{8}\u{c}", r"\n\r\t\b\f"),
            ("\u{0}\u{1f}\u{7f}", "\\u0000\\u001f\u{7f}"),
            ("日本語", "日本語"),
        ] {
            assert_eq!(json_bytes(text), json.len(), "{text:?}");
        }
    }
}
