//! How a run ended, for the gates after it.
//!
//! Invariant: every class of end is shown to them, refused ones too.

use std::time::Duration;

use toolcell_host::Json;

/// The class of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The tool returned.
    Returned,
    /// The tool threw, or was turned into a failure.
    Threw,
    /// A limit, or somebody, stopped it.
    Stopped,
    /// It did not run, or its result was withheld.
    Refused,
}

impl Ending {
    /// The word for it: `returned`, `threw`, `stopped`, `refused`.
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

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GateEnd {
    /// The class of the end.
    pub ending: Ending,
    /// The code of the failure.
    pub code: Option<String>,
    /// What the tool returned; none for `undefined`, and for a failure.
    pub result: Option<Json>,
    /// The message of the failure.
    pub error: Option<String>,
    /// How long the run took.
    pub duration: Duration,
}

impl GateEnd {
    /// A run that went well.
    #[must_use]
    pub const fn returned(result: Option<Json>, duration: Duration) -> Self {
        Self { ending: Ending::Returned, code: None, result, error: None, duration }
    }

    /// A run that did not.
    #[must_use]
    pub fn failed(ending: Ending, code: impl Into<String>, error: impl Into<String>, duration: Duration) -> Self {
        Self { ending, code: Some(code.into()), result: None, error: Some(error.into()), duration }
    }

    /// The class in the words of those who wrote hooks before: `success`, `failure`, `timeout`, `denied` (a rule or a
    /// gate says no), `rejected` (anything else that did not run).
    #[must_use]
    pub fn result_type(&self) -> &'static str {
        match (self.ending, self.code.as_deref()) {
            (Ending::Returned, _) => "success",
            (Ending::Stopped, Some("timeout")) => "timeout",
            (Ending::Threw | Ending::Stopped, _) => "failure",
            (Ending::Refused, Some("permission-denied" | super::RESULT_WITHHELD)) => "denied",
            (Ending::Refused, _) => "rejected",
        }
    }

    /// What the model would read: the result as text, or the message of the failure.
    #[must_use]
    pub fn text(&self) -> String {
        let failure = || self.error.clone().unwrap_or_default();
        self.result.as_ref().map_or_else(failure, Json::to_text)
    }
}
