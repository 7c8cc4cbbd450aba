//! What stored tools mean for a decision.
//!
//! Invariant: a tool that fails is never reused, and tools are composed only where each does a part that no other does.

use std::collections::BTreeSet;

use toolcell_tool::ToolId;

use crate::evidence::{Evidence, EvidenceKind};
use crate::reflect::Decision;
use crate::terms::terms;

/// Whether a stored tool does what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soundness {
    /// It does, as far as is known.
    Sound,
    /// It fails.
    Failing,
}

/// A stored tool that may do it already.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Which tool.
    pub id: ToolId,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// How much of the task's content words it covers, 0 to 1.
    pub likeness: f64,
    /// Whether it does what it should.
    pub sound: Soundness,
}

/// From which likeness on a tool does the task.
const DOES_IT: f64 = 0.6;
/// From which likeness on it does all of it.
const DOES_ALL: f64 = 0.85;
/// From which likeness on it does a part of it.
const DOES_A_PART: f64 = 0.2;
/// How much of a task tools cover that are composed for it.
const DO_IT: f64 = 0.75;
/// How much of a task each of them adds.
const ADDS: f64 = 0.2;
/// How many tools are composed.
const PARTS: usize = 3;

/// What to do where a tool is worth making.
pub(crate) fn decide(task: &str, known: &[Known]) -> Decision {
    let best = |sound: Soundness| {
        let fit = known.iter().filter(|tool| tool.sound == sound && tool.likeness >= DOES_IT);
        fit.max_by(|one, other| one.likeness.total_cmp(&other.likeness))
    };
    if let Some(tool) = best(Soundness::Sound) {
        // What leaves a part of the task over is not all of it, where others do the rest.
        let parts = if tool.likeness < DOES_ALL { composed(task, known) } else { None };
        return parts.map_or(Decision::Reuse(tool.id), Decision::Compose);
    }
    if let Some(tool) = best(Soundness::Failing) {
        return Decision::Revise(tool.id);
    }
    composed(task, known).map_or(Decision::Create, Decision::Compose)
}

/// Tools that together do what none of them does alone.
fn composed(task: &str, known: &[Known]) -> Option<Vec<ToolId>> {
    let wanted: BTreeSet<String> = terms(task).into_iter().collect();
    let whole = f64::from(u16::try_from(wanted.len().max(1)).unwrap_or(u16::MAX));
    let share = |count: usize| f64::from(u16::try_from(count).unwrap_or(u16::MAX)) / whole;
    let mut parts: Vec<(ToolId, BTreeSet<String>)> = known
        .iter()
        .filter(|tool| tool.sound == Soundness::Sound && tool.likeness >= DOES_A_PART)
        .map(|tool| (tool.id, terms(&format!("{} {}", tool.name, tool.description)).into_iter().collect()))
        .collect();
    let mut covered: BTreeSet<String> = BTreeSet::new();
    let mut chosen = Vec::new();
    while chosen.len() < PARTS {
        let adds = |part: &BTreeSet<String>| wanted.intersection(part).filter(|term| !covered.contains(*term)).count();
        let Some(at) = (0..parts.len()).max_by_key(|at| (adds(&parts[*at].1), parts.len() - at)) else { break };
        let (id, part) = parts.swap_remove(at);
        if share(wanted.intersection(&part).filter(|term| !covered.contains(*term)).count()) < ADDS {
            break;
        }
        covered.extend(wanted.intersection(&part).cloned());
        chosen.push(id);
    }
    (chosen.len() > 1 && share(covered.len()) >= DO_IT).then_some(chosen)
}

/// The stored tools that a decision is about.
pub(crate) fn evidence(known: &[Known], decision: &Decision) -> Vec<Evidence> {
    let ids: &[ToolId] = match decision {
        Decision::Reuse(id) | Decision::Revise(id) => std::slice::from_ref(id),
        Decision::Compose(ids) => ids,
        Decision::Create | Decision::None => &[],
    };
    let tool = |id: &ToolId| {
        let tool = known.iter().find(|tool| tool.id == *id)?;
        let weight = if tool.likeness.is_finite() { tool.likeness.clamp(0.0, 1.0) } else { 0.0 };
        Some(Evidence { kind: EvidenceKind::KnownTool, trigger: None, text: tool.name.clone(), weight })
    };
    ids.iter().filter_map(tool).collect()
}
