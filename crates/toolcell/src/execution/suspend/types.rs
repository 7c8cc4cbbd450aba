//! The public types of suspended runs.
//!
//! Invariant: nothing here resumes a run or reveals its memory.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolcell_store::RunId;
use toolcell_tool::{ToolId, ToolName};

use crate::host_calls::FunctionFailure;
use crate::host_calls::HeldEffect;

/// A run that was just suspended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedRun {
    /// The identifier to resume it by.
    pub run: RunId,
    /// The tool's identifier.
    pub tool: ToolId,
    /// The tool's name.
    pub name: ToolName,
    /// The held effects that are not decided yet.
    pub held: Vec<HeldEffect>,
    /// The host functions that answer later.
    pub tickets: Vec<CallbackTicket>,
    /// The size in the store in bytes.
    pub bytes: u64,
    /// The hash of the record of the run so far.
    pub record: Option<blake3::Hash>,
}

/// A pending call of a host function that answers later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallbackTicket {
    /// The name of the function.
    pub function: String,
    /// The ticket that the function returned.
    pub ticket: String,
}

/// A suspended run, as the store lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedRunInfo {
    /// The identifier to resume it by.
    pub run: RunId,
    /// The tool's identifier.
    pub tool: ToolId,
    /// The tool's name.
    pub name: String,
    /// The caller; only the same caller may resume the run.
    pub caller: String,
    /// The time of the suspension.
    pub since: Timestamp,
    /// The size in the store in bytes.
    pub bytes: u64,
}

/// A request to resume a suspended run.
#[derive(Debug, Clone, Default)]
pub struct ResumeRequest {
    /// The identifier of the run.
    pub run: String,
    /// The answers of host functions by ticket. The run keeps waiting for the missing ones.
    pub answers: BTreeMap<String, Result<Value, FunctionFailure>>,
}

impl ResumeRequest {
    /// Creates a request to resume this run without answers.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self { run: run.to_string(), answers: BTreeMap::new() }
    }
}

/// A suspended run, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedRunDetails {
    /// The run.
    pub info: SuspendedRunInfo,
    /// Its parameters, as JSON text.
    pub params: String,
    /// The held effects that await a decision.
    pub held: Vec<HeldEffect>,
    /// The functions that have not answered yet.
    pub tickets: Vec<CallbackTicket>,
}
