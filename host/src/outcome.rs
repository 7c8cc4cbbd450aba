//! The result of a call: its outcome, its logs, and the resources it used.
//!
//! Invariant: everything that a tool can do ends in one of these values.

use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, Serialize};
use toolcell_i18n::{Localize, Message, message};
use toolcell_json::Json;
use toolcell_protocol::Level;

/// The way a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The tool returned: JSON text, or `None` for `undefined`.
    Returned(Option<Json>),
    /// The tool threw, or its promise was rejected.
    Threw(Thrown),
    /// The sandbox stopped the tool.
    Stopped(Stop),
}

/// An exception that a tool threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// The error's name, such as `TypeError`.
    pub name: String,
    /// The error's message, truncated to 16 KiB.
    pub message: String,
    /// Line in the author's text, counted from 1.
    pub line: Option<u32>,
    /// Column in the author's text in UTF-16 units, counted from 1.
    pub column: Option<u32>,
    /// The stack trace, one frame per line, without frames of the guest's own code.
    pub stack: String,
}

/// The reason why the sandbox stopped a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum Stop {
    /// The call burned all its fuel.
    #[code(OutOfFuel)]
    OutOfFuel {
        /// The limit in units of fuel.
        limit: u64,
    },
    /// The call reached its deadline.
    #[code(Timeout)]
    Deadline {
        /// The limit in wall-clock time.
        limit: Duration,
    },
    /// The tool requested more memory than its limit, even if it handled the failed allocation.
    #[code(OutOfMemory)]
    OutOfMemory {
        /// The limit in bytes.
        limit: usize,
    },
    /// The tool exhausted the native stack inside the engine. (Deep recursion in JavaScript throws
    /// a `RangeError` instead.)
    #[code(StackOverflow)]
    StackOverflow,
    /// The result exceeds the output limit.
    #[code(OutputTooLarge)]
    OutputTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The console output exceeds its limit.
    #[code(ConsoleTooLarge)]
    ConsoleTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The tool had too many host calls pending at once.
    #[code(TooManyOperations)]
    TooManyOperations {
        /// The limit in pending host calls.
        limit: u32,
    },
    /// The tool's promise can no longer settle: no job is queued and no host call is pending.
    #[code(Stalled)]
    Stalled,
    /// The host cancelled the call.
    #[code(Cancelled)]
    Cancelled,
    /// The engine inside the cell failed, which is a bug of Toolcell. The cell is discarded; the
    /// process is not affected.
    #[code(Crashed)]
    Crashed {
        /// The engine's panic message, or the trap.
        detail: String,
    },
    /// The worker process that ran the call ended. What the tool used and logged until then is
    /// lost; the effects of its host calls are known. The next call runs in a new process.
    #[code(WorkerDied)]
    WorkerDied {
        /// The exit status or the signal, in words.
        #[serde(deserialize_with = "deserialize_verbatim")]
        detail: Message,
    },
}

fn deserialize_verbatim<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
    String::deserialize(deserializer).map(Message::verbatim)
}

impl Localize for Stop {
    fn localize(&self) -> Message {
        match self {
            Self::OutOfFuel { limit } => message!("the tool burned all of its {limit} units of fuel", limit),
            Self::Deadline { limit } => message!("the tool ran longer than {limit} ms", limit = limit.as_millis()),
            Self::OutOfMemory { limit } => message!("the tool needs more than {limit} bytes of memory", limit),
            Self::StackOverflow => message!("the tool overflowed the stack in native code"),
            Self::OutputTooLarge { limit } => message!("the result is longer than {limit} bytes", limit),
            Self::ConsoleTooLarge { limit } => {
                message!("the tool wrote more than {limit} bytes to the console", limit)
            }
            Self::TooManyOperations { limit } => {
                message!("the tool had more than {limit} operations pending at once", limit)
            }
            Self::Stalled => message!("the tool waits for a promise that nothing can settle"),
            Self::Cancelled => message!("the call was cancelled"),
            Self::Crashed { detail } => message!("the engine inside the cell failed: {detail}", detail),
            Self::WorkerDied { detail } => message!("the process that ran the tool ended: {detail}", detail),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.localize(), f)
    }
}

/// The full report of a call that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The way the call ended.
    pub outcome: Outcome,
    /// Console lines in order. They are present even if the tool was stopped.
    pub logs: Vec<LogLine>,
    /// Values that were converted inexactly in the parameters or in the result.
    pub warnings: Vec<Warning>,
    /// Values that the wall clock returned to the tool, in order. Empty if the call ran on the
    /// virtual clock.
    pub readings: Vec<ClockReading>,
    /// The resources that the call used.
    pub usage: Usage,
}

impl Report {
    /// Returns the report of a call that was stopped before it began, about which nothing else is
    /// known.
    #[must_use]
    pub fn not_started(stop: Stop, started: Instant) -> Self {
        let usage = Usage { duration: started.elapsed(), ..Usage::default() };
        let outcome = Outcome::Stopped(stop);
        Self { outcome, logs: Vec::new(), warnings: Vec::new(), readings: Vec::new(), usage }
    }
}

