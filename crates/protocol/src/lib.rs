//! The frames that host and guest exchange across the Wasm boundary, and the version of the protocol.
//!
//! A frame is one value of this crate in the [postcard wire format](https://postcard.jamesmunns.com/wire-format).
//! The host writes a request into the buffer that the guest's `buffer(len)` returns and calls the export named
//! after the verb; the guest answers with `ptr << 32 | len` of a [`Reply`].
//!
//! The feature `host` adds what the host alone makes of a frame: host calls with typed arguments, their errors, and
//! the budget of a call. The guest is built without it.
//!
//! Invariant: this crate knows neither JavaScript nor Wasm. JSON crosses as text and is parsed by its consumer,
//! so that numbers and lone surrogates are never changed in transit.

#[cfg(feature = "host")]
mod budget;
mod frame;
#[cfg(feature = "host")]
mod host_call;
#[cfg(feature = "host")]
mod operation_error;
mod reply;
#[expect(clippy::ref_option_ref, reason = "what serde derives for bytes hands them over so")]
mod request;

#[cfg(feature = "host")]
pub use budget::{Budget, BudgetError, FuelScope};
pub use frame::{FrameError, decode, encode};
#[cfg(feature = "host")]
pub use host_call::{
    FetchReadRequest, FetchRequest, FileAction, FileRequest, HostRequest, KvCommitRequest, KvGetRequest, KvListRequest,
    KvVersionCheck, KvWriteRequest, ParsedHostCall, Payload, PayloadError, Redirect, ServerCallRequest,
    ServerDescribeRequest, ServerSearchRequest, TimerRequest, ToolCallRequest, UnknownKind, WriteMode,
};
#[cfg(feature = "host")]
pub use operation_error::OperationError;
pub use reply::{HostCall, LimitExceeded, Reply, Thrown, Warning};
pub use request::{Call, CompletionRef, Effects, Grant, Load, OperationErrorRef, OperationOutputRef, Resume};

/// The version of everything in this crate; the guest exports it as `abi_version`, the host refuses another one.
///
/// `fixtures/protocol/` holds golden frames of this version: a change of the bytes needs a new number.
pub const ABI_VERSION: u32 = 3;

/// The maximum nesting of arrays and objects in parameters and results, in levels.
///
/// Well below what common parsers refuse (1,000 in `CPython`'s `json`), so that what leaves a cell can be read.
pub const MAX_DEPTH: usize = 512;

/// The Wasm module name of the imports that Toolcell defines.
pub const IMPORT_MODULE: &str = "toolcell";

/// Severity of a console line, as the `level` argument of the `log` import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// `console.debug`
    Debug,
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

impl Level {
    /// Returns the level with this number, if there is one: 0 is [`Level::Debug`], 4 is [`Level::Error`].
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Debug, Self::Log, Self::Info, Self::Warn, Self::Error].get(usize::try_from(number).ok()?).copied()
    }
}
