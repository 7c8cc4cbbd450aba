//! The challenger: looks for an input that a tool declares that it takes, and does not bear.
//!
//! Invariant: an input that is told passed the tool's own schema, and is as small as it could be made with the same thing wrong.
//! The same seed looks at the same inputs.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Map, Value};
use toolcell_host::{Budget, CallError, Outcome};
use toolcell_tool::{Claims, canonical};

use super::trial::{Wrong, returned};
use super::{Check, Counterexample, Inputs, Trial, Trying};
use crate::claim::Returns;

/// What one call may use: a small input that takes more is one that the tool does not bear.
const FUEL: u64 = 1_000_000_000;
/// The same on an image that is slow; fuel ends the call long before on others.
const DEADLINE: Duration = Duration::from_secs(10);
/// How often a smaller input is tried.
const SHRINKS: u32 = 1_000;
/// How often where each call burns all it may.
const DEAR_SHRINKS: u32 = 64;

/// What was seen while inputs were tried.
#[derive(Default)]
struct Tries {
    runs: Cell<u64>,
    /// Calls that the tool ended with an error of its own.
    refused: Cell<u64>,
    fuel: Cell<u64>,
    dear: Cell<u32>,
    /// What was wrong first, and with which input; it is what is made smaller.
    first: RefCell<Option<(String, Value)>>,
    /// What is wrong with the smallest input so far.
    last: RefCell<Option<Wrong>>,
    broken: RefCell<Option<CallError>>,
}

/// Tries `cases` inputs that are made from a seed.
pub(crate) fn challenge(
    trial: &Trial<'_>,
    inputs: &Inputs<'_>,
    claims: &Claims,
    cases: u32,
    seed: u64,
) -> Result<(Check, Option<Counterexample>), CallError> {
    let returns = Returns::of(claims);
    let tries = Tries::default();
    let config =
        Config { cases, max_shrink_iters: SHRINKS, failure_persistence: None, verbose: 0, ..Config::default() };
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &key));
    let ended =
        runner.run(&inputs.strategy(), |parameters| match try_one(trial, &returns, claims, &tries, &parameters) {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => tries.is_wrong(wrong, parameters),
            Err(error) => {
                tries.broken.borrow_mut().get_or_insert(error);
                Ok(())
            }
        });
    if let Some(error) = tries.broken.into_inner() {
        return Err(error);
    }
    let (runs, fuel) = (tries.runs.get(), tries.fuel.get());
    let (Err(TestError::Fail(_, parameters)), Some(wrong)) = (ended, tries.last.into_inner()) else {
        return Ok((Check::passed(Trying::Challenger, runs, fuel, said(runs, tries.refused.get(), claims)), None));
    };
    let found_with = tries.first.into_inner().map(|(_, with)| with).filter(|with| *with != parameters);
    let check = Check::failed(Trying::Challenger, runs, fuel, wrong.message.clone());
    Ok((check, Some(wrong.with(Trying::Challenger, parameters, found_with))))
}

impl Tries {
    /// Notes what is wrong. While an input is made smaller, something else that is wrong does not count.
    fn is_wrong(&self, wrong: Wrong, parameters: Value) -> Result<(), TestCaseError> {
        let mut first = self.first.borrow_mut();
        let (kind, _) = first.get_or_insert_with(|| (wrong.kind.clone(), parameters));
        if *kind != wrong.kind {
            return Ok(());
        }
        let reason = wrong.kind.clone();
        *self.last.borrow_mut() = Some(wrong);
        Err(TestCaseError::fail(reason))
    }
}

/// Calls the tool with parameters, if it takes them, and says what is wrong with what it does.
fn try_one(
    trial: &Trial<'_>,
    returns: &Returns,
    claims: &Claims,
    tries: &Tries,
    parameters: &Value,
) -> Result<Option<Wrong>, CallError> {
    let is_cancelled = trial.cancel.is_some_and(toolcell_host::CancelToken::is_cancelled);
    if is_cancelled || tries.broken.borrow().is_some() || tries.dear.get() >= DEAR_SHRINKS {
        return Ok(None);
    }
    let Ok(args) = trial.schema.check_value(parameters.clone()) else { return Ok(None) };
    let ordinary = trial.budget();
    let budget = Budget { fuel: ordinary.fuel.min(FUEL), deadline: ordinary.deadline.min(DEADLINE), ..ordinary };
    let report = trial.call(Trying::Challenger, args.clone(), budget)?;
    tries.runs.set(tries.runs.get() + 1);
    tries.fuel.set(tries.fuel.get().max(report.usage.fuel));
    if let Outcome::Stopped(_) = report.outcome {
        tries.dear.set(tries.dear.get() + 1);
    }
    if let Some(wrong) = trial.fault(&report) {
        return Ok(Some(wrong));
    }
    let Some(result) = returned(&report) else {
        tries.refused.set(tries.refused.get() + 1);
        return Ok(None);
    };
    if let Err(error) = returns.passes(&result) {
        let message = format!("its result is not what it claims: {}", error.detail());
        return Ok(Some(Wrong::new("result-mismatch", message)));
    }
    // Every fourth is called again: what depends on more than its input differs soon.
    if tries.runs.get() % 4 == 1 {
        let again = trial.call(Trying::Challenger, args.clone(), budget)?;
        if (&again.outcome, again.usage.fuel) != (&report.outcome, report.usage.fuel) {
            let message = "the same parameters give another result, or burn other fuel".to_owned();
            return Ok(Some(Wrong::new("not-deterministic", message)));
        }
    }
    match &claims.idempotent {
        Some(name) => not_idempotent(trial, name, parameters, &result, budget),
        None => Ok(None),
    }
}

/// Gives the result back as the parameter of that name, and says what is wrong if it does not come out as it went in.
fn not_idempotent(
    trial: &Trial<'_>,
    name: &str,
    parameters: &Value,
    result: &Value,
    budget: Budget,
) -> Result<Option<Wrong>, CallError> {
    let wrong = |message: String| Ok(Some(Wrong::new("not-idempotent", message)));
    // A result that has a field of that name means that field.
    let part = |result: &Value| result.get(name).unwrap_or(result).clone();
    let once = part(result);
    let mut fields = parameters.as_object().cloned().unwrap_or_else(Map::new);
    fields.insert(name.to_owned(), once.clone());
    let args = match trial.schema.check_value(Value::Object(fields)) {
        Ok(args) => args,
        Err(error) => return wrong(format!("its result cannot be given back as `{name}`: {}", error.detail())),
    };
    let report = trial.call(Trying::Challenger, args, budget)?;
    let Some(result) = returned(&report) else {
        return wrong(format!("it does not return where its result {} is given back as `{name}`", short(&once)));
    };
    let twice = part(&result);
    if canonical(&once) == canonical(&twice) {
        return Ok(None);
    }
    wrong(format!("its result {}, given back as `{name}`, becomes {}", short(&once), short(&twice)))
}

/// A value as JSON, cut where it is long.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn said(runs: u64, refused: u64, claims: &Claims) -> String {
    let mut what = vec![format!("{runs} inputs")];
    if refused > 0 {
        what.push(format!("{refused} of them refused with an error of its own"));
    }
    if claims.returns.is_none() {
        what.push("no `returns` to hold results against".to_owned());
    }
    what.join(", ")
}
