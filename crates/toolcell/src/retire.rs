//! Which tools are of no use any more, or of less than others.
//!
//! Invariant: nothing is retired that nobody confirmed, and what is retired goes on to work: it is deprecated, with what is
//! to be used in its place where that is known. Each tool leaves one audit line.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Account, Entry, Fault};
use toolcell_tool::{Status, ToolId, ToolName};

use crate::alike::NotCompared;
use crate::deprecate::DeprecateError;
use crate::list::{ListToolsError, before};
use crate::request::RetireTools;
use crate::toolbox::Toolbox;

/// After how many days a tool is unused, where nothing is said.
const UNUSED_DAYS: f64 = 30.0;
/// From so many runs on they say whether a tool works.
const TELLING_RUNS: u64 = 5;

/// A tool that should be retired.
#[derive(Debug, Clone, PartialEq)]
pub struct Retirement {
    /// The tool.
    pub tool: Entry,
    /// Why, the worst reason first.
    pub reasons: Vec<Reason>,
    /// What is to be used in its place, where something is.
    pub successor: Option<Entry>,
}

/// Why a tool should be retired. The first are the worst.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Its proof failed.
    Failed,
    /// It fails in use more often than not.
    Failing {
        /// How often it ran.
        runs: u64,
        /// How many of these runs failed.
        failures: u64,
    },
    /// It does what another tool does.
    Duplicate {
        /// The tool that is kept.
        of: ToolName,
    },
    /// It is deprecated, and another tool took its place. It is deprecated already, so that only its name is left to be
    /// deleted.
    Superseded {
        /// The tool that is to be used.
        by: ToolName,
    },
    /// Nobody uses it.
    Unused {
        /// When it was used last, or made where it never was.
        since: Timestamp,
    },
}

impl Reason {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Failing { .. } => "failing",
            Self::Duplicate { .. } => "duplicate",
            Self::Superseded { .. } => "superseded",
            Self::Unused { .. } => "unused",
        }
    }

    /// How bad it is: less is worse.
    const fn rank(&self) -> u8 {
        match self {
            Self::Failed => 0,
            Self::Failing { .. } => 1,
            Self::Duplicate { .. } => 2,
            Self::Superseded { .. } => 3,
            Self::Unused { .. } => 4,
        }
    }
}

