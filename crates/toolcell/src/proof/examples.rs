//! What a tool's examples show: that it does what they say, always the same, with room to spare.

use serde_json::Value;
use toolcell_host::{CallError, Outcome, Report};
use toolcell_tool::{Claims, Example, Expectation, canonical};

use super::challenge::short;
use super::trial::{Image, Wrong, returned};
use super::{Check, Counterexample, Trial, Trying};
use crate::claim::Returns;
use crate::params::Args;

/// The most fuel that a call on the interpreter may be expected to take: it takes some 30 times as long.
const INTERPRETED_FUEL: u64 = 200_000_000;

/// Parameters of an example, which passed the schema, and what came of them.
pub(crate) struct Shown {
    pub(crate) args: Args,
    pub(crate) report: Report,
}

/// Runs the examples and says which does not do what it should.
pub(crate) fn examples(
    trial: &Trial<'_>,
    examples: &[Example],
    claims: &Claims,
) -> Result<(Check, Option<Counterexample>, Vec<Shown>), CallError> {
    let returns = Returns::of(claims);
    let (mut shown, mut fuel) = (Vec::new(), 0);
    for (at, example) in examples.iter().enumerate() {
        let wrong = match trial.schema.check_value(example.parameters.clone()) {
            Err(error) => {
                let what = format!("what is declared refuses its parameters, which do not reach the tool: {error}");
                Some(Wrong::new("parameters-invalid", what))
            }
            Ok(args) => {
                let report = trial.call(Trying::Examples, args.clone(), trial.budget())?;
                fuel = fuel.max(report.usage.fuel);
                let wrong = unlike(trial, example, &returns, &report)?;
                shown.push(Shown { args, report });
                wrong
            }
        };
        if let Some(wrong) = wrong {
            let wrong = Wrong { message: format!("example {}: {}", at + 1, wrong.message), ..wrong };
            let check = Check::failed(Trying::Examples, shown.len() as u64, fuel, wrong.message.clone());
            return Ok((check, Some(wrong.with(Trying::Examples, example.parameters.clone(), None)), shown));
        }
    }
    let telling = examples.iter().filter(|example| example.expect != Expectation::Returns).count();
    let check = match telling {
        0 => Check::skipped(Trying::Examples, "no example says what it should do"),
        many => {
            Check::passed(Trying::Examples, shown.len() as u64, fuel, format!("{many} of {many} come out as they say"))
        }
    };
    Ok((check, None, shown))
}

/// What an example did that it should not.
fn unlike(
    trial: &Trial<'_>,
    example: &Example,
    returns: &Returns,
    report: &Report,
) -> Result<Option<Wrong>, CallError> {
    let wrong = |kind: &str, what: String| Ok(Some(Wrong::new(kind, what)));
    if let Expectation::Throws(part) = &example.expect {
        return match &report.outcome {
            Outcome::Threw(thrown) if format!("{}: {}", thrown.name, thrown.message).contains(part.as_str()) => {
                Ok(None)
            }
            Outcome::Threw(thrown) => wrong(
                "unlike-example",
                format!("it throws {}: {}, expected `{part}` in it", thrown.name, thrown.message),
            ),
            _ => wrong("unlike-example", format!("it does not throw, expected an error with `{part}` in it")),
        };
    }
    let result = match &report.outcome {
        Outcome::Threw(thrown) => return Ok(Some(Wrong::threw(thrown))),
        Outcome::Stopped(stop) => return wrong(stop.code(), format!("it is stopped: {stop}")),
        Outcome::Returned(_) => returned(report).unwrap_or(Value::Null),
    };
    if let Err(error) = returns.passes(&result) {
        return wrong("result-mismatch", format!("its result is not what it claims: {}", error.detail()));
    }
    match &example.expect {
        Expectation::Result(expected) if canonical(expected) != canonical(&result) => {
            wrong("unlike-example", format!("it returns {}, expected {}", short(&result), short(expected)))
        }
        Expectation::Holds(expression) => match trial.toolbox.holds(expression, &result, &example.parameters)? {
            Ok(true) => Ok(None),
            Ok(false) => wrong("unlike-example", format!("`{expression}` does not hold of {}", short(&result))),
            Err(why) => wrong("unlike-example", format!("`{expression}` cannot be decided: {why}")),
        },
        _ => Ok(None),
    }
}

/// Runs each example again, and on the interpreter, and says which comes out otherwise.
pub(crate) fn determinism(trial: &Trial<'_>, shown: &[Shown]) -> Result<(Check, Option<Counterexample>), CallError> {
    if shown.is_empty() {
        return Ok((Check::skipped(Trying::Determinism, "there is no example to run twice"), None));
    }
    let (mut runs, mut fuel, mut interpreted) = (0, 0, 0);
    // Where there is no room for it, what runs twice says what can be said.
    let missing = trial.toolbox.interpreter().err();
    for Shown { args, report } in shown {
        let mut images = vec![(Image::Own, "the second time")];
        if missing.is_none() && report.usage.fuel + report.usage.load_fuel <= INTERPRETED_FUEL {
            images.push((Image::Interpreter, "on the interpreter"));
        }
        for (image, when) in images {
            let again = trial.call_on(image, Trying::Determinism, args.clone(), trial.budget())?;
            runs += 1;
            interpreted += u64::from(image == Image::Interpreter);
            fuel = fuel.max(again.usage.fuel);
            let what = if again.outcome != report.outcome {
                format!("{when}, it ends otherwise")
            } else if again.usage.fuel != report.usage.fuel {
                format!("{when}, it burns {} fuel, and {} the first time", again.usage.fuel, report.usage.fuel)
            } else {
                continue;
            };
            let parameters = serde_json::from_str(args.params().as_str()).unwrap_or_default();
            let check = Check::failed(Trying::Determinism, runs, fuel, what.clone());
            let found = Wrong::new("not-deterministic", what).with(Trying::Determinism, parameters, None);
            return Ok((check, Some(found)));
        }
    }
    let says = match missing {
        Some(why) => format!("same results and fuel; the interpreter does not start here: {why}"),
        None => format!("same results and fuel, {interpreted} of {runs} on the interpreter"),
    };
    Ok((Check::passed(Trying::Determinism, runs, fuel, says), None))
}

/// Whether the examples leave half of what a call may use.
pub(crate) fn headroom(trial: &Trial<'_>, shown: &[Shown]) -> Check {
    let most = |of: fn(&Shown) -> u64| shown.iter().map(of).max().unwrap_or(0);
    if shown.is_empty() {
        return Check::skipped(Trying::Headroom, "there is no example to measure");
    }
    let budget = trial.budget();
    let fuel = most(|shown| shown.report.usage.fuel);
    let used = [
        ("fuel", fuel, budget.fuel),
        ("bytes of memory", most(|shown| shown.report.usage.memory as u64), budget.memory as u64),
        ("bytes of output", most(|shown| output(&shown.report) as u64), budget.output as u64),
    ];
    let says: Vec<String> = used.iter().map(|(what, used, may)| format!("{used} of {may} {what}")).collect();
    match used.iter().find(|(_, used, may)| *used > may / 2) {
        Some((what, used, may)) => {
            Check::failed(Trying::Headroom, 0, fuel, format!("an example uses {used} of {may} {what}, more than half"))
        }
        None => Check::passed(Trying::Headroom, 0, fuel, says.join(", ")),
    }
}

fn output(report: &Report) -> usize {
    if let Outcome::Returned(Some(value)) = &report.outcome { value.as_str().len() } else { 0 }
}
