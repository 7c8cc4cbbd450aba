//! The operations of Toolcell as an MCP server: over standard input and output, and over HTTP.
//!
//! Reading order: [`Server`] opens a toolbox for each [`Principal`]; `handler` answers what is asked of it, and `call` what is asked
//! of an operation; `run` follows a run, `ask` puts questions, `seal` is what a client carries meanwhile; `stdio` and [`http`] are the
//! ways in, [`Calls`] what is under way, [`telemetry`] what is said of it. [`client`] writes the entry of a client's configuration.
//!
//! Invariant: this is the only crate that knows the protocol, and it never writes it by hand: frames are the library's.

mod answer;
mod ask;
mod bounds;
mod call;
mod calls;
mod changes;
pub mod client;
mod handler;
pub mod http;
mod malformed;
mod operation;
mod principal;
mod prompt;
mod published;
mod redact;
mod resources;
mod run;
mod runtime;
mod schema;
mod seal;
mod serve;
mod server;
mod share;
mod stdio;
mod task;
pub mod telemetry;
mod tenant;

pub use calls::{Calls, UnderWay};
pub use principal::{NameError, Principal};
pub use serve::{serve_http, serve_stdio};
pub use server::{Open, OpenFailure, Server, Settings};
pub use stdio::StdioError;
