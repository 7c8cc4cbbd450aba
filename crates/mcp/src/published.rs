//! Approved tools as MCP tools of their own, if the host enables it.
//!
//! Invariant: only tools that were approved with their current grants are listed, and they run like
//! any other tool, through `run_dynamic_tool`.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use toolcell::store::{Decision, Entry, Fault};
use toolcell::{ApprovalState, Schema, Toolbox};

use crate::builtin_tools::{BuiltinTool, effect_annotations};
use crate::run_result::ResultShape;

/// The prefix of published tool names.
const PREFIX: &str = "toolcell__";
/// The longest tool name that model APIs accept.
const NAME_LIMIT: usize = 64;
/// The most approval decisions that are read.
const MAX_DECISIONS: usize = 10_000;

/// An approved tool that is an MCP tool of its own.
pub(crate) struct PublishedTool {
    /// The MCP tool.
    pub(crate) tool: Tool,
    /// The name of the stored tool.
    pub(crate) stored_name: String,
    /// The shape of its results, as the output schema declares it.
    pub(crate) shape: ResultShape,
}

/// Lists the approved tools by name, at most `most` of them.
pub(crate) fn list(toolbox: &Toolbox, most: usize) -> Result<Vec<PublishedTool>, Fault> {
    let mut entries: Vec<Entry> = Vec::new();
    if most == 0 {
        return Ok(Vec::new());
    }
    for (entry, approval) in toolbox.decisions(MAX_DECISIONS)? {
        let fits = PREFIX.len() + entry.name.as_str().len() <= NAME_LIMIT;
        let is_there = entries.iter().any(|other| other.id == entry.id);
        if fits && !is_there && entry.current && approval.decision == Decision::Approved {
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    let tools = entries.iter().filter_map(|entry| published_tool(toolbox, entry).transpose());
    tools.take(most).collect()
}

/// Finds a published tool by the name that clients call.
pub(crate) fn find(toolbox: &Toolbox, name: &str, most: usize) -> Result<Option<PublishedTool>, Fault> {
    Ok(list(toolbox, most)?.into_iter().find(|published| published.tool.name == name))
}

/// Builds the MCP tool, if the stored tool is approved with the grants that it would get now.
fn published_tool(toolbox: &Toolbox, entry: &Entry) -> Result<Option<PublishedTool>, Fault> {
    let shown = match toolbox.show(&entry.id.to_string(), None) {
        Ok(shown) if matches!(shown.approval_state, ApprovalState::Approved) => shown,
        Err(toolcell::ShowError::Fault(fault)) => return Err(fault),
        // It was deleted meanwhile, or changed since its approval.
        Ok(_) | Err(_) => return Ok(None),
    };
    let Ok(schema) = Schema::compile(shown.spec.parameters()) else { return Ok(None) };
    let input = match schema.json_schema() {
        Some(Value::Object(schema)) => schema.clone(),
        _ => any_object_schema(),
    };
    let description =
        format!("{} (approved tool; source: toolcell://tools/{}/source)", entry.description, entry.id.short());
    let mut tool = Tool::new(format!("{PREFIX}{}", entry.name), description, Arc::new(input));
    let (output, shape) = output_schema(shown.notes.postconditions().returns.as_ref());
    tool.output_schema = Some(output);
    tool.annotations = Some(effect_annotations(&shown.grants.capabilities()));
    Ok(Some(PublishedTool { tool, stored_name: entry.name.to_string(), shape }))
}

/// The output schema of a tool that declares this result. The structured content of a result must
/// be an object, so any other value is a field of one.
fn output_schema(returns: Option<&Value>) -> (Arc<JsonObject>, ResultShape) {
    match returns {
        None => (Arc::clone(BuiltinTool::Run.output_schema()), ResultShape::Envelope),
        Some(Value::Object(returns)) if returns.get("type") == Some(&Value::from("object")) => {
            (Arc::new(returns.clone()), ResultShape::Value)
        }
        Some(returns) => {
            let mut schema = JsonObject::clone(BuiltinTool::Run.output_schema());
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("value".to_owned(), returns.clone());
            }
            (Arc::new(schema), ResultShape::CheckedEnvelope)
        }
    }
}

fn any_object_schema() -> JsonObject {
    match json!({"type": "object"}) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
