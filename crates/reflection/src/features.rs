//! What of a task counts: few numbers, each of which can be said in words.
//!
//! Invariant: every number is between 0 and 1, and only the task decides it.

use std::collections::BTreeMap;

use crate::lexicon::{Sense, hits};
use crate::mention::{Mention, Role, Standing, is_claim, mentions};
use crate::reading::{Reading, Tongue};
use crate::trigger::Trigger;

/// How many numbers there are.
pub(crate) const COUNT: usize = 14;

/// What of a task counts.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// Asked, told, noun, framed, framed well, data, many, repeats, repetitions, other, edit, dead, other work last, wondered.
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
                when(framed && data > 0, 0.4)
                    + when(self.count(Sense::Unit) > 1, 0.4)
                    + when(self.count(Sense::Unit) > 2, 0.2)
                    + when(framed && data > 1, 0.3)
                    + when(framed && data > 0 && self.has(Sense::Many), 0.3)
            }
            Trigger::Validation => {
                let ruled = self.has(Sense::Fault) || self.has(Sense::Rule);
                when(framed && ruled, 0.8)
                    + when(framed && !ruled && data > 0 && self.has(Sense::Many), 0.6)
                    + when(self.has(Sense::Seek) && self.has(Sense::Fault) && data > 0, 0.6)
                    + when(self.has(Sense::Rule) && self.has(Sense::Many) && data > 0, 0.2)
            }
            Trigger::Aggregation => {
                let figure = self.has(Sense::Measure) || self.has(Sense::Act(kind));
                when(figure && self.has(Sense::Group), 0.6)
                    + when(framed && self.has(Sense::Group), 0.7)
                    + when(framed && figure, 0.3)
                    + when(self.count(Sense::Measure) > 1, 0.2)
            }
            Trigger::Api => {
                let reached = self.has(Sense::Reach);
                when(reached && self.has(Sense::Remote), 0.8) + when(reached && self.has(Sense::Service), 0.6)
            }
            Trigger::Repetition | Trigger::Failures => 0.0,
        };
        value.min(1.0)
    }
}

/// How one kind of work is asked for.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    kind: Option<Trigger>,
    /// As a request, as a statement, as a thing, and by what stands around.
    values: [f64; 4],
    /// Where the request stands: the smaller, the more it is the main one.
    place: usize,
}

impl Asked {
    /// The main one of two: a request in so many words, the first one, or where verbs come last, the last one.
    fn main(self, other: Self) -> Self {
        let is_other = match (self.values[0] > 0.0, other.values[0] > 0.0) {
            // What is done to data on the way to a figure, a check or a call is not what is wanted.
            (true, true) if self.is_step() != other.is_step() => self.is_step(),
            (true, true) if self.place != other.place => other.place < self.place,
            _ => other.strength() > self.strength(),
        };
        if is_other { other } else { self }
    }

    fn is_step(&self) -> bool {
        self.kind == Some(Trigger::Transformation)
    }

    /// How much this counts where two kinds of work are asked for.
    fn strength(&self) -> f64 {
        let [asked, told, noun, framed] = self.values;
        3.0 * asked + 1.5 * told + 0.5 * noun + 2.0 * framed
    }
}

/// All sentences of a task.
#[derive(Debug, Default)]
struct Sentences {
    each: BTreeMap<usize, Sentence>,
    whole: Sentence,
}

impl Sentences {
    fn of(reading: &Reading, mentions: &[Mention]) -> Self {
        let mut sentences = Self::default();
        for mention in mentions.iter().filter(|mention| mention.counts()) {
            let number = reading.tokens()[mention.hit.first].sentence;
            for sentence in [sentences.each.entry(number).or_default(), &mut sentences.whole] {
                *sentence.counts.entry(mention.hit.sense).or_default() += 1;
            }
        }
        sentences
    }

