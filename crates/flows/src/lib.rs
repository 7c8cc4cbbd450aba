//! Information flow of tools: which data may decide what leaves a cell.
//!
//! ```text
//! an answer is handed to the cell → its sources join the label of the run
//! an operation leaves the cell    → the rules decide about the label and the operation's sink
//! ```
//!
//! A cell has no clock, no memory of other runs and no thread of its own: what it does next is a function of its
//! source, its parameters, its seed and the answers that were handed to it. So the label of a run, the union of the
//! sources of all that was handed to it, covers whatever value, branch, order or count an operation depends on. This
//! is the run-level ("coarse-grained") label of LIO (Stefan, Russo, Mitchell and Mazières, *Flexible Dynamic
//! Information Flow Control in Haskell*, Haskell 2011), with sources in place of principals.
//!
//! Invariant: all functions are pure. A label only grows, and a larger label is never allowed what a smaller one is
//! refused.

mod bounded;
mod label;
mod pattern;
mod rules;

pub use bounded::BoundedSchema;
pub use label::{Label, Source};
pub use pattern::{PatternError, Sink, SinkPattern, SourcePattern, Target};
pub use rules::{FlowAction, FlowDecision, FlowException, FlowRule, FlowRules};
