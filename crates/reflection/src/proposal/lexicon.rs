//! Finds the words that make up tool names, in texts of four languages.
//!
//! Invariant: every token is an ASCII word; unknown words of other scripts are skipped. The longest
//! form wins, so `売上高` is not `売上`.

mod english;
mod nouns;
mod verbs;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::{Word, normalize, words};

/// An English word with its forms in Japanese, Chinese and Thai.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The longest form, in characters.
const MAX_FORM_CHARS: usize = 16;

/// The role of a word in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRole {
    /// The action.
    Verb,
    /// The result.
    Result,
    /// The object of the action.
    Noun,
    /// An object that is too vague to be specific.
    WeakNoun,
    /// An English word that does not belong in a name.
    StopWord,
}

/// A known word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameToken {
    /// The English word.
    pub(super) word: String,
    pub(super) role: NameRole,
    /// Whether it is written in Latin letters in the text.
    pub(super) is_latin: bool,
    /// The text between the previous token and this one.
    pub(super) gap: String,
    /// The text between this token and the next one.
    pub(super) after: String,
}

/// The normalised forms, each with its English word and role.
static FORMS: LazyLock<HashMap<String, (&'static str, NameRole)>> = LazyLock::new(|| {
    let tables = [
        (verbs::VERBS, NameRole::Verb),
        (verbs::RESULTS, NameRole::Result),
        (nouns::WEAK_NOUNS, NameRole::WeakNoun),
        (nouns::NOUNS, NameRole::Noun),
    ];
    let rows = tables.into_iter().flat_map(|(rows, role)| rows.iter().map(move |row| (row, role)));
    let mut forms = HashMap::new();
    for ((word, ja, zh, th), role) in rows {
        for form in [ja, zh, th].into_iter().flat_map(|forms| forms.split_whitespace()) {
            forms.entry(normalize(form).text().to_owned()).or_insert((*word, role));
        }
    }
    forms
});

/// Whether a word is in a list separated by white space.
pub(super) fn is_listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Finds the known words of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<NameToken> {
    let text = normalize(text).text().to_owned();
    let by_place: HashMap<usize, Word> = words(&text).into_iter().map(|word| (word.start, word)).collect();
    let mut tokens: Vec<NameToken> = Vec::new();
    let (mut at, mut gap_start) = (0, 0);
    while let Some(letter) = text[at..].chars().next() {
        let found = match letter {
            'a'..='z' => Some(match_latin(&text[at..], text[..at].trim_end(), tokens.last())),
            _ => match_foreign(&text[at..], by_place.get(&at)),
        };
        let Some((len, word, role)) = found else {
            at += letter.len_utf8();
            continue;
        };
        let gap = text[gap_start..at].to_owned();
        if let Some(last) = tokens.last_mut() {
            last.after.clone_from(&gap);
        }
        tokens.push(NameToken { word, role, is_latin: letter.is_ascii(), gap, after: String::new() });
        at += len;
        gap_start = at;
    }
    if let Some(last) = tokens.last_mut() {
        text[gap_start..].clone_into(&mut last.after);
    }
    tokens
}

/// Returns the length, the word and the role of the Latin word at the beginning of a text.
fn match_latin(text: &str, before: &str, last: Option<&NameToken>) -> (usize, String, NameRole) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '\'' || letter == '’';
    let len = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let word = text[..len].replace('’', "'");
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_first = before.is_empty() || before.ends_with(['.', ',', ';', ':', '!', '?', '(', '\n', '-', '*']);
    let previous = last.filter(|last| last.is_latin && !is_first).map(|last| last.word.as_str());
    // In a text of another script, a Latin word is a name.
    let is_english = last.is_none_or(|last| last.is_latin);
    if is_english
        && english::may_be_verb(&word, previous)
        && let Some(action) = english::base_verb(&word)
    {
        return (len, action, NameRole::Verb);
    }
    let role = match () {
        () if english::is_stop_word(&word) => NameRole::StopWord,
        () if english::is_weak(&word) => NameRole::WeakNoun,
        () => NameRole::Noun,
    };
    (len, plain, role)
}

/// Returns the longest known form at the beginning of a text. A form of one character must be a
/// whole word.
fn match_foreign(text: &str, whole: Option<&Word>) -> Option<(usize, String, NameRole)> {
    let ends: Vec<usize> =
        text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(MAX_FORM_CHARS).collect();
    ends.iter().enumerate().rev().find_map(|(letters, end)| {
        let form = &text[..*end];
        let (word, role) = FORMS.get(form)?;
        (letters > 0 || whole.is_some_and(|whole| whole.text == form)).then(|| (*end, (*word).to_owned(), *role))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let found: Vec<String> =
            tokens(text).into_iter().filter(|it| it.role != NameRole::StopWord).map(|token| token.word).collect();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn words_of_four_languages_are_found() {
        check("複数のCSVファイルをJSONに変換する", "csv file json convert");
        check("把销售日志转换成表格", "sales log convert table");
        check("แปลงวันที่ในไฟล์", "convert date file");
        check("Please convert the CSV files", "convert csv files");
    }

    #[test]
    fn every_language_has_its_words() {
        let count = |of: fn(&Row) -> &'static str| {
            let tables = [verbs::VERBS, verbs::RESULTS, nouns::WEAK_NOUNS, nouns::NOUNS];
            tables.into_iter().flatten().filter(|row| !of(row).is_empty()).count()
        };
        assert!(count(|row| row.1) >= 250 && count(|row| row.2) >= 250);
        assert!(FORMS.values().all(|(word, _)| word.chars().all(|char| char.is_ascii_lowercase() || char == '_')));
        assert!(FORMS.keys().all(|form| form.chars().count() <= MAX_FORM_CHARS && !form.is_ascii()));
    }
}
