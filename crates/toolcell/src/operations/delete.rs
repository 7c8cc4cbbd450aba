//! `delete_dynamic_tool`, and its reversal.
//!
//! Invariant: nothing is deleted without a confirmation, and a deleted tool can be restored until
//! garbage collection removes it.

use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Fault, FindError, HistoryError, ToolRef, VersionCommit};
use toolcell_tool::{ToolId, ToolName};

use super::lookup::{FindToolError, find_tool};
use crate::parts::Parts;
use crate::request::DeleteTool;

/// The error of deleting or restoring a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum DeleteError {
    /// The deletion is not confirmed.
    #[error("the deletion of `{name}` ({id}) is not confirmed")]
    #[code(ConfirmRequired)]
    #[hint("set `confirm: true` (--confirm); the deletion can be undone until garbage collection")]
    Unconfirmed {
        /// The identifier of the tool that would be deleted.
        id: ToolId,
        /// The name of the tool.
        name: ToolName,
    },
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindToolError),
    /// The history of the name does not allow the step.
    #[error(transparent)]
    #[coded(transparent)]
    History(HistoryError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl From<HistoryError> for DeleteError {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::Fault(fault) => Self::Fault(fault),
            other => Self::History(other),
        }
    }
}

/// Deletes the name of a tool. The tool itself stays in the store until garbage collection
/// removes it.
pub(crate) fn delete(parts: &Parts, request: &DeleteTool) -> Result<VersionCommit, DeleteError> {
    let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
    let done = delete_inner(parts, request);
    log_failed_step(parts, Action::DeleteDynamicTool, called, done)
}

fn delete_inner(parts: &Parts, request: &DeleteTool) -> Result<VersionCommit, DeleteError> {
    let entry = find_tool(parts, request.tool_id.as_deref(), request.tool_name.as_deref())?;
    if !request.confirm {
        return Err(DeleteError::Unconfirmed { id: entry.id, name: entry.name });
    }
    let at = parts.now();
    let change = parts.require_store()?.with_audit(AuditEvent::new(Action::DeleteDynamicTool, at));
    let step = match change.delete(&ToolRef::Name(entry.name.clone()), at) {
        Err(HistoryError::Find(FindError::Unknown(asked))) => {
            return Err(FindToolError::Unknown { asked, suggestion: None }.into());
        }
        other => other?,
    };
    Ok(step)
}

/// Restores a deleted name.
pub(crate) fn undelete(parts: &Parts, reference: &ToolRef) -> Result<VersionCommit, DeleteError> {
    let at = parts.now();
    let attempt = AuditEvent::new(Action::Undelete, at);
    let store = parts.require_store().map_err(DeleteError::from);
    let done = store.and_then(|store| Ok(store.with_audit(attempt).undelete(reference, at)?));
    log_failed_step(parts, Action::Undelete, &reference.to_string(), done)
}

/// Makes a name refer to the tool of an earlier step of its history.
pub(crate) fn roll_back(parts: &Parts, name: &ToolName, number: u64) -> Result<VersionCommit, DeleteError> {
    let at = parts.now();
    let attempt = AuditEvent::new(Action::Rollback, at);
    let store = parts.require_store().map_err(DeleteError::from);
    let done = store.and_then(|store| Ok(store.with_audit(attempt).roll_back(name, number, at)?));
    log_failed_step(parts, Action::Rollback, name.as_str(), done)
}

/// Writes the audit event of a failed step. On success the event is written together with the
/// step.
fn log_failed_step(
    parts: &Parts,
    action: Action,
    called: &str,
    done: Result<VersionCommit, DeleteError>,
) -> Result<VersionCommit, DeleteError> {
    if let Err(error) = &done {
        let mut attempt = AuditEvent { name: Some(called.to_owned()), ..AuditEvent::new(action, parts.now()) };
        if let DeleteError::Unconfirmed { id, .. } = error {
            attempt.tool = Some(*id);
        }
        attempt.result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
        parts.recorder.log_attempt(&attempt);
    }
    done
}
