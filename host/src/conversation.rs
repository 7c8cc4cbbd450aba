//! What host and guest say to each other in one call.
//!
//! Invariant: nothing that the guest answers is believed before it is checked, and every way in which a conversation
//! can end early is an [`End`].

use toolcell_protocol::{Answer, Call, Exceeded, Failure, Load, Reply, Resume, Settled};

use crate::budget::Budget;
use crate::instance::{Cell, Verb};
use crate::json::{Json, Params};
use crate::operations::Left;
use crate::outcome::{Outcome, Place, Stop, Thrown, Warning};
use crate::place;
use crate::sandbox::{Run, Script};
use crate::until::Until;

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
            Self::Stopped(stop) => Outcome::Stopped(stop),
        }
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

pub(crate) fn load(cell: &mut Cell<'_>, script: &Script<'_>, budget: &Budget, run: &Run<'_>) -> Result<(), End> {
    let request = Load { name: script.name, source: script.source, grants: run.operations.grants() };
    match cell.ask(Verb::Load, &request)? {
        Reply::Done { .. } => Ok(()),
        Reply::Pending { .. } => Err(Stop::Stalled.into()),
        other => Err(unexpected_end(other, budget)),
    }
}

pub(crate) fn describe(cell: &mut Cell<'_>) -> Result<Json, End> {
    match cell.ask(Verb::Describe, &())? {
        Reply::Done { value: Some(manifest), .. } => checked(manifest),
        other => Err(unexpected_end(other, &Budget::default())),
    }
}

/// Calls the tool, and does its operations until it has an outcome.
pub(crate) fn converse(
    cell: &mut Cell<'_>,
    params: &Params,
    budget: &Budget,
    run: &Run<'_>,
    until: &Until,
) -> Result<(Option<Json>, Vec<Warning>), End> {
    let request = Call {
        tool: run.tool,
        call_id: run.call_id,
        params: params.as_str(),
        result_bytes: u32::try_from(budget.output).unwrap_or(u32::MAX),
        operations: budget.operations,
    };
    let mut reply = cell.ask(Verb::Call, &request)?;
    let mut operations = None;
    loop {
        match reply {
            Reply::Done { value, warnings } => {
                let value = value.map(checked).transpose()?;
                let warnings = warnings.into_iter().map(|warning| Warning {
                    place: Place::Result,
                    path: warning.path,
                    message: warning.message,
                });
                return Ok((value, warnings.collect()));
            }
            Reply::Pending { started, cancelled } => {
                let operations = operations.get_or_insert_with(|| run.operations.start());
                operations.begin(started, &cancelled);
                let (fuel, memory) = (cell.fuel_left(), budget.memory.saturating_sub(cell.memory_bytes()));
                let waited = operations.wait(&Left { until, fuel, memory });
                cell.spend(waited.fuel)?;
                if until.is_over() {
                    return Err(Stop::Cancelled.into());
                }
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
                reply = cell.ask(Verb::Resume, &Resume { settled: settled.collect() })?;
            }
            other => return Err(unexpected_end(other, budget)),
        }
    }
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
