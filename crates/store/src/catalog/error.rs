//! Errors of lookups and of operations on names.

use toolcell_i18n::{Message, message};
use toolcell_tool::{ToolId, ToolName};

use crate::error::{Fault, impl_maybe_fault};

/// A lookup that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum FindError {
    /// There is no such tool.
    #[error("there is no tool `{0}`")]
    #[code(ToolNotFound)]
    #[hint("`toolcell list` shows all tools")]
    Unknown(String),
    /// The prefix matches several identifiers.
    #[error("`{prefix}` matches {}", list_candidates(candidates))]
    #[code(IdAmbiguous)]
    #[hint("give more digits of the identifier, or the name")]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The matching tools, at most ten.
        candidates: Vec<(ToolId, ToolName)>,
    },
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

fn list_candidates(candidates: &[(ToolId, ToolName)]) -> Message {
    let candidates = candidates.iter().map(|(id, name)| Message::verbatim(format!("{id} ({name})")));
    candidates
        .reduce(|before, next| message!("{before} and {next}", before, next))
        .unwrap_or_else(|| Message::verbatim(String::new()))
}

impl_maybe_fault!(FindError);

/// An operation on a name that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum HistoryError {
    /// The name already resolves to a tool, or so does one that differs only in case or in `-` and
    /// `_`.
    #[error("`{existing_name}` refers to {id}", id = .existing.short())]
    #[code(NameTaken)]
    #[hint("choose another name, or replace the tool: its old version stays in its history")]
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
    #[code(ToolLimitReached)]
    #[hint("delete unused tools, or raise `store.tools` in the policy file")]
    Limit {
        /// The maximum number of tools.
        limit: u64,
    },
    /// The name is not deleted.
    #[error("`{0}` is not deleted")]
    #[code(NotDeleted)]
    #[hint("only a deleted tool that `toolcell gc` has not collected can be restored")]
    NotDeleted(String),
    /// The history has no such version, or the version is a deletion.
    #[error("`{name}` has no version {number} to go back to")]
    #[code(VersionNotFound)]
    #[hint("`toolcell show` lists its versions")]
    NoVersion {
        /// The name.
        name: ToolName,
        /// The requested version number.
        number: u64,
    },
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(FindError),
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
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

impl_maybe_fault!(HistoryError);
