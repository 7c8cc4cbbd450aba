//! The worker process of the packages for Python and Node, which are not programs of their own.
#![expect(clippy::print_stderr, reason = "a person who starts it is told what it is")]

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcell_jail::serve_if_worker();
    eprintln!("toolcell-worker runs tools for the packages `toolcell` of Python and Node, which start it themselves");
    ExitCode::from(2)
}
