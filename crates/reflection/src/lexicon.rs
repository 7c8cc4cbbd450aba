//! The lexicon: senses with their surface forms in English, Japanese, Chinese and some Thai.
//!
//! A form is written as it stands in a text. Spaces separate its pieces, and `*` between two pieces
//! matches further words. A piece in Latin letters is a word, whose inflections match as well; any
//! other piece matches the beginning of a word, so `抜き出` is found in `抜き出して`. The longest form
//! wins: `整形外科` is in the tables only to hide `整形` in it.
//!
//! The forms are in `lexicon/*.txt`, one section for each sense; the build script makes tables of
//! them. Chinese forms are written in simplified characters; the traditional ones are derived.

mod stemming;
mod surface_patterns;
mod tables {
    //! The tables that the build script generates, one for each language.

    use super::{LexiconRow, Sense};
    use crate::trigger::Trigger;

    include!(concat!(env!("OUT_DIR"), "/lexicon.rs"));
}
mod traditional;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use stemming::{Inflection, base_forms};

use crate::tokenized::{GrammarFamily, TokenizedTask};
use crate::trigger::Trigger;
use traditional::TraditionalCharacters;

/// The sense of a surface form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sense {
    /// Work that a tool could do.
    Work(Trigger),
    /// Work if it is applied to data: `turn … into`, 直す, 换成.
    WorkFrame(Trigger),
    /// Data: records, columns, formats of files.
    Data,
    /// A unit of measure, a currency, a calendar.
    Unit,
    /// More than one item, or all items.
    Plural,
    /// A key by which figures are grouped.
    Grouping,
    /// A figure: average, share, count.
    Measure,
    /// Searching, listing, marking.
    Search,
    /// A defect of data.
    Defect,
    /// A constraint on data.
    Constraint,
    /// Fetching or sending.
    Transfer,
    /// An external target: endpoints, webhooks, addresses.
    Remote,
    /// A target that may be external: services, systems.
    Service,
    /// The work is repeated.
    Repetition,
    /// The work is done regularly; this is as often said of other things.
    Regularity,
    /// The next instance is at hand: `today's`, 今日の分.
    Instance,
    /// The work is requested now.
    Request,
    /// Negates what follows.
    Negation,
    /// Negates what precedes: 不要.
    PostNegation,
    /// Makes what follows hypothetical.
    Hypothetical,
    /// Makes what precedes hypothetical: かもしれない.
    PostHypothetical,
    /// The work was done.
    Past,
    /// Makes what follows a topic.
    Topic,
    /// Makes what precedes a topic: について.
    PostTopic,
    /// Work of another kind: writing, advising, naming.
    OtherWork,
    /// A question of taste, reason or fact; its sentence requests nothing.
    Inquiry,
    /// A change in a single place.
    LocalEdit,
    /// No sense, although a part of the form would have one.
    Ignored,
}

/// A row of a table: a sense, and its forms separated by commas.
pub(crate) type LexiconRow = (Sense, &'static str);

/// An occurrence of a form in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LexiconMatch {
    pub(crate) sense: Sense,
    /// The index of its first token.
    pub(crate) first_token: usize,
    /// The index of the token after it.
    pub(crate) end_token: usize,
    /// Its start in the normalised text, in bytes.
    pub(crate) start: usize,
    /// Its end in the normalised text, in bytes.
    pub(crate) end: usize,
    /// The inflection of its first word.
    pub(crate) inflection: Inflection,
}

struct SurfaceForm {
    sense: Sense,
    pieces: Vec<FormPiece>,
}

enum FormPiece {
    Word(Cow<'static, str>),
    Stem(Cow<'static, str>),
    Gap,
}

struct Lexicon {
    forms: Vec<SurfaceForm>,
    words: HashMap<Cow<'static, str>, Vec<usize>>,
    stems: HashMap<char, Vec<usize>>,
}

/// The most words that a gap matches.
const MAX_GAP_WORDS: usize = 14;

static JAPANESE_LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(tables::JAPANESE));
static CHINESE_LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(tables::CHINESE));

