//! The operations of Toolcell as an MCP server, over standard input and output and over HTTP.
//!
//! Reading order: [`Server`] opens one toolbox per [`Principal`], whose resources a `tenant` holds.
//! `handler` implements the protocol's requests, and `tools_call` implements `tools/call`:
//! `run_call` follows a run, `elicitation` asks the user for approval, and `request_state` signs
//! what a client carries between two requests. `stdio` and [`http`] are the transports, which
//! `serve` starts. [`CallTracker`] counts calls in flight, and [`telemetry`] exports logs, metrics
//! and traces.
//!
//! Invariant: no other crate knows the protocol. `rmcp` parses and serialises its messages, except
//! for those that are rejected before they reach it.

mod principal;
mod server;
mod settings;
mod tenant;

mod handler;
mod host_methods;
mod request_context;
mod trace_context;

mod elicitation;
mod prompt;
mod request_state;
mod resources;
mod result_cache;
mod run_call;
mod task;
mod tool_result;
mod tools_call;

mod change_notifier;
mod in_flight;
mod request_limiter;

mod bounds;
mod lent_functions;
mod malformed;
mod redact;

pub mod http;
mod runtime;
mod serve;
mod stdio;
pub mod telemetry;

pub use in_flight::{CallTracker, InFlightCall};
pub use principal::{Principal, PrincipalNameError};
pub use serve::{serve_http, serve_stdio};
pub use server::{OpenFailure, OpenToolbox, Server};
pub use settings::ServerSettings;
pub use stdio::StdioError;
pub use toolcell_model_tools::BuiltinTool;
