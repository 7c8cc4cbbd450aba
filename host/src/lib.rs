//! The sandbox: runs each call of a tool in its own instance, within a budget.
//!
//! A [`Sandbox`] [prepares](Sandbox::prepare) JavaScript once and [calls](Sandbox::call) it any
//! number of times. Each call runs in a fresh instance of QuickJS compiled to WebAssembly. The
//! instance is metered by fuel, stopped at a deadline, and has no capability that the caller did
//! not pass in.
//!
//! Reading order: [`Budget`] limits a call, [`Outcome`] says how it ended, [`Sandbox`] does the
//! work in between.
//!
//! Invariants: this crate does not depend on static analysis, so isolation never relies on it. No
//! public signature names a type of Wasmtime. Nothing that a tool does causes an `Err`, a panic, or
//! a log line at level `error`.

mod budget;
mod call_limiter;
mod call_loop;
mod deadline;
mod dirty_pages;
mod engine_config;
mod error;
mod host_calls;
mod image;
mod imports;
mod instance;
mod machine;
mod outcome;
mod profile;
mod sandbox;
mod stack_trace;
mod suspend;
mod ticker;
mod wasi;

pub use budget::{Budget, FuelScope};
pub use call_limiter::{AcquireError, CallLimiter, CallPermit, MAX_NESTED_CALLS, OnOverload};
pub use deadline::{CallDeadline, CancelToken, Notifier};
pub use engine_config::ImageKind;
pub use error::{CallError, StartError};
pub use host_calls::{
    Completion, Effects, Grant, HostCall, HostCallDriver, HostCalls, NoHostCalls, OperationError, OperationOutput,
    Remaining, Timers, WaitOutcome, WaitResult,
};
pub use image::GUEST_DIGEST;
pub use imports::{PartialResultSink, WallClock};
pub use machine::pagemap_scan;
pub use outcome::{ClockReading, LogLine, Outcome, Report, Stop, Thrown, Usage, ValueSide, Warning};
pub use profile::{CallProfile, Frame, FrameOrigin, ProfileSlot, ProfiledFunction, Stack};
pub use sandbox::{CallContext, PrepareResult, Prepared, Sandbox, SandboxConfig, Script};
pub use suspend::{CallStatus, ResumeError, SuspendedCall};
pub use ticker::Interruption;
pub use toolcell_json::{Json, JsonError, Params};
pub use toolcell_protocol::Level;

/// The version of Wasmtime that counts the fuel. Fuel figures are comparable only within one
/// version.
pub const ENGINE_VERSION: &str = env!("TOOLCELL_ENGINE_VERSION");
