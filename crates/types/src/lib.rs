//! A type checker for TypeScript, in a process of its own: a worker that reads sources and answers
//! with TypeScript's diagnostics.
//!
//! ```text
//! parent ── stdin: one CheckRequest a line ──▶ toolcell-types ── stdout: one CheckReply a line ──▶ parent
//! ```
//!
//! The checker takes seconds and gigabytes for some sources of a hundred bytes, and its code is a
//! port that may panic. The worker therefore bounds its memory and gives up files, sockets and
//! processes before it reads the first request. The parent bounds its time: it kills a worker that
//! does not answer before a deadline, and starts another one. (A check of five seconds ends by itself,
//! on Linux: a parent may die first.)
//!
//! Reading order: `protocol` is what the two sides exchange, and all that there is without the
//! feature `checker`. `worker` is the process, `checker` one check, `host` the files that the
//! compiler sees, `confine` and `seccomp` the limits.
//!
//! Invariant: no source is read before the process is confined, and nothing of a request changes
//! the answer to a later one.

mod protocol;

#[cfg(feature = "checker")]
mod worker;

#[cfg(feature = "checker")]
mod checker;
#[cfg(feature = "checker")]
mod host;

#[cfg(all(feature = "checker", target_os = "linux"))]
mod confine;
#[cfg(all(any(feature = "checker", test), target_os = "linux"))]
mod seccomp;

pub use protocol::{
    CheckReply, CheckRequest, DiagnosticCategory, LIBRARIES, MAX_DIAGNOSTICS, MAX_FILES, MAX_MESSAGE_CHARS,
    MAX_REQUEST_BYTES, TypeDiagnostic, TypedFile, sanitize_message,
};
#[cfg(feature = "checker")]
pub use worker::{WorkerError, serve};
