//! Extracts index terms from a text.
//!
//! Invariant: the inflections of a word give the same term, and words for one concept in any
//! language give the same term that begins with `~`, so that a search for 変換 finds tools that
//! convert.

mod concepts;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::lexicon::base_forms;
use crate::words::words;

/// The part of a text that is indexed, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Extracts the terms of a text: its words and their concepts, each once, in order. Stop words are
/// left out, and identifiers such as `parseCsvFile` are split.
///
/// # Examples
/// ```
/// use toolcell_reflection::terms;
///
/// assert_eq!(terms("Validating the inputs"), ["validate", "~check", "input"]);
/// assert_eq!(terms("parseDates"), ["parsedate", "parse", "~parse", "date", "~date"]);
/// assert!(terms("日付を解析する").contains(&"~parse".to_owned()));
/// ```
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    let mut keep = |term: String| {
        if seen.insert(term.clone()) {
            terms.push(term);
        }
    };
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    for name in text.split(char::is_whitespace) {
        let apart = split_identifier(name);
        for text in std::iter::once(name).chain((apart != name).then_some(apart.as_str())) {
            for word in words(text) {
                push_term(&word.text, &mut keep);
            }
        }
        for concept in CONCEPTS.find_concepts(name) {
            keep(format!("~{concept}"));
        }
    }
    terms
}

fn push_term(word: &str, keep: &mut impl FnMut(String)) {
    if is_stop_word(word) {
        return;
    }
    keep(stem(word));
    for (base, _) in base_forms(word) {
        if let Some(concept) = CONCEPTS.words.get(base.as_ref()) {
            return keep(format!("~{concept}"));
        }
    }
}

/// Inserts spaces between the words of an identifier.
fn split_identifier(name: &str) -> String {
    let mut apart = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(char) = chars.next() {
        let begins = char.is_uppercase()
            && (before.is_lowercase()
                || (before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase())));
        if begins || (before.is_ascii_digit() && char.is_alphabetic() && char.is_ascii()) {
            apart.push(' ');
        }
        apart.push(if matches!(char, '_' | '-' | '.' | '/') { ' ' } else { char });
        before = char;
    }
    apart
}

