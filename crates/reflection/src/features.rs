//! The features of a task: a few numbers, each of which can be explained in words.
//!
//! Invariant: every feature is between 0 and 1 and depends on the task alone.

use std::collections::BTreeMap;

use crate::lexicon::{Sense, find_matches};
use crate::mention::{AssertionStatus, Mention, SpeechAct, find_mentions, is_explicit_request};
use crate::tokenized::{GrammarFamily, TokenizedTask};
use crate::trigger::Trigger;

/// The features that the score is computed from, each 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Features {
    /// The strength of the request for a kind of work.
    pub(crate) request: f64,
    /// Whether the task states that the work is done.
    pub(crate) statement: f64,
    /// Whether the task names the work as a noun.
    pub(crate) nominal: f64,
    /// How well the context frames the work.
    pub(crate) framed: f64,
    /// Whether it frames the work clearly.
    pub(crate) clearly_framed: f64,
    /// The number of words for data.
    pub(crate) data: f64,
    /// Whether there is a plural.
    pub(crate) plural: f64,
    /// How clearly the text says that the work is repeated.
    pub(crate) repetition: f64,
    /// The number of words for repetition.
    pub(crate) repetition_words: f64,
    /// The number of words for work that needs no tool.
    pub(crate) other_work: f64,
    /// The number of words for local edits.
    pub(crate) local_edits: f64,
    /// The number of mentions of work that is not to be done.
    pub(crate) negated_work: f64,
    /// Whether the last request is other work.
    pub(crate) ends_with_other_work: f64,
    /// Whether the task asks a question.
    pub(crate) inquiry: f64,
}

/// The features of a task, with what they were found in.
#[derive(Debug, Clone)]
pub(crate) struct TaskFeatures {
    /// The features themselves.
    pub(crate) values: Features,
    /// The kind of work that the task asks for.
    pub(crate) trigger: Option<Trigger>,
    /// Whether the task asserts that the work is repeated.
    pub(crate) repeats: bool,
    /// How well the context frames each kind of work, in the order of [`WORK_KINDS`].
    pub(crate) frames: [f64; 4],
    /// All mentions in the text.
    pub(crate) mentions: Vec<Mention>,
}

/// The kinds of work that a text can ask for.
pub(crate) const WORK_KINDS: [Trigger; 4] =
    [Trigger::Validation, Trigger::Aggregation, Trigger::Api, Trigger::Transformation];

/// The senses in one sentence, with their counts.
#[derive(Debug, Default)]
struct SenseCounts {
    counts: BTreeMap<Sense, usize>,
}

impl SenseCounts {
    fn has(&self, sense: Sense) -> bool {
        self.counts.contains_key(&sense)
    }

    fn count(&self, sense: Sense) -> usize {
        self.counts.get(&sense).copied().unwrap_or_default()
    }

    /// How well the sentence frames a kind of work, 0 to 1.
    fn frame(&self, kind: Trigger) -> f64 {
        let data = self.count(Sense::Data);
        let when = |holds: bool, value: f64| if holds { value } else { 0.0 };
        let framed = self.has(Sense::WorkFrame(kind));
        let value: f64 = match kind {
            Trigger::Transformation => {
                when(framed && data > 0, 0.4)
                    + when(self.count(Sense::Unit) > 1, 0.4)
                    + when(self.count(Sense::Unit) > 2, 0.2)
                    + when(framed && data > 1, 0.3)
                    + when(framed && data > 0 && self.has(Sense::Plural), 0.3)
            }
            Trigger::Validation => {
                let ruled = self.has(Sense::Defect) || self.has(Sense::Constraint);
                when(framed && ruled, 0.8)
                    + when(framed && !ruled && data > 0 && self.has(Sense::Plural), 0.6)
                    + when(self.has(Sense::Search) && self.has(Sense::Defect) && data > 0, 0.6)
                    + when(self.has(Sense::Constraint) && self.has(Sense::Plural) && data > 0, 0.2)
            }
            Trigger::Aggregation => {
                let figure = self.has(Sense::Measure) || self.has(Sense::Work(kind));
                when(figure && self.has(Sense::Grouping), 0.6)
                    + when(framed && self.has(Sense::Grouping), 0.7)
                    + when(framed && figure, 0.3)
                    + when(self.count(Sense::Measure) > 1, 0.2)
            }
            Trigger::Api => {
                let reached = self.has(Sense::Transfer);
                when(reached && self.has(Sense::Remote), 0.8) + when(reached && self.has(Sense::Service), 0.6)
            }
            Trigger::Repetition | Trigger::Failures => 0.0,
        };
        value.min(1.0)
    }
}

