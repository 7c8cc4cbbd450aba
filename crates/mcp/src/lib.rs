//! The operations of Toolcell as an MCP server: over standard input and output, and over HTTP.
//!
//! Reading order: [`Server`] answers requests, for each [`Principal`] from a toolbox of its own; [`Calls`] are what is under
//! way; `http` and `stdio` are the ways in; [`client`] writes the line in a client's configuration that starts a server.
//!
//! Invariant: this is the only crate that knows the protocol, and it never writes it by hand: frames are the library's.

mod calls;
pub mod client;
pub mod http;
mod principal;
pub mod telemetry;

pub use calls::{Calls, UnderWay};
pub use principal::{NameError, Principal};
