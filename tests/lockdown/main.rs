//! Starts a program with reduced permissions: `lockdown [--seccomp FILE] [--no-executable-pages]
//! [--no-threads] -- PROGRAM [ARGUMENT…]`.
//!
//! Invariant: the program starts with every requested restriction, or not at all. FILE is applied
//! as a container runtime would (OCI runtime specification, `linux.seccomp`), so the shipped
//! profile is what is tested.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a launcher that cannot go on ends, and says why"
)]

mod filter;

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// Exit status of a launcher that failed.
const NOT_STARTED: u8 = 77;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut filters = Vec::new();
    loop {
        match words.next().as_deref() {
            Some("--seccomp") => {
                let file = words.next().expect("--seccomp takes a file");
                let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
                filters.extend(filter::from_profile(&serde_json::from_str(&text).unwrap()));
            }
            // This filter comes before a profile, which forbids further filters.
            Some("--no-executable-pages") => filters.insert(0, filter::no_executable_pages()),
            Some("--no-threads") => drop(filters.splice(0..0, filter::no_threads())),
            Some("--") => break,
            _ => {
                panic!("usage: lockdown [--seccomp FILE] [--no-executable-pages] [--no-threads] -- PROGRAM [ARGUMENT…]")
            }
        }
    }
    let program = words.next().expect("a program to start");
    let mut command = Command::new(&program);
    command.args(words);
    for filter in filters {
        if let Err(error) = seccompiler::apply_filter(&filter) {
            eprintln!("lockdown: this kernel takes no filter: {error}");
            return NOT_STARTED.into();
        }
    }
    eprintln!("lockdown: {program}: {}", command.exec());
    NOT_STARTED.into()
}
