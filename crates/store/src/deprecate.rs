//! Tools that work, and in whose place something else is to be used.
//!
//! Invariant: a successor is another tool that is not deprecated itself when it is named, and does not lead back. It is
//! kept as long as the tool is deprecated. Bundles do not carry it: elsewhere a tool is as good as new.

use rusqlite::Connection;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::audit::{Attempt, Change};
use crate::error::Fault;
use crate::find::FindError;
use crate::generation;
use crate::store::{Entry, Store, by_id, by_name};

/// How many successors are followed, one after the other.
const FOLLOWED: usize = 64;

/// Why a tool is not deprecated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeprecateError {
    /// It cannot be its own successor.
    #[error("`{0}` cannot be its own successor")]
    Itself(ToolName),
    /// The successor leads back to the tool.
    #[error("`{successor}` is deprecated in favour of `{tool}`, and cannot be its successor")]
    Circle {
        /// The tool.
        tool: ToolName,
        /// What was to be its successor.
        successor: ToolName,
    },
    /// The successor is not to be used either.
    #[error("`{successor}` is {status}, and cannot be a successor")]
    Unfit {
        /// What was to be the successor.
        successor: ToolName,
        /// What it is.
        status: Status,
    },
    /// There is no such way.
    #[error("`{tool}` is {status}, and a tool that is does not become deprecated")]
    Illegal {
        /// The tool.
        tool: ToolName,
        /// What it is.
        status: Status,
    },
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl DeprecateError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Itself(_) | Self::Circle { .. } | Self::Unfit { .. } => "successor-invalid",
            Self::Illegal { .. } => "status-illegal",
            Self::Find(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Itself(_) | Self::Circle { .. } | Self::Unfit { .. } => {
                "name another tool that is in use, or none: `toolcell list` shows what there is"
            }
            Self::Illegal { .. } => "create or import the tool again first, or delete it",
            Self::Find(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl From<rusqlite::Error> for DeprecateError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl Store {
    /// Deprecates a tool in favour of another, or of none, and says which status it had. One that is deprecated already
    /// gets the new successor.
    ///
    /// # Errors
    /// `successor-invalid`, `status-illegal`, `tool-not-found`, and those of the disk.
    pub fn deprecate(&self, id: ToolId, successor: Option<ToolId>) -> Result<Status, DeprecateError> {
        self.deprecate_noted(id, successor, None)
    }

    pub(crate) fn deprecate_noted(
        &self,
        id: ToolId,
        successor: Option<ToolId>,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Status, DeprecateError> {
        let work = |transaction: &Connection, attempt: &mut Attempt<'_>| {
            let known = |id: ToolId| by_id(transaction, id)?.ok_or_else(|| unknown(id));
            let tool = known(id)?;
            let from = tool.status;
            if from != Status::Deprecated && !from.may_become(Status::Deprecated) {
                return Err(DeprecateError::Illegal { tool: tool.name, status: from });
            }
            if let Some(successor) = successor {
                must_fit(transaction, &tool, known(successor)?)?;
            }
            let sql = "UPDATE tool SET status = 'deprecated' WHERE num = ?";
            transaction.prepare_cached(sql)?.execute([tool.num])?;
            forget(transaction, tool.num)?;
            generation::changed(transaction)?;
            if let Some(successor) = successor {
                let sql = "INSERT INTO successor (tool, successor) VALUES (?, ?)";
                transaction.prepare_cached(sql)?.execute((tool.num, successor.as_bytes()))?;
            }
            attempt.details.status = Some(Change { from, to: Status::Deprecated });
            attempt.details.successor = successor;
            Ok(Some(from))
        };
        let made = self.make(attempt, work, |_, _| ())?;
        Ok(made.unwrap_or(Status::Deprecated))
    }

    /// What is to be used now in place of a tool that is deprecated: its successor, what the name of that leads to by now,
    /// or, where that is deprecated as well, what is to be used in place of it. None where there is nothing any more.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn in_place_of(&self, tool: &Entry) -> Result<Option<Entry>, Fault> {
        if tool.successor.is_none() {
            return Ok(None);
        }
        self.index.read(|transaction| {
            let last = followed(transaction, tool)?.pop();
            let is_in_use = |entry: &Entry| entry.current && entry.id != tool.id && entry.status != Status::Quarantined;
            Ok(last.filter(is_in_use))
        })
    }
}

fn unknown(id: ToolId) -> DeprecateError {
    FindError::Unknown(id.to_string()).into()
}

/// Refuses what is no successor of a tool.
fn must_fit(transaction: &Connection, tool: &Entry, successor: Entry) -> Result<(), DeprecateError> {
    if successor.id == tool.id {
        return Err(DeprecateError::Itself(successor.name));
    }
    if !successor.current {
        return Err(unknown(successor.id));
    }
    if successor.status == Status::Deprecated && followed(transaction, &successor)?.iter().any(|it| it.id == tool.id) {
        return Err(DeprecateError::Circle { tool: tool.name.clone(), successor: successor.name });
    }
    match successor.status {
        status @ (Status::Deprecated | Status::Quarantined) => {
            Err(DeprecateError::Unfit { successor: successor.name, status })
        }
        _ => Ok(()),
    }
}

/// The successor of a tool, that of its successor, and so on, each as far as its name leads by now.
fn followed(transaction: &Connection, tool: &Entry) -> rusqlite::Result<Vec<Entry>> {
    let mut followed: Vec<Entry> = Vec::new();
    let mut next = tool.successor;
    while let Some(id) = next.filter(|_| followed.len() < FOLLOWED) {
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

/// Lets a tool have no successor.
pub(crate) fn forget(transaction: &Connection, num: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM successor WHERE tool = ?")?.execute([num]).map(|_| ())
}
