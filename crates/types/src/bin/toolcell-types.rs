//! The worker that type-checks tools for `toolcell`, which starts it itself.
#![expect(clippy::print_stderr, reason = "the parent, or a person, is told why it ends")]

use std::process::ExitCode;

const USAGE: &str = "toolcell-types checks the types of tools for `toolcell`, which starts it itself: \
                     it reads one JSON object a line, {\"files\":[{\"name\":\"tool.ts\",\"text\":\"…\"}]}, and answers with one";

fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    match toolcell_types::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
