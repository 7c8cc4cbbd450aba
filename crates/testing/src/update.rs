//! Writes files of tests anew: what is expected, and what may be spent.
//!
//! Invariant: what is not changed stays byte for byte, comments and all; nothing is written here, only said.

use std::io;
use std::path::PathBuf;

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};
use toolcell::{Outcome, Stop};

use crate::budget::{FuelBudget, model};
use crate::diff::{settled, unified};
use crate::expect::{self, Expectation};
use crate::outcome::{Done, Tested};
use crate::suite::Suite;

/// The keys that say how a test ends.
const ENDS: [&str; 5] = ["returns", "returns_json", "throws", "stops", "refused"];
/// What is wrong with a test that a new expectation rights.
const OF_ENDS: [&str; 3] = ["returns-differ", "outcome-differs", "throws-differ"];
/// What is wrong with one that a new budget rights.
const OF_BUDGETS: [&str; 4] = ["fuel-over-budget", "fuel-regressed", "load-fuel-over-budget", "load-fuel-regressed"];

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub before: String,
    /// What is to be in it.
    pub after: String,
}

impl Rewritten {
    /// What changes, as a unified difference.
    #[must_use]
    pub fn diff(&self) -> String {
        unified(&self.path.display().to_string(), &self.before, &self.after)
    }

    /// Writes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self) -> io::Result<()> {
        std::fs::write(&self.path, &self.after)
    }
}

/// The files in which each test that failed expects what it does, and may spend what it takes; and how many tests only their
/// author can right: what `where`, `logs`, `effects`, `refused` and recorded answers say was meant.
///
/// In a file with a table `budget`, tests without a budget get one, a tenth more than what they take.
#[must_use]
pub fn update(suites: &[Suite], tested: &Tested) -> (Vec<Rewritten>, usize) {
    let mut left = 0;
    let all = suites.iter().enumerate().filter_map(|(number, suite)| {
        let mut file = File::open(suite)?;
        for done in tested.done.iter().filter(|done| done.index.0 == number) {
            let case = &suite.cases[done.index.1];
            let has = |codes: &[&str]| done.failures.iter().any(|failure| codes.contains(&failure.code));
            let rightable = !matches!(
                case.expectation,
                Some(Expectation::Satisfies(_) | Expectation::Refused(_) | Expectation::Replays)
            );
            let other = done
                .failures
                .iter()
                .any(|failure| !(OF_BUDGETS.contains(&failure.code) || rightable && OF_ENDS.contains(&failure.code)));
            left += usize::from(other);
            if other {
                continue;
            }
            if has(&OF_ENDS) {
                file.expect(done);
            }
            let budget = match case.fuel {
                Some(budget) if has(&OF_BUDGETS[..2]) => Some(budget.rebased(done.fuel)),
                None if suite.has_budgets && done.outcome.is_some() => Some(FuelBudget::new(done.fuel)),
                _ => None,
            };
            file.allow(done.index.1, budget);
        }
        let of_suite = || tested.done.iter().filter(|done| done.index.0 == number && done.outcome.is_some());
        let failures = of_suite().flat_map(|done| &done.failures);
        let over = failures.filter(|failure| OF_BUDGETS[2..].contains(&failure.code)).count() > 0;
        if let Some(loading) = of_suite().map(|done| done.load_fuel).max() {
            file.allow_loading(match suite.load_fuel {
                Some(budget) => over.then(|| budget.rebased(loading)),
                None => suite.has_budgets.then(|| FuelBudget::new(loading)),
            });
        }
        file.rewritten(suite)
    });
    let all = all.collect();
    (all, left)
}

