//! Deprecation of tools, with an optional successor.
//!
//! Invariant: a successor is another tool, is not deprecated when it is named, and does not lead
//! back to the deprecated tool. It is stored as long as the tool is deprecated. Bundles do not
//! contain it: an imported tool is as good as new.

use rusqlite::Connection;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::audit::{AuditEvent, StatusChange};
use crate::db::generation;
use crate::entry::{Entry, by_id, by_name};
use crate::error::{Fault, impl_maybe_fault};
use crate::replication::change::Change;

use super::Catalog;
use super::error::FindError;

/// The maximum length of a chain of successors that is followed.
const MAX_SUCCESSORS: usize = 64;

/// A deprecation that was rejected.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum DeprecationError {
    /// A tool cannot be its own successor.
    #[error("`{0}` cannot be its own successor")]
    #[code(SuccessorInvalid)]
    #[hint("name another active tool, or none; `toolcell list` shows all tools")]
    Itself(ToolName),
    /// The successor leads back to the tool.
    #[error("`{successor}` is deprecated in favour of `{tool}` and cannot be its successor")]
    #[code(SuccessorInvalid)]
    #[hint("name another active tool, or none; `toolcell list` shows all tools")]
    Cycle {
        /// The deprecated tool.
        tool: ToolName,
        /// The proposed successor.
        successor: ToolName,
    },
    /// The successor is itself deprecated or quarantined.
    #[error("`{successor}` is {status} and cannot be a successor")]
    #[code(SuccessorInvalid)]
    #[hint("name another active tool, or none; `toolcell list` shows all tools")]
    Unfit {
        /// The proposed successor.
        successor: ToolName,
        /// The status of the successor.
        status: Status,
    },
    /// The status of the tool does not permit deprecation.
    #[error("`{tool}` is {status} and cannot be deprecated")]
    #[code(StatusIllegal)]
    #[hint("create or import the tool again first, or delete it")]
    IllegalTransition {
        /// The tool.
        tool: ToolName,
        /// The status of the tool.
        status: Status,
    },
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindError),
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl_maybe_fault!(DeprecationError);

impl From<rusqlite::Error> for DeprecationError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl Catalog<'_> {
    /// Deprecates a tool, optionally in favour of a successor, and returns the previous status. A
    /// tool that is already deprecated gets the new successor.
    ///
    /// # Errors
    /// `successor-invalid`, `status-illegal`, `tool-not-found`, or another [`Fault`].
    pub fn deprecate(&self, id: ToolId, successor: Option<ToolId>) -> Result<Status, DeprecationError> {
        self.deprecate_audited(id, successor, None)
    }

    pub(crate) fn deprecate_audited(
        &self,
        id: ToolId,
        successor: Option<ToolId>,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<Status, DeprecationError> {
        let work = |transaction: &Connection, attempt: &mut AuditEvent<'_>| {
            let known = |id: ToolId| by_id(transaction, id)?.ok_or_else(|| unknown_tool(id));
            let tool = known(id)?;
            let from = tool.status;
            if from != Status::Deprecated && !from.can_transition_to(Status::Deprecated) {
                return Err(DeprecationError::IllegalTransition { tool: tool.name, status: from });
            }
            if let Some(successor) = successor {
                check_successor(transaction, &tool, known(successor)?)?;
            }
            write_deprecation(transaction, tool.num, successor)?;
            attempt.details.status = Some(StatusChange { from, to: Status::Deprecated });
            attempt.details.successor = successor;
            Ok(Some(from))
        };
        let describe = |_: &Status| Change::Deprecate { tool: id, successor };
        let made = self.db.commit_change(attempt, work, describe, |_, _| ())?;
        Ok(made.unwrap_or(Status::Deprecated))
    }

    /// The tool to use in place of a deprecated one: the end of its chain of successors, each
    /// resolved to the tool that its name leads to now. `None` if that tool is deleted or
    /// quarantined.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn replacement_for(&self, tool: &Entry) -> Result<Option<Entry>, Fault> {
        if tool.successor.is_none() {
            return Ok(None);
        }
        self.db.index.read(|transaction| {
            let last = successor_chain(transaction, tool)?.pop();
            let is_in_use = |entry: &Entry| entry.current && entry.id != tool.id && entry.status != Status::Quarantined;
            Ok(last.filter(is_in_use))
        })
    }
}

/// Deprecates a tool.
pub(crate) fn write_deprecation(transaction: &Connection, num: i64, successor: Option<ToolId>) -> rusqlite::Result<()> {
    transaction.prepare_cached("UPDATE tool SET status = 'deprecated' WHERE num = ?")?.execute([num])?;
    clear_successor(transaction, num)?;
    generation::bump(transaction)?;
    if let Some(successor) = successor {
        let sql = "INSERT INTO successor (tool, successor) VALUES (?, ?)";
        transaction.prepare_cached(sql)?.execute((num, successor.as_bytes()))?;
    }
    Ok(())
}

fn unknown_tool(id: ToolId) -> DeprecationError {
    FindError::Unknown(id.to_string()).into()
}

/// Rejects a tool that cannot be a successor.
fn check_successor(transaction: &Connection, tool: &Entry, successor: Entry) -> Result<(), DeprecationError> {
    if successor.id == tool.id {
        return Err(DeprecationError::Itself(successor.name));
    }
    if !successor.current {
        return Err(unknown_tool(successor.id));
    }
    if successor.status == Status::Deprecated
        && successor_chain(transaction, &successor)?.iter().any(|it| it.id == tool.id)
    {
        return Err(DeprecationError::Cycle { tool: tool.name.clone(), successor: successor.name });
    }
    match successor.status {
        status @ (Status::Deprecated | Status::Quarantined) => {
            Err(DeprecationError::Unfit { successor: successor.name, status })
        }
        _ => Ok(()),
    }
}

/// The chain of successors of a tool, each resolved to the tool that its name leads to now.
fn successor_chain(transaction: &Connection, tool: &Entry) -> rusqlite::Result<Vec<Entry>> {
    let mut followed: Vec<Entry> = Vec::new();
    let mut next = tool.successor;
    while let Some(id) = next.filter(|_| followed.len() < MAX_SUCCESSORS) {
        let Some(entry) = by_id(transaction, id)? else { break };
        let by_now = if entry.current { None } else { by_name(transaction, &entry.name)? };
        let entry = by_now.unwrap_or(entry);
        if followed.iter().any(|known| known.id == entry.id) {
            break;
        }
        next = entry.successor;
        followed.push(entry);
    }
    Ok(followed)
}

/// Removes the successor of a tool.
pub(crate) fn clear_successor(transaction: &Connection, num: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM successor WHERE tool = ?")?.execute([num]).map(|_| ())
}
