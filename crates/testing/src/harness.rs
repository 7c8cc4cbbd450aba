//! Tests of tools in Rust, each a sentence.
//!
//! ```
//! use serde_json::json;
//! use toolcell_testing::harness::{fuel, source};
//!
//! source("twice.ts", "export const execute = ({ n }: { n: number }) => 2 * n")
//!     .given(json!({ "n": 21 }))
//!     .returns(42)
//!     .within(fuel(1_000_000))
//!     .check();
//! ```
//!
//! A table of cases, each a test of its own for `cargo test` and nextest, is what [`cases!`](crate::cases) makes.
//!
//! Invariant: a sentence that is not true ends the test with what differs, in values and not in Rust's own terms.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use toolcell::{Draft, Grant, Outcome, Params, SandboxConfig, Toolbox};

use crate::answers::{Answer, grant_of};
use crate::budget::{FuelBudget, model};
use crate::case::Case;
use crate::expect::{self, Expectation};
use crate::outcome::Done;
use crate::predicate::{Predicate, Test};
use crate::problem::Place;
use crate::run::{RunOptions, run};
use crate::suite::Suite;

pub use crate::answers::{fetch, operation, tool_call};

/// A tool that is to be tested.
#[derive(Debug, Clone)]
pub struct Tool {
    path: PathBuf,
    name: String,
    source: Result<Vec<u8>, String>,
}

/// A call of a tool, and what is expected of it.
#[derive(Debug, Clone)]
#[must_use = "nothing is tested before `check`"]
pub struct Call {
    tool: Tool,
    case: Case,
    of: Option<String>,
    wrong: Vec<String>,
}

/// What a call may use.
#[derive(Debug, Clone)]
pub struct Ceiling(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Fuel { limit: u64, of: Option<String> },
    Memory(usize),
    Time(Duration),
}

/// What came of a call that was as expected.
#[derive(Debug, Clone)]
pub struct Checked(Done);

/// The tool in a file. The path is that of a test: `cargo test` runs it in the folder of its package.
#[must_use]
pub fn tool(path: impl AsRef<Path>) -> Tool {
    let path = path.as_ref().to_owned();
    let source = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Tool { path, name, source }
}

/// The tool in a text; its name says which language it is.
#[must_use]
pub fn source(name: &str, text: &str) -> Tool {
    Tool { path: PathBuf::from(name), name: name.to_owned(), source: Ok(text.as_bytes().to_vec()) }
}

/// Units of fuel.
#[must_use]
pub const fn fuel(limit: u64) -> Ceiling {
    Ceiling(Kind::Fuel { limit, of: None })
}

/// Bytes of memory.
#[must_use]
pub const fn memory(bytes: usize) -> Ceiling {
    Ceiling(Kind::Memory(bytes))
}

/// Wall-clock time: a ceiling far above what a call takes, which ends one that hangs.
#[must_use]
pub const fn time(most: Duration) -> Ceiling {
    Ceiling(Kind::Time(most))
}

/// It is a number, and no less.
#[must_use]
pub fn at_least(least: f64) -> Test {
    Test::AtLeast(least)
}

/// It is a number, and no more.
#[must_use]
pub fn at_most(most: f64) -> Test {
    Test::AtMost(most)
}

/// It is this.
#[must_use]
pub fn is(value: impl Into<Value>) -> Test {
    Test::Is(value.into())
}

impl Ceiling {
    /// The same, counted under a model: under another one the test fails with `budget-model-mismatch` instead of a figure that
    /// means nothing. [`model`] is that of this build.
    #[must_use]
    pub fn counted_under(mut self, model: &str) -> Self {
        if let Kind::Fuel { of, .. } = &mut self.0 {
            *of = Some(model.to_owned());
        }
        self
    }
}

impl Tool {
    /// A call with these parameters, a JSON object.
    pub fn given(self, params: impl Into<Value>) -> Call {
        let mut case = Case::new("call");
        let mut wrong = Vec::new();
        match Params::parse(params.into().to_string()) {
            Ok(params) => case.params = params,
            Err(error) => wrong.push(format!("the parameters: {error}")),
        }
        Call { tool: self, case, of: None, wrong }
    }
}

