//! What words say: concepts with their surface forms, in English, Japanese, Chinese and a little Thai.
//!
//! A form is written as it stands in a text. Blanks part its pieces, `*` between two pieces lets other words stand there.
//! A piece of Latin letters is a word, whose inflections are folded; any other piece is the beginning of a word, so that
//! `抜き出` is found in `抜き出して`. The longest form wins: `整形外科` is in the tables only to keep `整形` out of it.

mod en;
mod en_signs;
mod fold;
mod ja;
mod ja_signs;
mod plain;
mod shape;
mod th;
mod traditional;
mod wonder;
mod zh;
mod zh_signs;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use fold::{Inflection, bases};

use crate::reading::{Reading, Tongue};
use crate::trigger::Trigger;
use traditional::Signs;

/// What a form says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sense {
    /// Work that a tool could do.
    Act(Trigger),
    /// The same, if it is done to data: `turn … into`, 直す, 换成.
    Frame(Trigger),
    /// Data: records, columns, formats of files.
    Datum,
    /// A unit of measure, a currency, a calendar.
    Unit,
    /// That there is more than one, or that all are meant.
    Many,
    /// By what figures are grouped.
    Group,
    /// A figure: average, share, count.
    Measure,
    /// To look for, to list, to mark.
    Seek,
    /// What can be wrong with data.
    Fault,
    /// What data must be.
    Rule,
    /// To get or to send.
    Reach,
    /// What is outside: endpoints, webhooks, addresses.
    Remote,
    /// What may be outside: services, systems.
    Service,
    /// That it is done again and again.
    Again,
    /// That it is done regularly, which is as often said of other things.
    Often,
    /// That the next of many is at hand: `today's`, 今日の分.
    Instance,
    /// That it is asked for now.
    Ask,
    /// That what follows is not to be done.
    Not,
    /// The same of what stands before it: 不要.
    NotBefore,
    /// That what follows may come to pass.
    If,
    /// The same of what stands before it: かもしれない.
    IfBefore,
    /// That something was done.
    Past,
    /// That what follows is talked about.
    About,
    /// The same of what stands before it: について.
    AboutBefore,
    /// Work of another kind: to write, to advise, to name.
    Other,
    /// A question of taste, a reason, a fact: its sentence orders nothing.
    Wonder,
    /// A change in one place.
    Edit,
    /// Nothing, though a part of it looks like something.
    Nothing,
}

/// A line of a table: what is said, and the forms that say it.
pub(crate) type Line = (Sense, &'static str);

/// A form that stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) sense: Sense,
    /// Its first word.
    pub(crate) first: usize,
    /// The first word behind it.
    pub(crate) behind: usize,
    /// Where it begins in the normalised text.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// The form of its first word.
    pub(crate) inflection: Inflection,
}

struct Form {
    sense: Sense,
    pieces: Vec<Piece>,
}

enum Piece {
    Word(Cow<'static, str>),
    Stem(Cow<'static, str>),
    Gap,
}

struct Lexicon {
    forms: Vec<Form>,
    words: HashMap<Cow<'static, str>, Vec<usize>>,
    stems: HashMap<char, Vec<usize>>,
}

/// How many words a gap holds.
const GAP_LIMIT: usize = 14;

static ENGLISH: [&[Line]; 5] = [en::LINES, en_signs::LINES, plain::ENGLISH, wonder::ENGLISH, th::LINES];
static JAPANESE: [&[Line]; 4] = [ja::LINES, ja_signs::LINES, plain::JAPANESE, wonder::JAPANESE];
static CHINESE: [&[Line]; 4] = [zh::LINES, zh_signs::LINES, plain::CHINESE, wonder::CHINESE];

static WITH_JAPANESE: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&JAPANESE));
static WITH_CHINESE: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&CHINESE));

/// All forms that stand in a text, in order.
pub(crate) fn hits(reading: &Reading) -> Vec<Hit> {
    let lexicon = if reading.tongue() == Tongue::Japanese { &WITH_JAPANESE } else { &WITH_CHINESE };
    let mut found = Vec::new();
    let mut free = 0;
    for (at, token) in reading.tokens().iter().enumerate() {
        found.extend(shape::hits(reading, at));
        let starts = reading.word(token).char_indices().map(|(offset, _)| token.start + offset);
        let starts = starts.take(if reading.word(token).is_ascii() { 1 } else { usize::MAX });
        for start in starts {
            if start >= free {
                let (hits, end) = winners(lexicon.at(reading, at, start));
                free = end.unwrap_or(free);
                found.extend(hits);
            }
        }
    }
    found
}