/// Finds all forms in a text, in order.
pub(crate) fn find_matches(reading: &TokenizedTask) -> Vec<LexiconMatch> {
    let lexicon = if reading.grammar() == GrammarFamily::Japanese { &JAPANESE_LEXICON } else { &CHINESE_LEXICON };
    let mut found = Vec::new();
    let mut free = 0;
    for (at, token) in reading.tokens().iter().enumerate() {
        found.extend(surface_patterns::find_matches(reading, at));
        let starts = reading.word(token).char_indices().map(|(offset, _)| token.start + offset);
        let starts = starts.take(if reading.word(token).is_ascii() { 1 } else { usize::MAX });
        for start in starts {
            if start >= free {
                let (hits, end) = longest_matches(lexicon.matches_at(reading, at, start));
                free = end.unwrap_or(free);
                found.extend(hits);
            }
        }
    }
    found
}

/// Selects among the forms that start at one place: the longest ones without gaps, and those with
/// gaps; none if the longest one is [`Sense::Ignored`]. Also returns the offset at which the next
/// form may start.
fn longest_matches(here: Vec<(&SurfaceForm, LexiconMatch)>) -> (impl Iterator<Item = LexiconMatch>, Option<usize>) {
    let end = here.iter().filter(|(form, _)| form.is_contiguous()).map(|(_, hit)| hit.end).max();
    let wins = move |form: &SurfaceForm, hit: &LexiconMatch| !form.is_contiguous() || Some(hit.end) == end;
    let says_nothing = here.iter().any(|(form, hit)| hit.sense == Sense::Ignored && wins(form, hit));
    let hits = here.into_iter().filter(move |(form, hit)| !says_nothing && wins(form, hit));
    (hits.map(|(_, hit)| hit), end)
}

impl Lexicon {
    /// Creates the lexicon of a language, with English and Thai: their words occur in texts of any.
    fn new(language: &'static [LexiconRow]) -> Self {
        let signs = TraditionalCharacters::new();
        let mut lexicon = Self { forms: Vec::new(), words: HashMap::new(), stems: HashMap::new() };
        for (sense, forms) in tables::ENGLISH.iter().chain(tables::THAI).chain(language) {
            for form in forms.split(',').map(str::trim).filter(|form| !form.is_empty()) {
                lexicon.add(*sense, form_pieces(form).map(|piece| FormPiece::new(Cow::Borrowed(piece))).collect());
                if let Some(other) = signs.to_traditional(form) {
                    lexicon.add(
                        *sense,
                        form_pieces(&other).map(|piece| FormPiece::new(Cow::Owned(piece.to_owned()))).collect(),
                    );
                }
            }
        }
        lexicon
    }

    fn add(&mut self, sense: Sense, pieces: Vec<FormPiece>) {
        let at = self.forms.len();
        match pieces.first() {
            Some(FormPiece::Word(word)) => self.words.entry(word.clone()).or_default().push(at),
            Some(FormPiece::Stem(stem)) => self.stems.entry(stem.chars().next().unwrap_or(' ')).or_default().push(at),
            Some(FormPiece::Gap) | None => return,
        }
        self.forms.push(SurfaceForm { sense, pieces });
    }

    /// The forms that start at an offset in a word.
    fn matches_at<'a>(
        &'a self,
        reading: &TokenizedTask,
        at: usize,
        start: usize,
    ) -> Vec<(&'a SurfaceForm, LexiconMatch)> {
        let token = &reading.tokens()[at];
        let mut found = Vec::new();
        let mut take = |candidates: Option<&Vec<usize>>, inflection| {
            for form in candidates.into_iter().flatten().map(|form| &self.forms[*form]) {
                if let Some((end, behind)) = form.matches(reading, at, start) {
                    found.push((
                        form,
                        LexiconMatch { sense: form.sense, first_token: at, end_token: behind, start, end, inflection },
                    ));
                }
            }
        };
        if start == token.start {
            for (base, inflection) in base_forms(reading.word(token)) {
                take(self.words.get(base.as_ref()), inflection);
            }
        }
        if let Some(first) = reading.text()[start..].chars().next().filter(|first| !first.is_ascii()) {
            take(self.stems.get(&first), Inflection::Base);
        }
        found
    }
}

