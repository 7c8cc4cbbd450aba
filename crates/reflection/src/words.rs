//! Splits a text of any script into words.
//!
//! Invariant: words are those of Unicode's rules (UAX #29) and, for scripts without spaces, of
//! ICU's dictionaries, so `checkout` does not contain `check`, and `変換する` contains `変換`. The time
//! is proportional to the text, of which a bounded part is read.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::dictionary::segmenter;

/// The part that is read from the beginning of a text, in bytes.
const MAX_HEAD_BYTES: usize = 12 * 1024;
/// The part that is read from the end of a text, in bytes: the request may follow pasted data.
const MAX_TAIL_BYTES: usize = 4 * 1024;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in compatibility form (NFKC) and lower case.
    pub text: String,
    /// Its start in the normalised text, in bytes.
    pub start: usize,
}

/// Splits a text into words, in order and as far as it is read, without white space and
/// punctuation.
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
    let folded = normalize(text);
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

/// A normalised text with a mapping to its original.
#[derive(Debug)]
pub(crate) struct NormalizedText {
    text: String,
    /// Pairs of an offset in the normalised text and its offset in the original.
    offsets: Vec<(usize, usize)>,
    /// The length of the original.
    end: usize,
}

impl NormalizedText {
    /// The normalised text: compatibility forms, lower case, straight apostrophes.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Maps an offset in the normalised text to the original.
    pub(crate) fn original_offset(&self, place: usize) -> usize {
        let at = self.offsets.partition_point(|(folded, _)| *folded < place);
        self.offsets.get(at).map_or(self.end, |(_, original)| *original)
    }
}

/// Normalises a text: its beginning, and its end if it is long.
pub(crate) fn normalize(text: &str) -> NormalizedText {
    let mut folded = NormalizedText { text: String::new(), offsets: Vec::new(), end: text.len() };
    if text.len() <= MAX_HEAD_BYTES + MAX_TAIL_BYTES {
        normalize_into(&mut folded, text, 0);
        return folded;
    }
    let head = text.floor_char_boundary(MAX_HEAD_BYTES);
    let tail = text.ceil_char_boundary(text.len() - MAX_TAIL_BYTES);
    normalize_into(&mut folded, &text[..head], 0);
    folded.offsets.push((folded.text.len(), head));
    folded.text.push('\n');
    normalize_into(&mut folded, &text[tail..], tail);
    folded
}

/// Normalises characters that compose with each other together, so that each offset maps to one
/// original offset.
fn normalize_into(folded: &mut NormalizedText, text: &str, offset: usize) {
    let mut group = String::new();
    let mut start = 0;
    for (at, char) in text.char_indices() {
        if !group.is_empty() && !combines_with_previous(char) {
            push_group(folded, &group, offset + start);
            group.clear();
        }
        if group.is_empty() {
            start = at;
        }
        // A long series of combining marks is not a letter; the rest is dropped.
        if group.len() < 32 {
            group.push(char);
        }
    }
    if !group.is_empty() {
        push_group(folded, &group, offset + start);
    }
}

fn push_group(folded: &mut NormalizedText, group: &str, from: usize) {
    folded.offsets.push((folded.text.len(), from));
    if group.len() == 1 {
        folded.text.push_str(&group.to_ascii_lowercase());
    } else {
        folded.text.extend(group.nfkc().flat_map(char::to_lowercase).map(|char| if char == '’' { '\'' } else { char }));
    }
}

/// Whether a character may compose with the preceding one.
fn combines_with_previous(char: char) -> bool {
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
        assert!(words.len() < MAX_HEAD_BYTES);
        assert_eq!((words[0].text.as_str(), words[words.len() - 1].text.as_str()), ("first", "last"));
    }
}
