//! What the host does for a tool while it waits.
//!
//! Invariant: a tool sees the results of operations in the order in which they are given back here, and no other
//! trace of how they were done.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::until::Until;

pub use toolcell_protocol::{Effects, Grant, Operation};

/// Does the operations that a tool asks for.
///
/// A host implements it for what it grants; [`NoOperations`] grants nothing, [`Timers`] waits.
pub trait Operations: Sync {
    /// What the tools run with these operations are granted. An ungranted capability does not exist for them.
    fn grants(&self) -> Vec<Grant>;

    /// The operations of one call.
    fn start(&self) -> Box<dyn OperationsOfCall + '_>;
}

/// The operations of one call, in flight.
pub trait OperationsOfCall {
    /// Takes operations that the tool has just started, and forgets those that it cancelled. An operation that has ended is
    /// cancelled as well where nobody reads the rest of what it gave.
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]);

    /// Waits until at least one operation has ended, or until the call has to end. Where none has, nothing more will come.
    fn wait(&mut self, left: &Left<'_>) -> Waited;

    /// Waits likewise, in a call that may be put to sleep. Where what is left to wait for takes longer than anybody should wait,
    /// the answer is to sleep, and the operations that are not done are kept by whoever gave it. They are there again when the
    /// call is woken: [`Operations::start`] gives them, and none of them is begun again.
    fn wait_or_sleep(&mut self, left: &Left<'_>) -> Rest {
        Rest::Waited(self.wait(left))
    }
}

/// What a wait came to, in a call that may be put to sleep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rest {
    /// It goes on.
    Waited(Waited),
    /// The call is to be put to sleep.
    Sleep {
        /// How long it waited until then.
        took: Duration,
    },
}

/// What a call has left while it waits. An operation that runs another tool runs it within that.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// When it has to end.
    pub until: &'a Until,
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: usize,
}

/// What a wait came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Waited {
    /// The operations that ended, in the order in which the tool is to see them.
    pub ended: Vec<Ended>,
    /// How long nothing came, which the tool's virtual clock moves on by.
    pub took: Duration,
    /// Fuel that tools burned that were run for this one.
    pub fuel: u64,
}

impl Waited {
    /// Nothing more will come.
    #[must_use]
    pub fn in_vain() -> Self {
        Self::default()
    }

    /// These ended, after a wait that began at some time.
    #[must_use]
    pub fn since(began: Instant, ended: Vec<Ended>) -> Self {
        Self { ended, took: began.elapsed(), fuel: 0 }
    }
}

/// An operation that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its number.
    pub id: u32,
    /// What the tool's promise is fulfilled or rejected with.
    pub result: Result<OperationAnswer, OperationFailure>,
}

/// What an operation came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationAnswer {
    /// A value.
    pub json: Json,
    /// What comes along, such as a piece of a body.
    #[serde(with = "serde_bytes")]
    pub bytes: Option<Vec<u8>>,
}

impl From<Json> for OperationAnswer {
    fn from(json: Json) -> Self {
        Self { json, bytes: None }
    }
}

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationFailure {
    /// The error's name as the tool sees it.
    pub name: String,
    /// The error's message as the tool sees it.
    pub message: String,
    /// The error's stable code.
    pub code: Cow<'static, str>,
    /// Whether it happened all the same.
    pub effects: Effects,
}

/// Grants nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOperations;

impl Operations for NoOperations {
    fn grants(&self) -> Vec<Grant> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Self)
    }
}

impl OperationsOfCall for NoOperations {
    fn begin(&mut self, _: Vec<Operation>, _: &[u32]) {}

    fn wait(&mut self, _: &Left<'_>) -> Waited {
        Waited::in_vain()
    }
}

/// Grants timers, and waits for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timers;

impl Operations for Timers {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
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
                        code: "operation-unknown".into(),
                        effects: Effects::None,
                    }),
                }),
            }
        }
        self.due.retain(|(_, id)| !cancelled.contains(id));
    }

    fn wait(&mut self, left: &Left<'_>) -> Waited {
        let began = Instant::now();
        if !self.malformed.is_empty() {
            return Waited::since(began, std::mem::take(&mut self.malformed));
        }
        self.due.sort_unstable();
        let Some(&(first, id)) = self.due.first() else { return Waited::in_vain() };
        left.until.sleep(first);
        if Instant::now() < first {
            return Waited::in_vain();
        }
        // One at a time, so that what a callback does is seen by the next one, as in a browser.
        self.due.remove(0);
        Waited::since(began, vec![Ended { id, result: Ok(Json::NULL.into()) }])
    }
}

/// How long a timer waits: its payload is `{"ms": NUMBER}`.
fn milliseconds(operation: &Operation) -> Option<Duration> {
    let number = operation.payload.strip_prefix("{\"ms\":")?.strip_suffix('}')?;
    let milliseconds: f64 = number.parse().ok()?;
    (operation.kind == "timer").then(|| Duration::try_from_secs_f64(milliseconds / 1000.0).ok())?
}
