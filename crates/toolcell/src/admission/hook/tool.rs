//! Hooks that are stored tools: they get the event as their parameters, and return an answer.
//!
//! Invariant: a tool decides without grants, so its answer depends on the event alone, and only a
//! tool that a person approved decides at all.

use std::time::Duration;

use serde_json::Value;
use toolcell_host::Json;
use toolcell_i18n::message;

use super::error::FailureCause;
use super::phase::HookPhase;

/// The definition of a hook that is a stored tool.
#[derive(Debug, Clone)]
pub struct ToolHook {
    /// The name of the hook in messages and records.
    pub name: String,
    /// The name or the identifier of the tool. A person has to approve the tool.
    pub tool: String,
    /// When the tool runs.
    pub when: HookPhase,
    /// The timeout.
    pub timeout: Duration,
    /// The tools that the hook applies to: names, or `prefix*`. Empty for every tool.
    pub tools: Vec<String>,
}

/// What runs the stored tools that are hooks.
pub(crate) trait HookTools {
    /// Runs a tool with an event as its parameters, and returns its result.
    fn run(&self, tool: &str, event: Value, timeout: Duration) -> Result<Option<Json>, FailureCause>;
}

/// Runs no tool: there is no toolbox.
pub(super) struct NoHookTools;

impl HookTools for NoHookTools {
    fn run(&self, tool: &str, _: Value, _: Duration) -> Result<Option<Json>, FailureCause> {
        Err(FailureCause::NotStarted(message!("`{tool}` is a stored tool, which only a toolbox runs", tool)))
    }
}
