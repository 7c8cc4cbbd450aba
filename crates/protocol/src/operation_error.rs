//! The error of a failed host call, as its implementation returns it and the tool sees it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::request::Effects;

/// The error of a host call that failed, or whose success is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationError {
    /// The name of the JavaScript error that the tool sees, such as `TypeError`.
    pub name: String,
    /// The cause and a suggested next step.
    pub message: String,
    /// The stable error code.
    pub code: Cow<'static, str>,
    /// Whether the side effects of the host call happened despite the error.
    pub effects: Effects,
}

impl OperationError {
    /// Creates an error for a host call that had no effect.
    #[must_use]
    pub fn without_effects(name: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), message: message.into(), code: code.into(), effects: Effects::None }
    }

    /// Replaces the effects.
    #[must_use]
    pub fn with_effects(self, effects: Effects) -> Self {
        Self { effects, ..self }
    }
}

impl std::fmt::Display for OperationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OperationError {}
