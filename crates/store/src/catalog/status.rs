//! The trust status of tools.
//!
//! Invariant: a status changes only along the transitions that [`Status`] permits. A tool that is
//! stored again from a bundle starts unverified.

use rusqlite::Connection;
use toolcell_tool::{Status, ToolId};

use crate::audit::{AuditEvent, StatusChange};
use crate::db::generation;
use crate::entry::{Entry, by_id};
use crate::error::{Fault, impl_maybe_fault};
use crate::replication::change::Change;
use crate::runs::costs::reset_failures;

use super::Catalog;
use super::deprecate::clear_successor;
use super::error::FindError;

/// A status change that was rejected.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum StatusError {
    /// The status does not permit this transition.
    #[error("a tool cannot change from {from} to {to}")]
    #[code(StatusIllegal)]
    IllegalTransition {
        /// The current status.
        from: Status,
        /// The requested status.
        to: Status,
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

impl_maybe_fault!(StatusError);

impl Catalog<'_> {
    /// Sets the status of a tool and returns the previous one.
    ///
    /// # Errors
    /// `status-illegal`, `tool-not-found`, or another [`Fault`].
    pub fn set_status(&self, id: ToolId, to: Status) -> Result<Status, StatusError> {
        self.set_status_audited(id, to, None)
    }

    pub(crate) fn set_status_audited(
        &self,
        id: ToolId,
        to: Status,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<Status, StatusError> {
        // Failures from before the tool passed must not count against it afterwards.
        self.runs.flush_before_read();
        let made = self.db.commit_change(
            attempt,
            |transaction, attempt| {
                let entry = by_id(transaction, id).map_err(Fault::from)?;
                let Entry { status: from, num, .. } = entry.ok_or_else(|| FindError::Unknown(id.to_string()))?;
                if !from.can_transition_to(to) {
                    return Err(StatusError::IllegalTransition { from, to });
                }
                write_status(transaction, num, to).map_err(Fault::from)?;
                attempt.details.status = Some(StatusChange { from, to });
                Ok(Some(from))
            },
            |_| Change::SetStatus { tool: id, status: to },
            |_, _| (),
        )?;
        Ok(made.unwrap_or(to))
    }
}

/// Writes the status of a tool and removes what belonged to the previous one.
pub(crate) fn write_status(transaction: &Connection, num: i64, to: Status) -> rusqlite::Result<()> {
    transaction.prepare_cached("UPDATE tool SET status = ? WHERE num = ?")?.execute((to.name(), num))?;
    if to == Status::Passed {
        reset_failures(transaction, num)?;
    }
    generation::bump(transaction)?;
    clear_successor(transaction, num)
}

/// Resets a known tool to unverified, without approvals, pending requests or successor.
/// Refusals and a quarantine stay.
pub(crate) fn demote(transaction: &Connection, id: ToolId) -> Result<(), Fault> {
    let sql = "UPDATE tool SET status = 'unverified' WHERE id = ? AND status <> 'quarantined'";
    transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
    let sql = "DELETE FROM successor WHERE tool IN (SELECT num FROM tool WHERE id = ?)";
    transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
    for sql in
        ["DELETE FROM approval WHERE tool = ? AND granted IS NOT 0", "DELETE FROM single_approval WHERE tool = ?"]
    {
        transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
    }
    Ok(generation::bump(transaction)?)
}
