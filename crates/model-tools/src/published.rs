//! Approved tools as tools of their own, if the host enables it.
//!
//! Invariant: only tools that were approved with their current grants are listed, and they run like
//! any other tool, through `run_dynamic_tool`.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcell::store::{Decision, Entry, Fault};
use toolcell::{ApprovalState, Schema, Toolbox};

use crate::builtin_tools::BuiltinTool;
use crate::definition::{ToolDefinition, ToolHints};
use crate::run_result::ResultShape;

/// The prefix of published tool names.
const PREFIX: &str = "toolcell__";
/// The longest tool name that model APIs accept.
const NAME_LIMIT: usize = 64;
/// The most approval decisions that are read.
const MAX_DECISIONS: usize = 10_000;

/// An approved tool that is a tool of its own.
pub struct PublishedTool {
    /// Its definition.
    pub definition: ToolDefinition,
    /// The name of the stored tool.
    pub stored_name: String,
    /// The shape of its results, as the output schema declares it.
    pub shape: ResultShape,
}

/// Lists the approved tools by name, at most `most` of them.
///
/// # Errors
/// The store cannot be read.
pub fn published_tools(toolbox: &Toolbox, most: usize) -> Result<Vec<PublishedTool>, Fault> {
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

/// Finds a published tool by the name that models call.
///
/// # Errors
/// The store cannot be read.
pub fn find_published_tool(toolbox: &Toolbox, name: &str, most: usize) -> Result<Option<PublishedTool>, Fault> {
    if !name.starts_with(PREFIX) {
        return Ok(None);
    }
    Ok(published_tools(toolbox, most)?.into_iter().find(|published| published.definition.name == name))
}

/// Defines the tool, if the stored tool is approved with the grants that it would get now.
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
        _ => Map::from_iter([("type".to_owned(), "object".into())]),
    };
    let description =
        format!("{} (approved tool; source: toolcell://tools/{}/source)", entry.description, entry.id.short());
    let (output_schema, shape) = output_schema(shown.notes.postconditions().returns.as_ref());
    let definition = ToolDefinition {
        name: format!("{PREFIX}{}", entry.name).into(),
        title: None,
        description: description.into(),
        input_schema: Arc::new(input),
        output_schema,
        hints: ToolHints::for_run(&shown.grants.capabilities()),
        stored_tool: Some(entry.name.to_string()),
    };
    Ok(Some(PublishedTool { definition, stored_name: entry.name.to_string(), shape }))
}

/// The output schema of a tool that declares this result. The structured content of a result must
/// be an object, so any other value is a field of one.
fn output_schema(returns: Option<&Value>) -> (Arc<Map<String, Value>>, ResultShape) {
    match returns {
        None => (Arc::clone(BuiltinTool::Run.output_schema()), ResultShape::Envelope),
        Some(Value::Object(returns)) if returns.get("type") == Some(&Value::from("object")) => {
            (Arc::new(returns.clone()), ResultShape::Value)
        }
        Some(returns) => {
            let mut schema = Map::clone(BuiltinTool::Run.output_schema());
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("value".to_owned(), returns.clone());
            }
            (Arc::new(schema), ResultShape::CheckedEnvelope)
        }
    }
}