/// The stem of an English word, without plural, `-ing` or `-ed`; other words stay as they are.
fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.len() < 4 {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    for ending in ["ing", "ed"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 2 && has_vowel(stem)) {
            return restore_verb(stem);
        }
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

fn has_vowel(text: &str) -> bool {
    text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// Restores a verb that lost its ending: removes a doubled letter, or adds an `e` where the letters
/// require it.
fn restore_verb(stem: &str) -> String {
    let bytes = stem.as_bytes();
    let (last, before) = (bytes[bytes.len() - 1], bytes[bytes.len() - 2]);
    let is_vowel = |byte: u8| b"aeiou".contains(&byte);
    if last == before {
        let keeps = matches!(last, b'l' | b's' | b'z' | b'd') && stem.len() < 5;
        return if keeps { stem.to_owned() } else { stem[..stem.len() - 1].to_owned() };
    }
    let follows_one_vowel = is_vowel(before) && !bytes.len().checked_sub(3).is_some_and(|at| is_vowel(bytes[at]));
    let lost_e = match last {
        b'c' | b'v' | b'z' | b'u' => true,
        b's' => !matches!(before, b'u' | b'i'),
        b'g' => before != b'n',
        b'l' => !is_vowel(before) && before != b'r',
        b't' => follows_one_vowel && matches!(before, b'a' | b'u'),
        b'd' => follows_one_vowel && before == b'o',
        b'r' => follows_one_vowel && matches!(before, b'a' | b'i' | b'u'),
        b'n' => follows_one_vowel && before == b'i',
        _ => false,
    };
    let is_short = stem.len() == 3 && follows_one_vowel && !matches!(last, b'w' | b'x' | b'y');
    if lost_e || is_short { format!("{stem}e") } else { stem.to_owned() }
}

/// Whether a word occurs in all texts and carries no meaning of its own.
fn is_stop_word(word: &str) -> bool {
    // Dictionaries segment 帮我把 inconsistently.
    let is_han = |char: char| matches!(char, '\u{4e00}'..='\u{9fff}');
    let mut signs = [0; 4];
    let is_empty = |char: char| is_han(char) && STOP_WORDS.contains(&*char.encode_utf8(&mut signs));
    STOP_WORDS.contains(word) || word.chars().all(is_empty)
}

static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| concepts::STOP_WORDS.split_whitespace().collect());

/// The words of each concept.
struct Concepts {
    words: HashMap<&'static str, &'static str>,
    /// Forms of scripts without spaces by their first character, the longest first.
    stems: HashMap<char, Vec<(&'static str, &'static str)>>,
}

static CONCEPTS: LazyLock<Concepts> = LazyLock::new(Concepts::new);

impl Concepts {
    fn new() -> Self {
        let mut concepts = Self { words: HashMap::new(), stems: HashMap::new() };
        for (concept, forms) in concepts::CONCEPTS {
            for form in forms.split_whitespace() {
                match form.chars().next() {
                    Some(first) if !form.is_ascii() => concepts.stems.entry(first).or_default().push((form, concept)),
                    _ => drop(concepts.words.insert(form, concept)),
                }
            }
        }
        for stems in concepts.stems.values_mut() {
            stems.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        }
        concepts
    }

    /// The concepts of the forms in a text without spaces.
    fn find_concepts(&self, text: &str) -> Vec<&'static str> {
        if text.is_ascii() {
            return Vec::new();
        }
        let text = crate::words::normalize(text);
        let text = text.text();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let fits = |(form, _): &&(&'static str, &'static str)| text[at..].starts_with(form);
            let here = self.stems.get(&first).and_then(|stems| stems.iter().find(fits));
            at += here.map_or(first.len_utf8(), |(form, _)| form.len());
            found.extend(here.map(|(_, concept)| *concept));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(terms(text).join(" "), expect);
    }

    #[test]
    fn inflections_meet() {
        for (forms, expect) in [
            ("parse parses parsed parsing", "parse ~parse"),
            ("file files", "file ~file"),
            ("formatting formatted formats", "format ~format"),
            ("entries entry", "entry ~record"),
            ("computing computed", "compute ~sum"),
            ("sorting sorted sorts", "sort ~sort"),
            ("addresses address", "address ~address"),
        ] {
            check(forms, expect);
        }
    }

    #[test]
    fn names_are_taken_apart_and_kept() {
        check("parseCSVFile", "parsecsvfile parse ~parse csv ~csv file ~file");
        check("date_to_iso", "date_to_iso date ~date iso");
        check("json-to-csv", "json ~json csv ~csv");
    }

    #[test]
    fn function_words_are_no_terms() {
        check("把CSV文件转换成JSON", "csv ~csv 文件 转换 json ~json ~file ~convert");
        check("CSVをJSONに変換してください", "csv ~csv json ~json 変換 ~convert");
        check("帮我把这些日志里的错误数一下", "日志 错误 数 ~log ~error");
        check("すし屋の売上", "すし 屋 売上 ~sales");
    }

    #[test]
    fn a_task_is_covered_by_what_does_it() {
        let tool =
            "Converts text from CSV to JSON, or between any two of CSV, TSV, JSON, lines and pairs of key and value";
        let (task, tool) = (terms("把CSV文件转换成JSON"), terms(tool));
        let covered = task.iter().filter(|term| tool.contains(term)).count();
        assert!(covered * 10 >= task.len() * 6, "{task:?} {tool:?}");
    }

    #[test]
    fn languages_meet() {
        let concepts =
            |text: &str| terms(text).into_iter().filter(|term| term.starts_with('~')).collect::<HashSet<_>>();
        assert_eq!(concepts("convert dates"), concepts("日付を変換する"));
        assert_eq!(concepts("convert dates"), concepts("转换日期"));
        assert_eq!(concepts("average price"), concepts("価格の平均"));
        assert_eq!(concepts("average price"), concepts("平均价格"));
    }
}
