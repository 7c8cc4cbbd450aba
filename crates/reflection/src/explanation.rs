//! Explains a reflection.
//!
//! Invariant: every statement is backed by the evidence. Words of the task are quoted, on one line.

use toolcell_i18n::{Message, message};

use crate::evidence::{Evidence, EvidenceKind};
use crate::recommendation::Recommendation;
use crate::reflect::Reflection;
use crate::trigger::Trigger;

/// The longest quotation, in characters.
const MAX_QUOTE_CHARS: usize = 40;

impl Reflection {
    /// The reason, in one or two short sentences.
    #[must_use]
    pub fn reason(&self) -> Message {
        if !self.is_recommended() {
            return self.reason_against();
        }
        let mut said: Vec<Message> = Vec::new();
        said.extend(self.first(EvidenceKind::Operations).map(|one| {
            let words = quoted(&one.text);
            message!("the same operation was done again ({words})", words)
        }));
        said.extend(
            self.first(EvidenceKind::Failures).map(|one| message!("it failed {count} times", count = one.text)),
        );
        said.extend(self.asked().into_iter().map(asked));
        if said.len() < 3 {
            said.extend(self.first(EvidenceKind::Several).map(several));
        }
        match (said.is_empty(), decided(&self.decision, &self.known())) {
            (true, Some(conclusion)) => conclusion,
            (true, None) => message!("one small function does the task"),
            (false, Some(conclusion)) => message!("{reason}; {conclusion}", reason = joined(said), conclusion),
            (false, None) => joined(said),
        }
    }

    fn reason_against(&self) -> Message {
        let against = self.evidence.iter().find(|one| one.weight < 0.0 && one.trigger.is_some());
        let reason = message!("the conditions for creating a tool are not met");
        match against.map(against_trigger) {
            Some(conclusion) => message!("{reason}; {conclusion}", reason, conclusion),
            None => reason,
        }
    }

    fn first(&self, kind: EvidenceKind) -> Option<&Evidence> {
        self.evidence.iter().find(|one| one.kind == kind)
    }

    /// The strongest words for the trigger, and the strongest ones for another trigger.
    fn asked(&self) -> Vec<&Evidence> {
        let words = || self.evidence.iter().filter(|one| one.kind == EvidenceKind::Word && one.weight >= 0.25);
        let first = words().find(|one| one.trigger == self.trigger).or_else(|| words().next());
        let other = words().find(|one| one.weight >= 0.5 && first.is_some_and(|first| first.trigger != one.trigger));
        first.into_iter().chain(other).collect()
    }

    fn known(&self) -> Vec<&str> {
        self.evidence.iter().filter(|one| one.kind == EvidenceKind::KnownTool).map(|one| one.text.as_str()).collect()
    }
}

/// Words of the task, in quotation marks.
fn quoted(text: &str) -> Message {
    let mut text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    if let Some((end, _)) = text.char_indices().nth(MAX_QUOTE_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    message!("“{text}”", text)
}

fn asked(one: &Evidence) -> Message {
    let words = quoted(&one.text);
    match one.trigger.unwrap_or(Trigger::Transformation) {
        Trigger::Transformation => message!("the task is to convert data ({words})", words),
        Trigger::Api => message!("the task is to call something outside ({words})", words),
        Trigger::Validation => message!("the task is to check data ({words})", words),
        Trigger::Aggregation => message!("the task is to sum up data ({words})", words),
        Trigger::Repetition | Trigger::Failures => message!("the task is to repeat something ({words})", words),
    }
}

fn several(one: &Evidence) -> Message {
    let words = quoted(&one.text);
    match one.trigger {
        Some(_) => message!("it says that this is done again and again ({words})", words),
        None => message!("it says that there are several ({words})", words),
    }
}

/// Evidence that was found and does not count.
fn against_trigger(one: &Evidence) -> Message {
    let words = quoted(&one.text);
    match one.kind {
        EvidenceKind::Negation => message!("{words} is not to be done", words),
        EvidenceKind::Hypothetical => message!("{words} is a case that may come", words),
        EvidenceKind::Past => message!("{words} is done already", words),
        _ => message!("{words} is only talked about", words),
    }
}

/// What the decision says about stored tools.
fn decided(decision: &Recommendation, names: &[&str]) -> Option<Message> {
    let names = names.iter().map(|name| Message::verbatim(format!("`{name}`")));
    let tools = names.reduce(|tools, tool| message!("{tools} and {tool}", tools, tool)).unwrap_or_else(empty);
    match decision {
        Recommendation::Reuse(_) => Some(message!("the stored tool {tools} does this", tools)),
        Recommendation::Revise(_) => Some(message!("the stored tool {tools} is for this, but fails: revise it", tools)),
        Recommendation::Compose(_) => Some(message!("the stored tools {tools} do it together", tools)),
        Recommendation::Create | Recommendation::None => None,
    }
}

/// Joins the parts of a reason.
fn joined(mut said: Vec<Message>) -> Message {
    let last = said.pop().unwrap_or_else(empty);
    match said.into_iter().reduce(|reason, next| message!("{reason}, {next}", reason, next)) {
        Some(reason) => message!("{reason}, and {last}", reason, last),
        None => last,
    }
}

fn empty() -> Message {
    Message::verbatim(String::new())
}
