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

/// The prefix of published tool names.
const PREFIX: &str = "toolcell__";
/// The longest tool name that model APIs accept.
const NAME_LIMIT: usize = 64;
/// The most approval decisions that are read.
const MAX_DECISIONS: usize = 10_000;

/// Lists the approved tools by name, at most `most` of them.
pub(crate) fn list(toolbox: &Toolbox, most: usize) -> Result<Vec<Tool>, Fault> {
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

/// The stored name of a published tool.
pub(crate) fn stored_name(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// Finds a published tool by name.
pub(crate) fn find(toolbox: &Toolbox, name: &str, most: usize) -> Result<Option<Tool>, Fault> {
    Ok(list(toolbox, most)?.into_iter().find(|tool| tool.name == name))
}

/// Builds the MCP tool, if the stored tool is approved with the grants that it would get now.
fn published_tool(toolbox: &Toolbox, entry: &Entry) -> Result<Option<Tool>, Fault> {
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
    tool.output_schema = Some(Arc::clone(BuiltinTool::Run.output_schema()));
    tool.annotations = Some(effect_annotations(&shown.grants.capabilities()));
    Ok(Some(tool))
}

fn any_object_schema() -> JsonObject {
    match json!({"type": "object"}) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
