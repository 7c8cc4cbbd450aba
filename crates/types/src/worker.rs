//! The process: confines itself, and answers requests until its input ends.

use std::io::{self, BufRead, Read as _, Write};

use crate::checker::{CheckError, Checker};
use crate::protocol::{CheckReply, CheckRequest, MAX_REQUEST_BYTES};

/// Bytes of the stack of the checker. It grows where the compiler knows that it recurses; this is
/// for what it does elsewhere.
const STACK_BYTES: usize = 32 << 20;

/// Seconds after which a check ends the process: it does not outlive a parent that died before its deadline.
#[cfg(target_os = "linux")]
const MAX_SECONDS: u32 = 5;

/// An error that ends the worker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The libraries cannot be loaded.
    #[error("the libraries cannot be loaded: {0}")]
    Libraries(String),
    /// The process cannot confine itself.
    #[error("{0}")]
    #[cfg(target_os = "linux")]
    Confinement(#[from] crate::confine::ConfinementError),
    /// The thread of the checker cannot be started, a request cannot be read, or a reply cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A request is longer than [`MAX_REQUEST_BYTES`]. Where the next one starts is unknown.
    #[error("a request is longer than {MAX_REQUEST_BYTES} bytes")]
    RequestTooLong,
    /// The thread of the checker panicked.
    #[error("the checker panicked")]
    Panicked,
}

/// Answers requests from standard input on standard output, each a line, until the input ends.
/// Confines the whole process first, where that is Linux.
///
/// # Errors
/// [`WorkerError`] if the process cannot be confined, or if it can no longer talk to its parent.
pub fn serve() -> Result<(), WorkerError> {
    let check = || {
        let mut checker = Checker::new().map_err(|error| WorkerError::Libraries(error.to_string()))?;
        #[cfg(target_os = "linux")]
        crate::confine::confine()?;
        answer(&mut checker, io::stdin().lock(), io::stdout().lock())
    };
    // The parser starts a thread with a stack of 256 MiB for each file, unless it is on such a thread: the only one that
    // there is once the process is confined. A stack of its own bounds what of them may be touched.
    let checker = tsr_parser::spawn_parser_thread(move || stacker::grow(STACK_BYTES, check))?;
    checker.join().unwrap_or(Err(WorkerError::Panicked))
}

fn answer(checker: &mut Checker, mut input: impl BufRead, mut output: impl Write) -> Result<(), WorkerError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = MAX_REQUEST_BYTES as u64;
        if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() == MAX_REQUEST_BYTES && line.last() != Some(&b'\n') {
            return Err(WorkerError::RequestTooLong);
        }
        #[cfg(target_os = "linux")]
        nix::unistd::alarm::set(MAX_SECONDS);
        let reply = match serde_json::from_slice::<CheckRequest>(&line) {
            Ok(request) => checker
                .check(&request)
                .map_or_else(|error: CheckError| failed(&error), |diagnostics| CheckReply::Checked { diagnostics }),
            Err(error) => failed(&error),
        };
        #[cfg(target_os = "linux")]
        nix::unistd::alarm::cancel();
        let mut reply = serde_json::to_vec(&reply).map_err(io::Error::from)?;
        reply.push(b'\n');
        output.write_all(&reply)?;
        output.flush()?;
    }
}

fn failed(error: &dyn std::error::Error) -> CheckReply {
    CheckReply::Failed { error: crate::protocol::sanitize_message(&error.to_string()) }
}
