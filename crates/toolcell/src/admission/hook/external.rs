//! Calls of tools that Toolcell does not run, and the decisions about them.
//!
//! Invariant: a call that cannot be read has no decision but a denial.

use serde_json::Value;
use toolcell_i18n::{Lang, Message, message};

use super::event::{AwaitedAnswer, CallerClaims};
use super::merge::HookContext;
use super::verdict::HookDecision;
use crate::admission::decision_step::DecisionStep;

/// The maximum length of a tool's name in characters.
const MAX_NAME_CHARS: usize = 256;

/// A call of a tool that Toolcell does not run, such as the shell tool of an agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExternalCall {
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments: an object.
    pub args: Value,
    /// The working directory of the caller. By default that of the toolbox.
    pub cwd: Option<String>,
    /// What the caller claims about itself.
    pub claims: CallerClaims,
}

impl ExternalCall {
    /// Creates a call. Arguments of `null` are an empty object.
    ///
    /// # Errors
    /// `request-invalid`: the name is empty, too long or contains control characters, or the
    /// arguments are not an object.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::hook::{CallerClaims, ExternalCall};
    ///
    /// let call = ExternalCall::new("bash", json!({"command": "ls"}), None, CallerClaims::default())?;
    /// assert_eq!(call.args["command"], "ls");
    /// # Ok::<(), toolcell::hook::EventProblem>(())
    /// ```
    pub fn new(
        tool_name: impl Into<String>,
        args: Value,
        cwd: Option<String>,
        claims: CallerClaims,
    ) -> Result<Self, EventProblem> {
        let tool_name = tool_name.into();
        let length = tool_name.chars().count();
        if tool_name.trim().is_empty() || length > MAX_NAME_CHARS || tool_name.chars().any(char::is_control) {
            return Err(EventProblem::Name { limit: MAX_NAME_CHARS });
        }
        match args {
            Value::Null => Ok(Self { tool_name, args: Value::Object(serde_json::Map::new()), cwd, claims }),
            Value::Object(_) => Ok(Self { tool_name, args, cwd, claims }),
            _ => Err(EventProblem::Args),
        }
    }
}

/// Why a text is not a call that can be decided about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[code(RequestInvalid)]
#[hint("pass the JSON that the host passes to a hook before a tool runs, and name the protocol of that host")]
pub enum EventProblem {
    /// The text is not the JSON of an event.
    #[error("the event is not of this protocol: {0}")]
    Json(Message),
    /// The event is another one.
    #[error("the event is `{event}`; only `{expected}` has a decision")]
    Event {
        /// The name of the event.
        event: String,
        /// The name of the event that has a decision.
        expected: &'static str,
    },
    /// The name of the tool is empty, too long, or contains control characters.
    #[error("the name of the tool must have 1 to {limit} characters, and no control characters")]
    Name {
        /// The maximum length in characters.
        limit: usize,
    },
    /// The arguments are not an object.
    #[error("the arguments of the tool must be an object")]
    Args,
}

impl From<serde_json::Error> for EventProblem {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(super::error::excerpt_message(&error.to_string()))
    }
}

impl EventProblem {
    pub(super) fn missing(field: &str) -> Self {
        Self::Json(message!("`{field}` is missing", field))
    }

    /// Checks the name of an event, if it has one.
    pub(super) fn check_event(event: Option<&str>, expected: &'static str) -> Result<(), Self> {
        match event {
            Some(event) if event != expected => {
                Err(Self::Event { event: super::error::escaped_excerpt(event), expected })
            }
            _ => Ok(()),
        }
    }
}

/// The decision about a call of a tool that Toolcell does not run.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct ExternalDecision {
    /// The decision. Without an approver, `Ask` is left to the host that asks.
    pub decision: HookDecision,
    /// What decided: `policy` and the position of the rule, `hook` and its name, or `person`;
    /// `none` if there is no decision.
    pub decided_by: String,
    /// The arguments to run with, if a hook changed them.
    pub args: Option<Value>,
    /// Texts that the model should read.
    pub context: Vec<HookContext>,
    /// Whether the output of the tool is to be kept from the model.
    pub suppress_output: bool,
    /// What a denied call waits for, if an answer can still permit it.
    pub awaits: Option<AwaitedAnswer>,
    /// The steps of the decision, in order.
    pub steps: Vec<DecisionStep>,
}

impl ExternalDecision {
    /// Denies a call about which nothing can be decided.
    pub fn failed(reason: &Message) -> Self {
        let reason = message!("Toolcell cannot decide: {reason}", reason);
        Self {
            decision: HookDecision::Deny { reason },
            decided_by: "error".to_owned(),
            args: None,
            context: Vec::new(),
            suppress_output: false,
            awaits: None,
            steps: Vec::new(),
        }
    }

    /// Returns the name of the decision for a host: `allow`, `ask` or `deny`; `None` if there is
    /// none.
    #[must_use]
    pub const fn permission(&self) -> Option<&'static str> {
        match self.decision {
            HookDecision::NoObjection => None,
            _ => Some(self.decision.name()),
        }
    }

    /// Returns the reason of an `Ask` or a `Deny`.
    #[must_use]
    pub fn reason_text(&self, lang: Lang) -> Option<String> {
        self.decision.reason().map(|reason| reason.to_text(lang))
    }

    /// Returns the texts that the model should read, each with the hook that it is from.
    #[must_use]
    pub fn context_text(&self) -> Option<String> {
        let lines: Vec<String> = self.context.iter().map(|it| format!("{}: {}", it.hook, it.text)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
