//! What host and worker say to each other.
//!
//! A frame is the number of its bytes, in four of them, the least first, and one value of this module in the
//! [postcard wire format](https://postcard.jamesmunns.com/wire-format).
//!
//! Invariant: the host believes nothing that is in a [`Said`] but what it can check, and a worker that says what does not fit is
//! ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcell_host::{Budget, FuelCovers, Grant, Json, Operation, Report, Rest};

use crate::lock::Walls;

/// The version of everything in this module. Host and worker are one program, unless a host names another one.
pub(crate) const VERSION: u32 = 3;

/// What the host asks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Asked<'a> {
    /// To make a sandbox with one of these images (their places in [`Kind::ALL`](toolcell_host::Kind::ALL)), and to lock itself in.
    Begin { version: u32, images: Vec<u8> },
    /// To evaluate a script once, and to keep it under a number.
    Prepare {
        id: u64,
        #[serde(borrow)]
        script: Source<'a>,
        #[serde(borrow)]
        terms: Terms<'a>,
    },
    /// To keep a script under a number that is evaluated in each call.
    Keep {
        id: u64,
        #[serde(borrow)]
        script: Source<'a>,
    },
    /// To call one that is kept.
    Call {
        id: u64,
        params: &'a str,
        patience: Patience,
        #[serde(borrow)]
        terms: Terms<'a>,
    },
    /// To go on with a call that is asleep.
    Wake {
        #[serde(with = "serde_bytes")]
        asleep: &'a [u8],
        #[serde(borrow)]
        script: Source<'a>,
        #[serde(borrow)]
        terms: Terms<'a>,
    },
    /// To go on after [`Said::Waits`].
    Rested(Rested),
    /// To go on after [`Said::Looks`]: this is the time.
    Now(Duration),
    /// To end the call that runs.
    Cancel,
}

/// A script.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
}

/// What a call is given, besides its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms<'a> {
    pub(crate) budget: Budget,
    pub(crate) time: Duration,
    /// Whether it is over before it begins, and ends as soon as it looks.
    pub(crate) cancelled: bool,
    pub(crate) grants: Vec<Grant>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) call_id: &'a str,
    pub(crate) seed: u64,
    pub(crate) started_at: Duration,
    /// Whether it sees the real clock, which is looked at in the host.
    pub(crate) real_clock: bool,
    /// Whether somebody takes partial results.
    pub(crate) partial: bool,
    pub(crate) fuel_covers: FuelCovers,
}

/// Whether a call may be put to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Patience {
    Awake,
    MaySleep,
}

/// What a wait came to, and what became of the call meanwhile.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rested {
    pub(crate) rest: Rest,
    /// How much time the call has left, as the host measures it: none where its deadline has passed. The worker read its terms
    /// after the host wrote them, so by its own clock there would be a little more.
    pub(crate) left: Duration,
    pub(crate) cancelled: bool,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It is there, and locked in.
    Hello(Hello),
    /// It is not, and ends.
    Unable(String),
    /// A script is kept.
    Ready { load_fuel: u64, manifest: Json, form: Form },
    /// Nothing is kept under this number any more.
    Unknown,
    /// The script, or the call, ended.
    Ended(Box<Report>),
    /// The call is to be put to sleep.
    Asleep(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The call that was to be woken is one of another script.
    OtherScript,
    /// There is no instance for the call.
    NoInstance(String),
    /// The tool has begun operations, waits for them, and has so much left.
    Waits { begun: Option<Begun>, fuel: u64, memory: usize },
    /// The tool looks at the real clock.
    Looks,
    /// A partial result.
    Partial(String),
}

/// How a script is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// Calls start where its top level ended.
    Snapshot,
    /// It is evaluated in each call.
    EachCall,
}

/// Operations.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) started: Vec<Operation>,
    pub(crate) cancelled: Vec<u32>,
}

/// Who a worker is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) guest: String,
    pub(crate) engine: String,
    /// The place of its image in [`Kind::ALL`](toolcell_host::Kind::ALL).
    pub(crate) image: u8,
    pub(crate) passed_over: Vec<(u8, String)>,
    pub(crate) walls: Walls,
}
