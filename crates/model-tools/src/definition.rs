//! The definition of a tool for a language model.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolcell::Capability;

/// The definition of a tool for a language model: what APIs of models, the Model Context Protocol and
/// agent frameworks take.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The name that the model calls.
    pub name: Cow<'static, str>,
    /// A short title for people.
    pub title: Option<Cow<'static, str>>,
    /// The description for the model.
    pub description: Cow<'static, str>,
    /// The JSON Schema of the arguments, an object.
    pub input_schema: Arc<Map<String, Value>>,
    /// The JSON Schema of the structured result, an object.
    pub output_schema: Arc<Map<String, Value>>,
    /// What a call may do.
    pub hints: ToolHints,
    /// The name of the stored tool, if this is one, not an operation.
    pub stored_tool: Option<String>,
}

/// What a call may do: the annotations of tools in the Model Context Protocol (revision 2025-06-18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the four of the protocol")]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or delete what there is.
    pub destructive: bool,
    /// The same call again has no further effect.
    pub idempotent: bool,
    /// It may reach systems outside.
    pub open_world: bool,
}

impl ToolHints {
    /// Returns the hints of a run that is granted no more than these capabilities.
    pub(crate) fn for_run(granted: &BTreeSet<Capability>) -> Self {
        let has = |capability| granted.contains(&capability);
        let open_world = has(Capability::Net) || has(Capability::Tools) || has(Capability::Servers);
        let changes = open_world || has(Capability::Kv) || has(Capability::Files);
        // The result depends on the parameters alone, unless the tool has the real clock or real
        // randomness.
        let idempotent = !changes && !has(Capability::Clock) && !has(Capability::Random);
        Self { read_only: !changes, destructive: changes, idempotent, open_world }
    }
}
