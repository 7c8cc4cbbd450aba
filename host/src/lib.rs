//! The sandbox: one call, one instance, within a budget.
//!
//! A [`Sandbox`] takes JavaScript, [prepares](Sandbox::prepare) it once, and [calls](Sandbox::call) it any number of
//! times. Each call runs in a fresh instance of QuickJS compiled to WebAssembly, metered by fuel, ended by a deadline,
//! with no capability that the caller did not hand in.
//!
//! Reading order: [`Budget`] is what a call may use, [`Outcome`] how it ends, [`Sandbox`] what happens in between.
//!
//! Invariants: this crate knows nothing of the analysis of tools, so isolation never leans on it; no type of Wasmtime
//! is in a signature; nothing that a tool does is an `Err`, a panic, or a log line at `error`.

mod asleep;
mod budget;
mod conversation;
mod error;
mod image;
mod instance;
mod json;
mod link;
mod machine;
mod operations;
mod outcome;
mod place;
mod profile;
mod sandbox;
mod slots;
mod ticker;
mod touched;
mod tunables;
mod until;
mod wasi;

pub use asleep::{Asleep, Called, WakeError};
pub use budget::{Budget, FuelCovers};
pub use error::{CallError, StartError};
pub use image::GUEST_DIGEST;
pub use json::{Json, JsonError, Params};
pub use link::{PartialSink, RealClock};
pub use machine::pagemap_scan;
pub use operations::{
    Effects, Ended, Grant, Left, NoOperations, Operation, OperationAnswer, OperationFailure, Operations,
    OperationsOfCall, Rest, Timers, Waited,
};
pub use outcome::{LogLine, Outcome, Place, Reading, Report, Stop, Thrown, Usage, Warning};
pub use profile::{Frame, Function, Home, Profile, ProfileSlot, Stack};
pub use sandbox::{Loaded, Prepared, Run, Sandbox, SandboxConfig, Script};
pub use slots::{NESTED, NoSlot, Slot, Slots, WhenFull};
pub use ticker::Interruption;
pub use toolcell_protocol::Level;
pub use tunables::Kind;
pub use until::{Bell, CancelToken, Until};

/// The version of Wasmtime that counts the fuel.
pub const ENGINE_VERSION: &str = env!("TOOLCELL_ENGINE_VERSION");
