//! The checks on a tool's examples: results, determinism and headroom.

use std::time::Instant;

use serde_json::Value;
use toolcell_host::{Budget, CallError, Outcome, Report};
use toolcell_i18n::{Message, message};
use toolcell_schema::Args;
use toolcell_tool::{Example, ExampleSource, Expectation, Postconditions, canonical_json};

use super::fuzz::truncated_json;
use super::predicate::evaluate_predicate;
use super::trial::{TrialImage, Violation, returned_value};
use super::{Check, CheckKind, Counterexample, Trial};
use crate::verification::postconditions::ReturnsCheck;

/// The maximum fuel of a call that is repeated on the interpreter, which is about 30 times slower.
const MAX_INTERPRETED_FUEL: u64 = 200_000_000;

/// The parameters of an example that passed the schema, and the report of its call.
pub(crate) struct ExampleResult {
    pub(crate) args: Args,
    pub(crate) report: Report,
}

/// Runs the examples, and returns the first mismatch.
pub(crate) fn check_examples(
    trial: &Trial<'_>,
    examples: &[Example],
    claims: &Postconditions,
) -> Result<(Check, Option<Counterexample>, Vec<ExampleResult>), CallError> {
    let returns = ReturnsCheck::new(claims);
    let (mut shown, mut fuel) = (Vec::new(), 0);
    for (number, example) in (1..).zip(examples) {
        let (ran, wrong) = run_example(trial, number, example, &returns, trial.budget())?;
        fuel = fuel.max(ran.as_ref().map_or(0, |ran| ran.report.usage.fuel));
        shown.extend(ran);
        if let Some(wrong) = wrong {
            let check = Check::failed(CheckKind::Examples, shown.len() as u64, fuel, wrong.message.clone());
            return Ok((
                check,
                Some(wrong.into_counterexample(CheckKind::Examples, example.parameters.clone(), None)),
                shown,
            ));
        }
    }
    let telling = |from: ExampleSource| {
        examples.iter().filter(|example| example.expect != Expectation::Returns && example.source == from).count()
    };
    let check = match (telling(ExampleSource::Author), telling(ExampleSource::Template)) {
        (0, 0) => Check::skipped(CheckKind::Examples, message!("no example states an expected result")),
        (0, count) => Check::skipped(
            CheckKind::Examples,
            message!("{count} of {count} match, but all came with the template: add an example of your task", count),
        ),
        (author, template) => {
            let count = author + template;
            let says = message!("{count} of {count} match", count);
            Check::passed(CheckKind::Examples, shown.len() as u64, fuel, says)
        }
    };
    Ok((check, None, shown))
}

/// The comparison of a new tool with its examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExampleComparison {
    /// The tool has no examples.
    NoExamples,
    /// The examples were not run, or not all of them: why.
    NotRun(Message),
    /// The examples were run.
    Compared {
        /// The number of examples.
        count: usize,
        /// The number of those that came with a template, and so say nothing about the task.
        from_template: usize,
        /// How the others differ, each with the number of its example; empty if all match.
        mismatches: Vec<Message>,
    },
}

/// Runs the examples with a budget for all of them, and returns how they differ. The fuel of
/// predicates is not part of it, but their time is.
pub(crate) fn compare_examples(
    trial: &Trial<'_>,
    examples: &[Example],
    claims: &Postconditions,
    mut budget: Budget,
) -> Result<ExampleComparison, CallError> {
    if examples.is_empty() {
        return Ok(ExampleComparison::NoExamples);
    }
    let (returns, limit, started) = (ReturnsCheck::new(claims), budget.deadline, Instant::now());
    let mut mismatches = Vec::new();
    for (number, example) in (1..).zip(examples) {
        budget.deadline = limit.saturating_sub(started.elapsed());
        if budget.deadline.is_zero() {
            return Ok(ExampleComparison::NotRun(message!("the examples before {number} take too long here", number)));
        }
        let (ran, wrong) = run_example(trial, number, example, &returns, budget)?;
        let report = ran.map(|ran| ran.report);
        if let Some(Report { outcome: Outcome::Stopped(stop), .. }) = &report {
            return Ok(ExampleComparison::NotRun(message!(
                "example {number} takes too long here: {stop}",
                number,
                stop
            )));
        }
        mismatches.extend(wrong.map(|wrong| wrong.message));
        if let Some(usage) = report.map(|report| report.usage) {
            budget.fuel = budget.fuel.saturating_sub(usage.fuel.saturating_add(usage.load_fuel));
        }
    }
    let from_template = examples.iter().filter(|example| example.source == ExampleSource::Template).count();
    Ok(ExampleComparison::Compared { count: examples.len(), from_template, mismatches })
}

