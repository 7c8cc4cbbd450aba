//! Takes a text apart into words, whatever its script.
//!
//! Invariant: a word is what Unicode's rules (UAX #29) and, for scripts without blanks, ICU's dictionary say, so that
//! `checkout` has no `check` in it and `変換する` has a `変換`. The time grows with the text, of which a bounded part is read.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
use unicode_normalization::UnicodeNormalization as _;

/// How much of a text is read, in bytes: what it is about is said before that.
const READ_LIMIT: usize = 16 * 1024;

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
    let text = normalised(text);
    let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
    let mut start = 0;
    let mut words = Vec::new();
    for (end, kind) in segmenter.segment_str(&text).iter_with_word_type() {
        if kind.is_word_like() {
            words.push(Word { text: text[start..end].to_owned(), start });
        }
        start = end;
    }
    words
}

/// The form of a text in which words are compared: compatibility forms, lower case, as much as is read.
pub(crate) fn normalised(text: &str) -> String {
    let end = text.floor_char_boundary(READ_LIMIT);
    text[..end].nfkc().flat_map(char::to_lowercase).collect()
}

/// What a text is found by: its words, each once, in order.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    words(text).into_iter().map(|word| word.text).filter(|word| seen.insert(word.clone())).collect()
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
    fn as_much_is_read_as_says_what_a_text_is_about() {
        assert!(words(&"変換 ".repeat(1 << 20)).len() < READ_LIMIT);
    }
}
