//! Why a tool did not run, or ran and did not return.
//!
//! Invariant: what the tool did itself is a [`Failed`], and what kept it from running, or its result from being seen, is a
//! [`RunError`].

use std::borrow::Cow;

use toolcell_host::{CallError, Effects, Stop, Thrown};
use toolcell_store::{Fault, RecordError};

use crate::find::FindToolError;
use crate::gate::RESULT_WITHHELD;
use crate::operations::ReachError;
use crate::params::{ParamsError, SchemaError};
use crate::permit::{Denial, NotAdmitted};
use crate::policy::LimitError;
use crate::request::RequestError;
use crate::sleep::SleepError;
use crate::vet::Refusal;

/// A tool ran and did not return.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// It threw.
    #[error("{}: {}", .0.name, .0.message)]
    Threw(Thrown),
    /// It was ended.
    #[error("{0}")]
    Stopped(Stop),
}

impl Failed {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Threw(_) => "tool-failed",
            Self::Stopped(stop) => stop.code(),
        }
    }
}

/// Why a tool did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The request cannot be meant so.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// What the tool declares that it takes contradicts itself.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The parameters are not what the tool takes.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The limits that were asked for cannot be had.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The analysis refuses the stored source.
    #[error("{0}")]
    Unsafe(Refusal),
    /// The policy, a gate or a person does not let it run, or does not let its result through.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// It ran, and a gate that failed keeps back what came of it.
    #[error("{denial}")]
    Withheld {
        /// By whom, and why.
        denial: Denial,
        /// How far it changed the world.
        effects: Effects,
    },
    /// What it is granted cannot be had.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The sandbox did not take the call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It was to get a receipt, and nothing can sign one.
    #[error("a receipt is signed with the key of a store, and this toolbox has none")]
    NoReceiptKey,
    /// The store fails, or what it holds is damaged.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// It does not fall asleep, or does not wake up.
    #[error(transparent)]
    Sleep(SleepError),
    /// It ran until it was to fall asleep, and does not: it has ended.
    #[error("{source}")]
    Unlaid {
        /// Why not.
        source: SleepError,
        /// How far it changed the world.
        effects: Effects,
    },
    /// It ran, and that could not be recorded.
    #[error("the tool ran (effects: {}), and that cannot be recorded: {source}", .effects.name())]
    Unrecorded {
        /// Why not.
        source: RecordError,
        /// How far it changed the world.
        effects: Effects,
    },
}

impl RunError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Request(error) => error.code(),
            Self::Find(error) => error.code(),
            Self::Schema(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::Limit(error) => error.code(),
            Self::Unsafe(_) => "safety-check-failed",
            Self::Denied(_) => "permission-denied",
            Self::Withheld { .. } => RESULT_WITHHELD,
            Self::Reach(error) => error.code(),
            Self::NoReceiptKey => "receipt-no-key",
            Self::Call(error) => error.code(),
            Self::Fault(error) => error.code(),
            Self::Sleep(error) | Self::Unlaid { source: error, .. } => error.code(),
            Self::Unrecorded { source, .. } => source.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Request(error) => error.hint().into(),
            Self::Find(error) => error.hint().into(),
            Self::Schema(error) => error.hint().into(),
            Self::Params(error) => error.hint().into(),
            Self::Limit(error) => error.hint().into(),
            Self::Unsafe(refusal) => refusal.hint().into(),
            Self::Denied(denial) | Self::Withheld { denial, .. } => denial.hint.as_str().into(),
            Self::Reach(error) => error.hint().into(),
            Self::NoReceiptKey => "open the toolbox with a store, or run the tool without a receipt".into(),
            Self::Call(error) => error.hint().into(),
            Self::Fault(error) => error.hint().into(),
            Self::Sleep(error) | Self::Unlaid { source: error, .. } => error.hint(),
            Self::Unrecorded { source, .. } => source.hint().into(),
        }
    }

    /// How far the tool changed the world all the same: `none` where it did not run.
    #[must_use]
    pub const fn effects(&self) -> Effects {
        match self {
            Self::Withheld { effects, .. } | Self::Unlaid { effects, .. } | Self::Unrecorded { effects, .. } => {
                *effects
            }
            _ => Effects::None,
        }
    }
}

impl From<NotAdmitted> for RunError {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Denied(denial) => Self::Denied(denial),
            NotAdmitted::Params(error) => Self::Params(error),
            NotAdmitted::Fault(fault) => Self::Fault(fault),
        }
    }
}
