//! The errors of suspending and resuming a run.

use std::borrow::Cow;

use toolcell_host::ResumeError;
use toolcell_store::{Fault, RunId, SuspendError as BedError};
use toolcell_tool::ToolName;

use crate::permit::Denial;
use crate::run::RunError;

/// The error of suspending or resuming a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunSuspendError {
    /// The store cannot save or load the run.
    #[error(transparent)]
    Store(#[from] BedError),
    /// No such run is suspended: it never was, or it was resumed already.
    #[error("the run `{run}` is not asleep")]
    NotSuspended {
        /// The run.
        run: String,
    },
    /// The run belongs to another caller.
    #[error("the run {run} is somebody else's")]
    OtherCaller {
        /// The run.
        run: RunId,
    },
    /// The policy grants the tool something else than when the run was suspended.
    #[error("what `{name}` is granted has changed since the run {run} fell asleep")]
    GrantsChanged {
        /// The run.
        run: RunId,
        /// The tool.
        name: ToolName,
    },
    /// A hook changes the parameters, which are fixed once a run has started.
    #[error(transparent)]
    Hook(Denial),
    /// The stored run was damaged or modified.
    #[error("the run {run} is damaged where it sleeps, or somebody changed it")]
    Damaged {
        /// The run.
        run: RunId,
    },
    /// An answer's ticket does not belong to a pending host function.
    #[error("the run waits for no function that answers under `{ticket}`")]
    UnknownTicket {
        /// The ticket.
        ticket: String,
    },
    /// The sandbox cannot resume the run.
    #[error(transparent)]
    Resume(ResumeError),
    /// The run cannot be serialized, or the system provides no random numbers.
    #[error("the run cannot be sealed: {0}")]
    Encrypt(String),
}

impl RunSuspendError {
    pub(super) fn changed_by_hook(run: RunId) -> Self {
        let reason = format!("a gate changes the parameters of the run {run}, which has begun with others");
        Self::Hook(Denial::new("gates", reason, "run the tool again"))
    }

    /// Returns the stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::NotSuspended { .. } => "run-not-asleep",
            Self::OtherCaller { .. } => "asleep-principal",
            Self::GrantsChanged { .. } => "asleep-grants-changed",
            Self::Hook(_) => "permission-denied",
            Self::Damaged { .. } => "integrity",
            Self::UnknownTicket { .. } => "ticket-unknown",
            Self::Resume(error) => error.code(),
            Self::Encrypt(_) => "no-instance",
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Store(error) => error.hint().into(),
            Self::NotSuspended { .. } => {
                "`toolcell asleep` lists what is asleep; a run is woken once, and its record says what came of it"
                    .into()
            }
            Self::OtherCaller { .. } => "wake it as who ran it".into(),
            Self::GrantsChanged { .. } => "grant it what it had and wake it, or run the tool again".into(),
            Self::Hook(denial) => denial.hint.as_str().into(),
            Self::Damaged { .. } => "run the tool again".into(),
            Self::UnknownTicket { .. } => "answer under the words that were told when it fell asleep".into(),
            Self::Resume(error) => error.hint().into(),
            Self::Encrypt(_) => "see to the system's random numbers, and run the tool again".into(),
        }
    }
}

impl From<Fault> for RunSuspendError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

impl From<RunSuspendError> for RunError {
    fn from(error: RunSuspendError) -> Self {
        match error {
            RunSuspendError::Hook(denial) => Self::Denied(denial),
            RunSuspendError::Store(BedError::Fault(fault)) => Self::Fault(fault),
            other => Self::Suspend(other),
        }
    }
}
