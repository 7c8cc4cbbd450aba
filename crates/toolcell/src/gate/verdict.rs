//! What a gate answers: before a run a verdict, after it a revision.
//!
//! Invariant: an answer says only what it was made to say. Without a decision it is no objection, which is less than
//! allowing.

use std::fmt::Display;

use serde_json::Value;
use toolcell_host::Json;

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Decision {
    /// Nothing was decided.
    #[default]
    NoObjection,
    /// It may.
    Allow,
    /// It may, if a person says so.
    Ask {
        /// Why a person should decide.
        reason: String,
    },
    /// It may not.
    Deny {
        /// Why not. The caller gets to read it.
        reason: String,
    },
}

impl Decision {
    /// The word for it: `no-objection`, `allow`, `ask`, `deny`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoObjection => "no-objection",
            Self::Allow => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny { .. } => "deny",
        }
    }

    /// Why, for those decisions that need a reason.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NoObjection | Self::Allow => None,
            Self::Ask { reason } | Self::Deny { reason } => Some(reason),
        }
    }

    /// The greater is the stricter.
    pub(super) const fn strictness(&self) -> u8 {
        match self {
            Self::NoObjection => 0,
            Self::Allow => 1,
            Self::Ask { .. } => 2,
            Self::Deny { .. } => 3,
        }
    }
}

/// What a gate says before a run.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::gate::Verdict;
///
/// let verdict = Verdict::allow().with_args(json!({"limit": 10})).with_context("only ten rows were asked for");
/// assert_eq!(verdict.decision.name(), "allow");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Verdict {
    /// Whether the call may run.
    pub decision: Decision,
    /// The arguments to run with instead. They must be an object, and are validated like the first ones.
    pub modified_args: Option<Value>,
    /// What the model should read besides the result.
    pub additional_context: Option<String>,
    /// Whether the output is kept from the model. The record has it all the same.
    pub suppress_output: bool,
}

impl Verdict {
    /// Nothing to say.
    pub fn no_objection() -> Self {
        Self::default()
    }

    /// The call may run.
    pub fn allow() -> Self {
        Self { decision: Decision::Allow, ..Self::default() }
    }

    /// A person decides.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Ask { reason: reason.into() }, ..Self::default() }
    }

    /// The call may not run.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Deny { reason: reason.into() }, ..Self::default() }
    }

    /// Changes the arguments. Other arguments than an object deny.
    pub fn with_args(self, args: Value) -> Self {
        Self { modified_args: Some(args), ..self }
    }

    /// Adds a text for the model.
    pub fn with_context(self, context: impl Into<String>) -> Self {
        Self { additional_context: Some(context.into()), ..self }
    }

    /// Keeps the output from the model. The record has it all the same.
    pub fn suppressing(self) -> Self {
        Self { suppress_output: true, ..self }
    }
}

/// What becomes of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is a success with this result, whatever it was.
    Succeed(Json),
    /// It is a failure with this message, whatever it was.
    Fail(String),
}

/// What a gate says after a run.
///
/// # Examples
/// ```
/// use toolcell::Json;
/// use toolcell::gate::{Change, Revision};
///
/// let revision = Revision::succeed(Json::parse(r#"{"rows": "withheld"}"#)?).with_context("rows are personal data");
/// assert!(matches!(revision.change, Change::Succeed(_)));
/// # Ok::<(), toolcell::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Revision {
    /// What becomes of the end.
    pub change: Change,
    /// What the model should read besides the result.
    pub additional_context: Option<String>,
    /// Whether the output is kept from the model. The record has it all the same.
    pub suppress_output: bool,
}

impl Revision {
    /// The end stays as it is.
    pub fn keep() -> Self {
        Self::default()
    }

    /// The run is a success with this result.
    pub fn succeed(result: Json) -> Self {
        Self { change: Change::Succeed(result), ..Self::default() }
    }

    /// The run is a failure with this message.
    pub fn fail(message: impl Into<String>) -> Self {
        Self { change: Change::Fail(message.into()), ..Self::default() }
    }

    /// Adds a text for the model.
    pub fn with_context(self, context: impl Into<String>) -> Self {
        Self { additional_context: Some(context.into()), ..self }
    }

    /// Keeps the output from the model. The record has it all the same.
    pub fn suppressing(self) -> Self {
        Self { suppress_output: true, ..self }
    }
}

/// What a gate may return: the answer itself, or a `Result` of it. An error is a gate that failed.
pub trait Says<T> {
    /// The answer, or what went wrong.
    ///
    /// # Errors
    /// The text of the gate's own error.
    fn said(self) -> Result<T, String>;
}

impl Says<Self> for Verdict {
    fn said(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl Says<Self> for Revision {
    fn said(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl<T, E: Display> Says<T> for Result<T, E> {
    fn said(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}
