//! Errors of creating a tool.

use toolcell_host::CallError;
use toolcell_i18n::{Message, message};
use toolcell_schema::SchemaError;
use toolcell_store::{Fault, HistoryError};
use toolcell_tool::{DraftError, MetadataError, NameError, SpecError, ToolName};

use crate::request::RequestError;
use crate::verification::EquivalentTool;
use crate::vet::Refusal;

/// The error of creating a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum CreateError {
    /// The request is malformed.
    #[error(transparent)]
    #[coded(transparent)]
    Request(#[from] RequestError),
    /// The execution mode does not exist.
    #[error("the mode `{mode}` is not supported: tools are functions in a sandbox, which has no shell")]
    #[code(ModeUnsupported)]
    Mode {
        /// The requested mode.
        mode: String,
    },
    /// The name is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Name(#[from] NameError),
    /// An equivalent tool exists, and the policy refuses duplicates.
    #[error("`{}` ({}) gives the same answers to {} inputs", .0.entry.name, .0.entry.id.short(), .0.inputs)]
    #[code(ToolDuplicate)]
    Duplicate(Box<EquivalentTool>),
    /// The policy refuses duplicates, and this build cannot compare tools.
    #[error("the policy refuses duplicates, and this build cannot compare tools")]
    #[code(DuplicatesUnsupported)]
    NoComparison,
    /// The comparison with existing tools failed.
    #[error(transparent)]
    #[coded(transparent)]
    Call(#[from] CallError),
    /// The name is reserved by the host.
    #[error("the name `{name}` is reserved ({origin})")]
    #[code(NameReserved)]
    Reserved {
        /// The name.
        name: ToolName,
        /// Where the name is reserved.
        origin: Message,
    },
    /// The source is not a valid draft.
    #[error(transparent)]
    #[coded(transparent)]
    Draft(#[from] DraftError),
    /// The parameter schema is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Parameters(#[from] SchemaError),
    /// The metadata is invalid or too large.
    #[error(transparent)]
    #[coded(transparent)]
    Metadata(#[from] MetadataError),
    /// The declarations are too large.
    #[error(transparent)]
    #[coded(transparent)]
    Spec(#[from] SpecError),
    /// The analysis rejects the tool.
    #[error(transparent)]
    #[coded(transparent)]
    Refused(#[from] Refusal),
    /// The factory fails to create its tools.
    #[error("the factory failed: {0}")]
    #[code(ToolFailed)]
    Factory(Message),
    /// The name is taken, or the store has no room for more tools.
    #[error(transparent)]
    #[coded(transparent)]
    History(HistoryError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl CreateError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Request(error) => error.hint().into(),
            Self::Mode { .. } => message!("leave out `mode`, or set it to `function`"),
            Self::Name(error) => error.hint().into(),
            Self::Duplicate(alike) => {
                let name = &alike.entry.name;
                message!("run `{name}`, or create a new version of it with its name and `replace: true`", name)
            }
            Self::NoComparison => no_comparison_hint(),
            Self::Call(error) => error.hint().into(),
            Self::Reserved { .. } => message!("choose another name"),
            Self::Draft(error) => error.hint().into(),
            Self::Parameters(error) => error.hint().into(),
            Self::Metadata(MetadataError::Example { .. }) => {
                message!("an example is {\"parameters\": {…}, \"result\": …}; `throws` or `holds` can replace `result`")
            }
            Self::Metadata(MetadataError::Postconditions { .. }) => {
                message!(
                    "`returns` is a JSON Schema, and `idempotent` names the parameter that accepts an earlier result"
                )
            }
            Self::Metadata(MetadataError::Cost { .. }) => message!("give the creation cost in tokens, or leave it out"),
            Self::Metadata(_) => message!("shorten the metadata; put long texts into the source as comments"),
            Self::Spec(_) => message!("declare fewer parameters and capabilities, or shorten them"),
            Self::Refused(refusal) => refusal.hint().into(),
            Self::Factory(_) => {
                message!("a factory is a function of `pi` that returns one or more tools and needs no grants")
            }
            Self::History(error) => error.hint().into(),
            Self::Fault(fault) => fault.hint().into(),
        }
    }

    /// Returns the existing tool's name if the name is taken.
    #[must_use]
    pub fn taken_name(&self) -> Option<&str> {
        match self {
            Self::History(HistoryError::Taken { existing_name, .. }) => Some(existing_name),
            _ => None,
        }
    }

    /// Returns the line and column of the error, if it is in the source.
    #[must_use]
    pub fn position(&self) -> Option<(u32, u32)> {
        if let Self::Refused(refusal) = self { refusal.position() } else { None }
    }
}

/// Returns the hint for a policy that refuses duplicates where tools cannot be compared.
fn no_comparison_hint() -> Message {
    message!("set `store.duplicates` to `warn` or `allow` in the policy, or build Toolcell with the feature `proof`")
}

impl From<HistoryError> for CreateError {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::Fault(fault) => Self::Fault(fault),
            other => Self::History(other),
        }
    }
}
