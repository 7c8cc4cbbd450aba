//! The language of a task, and translated texts.

use crate::tokenized::JAPANESE_LETTERS;

/// A language of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskLanguage {
    En,
    Ja,
    Zh,
    Th,
}

/// A text in English, Japanese and Chinese. For Thai tasks the English one is used.
pub(crate) type Translations = [&'static str; 3];
/// A text in English, Japanese, Chinese and Thai.
pub(crate) type TranslationsWithThai = [&'static str; 4];

impl TaskLanguage {
    /// Detects the language by its letters: kana, else Thai, else Han, else English.
    pub(crate) fn detect(text: &str) -> Self {
        let has = |range: std::ops::RangeInclusive<char>| text.chars().any(|letter| range.contains(&letter));
        if has('\u{3041}'..='\u{30ff}') || text.chars().any(|letter| JAPANESE_LETTERS.contains(letter)) {
            Self::Ja
        } else if has('\u{e00}'..='\u{e7f}') {
            Self::Th
        } else if has('\u{3400}'..='\u{9fff}') {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// Selects the text in this language.
    pub(crate) const fn pick(self, text: Translations) -> &'static str {
        match self {
            Self::En | Self::Th => text[0],
            Self::Ja => text[1],
            Self::Zh => text[2],
        }
    }

    /// Selects the text in this language.
    pub(crate) const fn pick_with_thai(self, text: TranslationsWithThai) -> &'static str {
        text[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_letters() {
        let check = |text: &str, expect: TaskLanguage| assert_eq!(TaskLanguage::detect(text), expect, "{text}");
        check("Convert CSV", TaskLanguage::En);
        check("CSV変換", TaskLanguage::Ja);
        check("把CSV转换成JSON", TaskLanguage::Zh);
        check("แปลง CSV", TaskLanguage::Th);
        check("", TaskLanguage::En);
    }
}
