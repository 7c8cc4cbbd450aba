//! Why a run does not fall asleep, or does not wake up.

use std::borrow::Cow;

use toolcell_host::WakeError;
use toolcell_store::{Fault, RunId, SleepError as BedError};
use toolcell_tool::ToolName;

use crate::permit::Denial;
use crate::run::RunError;

/// A run does not fall asleep, or does not wake up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// The store does not take it.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// No such run is asleep: it never was, or somebody woke it.
    #[error("the run `{run}` is not asleep")]
    NotAsleep {
        /// Which.
        run: String,
    },
    /// Somebody else runs it.
    #[error("the run {run} is somebody else's")]
    Principal {
        /// Which.
        run: RunId,
    },
    /// The policy grants its tool something else now.
    #[error("what `{name}` is granted has changed since the run {run} fell asleep")]
    GrantsChanged {
        /// Which.
        run: RunId,
        /// The tool.
        name: ToolName,
    },
    /// A gate wants other parameters than those it runs with.
    #[error(transparent)]
    Gate(Denial),
    /// It is not what was put to sleep.
    #[error("the run {run} is damaged where it sleeps, or somebody changed it")]
    Damaged {
        /// Which.
        run: RunId,
    },
    /// An answer is for a function that nobody waits for.
    #[error("the run waits for no function that answers under `{ticket}`")]
    UnknownTicket {
        /// The word.
        ticket: String,
    },
    /// The sandbox does not wake it.
    #[error(transparent)]
    Wake(WakeError),
    /// It cannot be written, or the system gives no random numbers.
    #[error("the run cannot be sealed: {0}")]
    Seal(String),
}

impl SleepError {
    pub(super) fn changed_by_gate(run: RunId) -> Self {
        let reason = format!("a gate changes the parameters of the run {run}, which has begun with others");
        Self::Gate(Denial::new("gates", reason, "run the tool again"))
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Bed(error) => error.code(),
            Self::NotAsleep { .. } => "run-not-asleep",
            Self::Principal { .. } => "asleep-principal",
            Self::GrantsChanged { .. } => "asleep-grants-changed",
            Self::Gate(_) => "permission-denied",
            Self::Damaged { .. } => "integrity",
            Self::UnknownTicket { .. } => "ticket-unknown",
            Self::Wake(error) => error.code(),
            Self::Seal(_) => "no-instance",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Bed(error) => error.hint().into(),
            Self::NotAsleep { .. } => {
                "`toolcell asleep` lists what is asleep; a run is woken once, and its record says what came of it"
                    .into()
            }
            Self::Principal { .. } => "wake it as who ran it".into(),
            Self::GrantsChanged { .. } => "grant it what it had and wake it, or run the tool again".into(),
            Self::Gate(denial) => denial.hint.as_str().into(),
            Self::Damaged { .. } => "run the tool again".into(),
            Self::UnknownTicket { .. } => "answer under the words that were told when it fell asleep".into(),
            Self::Wake(error) => error.hint().into(),
            Self::Seal(_) => "see to the system's random numbers, and run the tool again".into(),
        }
    }
}

impl From<Fault> for SleepError {
    fn from(fault: Fault) -> Self {
        Self::Bed(fault.into())
    }
}

impl From<SleepError> for RunError {
    fn from(error: SleepError) -> Self {
        match error {
            SleepError::Gate(denial) => Self::Denied(denial),
            SleepError::Bed(BedError::Fault(fault)) => Self::Fault(fault),
            other => Self::Sleep(other),
        }
    }
}
