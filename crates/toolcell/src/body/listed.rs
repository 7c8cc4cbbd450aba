//! What `list_dynamic_tools` and `delete_dynamic_tool` answer.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use toolcell_store::{Entry, Step};
use toolcell_tool::{ToolId, ToolName};

use super::statuses;
use crate::list::Listed;

/// A page of tools.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ListedBody<'a> {
    /// How many are in it.
    pub count: usize,
    /// How many fit the filter in all.
    pub total: u64,
    /// How many come after these.
    pub more: u64,
    /// Where to go on; none where this is the end.
    pub cursor: Option<String>,
    /// The tools.
    pub tools: Vec<ToolBody<'a>>,
}

/// What is kept about a tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolBody<'a> {
    /// Its identifier.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// Its tags, sorted.
    pub tags: &'a [String],
    /// How far it is trusted.
    #[schemars(extend("enum" = statuses()))]
    pub verification_status: &'static str,
    /// How safe it is, 0.0 to 1.0.
    pub safety_score: f64,
    /// How good it is, 0.0 to 1.0.
    pub quality_score: f64,
    /// How far its runs speak for it, 0.1 to 1.0.
    pub confidence_score: f64,
    /// How often it ran.
    pub usage_count: u64,
    /// How often that went well.
    pub success_count: u64,
    /// When it ran last.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_used_at: Option<Timestamp>,
    /// When it was first stored.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// When something was last said about it.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: Timestamp,
    /// What is to be used in its place, where it is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<&'a str>,
}

/// A step that was taken in the history of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeletedBody<'a> {
    /// The tool that it is about.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// Its name.
    pub name: &'a str,
    /// The number of the step, from 1.
    pub version: u64,
}

impl Listed {
    /// The answer as programs read it.
    #[must_use]
    pub fn body(&self) -> ListedBody<'_> {
        ListedBody {
            count: self.tools.len(),
            total: self.total,
            more: self.more,
            cursor: self.next.as_ref().map(ToString::to_string),
            tools: self.tools.iter().map(|entry| ToolBody::of(entry, self.successors.get(&entry.id))).collect(),
        }
    }
}

impl<'a> ToolBody<'a> {
    /// What is kept about a tool, and what is to be used in its place.
    #[must_use]
    pub fn of(entry: &'a Entry, successor: Option<&'a ToolName>) -> Self {
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

impl<'a> From<&'a Step> for DeletedBody<'a> {
    fn from(step: &'a Step) -> Self {
        Self { id: step.id, name: step.name.as_str(), version: step.number }
    }
}
