//! A fluent harness for tests of tools in Rust.
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
//! [`cases!`](crate::cases) makes a table of cases, each a separate test for `cargo test` and
//! nextest.
//!
//! Invariant: a failing test panics with a diff in JSON values, not in Rust's debug format.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use toolcell::{Draft, Grant, Outcome, Params, SandboxConfig, Toolbox};

use crate::budget::{FuelBudget, model};
use crate::case::Case;
use crate::expect::{self, ExpectedOutcome};
use crate::mocks::{Mock, required_grant};
use crate::outcome::CaseResult;
use crate::predicate::{Matcher, Predicate};
use crate::problem::FilePosition;
use crate::run::{TestOptions, run_suites};
use crate::suite::Suite;

pub use crate::mocks::{fetch, host_call, tool_call};

/// A tool under test.
#[derive(Debug, Clone)]
pub struct ToolUnderTest {
    path: PathBuf,
    name: String,
    source: Result<Vec<u8>, String>,
}

/// A call of a tool, and what is expected of it.
#[derive(Debug, Clone)]
#[must_use = "a call is only tested by `check`"]
pub struct CallTest {
    tool: ToolUnderTest,
    case: Case,
    model: Option<String>,
    errors: Vec<String>,
}

/// A limit on fuel, memory or time of a call.
#[derive(Debug, Clone)]
pub struct CallLimit(LimitKind);

#[derive(Debug, Clone)]
enum LimitKind {
    Fuel { limit: u64, model: Option<String> },
    Memory(usize),
    Time(Duration),
}

/// The result of a call that met all expectations.
#[derive(Debug, Clone)]
pub struct CheckedCall(CaseResult);

/// Loads the tool in a file. A relative path starts at the package root, where `cargo test` runs
/// tests.
#[must_use]
pub fn tool(path: impl AsRef<Path>) -> ToolUnderTest {
    let path = path.as_ref().to_owned();
    let source = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ToolUnderTest { path, name, source }
}

/// Creates a tool from source text; the extension of the name selects the language.
#[must_use]
pub fn source(name: &str, text: &str) -> ToolUnderTest {
    ToolUnderTest { path: PathBuf::from(name), name: name.to_owned(), source: Ok(text.as_bytes().to_vec()) }
}

/// Limits the fuel of a call, in units of fuel.
#[must_use]
pub const fn fuel(limit: u64) -> CallLimit {
    CallLimit(LimitKind::Fuel { limit, model: None })
}

/// Limits the memory of a call, in bytes.
#[must_use]
pub const fn memory(bytes: usize) -> CallLimit {
    CallLimit(LimitKind::Memory(bytes))
}

/// Limits the wall-clock time of a call. Set this far above the usual duration: it only stops a
/// call that hangs.
#[must_use]
pub const fn time(most: Duration) -> CallLimit {
    CallLimit(LimitKind::Time(most))
}

/// Matches a number that is not less than `least`.
#[must_use]
pub fn at_least(least: f64) -> Matcher {
    Matcher::AtLeast(least)
}

/// Matches a number that is not greater than `most`.
#[must_use]
pub fn at_most(most: f64) -> Matcher {
    Matcher::AtMost(most)
}

/// Matches an equal value.
#[must_use]
pub fn is(value: impl Into<Value>) -> Matcher {
    Matcher::Is(value.into())
}

impl CallLimit {
    /// Sets the fuel model that this limit was measured under. Under another model, the test fails
    /// with `budget-model-mismatch` instead of comparing incomparable figures. [`model`] returns
    /// that of this build.
    #[must_use]
    pub fn counted_under(mut self, model: &str) -> Self {
        if let LimitKind::Fuel { model: of, .. } = &mut self.0 {
            *of = Some(model.to_owned());
        }
        self
    }
}

