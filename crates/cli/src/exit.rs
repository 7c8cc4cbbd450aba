//! The exit status of the process.

use std::process::ExitCode;

use toolcell::{Outcome, Stop};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: it is done.
    Done,
    /// 1: the tool ran and failed.
    ToolFailed,
    /// 2: the command was not understood, or what it was given cannot be used.
    Usage,
    /// 3: the analysis or a policy refuses it.
    Refused,
    /// 4: something that was named is not there.
    NotFound,
    /// 5: a limit was hit.
    Limit,
    /// 6: something is not what its hash says.
    Integrity,
    /// 70: a bug of ours.
    Bug,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number.
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

    /// What the end of a call means for the process.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
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
