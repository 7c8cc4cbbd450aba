//! Execution: admitted calls in the sandbox.
//!
//! Reading order: `backend` is the sandbox; `execute` is the only entry into it; `cache` holds loaded tools and evaluated
//! scripts; `environment` derives clock and randomness of a run from its grants; `start` executes an admitted run; `suspend`
//! saves a waiting run and loads it again.
//!
//! Invariant: scripts are evaluated and tools are called only by `execute`.

pub(crate) mod backend;
pub(crate) mod cache;
pub(crate) mod environment;
pub(crate) mod execute;
pub(crate) mod start;
pub(crate) mod suspend;
