//! The operations of Toolcell as an MCP server, over standard input and output and over HTTP.
//!
//! Reading order: [`Server`] opens one toolbox per [`Principal`]. `handler` implements the
//! protocol's requests, and `tools_call` implements `tools/call`: `run_call` follows a run,
//! `elicitation` asks the user for approval, and `request_state` signs what a client carries
//! between two requests. `stdio` and [`http`] are the transports. [`CallTracker`] counts calls in
//! flight, and [`telemetry`] exports logs, metrics and traces.
//!
//! Invariant: no other crate knows the protocol. `rmcp` parses and serialises its messages, except
//! for those that are rejected before they reach it.

mod bounds;
mod builtin_tools;
mod change_notifier;
mod client_schema;
mod elicitation;
mod handler;
pub mod http;
mod in_flight;
mod malformed;
mod principal;
mod prompt;
mod published;
mod redact;
mod request_limiter;
mod request_state;
mod resources;
mod run_call;
mod runtime;
mod serve;
mod server;
mod stdio;
mod task;
pub mod telemetry;
mod tenant;
mod tool_result;
mod tools_call;

pub use in_flight::{CallTracker, InFlightCall};
pub use principal::{NameError, Principal};
pub use serve::{serve_http, serve_stdio};
pub use server::{OpenFailure, OpenToolbox, Server, ServerSettings};
pub use stdio::StdioError;
