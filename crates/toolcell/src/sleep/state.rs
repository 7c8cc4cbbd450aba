//! What is told of runs that sleep, and what they are woken by.
//!
//! Invariant: nothing here wakes a run or says what it holds in its memory.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolcell_store::RunId;
use toolcell_tool::{ToolId, ToolName};

use crate::function::FunctionFailed;
use crate::operations::Held;
use crate::run::Ran;

/// How a run got on that may be put to sleep.
#[derive(Debug)]
#[must_use = "a run that sleeps goes on when somebody wakes it"]
pub enum RunState {
    /// It took place.
    Ended(Box<Ran>),
    /// It is asleep.
    Asleep(Asleep),
}

/// A run that was put to sleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asleep {
    /// What it is woken by.
    pub run: RunId,
    /// The tool.
    pub tool: ToolId,
    /// Its name.
    pub name: ToolName,
    /// What nobody has decided about.
    pub held: Vec<Held>,
    /// Functions of the host that answer later.
    pub tickets: Vec<Ticket>,
    /// How many bytes of the store it takes.
    pub bytes: u64,
    /// The hash of the record of what happened until then.
    pub record: Option<blake3::Hash>,
}

/// A function of the host that answers later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ticket {
    /// The name of the function.
    pub function: String,
    /// The word that it answered with.
    pub ticket: String,
}

/// A run that is asleep, as it stands in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sleeper {
    /// What it is woken by.
    pub run: RunId,
    /// The tool.
    pub tool: ToolId,
    /// Its name.
    pub name: String,
    /// Who runs it, and nobody else wakes it.
    pub caller: String,
    /// Since when it sleeps.
    pub since: Timestamp,
    /// How many bytes of the store it takes.
    pub bytes: u64,
}

/// Asks for a run to be woken.
#[derive(Debug, Clone, Default)]
pub struct ResumeRun {
    /// Which.
    pub run: String,
    /// What came of functions that answer later, by their tickets. What is missing is waited for further.
    pub answers: BTreeMap<String, Result<Value, FunctionFailed>>,
}

impl ResumeRun {
    /// Asks for this run to be woken, where no function answers.
    #[must_use]
    pub fn of(run: RunId) -> Self {
        Self { run: run.to_string(), answers: BTreeMap::new() }
    }
}
