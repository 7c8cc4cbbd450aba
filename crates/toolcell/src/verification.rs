//! Verification: evidence about tools from runs in the cell.
//!
//! Invariant: only runs in the cell are evidence.

pub(crate) mod equivalence;
pub(crate) mod postconditions;
pub mod proof;
