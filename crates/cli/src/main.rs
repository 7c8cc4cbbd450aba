//! The `toolcell` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcell_cli::main()
}
