//! What host and guest say to each other in one call.
//!
//! Invariant: nothing that the guest answers is believed before it is checked, and every way in which a conversation
//! can end early is an [`End`].

use std::convert::Infallible;
use std::time::Duration;

use toolcell_protocol::{Answer, Call, Exceeded, Failure, Load, Reply, Resume, Settled};

use crate::budget::Budget;
use crate::instance::{Cell, Verb};
use crate::json::{Json, Params};
use crate::operations::{Left, OperationsOfCall, Rest, Waited};
use crate::outcome::{Outcome, Place, Stop, Thrown, Warning};
use crate::place;
use crate::sandbox::{Run, Script};
use crate::until::Until;

/// The longest description that a script gives of its tools, in bytes of JSON: it is read by the host before any call.
const MANIFEST_LIMIT: usize = 256 << 10;

/// What ended a conversation with the guest early.
pub(crate) enum End {
    Threw(Thrown),
    Stopped(Stop),
}

impl End {
    pub(crate) fn outcome(self, script: &Script<'_>, until: &Until, budget: &Budget) -> Outcome {
        match self {
            Self::Threw(mut thrown) => {
                place::correct(&mut thrown, script.name, script.source);
                Outcome::Threw(thrown)
            }
            Self::Stopped(Stop::Cancelled) if !until.is_cancelled() => {
                Outcome::Stopped(Stop::Deadline { limit: budget.deadline })
            }
            // Where loading the script counts, the call had less than the limit that was set.
            Self::Stopped(Stop::OutOfFuel { .. }) => Outcome::Stopped(Stop::OutOfFuel { limit: budget.fuel }),
            Self::Stopped(stop) => Outcome::Stopped(stop),
        }
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// The shape of the tools that a script left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One function, which says nothing of itself.
    Function,
    /// An object or a factory's tools: what they say of themselves has to be asked for.
    Described,
}

/// Evaluates a script in a fresh instance.
pub(crate) fn load(cell: &mut Cell<'_>, script: &Script<'_>, budget: &Budget, run: &Run<'_>) -> Result<Shape, End> {
    let request = Load { name: script.name, source: script.source, grants: run.operations.grants() };
    match cell.ask(Verb::Load, &request)? {
        Reply::Done { value, .. } if value.as_deref() == Some("\"function\"") => Ok(Shape::Function),
        Reply::Done { .. } => Ok(Shape::Described),
        Reply::Pending { .. } => Err(Stop::Stalled.into()),
        other => Err(unexpected_end(other, budget)),
    }
}

/// The manifest of the tools that were loaded.
pub(crate) fn describe(cell: &mut Cell<'_>) -> Result<Json, End> {
    match cell.ask(Verb::Describe, &())? {
        Reply::Done { value: Some(manifest), .. } if manifest.len() > MANIFEST_LIMIT => {
            Err(Stop::OutputTooLarge { limit: MANIFEST_LIMIT }.into())
        }
        Reply::Done { value: Some(manifest), .. } => checked(manifest),
        other => Err(unexpected_end(other, &Budget::default())),
    }
}

/// How a conversation waits for operations.
pub(crate) trait Patience {
    /// What is known of a call that is to be put to sleep.
    type Sleep;

    fn wait(operations: &mut dyn OperationsOfCall, left: &Left<'_>) -> Result<Waited, Self::Sleep>;

    /// How long it waited until then.
    fn took(sleep: &Self::Sleep) -> Duration;
}

/// The call stays awake.
pub(crate) enum Awake {}

impl Patience for Awake {
    type Sleep = Infallible;

    fn wait(operations: &mut dyn OperationsOfCall, left: &Left<'_>) -> Result<Waited, Infallible> {
        Ok(operations.wait(left))
    }

    fn took(sleep: &Infallible) -> Duration {
        match *sleep {}
    }
}

/// The call may be put to sleep.
pub(crate) enum MaySleep {}

impl Patience for MaySleep {
    type Sleep = Duration;

    fn wait(operations: &mut dyn OperationsOfCall, left: &Left<'_>) -> Result<Waited, Duration> {
        match operations.wait_or_sleep(left) {
            Rest::Waited(waited) => Ok(waited),
            Rest::Sleep { took } => Err(took),
        }
    }

