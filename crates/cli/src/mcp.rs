//! `mcp`: the server, and the configuration of the clients that use it.
//!
//! Invariant: where it serves, nothing but the protocol goes to standard output.

mod config;
mod serve;

use std::path::Path;

use crate::Streams;
use crate::args::{McpCommand, PolicyArgs};
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use serve::run as serve;

/// What becomes of a client's configuration. `dir` is the directory of the store, where that is said.
pub(crate) fn run(
    command: &McpCommand,
    places: &PolicyArgs,
    dir: Option<&Path>,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    match command {
        McpCommand::Config(config) => config::run(config, places, dir, json, streams),
    }
}
