//! Whether what a text mentions is meant: asked for now, or denied, imagined, past, quoted, talked about.
//!
//! Invariant: a mention is live only where nothing in its part of the sentence takes it back.

mod around;
mod role;

use crate::lexicon::{Hit, Inflection, Sense};
use crate::reading::{Reading, Tongue};

/// How a mention stands in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is meant.
    Live,
    /// It is not to be done.
    Denied,
    /// It may be done some day.
    Imagined,
    /// It was done.
    Past,
    /// It is talked about, or quoted.
    Topic,
}

/// How it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// As a request.
    Asked,
    /// As a statement.
    Told,
    /// As a thing.
    Noun,
}

/// A form that stands in a text, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) hit: Hit,
    pub(crate) standing: Standing,
    pub(crate) role: Role,
}

/// How far a negation reaches, in words.
const REACH: usize = 10;

/// How far anything reaches: a sentence that never ends costs no more than a long one.
const NEAR: usize = 64;

/// How each of the hits stands.
pub(crate) fn mentions(reading: &Reading, hits: &[Hit]) -> Vec<Mention> {
    let scene = Scene { reading, hits };
    let mention = |at: usize| {
        let hit = hits[at];
        let role = scene.role(hit);
        Mention { hit, standing: scene.standing(at, role), role }
    };
    let mut mentions: Vec<Mention> = (0..hits.len()).map(mention).collect();
    if reading.tongue() == Tongue::Western {
        ask_with(reading, &mut mentions);
    }
    mentions
}

/// What stands behind the verb of a request is asked for with it: `produce summary statistics`.
fn ask_with(reading: &Reading, mentions: &mut [Mention]) {
    let mut asked = None;
    for mention in mentions {
        let part = reading.tokens()[mention.hit.first].part;
        let is_verb = matches!(mention.hit.sense, Sense::Frame(_) | Sense::Reach | Sense::Seek | Sense::Act(_));
        if is_verb && mention.role == Role::Asked && mention.standing == Standing::Live {
            asked = Some(part);
        } else if matches!(mention.hit.sense, Sense::Act(_)) && asked == Some(part) && mention.role == Role::Told {
            mention.role = Role::Asked;
        }
    }
}

/// What asks in Chinese and is seldom anything else.
const CLAIMS: [&str; 15] =
    ["请", "請", "帮", "幫", "替我", "麻烦", "麻煩", "给我", "給我", "把", "将", "將", "劳驾", "烦请", "煩請"];

/// Whether a Chinese word of asking is one without doubt.
pub(crate) fn is_claim(word: &str) -> bool {
    CLAIMS.iter().any(|claim| word.starts_with(claim))
}

struct Scene<'a> {
    reading: &'a Reading,
    hits: &'a [Hit],
}