/// Of the forms that begin at one place: the longest ones without gaps, and those with gaps; nothing where the longest
/// says nothing. And where the next may begin.
fn winners(here: Vec<(&Form, Hit)>) -> (impl Iterator<Item = Hit>, Option<usize>) {
    let end = here.iter().filter(|(form, _)| form.is_whole()).map(|(_, hit)| hit.end).max();
    let wins = move |form: &Form, hit: &Hit| !form.is_whole() || Some(hit.end) == end;
    let says_nothing = here.iter().any(|(form, hit)| hit.sense == Sense::Nothing && wins(form, hit));
    let hits = here.into_iter().filter(move |(form, hit)| !says_nothing && wins(form, hit));
    (hits.map(|(_, hit)| hit), end)
}

impl Lexicon {
    fn new(tables: &[&[Line]]) -> Self {
        let signs = Signs::new();
        let mut lexicon = Self { forms: Vec::new(), words: HashMap::new(), stems: HashMap::new() };
        for (sense, forms) in ENGLISH.iter().chain(tables).copied().flatten() {
            for form in forms.split(',').map(str::trim).filter(|form| !form.is_empty()) {
                lexicon.add(*sense, pieces(form).map(|piece| Piece::new(Cow::Borrowed(piece))).collect());
                if let Some(other) = signs.traditional(form) {
                    lexicon.add(*sense, pieces(&other).map(|piece| Piece::new(Cow::Owned(piece.to_owned()))).collect());
                }
            }
        }
        lexicon
    }

    fn add(&mut self, sense: Sense, pieces: Vec<Piece>) {
        let at = self.forms.len();
        match pieces.first() {
            Some(Piece::Word(word)) => self.words.entry(word.clone()).or_default().push(at),
            Some(Piece::Stem(stem)) => self.stems.entry(stem.chars().next().unwrap_or(' ')).or_default().push(at),
            Some(Piece::Gap) | None => return,
        }
        self.forms.push(Form { sense, pieces });
    }

    /// The forms that begin at a place in a word.
    fn at<'a>(&'a self, reading: &Reading, at: usize, start: usize) -> Vec<(&'a Form, Hit)> {
        let token = &reading.tokens()[at];
        let mut found = Vec::new();
        let mut take = |candidates: Option<&Vec<usize>>, inflection| {
            for form in candidates.into_iter().flatten().map(|form| &self.forms[*form]) {
                if let Some((end, behind)) = form.matches(reading, at, start) {
                    found.push((form, Hit { sense: form.sense, first: at, behind, start, end, inflection }));
                }
            }
        };
        if start == token.start {
            for (base, inflection) in bases(reading.word(token)) {
                take(self.words.get(base.as_ref()), inflection);
            }
        }
        if let Some(first) = reading.text()[start..].chars().next().filter(|first| !first.is_ascii()) {
            take(self.stems.get(&first), Inflection::Base);
        }
        found
    }
}

/// The pieces of a form: at blanks and hyphens, and where scripts meet, for that is where words end.
fn pieces(form: &str) -> impl Iterator<Item = &str> {
    form.split([' ', '\n', '-']).filter(|text| !text.is_empty()).flat_map(|text| {
        let mut rest = text;
        std::iter::from_fn(move || {
            let is_ascii = rest.chars().next()?.is_ascii();
            let end = rest.find(|char: char| char.is_ascii() != is_ascii).unwrap_or(rest.len());
            let (piece, behind) = rest.split_at(end);
            rest = behind;
            Some(piece)
        })
    })
}

impl Piece {
    fn new(text: Cow<'static, str>) -> Self {
        match text.as_ref() {
            "*" => Self::Gap,
            word if word.is_ascii() => Self::Word(text),
            _ => Self::Stem(text),
        }
    }

