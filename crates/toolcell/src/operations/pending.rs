//! What a run waits for while it sleeps.
//!
//! Invariant: nothing of it is under way but what others do by themselves: what is held was not begun, and what was begun is not
//! begun again.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use toolcell_host::{Ended, Operation};

use super::plan::Place;

/// What a run waits for.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// What nobody has decided about.
    pub(crate) held: Vec<Operation>,
    /// The places of these in the plan, as they were shown. A run that an earlier version put to sleep has none: it gets new ones.
    #[serde(skip)]
    pub(crate) places: Vec<Place>,
    /// Functions of the host that answer later.
    pub(crate) tickets: Vec<Ticketed>,
    /// Timers: the number of each, and when it is due.
    pub(super) timers: Vec<(u32, Timestamp)>,
    /// What came of functions in the meantime.
    #[serde(skip)]
    pub(crate) answered: Vec<(Ticketed, Ended)>,
}

/// A call of a function of the host that answers later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticketed {
    /// The number of the operation.
    pub(crate) id: u32,
    /// The name of the function.
    pub(crate) function: String,
    /// Under which word it answers.
    pub(crate) ticket: String,
}

impl Ticketed {
    /// The operation, as far as it is still to be told of.
    pub(super) fn operation(&self) -> Operation {
        let payload = serde_json::json!({ "name": self.function }).to_string();
        Operation { id: self.id, kind: "tools.call".to_owned(), payload, bytes: None }
    }
}

/// A timer that was due then when it was laid down, as far as it is still to be told of: what is left of it.
pub(super) fn timer_until(id: u32, due: Instant) -> Operation {
    let left = due.saturating_duration_since(Instant::now()).as_millis();
    Operation { id, kind: "timer".to_owned(), payload: format!(r#"{{"ms":{left}}}"#), bytes: None }
}

/// The time at which a moment of this process is.
pub(super) fn time_of(moment: Instant, now: Timestamp) -> Timestamp {
    let wait = moment.saturating_duration_since(Instant::now());
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

/// The moment of this process at which it is some time; one that was is now.
pub(super) fn moment_of(time: Timestamp, now: Timestamp) -> Instant {
    let (at, wait) = (Instant::now(), Duration::try_from(time.duration_since(now)).unwrap_or_default());
    at.checked_add(wait).unwrap_or(at)
}
