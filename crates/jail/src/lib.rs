//! The jail: calls in worker processes that are locked in, a wall behind the wall of the cell.
//!
//! ```text
//! host ── pipe ── worker: no file, no socket, no process, no environment, no memory that becomes executable
//!   │                └── cell: one call, one instance
//!   └── operations, clocks and partial results, done in the host, as its grants say
//! ```
//!
//! A [`Jail`] does what a [`Sandbox`](toolcell_host::Sandbox) does, with the same results and the same fuel. What breaks out of a cell
//! finds itself in a process that cannot do anything but answer ([`lock_in`]), and that is ended when it tries.
//!
//! Reading order: `jail` is the pool of workers, `call` what the host does for one call, `worker` a process as the host holds it;
//! `serve` is the worker itself, `guarded` what a tool has in it, `lock` and `filter` are the walls; `wire` and `pipe` are between them.
//!
//! Invariant: whatever a worker says is checked, and one that does not keep to the protocol is ended. The walls are there before the
//! first script is, or there is no worker.

mod jail;

mod call;
mod worker;

mod guarded;
mod serve;

mod filter;
mod lock;

mod pipe;
mod wire;

#[cfg(test)]
mod fuzz;

pub use jail::{Jail, Loaded, Prepared};
pub use lock::{Landlock, LockError, Walls, lock_in};
pub use serve::serve_if_worker;
pub use worker::Program;
