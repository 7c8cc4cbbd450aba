//! What of a task counts: few numbers, each of which can be said in words.
//!
//! Invariant: every number is between 0 and 1, and only the task decides it.

use std::collections::BTreeMap;

use crate::lexicon::{Sense, hits};
use crate::mention::{Mention, Role, Standing, mentions};
use crate::reading::Reading;
use crate::trigger::Trigger;

/// How many numbers there are.
pub(crate) const COUNT: usize = 10;

/// What of a task counts.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// Asked, told, noun, framed, data, many, repeats, other, edit, dead.
    pub(crate) values: [f64; COUNT],
    /// What the task asks for, if it asks for anything.
    pub(crate) trigger: Option<Trigger>,
    /// Whether it says for real that it is done again and again.
    pub(crate) repeats: bool,
    /// How well each kind of work is framed by what stands around it.
    pub(crate) frames: [f64; 4],
    /// What stands in the text.
    pub(crate) mentions: Vec<Mention>,
}

/// The kinds of work that a text can ask for.
pub(crate) const KINDS: [Trigger; 4] =
    [Trigger::Validation, Trigger::Aggregation, Trigger::Api, Trigger::Transformation];

/// What stands in one sentence.
#[derive(Debug, Default)]
struct Sentence {
    counts: BTreeMap<Sense, usize>,
}

impl Sentence {
    fn has(&self, sense: Sense) -> bool {
        self.counts.contains_key(&sense)
    }

    fn count(&self, sense: Sense) -> usize {
        self.counts.get(&sense).copied().unwrap_or_default()
    }

    /// How well what stands here frames a kind of work, 0 to 1.
    fn frame(&self, kind: Trigger) -> f64 {
        let data = self.count(Sense::Datum);
        let when = |holds: bool, value: f64| if holds { value } else { 0.0 };
        let framed = self.has(Sense::Frame(kind));
        let value: f64 = match kind {
            Trigger::Transformation => {
                when(framed && data > 0, 0.5)
                    + when(framed && data > 1, 0.25)
                    + when(framed && data > 0 && self.has(Sense::Many), 0.25)
            }
            Trigger::Validation => {
                let ruled = self.has(Sense::Fault) || self.has(Sense::Rule);
                when(framed && ruled, 0.8)
                    + when(framed && !ruled && data > 0 && self.has(Sense::Many), 0.4)
                    + when(self.has(Sense::Seek) && self.has(Sense::Fault) && data > 0, 0.4)
                    + when(self.has(Sense::Rule) && self.has(Sense::Many) && data > 0, 0.2)
            }
            Trigger::Aggregation => {
                let figure = self.has(Sense::Measure) || self.has(Sense::Act(kind));
                when(figure && self.has(Sense::Group), 0.5)
                    + when(framed && self.has(Sense::Group), 0.4)
                    + when(framed && figure, 0.3)
                    + when(self.count(Sense::Measure) > 1, 0.2)
            }
            Trigger::Api => {
                let reached = self.has(Sense::Reach) && self.has(Sense::Remote);
                when(reached, 0.6) + when(reached && self.count(Sense::Remote) > 1, 0.4)
            }
            Trigger::Repetition | Trigger::Failures => 0.0,
        };
        value.min(1.0)
    }
}

impl Features {
    /// Reads a task.
    pub(crate) fn of(reading: &Reading) -> Self {
        let mentions = mentions(reading, &hits(reading));
        let mut sentences: BTreeMap<usize, Sentence> = BTreeMap::new();
        for mention in mentions.iter().filter(|mention| mention.counts()) {
            let number = reading.tokens()[mention.hit.first].sentence;
            *sentences.entry(number).or_default().counts.entry(mention.hit.sense).or_default() += 1;
        }
        let mut whole = Sentence::default();
        for (sense, count) in sentences.values().flat_map(|sentence| &sentence.counts) {
            *whole.counts.entry(*sense).or_default() += count;
        }
        let live = |sense: Sense, role: Role| {
            mentions
                .iter()
                .any(|mention| mention.hit.sense == sense && mention.role == role && mention.standing == Standing::Live)
        };
        let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
        let mut best = (0.0, None, [0.0; 4]);
        let mut frames = [0.0; 4];
        for (at, kind) in KINDS.into_iter().enumerate() {
            let act = Sense::Act(kind);
            let frame = sentences.values().map(|sentence| sentence.frame(kind)).fold(whole.frame(kind) * 0.6, f64::max);
            let values =
                [flag(live(act, Role::Asked)), flag(live(act, Role::Told)), flag(live(act, Role::Noun)), frame];
            let strength = values[0] * 3.0 + values[1] * 1.5 + values[2] * 0.5 + values[3] * 2.0;
            frames[at] = frame;
            if strength > best.0 {
                best = (strength, Some(kind), values);
            }
        }
        let total = |sense: Sense| sentences.values().map(|sentence| sentence.count(sense)).sum::<usize>();
        let share =
            |count: usize, full: u8| f64::from(u8::try_from(count).unwrap_or(u8::MAX).min(full)) / f64::from(full);
        let again = total(Sense::Again) > 0;
        let regular = again || total(Sense::Often) > 0;
        let due = regular && total(Sense::Instance) > 0;
        let works = best.0 > 0.0 || total(Sense::Datum) > 0;
        let repeats = match () {
            () if due => 1.0,
            () if again && works => 0.7,
            () if again || (regular && works) => 0.4,
            () => 0.0,
        };
        let dead = mentions.iter().filter(|mention| mention.is_dead_work()).count();
        let other = mentions.iter().filter(|mention| mention.hit.sense == Sense::Other).count();
        let values = [
            best.2[0],
            best.2[1],
            best.2[2],
            best.2[3],
            share(total(Sense::Datum), 3),
            flag(total(Sense::Many) > 0),
            repeats,
            share(other, 2),
            share(total(Sense::Edit), 2),
            share(dead, 2),
        ];
        // What is asked for in so many words comes before the hint that there are many.
        let is_plain = best.2[0] > 0.0 && total(Sense::Again) < 2;
        Self { values, trigger: best.1, repeats: due || (repeats > 0.3 && again && !is_plain), frames, mentions }
    }

    /// How well a kind of work is framed, 0 to 1.
    pub(crate) fn frame_of(&self, kind: Trigger) -> f64 {
        KINDS.iter().position(|other| *other == kind).map_or(0.0, |at| self.frames[at])
    }
}

impl Mention {
    /// Whether it says something about what is asked for.
    fn counts(&self) -> bool {
        match self.hit.sense {
            Sense::Act(_)
            | Sense::Frame(_)
            | Sense::Again
            | Sense::Often
            | Sense::Reach
            | Sense::Seek
            | Sense::Measure => self.standing == Standing::Live,
            _ => self.standing != Standing::Topic,
        }
    }

    /// Whether it names work that is not to be done.
    fn is_dead_work(&self) -> bool {
        matches!(self.hit.sense, Sense::Act(_)) && self.standing != Standing::Live
    }
}