    /// How well a kind of work is framed; by words of several sentences, not so well.
    fn frame(&self, kind: Trigger) -> f64 {
        self.each.values().map(|sentence| sentence.frame(kind)).fold(self.whole.frame(kind) * 0.6, f64::max)
    }

    fn asked(&self, kind: Trigger, tongue: Tongue, mentions: &[Mention]) -> Asked {
        let said = |role: Role| {
            let live = |mention: &&Mention| mention.standing == Standing::Live && mention.role == role;
            flag(mentions.iter().filter(live).any(|mention| mention.hit.sense == Sense::Act(kind)))
        };
        let is_request = |mention: &Mention| {
            let live = mention.standing == Standing::Live && mention.role == Role::Asked;
            live && mention.hit.sense == Sense::Act(kind)
        };
        let place = match tongue {
            Tongue::Japanese => mentions.iter().rev().position(is_request),
            Tongue::Western | Tongue::Chinese => mentions.iter().position(is_request),
        };
        let place = place.unwrap_or(usize::MAX);
        Asked {
            kind: Some(kind),
            place,
            values: [said(Role::Asked), said(Role::Told), said(Role::Noun), self.frame(kind)],
        }
    }

    /// How clearly it is said that there is more of the same work, 0 to 1.
    fn repeats(&self, works: bool) -> f64 {
        let again = self.whole.has(Sense::Again);
        let regular = again || self.whole.has(Sense::Often);
        match () {
            () if regular && self.whole.has(Sense::Instance) => 1.0,
            () if again && self.whole.has(Sense::Often) => 1.0,
            () if again && works => 0.7,
            () if again || (regular && works) => 0.4,
            () => 0.0,
        }
    }
}

fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// How much of what is enough there is, 0 to 1.
fn share(count: usize, enough: u8) -> f64 {
    f64::from(u8::try_from(count).unwrap_or(u8::MAX).min(enough)) / f64::from(enough)
}

impl Features {
    /// Reads a task.
    pub(crate) fn of(reading: &Reading) -> Self {
        let mentions = mentions(reading, &hits(reading));
        let sentences = Sentences::of(reading, &mentions);
        let kinds = KINDS.map(|kind| sentences.asked(kind, reading.tongue(), &mentions));
        let asked = kinds.iter().copied().filter(|asked| asked.strength() > 0.0);
        let best = asked.reduce(Asked::main);
        let best = best.unwrap_or_default();
        let [mut request, told, noun, framed] = best.values;
        // A task of a few words that names work, and nothing else, asks for it: 月次集計, 反復処理を行う.
        if request == 0.0 && is_bare(reading, &mentions) {
            let named = told + noun + framed > 0.0;
            request = if named || sentences.whole.has(Sense::Again) { BARE } else { 0.0 };
        }
        // Data that nothing is done to is only talked about.
        let works =
            request + told + framed > 0.0 || sentences.whole.has(Sense::Again) || sentences.whole.has(Sense::Often);
        let repeats = sentences.repeats(best.kind.is_some() || sentences.whole.has(Sense::Datum));
        // What is asked for in so many words comes before the hint that there are many.
        let again = sentences.whole.count(Sense::Again);
        // `for each of the shops` says by what figures are grouped, not that the work is done again.
        let is_grouped =
            best.kind == Some(Trigger::Aggregation) && request + framed > 0.55 && reading.tongue() == Tongue::Western;
        let is_frequent = sentences.whole.has(Sense::Often);
        let is_repeated = repeats > 0.9
            || (!is_grouped && again > 1)
            || (!is_grouped && again > 0 && (best.values[0] == 0.0 || is_frequent));
        let count = |rule: &dyn Fn(&Mention) -> bool| mentions.iter().filter(|mention| rule(mention)).count();
        let aside = is_other_last(reading, &mentions);
        let claimed = best.kind.is_some_and(|kind| is_claimed(reading, &mentions, kind));
        let meant = flag(!aside || claimed);
        let values = [
            request * meant,
            told,
            noun,
            framed * meant,
            flag(framed > 0.55) * meant,
            flag(works) * share(sentences.whole.count(Sense::Datum), 3),
            flag(works && sentences.whole.has(Sense::Many)),
            repeats * (1.0 - flag(aside)),
            share(again + sentences.whole.count(Sense::Often), 3) * (1.0 - flag(aside)),
            share(count(&|mention| mention.hit.sense == Sense::Other), 2),
            share(sentences.whole.count(Sense::Edit), 2),
            share(count(&Mention::is_dead_work), 2),
            flag(aside),
            flag(count(&|mention| mention.hit.sense == Sense::Wonder) > 0),
        ];
        Self { values, trigger: best.kind, repeats: is_repeated, frames: kinds.map(|asked| asked.values[3]), mentions }
    }

