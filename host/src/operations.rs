//! What the host does for a tool while it waits.
//!
//! Invariant: a tool sees the results of operations in the order in which they are given back here, and no other
//! trace of how they were done.

use std::time::{Duration, Instant};

use crate::json::Json;
use crate::until::Until;

pub use toolcell_protocol::{Grant, Operation};

/// Does the operations that a tool asks for.
///
/// A host implements it for what it grants; [`NoOperations`] grants nothing, [`Timers`] waits.
pub trait Operations: Sync {
    /// What the tools run with these operations are granted. An ungranted capability does not exist for them.
    fn grants(&self) -> Vec<Grant>;

    /// The operations of one call.
    fn start(&self) -> Box<dyn OperationsOfCall>;
}

/// The operations of one call, in flight.
pub trait OperationsOfCall {
    /// Takes operations that the tool has just started, and forgets those that it cancelled.
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]);

    /// Waits until at least one operation has ended, or until the call has to end. An empty answer means that
    /// nothing more will come.
    fn wait(&mut self, until: &Until) -> Vec<Ended>;
}

/// An operation that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its number.
    pub id: u32,
    /// What the tool's promise is fulfilled or rejected with.
    pub result: Result<Json, OperationFailure>,
}

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationFailure {
    /// The error's name as the tool sees it.
    pub name: String,
    /// The error's message as the tool sees it.
    pub message: String,
}

/// Grants nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOperations;

impl Operations for NoOperations {
    fn grants(&self) -> Vec<Grant> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn OperationsOfCall> {
        Box::new(Self)
    }
}

impl OperationsOfCall for NoOperations {
    fn begin(&mut self, _: Vec<Operation>, _: &[u32]) {}

    fn wait(&mut self, _: &Until) -> Vec<Ended> {
        Vec::new()
    }
}

/// Grants timers, and waits for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timers;

impl Operations for Timers {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn OperationsOfCall> {
        Box::new(RunningTimers::default())
    }
}

#[derive(Default)]
struct RunningTimers {
    /// When each is due, and its number.
    due: Vec<(Instant, u32)>,
    malformed: Vec<Ended>,
}

impl OperationsOfCall for RunningTimers {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        let now = Instant::now();
        for operation in started {
            match milliseconds(&operation) {
                Some(wait) => self.due.push((now + wait, operation.id)),
                None => self.malformed.push(Ended {
                    id: operation.id,
                    result: Err(OperationFailure {
                        name: "TypeError".to_owned(),
                        message: format!("the operation `{}` is not a timer", operation.kind),
                    }),
                }),
            }
        }
        self.due.retain(|(_, id)| !cancelled.contains(id));
    }

    fn wait(&mut self, until: &Until) -> Vec<Ended> {
        if !self.malformed.is_empty() {
            return std::mem::take(&mut self.malformed);
        }
        self.due.sort_unstable();
        let Some(&(first, id)) = self.due.first() else { return Vec::new() };
        until.sleep(first);
        if Instant::now() < first {
            return Vec::new();
        }
        // One at a time, so that what a callback does is seen by the next one, as in a browser.
        self.due.remove(0);
        vec![Ended { id, result: Ok(Json::NULL) }]
    }
}

/// How long a timer waits: its payload is `{"ms": NUMBER}`.
fn milliseconds(operation: &Operation) -> Option<Duration> {
    let number = operation.payload.strip_prefix("{\"ms\":")?.strip_suffix('}')?;
    let milliseconds: f64 = number.parse().ok()?;
    (operation.kind == "timer").then(|| Duration::try_from_secs_f64(milliseconds / 1000.0).ok())?
}
