//! `delete_dynamic_tool`, and the way back from it.
//!
//! Invariant: nothing is deleted that nobody confirmed, and what is deleted can be had back until it is collected.

use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Fault, FindError, NameStepError, Step, ToolRef};
use toolcell_tool::{ToolId, ToolName};

use crate::find::FindToolError;
use crate::request::DeleteTool;
use crate::toolbox::Toolbox;

/// Why a name leads where it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// Nobody confirmed it.
    #[error("`{name}` ({id}) stays")]
    Unconfirmed {
        /// The tool that would be deleted.
        id: ToolId,
        /// Its name.
        name: ToolName,
    },
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// As the store says.
    #[error(transparent)]
    Step(NameStepError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl DeleteError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unconfirmed { .. } => "confirm-required",
            Self::Find(error) => error.code(),
            Self::Step(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unconfirmed { .. } => "say `confirm: true` (--confirm); it can be undeleted until it is collected",
            Self::Find(error) => error.hint(),
            Self::Step(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl From<NameStepError> for DeleteError {
    fn from(error: NameStepError) -> Self {
        match error {
            NameStepError::Fault(fault) => Self::Fault(fault),
            other => Self::Step(other),
        }
    }
}

impl Toolbox {
    /// Takes the name of a tool away. The tool stays until it is collected.
    ///
    /// # Errors
    /// `confirm-required`, `tool-not-found`, `tool-mismatch`, `id-ambiguous`, and those of the disk.
    pub fn delete(&self, request: &DeleteTool) -> Result<Step, DeleteError> {
        let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
        let done = self.deleted(request);
        self.stepped(Action::DeleteDynamicTool, called, done)
    }

    fn deleted(&self, request: &DeleteTool) -> Result<Step, DeleteError> {
        let entry = self.find_tool(request.tool_id.as_deref(), request.tool_name.as_deref())?;
        if !request.confirm {
            return Err(DeleteError::Unconfirmed { id: entry.id, name: entry.name });
        }
        let at = self.now();
        let change = self.shelf()?.change(Attempt::new(Action::DeleteDynamicTool, at));
        let step = match change.delete(&ToolRef::Name(entry.name.clone()), at) {
            Err(NameStepError::Find(FindError::Unknown(asked))) => {
                return Err(FindToolError::Unknown { asked, instead: None }.into());
            }
            other => other?,
        };
        Ok(step)
    }

    /// Gives a name back that was deleted.
    ///
    /// # Errors
    /// `not-deleted`, `tool-not-found`, `id-ambiguous`, `integrity`, and those of the disk.
    pub fn undelete(&self, reference: &ToolRef) -> Result<Step, DeleteError> {
        let at = self.now();
        let attempt = Attempt::new(Action::Undelete, at);
        let store = self.shelf().map_err(DeleteError::from);
        let done = store.and_then(|store| Ok(store.change(attempt).undelete(reference, at)?));
        self.stepped(Action::Undelete, &reference.to_string(), done)
    }

    /// Lets a name lead to where it led at an earlier step of its history.
    ///
    /// # Errors
    /// `tool-not-found`, `version-not-found`, `integrity`, and those of the disk.
    pub fn roll_back(&self, name: &ToolName, number: u64) -> Result<Step, DeleteError> {
        let at = self.now();
        let attempt = Attempt::new(Action::Rollback, at);
        let store = self.shelf().map_err(DeleteError::from);
        let done = store.and_then(|store| Ok(store.change(attempt).roll_back(name, number, at)?));
        self.stepped(Action::Rollback, name.as_str(), done)
    }

    /// Writes the audit line of a step that was not taken. That of one that was is written with it.
    fn stepped(&self, action: Action, called: &str, done: Result<Step, DeleteError>) -> Result<Step, DeleteError> {
        if let Err(error) = &done {
            let mut attempt = Attempt { name: Some(called.to_owned()), ..Attempt::new(action, self.now()) };
            if let DeleteError::Unconfirmed { id, .. } = error {
                attempt.tool = Some(*id);
            }
            attempt.result = Err(Failure { code: error.code(), message: Some(error.to_string()) });
            self.note(&attempt);
        }
        done
    }
}
