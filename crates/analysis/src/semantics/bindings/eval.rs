//! Evaluation of expressions, calls and statements without running the source.
//!
//! Invariant: evaluation ends: each value takes a bounded number of steps, and all calls of a source
//! share a budget. An uncertain result is unknown.

mod call;
mod expr;
mod method;
mod name;
mod object;
mod statement;
