//! Questions that are put to the user during a run, and the answers: what an MCP server asks in a call of its tool, and what a
//! rule about flows has a person decide.
//!
//! Invariant: the texts of a question are those of a server or a tool. They are shown only through the methods that say so first.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use toolcell_i18n::Message;
use toolcell_policy::Origin;
use toolcell_schema::{FormContent, QuestionForm};
use toolcell_tool::{ServerName, ToolId};

/// A question that an MCP server asks the user of a run (elicitation in form mode).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerQuestion {
    /// The server.
    pub server: ServerName,
    /// The tools of the server whose calls may be the reason: one, unless the run calls several at once.
    pub tools: Vec<String>,
    /// The name of the tool, or of the code, that calls them.
    pub asked_in: String,
    /// The message of the server, of at most 2 KiB.
    pub message: String,
    /// The fields to be filled in.
    pub form: QuestionForm,
}

impl ServerQuestion {
    /// Creates a question.
    #[must_use]
    pub fn new(server: ServerName, tools: Vec<String>, asked_in: String, message: String, form: QuestionForm) -> Self {
        Self { server, tools, asked_in, message, form }
    }
}

/// The answer to a question of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum QuestionAnswer {
    /// The user filled in the form.
    Accept(FormContent),
    /// The user declines.
    Decline,
    /// The user dismisses the question without an answer.
    Cancel,
    /// The user was not asked.
    NotAsked {
        /// Why not.
        reason: Message,
    },
    /// The user was asked, and there is no valid answer.
    Unanswered {
        /// Why the user did not answer.
        reason: Message,
    },
}

/// An operation of a run, or the run itself, about which a rule about flows has a person decide.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FlowQuestion {
    /// The name of the tool, or of the code.
    pub tool: String,
    /// The identifier of the tool.
    pub id: ToolId,
    /// The kind of the operation, such as `fetch`; `run` if the tool itself is about to run.
    pub kind: String,
    /// The target of the operation.
    pub about: String,
    /// The details of the operation as JSON text: its whole content but for the body; the parameters of a run.
    pub details: String,
    /// The number of bytes of the body.
    pub bytes: u64,
    /// The body, such as that of a request.
    pub body: Option<HeldBody>,
    /// The sources of data that it may depend on, as far as the rules speak of them.
    pub from: Vec<String>,
    /// The sources of all data that it may depend on: what was handed to the run so far, or what the caller received.
    pub known: Vec<String>,
    /// Where it leads.
    pub to: String,
    /// The rules that ask: the number of each, from 0, and its position.
    pub rules: Vec<(usize, Origin)>,
}

impl FlowQuestion {
    /// The kind of the question whether a tool may run.
    pub const RUN: &'static str = "run";
}

/// The data that an operation carries about which a person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldBody {
    /// UTF-8 text.
    Text(String),
    /// Other data, in base64.
    Base64(String),
}

impl HeldBody {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).map(str::to_owned);
        text.map_or_else(|_| Self::Base64(BASE64.encode(bytes)), Self::Text)
    }

    /// Returns the text, or the base64 encoding of other data.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Base64(text) => text,
        }
    }
}

/// The decision about what a [`FlowQuestion`] asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FlowAnswer {
    /// It happens, once.
    Approve,
    /// It does not happen.
    Refuse {
        /// What the user says to the tool, and so to the model.
        feedback: Option<Message>,
    },
    /// The user was not asked. It does not happen.
    NotAsked {
        /// Why not.
        reason: Message,
    },
    /// The user was asked, and there is no valid answer. It does not happen.
    Unanswered {
        /// Why there is none.
        reason: Message,
    },
}

impl FlowAnswer {
    /// Returns what came of the question.
    #[must_use]
    pub const fn outcome(&self) -> QuestionOutcome {
        match self {
            Self::Approve => QuestionOutcome::Accept,
            Self::Refuse { .. } => QuestionOutcome::Decline,
            Self::NotAsked { .. } => QuestionOutcome::NotAsked,
            Self::Unanswered { .. } => QuestionOutcome::Unanswered,
        }
    }
}

/// The outcome of a question, without the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QuestionOutcome {
    /// The user approved, or filled in the form.
    Accept,
    /// The user refused, or declined.
    Decline,
    /// The user dismissed it.
    Cancel,
    /// The user was not asked.
    NotAsked,
    /// The user was asked, and there was no valid answer.
    Unanswered,
}

impl QuestionOutcome {
    /// Returns the name, as records show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::NotAsked => "not-asked",
            Self::Unanswered => "unanswered",
        }
    }
}

impl QuestionAnswer {
    /// Returns what came of the question.
    #[must_use]
    pub const fn outcome(&self) -> QuestionOutcome {
        match self {
            Self::Accept(_) => QuestionOutcome::Accept,
            Self::Decline => QuestionOutcome::Decline,
            Self::Cancel => QuestionOutcome::Cancel,
            Self::NotAsked { .. } => QuestionOutcome::NotAsked,
            Self::Unanswered { .. } => QuestionOutcome::Unanswered,
        }
    }
}