    /// How well a kind of work is framed, 0 to 1.
    pub(crate) fn frame_of(&self, kind: Trigger) -> f64 {
        KINDS.iter().position(|other| *other == kind).map_or(0.0, |at| self.frames[at])
    }
}

/// How much of a request a task is that only names work.
const BARE: f64 = 0.75;
/// How many words it has at most.
const BARE_WORDS: usize = 8;

/// Whether a task is a few words, of which none says that it is about something else, or that it is not to be done.
fn is_bare(reading: &Reading, mentions: &[Mention]) -> bool {
    let is_one = reading.tokens().iter().all(|token| token.sentence == reading.tokens()[0].sentence && !token.quoted);
    let is_meant = |mention: &Mention| {
        let is_aside = matches!(mention.hit.sense, Sense::Other | Sense::Edit | Sense::Wonder);
        !is_aside && !mention.is_dead_work()
    };
    is_one && (1..=BARE_WORDS).contains(&reading.tokens().len()) && mentions.iter().all(is_meant)
}

/// Whether the last thing that is asked for is work of another kind, or a question: what stands before it is context.
fn is_other_last(reading: &Reading, mentions: &[Mention]) -> bool {
    let place = |mention: &Mention| {
        let token = reading.tokens()[mention.hit.first];
        if reading.tongue() == Tongue::Western { token.sentence } else { token.part }
    };
    let is_said = |mention: &&Mention| !reading.tokens()[mention.hit.first].quoted;
    let said = || mentions.iter().filter(is_said);
    let other = said().filter(|mention| matches!(mention.hit.sense, Sense::Other | Sense::Wonder)).map(place).max();
    let work = |mention: &&Mention| {
        let is_work = matches!(mention.hit.sense, Sense::Act(_)) && mention.role == Role::Asked;
        (is_work || mention.hit.sense == Sense::Again) && mention.standing == Standing::Live
    };
    let work = said().filter(work).map(place).max();
    other.is_some_and(|other| work.is_none_or(|work| other > work))
}

/// Whether the part of the sentence that names a kind of work asks for it in so many words.
fn is_claimed(reading: &Reading, mentions: &[Mention], kind: Trigger) -> bool {
    let part = |mention: &Mention| reading.tokens()[mention.hit.first].part;
    let is_sign = |mention: &Mention| {
        let word = &reading.text()[mention.hit.start..mention.hit.end];
        mention.hit.sense == Sense::Ask
            && mention.standing == Standing::Live
            && (reading.tongue() != Tongue::Chinese || is_claim(word))
    };
    let is_work = |mention: &&Mention| {
        let live = mention.standing == Standing::Live && mention.role == Role::Asked;
        live && mention.hit.sense == Sense::Act(kind)
    };
    mentions
        .iter()
        .filter(is_work)
        .take(CLAIM_LIMIT)
        .any(|work| mentions.iter().any(|mention| is_sign(mention) && part(mention) == part(work)))
}

/// How many mentions of a work are looked at.
const CLAIM_LIMIT: usize = 16;

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
