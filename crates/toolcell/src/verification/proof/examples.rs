//! Runs a tool's examples, and compares what it does with what they say.

use std::time::Instant;

use serde_json::Value;
use toolcell_host::{Budget, CallError, Outcome, Report};
use toolcell_i18n::{Message, message};
use toolcell_schema::Args;
use toolcell_tool::{Example, ExampleSource, Expectation, Postconditions, canonical_json};

use super::predicate::evaluate_predicate;
use super::trial::{Violation, returned_value};
use super::{CheckKind, Trial, truncated_json};
use crate::verification::postconditions::ReturnsCheck;

/// The parameters of an example that passed the schema, and the report of its call.
pub(crate) struct ExampleResult {
    pub(crate) args: Args,
    pub(crate) report: Report,
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
pub(super) fn run_example(
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
