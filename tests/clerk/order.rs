//! What a clerk is told, and what it says.

use serde::{Deserialize, Serialize};
use toolcell_tool::Status;

use crate::sample::Sample;
use crate::state::State;

/// Something to do, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The time, in milliseconds since 1970.
    pub at: i64,
    /// What to do.
    pub verb: Verb,
}

/// Something to do with a store. Tools are told by their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// Store a tool under a name that is free.
    Put(Sample),
    /// Store a tool, whatever its name leads to.
    Replace(Sample),
    /// Take a name away.
    Delete(String),
    /// Give a name back.
    Undelete(String),
    /// Let a name lead to where it led at the step with this number.
    RollBack(String, u64),
    /// Record a run, and the code of its failure.
    Use(String, Option<String>),
    /// Give a tool a status.
    Become(String, Status),
    /// Approve a tool with some grants.
    Approve(String, String),
    /// Refuse a tool some grants.
    Refuse(String, String),
    /// Take back all that was said to a tool.
    Revoke(String),
    /// Keep a record with this body.
    Record(String, String),
    /// Begin a run.
    Begin(String),
    /// End the run that was begun last and not ended yet.
    End(String, Option<String>),
    /// Close the runs that were interrupted.
    Close,
    /// Look at everything that these names ever led to.
    Look(Vec<String>),
}

impl Verb {
    /// The names of tools that it is about.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Put(sample) | Self::Replace(sample) => vec![sample.name.clone()],
            Self::Delete(name)
            | Self::Undelete(name)
            | Self::RollBack(name, _)
            | Self::Use(name, _)
            | Self::Become(name, _)
            | Self::Approve(name, _)
            | Self::Refuse(name, _)
            | Self::Revoke(name)
            | Self::Record(name, _)
            | Self::Begin(name)
            | Self::End(name, _) => vec![name.clone()],
            Self::Close => Vec::new(),
            Self::Look(names) => names.clone(),
        }
    }
}

/// What the store said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done,
    /// It is not, and why.
    Refused {
        /// The stable code.
        code: String,
        /// What people read.
        message: String,
    },
    /// What is there.
    Seen {
        /// Whether the store can be written.
        writable: bool,
        /// What is in it.
        state: State,
    },
}

impl Answer {
    /// The code of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Done | Self::Seen { .. } => None,
        }
    }
}
