//! The binary `toolcell`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcell_cli::main()
}
