//! What speaks for a tool, and what against it.

use serde::{Deserialize, Serialize};

use crate::features::Features;
use crate::lexicon::Sense;
use crate::mention::{Mention, Role, Standing};
use crate::operation::Repeated;
use crate::reading::{Reading, Tongue};
use crate::trigger::Trigger;

/// What kind of evidence it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EvidenceKind {
    /// The words of the task ask for it.
    Word,
    /// The task says that there are several, or that it is done again.
    Several,
    /// The task says that it is not to be done.
    Negation,
    /// The task says that it may be done some day.
    Hypothetical,
    /// The task says that it was done.
    Past,
    /// The task speaks about it, or quotes it.
    Topic,
    /// The task asks for work of another kind.
    Other,
    /// The same operation was done more than once.
    Operations,
    /// It failed too often.
    Failures,
    /// A stored tool may do it.
    KnownTool,
}

/// One thing that speaks for a tool, or against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// What kind of evidence it is.
    pub kind: EvidenceKind,
    /// What it would be a trigger of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<Trigger>,
    /// The words as they stand in the task, or what was counted.
    pub text: String,
    /// How much it speaks for a tool, -1 to 1.
    pub weight: f64,
}

/// How many pieces of evidence a task gives.
const LIMIT: usize = 12;

/// How many characters of the task are told at once.
const TEXT_LIMIT: usize = 80;

impl Evidence {
    /// That operations were the same.
    pub(crate) fn of_operations(group: &Repeated) -> Self {
        let text = format!("{} {} ×{}", group.name, group.shape, group.count);
        Self { kind: EvidenceKind::Operations, trigger: Some(Trigger::Repetition), text, weight: 1.0 }
    }

    /// That it failed.
    pub(crate) fn of_failures(count: u64) -> Self {
        Self { kind: EvidenceKind::Failures, trigger: Some(Trigger::Failures), text: count.to_string(), weight: 1.0 }
    }
}

/// What the words of a task say, what speaks for a tool first.
pub(crate) fn of_task(task: &str, reading: &Reading, features: &Features) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = Vec::new();
    for mention in &features.mentions {
        let Some((kind, trigger, weight)) = said(mention, features) else { continue };
        let (start, end) = match kind {
            EvidenceKind::Word => phrase(reading, features, mention),
            _ => (mention.hit.start, mention.hit.end),
        };
        let text: String = reading.original(task, start, end).chars().take(TEXT_LIMIT).collect();
        let is_told = found.iter().any(|one| one.kind == kind && one.trigger == trigger && one.text.contains(&text));
        if !is_told {
            found.retain(|one| one.kind != kind || one.trigger != trigger || !text.contains(&one.text));
            found.push(Evidence { kind, trigger, text, weight });
        }
    }
    found.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    // What speaks against it is worth telling too.
    while found.len() > LIMIT {
        found.remove(LIMIT / 2);
    }
    found
}

/// What a mention says about a tool.
fn said(mention: &Mention, features: &Features) -> Option<(EvidenceKind, Option<Trigger>, f64)> {
    let live = mention.standing == Standing::Live;
    match (mention.hit.sense, mention.standing) {
        (Sense::Act(trigger), Standing::Live) => {
            let weight = match mention.role {
                Role::Asked => 0.9,
                Role::Told => 0.5,
                Role::Noun => 0.25,
            };
            Some((EvidenceKind::Word, Some(trigger), weight))
        }
        (Sense::Act(trigger), standing) => {
            let kind = match standing {
                Standing::Denied => EvidenceKind::Negation,
                Standing::Imagined => EvidenceKind::Hypothetical,
                Standing::Past => EvidenceKind::Past,
                Standing::Topic | Standing::Live => EvidenceKind::Topic,
            };
            Some((kind, Some(trigger), -0.5))
        }
        (Sense::Frame(trigger), Standing::Live) if features.frame_of(trigger) > 0.0 => {
            Some((EvidenceKind::Word, Some(trigger), 0.6 * features.frame_of(trigger)))
        }
        (Sense::Measure | Sense::Group, _) if live && features.frame_of(Trigger::Aggregation) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Aggregation), 0.3 * features.frame_of(Trigger::Aggregation)))
        }
        (Sense::Fault | Sense::Rule, _) if live && features.frame_of(Trigger::Validation) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Validation), 0.3 * features.frame_of(Trigger::Validation)))
        }
        (Sense::Remote, _) if live && features.frame_of(Trigger::Api) > 0.0 => {
            Some((EvidenceKind::Word, Some(Trigger::Api), 0.3 * features.frame_of(Trigger::Api)))
        }
        (Sense::Again, Standing::Live) => Some((EvidenceKind::Several, Some(Trigger::Repetition), 0.7)),
        (Sense::Often, Standing::Live) => Some((EvidenceKind::Several, Some(Trigger::Repetition), 0.5)),
        (Sense::Many, Standing::Live) => Some((EvidenceKind::Several, None, 0.3)),
        (Sense::Other, _) => Some((EvidenceKind::Other, None, -0.5)),
        (Sense::Edit, _) => Some((EvidenceKind::Other, None, -0.4)),
        _ => None,
    }
}

/// The words of a mention, with the data that it is done to.
fn phrase(reading: &Reading, features: &Features, mention: &Mention) -> (usize, usize) {
    let part = reading.tokens()[mention.hit.first].part;
    let data = features.mentions.iter().filter(|other| {
        let belongs = other.hit.sense == Sense::Datum || other.hit.sense == mention.hit.sense;
        belongs && reading.tokens()[other.hit.first].part == part
    });
    let (mut start, mut end) = (mention.hit.start, mention.hit.end);
    for datum in data {
        start = if reading.tongue() == Tongue::Japanese { start.min(datum.hit.start) } else { start };
        end = if datum.hit.sense == Sense::Datum && reading.tongue() == Tongue::Japanese {
            end
        } else {
            end.max(datum.hit.end)
        };
    }
    let length = reading.text().get(start..end).map_or(usize::MAX, |text| text.chars().count());
    if length > TEXT_LIMIT { (mention.hit.start, mention.hit.end) } else { (start, end) }
}
