//! Why something that a tool asked for was not done.

use serde::{Deserialize, Serialize};

/// Whether what was asked for happened all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// Nothing happened.
    None,
    /// It was begun, and may have happened.
    Started,
    /// It happened.
    Committed,
}

/// Why something that a tool asked for was not done, or is not known to be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The name of the error that the tool sees, such as `TypeError`.
    pub name: &'static str,
    /// The stable code.
    pub code: &'static str,
    /// The cause, and what to do next.
    pub message: String,
    /// Whether it happened.
    pub effects: Effects,
}

impl Failure {
    /// A failure of something that did not happen.
    #[must_use]
    pub fn nothing_done(name: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { name, code, message: message.into(), effects: Effects::None }
    }

    /// The same with what is known of the effects.
    #[must_use]
    pub fn with(self, effects: Effects) -> Self {
        Self { effects, ..self }
    }
}