/// Splits a form into pieces, at spaces and hyphens and where scripts meet, because words end
/// there.
fn form_pieces(form: &str) -> impl Iterator<Item = &str> {
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

impl FormPiece {
    fn new(text: Cow<'static, str>) -> Self {
        match text.as_ref() {
            "*" => Self::Gap,
            word if word.is_ascii() => Self::Word(text),
            _ => Self::Stem(text),
        }
    }

    /// Returns the end of a piece that starts inside a word. Only long forms and inflections may
    /// start there, because dictionaries segment those inconsistently.
    fn match_inside(&self, reading: &TokenizedTask, start: usize, sense: Sense) -> Option<usize> {
        let Self::Stem(stem) = self else { return None };
        let is_ending = matches!(
            sense,
            Sense::PostNegation
                | Sense::PostHypothetical
                | Sense::Past
                | Sense::PostTopic
                | Sense::Request
                | Sense::Inquiry
                | Sense::Ignored
                | Sense::Defect
        );
        let is_kana = stem.starts_with(|first| matches!(first, '\u{3040}'..='\u{309f}'));
        let is_clear = match stem.chars().count() {
            0 | 1 => false,
            2 => (is_ending && (is_kana || sense == Sense::Ignored)) || sense == Sense::Grouping,
            _ => is_ending || !is_kana,
        };
        (is_clear && reading.text()[start..].starts_with(stem.as_ref())).then_some(start + stem.len())
    }

    /// Returns the end of a piece that starts at a word.
    fn match_at(&self, reading: &TokenizedTask, at: usize) -> Option<usize> {
        let token = reading.tokens().get(at)?;
        let word = reading.word(token);
        match self {
            Self::Word(base) => base_forms(word).any(|(found, _)| found == *base).then_some(token.end),
            Self::Stem(stem) => {
                reading.text()[token.start..].starts_with(stem.as_ref()).then_some(token.start + stem.len())
            }
            Self::Gap => None,
        }
    }
}

impl SurfaceForm {
    /// Whether the form has no gap.
    fn is_contiguous(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, FormPiece::Gap))
    }

    /// Matches the form at an offset in a word. Returns the end, and the token after it.
    fn matches(&self, reading: &TokenizedTask, first: usize, start: usize) -> Option<(usize, usize)> {
        let tokens = reading.tokens();
        let here = &tokens[first];
        let head = self.pieces.first()?;
        let mut end = if start == here.start {
            head.match_at(reading, first)?
        } else {
            head.match_inside(reading, start, self.sense)?
        };
        let (mut at, mut room) = (reading.token_at_or_after(end).max(first + 1), 0);
        for piece in &self.pieces[1..] {
            if matches!(piece, FormPiece::Gap) {
                room = MAX_GAP_WORDS;
                continue;
            }
            let fits = |place: usize| {
                tokens.get(place).is_some_and(|token| {
                    token.is_quoted == here.is_quoted
                        && if room == 0 { token.clause == here.clause } else { token.sentence == here.sentence }
                })
            };
            let place =
                (at..=at + room).take_while(|place| fits(*place)).find(|at| piece.match_at(reading, *at).is_some())?;
            end = piece.match_at(reading, place)?;
            (at, room) = (reading.token_at_or_after(end).max(place + 1), 0);
        }
        Some((end, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, Sense)]) {
        let reading = TokenizedTask::new(text);
        let found: Vec<(&str, Sense)> =
            find_matches(&reading).iter().map(|hit| (reading.original(text, hit.start, hit.end), hit.sense)).collect();
        for wanted in expect {
            assert!(found.contains(wanted), "{wanted:?} is not in {found:?}");
        }
        assert!(!expect.is_empty() || !found.iter().any(|(_, sense)| matches!(sense, Sense::Work(_))), "{found:?}");
    }

    #[test]
    fn inflections_and_frames_are_found() {
        check("Converting it", &[("Converting", Sense::Work(Trigger::Transformation))]);
        check("抜き出してください", &[("抜き出", Sense::Work(Trigger::Transformation))]);
        check("把这些日志转换成表格", &[("转换成", Sense::Work(Trigger::Transformation))]);
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
        for tables in [[tables::ENGLISH, tables::THAI].concat(), tables::JAPANESE.to_vec(), tables::CHINESE.to_vec()] {
            let mut seen = std::collections::HashSet::new();
            for (sense, forms) in &tables {
                for form in forms.split(',').map(str::trim).filter(|form| !form.is_empty()) {
                    assert!(seen.insert((*sense, form)), "{form} {sense:?}");
                }
            }
            assert!(seen.len() > 100, "{}", seen.len());
        }
    }
}
