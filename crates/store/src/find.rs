//! References to tools, and errors of looking them up.

use toolcell_tool::{IdPrefix, NameError, ToolId, ToolName};

use crate::error::Fault;

/// A reference to a tool: its name, or a prefix of its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// An identifier, or a prefix of one.
    Id(IdPrefix),
    /// A name.
    Name(ToolName),
}

impl ToolRef {
    /// Parses a reference.
    ///
    /// # Errors
    /// Same as [`ToolName::parse`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        match IdPrefix::parse(text) {
            Ok(prefix) => Ok(Self::Id(prefix)),
            Err(_) => ToolName::parse(text).map(Self::Name),
        }
    }
}

impl std::fmt::Display for ToolRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(prefix) => prefix.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// A lookup that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is no such tool.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The prefix matches several identifiers.
    #[error("`{prefix}` matches {}", list_candidates(candidates))]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The matching tools, at most ten.
        candidates: Vec<(ToolId, ToolName)>,
    },
    /// The disk or the index failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn list_candidates(candidates: &[(ToolId, ToolName)]) -> String {
    let texts: Vec<String> = candidates.iter().map(|(id, name)| format!("{id} ({name})")).collect();
    texts.join(" and ")
}

impl FindError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "tool-not-found",
            Self::Ambiguous { .. } => "id-ambiguous",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What the user can do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "`toolcell list` shows all tools",
            Self::Ambiguous { .. } => "give more digits of the identifier, or the name",
            Self::Fault(fault) => fault.hint(),
        }
    }
}
