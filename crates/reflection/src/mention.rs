//! The assertion status of mentions: requested now, or negated, hypothetical, historical, quoted,
//! or only a topic.
//!
//! Invariant: a mention is present only if nothing in its clause revokes it.

mod context_words;
mod speech_act;

use crate::lexicon::{Inflection, LexiconMatch, Sense};
use crate::tokenized::{GrammarFamily, TokenizedTask};

/// The assertion status of a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssertionStatus {
    /// It applies now.
    Present,
    /// It is not to be done.
    Negated,
    /// It may be done later.
    Hypothetical,
    /// It was done.
    Historical,
    /// It is a topic or a quotation.
    Mentioned,
}

/// The speech act of a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpeechAct {
    /// A request.
    Request,
    /// A statement.
    Statement,
    /// A noun.
    Nominal,
}

/// An occurrence of a form, with its status.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) matched: LexiconMatch,
    pub(crate) assertion: AssertionStatus,
    pub(crate) speech_act: SpeechAct,
}

/// The scope of a negation, in words.
const NEGATION_SCOPE_WORDS: usize = 10;

/// The scope of any cue, in words. It bounds the cost of a sentence that never ends.
const MAX_SCOPE_WORDS: usize = 64;

/// Determines the status of all matches.
pub(crate) fn find_mentions(reading: &TokenizedTask, hits: &[LexiconMatch]) -> Vec<Mention> {
    let scene = MentionContext { reading, matches: hits };
    let mention = |at: usize| {
        let hit = hits[at];
        let role = scene.speech_act(hit);
        Mention { matched: hit, assertion: scene.assertion(at, role), speech_act: role }
    };
    let mut mentions: Vec<Mention> = (0..hits.len()).map(mention).collect();
    if reading.grammar() == GrammarFamily::Western {
        extend_request(reading, &mut mentions);
    }
    mentions
}

/// Work after the verb of a request is requested with it: `produce summary statistics`.
fn extend_request(reading: &TokenizedTask, mentions: &mut [Mention]) {
    let mut asked = None;
    for mention in mentions {
        let part = reading.tokens()[mention.matched.first_token].clause;
        let is_verb =
            matches!(mention.matched.sense, Sense::WorkFrame(_) | Sense::Transfer | Sense::Search | Sense::Work(_));
        if is_verb && mention.speech_act == SpeechAct::Request && mention.assertion == AssertionStatus::Present {
            asked = Some(part);
        } else if matches!(mention.matched.sense, Sense::Work(_))
            && asked == Some(part)
            && mention.speech_act == SpeechAct::Statement
        {
            mention.speech_act = SpeechAct::Request;
        }
    }
}

/// Chinese request words that are seldom anything else.
const EXPLICIT_REQUESTS: [&str; 15] =
    ["请", "請", "帮", "幫", "替我", "麻烦", "麻煩", "给我", "給我", "把", "将", "將", "劳驾", "烦请", "煩請"];

/// Whether a Chinese request word is unambiguous.
pub(crate) fn is_explicit_request(word: &str) -> bool {
    EXPLICIT_REQUESTS.iter().any(|claim| word.starts_with(claim))
}

struct MentionContext<'a> {
    reading: &'a TokenizedTask,
    matches: &'a [LexiconMatch],
}