/// The request for one kind of work.
#[derive(Debug, Clone, Copy, Default)]
struct WorkRequest {
    kind: Option<Trigger>,
    /// The strength as a request.
    request: f64,
    /// The strength as a statement.
    statement: f64,
    /// The strength as a nominal.
    nominal: f64,
    /// The strength by its frame.
    framed: f64,
    /// The position of the request; the smallest is the main one.
    position: usize,
}

impl WorkRequest {
    /// Returns the main one of two: an explicit request before others, and of two explicit ones the
    /// first, or the last in a language whose verbs come last.
    fn stronger(self, other: Self) -> Self {
        let is_other = match (self.request > 0.0, other.request > 0.0) {
            // A transformation on the way to a sum, a check or a call is a step, not the goal.
            (true, true) if self.is_step() != other.is_step() => self.is_step(),
            (true, true) if self.position != other.position => other.position < self.position,
            _ => other.strength() > self.strength(),
        };
        if is_other { other } else { self }
    }

    fn is_step(&self) -> bool {
        self.kind == Some(Trigger::Transformation)
    }

    /// The weight when two kinds of work compete.
    fn strength(&self) -> f64 {
        3.0 * self.request + 1.5 * self.statement + 0.5 * self.nominal + 2.0 * self.framed
    }
}

/// The senses of all sentences of a task.
#[derive(Debug, Default)]
struct TaskSentences {
    each: BTreeMap<usize, SenseCounts>,
    whole: SenseCounts,
}

impl TaskSentences {
    fn from_mentions(reading: &TokenizedTask, mentions: &[Mention]) -> Self {
        let mut sentences = Self::default();
        for mention in mentions.iter().filter(|mention| mention.is_counted()) {
            let number = reading.tokens()[mention.matched.first_token].sentence;
            for sentence in [sentences.each.entry(number).or_default(), &mut sentences.whole] {
                *sentence.counts.entry(mention.matched.sense).or_default() += 1;
            }
        }
        sentences
    }

    /// How well a kind of work is framed, 0 to 1. Words from several sentences count less.
    fn frame(&self, kind: Trigger) -> f64 {
        self.each.values().map(|sentence| sentence.frame(kind)).fold(self.whole.frame(kind) * 0.6, f64::max)
    }

    fn work_request(&self, kind: Trigger, tongue: GrammarFamily, mentions: &[Mention]) -> WorkRequest {
        let said = |role: SpeechAct| {
            let live = |mention: &&Mention| mention.assertion == AssertionStatus::Present && mention.speech_act == role;
            indicator(mentions.iter().filter(live).any(|mention| mention.matched.sense == Sense::Work(kind)))
        };
        let is_request = |mention: &Mention| {
            let live = mention.assertion == AssertionStatus::Present && mention.speech_act == SpeechAct::Request;
            live && mention.matched.sense == Sense::Work(kind)
        };
        let place = match tongue {
            GrammarFamily::Japanese => mentions.iter().rev().position(is_request),
            GrammarFamily::Western | GrammarFamily::Chinese => mentions.iter().position(is_request),
        };
        let place = place.unwrap_or(usize::MAX);
        WorkRequest {
            kind: Some(kind),
            position: place,
            request: said(SpeechAct::Request),
            statement: said(SpeechAct::Statement),
            nominal: said(SpeechAct::Nominal),
            framed: self.frame(kind),
        }
    }

