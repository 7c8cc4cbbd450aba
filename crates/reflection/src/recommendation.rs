//! The possible recommendations of a reflection.

use serde::Serialize;
use toolcell_tool::ToolId;

/// A recommendation for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Recommendation {
    /// Make a new tool.
    Create,
    /// Use a stored tool.
    Reuse(ToolId),
    /// Fix a stored tool.
    Revise(ToolId),
    /// Make a tool from stored ones.
    Compose(Vec<ToolId>),
    /// Do without a tool.
    None,
}