impl Scene<'_> {
    fn part(&self, hit: Hit) -> usize {
        self.reading.tokens()[hit.first].part
    }

    fn sentence(&self, hit: Hit) -> usize {
        self.reading.tokens()[hit.first].sentence
    }

    fn standing(&self, at: usize, role: Role) -> Standing {
        let hit = self.hits[at];
        let token = self.reading.tokens()[hit.first];
        if token.quoted || (token.identifier && matches!(hit.sense, Sense::Act(_))) {
            return Standing::Topic;
        }
        if self.reading.tongue() == Tongue::Japanese && self.is_trade(hit) {
            return Standing::Topic;
        }
        let sentence = self.sentence(hit);
        let behind = self.hits[at + 1..].iter().copied().take(NEAR).take_while(|sign| self.sentence(*sign) == sentence);
        let before =
            self.hits[..at].iter().rev().copied().take(NEAR).take_while(|sign| self.sentence(*sign) == sentence);
        let mut near: Vec<(Hit, bool)> = before.map(|sign| (sign, true)).collect();
        near.extend(behind.map(|sign| (sign, false)));
        let is = |rule: &dyn Fn(Hit, bool) -> bool| near.iter().any(|(sign, before)| rule(*sign, *before));
        if is(&|sign, before| self.denies(sign, before, hit)) {
            return Standing::Denied;
        }
        if is(&|sign, before| self.imagines(sign, before, hit)) {
            return Standing::Imagined;
        }
        if self.is_past(hit, role, &near) {
            return Standing::Past;
        }
        if is(&|sign, before| self.talks_about(sign, before, hit)) {
            return Standing::Topic;
        }
        Standing::Live
    }

    fn denies(&self, sign: Hit, before: bool, hit: Hit) -> bool {
        let near = self.part(sign) == self.part(hit) && sign.first.abs_diff(hit.first) <= REACH;
        let outside = sign.end <= hit.start || sign.start >= hit.end;
        match sign.sense {
            Sense::Not if self.reading.tongue() == Tongue::Western => {
                near && before && outside && self.reaches(sign, hit)
            }
            Sense::Not => near && outside && (before || self.reading.tongue() == Tongue::Chinese),
            Sense::NotBefore => near && outside && !before,
            _ => false,
        }
    }

    /// Whether nothing new begins between a negation and what it may deny.
    fn reaches(&self, sign: Hit, hit: Hit) -> bool {
        let between = &self.reading.tokens()[sign.behind.min(hit.first)..hit.first];
        !between.iter().any(|token| matches!(self.reading.word(token), "and" | "then" | "just" | "only" | "instead"))
    }

    fn imagines(&self, sign: Hit, before: bool, hit: Hit) -> bool {
        let near = self.part(sign) == self.part(hit);
        if sign.sense == Sense::If && before && self.reading.tongue() == Tongue::Chinese && self.is_consequence(hit) {
            return true;
        }
        if sign.sense == Sense::If && before && self.reading.tongue() == Tongue::Japanese && self.is_conceded(hit) {
            return true;
        }
        match sign.sense {
            Sense::If => near && (before || self.reading.tongue() == Tongue::Chinese),
            Sense::IfBefore => near && !before,
            _ => false,
        }
    }

    /// Whether a part ends with a `but`, so that what is asked for comes behind it.
    fn is_conceded(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let last = self.reading.tokens()[hit.first..].iter().take(NEAR).take_while(|token| token.part == part).last();
        last.is_some_and(|token| {
            let text = &self.reading.text()[..token.end];
            ["が", "けど", "けれど", "けれども"].iter().any(|but| text.ends_with(but))
        })
    }

    /// Whether a part goes on with what comes of a condition: 就, 才.
    fn is_consequence(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let first =
            self.reading.tokens()[..=hit.first].iter().rev().take(NEAR).take_while(|token| token.part == part).last();
        first.is_some_and(|token| self.reading.word(token).starts_with(['就', '才', '再']))
    }

    fn is_past(&self, hit: Hit, role: Role, near: &[(Hit, bool)]) -> bool {
        let sign = |before: Option<bool>| {
            near.iter().any(|(sign, stands_before)| {
                sign.sense == Sense::Past
                    && self.part(*sign) == self.part(hit)
                    && before.is_none_or(|before| before == *stands_before)
            })
        };
        match self.reading.tongue() {
            Tongue::Japanese => sign(Some(false)) || (role != Role::Asked && sign(None)),
            Tongue::Chinese => sign(None),
            Tongue::Western if near.iter().any(|(sign, _)| sign.sense == Sense::Past && sign.behind == hit.first) => {
                true
            }
            Tongue::Western => {
                let is_past = hit.inflection == Inflection::Past;
                (is_past && self.is_told_of_somebody(hit)) || ((is_past || role != Role::Asked) && sign(None))
            }
        }
    }

    /// Whether the words before say who did it: `we validated`, `were added`.
    fn is_told_of_somebody(&self, hit: Hit) -> bool {
        let from = hit.first.saturating_sub(3);
        self.reading.tokens()[from..hit.first].iter().filter(|token| token.part == self.part(hit)).any(|token| {
            let word = self.reading.word(token);
            matches!(
                word,
                "was" | "were" | "been" | "had" | "have" | "has" | "we" | "i" | "they" | "he" | "she" | "you" | "just"
            )
        })
    }

    /// Whether a part of a Chinese sentence asks in so many words.
    fn is_claimed(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let text = self.reading.text();
        let from = self.hits.partition_point(|sign| sign.first + NEAR < hit.first);
        let near = self.hits[from..].iter().take_while(|sign| sign.first <= hit.first + NEAR);
        let mut near = near.filter(|sign| self.part(**sign) == part);
        near.any(|sign| sign.sense == Sense::Ask && is_claim(&text[sign.start..sign.end]))
    }

    fn talks_about(&self, sign: Hit, before: bool, hit: Hit) -> bool {
        let near = self.part(sign) == self.part(hit);
        let outside = sign.end <= hit.start || sign.start >= hit.end;
        outside
            && match (sign.sense, self.reading.tongue()) {
                (Sense::Wonder, _) => !self.reading.tokens()[sign.first].quoted,
                (Sense::About | Sense::Other, Tongue::Chinese) => near || (before && !self.is_claimed(hit)),
                (Sense::About, _) | (Sense::Other, Tongue::Western) => before,
                (Sense::AboutBefore, _) => near && !before,
                (Sense::Other, Tongue::Japanese) => !before,
                _ => false,
            }
    }
}
