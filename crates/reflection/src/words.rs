//! Takes a text apart into words, whatever its script.
//!
//! Invariant: a word is what Unicode's rules (UAX #29) and, for scripts without blanks, ICU's dictionary say, so that
//! `checkout` has no `check` in it and `変換する` has a `変換`. The time grows with the text, of which a bounded part is read.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::dictionary::segmenter;

/// How much of a text is read from its beginning, in bytes: what it is about is said there,
const HEAD_LIMIT: usize = 12 * 1024;
/// or at its end, behind whatever was pasted.
const TAIL_LIMIT: usize = 4 * 1024;

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word: compatibility forms (NFKC) and lower case.
    pub text: String,
    /// Where it begins in the normalised text, in bytes.
    pub start: usize,
}

/// The words of a text, in order, as far as it is read; without blanks and punctuation.
///
/// # Examples
/// ```
/// use toolcell_reflection::words;
///
/// let texts = |text| words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
/// assert_eq!(texts("The Check-out, please"), ["the", "check", "out", "please"]);
/// assert_eq!(texts("ＣＳＶをJSONに変換する"), ["csv", "を", "json", "に", "変換", "する"]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let folded = folded(text);
    let text = folded.text();
    let segmenter = segmenter();
    let mut start = 0;
    let mut words = Vec::new();
    for (end, kind) in segmenter.segment_str(text).iter_with_word_type() {
        if kind.is_word_like() {
            words.push(Word { text: text[start..end].to_owned(), start });
        }
        start = end;
    }
    words
}

/// A text in the form in which texts are compared, and the way back.
#[derive(Debug)]
pub(crate) struct Folded {
    text: String,
    /// Places in the folded text and the places in the original that they come from.
    places: Vec<(usize, usize)>,
    /// Where the original ends.
    end: usize,
}

impl Folded {
    /// The text: compatibility forms, lower case, straight apostrophes, as much as is read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place in the original that a place in the text comes from.
    pub(crate) fn place(&self, place: usize) -> usize {
        let at = self.places.partition_point(|(folded, _)| *folded < place);
        self.places.get(at).map_or(self.end, |(_, original)| *original)
    }
}

/// Folds a text: its beginning, and where that is not all of it, its end.
pub(crate) fn folded(text: &str) -> Folded {
    let mut folded = Folded { text: String::new(), places: Vec::new(), end: text.len() };
    if text.len() <= HEAD_LIMIT + TAIL_LIMIT {
        fold_into(&mut folded, text, 0);
        return folded;
    }
    let head = text.floor_char_boundary(HEAD_LIMIT);
    let tail = text.ceil_char_boundary(text.len() - TAIL_LIMIT);
    fold_into(&mut folded, &text[..head], 0);
    folded.places.push((folded.text.len(), head));
    folded.text.push('\n');
    fold_into(&mut folded, &text[tail..], tail);
    folded
}

/// Folds what composes with each other at once, so that each place has one it comes from.
fn fold_into(folded: &mut Folded, text: &str, offset: usize) {
    let mut group = String::new();
    let mut start = 0;
    for (at, char) in text.char_indices() {
        if !group.is_empty() && !composes(char) {
            push_group(folded, &group, offset + start);
            group.clear();
        }
        if group.is_empty() {
            start = at;
        }
        // A tower of marks is no letter; what is above is left out.
        if group.len() < 32 {
            group.push(char);
        }
    }
    if !group.is_empty() {
        push_group(folded, &group, offset + start);
    }
}

fn push_group(folded: &mut Folded, group: &str, from: usize) {
    folded.places.push((folded.text.len(), from));
    if group.len() == 1 {
        folded.text.push_str(&group.to_ascii_lowercase());
    } else {
        folded.text.extend(group.nfkc().flat_map(char::to_lowercase).map(|char| if char == '’' { '\'' } else { char }));
    }
}

/// Whether a character may become one with what stands before it.
fn composes(char: char) -> bool {
    !char.is_ascii()
        && (is_combining_mark(char)
            || canonical_combining_class(char) != 0
            || matches!(char, '\u{ff9e}' | '\u{ff9f}' | '\u{1160}'..='\u{11ff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let found: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
        assert_eq!(found.join("|"), expect);
    }

    #[test]
    fn scripts_without_blanks_have_words() {
        check("複数のCSVファイルをJSONに変換する", "複数|の|csv|ファイル|を|json|に|変換|する");
        check("把日志转换成表格", "把|日志|转换|成|表格");
        check("แปลงไฟล์เป็นข้อความ", "แปลง|ไฟล์|เป็น|ข้อความ");
        check("checkout is unrepeatable", "checkout|is|unrepeatable");
    }

    #[test]
    fn the_beginning_and_the_end_say_what_a_text_is_about() {
        let long = format!("first {} last", "変換 ".repeat(1 << 18));
        let words = words(&long);
        assert!(words.len() < HEAD_LIMIT);
        assert_eq!((words[0].text.as_str(), words[words.len() - 1].text.as_str()), ("first", "last"));
    }
}