/// Runs an example, unless the schema rejects its parameters, and returns how it differs.
fn run_example(
    trial: &Trial<'_>,
    number: usize,
    example: &Example,
    returns: &ReturnsCheck,
    budget: Budget,
) -> Result<(Option<ExampleResult>, Option<Violation>), CallError> {
    let numbered = |wrong: Violation| {
        let message = message!("example {number}: {problem}", number, problem = wrong.message);
        Violation { message, ..wrong }
    };
    match trial.schema.check_value(example.parameters.clone()) {
        Err(error) => {
            let what = message!("the schema rejects its parameters: {error}", error);
            Ok((None, Some(numbered(Violation::new("parameters-invalid", what)))))
        }
        Ok(args) => {
            let report = trial.call(CheckKind::Examples, args.clone(), budget)?;
            let wrong = example_mismatch(trial, example, returns, &report)?;
            Ok((Some(ExampleResult { args, report }), wrong.map(numbered)))
        }
    }
}

/// Returns how a report differs from the example's expectation.
fn example_mismatch(
    trial: &Trial<'_>,
    example: &Example,
    returns: &ReturnsCheck,
    report: &Report,
) -> Result<Option<Violation>, CallError> {
    let wrong = |kind: &str, what: Message| Ok(Some(Violation::new(kind, what)));
    if let Expectation::Throws(part) = &example.expect {
        return match &report.outcome {
            Outcome::Threw(thrown) if format!("{}: {}", thrown.name, thrown.message).contains(part.as_str()) => {
                Ok(None)
            }
            Outcome::Threw(thrown) => wrong(
                "unlike-example",
                message!(
                    "it throws {name}: {error}, expected an error that contains `{part}`",
                    name = thrown.name,
                    error = thrown.message,
                    part,
                ),
            ),
            _ => wrong("unlike-example", message!("it does not throw, expected an error that contains `{part}`", part)),
        };
    }
    let result = match &report.outcome {
        Outcome::Threw(thrown) => return Ok(Some(Violation::from_thrown(thrown))),
        Outcome::Stopped(stop) => {
            return wrong(stop.code().as_str(), message!("it is stopped: {stop}", stop));
        }
        Outcome::Returned(_) => returned_value(report).unwrap_or(Value::Null),
    };
    if let Err(error) = returns.check(&result) {
        let message = message!("its result does not match `returns`: {problem}", problem = error.detail());
        return wrong("result-mismatch", message);
    }
    match &example.expect {
        Expectation::Result(expected) if canonical_json(expected) != canonical_json(&result) => wrong(
            "unlike-example",
            message!(
                "it returns {actual}, expected {expected}",
                actual = truncated_json(&result),
                expected = truncated_json(expected),
            ),
        ),
        Expectation::Holds(expression) => {
            match evaluate_predicate(trial.runtime, expression, &result, &example.parameters)? {
                Ok(true) => Ok(None),
                Ok(false) => {
                    let result = truncated_json(&result);
                    wrong("unlike-example", message!("`{expression}` is false for {result}", expression, result))
                }
                Err(why) => {
                    wrong("unlike-example", message!("`{expression}` cannot be evaluated: {why}", expression, why))
                }
            }
        }
        _ => Ok(None),
    }
}

