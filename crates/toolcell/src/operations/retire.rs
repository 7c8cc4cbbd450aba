//! Retirement: deprecates tools that are failing, duplicated, superseded or unused.
//!
//! Invariant: nothing is retired without confirmation, and a retired tool still works: it is
//! deprecated, with its successor if that is known. Each tool leaves one audit line.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Entry, Fault, ToolCosts};
use toolcell_tool::{Status, ToolId, ToolName};

use super::candidates::find_equivalent_to_stored;
use super::deprecate::{DeprecateError, deprecate_entry, log_failed_deprecation, replacement_for};
use super::list::{ListToolsError, days_ago};
use crate::parts::Parts;
use crate::request::RetireTools;
use crate::verification::equivalence::CompareError;

/// The default number of days after which a tool counts as unused.
const DEFAULT_UNUSED_DAYS: f64 = 30.0;
/// The minimum number of runs for judging whether a tool works.
const MIN_RUNS: u64 = 5;

/// A tool that should be retired.
#[derive(Debug, Clone, PartialEq)]
pub struct Retirement {
    /// The tool.
    pub tool: Entry,
    /// The reasons, the worst first.
    pub reasons: Vec<RetireReason>,
    /// The tool to use instead, if there is one.
    pub successor: Option<Entry>,
}

/// A reason to retire a tool, in order from the worst.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RetireReason {
    /// Its verification failed.
    Failed,
    /// More than half of its runs failed.
    Failing {
        /// The number of runs.
        runs: u64,
        /// The number of failed runs.
        failures: u64,
    },
    /// It is equivalent to another tool.
    Duplicate {
        /// The tool that is kept.
        of: ToolName,
    },
    /// It is already deprecated with a successor; only its name is left to be deleted.
    Superseded {
        /// The successor.
        by: ToolName,
    },
    /// It is unused.
    Unused {
        /// The time of the last use, or of the creation if it was never used.
        since: Timestamp,
    },
}

impl RetireReason {
    /// Returns the name in JSON.
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

    /// Returns the rank: a lower rank is worse.
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

/// The error of a retirement.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum RetireError {
    /// The request was not confirmed.
    #[error("{count} tools were not retired")]
    #[code(ConfirmRequired)]
    #[hint("review them with --dry-run, then set `confirm: true` (--confirm)")]
    Unconfirmed {
        /// The number of tools that would be retired.
        count: usize,
    },
    /// The number of days is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Filter(ListToolsError),
    /// A tool cannot be deprecated. The tools before it were deprecated.
    #[error(transparent)]
    #[coded(transparent)]
    Deprecate(#[from] DeprecateError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl Retirement {
    /// Returns whether the tool still has to be deprecated.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.tool.status != Status::Deprecated
    }
}

/// The facts that a tool's reasons follow from.
#[derive(Debug, Clone)]
struct ToolEvidence {
    status: Status,
    runs: u64,
    successes: u64,
    /// The time of the last use, or of the creation if it was never used.
    last_used: Timestamp,
    /// The equivalent tool that is kept.
    duplicate_of: Option<ToolName>,
    /// The successor, if the tool is deprecated.
    successor: Option<ToolName>,
}

impl ToolEvidence {
    fn new(tool: &Entry, twin: Option<&Entry>, instead: Option<&Entry>) -> Self {
        let name = |entry: &Entry| entry.name.clone();
        let Entry { status, runs, successes, .. } = *tool;
        Self {
            status,
            runs,
            successes,
            last_used: last_used(tool),
            duplicate_of: twin.map(name),
            successor: instead.map(name),
        }
    }
}

/// Returns the reasons to retire a tool, the worst first. A quarantined
/// tool is left to the user who quarantined it.
fn reasons(seen: &ToolEvidence, unused_before: Timestamp) -> Vec<RetireReason> {
    match seen.status {
        Status::Quarantined => return Vec::new(),
        Status::Deprecated => {
            return seen.successor.clone().map(|by| RetireReason::Superseded { by }).into_iter().collect();
        }
        _ => {}
    }
    let failures = seen.runs.saturating_sub(seen.successes);
    let is_failing = seen.runs >= MIN_RUNS && failures > seen.successes;
    let found = [
        (seen.status == Status::Failed).then_some(RetireReason::Failed),
        is_failing.then_some(RetireReason::Failing { runs: seen.runs, failures }),
        seen.duplicate_of.clone().map(|of| RetireReason::Duplicate { of }),
        (seen.last_used < unused_before).then_some(RetireReason::Unused { since: seen.last_used }),
    ];
    found.into_iter().flatten().collect()
}

