//! The tokens of a task.

use std::ops::Range;

use super::vocabulary::{Meaning, Vocabulary, is_unspaced};
use crate::words::{NormalizedText, normalize};

/// The longest quoted text, in characters.
const MAX_QUOTED_CHARS: usize = 80;
/// The most tokens of a task: a longer one says more than any template does.
const MAX_TOKENS: usize = 120;

/// What a template needs where it needs any number, and any quoted text.
pub(super) const NUMBER: &str = "NUMBER";
pub(super) const QUOTED: &str = "QUOTED";

/// Words that introduce sample values: `like 1.10.0`.
const LIKE: &str = "LIKE";

/// Opening and closing quotation marks.
const QUOTES: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('「', '」'), ('『', '』'), ('‘', '’')];

/// A token of a task.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The text of the token, as it is written.
    pub(super) text: String,
    /// Whether it is a sample value, or introduces one.
    pub(super) is_sample: bool,
}

#[derive(Debug, Clone)]
pub(super) enum TokenKind {
    /// A number.
    Number(f64),
    /// A quoted text.
    Quoted,
    /// A known form.
    Known(Vec<Meaning>),
    /// An unknown word.
    Unknown,
}

/// Number words. One is an article more often than a number.
const NUMBER_WORDS: [(&str, f64); 20] = [
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("hundred", 100.0),
];

impl Token {
    /// Whether the token stands for a concept.
    pub(super) fn is(&self, concept: &str) -> bool {
        matches!(&self.kind, TokenKind::Known(meanings) if meanings.iter().any(|it| it.concept == concept))
    }

    /// Whether the token is what a template needs: of a concept, a number or a quoted text.
    pub(super) fn satisfies(&self, need: &str) -> bool {
        match need {
            NUMBER => matches!(self.kind, TokenKind::Number(_)),
            QUOTED => matches!(self.kind, TokenKind::Quoted),
            concept => self.is(concept),
        }
    }

    /// The value of the token in a concept that has values.
    pub(super) fn value_in(&self, concept: &str) -> Option<&str> {
        let TokenKind::Known(meanings) = &self.kind else { return None };
        meanings.iter().find(|it| it.concept == concept)?.value.as_deref()
    }

    /// Whether the token is an unknown word that may be the name of what data is of, judged by its ending: no verb
    /// and no adverb.
    pub(super) fn is_noun_like(&self) -> bool {
        let text = self.text.to_lowercase();
        matches!(self.kind, TokenKind::Unknown)
            && text.chars().all(char::is_alphabetic)
            && match text.chars().next() {
                Some(char) if is_unspaced(char) => text.chars().count() <= 6,
                _ => {
                    text.chars().count() >= 3
                        && !["ly", "ing", "ed", "ize", "ise"].iter().any(|end| text.ends_with(end))
                }
            }
    }
}

/// Splits a task into tokens; `None` if it is longer than a request for one small tool.
pub(super) fn tokens(task: &str, vocabulary: &Vocabulary) -> Option<Vec<Token>> {
    let normalized = normalize(task);
    let text = normalized.text();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        let token = match char {
            _ if char.is_whitespace() => None,
            _ if let Some(end) = quoted_end(rest, &text[..at]) => Some((end, TokenKind::Quoted)),
            _ if is_unspaced(char) => Some(unspaced(rest, vocabulary)),
            _ if char.is_alphanumeric() => Some(word_or_number(rest, vocabulary)),
            // "%", "€", "→": known or punctuation.
            _ => symbol(rest, vocabulary),
        };
        let Some((len, kind)) = token else {
            at += char.len_utf8();
            continue;
        };
        if tokens.len() == MAX_TOKENS {
            return None;
        }
        tokens.push(Token { text: original(task, &normalized, at..at + len), kind, is_sample: false });
        at += len;
    }
    mark_samples(&mut tokens);
    Some(tokens)
}

/// Marks the sample values of a task, and the words that introduce them.
fn mark_samples(tokens: &mut [Token]) {
    for like in 0..tokens.len() {
        if !tokens[like].is(LIKE) {
            continue;
        }
        tokens[like].is_sample = true;
        let is_value = |token: &&mut Token| is_sample_value(token) || token.is("AND");
        let (before, after) = tokens.split_at_mut(like + 1);
        let mut follows = false;
        for token in after.iter_mut().take_while(is_value) {
            token.is_sample = true;
            follows = true;
        }
        // Japanese and Chinese put the values before the word.
        for token in before[..like].iter_mut().rev().take_while(|token| !follows && is_sample_value(token)) {
            token.is_sample = true;
        }
    }
}

/// Whether a token cannot be a word of the request.
fn is_sample_value(token: &Token) -> bool {
    match token.kind {
        TokenKind::Number(_) | TokenKind::Quoted => true,
        TokenKind::Unknown => token.text.contains(|char: char| !char.is_alphabetic()),
        TokenKind::Known(_) => false,
    }
}

