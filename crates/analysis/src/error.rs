//! Why a source could not be analysed or translated at all.
//!
//! Invariant: what is said of a source that parses is a [`Finding`](crate::Finding), never in here.

use crate::position::Location;

/// Something that the author has to change before the source means anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// Where.
    pub location: Location,
    /// The line of the source it begins in; of a long one, what is around it.
    pub text: String,
}

/// A source was not analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// It does not parse.
    #[error("{}", said(.0))]
    Syntax(Vec<Problem>),
    /// It parses, but has something in it that does not run here.
    #[error("{}", said(.0))]
    Unsupported(Vec<Problem>),
    /// It nests deeper than it is parsed.
    #[error("{}", said(.0))]
    TooDeep(Vec<Problem>),
    /// The machine has too little address space to analyse a source of this size safely.
    #[error("this machine gives too little stack to analyse a source of more than {limit} bytes")]
    NoRoom {
        /// The longest source that can be tried, in bytes.
        limit: usize,
    },
    /// The machine gives no thread to analyse a source on.
    #[error("no thread can be started to analyse the source: {cause}")]
    NoThread {
        /// What the system said.
        cause: String,
    },
}

impl Rejection {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "syntax-error",
            Self::Unsupported(_) => "syntax-unsupported",
            Self::TooDeep(_) => "source-too-deep",
            Self::NoRoom { .. } => "source-too-large",
            Self::NoThread { .. } => "no-threads",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "correct the source at this place",
            Self::Unsupported(_) => "write it as the message says",
            Self::TooDeep(_) => "write lists, functions and statements of their own in place of what is nested",
            Self::NoRoom { .. } => "raise the limit on address space (`ulimit -v`), or split the tool",
            Self::NoThread { .. } => {
                "raise the limit on processes and threads (`ulimit -u`, `pids.max` of the control group), or end other processes"
            }
        }
    }

    /// All that is wrong with the source.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Syntax(problems) | Self::Unsupported(problems) | Self::TooDeep(problems) => problems,
            Self::NoRoom { .. } | Self::NoThread { .. } => &[],
        }
    }
}

fn said(problems: &[Problem]) -> String {
    let Some(first) = problems.first() else { return "the source does not parse".to_owned() };
    let more = problems.len() - 1;
    let also = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    format!("{} at {}:{}{also}", first.message, first.location.line, first.location.column)
}