    /// How clearly the text says that the work is repeated, 0 to 1.
    fn repeats(&self, works: bool) -> f64 {
        let again = self.whole.has(Sense::Repetition);
        let regular = again || self.whole.has(Sense::Regularity);
        match () {
            () if regular && self.whole.has(Sense::Instance) => 1.0,
            () if again && self.whole.has(Sense::Regularity) => 1.0,
            () if again && works => 0.7,
            () if again || (regular && works) => 0.4,
            () => 0.0,
        }
    }
}

fn indicator(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// The count divided by `enough`, at most 1.
fn saturating_ratio(count: usize, enough: u8) -> f64 {
    f64::from(u8::try_from(count).unwrap_or(u8::MAX).min(enough)) / f64::from(enough)
}

impl TaskFeatures {
    /// Computes the features of a task.
    pub(crate) fn new(reading: &TokenizedTask) -> Self {
        let mentions = find_mentions(reading, &find_matches(reading));
        let sentences = TaskSentences::from_mentions(reading, &mentions);
        let kinds = WORK_KINDS.map(|kind| sentences.work_request(kind, reading.grammar(), &mentions));
        let asked = kinds.iter().copied().filter(|asked| asked.strength() > 0.0);
        let best = asked.reduce(WorkRequest::stronger);
        let best = best.unwrap_or_default();
        let WorkRequest { mut request, statement, nominal, framed, .. } = best;
        // A task of a few words that only names work is a request: 月次集計, 反復処理を行う.
        if request == 0.0 && is_bare(reading, &mentions) {
            let named = statement + nominal + framed > 0.0;
            request = if named || sentences.whole.has(Sense::Repetition) { BARE_REQUEST_WEIGHT } else { 0.0 };
        }
        // Data without an operation on it is only a topic.
        let works = request + statement + framed > 0.0
            || sentences.whole.has(Sense::Repetition)
            || sentences.whole.has(Sense::Regularity);
        let repeats = sentences.repeats(best.kind.is_some() || sentences.whole.has(Sense::Data));
        // An explicit request takes precedence over a hint at repetition.
        let again = sentences.whole.count(Sense::Repetition);
        // `for each of the shops` names a grouping, not a repetition.
        let is_grouped = best.kind == Some(Trigger::Aggregation)
            && request + framed > 0.55
            && reading.grammar() == GrammarFamily::Western;
        let is_frequent = sentences.whole.has(Sense::Regularity);
        let is_repeated = repeats > 0.9
            || (!is_grouped && again > 1)
            || (!is_grouped && again > 0 && (best.request == 0.0 || is_frequent));
        let count = |rule: &dyn Fn(&Mention) -> bool| mentions.iter().filter(|mention| rule(mention)).count();
        let aside = ends_with_other_work(reading, &mentions);
        let claimed = best.kind.is_some_and(|kind| has_explicit_request(reading, &mentions, kind));
        let meant = indicator(!aside || claimed);
        let values = Features {
            request: request * meant,
            statement,
            nominal,
            framed: framed * meant,
            clearly_framed: indicator(framed > 0.55) * meant,
            data: indicator(works) * saturating_ratio(sentences.whole.count(Sense::Data), 3),
            plural: indicator(works && sentences.whole.has(Sense::Plural)),
            repetition: repeats * (1.0 - indicator(aside)),
            repetition_words: saturating_ratio(again + sentences.whole.count(Sense::Regularity), 3)
                * (1.0 - indicator(aside)),
            other_work: saturating_ratio(count(&|mention| mention.matched.sense == Sense::OtherWork), 2),
            local_edits: saturating_ratio(sentences.whole.count(Sense::LocalEdit), 2),
            negated_work: saturating_ratio(count(&Mention::is_negated_work), 2),
            ends_with_other_work: indicator(aside),
            inquiry: indicator(count(&|mention| mention.matched.sense == Sense::Inquiry) > 0),
        };
        Self { values, trigger: best.kind, repeats: is_repeated, frames: kinds.map(|asked| asked.framed), mentions }
    }

    /// How well a kind of work is framed, 0 to 1.
    pub(crate) fn frame_of(&self, kind: Trigger) -> f64 {
        WORK_KINDS.iter().position(|other| *other == kind).map_or(0.0, |at| self.frames[at])
    }
}

/// The strength of the request in a task that only names work.
const BARE_REQUEST_WEIGHT: f64 = 0.75;
/// The most words of such a task.
const MAX_BARE_WORDS: usize = 8;

/// Whether a task is a few words of one sentence, without a negation or another topic.
fn is_bare(reading: &TokenizedTask, mentions: &[Mention]) -> bool {
    let is_one =
        reading.tokens().iter().all(|token| token.sentence == reading.tokens()[0].sentence && !token.is_quoted);
    let is_meant = |mention: &Mention| {
        let is_aside = matches!(mention.matched.sense, Sense::OtherWork | Sense::LocalEdit | Sense::Inquiry);
        !is_aside && !mention.is_negated_work()
    };
    is_one && (1..=MAX_BARE_WORDS).contains(&reading.tokens().len()) && mentions.iter().all(is_meant)
}

/// Whether the last request is other work or a question; what stands before it is context.
fn ends_with_other_work(reading: &TokenizedTask, mentions: &[Mention]) -> bool {
    let place = |mention: &Mention| {
        let token = reading.tokens()[mention.matched.first_token];
        if reading.grammar() == GrammarFamily::Western { token.sentence } else { token.clause }
    };
    let is_said = |mention: &&Mention| !reading.tokens()[mention.matched.first_token].is_quoted;
    let said = || mentions.iter().filter(is_said);
    let other =
        said().filter(|mention| matches!(mention.matched.sense, Sense::OtherWork | Sense::Inquiry)).map(place).max();
    let work = |mention: &&Mention| {
        let is_work = matches!(mention.matched.sense, Sense::Work(_)) && mention.speech_act == SpeechAct::Request;
        (is_work || mention.matched.sense == Sense::Repetition) && mention.assertion == AssertionStatus::Present
    };
    let work = said().filter(work).map(place).max();
    other.is_some_and(|other| work.is_none_or(|work| other > work))
}

/// Whether the clause that names a kind of work also contains an explicit request.
fn has_explicit_request(reading: &TokenizedTask, mentions: &[Mention], kind: Trigger) -> bool {
    let part = |mention: &Mention| reading.tokens()[mention.matched.first_token].clause;
    let is_sign = |mention: &Mention| {
        let word = &reading.text()[mention.matched.start..mention.matched.end];
        mention.matched.sense == Sense::Request
            && mention.assertion == AssertionStatus::Present
            && (reading.grammar() != GrammarFamily::Chinese || is_explicit_request(word))
    };
    let is_work = |mention: &&Mention| {
        let live = mention.assertion == AssertionStatus::Present && mention.speech_act == SpeechAct::Request;
        live && mention.matched.sense == Sense::Work(kind)
    };
    mentions
        .iter()
        .filter(is_work)
        .take(MAX_CHECKED_MENTIONS)
        .any(|work| mentions.iter().any(|mention| is_sign(mention) && part(mention) == part(work)))
}

/// The most mentions of a kind of work that are checked.
const MAX_CHECKED_MENTIONS: usize = 16;

impl Mention {
    /// Whether the mention contributes to the features.
    fn is_counted(&self) -> bool {
        match self.matched.sense {
            Sense::Work(_)
            | Sense::WorkFrame(_)
            | Sense::Repetition
            | Sense::Regularity
            | Sense::Transfer
            | Sense::Search
            | Sense::Measure => self.assertion == AssertionStatus::Present,
            _ => self.assertion != AssertionStatus::Mentioned,
        }
    }

    /// Whether it names work that is not to be done.
    fn is_negated_work(&self) -> bool {
        matches!(self.matched.sense, Sense::Work(_)) && self.assertion != AssertionStatus::Present
    }
}
