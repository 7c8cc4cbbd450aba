//! Errors of runs, and failures of tools.
//!
//! Invariant: a failure of the tool itself is a [`ToolFailure`]; a reason why it did not run, or
//! why its result is withheld, is a [`RunError`].

use toolcell_error::ErrorCode;
use toolcell_host::{CallError, Effects, Json, Outcome, Report, Stop, Thrown};
use toolcell_i18n::{Message, message};
use toolcell_policy::LimitError;
use toolcell_schema::{ParamsError, SchemaError};
use toolcell_store::{Fault, RecordError, SuspendError};

use crate::admission::{AdmissionError, Denial};
use crate::execution::suspend::RunSuspendError;
use crate::host_calls::GrantOpenError;
use crate::operations::lookup::FindToolError;
use crate::request::RequestError;
use crate::vet::Refusal;

/// The failure of a tool that ran and did not return.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[coded(no_hint)]
pub enum ToolFailure {
    /// The tool threw.
    #[error("{}: {}", .0.name, .0.message)]
    #[code(ToolFailed)]
    Threw(Thrown),
    /// A limit or a cancellation stopped the tool.
    #[error("{0}")]
    #[coded(transparent)]
    Stopped(Stop),
}

impl ToolFailure {
    /// Returns the result of a call: JSON text, or `None` for `undefined`.
    pub(crate) fn check(report: &Report) -> Result<Option<&Json>, Self> {
        match &report.outcome {
            Outcome::Returned(value) => Ok(value.as_ref()),
            Outcome::Threw(thrown) => Err(Self::Threw(thrown.clone())),
            Outcome::Stopped(stop) => Err(Self::Stopped(stop.clone())),
        }
    }
}

/// An error that prevented a run, or withheld its result.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum RunError {
    /// The request is malformed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// The parameter schema of the tool is invalid.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The parameters do not match the schema.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The requested limits are not available.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The analysis rejects the stored source.
    #[error("{0}")]
    Unsafe(Refusal),
    /// The policy, a hook or an approver denies the call.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The tool ran, and a hook that failed withholds the result.
    #[error("{denial}")]
    Withheld {
        /// The denial of the hook.
        denial: Denial,
        /// The effects of the run.
        effects: Effects,
    },
    /// A granted resource cannot be opened.
    #[error(transparent)]
    GrantOpen(#[from] GrantOpenError),
    /// The sandbox did not accept the call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A receipt was requested, and the toolbox has no key to sign it.
    #[error("a receipt is signed with the key of a store, and this toolbox has no store")]
    NoReceiptKey,
    /// The store failed, or an object in it is damaged.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The run cannot be suspended or resumed.
    #[error(transparent)]
    Suspend(RunSuspendError),
    /// The tool ran until it was to be suspended, which failed. The run has ended.
    #[error("{source}")]
    SuspendFailed {
        /// Why suspending failed.
        source: RunSuspendError,
        /// The effects of the run.
        effects: Effects,
    },
    /// The tool ran, and recording the run failed.
    #[error("the tool ran (effects: {}), but the run cannot be recorded: {source}", .effects.name())]
    RecordFailed {
        /// Why recording failed.
        source: RecordError,
        /// The effects of the run.
        effects: Effects,
    },
}

impl RunError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Request(error) => error.code(),
            Self::Find(error) => error.code(),
            Self::Schema(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::Limit(error) => error.code(),
            Self::Unsafe(_) => ErrorCode::SafetyCheckFailed,
            Self::Denied(_) => ErrorCode::PermissionDenied,
            Self::Withheld { .. } => ErrorCode::ResultWithheld,
            Self::GrantOpen(error) => error.code(),
            Self::NoReceiptKey => ErrorCode::ReceiptNoKey,
            Self::Call(error) => error.code(),
            Self::Fault(error) => error.code(),
            Self::Suspend(error) | Self::SuspendFailed { source: error, .. } => error.code(),
            Self::RecordFailed { source, .. } => source.code(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Request(error) => error.hint().into(),
            Self::Find(error) => error.hint().into(),
            Self::Schema(error) => error.hint().into(),
            Self::Params(error) => error.hint().into(),
            Self::Limit(error) => error.hint().into(),
            Self::Unsafe(refusal) => refusal.hint().into(),
            Self::Denied(denial) | Self::Withheld { denial, .. } => denial.hint.clone(),
            Self::GrantOpen(error) => error.hint(),
            Self::NoReceiptKey => message!("open the toolbox with a store, or run the tool without a receipt"),
            Self::Call(error) => error.hint().into(),
            Self::Fault(error) => error.hint().into(),
            Self::Suspend(error) | Self::SuspendFailed { source: error, .. } => error.hint(),
            Self::RecordFailed { source, .. } => source.hint().into(),
        }
    }

    /// Returns the effects of the run, `none` if the tool did not run.
    #[must_use]
    pub const fn effects(&self) -> Effects {
        match self {
            Self::Withheld { effects, .. }
            | Self::SuspendFailed { effects, .. }
            | Self::RecordFailed { effects, .. } => *effects,
            _ => Effects::None,
        }
    }
}

impl From<AdmissionError> for RunError {
    fn from(error: AdmissionError) -> Self {
        match error {
            AdmissionError::Denied(denial) => Self::Denied(denial),
            AdmissionError::Params(error) => Self::Params(error),
            AdmissionError::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl From<RunSuspendError> for RunError {
    fn from(error: RunSuspendError) -> Self {
        match error {
            RunSuspendError::Hook(denial) => Self::Denied(denial),
            RunSuspendError::Store(SuspendError::Fault(fault)) => Self::Fault(fault),
            other => Self::Suspend(other),
        }
    }
}