/// Why nothing is retired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetireError {
    /// Nobody confirmed it.
    #[error("{count} tools stay as they are")]
    Unconfirmed {
        /// How many tools would be retired.
        count: usize,
    },
    /// What is asked for cannot be had.
    #[error(transparent)]
    Filter(ListToolsError),
    /// A tool cannot be deprecated. Those before it were.
    #[error(transparent)]
    Deprecate(#[from] DeprecateError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl RetireError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unconfirmed { .. } => "confirm-required",
            Self::Filter(error) => error.code(),
            Self::Deprecate(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unconfirmed { .. } => "look at them with --dry-run, then say `confirm: true` (--confirm)",
            Self::Filter(error) => error.hint(),
            Self::Deprecate(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Retirement {
    /// Whether it is left to be deprecated: not where another tool took its place before.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.tool.status != Status::Deprecated
    }
}

/// What the reasons of a tool follow from.
#[derive(Debug, Clone)]
struct Seen {
    status: Status,
    runs: u64,
    successes: u64,
    /// When it was used last, or made where it never was.
    used: Timestamp,
    /// The tool that does the same and is kept.
    twin: Option<ToolName>,
    /// What is to be used in its place, where it is deprecated.
    instead: Option<ToolName>,
}

impl Seen {
    fn of(tool: &Entry, twin: Option<&Entry>, instead: Option<&Entry>) -> Self {
        let name = |entry: &Entry| entry.name.clone();
        let Entry { status, runs, successes, .. } = *tool;
        Self { status, runs, successes, used: used(tool), twin: twin.map(name), instead: instead.map(name) }
    }
}

/// Why a tool should be retired, the worst reason first; nothing where it should not. One that must not run is for whoever
/// put it into the quarantine to see to.
fn reasons(seen: &Seen, unused_before: Timestamp) -> Vec<Reason> {
    match seen.status {
        Status::Quarantined => return Vec::new(),
        Status::Deprecated => return seen.instead.clone().map(|by| Reason::Superseded { by }).into_iter().collect(),
        _ => {}
    }
    let failures = seen.runs.saturating_sub(seen.successes);
    let is_failing = seen.runs >= TELLING_RUNS && failures > seen.successes;
    let found = [
        (seen.status == Status::Failed).then_some(Reason::Failed),
        is_failing.then_some(Reason::Failing { runs: seen.runs, failures }),
        seen.twin.clone().map(|of| Reason::Duplicate { of }),
        (seen.used < unused_before).then_some(Reason::Unused { since: seen.used }),
    ];
    found.into_iter().flatten().collect()
}

fn used(entry: &Entry) -> Timestamp {
    entry.last_used_at.unwrap_or(entry.created_at)
}

impl Toolbox {
    /// The tools that should be retired, and why, the worst first. Nothing is changed.
    ///
    /// # Errors
    /// `filter-invalid`, and those of the disk.
    pub fn retirements(&self, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
        let days = request.unused_days.unwrap_or(UNUSED_DAYS);
        let unused_before = before(days, self.now()).map_err(RetireError::Filter)?;
        let tools: Vec<Entry> = self.shelf()?.accounts()?.into_iter().map(|Account { entry, .. }| entry).collect();
        let mut twins = twins(&tools);
        self.add_alike(&tools, &mut twins)?;
        let known: HashMap<ToolId, &Entry> = tools.iter().map(|tool| (tool.id, tool)).collect();
        let mut retirements = Vec::new();
        for tool in &tools {
            let instead = self.in_place_of(tool)?;
            let twin = twins.get(&tool.id).and_then(|id| known.get(id).copied());
            let reasons = reasons(&Seen::of(tool, twin, instead.as_ref()), unused_before);
            if !reasons.is_empty() {
                let successor = instead.or_else(|| twin.cloned());
                retirements.push(Retirement { tool: tool.clone(), reasons, successor });
            }
        }
        // What is retired itself takes nobody's place.
        let gone: HashSet<ToolId> = retirements.iter().map(|retirement| retirement.tool.id).collect();
        for retirement in retirements.iter_mut().filter(|retirement| retirement.is_left()) {
            retirement.successor = retirement.successor.take().filter(|successor| !gone.contains(&successor.id));
        }
        retirements.sort_by_key(|it| {
            let worst = it.reasons.first().map_or(u8::MAX, Reason::rank);
            (worst, std::cmp::Reverse(it.reasons.len()), used(&it.tool))
        });
        Ok(retirements)
    }

    /// Retires the tools that should be: deprecates each that is not, and gives what was to be retired.
    ///
    /// # Errors
    /// `confirm-required` where there is something to retire and nobody confirmed it, `filter-invalid`, and those of the
    /// disk.
    pub fn retire(&self, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
        let done = self.retirements(request).and_then(|retirements| {
            let count = retirements.iter().filter(|it| it.is_left()).count();
            let may = request.confirm || count == 0;
            if may { Ok(retirements) } else { Err(RetireError::Unconfirmed { count }) }
        });
        let retirements = match done {
            Ok(retirements) => retirements,
            Err(error) => return self.not_retired(error),
        };
        self.retire_shown(retirements)
    }

    /// Retires exactly these, which were shown to whoever confirmed it, and no others that should be by now.
    ///
    /// # Errors
    /// `status-illegal` where one of them is not what it was, and those of the disk.
    pub fn retire_shown(&self, retirements: Vec<Retirement>) -> Result<Vec<Retirement>, RetireError> {
        for Retirement { tool, successor, .. } in retirements.iter().filter(|it| it.is_left()) {
            let done = self.deprecated(tool, successor.clone());
            self.say_deprecated(tool.name.as_str(), Some(tool.id), done)?;
        }
        Ok(retirements)
    }

    /// Adds the tools that give the same answers as another one that is kept: that which has most merit.
    fn add_alike(&self, tools: &[Entry], twins: &mut BTreeMap<ToolId, ToolId>) -> Result<(), Fault> {
        let mut kept: HashSet<ToolId> = HashSet::new();
        let mut left: Vec<&Entry> =
            tools.iter().filter(|tool| is_used(tool) && !twins.contains_key(&tool.id)).collect();
        left.sort_by_key(|tool| std::cmp::Reverse(merit(tool)));
        for tool in left {
            let alike = match self.alike_to_stored(tool) {
                Ok(alike) => alike,
                Err(NotCompared::Fault(fault)) => return Err(fault),
                // What cannot be compared is not known to be there twice.
                Err(NotCompared::Call(_)) => Vec::new(),
            };
            match alike.iter().find(|alike| kept.contains(&alike.entry.id)) {
                Some(first) => {
                    twins.insert(tool.id, first.entry.id);
                }
                None => {
                    kept.insert(tool.id);
                }
            }
        }
        Ok(())
    }

    /// Writes the line of an attempt that came to nothing.
    fn not_retired<T>(&self, error: RetireError) -> Result<T, RetireError> {
        let result = Err(Failure { code: error.code(), message: Some(error.to_string()) });
        let mut attempt = Attempt { result, ..Attempt::new(Action::Status, self.now()) };
        if let RetireError::Unconfirmed { count } = &error {
            attempt.details.count = Some(*count as u64);
        }
        self.note(&attempt);
        Err(error)
    }
}

/// The tools that do what another one does, each with the one that is kept: that which passed, or went well most often, or
/// is the oldest. Tools with the same source do the same.
fn twins(tools: &[Entry]) -> BTreeMap<ToolId, ToolId> {
    let mut alike: HashMap<blake3::Hash, Vec<&Entry>> = HashMap::new();
    for tool in tools.iter().filter(|tool| is_used(tool)) {
        alike.entry(tool.source_hash()).or_default().push(tool);
    }
    let mut twins = BTreeMap::new();
    for group in alike.into_values().filter(|group| group.len() > 1) {
        // Of those that are as good the first is kept.
        let Some(kept) = group.iter().rev().max_by_key(|tool| merit(tool)).map(|tool| tool.id) else { continue };
        twins.extend(group.iter().filter(|tool| tool.id != kept).map(|tool| (tool.id, kept)));
    }
    twins
}

/// Whether a tool is one that people use.
fn is_used(tool: &Entry) -> bool {
    !matches!(tool.status, Status::Deprecated | Status::Quarantined)
}

/// What speaks for keeping a tool: that it passed, went well often, and was there first.
fn merit(tool: &Entry) -> (bool, u64, std::cmp::Reverse<Timestamp>) {
    (tool.status == Status::Passed, tool.successes, std::cmp::Reverse(tool.created_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that is used, and does well.
    fn good() -> Seen {
        let used = Timestamp::from_second(1_000).unwrap();
        Seen { status: Status::Unverified, runs: 9, successes: 9, used, twin: None, instead: None }
    }

    fn name(text: &str) -> ToolName {
        ToolName::parse(text).unwrap()
    }

    #[track_caller]
    fn check(seen: &Seen, expect: &str) {
        let reasons = reasons(seen, Timestamp::from_second(500).unwrap());
        assert_eq!(reasons.iter().map(Reason::name).collect::<Vec<_>>().join(" "), expect);
        assert!(reasons.is_sorted_by_key(Reason::rank));
    }

    #[test]
    fn a_tool_that_is_used_and_does_well_stays() {
        check(&good(), "");
        check(&Seen { status: Status::Passed, ..good() }, "");
    }

    #[test]
    fn a_tool_that_fails_more_often_than_not_goes_and_few_runs_say_nothing() {
        check(&Seen { runs: 5, successes: 2, ..good() }, "failing");
        check(&Seen { runs: 6, successes: 3, ..good() }, "");
        check(&Seen { runs: 4, successes: 0, ..good() }, "");
        check(&Seen { status: Status::Failed, runs: 0, successes: 0, ..good() }, "failed");
        check(&Seen { status: Status::Failed, runs: 5, successes: 0, ..good() }, "failed failing");
    }

    #[test]
    fn what_nobody_uses_goes_and_what_was_used_at_that_time_stays() {
        let at = |seconds| Seen { used: Timestamp::from_second(seconds).unwrap(), ..good() };
        check(&at(499), "unused");
        check(&at(500), "");
    }

    #[test]
    fn what_is_there_twice_goes_with_all_that_speaks_against_it() {
        check(&Seen { twin: Some(name("other")), ..good() }, "duplicate");
        let used = Timestamp::UNIX_EPOCH;
        check(&Seen { twin: Some(name("other")), successes: 0, used, ..good() }, "failing duplicate unused");
    }

    #[test]
    fn what_is_deprecated_goes_where_something_took_its_place_and_for_no_other_reason() {
        let old = Seen { status: Status::Deprecated, successes: 0, used: Timestamp::UNIX_EPOCH, ..good() };
        check(&old, "");
        check(&Seen { instead: Some(name("new")), ..old }, "superseded");
        check(&Seen { status: Status::Quarantined, runs: 0, ..good() }, "");
    }
}
