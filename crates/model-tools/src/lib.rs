//! The operations of Toolcell, and approved tools, as tools of a language model: what it is offered,
//! what it reads of a result, and what it is told of a failure.
//!
//! The MCP server and the packages for Python and Node are built on this crate, and a host in Rust may
//! be: APIs of models and agent frameworks all take a name, a description and a JSON Schema.
//!
//! Reading order: a [`ToolDefinition`] is one of a [`BuiltinTool`], or that of a [`PublishedTool`]. A
//! [`ToolResult`] is what a call gives: `run_result` and `builtin_results` build it, and of a
//! [`CallFailure`] [`error_result`].
//!
//! Invariant: a model reads no command of a shell, and no more than it needs.

mod builtin_results;
mod builtin_tools;
mod call_failure;
mod client_schema;
mod definition;
mod next_step;
mod operation_failure;
mod published;
mod run_result;
mod tool_result;

pub use builtin_results::{create_result, delete_result, list_result, reflect_result, verify_result};
pub use builtin_tools::{BuiltinTool, unknown_tool_message};
pub use call_failure::{CallFailure, ERROR_META_KEY, error_result};
pub use definition::{ToolDefinition, ToolHints};
pub use operation_failure::{ToCallFailure, run_failure};
pub use published::{PublishedTool, find_published_tool, published_tools};
pub use run_result::{KeepValue, LABELS_META_KEY, RUN_META_KEY, ResultShape, code_result, mismatch_result, run_result};
pub use tool_result::{Content, ToolResult};
