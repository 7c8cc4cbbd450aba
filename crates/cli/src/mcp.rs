//! `mcp`: runs the MCP server, and configures clients to use it.
//!
//! Invariant: while serving, only protocol messages go to standard output.

mod config;
mod serve;

use std::path::Path;

use crate::Streams;
use crate::args::{McpCommand, PolicyArgs};
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) use serve::run as serve;

/// Runs a subcommand on a client's configuration. `dir` is the value of `--dir`, if given.
pub(crate) fn run(
    command: &McpCommand,
    places: &PolicyArgs,
    dir: Option<&Path>,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    match command {
        McpCommand::Config(config) => config::run(config, places, dir, json, streams),
    }
}