impl Call {
    /// The host answers this, once; what it is an answer to is granted.
    pub fn answering(mut self, answer: Answer) -> Self {
        match grant_of(&answer.kind) {
            Some("net") => self = self.granted(Grant::Net),
            Some("tools") => self = self.granted(Grant::Tools),
            Some("kv") => self = self.granted(Grant::Kv),
            Some(_) => self = self.granted(Grant::Files),
            None => self.wrong.push(format!("nothing is asked for as `{}`", answer.kind)),
        }
        self.case.answers.push(answer);
        self
    }

    /// It is granted this.
    pub fn granted(mut self, grant: Grant) -> Self {
        if !self.case.grants.contains(&grant) {
            self.case.grants.push(grant);
        }
        self
    }

    /// Its random numbers come from this seed; from 0 unless said.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.case.seed = seed;
        self
    }

    /// Its clock starts so long after the start of 1970.
    pub fn started_at(mut self, since: Duration) -> Self {
        self.case.started_at = since;
        self
    }

    /// It returns this.
    pub fn returns(self, value: impl Into<Value>) -> Self {
        self.ends(Expectation::Returns(Some(value.into())))
    }

    /// It returns nothing: `undefined`.
    pub fn returns_nothing(self) -> Self {
        self.ends(Expectation::Returns(None))
    }

    /// It returns something of which this holds at a JSON path; may be said more than once.
    pub fn returns_where(mut self, path: &str, test: Test) -> Self {
        match Predicate::new(path, vec![test]) {
            Ok(predicate) => match &mut self.case.expectation {
                Some(Expectation::Satisfies(predicates)) => predicates.push(predicate),
                _ => return self.ends(Expectation::Satisfies(vec![predicate])),
            },
            Err(reason) => self.wrong.push(reason),
        }
        self
    }

    /// It throws an error with this name, and with this in its message.
    pub fn throws(self, name: &str, message: &str) -> Self {
        let (name, message) = (Some(name.to_owned()), Some(message.to_owned()));
        self.ends(Expectation::Throws { name, message })
    }

    /// It is ended with this code, such as `timeout`.
    pub fn stops(self, code: &str) -> Self {
        self.ends(Expectation::Stops(code.to_owned()))
    }

    /// The analysis refuses it: the name of a rule, or `syntax-error`.
    pub fn refused(self, rule: &str) -> Self {
        self.ends(Expectation::Refused(rule.to_owned()))
    }

    /// It writes these lines to its console.
    pub fn logs<'a>(mut self, lines: impl IntoIterator<Item = &'a str>) -> Self {
        self.case.logs = Some(lines.into_iter().map(str::to_owned).collect());
        self
    }

    /// It asks this of the host, in this order and nothing else: `fetch GET https://example.com/`, `tools.call mean`,
    /// `kv.commit KEY`. Timers do not count.
    pub fn asks_for<'a>(mut self, effects: impl IntoIterator<Item = &'a str>) -> Self {
        self.case.effects = Some(effects.into_iter().map(str::to_owned).collect());
        self
    }

    /// It uses no more than this; may be said once for each measure.
    pub fn within(mut self, ceiling: Ceiling) -> Self {
        match ceiling.0 {
            Kind::Fuel { limit: 0, .. } => self.wrong.push("a budget of 0 is one that nothing can keep to".to_owned()),
            Kind::Fuel { limit, of } => {
                self.case.fuel = Some(FuelBudget { limit, measured: None, place: Place::BEGINNING });
                self.of = of;
            }
            Kind::Memory(bytes) => self.case.limits.memory = Some(bytes),
            Kind::Time(most) => self.case.limits.time = Some(most),
        }
        self
    }

    fn ends(mut self, end: Expectation) -> Self {
        if self.case.expectation.is_some() {
            self.wrong.push("two ends are expected of one call".to_owned());
        }
        self.case.expectation = Some(end);
        self
    }

    /// Calls the tool, and says whether all of it is true.
    ///
    /// # Panics
    /// Something is not as it is said, or cannot be: the message says what, with what is expected beside what came.
    #[track_caller]
    #[expect(clippy::panic, reason = "a test that fails panics")]
    #[expect(clippy::must_use_candidate, reason = "that it is as expected is all that most tests want")]
    pub fn check(self) -> Checked {
        match self.checked() {
            Ok(done) => Checked(done),
            Err(reason) => panic!("{reason}"),
        }
    }

    /// What came of it, or what is wrong, as text.
    fn checked(mut self) -> Result<Done, String> {
        let name = self.tool.name.clone();
        if let Some(of) = self.of.filter(|of| *of != model()) {
            let wrong = format!(
                "budget-model-mismatch: the budget is of the model `{of}`, this build counts as `{}`; measure it anew",
                model()
            );
            self.wrong.push(wrong);
        }
        if self.case.expectation.is_none() {
            self.wrong.push("nothing is expected of it: say `returns`, `throws`, `stops` or `refused`".to_owned());
        }
        if let Err(error) = self.case.budget().check() {
            self.wrong.push(error.to_string());
        }
        if !self.wrong.is_empty() {
            return Err(format!("{name}: {}", self.wrong.join("; ")));
        }
        let draft = Draft::from_bytes(&name, &self.tool.source?).map_err(|error| format!("{name}: {error}"))?;
        let suite = Suite {
            path: self.tool.path.clone(),
            text: String::new(),
            tool: self.tool.path,
            draft,
            tool_place: Place::BEGINNING,
            has_budgets: false,
            load_fuel: None,
            cases: vec![self.case],
        };
        let tested = run(std::slice::from_ref(&suite), toolbox()?, &RunOptions::default());
        if let Some(problem) = tested.problems.first() {
            return Err(format!("{}; {}", problem.message, problem.hint));
        }
        let done = tested.done.into_iter().next().ok_or_else(|| format!("{name}: it was not run"))?;
        if done.passed() {
            return Ok(done);
        }
        let failures = done.failures.iter().map(|failure| match &failure.diff {
            Some(diff) => format!("{name}: {}\n{diff}", failure.message),
            None => format!("{name}: {}", failure.message),
        });
        Err(failures.collect::<Vec<_>>().join("\n"))
    }
}