/// A value of the wall clock, and how often the tool read it in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// The time since 1970, in whole milliseconds.
    pub at: Duration,
    /// The number of consecutive reads that returned this value.
    pub times: u64,
}

/// One call of a console function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The console function, such as `console.warn`.
    pub level: Level,
    /// The raw text, which may contain control characters: escape it before display.
    pub text: String,
}

impl LogLine {
    /// The maximum ratio between the console's size as JSON and its limit.
    pub(crate) const MAX_JSON_EXPANSION: usize = 4;
    /// Bytes of a line as JSON besides its text: `{"level":"debug","text":""},`.
    const JSON_OVERHEAD: usize = 28;

    pub(crate) fn json_bytes(&self) -> usize {
        Self::JSON_OVERHEAD + json_bytes(&self.text)
    }
}

/// A value that could not be converted exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Whether the value was in the parameters or in the result.
    pub place: ValueSide,
    /// The location in the parameters or the result: a JSON Pointer (RFC 6901), `""` for the whole
    /// value. A long path is truncated and ends with `…`.
    pub path: String,
    /// The original value, and the value it became.
    pub message: String,
}

impl Warning {
    /// The maximum length of a path or a message, in characters. A longer one is truncated and ends
    /// with `…`.
    const MAX_PATH_CHARS: usize = 500;
    /// Bytes of a warning as JSON besides its texts.
    const JSON_OVERHEAD: usize = 48;

    pub(crate) fn new(place: ValueSide, path: String, message: String) -> Self {
        Self { place, path: truncate(path, Self::MAX_PATH_CHARS), message: truncate(message, Self::MAX_PATH_CHARS) }
    }

    /// Drops the warnings that do not fit into `room` bytes. If any are dropped, the last warning
    /// says how many.
    pub(crate) fn fit_to(warnings: Vec<Self>, room: usize) -> Vec<Self> {
        let mut left = room;
        let count = warnings.len();
        let fits = |warning: &Self| {
            let bytes = Self::JSON_OVERHEAD + json_bytes(&warning.path) + json_bytes(&warning.message);
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let mut kept: Vec<Self> = warnings.into_iter().take_while(fits).collect();
        if kept.len() < count {
            // The summary replaces the last warning, so that it fits.
            kept.pop();
            let message = format!("at least {} more values were converted", count - kept.len());
            kept.push(Self { place: ValueSide::Result, path: String::new(), message });
        }
        kept
    }
}

fn truncate(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the length in bytes of a text as a JSON string, without its quotes.
pub(crate) fn json_bytes(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    });
    escaped.sum()
}

/// The side of a call that a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueSide {
    /// The parameters of the call.
    Params,
    /// The result of the call.
    Result,
}

/// The resources that a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Fuel of the call. Figures are comparable only for the same guest digest and engine version.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// Peak linear memory in bytes; linear memory never shrinks.
    pub memory: usize,
    /// Wall-clock time from the start of the call to its outcome.
    pub duration: Duration,
    /// The part of [`Self::duration`] that was spent waiting for host calls.
    pub waited: Duration,
    /// Bytes of the result's JSON text.
    pub output: usize,
    /// Bytes of console text.
    pub console: usize,
}

#[cfg(test)]
mod tests {
    use toolcell_i18n::Lang;

    use super::*;

    #[test]
    fn how_a_call_ended_is_told_in_the_language_of_the_reader() {
        let stop = Stop::Deadline { limit: Duration::from_millis(50) };
        assert_eq!(stop.to_string(), "the tool ran longer than 50 ms");
        assert_eq!(stop.localize().to_text(Lang::Ja), "ツールの実行時間が 50 ms を超えました");
        assert_eq!(stop.localize().to_text(Lang::Zh), "工具的运行时间超过 50 ms");
        let detail = message!("it exited with status {status}", status = 3);
        let ended = Stop::WorkerDied { detail }.localize().to_text(Lang::Ja);
        assert_eq!(ended, "ツールを実行していたプロセスが終了しました: ステータス 3 で終了しました");
    }

    #[test]
    fn warnings_take_no_more_than_there_is_room_for() {
        let long = Warning::new(ValueSide::Result, "/x".repeat(25_000), "NaN became null".to_owned());
        assert_eq!(long.path.chars().count(), Warning::MAX_PATH_CHARS + 1);
        let kept = Warning::fit_to(vec![long.clone(); 99], 2_000);
        assert_eq!(kept.len(), 3);
        assert_eq!(kept[2].message, "at least 97 more values were converted");
        assert_eq!(Warning::fit_to(vec![long.clone()], 2_000), [long]);
        assert_eq!(Warning::fit_to(Vec::new(), 0), []);
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
