//! Why a tool is not made.

use std::borrow::Cow;

use toolcell_host::CallError;
use toolcell_store::{Fault, NameStepError};
use toolcell_tool::{DraftError, NameError, NotesError, SpecError, ToolName};

use crate::alike::Alike;
use crate::params::SchemaError;
use crate::request::RequestError;
use crate::vet::Refusal;

/// Why a tool is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The request cannot be meant so.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// It runs in a way that there is not.
    #[error("the mode `{mode}` cannot be had: tools are functions in a sandbox, which has no shell")]
    Mode {
        /// What was asked for.
        mode: String,
    },
    /// The name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another tool does the same, and the policy wants each thing once.
    #[error("`{}` ({}) gives the same answers to {} inputs", .0.entry.name, .0.entry.id.short(), .0.inputs)]
    Duplicate(Box<Alike>),
    /// It cannot be compared with the tools that there are.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The host keeps the name for itself.
    #[error("`{name}` is the name of a tool of the host ({origin})")]
    Reserved {
        /// The name.
        name: ToolName,
        /// Who says so.
        origin: String,
    },
    /// The source is no draft.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// What it says that it takes contradicts itself.
    #[error(transparent)]
    Parameters(#[from] SchemaError),
    /// What is said about it is too much.
    #[error(transparent)]
    Notes(#[from] NotesError),
    /// What it declares is too much.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The analysis refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It is a factory, and making its tools fails.
    #[error("the factory does not make its tools: {0}")]
    Factory(String),
    /// The name is taken, or there is no room for more.
    #[error(transparent)]
    Step(NameStepError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl CreateError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Request(error) => error.code(),
            Self::Mode { .. } => "mode-unsupported",
            Self::Name(error) => error.code(),
            Self::Duplicate(_) => "tool-duplicate",
            Self::Call(error) => error.code(),
            Self::Reserved { .. } => "name-reserved",
            Self::Draft(error) => error.code(),
            Self::Parameters(error) => error.code(),
            Self::Notes(error) => error.code(),
            Self::Spec(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Factory(_) => "tool-failed",
            Self::Step(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Request(error) => error.hint().into(),
            Self::Mode { .. } => "leave `mode` out, or say `function`".into(),
            Self::Name(error) => error.hint().into(),
            Self::Duplicate(alike) => {
                format!("run `{0}`, or make a new version of it: `replace: true` with its name", alike.entry.name)
                    .into()
            }
            Self::Call(error) => error.hint().into(),
            Self::Reserved { .. } => "take another name".into(),
            Self::Draft(error) => error.hint().into(),
            Self::Parameters(error) => error.hint().into(),
            Self::Notes(NotesError::Example { .. }) => {
                "an example is {\"parameters\": {…}, \"result\": …}, or has `throws` or `holds` in place of `result`"
                    .into()
            }
            Self::Notes(NotesError::Claims { .. }) => {
                "`returns` is a JSON Schema, and `idempotent` the parameter that a result can be given back as".into()
            }
            Self::Notes(NotesError::Cost { .. }) => "say what making it cost in tokens, or leave it out".into(),
            Self::Notes(_) => "say less: long texts belong into the source, as comments".into(),
            Self::Spec(_) => "declare less".into(),
            Self::Refused(refusal) => refusal.hint().into(),
            Self::Factory(_) => {
                "a factory is a function of `pi` that gives a tool, or tools, and needs nothing granted".into()
            }
            Self::Step(error) => error.hint().into(),
            Self::Fault(fault) => fault.hint().into(),
        }
    }

    /// The name that is taken, where that is the reason.
    #[must_use]
    pub fn taken(&self) -> Option<&str> {
        match self {
            Self::Step(NameStepError::Taken { existing_name, .. }) => Some(existing_name),
            _ => None,
        }
    }

    /// Line and column, where the source is at fault.
    #[must_use]
    pub fn place(&self) -> Option<(u32, u32)> {
        if let Self::Refused(refusal) = self { refusal.place() } else { None }
    }
}

impl From<NameStepError> for CreateError {
    fn from(error: NameStepError) -> Self {
        match error {
            NameStepError::Fault(fault) => Self::Fault(fault),
            other => Self::Step(other),
        }
    }
}
