//! Tests of tools: what a tool is to answer, and what that may cost.
//!
//! ```text
//! average.ts + average.test.toml → Suite → run → Tested → report: text, JSON, JUnit, GitHub
//!                                       ↘ update, rebase → the file, with its comments
//! ```
//!
//! Fuel is exact, so a test can hold a tool to what it costs as it holds it to what it answers. A budget means something only
//! together with the [`model`] that it was measured under; one of another model is refused, and [`rebase`] measures it anew.
//!
//! Reading order: [`suite`](Suite) is a file of tests, `case` one test, `expect` and `predicate` what it expects, `answers` what
//! the host answers in it; [`run`] does them, [`Tested`] is what came of it, [`report`] says it; [`update`] and [`rebase`] write the
//! files anew, [`learn`] proposes limits from runs. [`harness`] is the same for tests in Rust.
//!
//! Invariant: a test reaches nothing outside of its cell. What the tool is granted is answered from the file, and a test that
//! passes here passes everywhere, with the same fuel.
#![expect(clippy::disallowed_methods, reason = "tests are files beside the tools")]

mod answers;
mod budget;
mod case;
mod diff;
mod expect;
pub mod harness;
mod learn;
mod outcome;
mod predicate;
mod problem;
pub mod report;
mod run;
mod suite;
mod update;

pub use answers::{Answer, Answered, fetch, operation, tool_call};
pub use budget::{Budgets, FuelBudget, Percent, model};
pub use case::{Case, Limits};
pub use diff::unified;
pub use expect::{Expectation, Failure};
pub use learn::{Learned, Limit, Method, RUNS_LEAST, RunCost, TooFew, learn};
pub use outcome::{Done, Tested};
pub use predicate::{Predicate, Test};
pub use problem::{Place, Problem};
pub use run::{RunOptions, run};
#[doc(hidden)]
pub use serde_json::json;
pub use suite::{ENDING, Suite, find};
pub use update::{Rewritten, rebase, update};
