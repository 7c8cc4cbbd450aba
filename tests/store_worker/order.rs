//! Orders of a store worker, and its replies.

use serde::{Deserialize, Serialize};
use toolcell_tool::Status;

use crate::sample::SampleTool;
use crate::state::StoreState;

/// An action with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreOrder {
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// The action.
    pub verb: StoreAction,
}

/// An action on a store. Tools are given by their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreAction {
    /// Insert a tool under a free name.
    Put(SampleTool),
    /// Insert a tool, replacing the one of the same name.
    Replace(SampleTool),
    /// Delete a name.
    Delete(String),
    /// Undelete a name.
    Undelete(String),
    /// Roll a name back to the step with this number.
    RollBack(String, u64),
    /// Record a run, with the code of its failure.
    Use(String, Option<String>),
    /// Set the status of a tool.
    Become(String, Status),
    /// Approve a tool with these grants.
    Approve(String, String),
    /// Refuse a tool these grants.
    Refuse(String, String),
    /// Revoke all decisions on a tool.
    Revoke(String),
    /// Insert a record with this body.
    Record(String, String),
    /// Start a run.
    Begin(String),
    /// Finish the run that was started last and is not finished, with the code of its failure.
    End(String, Option<String>),
    /// Close interrupted runs.
    Close,
    /// Read the state of these names.
    Look(Vec<String>),
}

impl StoreAction {
    /// Returns the tool names in the action.
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

/// The reply to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreReply {
    /// The order was carried out.
    Done,
    /// The order failed.
    Refused {
        /// The stable code.
        code: String,
        /// The message for people.
        message: String,
    },
    /// The state of the store.
    Seen {
        /// Whether the store is writable.
        writable: bool,
        /// The state.
        state: StoreState,
    },
}

impl StoreReply {
    /// Returns the code of a failure.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Done | Self::Seen { .. } => None,
        }
    }
}
