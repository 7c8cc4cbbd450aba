//! The report of a check.
//!
//! Invariant: a report lists a bounded number of problems and counts the others.

use blake3::Hash;
use jiff::Timestamp;
use serde::Serialize;
use toolcell_i18n::Message;
use toolcell_tool::{ToolId, ToolName};

use crate::version::{Version, VersionEvent};

/// The maximum number of problems that are listed.
pub(super) const MAX_LISTED_PROBLEMS: usize = 1_000;
/// The minimum number of hash digits that select a step.
const MIN_HASH_DIGITS: usize = 8;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FsckReport {
    /// The number of tools that names resolve to.
    pub tools: u64,
    /// The number of intact objects.
    pub objects: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The number of unreferenced objects, which `gc` removes.
    pub unreferenced: u64,
    /// The number of versions among them that an intact index does not know: a process died before
    /// it committed them, or the index is an older copy. A repair quarantines them unless it is
    /// told to adopt them.
    pub unknown_steps: u64,
    /// These versions, at most 1,000.
    pub unknown: Vec<UnknownStep>,
    /// The number of objects whose only durable copy is in the index, until the next sync.
    pub unsynced: u64,
    /// The number of files in the quarantine.
    pub quarantined: u64,
    /// The problems, at most 1,000.
    pub problems: Vec<FsckProblem>,
    /// The number of problems beyond that.
    pub untold: u64,
}

/// A version that the index does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownStep {
    /// The hash of its object, in hexadecimal.
    pub step: String,
    /// The name.
    pub name: String,
    /// The tool.
    pub tool: ToolId,
    /// The event: created, replaced, deleted and so on.
    pub event: VersionEvent,
    /// When the version was made.
    pub at: Timestamp,
}

impl UnknownStep {
    pub(super) fn new(hash: Hash, version: &Version) -> Self {
        Self {
            step: hash.to_hex().to_string(),
            name: version.name.clone(),
            tool: version.tool,
            event: version.event,
            at: version.at,
        }
    }

    /// Whether `by` selects this version: a prefix of its hash of at least eight digits, or its
    /// name.
    pub(super) fn matches_selector(&self, by: &str) -> bool {
        let folded = |name: &str| ToolName::parse(name).map(|name| name.case_folded()).ok();
        by.len() >= MIN_HASH_DIGITS && self.step.starts_with(by)
            || folded(by).is_some_and(|by| folded(&self.name) == Some(by))
    }
}

/// A problem in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FsckProblem {
    /// The affected object, tool or file.
    pub what: Message,
    /// The problem.
    pub wrong: Message,
    /// The repair that was made.
    pub mended: Option<Message>,
    /// Whether the problem is in the index.
    #[serde(skip)]
    pub(super) is_index_problem: bool,
}

impl FsckReport {
    /// Whether there is no problem, or every problem was repaired.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.untold == 0 && self.problems.iter().all(|problem| problem.mended.is_some())
    }

    /// Adds a problem.
    pub(super) fn add_problem(&mut self, what: Message, wrong: Message, mended: Option<Message>) {
        self.push_problem(FsckProblem { what, wrong, mended, is_index_problem: false });
    }

    /// Adds a problem of the index.
    pub(super) fn add_index_problem(&mut self, what: Message, wrong: Message) {
        self.push_problem(FsckProblem { what, wrong, mended: None, is_index_problem: true });
    }

    fn push_problem(&mut self, problem: FsckProblem) {
        if self.problems.len() < MAX_LISTED_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.untold += 1;
        }
    }
}
