//! TypeScript declarations of functions whose parameters and results are described by JSON Schemas:
//! for a model that writes code, and for a type checker.
//!
//! Drafts 4 to 2020-12 are read. References within a schema become named types, recursive ones too,
//! and the variants of a union are kept with the property that tells them apart.
//!
//! Invariant: whatever the schemas are, the text parses, and its length and the work for it grow
//! with their length. Texts of a schema stay within their comment or literal.

mod comment;
mod declarations;
mod lower;
mod names;
mod print;
mod references;
#[cfg(test)]
mod tests;
mod types;

pub use comment::first_sentence;
pub use declarations::{NameCollision, describe, server_interface, tool_calls};
pub use names::{identifier, method_name};
use names::{is_identifier, literal, type_name};
use serde_json::Value;

/// A function, as it is described by JSON Schemas.
#[derive(Debug, Clone, Copy)]
pub struct FunctionSchema<'a> {
    /// The name.
    pub name: &'a str,
    /// What the function does; may be empty.
    pub description: &'a str,
    /// The JSON Schema of its parameter, an object.
    pub input: &'a Value,
    /// The JSON Schema of its result, if that is known.
    pub output: Option<&'a Value>,
}

/// How much declarations say beyond types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Descriptions of functions (at most 300 characters) and of parameters (200), and limits such as ranges and defaults.
    /// 100 tools take about 12,000 tokens.
    Full,
    /// The first sentence of a function's description. 100 tools take about 6,700 tokens.
    Brief,
}
