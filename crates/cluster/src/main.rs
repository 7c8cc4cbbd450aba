//! The `toolcell-cluster` binary: the commands of `toolcell`, with the engines of shared libraries.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcell_cli::main_with_engines(toolcell_cluster::connect)
}
