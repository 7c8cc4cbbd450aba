//! What a reflection has in it, for the schema of its body.
//!
//! Invariant: the fields are those of what is written; the crate that makes it knows no schemas.
#![expect(dead_code, reason = "these are looked at, and never made")]

use schemars::JsonSchema;
use serde_json::Value;

/// One thing that was done before.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Done {
    /// With its arguments.
    Operation(serde_json::Map<String, Value>),
    /// As a line of text: `grep TODO src/a.ts`.
    Line(String),
}

/// One thing that speaks for a tool, or against it.
#[derive(JsonSchema)]
pub(super) struct Evidence {
    /// What kind of evidence it is.
    kind: String,
    /// What it would be a trigger of.
    trigger: Option<String>,
    /// The words as they stand in the task, or what was counted.
    text: String,
    /// How much it speaks for a tool, -1 to 1.
    weight: f64,
}

/// A tool to make, with the field names of `create_tool`.
#[derive(JsonSchema)]
pub(super) struct Proposal {
    /// What it is called.
    name: String,
    /// What it does.
    description: String,
    /// Its source.
    code: String,
    /// What it takes.
    parameters: Value,
    /// Its tags.
    tags: Vec<String>,
    /// Calls with the exact result.
    examples: Vec<Value>,
    /// What it returns, as a JSON Schema.
    returns: Option<Value>,
    /// The task.
    generated_from: String,
}
