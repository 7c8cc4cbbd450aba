//! Starts a program with some system calls stopping for a tracer: `traced NUMBERS PROGRAM
//! [ARGUMENT…]`.
//!
//! NUMBERS are system call numbers, separated by commas. The launcher waits for a byte on standard
//! input, because the tracer must have attached by then: without one, these calls fail with
//! `ENOSYS` (`seccomp(2)`, `SECCOMP_RET_TRACE`). The rest of standard input belongs to the program.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a launcher that cannot go on ends, and says why"
)]

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

fn main() {
    let mut words = std::env::args_os().skip(1);
    let (numbers, program) = words.next().zip(words.next()).expect("usage: traced NUMBERS PROGRAM [ARGUMENT…]");
    let numbers = numbers.to_str().unwrap().split(',').map(|number| (number.parse().unwrap(), Vec::new()));
    let filter = filter(numbers.collect());
    nix::unistd::read(std::io::stdin(), &mut [0]).expect("a byte, once the tracer has attached");
    seccompiler::apply_filter(&filter).expect("this kernel takes no filter");
    panic!("{}: {}", program.display(), Command::new(&program).args(words).exec());
}

/// Returns a filter that stops at these calls, with any arguments, and allows all others.
fn filter(calls: BTreeMap<i64, Vec<seccompiler::SeccompRule>>) -> BpfProgram {
    let arch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(calls, SeccompAction::Allow, SeccompAction::Trace(0), arch).unwrap().try_into().unwrap()
}
