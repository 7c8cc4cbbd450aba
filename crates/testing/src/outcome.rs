//! What came of tests.
//!
//! Invariant: the results are in the order of the files and of the cases in them, whichever ended first.

use std::path::PathBuf;
use std::time::Duration;

use toolcell::Outcome;

use crate::expect::Failure;
use crate::problem::{Place, Problem};

/// What came of all tests.
#[derive(Debug, Clone, Default)]
pub struct Tested {
    /// What was run.
    pub done: Vec<Done>,
    /// What keeps tests from being run.
    pub problems: Vec<Problem>,
    /// How many were not run, because one before failed.
    pub not_run: usize,
    /// Whether somebody broke it off.
    pub cancelled: bool,
    /// How long it took.
    pub took: Duration,
}

/// A test that was run.
#[derive(Debug, Clone)]
pub struct Done {
    /// The file it stands in.
    pub path: PathBuf,
    /// Where in it.
    pub place: Place,
    /// Which of the files that were handed in, and which case of it, from 0.
    pub(crate) index: (usize, usize),
    /// The file of the tool.
    pub tool: String,
    /// What it claims.
    pub name: String,
    /// What is wrong; nothing where it passed.
    pub failures: Vec<Failure>,
    /// How the call ended, where there was one.
    pub outcome: Option<Outcome>,
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the tool.
    pub load_fuel: u64,
    /// The most bytes of memory that it had; 0 where that was not measured.
    pub memory: usize,
    /// How long it took.
    pub took: Duration,
}

impl Done {
    /// Whether all is as it is expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Tested {
    /// How many passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.done.iter().filter(|done| done.passed()).count()
    }

    /// How many failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.done.len() - self.passed()
    }

    /// Whether all of it was run and passed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.problems.is_empty() && !self.cancelled && self.failed() == 0
    }

    /// The tools whose dearest call took the most fuel, with that fuel, the dearest first.
    #[must_use]
    pub fn dearest(&self, most: usize) -> Vec<(&str, u64)> {
        let mut tools: Vec<(&str, u64)> = Vec::new();
        for done in &self.done {
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
