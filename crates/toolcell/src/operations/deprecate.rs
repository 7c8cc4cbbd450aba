//! Deprecation: tools that still work, but should be replaced by others.
//!
//! Invariant: a deprecated tool runs as before, and every response about it names its successor.
//! Each attempt to deprecate leaves one audit event.

use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Entry, Fault, FindError};
use toolcell_tool::{Status, ToolId, ToolName};

use super::lookup::{FindToolError, find};
use crate::parts::Parts;

/// The result of deprecating a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct DeprecateResult {
    /// The identifier of the tool.
    pub tool: ToolId,
    /// The name of the tool.
    pub name: ToolName,
    /// The status before the deprecation.
    pub previous_status: Status,
    /// The tool to use instead.
    pub successor: Option<Entry>,
}

/// The error of deprecating a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum DeprecateError {
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindToolError),
    /// The store refuses the deprecation.
    #[error(transparent)]
    #[coded(transparent)]
    Store(toolcell_store::DeprecationError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl From<toolcell_store::DeprecationError> for DeprecateError {
    fn from(error: toolcell_store::DeprecationError) -> Self {
        use toolcell_store::DeprecationError as Error;
        match error {
            Error::Fault(fault) | Error::Find(FindError::Fault(fault)) => Self::Fault(fault),
            Error::Find(error) => Self::Find(FindToolError::Store(error)),
            other => Self::Store(other),
        }
    }
}

/// Deprecates a tool, optionally in favour of a successor. The tool keeps working, and its
/// responses name the successor. Deprecated tools are not exported in bundles. Both tools are
/// given by name or by identifier.
pub(crate) fn deprecate(parts: &Parts, tool: &str, successor: Option<&str>) -> Result<DeprecateResult, DeprecateError> {
    let found = find(parts, tool).map_err(DeprecateError::from);
    let named = || successor.map(|name| find(parts, name)).transpose();
    match found {
        Ok(entry) => {
            let named = named().map_err(DeprecateError::from);
            let done = named.and_then(|successor| deprecate_entry(parts, &entry, successor));
            log_failed_deprecation(parts, entry.name.as_str(), Some(entry.id), done)
        }
        Err(error) => log_failed_deprecation(parts, tool, None, Err(error)),
    }
}

/// Deprecates a stored tool.
pub(super) fn deprecate_entry(
    parts: &Parts,
    tool: &Entry,
    successor: Option<Entry>,
) -> Result<DeprecateResult, DeprecateError> {
    let name = Some(tool.name.to_string());
    let attempt = AuditEvent { tool: Some(tool.id), name, ..AuditEvent::new(Action::Status, parts.now()) };
    let before =
        parts.require_store()?.with_audit(attempt).deprecate(tool.id, successor.as_ref().map(|entry| entry.id))?;
    Ok(DeprecateResult { tool: tool.id, name: tool.name.clone(), previous_status: before, successor })
}

/// Writes the audit event of a failed deprecation. On success the event is written together
/// with the deprecation.
pub(super) fn log_failed_deprecation(
    parts: &Parts,
    name: &str,
    tool: Option<ToolId>,
    done: Result<DeprecateResult, DeprecateError>,
) -> Result<DeprecateResult, DeprecateError> {
    if let Err(error) = &done {
        let result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
        let name = Some(name.to_owned());
        parts.recorder.log_attempt(&AuditEvent { tool, name, result, ..AuditEvent::new(Action::Status, parts.now()) });
    }
    done
}

/// Returns the current replacement of a deprecated tool.
pub(crate) fn replacement_for(parts: &Parts, tool: &Entry) -> Result<Option<Entry>, Fault> {
    parts.require_store()?.catalog().replacement_for(tool)
}
