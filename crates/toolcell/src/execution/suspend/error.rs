//! The errors of suspending and resuming a run.

use toolcell_host::ResumeError;
use toolcell_i18n::{Message, message, msgid};
use toolcell_store::{Fault, RunId, SuspendError};
use toolcell_tool::ToolName;

use crate::admission::Denial;

/// The error of suspending or resuming a run.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum RunSuspendError {
    /// The store cannot save or load the run.
    #[error(transparent)]
    #[coded(transparent)]
    Store(#[from] SuspendError),
    /// No such run is suspended: it never was, or it was resumed already.
    #[error("the run `{run}` is not suspended")]
    #[code(RunNotAsleep)]
    NotSuspended {
        /// The run.
        run: String,
    },
    /// The run belongs to another caller.
    #[error("the run {run} belongs to another caller")]
    #[code(AsleepPrincipal)]
    OtherCaller {
        /// The run.
        run: RunId,
    },
    /// The policy grants the tool something else than when the run was suspended.
    #[error("the grants of `{name}` have changed since the run {run} was suspended")]
    #[code(AsleepGrantsChanged)]
    GrantsChanged {
        /// The run.
        run: RunId,
        /// The tool.
        name: ToolName,
    },
    /// A hook changes the parameters, which are fixed once a run has started.
    #[error(transparent)]
    #[code(PermissionDenied)]
    Hook(Denial),
    /// The stored run was damaged or modified.
    #[error("the stored state of the run {run} is damaged or was modified")]
    #[code(Integrity)]
    Damaged {
        /// The run.
        run: RunId,
    },
    /// An answer's ticket does not belong to a pending host function.
    #[error("no pending function of the run has the ticket `{ticket}`")]
    #[code(TicketUnknown)]
    UnknownTicket {
        /// The ticket.
        ticket: String,
    },
    /// An answer cannot be checked, because the host does not provide its function now.
    #[error("the function `{function}`, whose ticket is `{ticket}`, is not provided")]
    #[code(ToolNotFound)]
    MissingFunction {
        /// The name of the function.
        function: String,
        /// The ticket.
        ticket: String,
    },
    /// The sandbox cannot resume the run.
    #[error(transparent)]
    #[coded(transparent)]
    Resume(ResumeError),
    /// The run cannot be serialized, or the system provides no random numbers.
    #[error("the state of the run cannot be encrypted: {0}")]
    #[code(NoInstance)]
    Encrypt(Message),
}

impl RunSuspendError {
    pub(crate) fn changed_by_hook(run: RunId) -> Self {
        let reason =
            message!("a hook changes the parameters of the run {run}, which are fixed once a run has started", run);
        Self::Hook(Denial::new("hooks", reason, msgid!("run the tool again")))
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Store(error) => error.hint().into(),
            Self::NotSuspended { .. } => {
                message!(
                    "`toolcell suspended` lists the suspended runs; a run is resumed at most once, and its record has the outcome"
                )
            }
            Self::OtherCaller { .. } => message!("resume it as the caller that started it"),
            Self::GrantsChanged { .. } => message!("restore its grants and resume it, or run the tool again"),
            Self::Hook(denial) => denial.hint.clone(),
            Self::Damaged { .. } => message!("run the tool again"),
            Self::MissingFunction { .. } => message!("resume the run with the function that was called"),
            Self::UnknownTicket { .. } => message!("use a ticket that was printed when the run was suspended"),
            Self::Resume(error) => error.hint().into(),
            Self::Encrypt(_) => message!("check the system's source of random numbers, and run the tool again"),
        }
    }
}

impl From<Fault> for RunSuspendError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}
