//! Failures of hooks and their messages.
//!
//! Invariant: the message names the hook and the cause in one line, and contains no character that
//! a terminal interprets.

use std::time::Duration;

use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, msgid};

/// The maximum length of an excerpt of foreign text, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

/// A hook failed to give a valid answer. Before a run this denies the call, after a run it
/// withholds the result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("the hook `{hook}` {cause}{}", .stderr.as_ref().map_or_else(String::new, |line| format!(": {line}")))]
#[non_exhaustive]
pub struct HookFailure {
    /// The name of the hook.
    pub hook: String,
    /// What happened instead of an answer.
    pub cause: FailureCause,
    /// The first non-empty line that a command wrote to standard error, truncated to 200
    /// characters.
    pub stderr: Option<String>,
}

/// The cause of a hook's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum FailureCause {
    /// The hook exceeded its timeout.
    #[error("did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The hook panicked.
    #[error("panicked: {0}")]
    Panicked(Message),
    /// The hook returned an error.
    #[error("failed: {0}")]
    Failed(Message),
    /// The command exited successfully and printed nothing.
    #[error("gave no answer; to raise no objection, answer `{{}}`")]
    Silent,
    /// The answer does not match the format.
    #[error("gave an invalid answer: {0}")]
    InvalidAnswer(Message),
    /// The command printed too much.
    #[error("printed more than {limit} bytes")]
    TooMuchOutput {
        /// The limit in bytes.
        limit: usize,
    },
    /// The command exited with a status other than 0.
    #[error("exited with status {0}")]
    ExitStatus(i32),
    /// A signal killed the command.
    #[error("was killed by signal {0}")]
    Signal(i32),
    /// The hook could not be started.
    #[error("cannot be started: {0}")]
    NotStarted(Message),
    /// The command is not the one that was trusted.
    #[error("does not run: {0}")]
    Untrusted(Message),
    /// The tool is not one that decides.
    #[error("does not run: {0}")]
    Unapproved(Message),
    /// Too many earlier runs of the hook still hang.
    #[error("is not called: {hanging} of its earlier runs still hang, the limit is {limit}")]
    Exhausted {
        /// The number of hung runs.
        hanging: usize,
        /// The maximum number of hung runs.
        limit: usize,
    },
}

impl HookFailure {
    pub(super) fn new(hook: &str, fault: HookFault) -> Self {
        Self { hook: hook.to_owned(), cause: fault.cause, stderr: fault.stderr }
    }

    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self.cause {
            FailureCause::Timeout(_) => ErrorCode::GateTimeout,
            FailureCause::Panicked(_)
            | FailureCause::Failed(_)
            | FailureCause::ExitStatus(_)
            | FailureCause::Signal(_) => ErrorCode::GateFailed,
            FailureCause::Silent | FailureCause::InvalidAnswer(_) | FailureCause::TooMuchOutput { .. } => {
                ErrorCode::GateAnswerInvalid
            }
            FailureCause::NotStarted(_) => ErrorCode::GateNotStarted,
            FailureCause::Untrusted(_) | FailureCause::Unapproved(_) => ErrorCode::GateUntrusted,
            FailureCause::Exhausted { .. } => ErrorCode::GateExhausted,
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.cause {
            FailureCause::Timeout(_) => msgid!("make the hook faster, or increase its timeout"),
            FailureCause::Panicked(_) | FailureCause::Failed(_) => {
                msgid!("fix the hook; to object to a call, a hook answers deny")
            }
            FailureCause::Silent | FailureCause::InvalidAnswer(_) => {
                msgid!("a hook prints one JSON object with the documented keys to standard output, and nothing else")
            }
            FailureCause::TooMuchOutput { .. } => {
                msgid!("print only the answer to standard output, and everything else to standard error")
            }
            FailureCause::ExitStatus(_) | FailureCause::Signal(_) => {
                msgid!("to object, a command prints its answer and exits with status 0")
            }
            FailureCause::Untrusted(_) => {
                msgid!("review what has changed, then trust the file again: toolcell config trust FILE")
            }
            FailureCause::Unapproved(_) => {
                msgid!("review the tool with `toolcell show`, and approve it with `toolcell approvals grant`")
            }
            FailureCause::NotStarted(_) => msgid!("name an existing, executable program"),
            FailureCause::Exhausted { .. } => msgid!("find out why the hook hangs, then restart the host"),
        }
    }
}

/// A cause without the name of the hook.
#[derive(Debug)]
pub(super) struct HookFault {
    pub(super) cause: FailureCause,
    pub(super) stderr: Option<String>,
}

impl From<FailureCause> for HookFault {
    fn from(cause: FailureCause) -> Self {
        Self { cause, stderr: None }
    }
}

/// Returns an excerpt of a foreign text as a message.
pub(super) fn excerpt_message(text: &str) -> Message {
    Message::verbatim(escaped_excerpt(text))
}

/// Returns the start of a foreign text as a single line, with escapes for characters that a
/// terminal interprets.
pub(super) fn escaped_excerpt(text: &str) -> String {
    let mut shown = String::new();
    for (count, char) in text.trim().chars().enumerate() {
        match char {
            _ if count == MAX_EXCERPT_CHARS => {
                shown.push('…');
                break;
            }
            char if is_control_or_bidi(char) => shown.extend(char.escape_default()),
            char => shown.push(char),
        }
    }
    shown
}

/// Whether a character is a control character, a line or paragraph separator, or a bidirectional
/// control.
fn is_control_or_bidi(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
