//! Values and names as messages show them.
//!
//! Invariant: a message stays a line of bounded length with nothing in it that a terminal would obey, and showing a
//! large value costs no more than showing a small one.

use std::io;

use serde_json::Value;

/// The longest part of a value that is shown, in characters.
const VALUE_LIMIT: usize = 80;
/// The longest part of a name that is shown, in characters.
const NAME_LIMIT: usize = 64;
/// The longest part of a path that is shown, in characters.
const PATH_LIMIT: usize = 200;

/// A value as JSON, cut where it is long.
pub(super) fn value(value: &Value) -> String {
    let mut start = Start(Vec::new());
    // It fails where the rest is cut off.
    let _ = serde_json::to_writer(&mut start, value);
    cut(&String::from_utf8_lossy(&start.0), VALUE_LIMIT)
}

/// A name in backticks, cut where it is long.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", cut(text, NAME_LIMIT))
}

/// Some names, each in backticks.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.map(name);
    let mut shown: Vec<String> = names.by_ref().take(10).collect();
    match names.count() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

/// The name that was meant, if one is near enough.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The time that it takes grows with the product of the lengths.
    if wrong.len() > NAME_LIMIT {
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
    let known = known.filter(|known| known.len() <= NAME_LIMIT).map(|known| (distance(known), known));
    known.filter(|(distance, _)| *distance <= far).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// A place in the parameters, cut where it is long.
pub(super) fn path(path: &str) -> String {
    cut(path, PATH_LIMIT)
}

fn cut(text: &str, limit: usize) -> String {
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

/// Takes the start of a text and then fails.
struct Start(Vec<u8>);

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Every character has at most four bytes.
        let room = (VALUE_LIMIT + 1) * 4 - self.0.len();
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
