//! The contribution of one run to the usage of its tool.

use std::time::Duration;

use jiff::Timestamp;
use toolcell_tool::ToolId;

/// The usage of a tool by one run.
#[derive(Debug, Clone)]
pub struct UsageEvent {
    /// The tool.
    pub tool: ToolId,
    /// When it ran.
    pub at: Timestamp,
    /// The code of the failure, if it failed.
    pub failure: Option<String>,
    /// The fuel used.
    pub fuel: u64,
    /// The duration of the run.
    pub duration: Duration,
    /// The tokens saved, if the host reports them. They are counted only for successful runs.
    pub tokens_saved: Option<u64>,
    /// The time saved, if the host reports it. It is counted only for successful runs.
    pub time_saved: Option<Duration>,
}
