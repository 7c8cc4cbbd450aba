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

mod error;
mod limits;

mod outcome;
mod stack_trace;

mod host_calls;
mod profile;

mod context;

mod engine;
mod imports;
mod instance;

mod call_loop;
mod prepared;
mod suspend;

mod backend;

mod per_process;
mod sandbox;

pub use backend::Backend;
pub use context::{CallContext, PartialResultSink, ScriptSource, WallClock};
pub use engine::{GUEST_DIGEST, ImageKind, Interruption, StartError, pagemap_scan};
pub use error::CallError;
pub use host_calls::{
    Completion, Effects, FetchReadRequest, FetchRequest, FileAction, FileRequest, Grant, HostCall, HostCallDriver,
    HostCalls, HostRequest, KvCommitRequest, KvGetRequest, KvListRequest, KvVersionCheck, KvWriteRequest, NoHostCalls,
    OperationError, OperationOutput, ParsedHostCall, Payload, PayloadError, Redirect, Remaining, ServerCallRequest,
    ServerDescribeRequest, ServerSearchRequest, TimerRequest, Timers, ToolCallRequest, UnknownKind, WaitOutcome,
    WaitResult, WriteMode,
};
pub use limits::{
    AcquireError, Budget, BudgetError, CallDeadline, CallLimiter, CallPermit, CancelToken, FuelScope, Interrupted,
    MAX_NESTED_CALLS, Notifier, OnOverload,
};
pub use outcome::{ClockReading, LogLine, Outcome, Report, Stop, Thrown, Usage, ValueSide, Warning};
pub use prepared::{PrepareResult, Prepared, PreparedScript};
pub use profile::{CallProfile, Frame, FrameOrigin, ProfileSlot, ProfiledFunction, Stack};
pub use sandbox::{Sandbox, SandboxOptions};
pub use suspend::{CallStatus, ResumeError, SuspendedCall};
pub use toolcell_json::{Json, JsonError, Params};
pub use toolcell_protocol::Level;

/// The version of Wasmtime that counts the fuel. Fuel figures are comparable only within one
/// version.
pub const ENGINE_VERSION: &str = "48.0.8";
