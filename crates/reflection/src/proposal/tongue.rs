//! The language of a task, and texts in it.

use crate::reading::JAPANESE_LETTERS;

/// A language that tasks are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    En,
    Ja,
    Zh,
    Th,
}

/// The same in English, Japanese and Chinese. Who writes Thai gets English, except in [`Spoken`].
pub(super) type Text = [&'static str; 3];
/// The same in English, Japanese, Chinese and Thai.
pub(super) type Spoken = [&'static str; 4];

impl Tongue {
    /// The language of a text, by its letters: kana, else Thai letters, else Han letters, else English.
    pub(super) fn of(text: &str) -> Self {
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

    /// What a text is in this language.
    pub(super) const fn text(self, text: Text) -> &'static str {
        match self {
            Self::En | Self::Th => text[0],
            Self::Ja => text[1],
            Self::Zh => text[2],
        }
    }

    /// What a text is in this language.
    pub(super) const fn spoken(self, text: Spoken) -> &'static str {
        text[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_letters() {
        let check = |text: &str, expect: Tongue| assert_eq!(Tongue::of(text), expect, "{text}");
        check("Convert CSV", Tongue::En);
        check("CSV変換", Tongue::Ja);
        check("把CSV转换成JSON", Tongue::Zh);
        check("แปลง CSV", Tongue::Th);
        check("", Tongue::En);
    }
}
