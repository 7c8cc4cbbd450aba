//! The messages between host and worker.
//!
//! A frame is its length in bytes, as four bytes in little-endian order, and one value of this
//! module in the [postcard wire format](https://postcard.jamesmunns.com/wire-format).
//!
//! Invariant: the host checks everything in a [`WorkerMessage`], and kills a worker whose message
//! violates the protocol.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcell_host::{Budget, CallProfile, FuelScope, Grant, HostCall, ImageKind, Json, Report, WaitOutcome};

use crate::confine::Confinement;

/// The version of the messages in this module. Host and worker are the same program, unless the
/// host names another one.
pub(crate) const VERSION: u32 = 5;

/// The only argument of a process that is to act as a worker.
pub(crate) const WORKER_ARG: &str = "toolcell-jail-worker";

/// The maximum size of a worker's first frame in bytes.
pub(crate) const MAX_HELLO_BYTES: usize = 64 << 10;

/// Returns the index of an image in [`ImageKind::ALL`], as messages name it.
pub(crate) fn image_index(image: ImageKind) -> Option<u8> {
    ImageKind::ALL.iter().position(|kind| *kind == image).and_then(|place| u8::try_from(place).ok())
}

/// Returns the image with this index in [`ImageKind::ALL`].
pub(crate) fn image_at(index: u8) -> Option<ImageKind> {
    ImageKind::ALL.get(usize::from(index)).copied()
}

/// A message of the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostMessage<'a> {
    /// Create a sandbox with one of these images (indices into
    /// [`ImageKind::ALL`](toolcell_host::ImageKind::ALL)), and confine the process.
    Start { version: u32, images: Vec<u8> },
    /// Evaluate a script once, and cache it under this identifier.
    Prepare {
        id: u64,
        #[serde(borrow)]
        script: ScriptFrame<'a>,
        #[serde(borrow)]
        context: WireContext<'a>,
    },
    /// Cache a script that is evaluated in each call under this identifier.
    CacheScript {
        id: u64,
        #[serde(borrow)]
        script: ScriptFrame<'a>,
    },
    /// Call a cached script.
    Call {
        id: u64,
        params: &'a str,
        mode: CallMode,
        #[serde(borrow)]
        context: WireContext<'a>,
    },
    /// Resume a suspended call.
    Resume {
        #[serde(with = "serde_bytes")]
        suspended: &'a [u8],
        #[serde(borrow)]
        script: ScriptFrame<'a>,
        #[serde(borrow)]
        context: WireContext<'a>,
    },
    /// The reply to [`WorkerMessage::Waiting`].
    WaitDone(WaitDone),
    /// The reply to [`WorkerMessage::ReadClock`]: the current time.
    Now(Duration),
    /// Cancel the current call.
    Cancel,
}

/// A script with its name.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ScriptFrame<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
}

/// The inputs of a call besides its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireContext<'a> {
    pub(crate) budget: Budget,
    pub(crate) time_limit: Duration,
    /// Whether the call is cancelled already. It then ends at its first check.
    pub(crate) is_cancelled: bool,
    pub(crate) grants: Vec<Grant>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) call_id: &'a str,
    pub(crate) seed: u64,
    pub(crate) started_at: Duration,
    /// Whether the tool sees the wall clock, which is read in the host.
    pub(crate) has_wall_clock: bool,
    /// Whether the host accepts partial results.
    pub(crate) wants_partial_results: bool,
    pub(crate) fuel_scope: FuelScope,
}

/// What may happen to a call besides its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallMode {
    /// Nothing.
    Plain,
    /// It is profiled: the worker sends its profile before its report.
    Profiled,
    /// It may be suspended.
    Suspendable,
}

/// The outcome of a wait, and the state of the call after it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WaitDone {
    pub(crate) outcome: WaitOutcome,
    /// Time until the deadline, as measured by the host: zero once it has passed. The worker
    /// received its limits after the host sent them, so its own clock would allow slightly more.
    pub(crate) time_left: Duration,
    pub(crate) is_cancelled: bool,
}

/// A message of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkerMessage {
    /// The worker has started and is confined.
    Hello(Hello),
    /// The worker failed to start, and exits.
    StartFailed(String),
    /// The script is cached.
    Ready { load_fuel: u64, manifest: Json, load_mode: LoadMode },
    /// No script is cached under this identifier.
    UnknownScript,
    /// Loading the script or running the call has finished.
    Finished(Box<Report>),
    /// The call is to be suspended: its serialised state.
    Suspended(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The suspended call belongs to another script.
    ScriptMismatch,
    /// No instance could be created for the call.
    NoInstance(String),
    /// The tool has started host calls and waits for them, with this much fuel and memory left.
    Waiting { calls: Option<StartedCalls>, fuel: u64, memory: usize },
    /// The tool reads the wall clock.
    ReadClock,
    /// A partial result.
    Partial(String),
    /// The profile of the call, before its report.
    Profile(Box<CallProfile>),
    /// A part of Toolcell broke a rule, so that the call did not start.
    Bug(String),
}

/// The state in which a script is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LoadMode {
    /// Calls start from a snapshot after its top level.
    Snapshot,
    /// The script is evaluated in each call.
    WithoutSnapshot,
}

/// Host calls that the tool started and cancelled.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StartedCalls {
    pub(crate) started: Vec<HostCall>,
    pub(crate) cancelled: Vec<u32>,
}

/// The first message of a worker, which describes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) guest: String,
    pub(crate) engine: String,
    /// The index of its image in [`ImageKind::ALL`](toolcell_host::ImageKind::ALL).
    pub(crate) image: u8,
    pub(crate) rejected_images: Vec<(u8, String)>,
    pub(crate) confinement: Confinement,
}
