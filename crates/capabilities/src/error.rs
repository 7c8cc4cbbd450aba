//! The error of a host operation that a tool requested.

use serde::{Deserialize, Serialize};

/// Whether a failed operation had side effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// The operation had no effect.
    None,
    /// The operation started and may have taken effect.
    Started,
    /// The operation took effect.
    Committed,
}

/// The error of an operation that failed, or whose success is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CapabilityError {
    /// The name of the JavaScript error that the tool sees, such as `TypeError`.
    pub name: &'static str,
    /// The stable error code.
    pub code: &'static str,
    /// The cause and a suggested next step.
    pub message: String,
    /// Whether the operation had side effects.
    pub effects: Effects,
}

impl CapabilityError {
    /// Creates an error for an operation that had no effect.
    #[must_use]
    pub fn without_effects(name: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { name, code, message: message.into(), effects: Effects::None }
    }

    /// Replaces the effects.
    #[must_use]
    pub fn with_effects(self, effects: Effects) -> Self {
        Self { effects, ..self }
    }
}
