//! The errors of operations and runs, as the packages turn them into exceptions.

use serde::Serialize;
use serde_json::Value;
use toolcell::{
    CancelToken, Effects, ErrorCode, ExecError, Lang, Localize, RunError, Stop, Thrown, ToolFailure,
    escape_control_chars,
};
use toolcell_i18n::Message;

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The tool threw.
    Failed,
    /// A limit or a cancellation stopped the tool.
    Stopped,
    /// Nothing ran: the request, the analysis, the policy, a hook or a person is against it.
    Refused,
}

/// An error, as JSON for the host's language.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// What failed.
    pub kind: FailureKind,
    /// The stable code.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
    /// What to do next; empty if there is nothing to say.
    pub hint: String,
    /// The extent to which the run changed external state.
    pub effects: Effects,
    /// What the tool threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thrown: Option<Box<ThrownResponse>>,
    /// What denied the call: `policy`, `hook NAME`, `approval` or `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Whether a later approval would admit the same call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub awaits_approval: bool,
}

/// What a tool threw, with the lines of its source.
#[derive(Debug, Clone, Serialize)]
pub struct ThrownResponse {
    /// The name of the error, such as `RangeError`.
    name: String,
    /// The message alone, as the tool wrote it.
    message: String,
    /// The line, from 1.
    line: Option<u32>,
    /// The column, from 1.
    column: Option<u32>,
    /// The stack.
    stack: String,
}

impl Failure {
    /// Creates the error of something that was not done.
    pub(crate) fn refused(code: ErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self {
            kind: FailureKind::Refused,
            code,
            message,
            hint,
            effects: Effects::None,
            thrown: None,
            decided_by: None,
            awaits_approval: false,
        }
    }

    /// Creates the error of a request that is malformed.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::refused(ErrorCode::RequestInvalid, message, "")
    }

    /// Creates the error of a run that a function of a run of a function … has started.
    pub(crate) fn too_deep(limit: u32) -> Self {
        let message = format!("functions that run tools are nested too deeply, the limit is {limit}");
        Self::refused(ErrorCode::ToolsTooDeep, message, "run the tool after the run that calls the function")
    }

    /// Creates the error of a toolbox that is closed.
    #[must_use]
    pub fn closed() -> Self {
        Self::refused(ErrorCode::ToolboxClosed, "the toolbox is closed", "open another one")
    }

    /// Creates the error of an operation.
    pub(crate) fn from_error(error: &impl Localize, code: ErrorCode, hint: impl Into<Message>, lang: Lang) -> Self {
        Self::refused(code, error.localize().to_text(lang), hint.into().to_text(lang))
    }

    /// Creates the error of a tool that ran and did not return.
    pub(crate) fn from_tool(failure: &ToolFailure, effects: Effects, lang: Lang) -> Self {
        let (kind, hint, thrown) = match failure {
            ToolFailure::Threw(thrown) => (FailureKind::Failed, "", Some(Box::new(ThrownResponse::from(thrown)))),
            ToolFailure::Stopped(stop) => (FailureKind::Stopped, stop_hint(stop), None),
        };
        // A traceback prints the message: the tool must not control the terminal with it.
        let message = failure.localize().to_text(lang);
        let lines: Vec<_> = message.split('\n').map(escape_control_chars).collect();
        let refused = Self::refused(failure.code(), lines.join("\n"), hint);
        Self { kind, effects, thrown, ..refused }
    }

    /// Creates the error of a stored tool that did not run.
    pub(crate) fn from_run(error: &RunError, lang: Lang) -> Self {
        let denial = match error {
            RunError::Denied(denial) | RunError::Withheld { denial, .. } => Some(denial),
            _ => None,
        };
        Self {
            effects: error.effects(),
            decided_by: denial.map(|denial| denial.denied_by.clone()),
            awaits_approval: denial.is_some_and(|denial| denial.awaits().is_some()),
            ..Self::from_error(error, error.code(), error.hint(), lang)
        }
    }

    /// Creates the error of code that did not run.
    pub(crate) fn from_code(error: &ExecError, lang: Lang) -> Self {
        let decided_by = match error {
            ExecError::Denied(denial) | ExecError::Withheld(denial) => Some(denial.denied_by.clone()),
            _ => None,
        };
        let failure = Self { decided_by, ..Self::from_error(error, error.code(), error.hint(), lang) };
        let place = error.position().map(|(line, column)| format!("{line}:{column}"));
        match place.filter(|place| !failure.message.contains(place)) {
            Some(place) => Self { message: format!("{place}: {}", failure.message), ..failure },
            None => failure,
        }
    }

    /// Creates the error of a run whose result does not match what the tool declares.
    pub(crate) fn mismatch(problem: &Message, effects: Effects, lang: Lang) -> Self {
        let refused = Self::refused(ErrorCode::ToolFailed, problem.to_text(lang), "");
        let message = refused.message.clone();
        let (name, stack) = ("TypeError".to_owned(), String::new());
        let thrown = Box::new(ThrownResponse { name, message, line: None, column: None, stack });
        Self { kind: FailureKind::Failed, effects, thrown: Some(thrown), ..refused }
    }

    /// Returns this error, or that of a run that its caller has given up while a hook or a person
    /// decided.
    pub(crate) fn unless_cancelled(self, cancel: &CancelToken) -> Self {
        if !cancel.is_cancelled() || matches!(self.code, ErrorCode::ResultWithheld) {
            return self;
        }
        Self { effects: self.effects, ..Self::cancelled() }
    }

    /// Creates the error of what its caller has given up.
    pub(crate) fn cancelled() -> Self {
        let cancelled = Self::refused(ErrorCode::Cancelled, "it was cancelled before it ended", "");
        Self { kind: FailureKind::Stopped, ..cancelled }
    }

    /// Serializes the error.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_value(self).unwrap_or(Value::Null).to_string()
    }
}

impl From<&Thrown> for ThrownResponse {
    fn from(thrown: &Thrown) -> Self {
        Self {
            name: thrown.name.clone(),
            message: thrown.message.clone(),
            line: thrown.line,
            column: thrown.column,
            stack: thrown.stack.clone(),
        }
    }
}

/// Returns how the caller raises the limit that stopped a run.
fn stop_hint(stop: &Stop) -> &'static str {
    match stop {
        Stop::OutOfFuel { .. }
        | Stop::Deadline { .. }
        | Stop::OutOfMemory { .. }
        | Stop::OutputTooLarge { .. }
        | Stop::ConsoleTooLarge { .. } => {
            "raise the limit in `limits` of the call; the policy's `[ceilings]` are the most that a call gets"
        }
        Stop::Stalled => "the tool awaits a promise that nothing settles: settle it in the tool",
        Stop::WorkerDied { .. } => "retry: a new worker process started",
        _ => "",
    }
}
