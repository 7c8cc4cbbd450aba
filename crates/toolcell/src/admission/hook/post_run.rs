//! The outcome of a run, as post-run hooks see it.
//!
//! Invariant: hooks see every kind of outcome, including refused calls.

use std::time::Duration;

use toolcell_error::ErrorCode;
use toolcell_host::Json;

/// The kind of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndKind {
    /// The tool returned.
    Returned,
    /// The tool threw, or a hook turned the outcome into a failure.
    Threw,
    /// A limit or a cancellation stopped the tool.
    Stopped,
    /// The tool did not run, or its result was withheld.
    Refused,
}

impl EndKind {
    /// Returns the name of the kind: `returned`, `threw`, `stopped`, `refused`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Returned => "returned",
            Self::Threw => "threw",
            Self::Stopped => "stopped",
            Self::Refused => "refused",
        }
    }
}

/// The outcome of a run, as post-run hooks see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostRunEvent {
    /// The kind of the outcome.
    pub kind: EndKind,
    /// The error code of a failure.
    pub code: Option<String>,
    /// The value that the tool returned. `None` for `undefined` and for a failure.
    pub result: Option<Json>,
    /// The message of the failure.
    pub error: Option<String>,
    /// The duration of the run.
    pub duration: Duration,
}

impl PostRunEvent {
    /// Creates the outcome of a run that returned.
    #[must_use]
    pub const fn returned(result: Option<Json>, duration: Duration) -> Self {
        Self { kind: EndKind::Returned, code: None, result, error: None, duration }
    }

    /// Creates the outcome of a run that did not return.
    #[must_use]
    pub fn failed(ending: EndKind, code: impl Into<String>, error: impl Into<String>, duration: Duration) -> Self {
        Self { kind: ending, code: Some(code.into()), result: None, error: Some(error.into()), duration }
    }

    /// Returns the outcome in the terms of other agent hosts' hooks: `success`, `failure`,
    /// `timeout`, `denied` (a rule or a hook refuses), `rejected` (any other call that did not
    /// run).
    #[must_use]
    pub fn result_type(&self) -> &'static str {
        match (self.kind, self.code.as_deref().and_then(ErrorCode::parse)) {
            (EndKind::Returned, _) => "success",
            (EndKind::Stopped, Some(ErrorCode::Timeout)) => "timeout",
            (EndKind::Threw | EndKind::Stopped, _) => "failure",
            (EndKind::Refused, Some(ErrorCode::PermissionDenied | ErrorCode::ResultWithheld)) => "denied",
            (EndKind::Refused, _) => "rejected",
        }
    }

    /// Returns the text that the model would read: the result, or the message of the failure.
    #[must_use]
    pub fn text(&self) -> String {
        let failure = || self.error.clone().unwrap_or_default();
        self.result.as_ref().map_or_else(failure, Json::to_text)
    }
}
