//! A question that an MCP server asks the user during a call of its tool, and the answer.
//!
//! Invariant: the texts of a question are the server's. They are shown only through the methods that say so first.

use serde::{Deserialize, Serialize};
use toolcell_i18n::Message;
use toolcell_schema::{FormContent, QuestionForm};
use toolcell_tool::ServerName;

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

/// The outcome of a question, without the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QuestionOutcome {
    /// The user filled in the form.
    Accept,
    /// The user declined.
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
