//! Tests of tools: expected results, and budgets for their cost.
//!
//! ```text
//! average.ts + average.test.toml → Suite → run_suites → TestReport → report: text, JSON, JUnit, GitHub
//!                                        ↘ update, rebase → the file, with its comments
//! ```
//!
//! Fuel is exact, so a test can check the cost of a tool as strictly as its result. A budget is
//! valid only for the fuel [`model`] that it was measured under. A budget of another model is
//! refused, and [`rebase`] measures it again.
//!
//! Reading order: [`suite`](Suite) is a test file, `case` one test, `expect` and `predicate` its
//! expectations, `mocks` the replies of the host. [`run_suites`] runs tests, [`TestReport`] is the
//! result, and [`report`] formats it. [`mod@update`] and [`rebase`] rewrite test files, and
//! [`learn_limits`] proposes limits from recorded runs. [`harness`] offers the same for tests in
//! Rust.
//!
//! Invariant: a test reaches nothing outside of its cell. All host calls are answered by mocks from
//! the file, so a test that passes here passes everywhere, with the same fuel.
#![expect(clippy::disallowed_methods, reason = "tests are files beside the tools")]

mod budget;
mod case;
mod diff;
mod expect;
pub mod harness;
mod learn;
mod mocks;
mod outcome;
mod predicate;
mod problem;
pub mod report;
mod run;
mod suite;
mod update;

pub use budget::{BudgetPolicy, FuelBudget, Percent, model};
pub use case::{Case, CaseLimits};
pub use diff::unified;
pub use expect::{CaseFailure, ExpectedOutcome};
pub use learn::{LearnedLimit, LearnedLimits, LimitMethod, MIN_RUNS, RunCost, TooFewRuns, learn_limits};
pub use mocks::{Mock, MockReply, fetch, host_call, tool_call};
pub use outcome::{CaseResult, TestReport};
pub use predicate::{Matcher, Predicate};
pub use problem::{FilePosition, SuiteProblem};
pub use run::{TestOptions, run_suites};
#[doc(hidden)]
pub use serde_json::json;
pub use suite::{SUFFIX, Suite, find_suites};
pub use update::{FileUpdate, rebase, update};