    fn took(sleep: &Duration) -> Duration {
        *sleep
    }
}

/// Where a conversation gets to by itself.
pub(crate) enum Turn<S> {
    /// The tool returned, with what was not exact.
    Returned(Option<Json>, Vec<Warning>),
    /// It is to be put to sleep.
    Sleeps(S),
}

/// Calls the tool, and does its operations until it has an outcome.
pub(crate) fn converse<P: Patience>(
    cell: &mut Cell<'_>,
    params: &Params,
    budget: &Budget,
    run: &Run<'_>,
    until: &Until,
) -> Result<Turn<P::Sleep>, End> {
    let request = Call {
        tool: run.tool,
        call_id: run.call_id,
        params: params.as_str(),
        result_bytes: u32::try_from(budget.output).unwrap_or(u32::MAX),
        operations: budget.operations,
    };
    let reply = cell.ask(Verb::Call, &request)?;
    go_on::<P>(cell, reply, None, budget, run, until)
}

/// Goes on with a call that was put to sleep while it waited.
pub(crate) fn wake<P: Patience>(
    cell: &mut Cell<'_>,
    budget: &Budget,
    run: &Run<'_>,
    until: &Until,
) -> Result<Turn<P::Sleep>, End> {
    let mut operations = run.operations.start();
    match settle::<P>(cell, &mut *operations, budget, until)? {
        Ok(reply) => go_on::<P>(cell, reply, Some(operations), budget, run, until),
        Err(sleep) => Ok(Turn::Sleeps(sleep)),
    }
}

fn go_on<'a, P: Patience>(
    cell: &mut Cell<'_>,
    mut reply: Reply,
    mut operations: Option<Box<dyn OperationsOfCall + 'a>>,
    budget: &Budget,
    run: &Run<'a>,
    until: &Until,
) -> Result<Turn<P::Sleep>, End> {
    loop {
        match reply {
            Reply::Done { value, warnings } => {
                let value = value.map(checked).transpose()?;
                let warning = |it: toolcell_protocol::Warning| Warning::new(Place::Result, it.path, it.message);
                let warnings = warnings.into_iter().map(warning);
                return Ok(Turn::Returned(value, warnings.collect()));
            }
            Reply::Pending { started, cancelled } => {
                let operations = operations.get_or_insert_with(|| run.operations.start());
                operations.begin(started, &cancelled);
                match settle::<P>(cell, &mut **operations, budget, until)? {
                    Ok(next) => reply = next,
                    Err(sleep) => return Ok(Turn::Sleeps(sleep)),
                }
            }
            other => return Err(unexpected_end(other, budget)),
        }
    }
}

/// Waits for operations, and tells the guest how they ended.
fn settle<P: Patience>(
    cell: &mut Cell<'_>,
    operations: &mut dyn OperationsOfCall,
    budget: &Budget,
    until: &Until,
) -> Result<Result<Reply, P::Sleep>, End> {
    let (fuel, memory) = (cell.fuel_left(), budget.memory.saturating_sub(cell.memory_bytes()));
    let waited = P::wait(operations, &Left { until, fuel, memory });
    if let Ok(waited) = &waited {
        cell.spend(waited.fuel)?;
    }
    if until.is_over() {
        return Err(Stop::Cancelled.into());
    }
    let waited = match waited {
        Ok(waited) => waited,
        Err(sleep) => {
            cell.inside().wait_clock(P::took(&sleep));
            return Ok(Err(sleep));
        }
    };
    if waited.ended.is_empty() {
        return Err(Stop::Stalled.into());
    }
    cell.inside().wait_clock(waited.took);
    let settled = waited.ended.iter().map(|ended| Settled {
        id: ended.id,
        result: match &ended.result {
            Ok(answer) => Ok(Answer { json: answer.json.as_str(), bytes: answer.bytes.as_deref() }),
            Err(failure) => Err(Failure {
                name: &failure.name,
                message: &failure.message,
                code: &failure.code,
                effects: failure.effects,
            }),
        },
    });
    Ok(Ok(cell.ask(Verb::Resume, &Resume { settled: settled.collect() })?))
}

/// What a reply that ends a request early stands for.
fn unexpected_end(reply: Reply, budget: &Budget) -> End {
    match reply {
        Reply::Threw(thrown) => End::Threw(Thrown {
            name: thrown.name,
            message: thrown.message,
            line: thrown.line,
            column: thrown.column,
            stack: thrown.stack,
        }),
        Reply::Exceeded(Exceeded::ResultBytes) => Stop::OutputTooLarge { limit: budget.output }.into(),
        Reply::Exceeded(Exceeded::Operations) => Stop::TooManyOperations { limit: budget.operations }.into(),
        Reply::Done { .. } | Reply::Pending { .. } => {
            Stop::Crashed { detail: "the guest's reply does not fit its request".to_owned() }.into()
        }
    }
}

/// Text that the guest says is JSON.
fn checked(text: String) -> Result<Json, End> {
    Json::parse(text)
        .map_err(|error| Stop::Crashed { detail: format!("the guest's result is no JSON: {error}") }.into())
}