impl ToolUnderTest {
    /// Calls the tool with these parameters, a JSON object.
    pub fn given(self, params: impl Into<Value>) -> CallTest {
        let mut case = Case::new("call");
        let mut wrong = Vec::new();
        match Params::parse(params.into().to_string()) {
            Ok(params) => case.params = params,
            Err(error) => wrong.push(format!("invalid parameters: {error}")),
        }
        CallTest { tool: self, case, model: None, errors: wrong }
    }
}

impl CallTest {
    /// Adds a mock, which replies once, and the grant that it needs.
    pub fn answering(mut self, answer: Mock) -> Self {
        match required_grant(&answer.kind) {
            Some("net") => self = self.granted(Grant::Net),
            Some("tools") => self = self.granted(Grant::Tools),
            Some("kv") => self = self.granted(Grant::Kv),
            Some(_) => self = self.granted(Grant::Files),
            None => self.errors.push(format!("there is no operation `{}`", answer.kind)),
        }
        self.case.mocks.push(answer);
        self
    }

    /// Grants a capability.
    pub fn granted(mut self, grant: Grant) -> Self {
        if !self.case.grants.contains(&grant) {
            self.case.grants.push(grant);
        }
        self
    }

    /// Sets the seed of random numbers, 0 by default.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.case.seed = seed;
        self
    }

    /// Sets the start of the tool's clock, as time since 1970.
    pub fn started_at(mut self, since: Duration) -> Self {
        self.case.started_at = since;
        self
    }

    /// Expects the call to return this value.
    pub fn returns(self, value: impl Into<Value>) -> Self {
        self.expect_outcome(ExpectedOutcome::Returns(Some(value.into())))
    }

    /// Expects the call to return nothing: `undefined`.
    pub fn returns_nothing(self) -> Self {
        self.expect_outcome(ExpectedOutcome::Returns(None))
    }

    /// Expects the values at a JSON path of the result to match. May be called several times.
    pub fn returns_where(mut self, path: &str, test: Matcher) -> Self {
        match Predicate::new(path, vec![test]) {
            Ok(predicate) => match &mut self.case.expectation {
                Some(ExpectedOutcome::Satisfies(predicates)) => predicates.push(predicate),
                _ => return self.expect_outcome(ExpectedOutcome::Satisfies(vec![predicate])),
            },
            Err(reason) => self.errors.push(reason.to_string()),
        }
        self
    }

    /// Expects an error with this name, and with this text in its message.
    pub fn throws(self, name: &str, message: &str) -> Self {
        let (name, message) = (Some(name.to_owned()), Some(message.to_owned()));
        self.expect_outcome(ExpectedOutcome::Throws { name, message })
    }

    /// Expects the call to be stopped with this code, such as `timeout`.
    pub fn stops(self, code: &str) -> Self {
        self.expect_outcome(ExpectedOutcome::Stops(code.to_owned()))
    }

    /// Expects the analysis to refuse the tool, with the name of a rule or `syntax-error`.
    pub fn refused(self, rule: &str) -> Self {
        self.expect_outcome(ExpectedOutcome::Refused(rule.to_owned()))
    }

    /// Expects exactly these console lines.
    pub fn logs<'a>(mut self, lines: impl IntoIterator<Item = &'a str>) -> Self {
        self.case.logs = Some(lines.into_iter().map(str::to_owned).collect());
        self
    }

    /// Expects exactly these host calls, in this order: `fetch GET https://example.com/`,
    /// `tools.call mean`, `kv.commit KEY`. Timers do not count.
    pub fn asks_for<'a>(mut self, effects: impl IntoIterator<Item = &'a str>) -> Self {
        self.case.effects = Some(effects.into_iter().map(str::to_owned).collect());
        self
    }

    /// Adds a limit; at most one each for fuel, memory and time.
    pub fn within(mut self, ceiling: CallLimit) -> Self {
        match ceiling.0 {
            LimitKind::Fuel { limit: 0, .. } => {
                self.errors.push("no call can meet a budget of 0".to_owned());
            }
            LimitKind::Fuel { limit, model: of } => {
                self.case.fuel = Some(FuelBudget { limit, measured: None, place: FilePosition::START });
                self.model = of;
            }
            LimitKind::Memory(bytes) => self.case.limits.memory = Some(bytes),
            LimitKind::Time(most) => self.case.limits.time = Some(most),
        }
        self
    }

    fn expect_outcome(mut self, end: ExpectedOutcome) -> Self {
        if self.case.expectation.is_some() {
            self.errors.push("one call has two expected outcomes".to_owned());
        }
        self.case.expectation = Some(end);
        self
    }

    /// Calls the tool and checks all expectations.
    ///
    /// # Panics
    /// Panics if an expectation is not met or is impossible. The message contains a diff of
    /// expected and actual values.
    #[track_caller]
    #[expect(clippy::panic, reason = "a test that fails panics")]
    #[expect(clippy::must_use_candidate, reason = "that it is as expected is all that most tests want")]
    pub fn check(self) -> CheckedCall {
        match self.try_check() {
            Ok(done) => CheckedCall(done),
            Err(reason) => panic!("{reason}"),
        }
    }

    /// Runs the test, and returns its result or an error message.
    fn try_check(mut self) -> Result<CaseResult, String> {
        let name = self.tool.name.clone();
        if let Some(of) = self.model.filter(|of| *of != model()) {
            let wrong = format!(
                "budget-model-mismatch: the budget was measured with the model `{of}`, this build uses `{}`; measure \
                 it again",
                model()
            );
            self.errors.push(wrong);
        }
        if self.case.expectation.is_none() {
            self.errors.push("it has no expected outcome: add `returns`, `throws`, `stops` or `refused`".to_owned());
        }
        if let Err(error) = self.case.budget().check() {
            self.errors.push(error.to_string());
        }
        if !self.errors.is_empty() {
            return Err(format!("{name}: {}", self.errors.join("; ")));
        }
        let draft = Draft::from_bytes(&name, &self.tool.source?).map_err(|error| format!("{name}: {error}"))?;
        let suite = Suite {
            path: self.tool.path.clone(),
            text: String::new(),
            tool: self.tool.path,
            draft,
            tool_place: FilePosition::START,
            has_budgets: false,
            load_fuel: None,
            cases: vec![self.case],
        };
        let tested = run_suites(std::slice::from_ref(&suite), toolbox()?, &TestOptions::default());
        if let Some(problem) = tested.problems.first() {
            return Err(format!("{}; {}", problem.message, problem.hint));
        }
        let done = tested.results.into_iter().next().ok_or_else(|| format!("{name}: it was not run"))?;
        if done.has_passed() {
            return Ok(done);
        }
        let failures = done.failures.iter().map(|failure| match &failure.diff {
            Some(diff) => format!("{name}: {}\n{diff}", failure.message),
            None => format!("{name}: {}", failure.message),
        });
        Err(failures.collect::<Vec<_>>().join("\n"))
    }
}

impl CheckedCall {
    /// Returns the fuel of the call, in units.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.0.fuel
    }

    /// Returns the peak memory of the call in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.0.memory
    }

    /// Returns the value that the call returned, if any.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        self.0.outcome.as_ref().and_then(expect::returned_value)
    }

    /// Returns the outcome of the call, or `None` if the analysis refused the tool.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.0.outcome.as_ref()
    }
}

/// Returns the toolbox shared by all tests of a process, so that each tool is loaded once.
fn toolbox() -> Result<&'static Toolbox, String> {
    static TOOLBOX: OnceLock<Result<Toolbox, String>> = OnceLock::new();
    let made = TOOLBOX.get_or_init(|| Toolbox::new(&SandboxConfig::default()).map_err(|error| error.to_string()));
    made.as_ref().map_err(Clone::clone)
}

/// Generates one test function for each case of a tool.
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
