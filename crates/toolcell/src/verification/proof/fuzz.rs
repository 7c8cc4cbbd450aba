//! Property testing: searches for an input that the tool's schema accepts and that the tool does
//! not handle.
//!
//! Invariant: a reported input is valid under the tool's own schema, and is shrunk as far as
//! possible with the same fault. The same seed generates the same inputs.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Map, Value};
use toolcell_host::{Budget, CallError, Outcome};
use toolcell_i18n::{Message, message};
use toolcell_tool::{Postconditions, canonical_json};

use super::trial::{Violation, returned_value};
use super::{Check, CheckKind, Counterexample, InputGenerator, Trial, truncated_json};
use crate::verification::postconditions::ReturnsCheck;

/// The fuel limit of one call: a small input that takes more is a fault.
const MAX_CALL_FUEL: u64 = 1_000_000_000;
/// The deadline of one call, for slow images; on others, the fuel limit is reached long before.
const CALL_DEADLINE: Duration = Duration::from_secs(10);
/// The maximum number of shrinking steps.
const MAX_SHRINKS: u32 = 1_000;
/// The maximum number of calls that reach a limit.
const MAX_EXPENSIVE_CALLS: u32 = 64;

/// The state of a test.
#[derive(Default)]
struct FuzzState {
    runs: Cell<u64>,
    /// Calls that the tool rejected with a deliberate error.
    rejected: Cell<u64>,
    fuel: Cell<u64>,
    expensive: Cell<u32>,
    /// The kind of the first fault, and its input, which is shrunk.
    first_failure: RefCell<Option<(String, Value)>>,
    /// The fault of the smallest input so far.
    last_violation: RefCell<Option<Violation>>,
    call_error: RefCell<Option<CallError>>,
}

/// Runs the tool on `cases` generated inputs.
pub(crate) fn fuzz(
    trial: &Trial<'_>,
    inputs: &InputGenerator<'_>,
    claims: &Postconditions,
    cases: u32,
    seed: u64,
) -> Result<(Check, Option<Counterexample>), CallError> {
    let returns = ReturnsCheck::new(claims);
    let tries = FuzzState::default();
    let config =
        Config { cases, max_shrink_iters: MAX_SHRINKS, failure_persistence: None, verbose: 0, ..Config::default() };
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &key));
    let ended =
        runner.run(&inputs.strategy(), |parameters| match check_input(trial, &returns, claims, &tries, &parameters) {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => tries.record_violation(wrong, parameters),
            Err(error) => {
                tries.call_error.borrow_mut().get_or_insert(error);
                Ok(())
            }
        });
    if let Some(error) = tries.call_error.into_inner() {
        return Err(error);
    }
    let (runs, fuel) = (tries.runs.get(), tries.fuel.get());
    let (Err(TestError::Fail(_, parameters)), Some(wrong)) = (ended, tries.last_violation.into_inner()) else {
        return Ok((
            Check::passed(CheckKind::Challenger, runs, fuel, summary(runs, tries.rejected.get(), claims)),
            None,
        ));
    };
    let found_with = tries.first_failure.into_inner().map(|(_, with)| with).filter(|with| *with != parameters);
    let check = Check::failed(CheckKind::Challenger, runs, fuel, wrong.message.clone());
    Ok((check, Some(wrong.into_counterexample(CheckKind::Challenger, parameters, found_with))))
}

impl FuzzState {
    /// Records a fault. During shrinking, a fault of another kind does not count.
    fn record_violation(&self, wrong: Violation, parameters: Value) -> Result<(), TestCaseError> {
        let mut first = self.first_failure.borrow_mut();
        let (kind, _) = first.get_or_insert_with(|| (wrong.kind.clone(), parameters));
        if *kind != wrong.kind {
            return Ok(());
        }
        let reason = wrong.kind.clone();
        *self.last_violation.borrow_mut() = Some(wrong);
        Err(TestCaseError::fail(reason))
    }
}

