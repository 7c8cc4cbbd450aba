//! Labels of texts, alone or in a column.
//!
//! Invariant: columns are aligned in each language: a Chinese or Japanese character takes two
//! columns of a terminal.

use toolcell_i18n::Lang;
use unicode_width::UnicodeWidthStr as _;

/// Returns a text behind a translated label.
pub(crate) fn label(label: &str, text: &str, lang: Lang) -> String {
    format!("{label}{}{text}", lang.colon())
}

/// Returns a label, filled with spaces to a number of columns. A longer label is not truncated.
pub(crate) fn pad(label: &str, columns: usize) -> String {
    format!("{label}{}", " ".repeat(columns.saturating_sub(label.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_each_language_are_filled_to_the_same_width() {
        assert_eq!(["store", "ストア", "存储库"].map(|label| pad(label, 8).width()), [8; 3]);
        assert_eq!(pad("store", 3), "store");
    }
}
