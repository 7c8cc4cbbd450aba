//! Errors of lookups and of operations on names.

use toolcell_tool::{ToolId, ToolName};

use crate::error::{Fault, impl_maybe_fault};

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

impl_maybe_fault!(FindError);

/// An operation on a name that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The name already resolves to a tool, or so does one that differs only in case or in `-` and
    /// `_`.
    #[error("`{name}` is taken: `{existing_name}` refers to {existing}")]
    Taken {
        /// The requested name.
        name: ToolName,
        /// The existing name.
        existing_name: String,
        /// The tool to which the existing name resolves.
        existing: ToolId,
    },
    /// The store holds the maximum number of tools.
    #[error("the store has {limit} tools, which is the limit")]
    Limit {
        /// The maximum number of tools.
        limit: u64,
    },
    /// The name is not deleted.
    #[error("`{0}` is not deleted")]
    NotDeleted(String),
    /// The history has no such version, or the version is a deletion.
    #[error("`{name}` has no version {number} to go back to")]
    NoVersion {
        /// The name.
        name: ToolName,
        /// The requested version number.
        number: u64,
    },
    /// There is no such tool.
    #[error(transparent)]
    Find(FindError),
    /// The disk or the index failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<FindError> for HistoryError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Fault(fault) => Self::Fault(fault),
            other => Self::Find(other),
        }
    }
}

impl HistoryError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "name-taken",
            Self::Limit { .. } => "tool-limit-reached",
            Self::NotDeleted(_) => "not-deleted",
            Self::NoVersion { .. } => "version-not-found",
            Self::Find(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What the user can do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "choose another name, or replace the tool: its old version stays in its history",
            Self::Limit { .. } => "delete unused tools, or raise the limit",
            Self::NotDeleted(_) => "only a deleted tool that `toolcell gc` has not collected can be restored",
            Self::NoVersion { .. } => "`toolcell show` lists its versions",
            Self::Find(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl_maybe_fault!(HistoryError);