fn last_used(entry: &Entry) -> Timestamp {
    entry.last_used_at.unwrap_or(entry.created_at)
}

/// Returns the tools that should be retired, with the reasons, the worst first. Changes
/// nothing.
pub(crate) fn retirements(parts: &Parts, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
    let days = request.unused_days.unwrap_or(DEFAULT_UNUSED_DAYS);
    let unused_before = days_ago(days, parts.now()).map_err(RetireError::Filter)?;
    let tools: Vec<Entry> =
        parts.require_store()?.runs().tool_costs()?.into_iter().map(|ToolCosts { entry, .. }| entry).collect();
    let mut twins = find_duplicates(&tools);
    add_equivalent(parts, &tools, &mut twins)?;
    let known: HashMap<ToolId, &Entry> = tools.iter().map(|tool| (tool.id, tool)).collect();
    let mut retirements = Vec::new();
    for tool in &tools {
        let instead = replacement_for(parts, tool)?;
        let twin = twins.get(&tool.id).and_then(|id| known.get(id).copied());
        let reasons = reasons(&ToolEvidence::new(tool, twin, instead.as_ref()), unused_before);
        if !reasons.is_empty() {
            let successor = instead.or_else(|| twin.cloned());
            retirements.push(Retirement { tool: tool.clone(), reasons, successor });
        }
    }
    // A tool that is retired itself is no successor.
    let gone: HashSet<ToolId> = retirements.iter().map(|retirement| retirement.tool.id).collect();
    for retirement in retirements.iter_mut().filter(|retirement| retirement.is_pending()) {
        retirement.successor = retirement.successor.take().filter(|successor| !gone.contains(&successor.id));
    }
    retirements.sort_by_key(|it| {
        let worst = it.reasons.first().map_or(u8::MAX, RetireReason::rank);
        (worst, std::cmp::Reverse(it.reasons.len()), last_used(&it.tool))
    });
    Ok(retirements)
}

/// Deprecates the tools that should be retired, and returns them.
pub(crate) fn retire(parts: &Parts, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
    let done = retirements(parts, request).and_then(|retirements| {
        let count = retirements.iter().filter(|it| it.is_pending()).count();
        let may = request.confirm || count == 0;
        if may { Ok(retirements) } else { Err(RetireError::Unconfirmed { count }) }
    });
    let retirements = match done {
        Ok(retirements) => retirements,
        Err(error) => return log_failure(parts, error),
    };
    retire_listed(parts, retirements)
}

/// Deprecates exactly these tools, which the user confirmed.
pub(crate) fn retire_listed(parts: &Parts, retirements: Vec<Retirement>) -> Result<Vec<Retirement>, RetireError> {
    for Retirement { tool, successor, .. } in retirements.iter().filter(|it| it.is_pending()) {
        let done = deprecate_entry(parts, tool, successor.clone());
        log_failed_deprecation(parts, tool.name.as_str(), Some(tool.id), done)?;
    }
    Ok(retirements)
}