/// Calls the tool with parameters, if its schema accepts them, and returns the fault if there is
/// one.
fn check_input(
    trial: &Trial<'_>,
    returns: &ReturnsCheck,
    claims: &Postconditions,
    tries: &FuzzState,
    parameters: &Value,
) -> Result<Option<Violation>, CallError> {
    let is_cancelled = trial.cancel.is_some_and(toolcell_host::CancelToken::is_cancelled);
    if is_cancelled || tries.call_error.borrow().is_some() || tries.expensive.get() >= MAX_EXPENSIVE_CALLS {
        return Ok(None);
    }
    let Ok(args) = trial.schema.check_value(parameters.clone()) else { return Ok(None) };
    let ordinary = trial.budget();
    let budget =
        Budget { fuel: ordinary.fuel.min(MAX_CALL_FUEL), deadline: ordinary.deadline.min(CALL_DEADLINE), ..ordinary };
    let report = trial.call(CheckKind::Challenger, args.clone(), budget)?;
    tries.runs.set(tries.runs.get() + 1);
    tries.fuel.set(tries.fuel.get().max(report.usage.fuel));
    if let Outcome::Stopped(_) = report.outcome {
        tries.expensive.set(tries.expensive.get() + 1);
    }
    if let Some(wrong) = trial.violation(&report) {
        return Ok(Some(wrong));
    }
    let Some(result) = returned_value(&report) else {
        tries.rejected.set(tries.rejected.get() + 1);
        return Ok(None);
    };
    if let Err(error) = returns.check(&result) {
        let message = message!("its result does not match `returns`: {problem}", problem = error.detail());
        return Ok(Some(Violation::new("result-mismatch", message)));
    }
    // Every fourth input is run twice: hidden inputs show up soon.
    if tries.runs.get() % 4 == 1 {
        let again = trial.call(CheckKind::Challenger, args.clone(), budget)?;
        if (&again.outcome, again.usage.fuel) != (&report.outcome, report.usage.fuel) {
            let message = message!("the same parameters give a different result or fuel usage");
            return Ok(Some(Violation::new("not-deterministic", message)));
        }
    }
    match &claims.idempotent {
        Some(name) => check_idempotent(trial, name, parameters, &result, budget),
        None => Ok(None),
    }
}

/// Passes the result back as the named parameter, and returns a fault if the new result differs.
fn check_idempotent(
    trial: &Trial<'_>,
    name: &str,
    parameters: &Value,
    result: &Value,
    budget: Budget,
) -> Result<Option<Violation>, CallError> {
    let wrong = |message: Message| Ok(Some(Violation::new("not-idempotent", message)));
    // If the result has a field with that name, the field is compared.
    let part = |result: &Value| result.get(name).unwrap_or(result).clone();
    let once = part(result);
    let mut fields = parameters.as_object().cloned().unwrap_or_else(Map::new);
    fields.insert(name.to_owned(), once.clone());
    let args = match trial.schema.check_value(Value::Object(fields)) {
        Ok(args) => args,
        Err(error) => {
            let problem = error.detail();
            return wrong(message!("its result is not valid as `{name}`: {problem}", name, problem));
        }
    };
    let report = trial.call(CheckKind::Challenger, args, budget)?;
    let Some(result) = returned_value(&report) else {
        let result = truncated_json(&once);
        return wrong(message!("it does not return when its result {result} is passed as `{name}`", result, name));
    };
    let twice = part(&result);
    if canonical_json(&once) == canonical_json(&twice) {
        return Ok(None);
    }
    let (once, twice) = (truncated_json(&once), truncated_json(&twice));
    wrong(message!("its result {once}, passed as `{name}`, becomes {twice}", once, name, twice))
}

fn summary(runs: u64, refused: u64, claims: &Postconditions) -> Message {
    let mut what = vec![message!("{runs} inputs", runs)];
    if refused > 0 {
        what.push(message!("{refused} of them rejected by the tool", refused));
    }
    if claims.returns.is_none() {
        what.push(message!("no `returns` to check results against"));
    }
    Message::list(what)
}