impl MentionContext<'_> {
    fn clause(&self, hit: LexiconMatch) -> usize {
        self.reading.tokens()[hit.first_token].clause
    }

    fn sentence(&self, hit: LexiconMatch) -> usize {
        self.reading.tokens()[hit.first_token].sentence
    }

    fn assertion(&self, at: usize, role: SpeechAct) -> AssertionStatus {
        let hit = self.matches[at];
        let token = self.reading.tokens()[hit.first_token];
        if token.is_quoted || (token.is_identifier && matches!(hit.sense, Sense::Work(_))) {
            return AssertionStatus::Mentioned;
        }
        if self.reading.grammar() == GrammarFamily::Japanese && self.is_trade(hit) {
            return AssertionStatus::Mentioned;
        }
        let sentence = self.sentence(hit);
        let behind = self.matches[at + 1..]
            .iter()
            .copied()
            .take(MAX_SCOPE_WORDS)
            .take_while(|sign| self.sentence(*sign) == sentence);
        let before = self.matches[..at]
            .iter()
            .rev()
            .copied()
            .take(MAX_SCOPE_WORDS)
            .take_while(|sign| self.sentence(*sign) == sentence);
        let mut near: Vec<(LexiconMatch, bool)> = before.map(|sign| (sign, true)).collect();
        near.extend(behind.map(|sign| (sign, false)));
        let is = |rule: &dyn Fn(LexiconMatch, bool) -> bool| near.iter().any(|(sign, before)| rule(*sign, *before));
        if is(&|sign, before| self.negates(sign, before, hit)) {
            return AssertionStatus::Negated;
        }
        if is(&|sign, before| self.makes_hypothetical(sign, before, hit)) {
            return AssertionStatus::Hypothetical;
        }
        if self.is_past(hit, role, &near) {
            return AssertionStatus::Historical;
        }
        if is(&|sign, before| self.makes_topic(sign, before, hit)) {
            return AssertionStatus::Mentioned;
        }
        AssertionStatus::Present
    }

    fn negates(&self, sign: LexiconMatch, before: bool, hit: LexiconMatch) -> bool {
        let near =
            self.clause(sign) == self.clause(hit) && sign.first_token.abs_diff(hit.first_token) <= NEGATION_SCOPE_WORDS;
        let outside = sign.end <= hit.start || sign.start >= hit.end;
        match sign.sense {
            Sense::Negation if self.reading.grammar() == GrammarFamily::Western => {
                near && before && outside && self.is_in_negation_scope(sign, hit)
            }
            Sense::Negation => near && outside && (before || self.reading.grammar() == GrammarFamily::Chinese),
            Sense::PostNegation => near && outside && !before,
            _ => false,
        }
    }

    /// Whether no conjunction stands between a negation and what it may negate.
    fn is_in_negation_scope(&self, sign: LexiconMatch, hit: LexiconMatch) -> bool {
        let between = &self.reading.tokens()[sign.end_token.min(hit.first_token)..hit.first_token];
        !between.iter().any(|token| matches!(self.reading.word(token), "and" | "then" | "just" | "only" | "instead"))
    }

    fn makes_hypothetical(&self, sign: LexiconMatch, before: bool, hit: LexiconMatch) -> bool {
        let near = self.clause(sign) == self.clause(hit);
        if sign.sense == Sense::Hypothetical
            && before
            && self.reading.grammar() == GrammarFamily::Chinese
            && self.is_consequence(hit)
        {
            return true;
        }
        if sign.sense == Sense::Hypothetical
            && before
            && self.reading.grammar() == GrammarFamily::Japanese
            && self.ends_with_concession(hit)
        {
            return true;
        }
        match sign.sense {
            Sense::Hypothetical => near && (before || self.reading.grammar() == GrammarFamily::Chinese),
            Sense::PostHypothetical => near && !before,
            _ => false,
        }
    }

    /// Whether a clause ends with a `but`, so that the request follows it.
    fn ends_with_concession(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let last = self.reading.tokens()[hit.first_token..]
            .iter()
            .take(MAX_SCOPE_WORDS)
            .take_while(|token| token.clause == part)
            .last();
        last.is_some_and(|token| {
            let text = &self.reading.text()[..token.end];
            ["が", "けど", "けれど", "けれども"].iter().any(|but| text.ends_with(but))
        })
    }

    /// Whether a clause states the consequence of a condition: 就, 才.
    fn is_consequence(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let first = self.reading.tokens()[..=hit.first_token]
            .iter()
            .rev()
            .take(MAX_SCOPE_WORDS)
            .take_while(|token| token.clause == part)
            .last();
        first.is_some_and(|token| self.reading.word(token).starts_with(['就', '才', '再']))
    }

    fn is_past(&self, hit: LexiconMatch, role: SpeechAct, near: &[(LexiconMatch, bool)]) -> bool {
        let sign = |before: Option<bool>| {
            near.iter().any(|(sign, stands_before)| {
                sign.sense == Sense::Past
                    && self.clause(*sign) == self.clause(hit)
                    && before.is_none_or(|before| before == *stands_before)
            })
        };
        match self.reading.grammar() {
            GrammarFamily::Japanese => sign(Some(false)) || (role != SpeechAct::Request && sign(None)),
            GrammarFamily::Chinese => sign(None),
            GrammarFamily::Western
                if near.iter().any(|(sign, _)| sign.sense == Sense::Past && sign.end_token == hit.first_token) =>
            {
                true
            }
            GrammarFamily::Western => {
                let is_past = hit.inflection == Inflection::Past;
                (is_past && self.has_past_agent(hit)) || ((is_past || role != SpeechAct::Request) && sign(None))
            }
        }
    }

    /// Whether the words before name a past agent: `we validated`, `were added`.
    fn has_past_agent(&self, hit: LexiconMatch) -> bool {
        let from = hit.first_token.saturating_sub(3);
        self.reading.tokens()[from..hit.first_token].iter().filter(|token| token.clause == self.clause(hit)).any(
            |token| {
                let word = self.reading.word(token);
                matches!(
                    word,
                    "was"
                        | "were"
                        | "been"
                        | "had"
                        | "have"
                        | "has"
                        | "we"
                        | "i"
                        | "they"
                        | "he"
                        | "she"
                        | "you"
                        | "just"
                )
            },
        )
    }

    /// Whether a Chinese clause contains an unambiguous request word.
    fn has_explicit_request(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let text = self.reading.text();
        let from = self.matches.partition_point(|sign| sign.first_token + MAX_SCOPE_WORDS < hit.first_token);
        let near = self.matches[from..].iter().take_while(|sign| sign.first_token <= hit.first_token + MAX_SCOPE_WORDS);
        let mut near = near.filter(|sign| self.clause(**sign) == part);
        near.any(|sign| sign.sense == Sense::Request && is_explicit_request(&text[sign.start..sign.end]))
    }

    fn makes_topic(&self, sign: LexiconMatch, before: bool, hit: LexiconMatch) -> bool {
        let near = self.clause(sign) == self.clause(hit);
        let outside = sign.end <= hit.start || sign.start >= hit.end;
        outside
            && match (sign.sense, self.reading.grammar()) {
                (Sense::Inquiry, _) => !self.reading.tokens()[sign.first_token].is_quoted,
                (Sense::Topic | Sense::OtherWork, GrammarFamily::Chinese) => {
                    near || (before && !self.has_explicit_request(hit))
                }
                (Sense::Topic, _) | (Sense::OtherWork, GrammarFamily::Western) => before,
                (Sense::PostTopic, _) => near && !before,
                (Sense::OtherWork, GrammarFamily::Japanese) => !before,
                _ => false,
            }
    }
}
