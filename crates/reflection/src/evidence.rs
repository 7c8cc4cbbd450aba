//! The evidence for and against a tool.

use serde::{Deserialize, Serialize};

use crate::features::TaskFeatures;
use crate::lexicon::Sense;
use crate::mention::{AssertionStatus, Mention, SpeechAct};
use crate::repetition::RepeatedOperation;
use crate::tokenized::{GrammarFamily, TokenizedTask};
use crate::trigger::Trigger;

/// The kind of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EvidenceKind {
    /// Words of the task ask for the work.
    Word,
    /// The task mentions several items or a repetition.
    Several,
    /// The task says that the work is not to be done.
    Negation,
    /// The task says that the work may be done later.
    Hypothetical,
    /// The task says that the work was done already.
    Past,
    /// The task only talks about the work, or quotes it.
    Topic,
    /// The task asks for work of another kind.
    Other,
    /// The same operation was performed more than once.
    Operations,
    /// The task failed too often.
    Failures,
    /// A stored tool may do the work.
    KnownTool,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Its kind.
    pub kind: EvidenceKind,
    /// The trigger that it supports.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<Trigger>,
    /// The words as they stand in the task, or a description of what was counted.
    pub text: String,
    /// Its weight from -1, against a tool, to 1, for it.
    pub weight: f64,
}

/// The most pieces of evidence from a task.
const MAX_EVIDENCE: usize = 12;

/// The longest quotation from the task, in characters.
const TEXT_LIMIT: usize = 80;

impl Evidence {
    /// Evidence of a repeated operation.
    pub(crate) fn from_repetition(group: &RepeatedOperation) -> Self {
        let text = format!("{} {} ×{}", group.name, group.shape, group.count);
        Self { kind: EvidenceKind::Operations, trigger: Some(Trigger::Repetition), text, weight: 1.0 }
    }

    /// Evidence of failures.
    pub(crate) fn from_failures(count: u64) -> Self {
        Self { kind: EvidenceKind::Failures, trigger: Some(Trigger::Failures), text: count.to_string(), weight: 1.0 }
    }
}

/// Extracts the evidence from the words of a task, the strongest for a tool first.
pub(crate) fn task_evidence(task: &str, reading: &TokenizedTask, features: &TaskFeatures) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = Vec::new();
    for mention in &features.mentions {
        let Some((kind, trigger, weight)) = mention_evidence(mention, features) else { continue };
        let (start, end) = match kind {
            EvidenceKind::Word => phrase(reading, features, mention),
            _ => (mention.matched.start, mention.matched.end),
        };
        let text: String = reading.original(task, start, end).chars().take(TEXT_LIMIT).collect();
        let is_told = found.iter().any(|one| one.kind == kind && one.trigger == trigger && one.text.contains(&text));
        if !is_told {
            found.retain(|one| one.kind != kind || one.trigger != trigger || !text.contains(&one.text));
            found.push(Evidence { kind, trigger, text, weight });
        }
    }
    found.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    // Both ends are kept: evidence against a tool matters as well.
    while found.len() > MAX_EVIDENCE {
        found.remove(MAX_EVIDENCE / 2);
    }
    found
}

/// Returns what a mention is evidence of.
fn mention_evidence(mention: &Mention, features: &TaskFeatures) -> Option<(EvidenceKind, Option<Trigger>, f64)> {
    let live = mention.assertion == AssertionStatus::Present;
    match (mention.matched.sense, mention.assertion) {
        (Sense::Work(trigger), AssertionStatus::Present) => {
            let weight = match mention.speech_act {
                SpeechAct::Request => 0.9,
                SpeechAct::Statement => 0.5,
                SpeechAct::Nominal => 0.25,
            };
            Some((EvidenceKind::Word, Some(trigger), weight))
        }
        (Sense::Work(trigger), standing) => {
            let kind = match standing {
                AssertionStatus::Negated => EvidenceKind::Negation,
                AssertionStatus::Hypothetical => EvidenceKind::Hypothetical,
                AssertionStatus::Historical => EvidenceKind::Past,
                AssertionStatus::Mentioned | AssertionStatus::Present => EvidenceKind::Topic,
            };
            Some((kind, Some(trigger), -0.5))
        }
        (Sense::WorkFrame(trigger), AssertionStatus::Present) if features.frame_of(trigger) > 0.0 => {
            Some((EvidenceKind::Word, Some(trigger), 0.6 * features.frame_of(trigger)))
        }
        (Sense::Measure | Sense::Grouping, _) if live && features.frame_of(Trigger::Aggregation) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Aggregation), 0.3 * features.frame_of(Trigger::Aggregation)))
        }
        (Sense::Defect | Sense::Constraint, _) if live && features.frame_of(Trigger::Validation) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Validation), 0.3 * features.frame_of(Trigger::Validation)))
        }
        (Sense::Remote, _) if live && features.frame_of(Trigger::Api) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Api), 0.3 * features.frame_of(Trigger::Api)))
        }
        (Sense::Repetition, AssertionStatus::Present) => Some((EvidenceKind::Several, Some(Trigger::Repetition), 0.7)),
        (Sense::Regularity, AssertionStatus::Present) => Some((EvidenceKind::Several, Some(Trigger::Repetition), 0.5)),
        (Sense::Plural, AssertionStatus::Present) => Some((EvidenceKind::Several, None, 0.3)),
        (Sense::OtherWork, _) => Some((EvidenceKind::Other, None, -0.5)),
        (Sense::LocalEdit, _) => Some((EvidenceKind::Other, None, -0.4)),
        _ => None,
    }
}

/// The span of a mention with the data that it applies to.
fn phrase(reading: &TokenizedTask, features: &TaskFeatures, mention: &Mention) -> (usize, usize) {
    let part = reading.tokens()[mention.matched.first_token].clause;
    let data = features.mentions.iter().filter(|other| {
        let belongs = other.matched.sense == Sense::Data || other.matched.sense == mention.matched.sense;
        belongs && reading.tokens()[other.matched.first_token].clause == part
    });
    let (mut start, mut end) = (mention.matched.start, mention.matched.end);
    for datum in data {
        start = if reading.grammar() == GrammarFamily::Japanese { start.min(datum.matched.start) } else { start };
        end = if datum.matched.sense == Sense::Data && reading.grammar() == GrammarFamily::Japanese {
            end
        } else {
            end.max(datum.matched.end)
        };
    }
    let length = reading.text().get(start..end).map_or(usize::MAX, |text| text.chars().count());
    if length > TEXT_LIMIT { (mention.matched.start, mention.matched.end) } else { (start, end) }
}
