//! The schema types of a reflection's JSON body.
//!
//! Invariant: the fields are those that the reflection crate serializes; that crate does not depend
//! on schemars.
#![expect(dead_code, reason = "these are looked at, and never made")]

use schemars::JsonSchema;
use serde_json::Value;

/// A previous operation.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum PastOperationSchema {
    /// An operation with its arguments.
    Operation(serde_json::Map<String, Value>),
    /// One line of text: `grep TODO src/a.ts`.
    Line(String),
}

/// One piece of evidence for or against a tool.
#[derive(JsonSchema)]
pub(super) struct EvidenceSchema {
    /// The kind of evidence.
    kind: String,
    /// The trigger that it supports.
    trigger: Option<String>,
    /// The words of the task, or a count.
    text: String,
    /// The weight for a tool, -1 to 1.
    weight: f64,
}

/// A proposed tool, with the field names of `create_tool`.
#[derive(JsonSchema)]
pub(super) struct ProposalSchema {
    /// The name.
    name: String,
    /// The description.
    description: String,
    /// The source code.
    code: String,
    /// The parameters.
    parameters: Value,
    /// The tags of ready code.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// Example calls of ready code with their exact results.
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<Vec<Value>>,
    /// The JSON Schema of the result of ready code.
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<Value>,
    /// The task of ready code.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_from: Option<String>,
}
