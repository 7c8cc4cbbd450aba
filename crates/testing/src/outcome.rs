//! The results of tests.
//!
//! Invariant: results are in the order of the files and of their cases, whatever the order of
//! completion.

use std::path::PathBuf;
use std::time::Duration;

use toolcell::Outcome;

use crate::expect::CaseFailure;
use crate::problem::{FilePosition, SuiteProblem};

/// The results of all tests.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    /// The results of the cases that ran.
    pub results: Vec<CaseResult>,
    /// Problems that prevented tests from running.
    pub problems: Vec<SuiteProblem>,
    /// The number of cases that did not run after an earlier failure or a cancellation.
    pub not_run: usize,
    /// Whether the run was cancelled.
    pub is_cancelled: bool,
    /// The wall-clock time of the run.
    pub elapsed: Duration,
}

/// The result of one case.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// The test file.
    pub path: PathBuf,
    /// The position of the case in the file.
    pub place: FilePosition,
    /// The index of the suite, and the index of the case in it, both from 0.
    pub(crate) index: (usize, usize),
    /// The file name of the tool.
    pub tool: String,
    /// The claim of the test.
    pub name: String,
    /// The failures; empty if the case passed.
    pub failures: Vec<CaseFailure>,
    /// The outcome of the call, or `None` if the tool was not called.
    pub outcome: Option<Outcome>,
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the tool.
    pub load_fuel: u64,
    /// Peak linear memory in bytes; 0 if it was not measured.
    pub memory: usize,
    /// The wall-clock time of the case.
    pub elapsed: Duration,
}

impl CaseResult {
    /// Returns whether the case passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl TestReport {
    /// Returns the number of cases that passed.
    #[must_use]
    pub fn passed_count(&self) -> usize {
        self.results.iter().filter(|done| done.has_passed()).count()
    }

    /// Returns the number of cases that failed.
    #[must_use]
    pub fn failed_count(&self) -> usize {
        self.results.len() - self.passed_count()
    }

    /// Returns whether all cases ran and passed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.problems.is_empty() && !self.is_cancelled && self.failed_count() == 0
    }

    /// Returns at most `most` tools with the fuel of their most expensive call, the most expensive
    /// first.
    #[must_use]
    pub fn most_expensive(&self, most: usize) -> Vec<(&str, u64)> {
        let mut tools: Vec<(&str, u64)> = Vec::new();
        for done in &self.results {
            match tools.iter_mut().find(|(tool, _)| *tool == done.tool) {
                Some((_, fuel)) => *fuel = done.fuel.max(*fuel),
                None => tools.push((&done.tool, done.fuel)),
            }
        }
        tools.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        tools.truncate(most);
        tools
    }
}
