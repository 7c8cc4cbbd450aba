//! The meaning of a source: names with their values, facts, data flow and mutations.
//!
//! Reading order: `value` is the result of evaluation, `fold` folds constants, and `bindings`
//! resolves names and evaluates expressions. `facts`, `dataflow` and `mutation` are what rules read;
//! `network` and `quickjs` list the globals and modules that matter to several of them.
//!
//! Invariant: nothing here decides what is dangerous; an uncertain value is unknown.

pub(crate) mod bindings;
pub(crate) mod capabilities;
pub(crate) mod dataflow;
pub(crate) mod facts;
pub(crate) mod fold;
pub(crate) mod mutation;
pub(crate) mod network;
pub(crate) mod quickjs;
pub(crate) mod value;
