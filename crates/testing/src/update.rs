//! Updates of test files: expectations and budgets.
//!
//! Invariant: unchanged parts stay byte for byte, including comments. Nothing is written before
//! [`FileUpdate::write`].

use std::io;
use std::path::PathBuf;

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};
use toolcell::{Outcome, Stop};
use toolcell_error::ErrorCode;

use crate::budget::{FuelBudget, model};
use crate::diff::{normalize, unified};
use crate::expect::{self, ExpectedOutcome};
use crate::outcome::{CaseResult, TestReport};
use crate::suite::Suite;

/// The keys of expected outcomes.
const OUTCOME_KEYS: [&str; 5] = ["returns", "returns_json", "throws", "stops", "refused"];
/// The failures that a new expectation fixes.
const OUTCOME_CODES: [&str; 3] = ["returns-differ", "outcome-differs", "throws-differ"];
/// The failures that a new budget fixes: two of calls, then two of loading.
const BUDGET_CODES: [&str; 4] = ["fuel-over-budget", "fuel-regressed", "load-fuel-over-budget", "load-fuel-regressed"];

/// An update of a test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUpdate {
    /// The path of the file.
    pub path: PathBuf,
    /// The current contents.
    pub before: String,
    /// The new contents.
    pub after: String,
}

impl FileUpdate {
    /// Returns the change as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        unified(&self.path.display().to_string(), &self.before, &self.after)
    }

    /// Writes the new contents to the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self) -> io::Result<()> {
        std::fs::write(&self.path, &self.after)
    }
}

/// Returns updates that make failing tests expect the current behaviour and its fuel, and the
/// number of tests that only their author can fix: `where`, `logs`, `effects`, `refused` and mocks
/// state intent and are never changed.
///
/// In a file with a table `budget`, tests without a budget get one, with a margin of a tenth.
#[must_use]
pub fn update(suites: &[Suite], tested: &TestReport) -> (Vec<FileUpdate>, usize) {
    let mut left = 0;
    let all = suites.iter().enumerate().filter_map(|(number, suite)| {
        let mut file = SuiteFile::parse(suite)?;
        for done in tested.results.iter().filter(|done| done.index.0 == number) {
            let case = &suite.cases[done.index.1];
            let has = |codes: &[&str]| done.failures.iter().any(|failure| codes.contains(&failure.code));
            let rightable = !matches!(
                case.expectation,
                Some(ExpectedOutcome::Satisfies(_) | ExpectedOutcome::Refused(_) | ExpectedOutcome::Replays)
            );
            let other = done.failures.iter().any(|failure| {
                !(BUDGET_CODES.contains(&failure.code) || rightable && OUTCOME_CODES.contains(&failure.code))
            });
            left += usize::from(other);
            if other {
                continue;
            }
            if has(&OUTCOME_CODES) {
                file.set_expectation(done);
            }
            let budget = match case.fuel {
                Some(budget) if has(&BUDGET_CODES[..2]) => Some(budget.rebased(done.fuel)),
                None if suite.has_budgets && done.outcome.is_some() => Some(FuelBudget::new(done.fuel)),
                _ => None,
            };
            file.set_fuel_budget(done.index.1, budget);
        }
        let of_suite = || tested.results.iter().filter(|done| done.index.0 == number && done.outcome.is_some());
        let failures = of_suite().flat_map(|done| &done.failures);
        let over = failures.filter(|failure| BUDGET_CODES[2..].contains(&failure.code)).count() > 0;
        if let Some(loading) = of_suite().map(|done| done.load_fuel).max() {
            file.set_load_budget(match suite.load_fuel {
                Some(budget) => over.then(|| budget.rebased(loading)),
                None => suite.has_budgets.then(|| FuelBudget::new(loading)),
            });
        }
        file.into_update(suite)
    });
    let all = all.collect();
    (all, left)
}

/// Returns updates that measure budgets again under this build's model, keeping their margins in
/// proportion. A file with a failing test, or one that did not run, is left as it is.
#[must_use]
pub fn rebase(suites: &[Suite], tested: &TestReport) -> Vec<FileUpdate> {
    let all = suites.iter().enumerate().filter_map(|(number, suite)| {
        let done: Vec<&CaseResult> = tested.results.iter().filter(|done| done.index.0 == number).collect();
        if done.len() < suite.cases.len() || done.iter().any(|done| !done.has_passed()) {
            return None;
        }
        let mut file = SuiteFile::parse(suite)?;
        for one in &done {
            let case = &suite.cases[one.index.1];
            let is_limit = matches!(&case.expectation, Some(ExpectedOutcome::Stops(code)) if code == ErrorCode::OutOfFuel.as_str());
            file.set_fuel_budget(one.index.1, case.fuel.filter(|_| !is_limit).map(|budget| budget.rebased(one.fuel)));
        }
        let loading = done.iter().map(|done| done.load_fuel).max().unwrap_or_default();
        file.set_load_budget(suite.load_fuel.map(|budget| budget.rebased(loading)));
        if suite.has_budgets || suite.cases.iter().any(|case| case.fuel.is_some()) {
            file.set_model();
        }
        file.into_update(suite)
    });
    all.collect()
}

