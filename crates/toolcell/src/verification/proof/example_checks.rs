//! The checks on a tool's examples: results, determinism and headroom.

use toolcell_host::{CallError, Outcome, Report};
use toolcell_i18n::{Message, message};
use toolcell_tool::{Example, ExampleSource, Expectation, Postconditions};

use super::examples::{ExampleResult, run_example};
use super::trial::{TrialImage, Violation};
use super::{Check, CheckKind, Counterexample, Trial};
use crate::verification::postconditions::ReturnsCheck;

/// The maximum fuel of a call that is repeated on the interpreter, which is about 30 times slower.
const MAX_INTERPRETED_FUEL: u64 = 200_000_000;

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
