//! Errors of verifying a tool.

use toolcell_host::CallError;
use toolcell_i18n::{Message, message};
use toolcell_store::{Fault, StatusError};
use toolcell_tool::ToolName;

use crate::operations::run::RunError;

/// An error that prevented the verification of a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum VerifyError {
    /// The tool does not run, or must not.
    #[error(transparent)]
    #[coded(transparent)]
    Run(#[from] RunError),
    /// The tool is deprecated.
    #[error("`{0}` is deprecated")]
    #[code(StatusIllegal)]
    Deprecated(ToolName),
    /// The status of the tool changed meanwhile.
    #[error(transparent)]
    #[coded(transparent)]
    Status(StatusError),
    /// The verification was cancelled.
    #[error("the verification was cancelled")]
    #[code(Cancelled)]
    Cancelled,
}

impl VerifyError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Run(error) => error.hint(),
            Self::Deprecated(_) => message!("verify its successor"),
            Self::Status(_) => message!("review it with `toolcell show`, and verify it again"),
            Self::Cancelled => message!("verify it again"),
        }
    }
}

impl From<Fault> for VerifyError {
    fn from(fault: Fault) -> Self {
        Self::Run(RunError::Fault(fault))
    }
}

impl From<CallError> for VerifyError {
    fn from(error: CallError) -> Self {
        Self::Run(RunError::Call(error))
    }
}

impl From<StatusError> for VerifyError {
    fn from(error: StatusError) -> Self {
        match error {
            StatusError::Fault(fault) => fault.into(),
            other => Self::Status(other),
        }
    }
}
