//! Approved tools as tools of their own, where the host wants that.
//!
//! Invariant: only what somebody approved, with the grants that it has now, is there; what is there runs through
//! `run_dynamic_tool` like everything else.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use toolcell::store::{Decision, Entry, Fault};
use toolcell::{Schema, Standing, Toolbox};

use crate::operation::{Operation, effects};

/// What stands before the name of a tool.
const PREFIX: &str = "toolcell__";
/// The longest name that the interfaces of models take.
const NAME_LIMIT: usize = 64;
/// How many decisions are looked through.
const DECISIONS: usize = 10_000;

/// The approved tools, sorted by name, `most` of them at most.
pub(crate) fn list(toolbox: &Toolbox, most: usize) -> Result<Vec<Tool>, Fault> {
    let mut entries: Vec<Entry> = Vec::new();
    if most == 0 {
        return Ok(Vec::new());
    }
    for (entry, approval) in toolbox.decisions(DECISIONS)? {
        let fits = PREFIX.len() + entry.name.as_str().len() <= NAME_LIMIT;
        let is_there = entries.iter().any(|other| other.id == entry.id);
        if fits && !is_there && entry.current && approval.decision == Decision::Approved {
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    let tools = entries.iter().filter_map(|entry| tool(toolbox, entry).transpose());
    tools.take(most).collect()
}

/// The name of the stored tool that a published one is.
pub(crate) fn named(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// Whether it is one of those that are there now.
pub(crate) fn find(toolbox: &Toolbox, name: &str, most: usize) -> Result<Option<Tool>, Fault> {
    Ok(list(toolbox, most)?.into_iter().find(|tool| tool.name == name))
}

/// A tool, where it is approved with what it would be granted now.
fn tool(toolbox: &Toolbox, entry: &Entry) -> Result<Option<Tool>, Fault> {
    let shown = match toolbox.show(&entry.id.to_string(), None) {
        Ok(shown) if matches!(shown.standing, Standing::Approved) => shown,
        Err(toolcell::ShowError::Fault(fault)) => return Err(fault),
        // It was deleted meanwhile, or is not what somebody approved.
        Ok(_) | Err(_) => return Ok(None),
    };
    let Ok(schema) = Schema::compile(shown.spec.parameters()) else { return Ok(None) };
    let input = match schema.json_schema() {
        Some(Value::Object(schema)) => schema.clone(),
        _ => anything(),
    };
    let description =
        format!("{} (an approved tool; the code is toolcell://tools/{}/source)", entry.description, entry.id.short());
    let mut tool = Tool::new(format!("{PREFIX}{}", entry.name), description, Arc::new(input));
    tool.output_schema = Some(Arc::clone(Operation::Run.gives()));
    tool.annotations = Some(effects(&shown.grants.names()));
    Ok(Some(tool))
}

fn anything() -> JsonObject {
    match json!({"type": "object"}) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
