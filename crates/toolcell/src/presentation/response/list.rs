//! The responses of `list_dynamic_tools` and `delete_dynamic_tool`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use toolcell_store::{Entry, VersionCommit};
use toolcell_tool::{ToolId, ToolName};

use super::status_names;
use crate::operations::list::ToolList;

/// A page of tools.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ListResponse<'a> {
    /// The number of tools on this page.
    pub count: usize,
    /// The number of tools that match the filter.
    pub total: u64,
    /// The number of tools after this page.
    pub more: u64,
    /// The cursor of the next page; null on the last one.
    pub cursor: Option<String>,
    /// The tools on this page.
    pub tools: Vec<ToolResponse<'a>>,
}

/// A stored tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResponse<'a> {
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// The name of the tool.
    pub name: &'a str,
    /// The description of the tool.
    pub description: &'a str,
    /// The tags, sorted.
    pub tags: &'a [String],
    /// The verification status.
    #[schemars(extend("enum" = status_names()))]
    pub verification_status: &'static str,
    /// The safety score, 0.0 to 1.0.
    pub safety_score: f64,
    /// The quality score, 0.0 to 1.0.
    pub quality_score: f64,
    /// The confidence from past runs, 0.1 to 1.0.
    pub confidence_score: f64,
    /// The number of runs.
    pub usage_count: u64,
    /// The number of successful runs.
    pub success_count: u64,
    /// The time of the last run.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_used_at: Option<Timestamp>,
    /// The time at which the tool was first stored.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// The time at which a version of the tool was last stored.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: Timestamp,
    /// The name of the tool to use instead, if this one is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<&'a str>,
}

/// A step in the history of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeleteResponse<'a> {
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// The name of the tool.
    pub name: &'a str,
    /// The number of the step, from 1.
    pub version: u64,
}

impl ToolList {
    /// Returns the list as a JSON response.
    #[must_use]
    pub fn response(&self) -> ListResponse<'_> {
        ListResponse {
            count: self.tools.len(),
            total: self.total,
            more: self.remaining,
            cursor: self.next_cursor.as_ref().map(ToString::to_string),
            tools: self
                .tools
                .iter()
                .map(|entry| ToolResponse::from_entry(entry, self.successors.get(&entry.id)))
                .collect(),
        }
    }
}

impl<'a> ToolResponse<'a> {
    /// Creates the response for a stored tool and its successor.
    #[must_use]
    pub fn from_entry(entry: &'a Entry, successor: Option<&'a ToolName>) -> Self {
        Self {
            id: entry.id,
            name: entry.name.as_str(),
            description: &entry.description,
            tags: &entry.tags,
            verification_status: entry.status.name(),
            safety_score: entry.scores.safety,
            quality_score: entry.scores.quality,
            confidence_score: entry.confidence,
            usage_count: entry.runs,
            success_count: entry.successes,
            last_used_at: entry.last_used_at,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            successor: successor.map(ToolName::as_str),
        }
    }
}

impl<'a> From<&'a VersionCommit> for DeleteResponse<'a> {
    fn from(step: &'a VersionCommit) -> Self {
        Self { id: step.id, name: step.name.as_str(), version: step.number }
    }
}
