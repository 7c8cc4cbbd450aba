//! Where the page finds the tools.

use std::ops::Deref;
use std::sync::Arc;

use axum::http::StatusCode;
use toolcell::policy::Grants;
use toolcell::store::{Fault, ListError};
use toolcell::{
    ApprovalError, ApprovalPrompt, CreateError, ExecError, JsonError, ParamsError, ReplayError, ReviewError, RunError,
    RunSuspendError, SearchError, ShowError, Toolbox,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message};

/// Where the page finds the tools, under the policy that is in effect when it is asked.
pub trait ToolboxSource: Send + Sync + 'static {
    /// Returns the toolbox under the policy as it is now.
    ///
    /// # Errors
    /// The policy is invalid now, or the store cannot be opened.
    fn current(&self) -> Result<CurrentToolbox, PageError>;

    /// Whether the person at the page can add grants to the policy.
    fn can_grant(&self) -> bool;

    /// Returns the command that adds grants for a tool of this toolbox, without the tool and the grants.
    fn grant_command(&self) -> String;

    /// Adds grants for one tool to the user's policy, and approves the tool with them. `shown` is what the person saw, `by` names the
    /// person.
    ///
    /// # Errors
    /// The policy changed since, would not grant it, or cannot be written: nothing is approved.
    fn grant(&self, shown: &ApprovalPrompt, added: &Grants, by: &str) -> Result<(), PageError>;
}

/// A toolbox, and the policy that it was opened under.
#[derive(Clone)]
pub struct CurrentToolbox {
    /// The toolbox.
    pub toolbox: Arc<Toolbox>,
    /// A number that is another one after the policy changed.
    pub policy_version: u64,
}

impl CurrentToolbox {
    /// Describes the state of the store and of the policy. Read before a page is made, it makes each later change noticed.
    pub(crate) fn marker(&self) -> Result<String, PageError> {
        let marker = self.store().map(|store| store.changes().marker()).transpose()?;
        Ok(marker.map(|marker| format!("{marker}.{}", self.policy_version)).unwrap_or_default())
    }
}

impl Deref for CurrentToolbox {
    type Target = Toolbox;

    fn deref(&self) -> &Toolbox {
        &self.toolbox
    }
}

/// An error that a page shows.
#[derive(Debug)]
pub struct PageError {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened.
    pub message: Message,
    /// What to do next; empty if there is nothing to do.
    pub hint: Message,
}

impl PageError {
    /// Returns the status of an answer with this error.
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            ErrorCode::RunNotAsleep | ErrorCode::ToolNotFound | ErrorCode::VersionNotFound => StatusCode::NOT_FOUND,
            ErrorCode::ApprovalChanged | ErrorCode::PolicyFileChanged | ErrorCode::SafetyCheckFailed => {
                StatusCode::CONFLICT
            }
            ErrorCode::CursorInvalid | ErrorCode::FilterInvalid | ErrorCode::GrantInvalid | ErrorCode::IdAmbiguous => {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<ListError> for PageError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Fault(fault) => fault.into(),
            other => {
                Self { code: other.code(), message: other.localize(), hint: message!("start from the first page") }
            }
        }
    }
}

impl From<JsonError> for PageError {
    fn from(error: JsonError) -> Self {
        Self { code: error.code(), message: error.localize(), hint: message!("write the parameters as a JSON object") }
    }
}

/// Errors of operations, which have a code, a message and a hint.
macro_rules! page_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for PageError {
            fn from(error: $error) -> Self {
                Self { code: error.code(), message: error.localize(), hint: error.hint().into() }
            }
        }
    )*};
}

page_errors!(
    ApprovalError,
    CreateError,
    ExecError,
    Fault,
    ParamsError,
    ReplayError,
    ReviewError,
    RunError,
    RunSuspendError,
    SearchError,
    ShowError
);
