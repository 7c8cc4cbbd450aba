//! Execution: admitted calls in the sandbox.
//!
//! Reading order: `backend` is the sandbox; `runtime` owns it together with the `cache` of loaded
//! tools and prepared scripts; `execute` is the only entry into it; `environment` derives clock and
//! randomness of a run from its grants; `start` executes an admitted run; `suspend` saves a waiting
//! run and loads it again.
//!
//! Invariant: scripts are evaluated and tools are called only by `execute`.

mod backend;
mod cache;
mod environment;
mod execute;
mod loaded;
mod options;
mod positions;
mod prepared;
mod runtime;
mod start;
pub(crate) mod suspend;

pub use backend::SandboxConfig;
pub use options::RunOptions;

pub(crate) use environment::{cache_key, draw_seed, only_timers, timer_calls, unix_time, wall_clock};
pub(crate) use loaded::LoadedTool;
pub(crate) use prepared::ToolCode;
pub(crate) use runtime::Runtime;
pub(crate) use start::AdmittedRun;