/// The files with budgets of this build's model: what was measured is measured anew, and what a budget had on top of it stays in
/// proportion. A file with a test that was not run or fails is left as it is.
#[must_use]
pub fn rebase(suites: &[Suite], tested: &Tested) -> Vec<Rewritten> {
    let all = suites.iter().enumerate().filter_map(|(number, suite)| {
        let done: Vec<&Done> = tested.done.iter().filter(|done| done.index.0 == number).collect();
        if done.len() < suite.cases.len() || done.iter().any(|done| !done.passed()) {
            return None;
        }
        let mut file = File::open(suite)?;
        for one in &done {
            let case = &suite.cases[one.index.1];
            let is_limit = matches!(&case.expectation, Some(Expectation::Stops(code)) if code == "out-of-fuel");
            file.allow(one.index.1, case.fuel.filter(|_| !is_limit).map(|budget| budget.rebased(one.fuel)));
        }
        let loading = done.iter().map(|done| done.load_fuel).max().unwrap_or_default();
        file.allow_loading(suite.load_fuel.map(|budget| budget.rebased(loading)));
        if suite.has_budgets || suite.cases.iter().any(|case| case.fuel.is_some()) {
            file.counted_here();
        }
        file.rewritten(suite)
    });
    all.collect()
}

/// A file that is being changed.
struct File(DocumentMut);

impl File {
    fn open(suite: &Suite) -> Option<Self> {
        // It was read as TOML before.
        suite.text.parse().ok().map(Self)
    }

    fn rewritten(self, suite: &Suite) -> Option<Rewritten> {
        let after = self.0.to_string();
        (after != suite.text).then(|| Rewritten { path: suite.path.clone(), before: suite.text.clone(), after })
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

    /// The end of a test as it came.
    fn expect(&mut self, done: &Done) {
        let Some((key, value)) = done.outcome.as_ref().and_then(end_of) else { return };
        let Some(case) = self.case(done.index.1) else { return };
        for other in ENDS.iter().filter(|other| **other != key) {
            case.remove(other);
        }
        set(case, key, value);
    }

    fn allow(&mut self, number: usize, budget: Option<FuelBudget>) {
        if let (Some(budget), Some(case)) = (budget, self.case(number)) {
            set_budget(case, "fuel", "measured", budget);
        }
        if budget.is_some() {
            self.counted_here();
        }
    }

    fn allow_loading(&mut self, budget: Option<FuelBudget>) {
        let Some(budget) = budget else { return };
        self.counted_here();
        if let Some(budgets) = self.budgets() {
            set_budget(budgets, "load_fuel", "load_measured", budget);
        }
    }

    /// Says the model of this build.
    fn counted_here(&mut self) {
        if let Some(budgets) = self.budgets() {
            set(budgets, "model", Value::from(model()));
        }
    }

    fn budgets(&mut self) -> Option<&mut dyn TableLike> {
        self.0.entry("budget").or_insert_with(toml_edit::table).as_table_like_mut()
    }
}

fn set_budget(table: &mut dyn TableLike, limit: &str, measured: &str, budget: FuelBudget) {
    let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    set(table, limit, number(budget.limit));
    if let Some(then) = budget.measured {
        set(table, measured, number(then));
    }
}

/// Sets a member, and keeps what stands around it.
fn set(table: &mut dyn TableLike, key: &str, value: Value) {
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

/// How a file says an end; nothing where none should.
fn end_of(outcome: &Outcome) -> Option<(&'static str, Value)> {
    Some(match outcome {
        Outcome::Returned(None) => ("returns_json", "undefined".into()),
        Outcome::Returned(Some(json)) => {
            match expect::value(outcome).as_ref().map(settled).as_ref().and_then(toml_of) {
                Some(value) => ("returns", value),
                None => ("returns_json", json.as_str().into()),
            }
        }
        Outcome::Threw(thrown) => {
            let members = [("name", thrown.name.as_str()), ("message", thrown.message.as_str())];
            ("throws", Value::InlineTable(members.into_iter().collect()))
        }
        Outcome::Stopped(Stop::Cancelled | Stop::Crashed { .. }) => return None,
        Outcome::Stopped(stop) => ("stops", stop.code().into()),
    })
}

/// A value in TOML, which has no word for `null`.
fn toml_of(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(yes) => (*yes).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().map(toml_of).collect::<Option<Array>>()?),
        Json::Object(members) => {
            let pairs = members.iter().map(|(key, value)| Some((key.as_str(), toml_of(value)?)));
            Value::InlineTable(pairs.collect::<Option<InlineTable>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
