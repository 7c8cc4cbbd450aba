//! The exit status of the process.

use std::process::ExitCode;

use toolcell::{Outcome, Stop};

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: success.
    Done,
    /// 1: the tool failed.
    ToolFailed,
    /// 2: invalid arguments or input.
    Usage,
    /// 3: refused by the analysis or a policy.
    Refused,
    /// 4: not found, or a conflict with what exists.
    NotFound,
    /// 5: a limit was hit.
    Limit,
    /// 6: an integrity check failed.
    Integrity,
    /// 70: a bug in Toolcell.
    Bug,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// Returns the status as a number.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::ToolFailed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotFound => 4,
            Self::Limit => 5,
            Self::Integrity => 6,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// Returns the status for the outcome of a call.
    #[must_use]
    pub fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned(_) => Self::Done,
            Outcome::Threw(_) | Outcome::Stopped(Stop::Stalled) => Self::ToolFailed,
            Outcome::Stopped(Stop::Cancelled) => Self::Interrupted,
            Outcome::Stopped(Stop::Crashed { .. } | Stop::WorkerDied { .. }) => Self::Bug,
            Outcome::Stopped(_) => Self::Limit,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.status().into()
    }
}
