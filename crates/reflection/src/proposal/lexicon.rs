//! The words that names of tools are made of, found in a text of any of four languages.
//!
//! Invariant: a token is ASCII: what no table knows is not there. The longest form wins, so `売上高` is no `売上`.

mod actions;
mod english;
mod things;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::{Word, folded, words};

/// An English word, and the forms that mean it in Japanese, Chinese and Thai.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The longest form, in characters.
const LONGEST: usize = 16;

/// What a word does in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// What is done.
    Action,
    /// What comes out.
    Ending,
    /// What it is done to.
    Thing,
    /// The same, but it says little.
    Weak,
    /// An English word that has no place in a name.
    Stop,
}

/// A known word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The English word.
    pub(super) word: String,
    pub(super) role: Role,
    /// Whether it stands in the text in Latin letters.
    pub(super) is_latin: bool,
    /// What stands before it, from the token before.
    pub(super) gap: String,
    /// What stands between it and the next token.
    pub(super) after: String,
}

/// Forms as texts are compared, with the word and what it does.
static FORMS: LazyLock<HashMap<String, (&'static str, Role)>> = LazyLock::new(|| {
    let tables = [
        (actions::ACTIONS, Role::Action),
        (actions::ENDINGS, Role::Ending),
        (things::WEAK, Role::Weak),
        (things::THINGS, Role::Thing),
    ];
    let rows = tables.into_iter().flat_map(|(rows, role)| rows.iter().map(move |row| (row, role)));
    let mut forms = HashMap::new();
    for ((word, ja, zh, th), role) in rows {
        for form in [ja, zh, th].into_iter().flat_map(|forms| forms.split_whitespace()) {
            forms.entry(folded(form).text().to_owned()).or_insert((*word, role));
        }
    }
    forms
});

/// Whether a word is one of a list.
pub(super) fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// The known words of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let text = folded(text).text().to_owned();
    let by_place: HashMap<usize, Word> = words(&text).into_iter().map(|word| (word.start, word)).collect();
    let mut tokens: Vec<Token> = Vec::new();
    let (mut at, mut gap_start) = (0, 0);
    while let Some(letter) = text[at..].chars().next() {
        let found = match letter {
            'a'..='z' => Some(latin(&text[at..], text[..at].trim_end(), tokens.last())),
            _ => foreign(&text[at..], by_place.get(&at)),
        };
        let Some((len, word, role)) = found else {
            at += letter.len_utf8();
            continue;
        };
        let gap = text[gap_start..at].to_owned();
        if let Some(last) = tokens.last_mut() {
            last.after.clone_from(&gap);
        }
        tokens.push(Token { word, role, is_latin: letter.is_ascii(), gap, after: String::new() });
        at += len;
        gap_start = at;
    }
    if let Some(last) = tokens.last_mut() {
        text[gap_start..].clone_into(&mut last.after);
    }
    tokens
}

/// The word in Latin letters that a text begins with, its length, and what it does after the token before it.
fn latin(text: &str, before: &str, last: Option<&Token>) -> (usize, String, Role) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '\'' || letter == '’';
    let len = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let word = text[..len].replace('’', "'");
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_first = before.is_empty() || before.ends_with(['.', ',', ';', ':', '!', '?', '(', '\n', '-', '*']);
    let previous = last.filter(|last| last.is_latin && !is_first).map(|last| last.word.as_str());
    // In a text of another script, a Latin word is a name.
    let is_english = last.is_none_or(|last| last.is_latin);
    if is_english
        && english::may_be_action(&word, previous)
        && let Some(action) = english::action(&word)
    {
        return (len, action, Role::Action);
    }
    let role = match () {
        () if english::is_stop(&word) => Role::Stop,
        () if english::is_weak(&word) => Role::Weak,
        () => Role::Thing,
    };
    (len, plain, role)
}

/// The longest known form that a text begins with. One of a single letter has to be a word of its own.
fn foreign(text: &str, whole: Option<&Word>) -> Option<(usize, String, Role)> {
    let ends: Vec<usize> = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(LONGEST).collect();
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
            tokens(text).into_iter().filter(|it| it.role != Role::Stop).map(|token| token.word).collect();
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
            let tables = [actions::ACTIONS, actions::ENDINGS, things::WEAK, things::THINGS];
            tables.into_iter().flatten().filter(|row| !of(row).is_empty()).count()
        };
        assert!(count(|row| row.1) >= 250 && count(|row| row.2) >= 250);
        assert!(FORMS.values().all(|(word, _)| word.chars().all(|char| char.is_ascii_lowercase() || char == '_')));
        assert!(FORMS.keys().all(|form| form.chars().count() <= LONGEST && !form.is_ascii()));
    }
}
