//! Verification: evidence about tools from runs in the cell.
//!
//! Invariant: only runs in the cell are evidence.

#[cfg(feature = "proof")]
pub(crate) mod equivalence;
pub(crate) mod postconditions;
pub mod proof;

use toolcell_store::Entry;

/// A stored tool that gives the same answers as another one.
#[derive(Debug, Clone, PartialEq)]
pub struct EquivalentTool {
    /// The stored tool.
    pub entry: Entry,
    /// The number of inputs to which both tools gave the same answer.
    pub inputs: usize,
    /// The parameter names of one tool, each with the name that the other tool uses.
    pub parameters: Vec<(String, String)>,
}

/// Maps `integer` to `number`.
#[cfg(feature = "reflection")]
pub(crate) fn normalized_kind(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}