/// Adds the tools that are equivalent to one of higher merit, which is kept.
fn add_equivalent(parts: &Parts, tools: &[Entry], twins: &mut BTreeMap<ToolId, ToolId>) -> Result<(), Fault> {
    let mut kept: HashSet<ToolId> = HashSet::new();
    let mut left: Vec<&Entry> = tools.iter().filter(|tool| is_active(tool) && !twins.contains_key(&tool.id)).collect();
    left.sort_by_key(|tool| std::cmp::Reverse(merit(tool)));
    for tool in left {
        let alike = match find_equivalent_to_stored(parts, tool) {
            Ok(alike) => alike,
            Err(CompareError::Fault(fault)) => return Err(fault),
            // A tool that cannot be compared is not a known duplicate.
            Err(CompareError::Call(_)) => Vec::new(),
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

/// Writes the audit line of a failed attempt.
fn log_failure<T>(parts: &Parts, error: RetireError) -> Result<T, RetireError> {
    let result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
    let mut attempt = AuditEvent { result, ..AuditEvent::new(Action::Status, parts.now()) };
    if let RetireError::Unconfirmed { count } = &error {
        attempt.details.count = Some(*count as u64);
    }
    parts.recorder.log_attempt(&attempt);
    Err(error)
}

/// Returns the tools with the same source as another one, each with the one of highest merit, which
/// is kept.
fn find_duplicates(tools: &[Entry]) -> BTreeMap<ToolId, ToolId> {
    let mut alike: HashMap<blake3::Hash, Vec<&Entry>> = HashMap::new();
    for tool in tools.iter().filter(|tool| is_active(tool)) {
        alike.entry(tool.source_hash()).or_default().push(tool);
    }
    let mut twins = BTreeMap::new();
    for group in alike.into_values().filter(|group| group.len() > 1) {
        // Of equal merit, the first is kept.
        let Some(kept) = group.iter().rev().max_by_key(|tool| merit(tool)).map(|tool| tool.id) else { continue };
        twins.extend(group.iter().filter(|tool| tool.id != kept).map(|tool| (tool.id, kept)));
    }
    twins
}

/// Returns whether a tool is in use: neither deprecated nor quarantined.
fn is_active(tool: &Entry) -> bool {
    !matches!(tool.status, Status::Deprecated | Status::Quarantined)
}

/// Returns the merit of a tool: verified, most successes, oldest.
fn merit(tool: &Entry) -> (bool, u64, std::cmp::Reverse<Timestamp>) {
    (tool.status == Status::Passed, tool.successes, std::cmp::Reverse(tool.created_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that is in use and works.
    fn good() -> ToolEvidence {
        let used = Timestamp::from_second(1_000).unwrap();
        ToolEvidence {
            status: Status::Unverified,
            runs: 9,
            successes: 9,
            last_used: used,
            duplicate_of: None,
            successor: None,
        }
    }

    fn name(text: &str) -> ToolName {
        ToolName::parse(text).unwrap()
    }

    #[track_caller]
    fn check(seen: &ToolEvidence, expect: &str) {
        let reasons = reasons(seen, Timestamp::from_second(500).unwrap());
        assert_eq!(reasons.iter().map(RetireReason::name).collect::<Vec<_>>().join(" "), expect);
        assert!(reasons.is_sorted_by_key(RetireReason::rank));
    }

    #[test]
    fn a_tool_that_is_used_and_does_well_stays() {
        check(&good(), "");
        check(&ToolEvidence { status: Status::Passed, ..good() }, "");
    }

    #[test]
    fn a_tool_that_fails_more_often_than_not_goes_and_few_runs_say_nothing() {
        check(&ToolEvidence { runs: 5, successes: 2, ..good() }, "failing");
        check(&ToolEvidence { runs: 6, successes: 3, ..good() }, "");
        check(&ToolEvidence { runs: 4, successes: 0, ..good() }, "");
        check(&ToolEvidence { status: Status::Failed, runs: 0, successes: 0, ..good() }, "failed");
        check(&ToolEvidence { status: Status::Failed, runs: 5, successes: 0, ..good() }, "failed failing");
    }

    #[test]
    fn what_nobody_uses_goes_and_what_was_used_at_that_time_stays() {
        let at = |seconds| ToolEvidence { last_used: Timestamp::from_second(seconds).unwrap(), ..good() };
        check(&at(499), "unused");
        check(&at(500), "");
    }

    #[test]
    fn what_is_there_twice_goes_with_all_that_speaks_against_it() {
        check(&ToolEvidence { duplicate_of: Some(name("other")), ..good() }, "duplicate");
        let used = Timestamp::UNIX_EPOCH;
        check(
            &ToolEvidence { duplicate_of: Some(name("other")), successes: 0, last_used: used, ..good() },
            "failing duplicate unused",
        );
    }

    #[test]
    fn what_is_deprecated_goes_where_something_took_its_place_and_for_no_other_reason() {
        let old = ToolEvidence { status: Status::Deprecated, successes: 0, last_used: Timestamp::UNIX_EPOCH, ..good() };
        check(&old, "");
        check(&ToolEvidence { successor: Some(name("new")), ..old }, "superseded");
        check(&ToolEvidence { status: Status::Quarantined, runs: 0, ..good() }, "");
    }
}
