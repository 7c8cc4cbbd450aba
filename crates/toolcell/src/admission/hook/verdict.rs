//! The answers of hooks: a verdict before a run, a revision after it.
//!
//! Invariant: an answer means only what it states. An answer without a decision is no objection,
//! which is weaker than an explicit `Allow`.

use std::fmt::Display;

use serde_json::Value;
use toolcell_host::Json;
use toolcell_i18n::{Message, msgid};

/// The decision of a hook about a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HookDecision {
    /// The hook does not decide.
    #[default]
    NoObjection,
    /// The call may run.
    Allow,
    /// The call may run if an approver agrees.
    Ask {
        /// Why an approver should decide.
        reason: Message,
    },
    /// The call may not run.
    Deny {
        /// The reason for the denial. It is shown to the caller.
        reason: Message,
    },
}

impl HookDecision {
    /// Returns the name of the decision: `no-objection`, `allow`, `ask`, `deny`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoObjection => msgid!("no-objection"),
            Self::Allow => msgid!("allow"),
            Self::Ask { .. } => msgid!("ask"),
            Self::Deny { .. } => msgid!("deny"),
        }
    }

    /// Returns the reason of an `Ask` or a `Deny`.
    #[must_use]
    pub const fn reason(&self) -> Option<&Message> {
        match self {
            Self::NoObjection | Self::Allow => None,
            Self::Ask { reason } | Self::Deny { reason } => Some(reason),
        }
    }

    /// Returns the rank of the decision; a greater rank is stricter.
    pub(super) const fn strictness(&self) -> u8 {
        match self {
            Self::NoObjection => 0,
            Self::Allow => 1,
            Self::Ask { .. } => 2,
            Self::Deny { .. } => 3,
        }
    }
}

/// The answer of a pre-run hook.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::hook::HookVerdict;
///
/// let verdict = HookVerdict::allow().with_args(json!({"limit": 10})).with_context("only ten rows were asked for");
/// assert_eq!(verdict.decision.name(), "allow");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct HookVerdict {
    /// The decision about the call.
    pub decision: HookDecision,
    /// The arguments to run with instead. They must be an object, and are validated like the
    /// original ones.
    pub modified_args: Option<Value>,
    /// A text that the model should read besides the result.
    pub additional_context: Option<String>,
    /// Whether the output is kept from the model. The record contains it either way.
    pub suppress_output: bool,
}

impl HookVerdict {
    /// Raises no objection.
    pub fn no_objection() -> Self {
        Self::default()
    }

    /// Allows the call.
    pub fn allow() -> Self {
        Self { decision: HookDecision::Allow, ..Self::default() }
    }

    /// Leaves the decision to an approver. The reason is shown as it is.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: HookDecision::Ask { reason: Message::verbatim(reason.into()) }, ..Self::default() }
    }

    /// Denies the call. The reason is shown as it is.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::deny_with(Message::verbatim(reason.into()))
    }

    /// Denies the call with a reason that is translated.
    pub fn deny_with(reason: Message) -> Self {
        Self { decision: HookDecision::Deny { reason }, ..Self::default() }
    }

    /// Replaces the arguments. Arguments other than an object deny the call.
    pub fn with_args(self, args: Value) -> Self {
        Self { modified_args: Some(args), ..self }
    }

    /// Adds a text for the model.
    pub fn with_context(self, context: impl Into<String>) -> Self {
        Self { additional_context: Some(context.into()), ..self }
    }

    /// Keeps the output from the model. The record contains it either way.
    pub fn with_suppressed_output(self) -> Self {
        Self { suppress_output: true, ..self }
    }
}

/// The change that a hook makes to an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResultChange {
    /// The outcome is unchanged.
    #[default]
    Unchanged,
    /// The outcome becomes a success with this result.
    Succeed(Json),
    /// The outcome becomes a failure with this message.
    Fail(String),
}

/// The answer of a post-run hook.
///
/// # Examples
/// ```
/// use toolcell::Json;
/// use toolcell::hook::{ResultChange, Revision};
///
/// let revision = Revision::succeed(Json::parse(r#"{"rows": "withheld"}"#)?).with_context("rows are personal data");
/// assert!(matches!(revision.change, ResultChange::Succeed(_)));
/// # Ok::<(), toolcell::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Revision {
    /// The change to the outcome.
    pub change: ResultChange,
    /// A text that the model should read besides the result.
    pub additional_context: Option<String>,
    /// Whether the output is kept from the model. The record contains it either way.
    pub suppress_output: bool,
}

impl Revision {
    /// Leaves the outcome unchanged.
    pub fn unchanged() -> Self {
        Self::default()
    }

    /// Turns the outcome into a success with this result.
    pub fn succeed(result: Json) -> Self {
        Self { change: ResultChange::Succeed(result), ..Self::default() }
    }

    /// Turns the outcome into a failure with this message.
    pub fn fail(message: impl Into<String>) -> Self {
        Self { change: ResultChange::Fail(message.into()), ..Self::default() }
    }

    /// Adds a text for the model.
    pub fn with_context(self, context: impl Into<String>) -> Self {
        Self { additional_context: Some(context.into()), ..self }
    }

    /// Keeps the output from the model. The record contains it either way.
    pub fn with_suppressed_output(self) -> Self {
        Self { suppress_output: true, ..self }
    }
}

/// A value that a hook may return: the answer itself, or a `Result` of it. An error makes the hook
/// fail.
pub trait IntoHookResult<T> {
    /// Converts the value into the answer or an error message.
    ///
    /// # Errors
    /// The text of the hook's own error.
    fn into_hook_result(self) -> Result<T, String>;
}

impl IntoHookResult<Self> for HookVerdict {
    fn into_hook_result(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl IntoHookResult<Self> for Revision {
    fn into_hook_result(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl<T, E: Display> IntoHookResult<T> for Result<T, E> {
    fn into_hook_result(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}
