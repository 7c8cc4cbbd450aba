//! From a source to its syntax tree, and to the script that runs.
//!
//! Reading order: `scan` bounds the depth of a source before `parse` builds the tree, on a large
//! `stack`; `depth` measures it. `imports`, `exports` and `namespaces` resolve what TypeScript
//! elides or merges. `entry_point` finds the tool, and `script` erases the types. `tokens` are for viewers.
//!
//! Invariant: a syntax tree is created, used and dropped on a stack that is large enough for its
//! depth, and every pass over it has a limit.

pub(crate) mod depth;
pub(crate) mod entry_point;
pub(crate) mod error;
pub(crate) mod exports;
pub(crate) mod expr;
pub(crate) mod imports;
pub(crate) mod named_functions;
pub(crate) mod namespaces;
pub(crate) mod parse;
pub(crate) mod position;
pub(crate) mod scan;
pub(crate) mod script;
pub(crate) mod stack;
pub(crate) mod tokens;
pub(crate) mod visit;
