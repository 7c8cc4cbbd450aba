//! MCP clients for benchmarks and soak tests: messages of both revisions, over stdio and HTTP.
//!
//! They are written by hand, so that measurements cover the server and not a client library.
//!
//! Invariant: dropping a client stops the server that it started.

mod http;
mod lines;
mod message;
pub(crate) mod process;

pub(crate) use http::{Connection, HttpServerProcess};
pub(crate) use lines::{StdioClient, StdioKind};
pub(crate) use message::{Era, Message};
pub(crate) use process::{rss_kib, serve_command};