/// A test file that is being edited.
struct SuiteFile(DocumentMut);

impl SuiteFile {
    fn parse(suite: &Suite) -> Option<Self> {
        // The text was parsed as TOML before.
        suite.text.parse().ok().map(Self)
    }

    fn into_update(self, suite: &Suite) -> Option<FileUpdate> {
        let after = self.0.to_string();
        (after != suite.text).then(|| FileUpdate { path: suite.path.clone(), before: suite.text.clone(), after })
    }

    fn case(&mut self, number: usize) -> Option<&mut dyn TableLike> {
        match self.0.get_mut("case")? {
            Item::ArrayOfTables(cases) => cases.get_mut(number).map(|case| case as &mut dyn TableLike),
            Item::Value(Value::Array(cases)) => {
                cases.get_mut(number)?.as_inline_table_mut().map(|case| case as &mut dyn TableLike)
            }
            _ => None,
        }
    }

    /// Sets the expectation to the actual outcome.
    fn set_expectation(&mut self, done: &CaseResult) {
        let Some((key, value)) = done.outcome.as_ref().and_then(outcome_to_toml) else { return };
        let Some(case) = self.case(done.index.1) else { return };
        for other in OUTCOME_KEYS.iter().filter(|other| **other != key) {
            case.remove(other);
        }
        set_value(case, key, value);
    }

    fn set_fuel_budget(&mut self, number: usize, budget: Option<FuelBudget>) {
        if let (Some(budget), Some(case)) = (budget, self.case(number)) {
            set_budget(case, "fuel", "measured", budget);
        }
        if budget.is_some() {
            self.set_model();
        }
    }

    fn set_load_budget(&mut self, budget: Option<FuelBudget>) {
        let Some(budget) = budget else { return };
        self.set_model();
        if let Some(budgets) = self.budgets() {
            set_budget(budgets, "load_fuel", "load_measured", budget);
        }
    }

    /// Sets the model of this build.
    fn set_model(&mut self) {
        if let Some(budgets) = self.budgets() {
            set_value(budgets, "model", Value::from(model()));
        }
    }

    fn budgets(&mut self) -> Option<&mut dyn TableLike> {
        self.0.entry("budget").or_insert_with(toml_edit::table).as_table_like_mut()
    }
}

fn set_budget(table: &mut dyn TableLike, limit: &str, measured: &str, budget: FuelBudget) {
    let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    set_value(table, limit, number(budget.limit));
    if let Some(then) = budget.measured {
        set_value(table, measured, number(then));
    }
}

/// Sets a member, and keeps the comments and the space around it.
fn set_value(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Returns the key and the value for an outcome, or `None` for one that no test should expect.
fn outcome_to_toml(outcome: &Outcome) -> Option<(&'static str, Value)> {
    Some(match outcome {
        Outcome::Returned(None) => ("returns_json", "undefined".into()),
        Outcome::Returned(Some(json)) => {
            match expect::returned_value(outcome).as_ref().map(normalize).as_ref().and_then(json_to_toml) {
                Some(value) => ("returns", value),
                None => ("returns_json", json.as_str().into()),
            }
        }
        Outcome::Threw(thrown) => {
            let members = [("name", thrown.name.as_str()), ("message", thrown.message.as_str())];
            ("throws", Value::InlineTable(members.into_iter().collect()))
        }
        Outcome::Stopped(Stop::Cancelled | Stop::Crashed { .. }) => return None,
        Outcome::Stopped(stop) => ("stops", stop.code().as_str().into()),
    })
}

/// Converts a value to TOML. Returns `None` if it contains `null`, which TOML lacks.
fn json_to_toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(yes) => (*yes).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().map(json_to_toml).collect::<Option<Array>>()?),
        Json::Object(members) => {
            let pairs = members.iter().map(|(key, value)| Some((key.as_str(), json_to_toml(value)?)));
            Value::InlineTable(pairs.collect::<Option<InlineTable>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