    /// Where this ends if it begins inside a word: long forms do, and inflections, which dictionaries part as they like.
    fn end_inside(&self, reading: &Reading, start: usize, sense: Sense) -> Option<usize> {
        let Self::Stem(stem) = self else { return None };
        let is_ending = matches!(
            sense,
            Sense::NotBefore
                | Sense::IfBefore
                | Sense::Past
                | Sense::AboutBefore
                | Sense::Ask
                | Sense::Wonder
                | Sense::Nothing
                | Sense::Fault
        );
        let is_kana = stem.starts_with(|first| matches!(first, '\u{3040}'..='\u{309f}'));
        let is_clear = match stem.chars().count() {
            0 | 1 => false,
            2 => (is_ending && (is_kana || sense == Sense::Nothing)) || sense == Sense::Group,
            _ => is_ending || !is_kana,
        };
        (is_clear && reading.text()[start..].starts_with(stem.as_ref())).then_some(start + stem.len())
    }

    /// Where this ends if it begins with a word.
    fn end(&self, reading: &Reading, at: usize) -> Option<usize> {
        let token = reading.tokens().get(at)?;
        let word = reading.word(token);
        match self {
            Self::Word(base) => bases(word).any(|(found, _)| found == *base).then_some(token.end),
            Self::Stem(stem) => {
                reading.text()[token.start..].starts_with(stem.as_ref()).then_some(token.start + stem.len())
            }
            Self::Gap => None,
        }
    }
}

impl Form {
    /// Whether nothing else stands in it.
    fn is_whole(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Gap))
    }

    /// Where this ends if it begins at a place in a word: the place, and the first word behind it.
    fn matches(&self, reading: &Reading, first: usize, start: usize) -> Option<(usize, usize)> {
        let tokens = reading.tokens();
        let here = &tokens[first];
        let head = self.pieces.first()?;
        let mut end =
            if start == here.start { head.end(reading, first)? } else { head.end_inside(reading, start, self.sense)? };
        let (mut at, mut room) = (reading.at_or_behind(end).max(first + 1), 0);
        for piece in &self.pieces[1..] {
            if matches!(piece, Piece::Gap) {
                room = GAP_LIMIT;
                continue;
            }
            let fits = |place: usize| {
                tokens.get(place).is_some_and(|token| {
                    token.quoted == here.quoted
                        && if room == 0 { token.part == here.part } else { token.sentence == here.sentence }
                })
            };
            let place =
                (at..=at + room).take_while(|place| fits(*place)).find(|at| piece.end(reading, *at).is_some())?;
            end = piece.end(reading, place)?;
            (at, room) = (reading.at_or_behind(end).max(place + 1), 0);
        }
        Some((end, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, Sense)]) {
        let reading = Reading::new(text);
        let found: Vec<(&str, Sense)> =
            hits(&reading).iter().map(|hit| (reading.original(text, hit.start, hit.end), hit.sense)).collect();
        for wanted in expect {
            assert!(found.contains(wanted), "{wanted:?} is not in {found:?}");
        }
        assert!(!expect.is_empty() || !found.iter().any(|(_, sense)| matches!(sense, Sense::Act(_))), "{found:?}");
    }

    #[test]
    fn inflections_and_frames_are_found() {
        check("Converting it", &[("Converting", Sense::Act(Trigger::Transformation))]);
        check("抜き出してください", &[("抜き出", Sense::Act(Trigger::Transformation))]);
        check("把这些日志转换成表格", &[("转换成", Sense::Act(Trigger::Transformation))]);
    }

    #[test]
    fn a_part_of_a_word_says_nothing() {
        for text in ["checkout", "check in with Bob", "unrepeatable", "informal", "整形外科", "检查站", "反復横跳び"]
        {
            check(text, &[]);
        }
    }

    #[test]
    fn no_form_stands_twice_in_one_sense() {
        for tables in [ENGLISH.as_slice(), JAPANESE.as_slice(), CHINESE.as_slice()] {
            let mut seen = std::collections::HashSet::new();
            for (sense, forms) in tables.iter().copied().flatten() {
                for form in forms.split(',').map(str::trim).filter(|form| !form.is_empty()) {
                    assert!(seen.insert((*sense, form)), "{form} {sense:?}");
                }
            }
            assert!(seen.len() > 100, "{}", seen.len());
        }
    }
}
