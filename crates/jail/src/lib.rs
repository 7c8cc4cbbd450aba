//! The jail: runs calls in confined worker processes, as a second barrier behind the Wasm sandbox.
//!
//! ```text
//! host ── channel ── worker: no file, no socket, no process, no environment, no memory that becomes executable
//!   │                   └── cell: one call, one instance
//!   └── host calls, clocks and partial results, served in the host, as its grants say
//! ```
//!
//! A [`Jail`] has the interface of a [`Sandbox`](toolcell_host::Sandbox), with the same results and
//! the same fuel. Code that escapes from a cell is in a process that can do nothing but answer
//! ([`confine()`]), and that the kernel kills if it tries anything else.
//!
//! Reading order: `jail` is the pool of workers, `session` the host's side of one call, `worker` a
//! process as seen from the host. `worker_main` is the worker itself, `proxy` forwards a tool's host
//! calls from there, and `host_link` is its end of the channel. `confine` and `seccomp` are the
//! confinement; `messages` and `channel` connect the two sides.
//!
//! Invariant: the host checks every message of a worker, and kills a worker that violates the
//! protocol. A worker is confined before it receives its first script, or it does not start.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "`toolcell-jail` needs Linux (seccomp, Landlock): build `toolcell` without the feature `jail`, and calls run in the \
     sandbox of the process itself"
);

mod jail;

mod session;
mod worker;

mod worker_main;

mod host_link;
mod proxy;

mod confine;
mod seccomp;

mod channel;
mod messages;

#[cfg(test)]
mod fuzz;

pub use confine::{ConfineError, Confinement, Landlock, confine};
pub use jail::{Jail, JailedScript};
pub use worker::Program;
pub use worker_main::serve_if_worker;
