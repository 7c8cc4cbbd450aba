//! When a tool is worth making: pure functions over values.
//!
//! Reading order: `words` takes a text apart, whatever its script; `operation` counts what was the same.
//!
//! Invariant: nothing here touches a clock, a file, the environment, a thread or a random number, and no text that was
//! handed in is ever more than evidence.

mod operation;
mod proposal;
mod trigger;
mod words;

pub use operation::{Operation, Repeated, repeated};
pub use proposal::{Proposal, propose};
pub use trigger::Trigger;
pub use words::{Word, terms, words};
