//! How a tool is asked for, and why it is not found.

use toolcell_tool::{IdPrefix, NameError, ToolId, ToolName};

use crate::error::Fault;

/// What people call a tool by: its name, or the beginning of its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// By identifier, or a prefix of one.
    Id(IdPrefix),
    /// By name.
    Name(ToolName),
}

impl ToolRef {
    /// Takes text as it was typed.
    ///
    /// # Errors
    /// As [`ToolName::parse`]
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

/// Why a tool is not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is none.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// An identifier that was cut fits several.
    #[error("`{prefix}` fits {}", listed(candidates))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// What it fits.
        candidates: Vec<(ToolId, ToolName)>,
    },
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn listed(candidates: &[(ToolId, ToolName)]) -> String {
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

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "`toolcell list` shows all tools that there are",
            Self::Ambiguous { .. } => "give more digits of the identifier, or the name",
            Self::Fault(fault) => fault.hint(),
        }
    }
}