impl Checked {
    /// Units of fuel that the call took.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.0.fuel
    }

    /// The most bytes of memory that it had.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.0.memory
    }

    /// What it returned, if it returned something.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        self.0.outcome.as_ref().and_then(expect::value)
    }

    /// How it ended; nothing where the analysis refused it.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.0.outcome.as_ref()
    }
}

/// One toolbox for all tests of a process: a tool is loaded once.
fn toolbox() -> Result<&'static Toolbox, String> {
    static TOOLBOX: OnceLock<Result<Toolbox, String>> = OnceLock::new();
    let made = TOOLBOX.get_or_init(|| Toolbox::new(&SandboxConfig::default()).map_err(|error| error.to_string()));
    made.as_ref().map_err(Clone::clone)
}

/// A table of cases of one tool, each a test of its own.
///
/// ```
/// toolcell_testing::cases! {
///     toolcell_testing::harness::source("twice.js", "const execute = ({ n }) => 2 * n");
///     one_is_doubled: { "n": 1 } => returns(2);
///     so_is_nothing: { "n": 0 } => returns(0) within(toolcell_testing::harness::fuel(1_000_000));
/// }
/// ```
#[macro_export]
macro_rules! cases {
    ($tool:expr; $($name:ident: $params:tt => $($step:ident $what:tt)+;)+) => {
        $(
            #[test]
            fn $name() {
                $tool.given($crate::json!($params))$(.$step $what)+.check();
            }
        )+
    };
}

#[cfg(test)]
mod tests;
