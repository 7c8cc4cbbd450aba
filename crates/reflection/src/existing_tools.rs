//! Decides between stored tools and a new one.
//!
//! Invariant: a failing tool is never reused, and tools are composed only if each covers a part of
//! the task that no other one covers.

use std::collections::BTreeSet;

use toolcell_tool::ToolId;

use crate::evidence::{Evidence, EvidenceKind};
use crate::index_terms::terms;
use crate::recommendation::Recommendation;

/// Whether a stored tool works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolHealth {
    /// It works, as far as is known.
    Healthy,
    /// It fails.
    Failing,
}

/// A stored tool that may do the task.
#[derive(Debug, Clone, PartialEq)]
pub struct ExistingTool {
    /// Its identifier.
    pub id: ToolId,
    /// The name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The part of the task's content words that it covers, 0 to 1.
    pub coverage: f64,
    /// Whether it works.
    pub health: ToolHealth,
}

/// The coverage from which a tool does the task.
const MIN_REUSE_COVERAGE: f64 = 0.6;
/// The coverage from which a tool does the whole task.
const FULL_COVERAGE: f64 = 0.85;
/// The coverage from which a tool does a part of the task.
const MIN_PART_COVERAGE: f64 = 0.2;
/// The coverage that composed tools must reach together.
const MIN_COMPOSED_COVERAGE: f64 = 0.75;
/// The coverage that each composed tool must add.
const MIN_ADDED_COVERAGE: f64 = 0.2;
/// The most tools that are composed.
const MAX_PARTS: usize = 3;

/// Recommends what to do for a task that is worth a tool.
pub(crate) fn decide(task: &str, known: &[ExistingTool]) -> Recommendation {
    if let Some(tool) = best(known, ToolHealth::Healthy, MIN_REUSE_COVERAGE) {
        // A tool that leaves a part of the task to others is composed with them only if they add that part.
        let parts = if tool.coverage < FULL_COVERAGE { compose(task, known, tool.coverage) } else { None };
        return parts.map_or(Recommendation::Reuse(tool.id), Recommendation::Compose);
    }
    if let Some(tool) = best(known, ToolHealth::Failing, MIN_REUSE_COVERAGE) {
        return Recommendation::Revise(tool.id);
    }
    compose(task, known, 0.0).map_or(Recommendation::Create, Recommendation::Compose)
}

/// Returns the healthy tool that covers the whole task, as far as its words tell.
pub(crate) fn find_for_whole_task(known: &[ExistingTool]) -> Option<ToolId> {
    best(known, ToolHealth::Healthy, FULL_COVERAGE).map(|tool| tool.id)
}

/// Returns the tool of this health that covers most of the task, and at least so much.
fn best(known: &[ExistingTool], health: ToolHealth, coverage: f64) -> Option<&ExistingTool> {
    let fit = known.iter().filter(|tool| tool.health == health && tool.coverage >= coverage);
    fit.max_by(|one, other| one.coverage.total_cmp(&other.coverage))
}

/// Selects tools that together cover what none covers alone, and more than `alone`, the coverage of the best one.
fn compose(task: &str, known: &[ExistingTool], alone: f64) -> Option<Vec<ToolId>> {
    let wanted: BTreeSet<String> = terms(task).into_iter().collect();
    let whole = f64::from(u16::try_from(wanted.len().max(1)).unwrap_or(u16::MAX));
    let share = |count: usize| f64::from(u16::try_from(count).unwrap_or(u16::MAX)) / whole;
    let mut parts: Vec<(ToolId, BTreeSet<String>)> = known
        .iter()
        .filter(|tool| tool.health == ToolHealth::Healthy && tool.coverage >= MIN_PART_COVERAGE)
        .map(|tool| (tool.id, terms(&format!("{} {}", tool.name, tool.description)).into_iter().collect()))
        .collect();
    let mut covered: BTreeSet<String> = BTreeSet::new();
    let mut chosen = Vec::new();
    while chosen.len() < MAX_PARTS {
        let adds = |part: &BTreeSet<String>| wanted.intersection(part).filter(|term| !covered.contains(*term)).count();
        let Some(at) = (0..parts.len()).max_by_key(|at| (adds(&parts[*at].1), parts.len() - at)) else { break };
        let (id, part) = parts.swap_remove(at);
        if share(wanted.intersection(&part).filter(|term| !covered.contains(*term)).count()) < MIN_ADDED_COVERAGE {
            break;
        }
        covered.extend(wanted.intersection(&part).cloned());
        chosen.push(id);
    }
    let together = share(covered.len());
    (chosen.len() > 1 && together >= MIN_COMPOSED_COVERAGE.max(alone + MIN_ADDED_COVERAGE)).then_some(chosen)
}

/// The evidence for the stored tools in a recommendation.
pub(crate) fn existing_tool_evidence(known: &[ExistingTool], decision: &Recommendation) -> Vec<Evidence> {
    let ids: &[ToolId] = match decision {
        Recommendation::Reuse(id) | Recommendation::Revise(id) => std::slice::from_ref(id),
        Recommendation::Compose(ids) => ids,
        Recommendation::Create | Recommendation::None => &[],
    };
    let tool = |id: &ToolId| {
        let tool = known.iter().find(|tool| tool.id == *id)?;
        let weight = if tool.coverage.is_finite() { tool.coverage.clamp(0.0, 1.0) } else { 0.0 };
        Some(Evidence { kind: EvidenceKind::KnownTool, trigger: None, text: tool.name.clone(), weight })
    };
    ids.iter().filter_map(tool).collect()
}
