//! The display of values and names in messages.
//!
//! Invariant: a message is one line of bounded length without terminal control sequences, and
//! showing a large value costs no more than showing a small one.

use std::io;

use serde_json::Value;
use toolcell_i18n::{Message, message};

/// The maximum length of a value in characters.
const MAX_VALUE_CHARS: usize = 80;
/// The maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 64;
/// The maximum length of a path in characters.
const MAX_PATH_CHARS: usize = 200;

/// Formats a value as JSON, truncated.
pub(super) fn value(value: &Value) -> String {
    let mut start = PrefixWriter(Vec::new());
    // It fails when the writer is full.
    let _ = serde_json::to_writer(&mut start, value);
    truncate_escaped(&String::from_utf8_lossy(&start.0), MAX_VALUE_CHARS)
}

/// Formats a name in backticks, truncated.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", truncate_escaped(text, MAX_NAME_CHARS))
}

/// Formats a text on one line, truncated.
pub(super) fn text(text: &str) -> String {
    truncate_escaped(text, MAX_NAME_CHARS)
}

/// Formats a list of names, each in backticks, at most ten.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> Message {
    let mut names = names.map(|text| Message::verbatim(name(text)));
    let mut shown: Vec<Message> = names.by_ref().take(10).collect();
    match names.count() {
        0 => {}
        more => shown.push(message!("and {more} more", more)),
    }
    Message::list(shown)
}

/// Returns the most similar known name, if one is similar enough.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The time grows with the product of the lengths.
    if wrong.len() > MAX_NAME_CHARS {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let far = wrong.chars().count() / 3 + 1;
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let abbreviated =
            wrong.len() >= 3 && (known.starts_with(&wrong) || wrong.starts_with(&known) && known.len() >= 3);
        if abbreviated { 1 } else { strsim::damerau_levenshtein(&wrong, &known) }
    };
    let known = known.filter(|known| known.len() <= MAX_NAME_CHARS).map(|known| (distance(known), known));
    known.filter(|(distance, _)| *distance <= far).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Formats a path in the parameters, truncated.
pub(super) fn path(path: &str) -> String {
    truncate_escaped(path, MAX_PATH_CHARS)
}

fn truncate_escaped(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (at, char) in text.chars().enumerate() {
        if at == limit {
            shown.push('…');
            break;
        }
        if char.is_control()
            || matches!(char, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// A writer that keeps the start of a text and then fails.
struct PrefixWriter(Vec<u8>);

impl io::Write for PrefixWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A character has at most four bytes.
        let room = (MAX_VALUE_CHARS + 1) * 4 - self.0.len();
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_cut_and_nothing_reaches_the_terminal() {
        assert_eq!(value(&json!("a")), "\"a\"");
        assert_eq!(value(&json!("日".repeat(1000))), format!("\"{}…", "日".repeat(79)));
        assert_eq!(value(&json!("\u{9b}31m\u{202e}")), "\"\\u{9b}31m\\u{202e}\"");
        assert_eq!(name(&"x".repeat(65)), format!("`{}…`", "x".repeat(64)));
    }

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant() {
        assert_eq!(nearest("nubmers", ["precision", "numbers"].into_iter()), Some("numbers"));
        assert_eq!(nearest("timeoutMs", ["timeout_ms", "url"].into_iter()), Some("timeout_ms"));
        assert_eq!(nearest("int", ["number", "integer"].into_iter()), Some("integer"));
        assert_eq!(nearest("x", ["precision", "numbers"].into_iter()), None);
    }
}