/// The text of a place as it is written.
fn original(task: &str, normalized: &NormalizedText, place: Range<usize>) -> String {
    let (start, end) = (normalized.original_offset(place.start), normalized.original_offset(place.end));
    let text = task.get(start..end).unwrap_or_default();
    let quote = |char: char| QUOTES.iter().any(|(open, close)| char == *open || char == *close);
    text.trim_matches(quote).to_owned()
}

/// The length of the quotation that a text begins with.
pub(super) fn quoted_end(text: &str, before: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let (_, close) = QUOTES.into_iter().find(|(known, _)| *known == open)?;
    // An apostrophe.
    if open == '\'' && before.chars().next_back().is_some_and(char::is_alphanumeric) {
        return None;
    }
    let inside = &text[open.len_utf8()..];
    let (end, _) = inside.char_indices().take(MAX_QUOTED_CHARS).find(|(_, char)| *char == close || *char == '\n')?;
    let is_closed = inside[end..].starts_with(close) && end > 0;
    is_closed.then(|| open.len_utf8() + end + close.len_utf8())
}

/// A known form without spaces, or the unknown characters up to the next one.
fn unspaced(text: &str, vocabulary: &Vocabulary) -> (usize, TokenKind) {
    if let Some((len, meanings)) = vocabulary.find_unspaced(text) {
        return (len, TokenKind::Known(meanings.to_vec()));
    }
    let end = text
        .char_indices()
        .skip(1)
        .find(|(at, char)| !is_unspaced(*char) || vocabulary.find_unspaced(&text[*at..]).is_some());
    (end.map_or(text.len(), |(at, _)| at), TokenKind::Unknown)
}

/// A known phrase, a number, or an unknown word.
fn word_or_number(text: &str, vocabulary: &Vocabulary) -> (usize, TokenKind) {
    // A run such as `mm/dd/yyyy` is known as a whole.
    let run = text.find(|char: char| char.is_whitespace() || is_unspaced(char)).unwrap_or(text.len());
    let run = text[..run].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'']);
    if run.contains(|char: char| !is_word_char(char))
        && let Some((_, meanings)) = vocabulary.find_phrase(&[&run.replace(['-', '_'], " ")])
    {
        return (run.len(), TokenKind::Known(meanings));
    }
    let words = leading_words(text);
    let plain: Vec<&str> = words.iter().map(|range| &text[range.clone()]).collect();
    if let Some((count, meanings)) = vocabulary.find_phrase(&plain) {
        return (words[count - 1].end, TokenKind::Known(meanings));
    }
    if let Some((len, number)) = leading_number(text) {
        return (len, TokenKind::Number(number));
    }
    // `1.10.0`, `#ff8800` or `a3b1c2` is one token.
    if run.contains(|char: char| char.is_ascii_digit()) {
        return (run.len().max(1), TokenKind::Unknown);
    }
    let first = plain.first().copied().unwrap_or(run);
    match NUMBER_WORDS.iter().find(|(word, _)| *word == first) {
        Some((_, number)) => (first.len(), TokenKind::Number(*number)),
        None => (first.len().max(1), TokenKind::Unknown),
    }
}

fn symbol(text: &str, vocabulary: &Vocabulary) -> Option<(usize, TokenKind)> {
    let len = text.chars().next()?.len_utf8();
    let (_, meanings) = vocabulary.find_phrase(&[&text[..len]])?;
    Some((len, TokenKind::Known(meanings)))
}

fn is_word_char(char: char) -> bool {
    (char.is_alphanumeric() || char == '\'') && !is_unspaced(char)
}

/// The places of the first words of a text, which are separated by one space or hyphen.
fn leading_words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while found.len() < 4 {
        let end = text[start..].find(|char| !is_word_char(char)).map_or(text.len(), |len| start + len);
        if end == start {
            break;
        }
        found.push(start..end);
        if !text[end..].starts_with([' ', '-', '_']) {
            break;
        }
        start = end + 1;
    }
    found
}

/// A number such as `1,000`, `2.5` or `3rd` that is not the beginning of a word.
fn leading_number(text: &str) -> Option<(usize, f64)> {
    let end = text.find(|char: char| !(char.is_ascii_digit() || char == '.' || char == ',')).unwrap_or(text.len());
    let digits = text[..end].trim_end_matches(['.', ',']);
    let number: f64 = digits.replace(',', "").parse().ok()?;
    let rest = &text[digits.len()..];
    let suffix = ["st", "nd", "rd", "th"].into_iter().find(|suffix| rest.starts_with(suffix)).unwrap_or_default();
    let is_whole = !rest[suffix.len()..].starts_with(is_word_char);
    is_whole.then_some((digits.len() + suffix.len(), number))
}