/// Runs each example again, also on the interpreter, and returns the first difference.
pub(crate) fn check_determinism(
    trial: &Trial<'_>,
    shown: &[ExampleResult],
) -> Result<(Check, Option<Counterexample>), CallError> {
    if shown.is_empty() {
        let says = message!("there is no example to run twice");
        return Ok((Check::skipped(CheckKind::Determinism, says), None));
    }
    let (mut runs, mut fuel, mut interpreted) = (0, 0, 0);
    // If the interpreter does not start, only the repeated run is compared.
    let missing = trial.runtime.interpreter().err();
    for ExampleResult { args, report } in shown {
        let mut images = vec![TrialImage::Own];
        if missing.is_none() && report.usage.fuel + report.usage.load_fuel <= MAX_INTERPRETED_FUEL {
            images.push(TrialImage::Interpreter);
        }
        for image in images {
            let again = trial.call_on(image, CheckKind::Determinism, args.clone(), trial.budget())?;
            runs += 1;
            interpreted += u64::from(image == TrialImage::Interpreter);
            fuel = fuel.max(again.usage.fuel);
            let Some(what) = difference(image, report, &again) else { continue };
            let parameters = serde_json::from_str(args.params().as_str()).unwrap_or_default();
            let check = Check::failed(CheckKind::Determinism, runs, fuel, what.clone());
            let found =
                Violation::new("not-deterministic", what).into_counterexample(CheckKind::Determinism, parameters, None);
            return Ok((check, Some(found)));
        }
    }
    let says = match missing {
        Some(why) => message!("same results and fuel; the interpreter is not available: {why}", why),
        None => message!("same results and fuel, {interpreted} of {runs} on the interpreter", interpreted, runs),
    };
    Ok((Check::passed(CheckKind::Determinism, runs, fuel, says), None))
}

/// Returns how the repeated run of an example differs from the first one.
fn difference(image: TrialImage, first: &Report, again: &Report) -> Option<Message> {
    let (again_fuel, first_fuel) = (again.usage.fuel, first.usage.fuel);
    match image {
        TrialImage::Own if again.outcome != first.outcome => Some(message!("the second time, its outcome differs")),
        TrialImage::Interpreter if again.outcome != first.outcome => {
            Some(message!("on the interpreter, its outcome differs"))
        }
        _ if again_fuel == first_fuel => None,
        TrialImage::Own => Some(message!(
            "the second time, it uses {again_fuel} fuel, and {first_fuel} the first time",
            again_fuel,
            first_fuel,
        )),
        TrialImage::Interpreter => Some(message!(
            "on the interpreter, it uses {again_fuel} fuel, and {first_fuel} the first time",
            again_fuel,
            first_fuel,
        )),
    }
}

/// Checks that the examples use at most half of each limit.
pub(crate) fn check_headroom(trial: &Trial<'_>, shown: &[ExampleResult]) -> Check {
    let most = |of: fn(&ExampleResult) -> u64| shown.iter().map(of).max().unwrap_or(0);
    if shown.is_empty() {
        return Check::skipped(CheckKind::Headroom, message!("there is no example to measure"));
    }
    let budget = trial.budget();
    let fuel = most(|shown| shown.report.usage.fuel);
    let memory = most(|shown| shown.report.usage.memory as u64);
    let output = most(|shown| output_bytes(&shown.report) as u64);
    let (fuel_limit, memory_limit, output_limit) = (budget.fuel, budget.memory as u64, budget.output as u64);
    let shares = [
        (message!("{used} of {limit} fuel", used = fuel, limit = fuel_limit), fuel, fuel_limit),
        (message!("{used} of {limit} bytes of memory", used = memory, limit = memory_limit), memory, memory_limit),
        (message!("{used} of {limit} bytes of output", used = output, limit = output_limit), output, output_limit),
    ];
    match shares.iter().find(|(_, used, limit)| *used > limit / 2) {
        Some((share, ..)) => {
            let says = message!("an example uses {share}, more than half", share);
            Check::failed(CheckKind::Headroom, 0, fuel, says)
        }
        None => Check::passed(CheckKind::Headroom, 0, fuel, Message::list(shares.map(|(share, ..)| share))),
    }
}

fn output_bytes(report: &Report) -> usize {
    if let Outcome::Returned(Some(value)) = &report.outcome { value.as_str().len() } else { 0 }
}
