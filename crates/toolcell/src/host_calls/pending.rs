//! The host calls that a suspended run waits for.
//!
//! Invariant: while a run is suspended only host functions are in flight. Held effects have not
//! started, and started calls are never restarted.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use toolcell_host::{Completion, HostCall};

/// The host calls that a suspended run waits for.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct PendingHostCalls {
    /// Held effects that await a decision.
    pub(crate) held: Vec<HostCall>,
    /// The positions of these in the plan, as they were shown. A run that an earlier version
    /// suspended has none, and gets new ones.
    #[serde(skip)]
    pub(crate) places: Vec<PlanPosition>,
    /// Host functions that answer later.
    pub(crate) tickets: Vec<PendingCallback>,
    /// Timers: the number and the due time of each.
    pub(super) timers: Vec<(u32, Timestamp)>,
    /// The answers of host functions that arrived in the meantime.
    #[serde(skip)]
    pub(crate) answered: Vec<(PendingCallback, Completion)>,
}

/// The position of an effect in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanPosition {
    pub(super) position: u32,
    pub(super) digest: [u8; 32],
}

/// A call of a host function that answers later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingCallback {
    /// The number of the host call.
    pub(crate) id: u32,
    /// The name of the function.
    pub(crate) function: String,
    /// The ticket under which the answer is delivered.
    pub(crate) ticket: String,
}

impl PendingCallback {
    /// Recreates the host call, as far as a record needs it.
    pub(super) fn to_host_call(&self) -> HostCall {
        let payload = serde_json::json!({ "name": self.function }).to_string();
        HostCall { id: self.id, kind: "tools.call".to_owned(), payload, bytes: None }
    }
}

/// Recreates the host call of a timer, with the time left until it is due.
pub(super) fn remaining_timer(id: u32, due: Instant) -> HostCall {
    let left = due.saturating_duration_since(Instant::now()).as_millis();
    HostCall { id, kind: "timer".to_owned(), payload: format!(r#"{{"ms":{left}}}"#), bytes: None }
}

/// Converts an instant of this process to a time.
pub(super) fn to_timestamp(moment: Instant, now: Timestamp) -> Timestamp {
    let wait = moment.saturating_duration_since(Instant::now());
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

/// Converts a time to an instant of this process. A time in the past becomes now.
pub(super) fn to_instant(time: Timestamp, now: Timestamp) -> Instant {
    let (at, wait) = (Instant::now(), Duration::try_from(time.duration_since(now)).unwrap_or_default());
    at.checked_add(wait).unwrap_or(at)
}
