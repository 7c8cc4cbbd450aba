//! Positions in the author's text.
//!
//! Invariant: lines and columns are counted from 1, columns in UTF-16 units, as in editors and
//! stack traces.

use swc_common::{BytePos, Span};
use toolcell_i18n::Message;

/// A range of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
    /// Start of the range, as a byte offset.
    pub start: usize,
    /// End of the range, as a byte offset.
    pub end: usize,
}

/// The maximum length of a source snippet, in bytes.
const MAX_SNIPPET_BYTES: usize = 240;

/// The maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 500;

/// The byte offset of each line start of a text.
pub(crate) struct LineIndex<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        Self { source, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Returns the location of a byte range, clamped to the text.
    pub(crate) fn locate(&self, start: usize, end: usize) -> Location {
        let (start, end) = (self.floor_to_char(start), self.floor_to_char(end.max(start)));
        let ((line, column), (end_line, end_column)) = (self.line_and_column(start), self.line_and_column(end));
        Location { line, column, end_line, end_column, start, end }
    }

    /// Returns a line without its line break; lines are counted from 1.
    pub(crate) fn text(&self, line: u32) -> &'a str {
        let index = (line as usize).saturating_sub(1);
        let Some(start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.source.len());
        self.source[*start..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns the byte at a position, both counted from 1, the column in UTF-16 units; the end of a line or of the text
    /// beyond them.
    fn byte_at(&self, line: u32, column: u32) -> usize {
        let text = self.text(line);
        let before = (column as usize).saturating_sub(1);
        let mut units = 0;
        let in_line = text.char_indices().find(|(_, char)| {
            units += char.len_utf16();
            units > before
        });
        let start = self.starts.get((line as usize).saturating_sub(1)).copied().unwrap_or(self.source.len());
        start + in_line.map_or(text.len(), |(at, _)| at)
    }

    /// Returns the line of a byte, counted from 1.
    pub(crate) fn line_of_byte(&self, at: usize) -> u32 {
        to_u32(self.starts.partition_point(|start| *start <= at.min(self.source.len())))
    }

    /// Returns the line in which a location starts; of a long line, the part around its column.
    pub(crate) fn snippet(&self, location: &Location) -> String {
        let text = self.text(location.line);
        if text.len() <= MAX_SNIPPET_BYTES {
            return text.to_owned();
        }
        let start = self.starts.get((location.line as usize).saturating_sub(1)).copied().unwrap_or(0);
        let at = location.start.saturating_sub(start).min(text.len());
        let (from, to) = (
            floor_char_boundary(text, at.saturating_sub(MAX_SNIPPET_BYTES / 3)),
            floor_char_boundary(text, at.saturating_add(MAX_SNIPPET_BYTES / 3 * 2)),
        );
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        format!("{before}{}{after}", &text[from..to])
    }

    /// Returns the number of lines.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    fn floor_to_char(&self, at: usize) -> usize {
        floor_char_boundary(self.source, at)
    }

    fn line_and_column(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let before = &self.source[self.starts[line - 1]..at];
        let column = before.chars().map(char::len_utf16).sum::<usize>() + 1;
        (to_u32(line), to_u32(column))
    }
}

/// Returns the line of a source at a position, both counted from 1, the column in UTF-16 units; of a
/// long line, the part around the column. It is empty if there is no such line.
#[must_use]
pub fn source_line(source: &str, line: u32, column: u32) -> String {
    let lines = LineIndex::new(source);
    let start = lines.byte_at(line, column);
    lines.snippet(&Location { line, column, end_line: line, end_column: column, start, end: start })
}

/// Returns the location of the word at a position, both counted from 1, the column in UTF-16 units, and the line that it is
/// in.
pub(crate) fn locate_word(source: &str, line: u32, column: u32) -> (Location, String) {
    let lines = LineIndex::new(source);
    let start = lines.byte_at(line, column);
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    let rest = &source[start..];
    let length = rest.find(|char: char| !is_word(char)).unwrap_or(rest.len());
    let length = if length > 0 { length } else { rest.chars().next().map_or(0, char::len_utf8) };
    let location = lines.locate(start, start + length);
    let snippet = lines.snippet(&location);
    (location, snippet)
}

/// Returns the start and end of a span, as byte offsets.
pub(crate) fn byte_range(span: Span) -> (usize, usize) {
    let at = |position: BytePos| (position.0 as usize).saturating_sub(1);
    (at(span.lo), at(span.hi))
}

/// Returns the offset of the next token, after white space and comments.
pub(crate) fn next_token(source: &str, mut from: usize) -> usize {
    loop {
        let rest = &source[from..];
        if rest.starts_with("//") {
            from += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            from += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            match rest.chars().next() {
                Some(letter) if letter.is_whitespace() || letter == '\u{feff}' => from += letter.len_utf8(),
                _ => return from,
            }
        }
    }
}

/// Truncates a message to [`MAX_MESSAGE_BYTES`] of English, which is shown in each language.
pub(crate) fn truncate_message(message: Message) -> Message {
    let text = message.to_string();
    if text.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    Message::verbatim(format!("{}…", &text[..floor_char_boundary(&text, MAX_MESSAGE_BYTES)]))
}

/// Returns the largest character boundary that is not after a byte offset.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_utf16_units() {
        let lines = LineIndex::new("a\r\n名前 = 😀x\n");
        let at = "a\r\n名前 = 😀".len();
        let place = lines.locate(at, at + 1);
        assert_eq!((place.line, place.column, place.end_column), (2, 8, 9));
        assert_eq!((lines.text(1), lines.text(2), lines.text(9), lines.count()), ("a", "名前 = 😀x", "", 3));
        assert_eq!(lines.locate(999, 0).line, 3);
    }

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let source = format!("short\n{}here{}\n", "日".repeat(1_000), "a".repeat(1_000));
        let lines = LineIndex::new(&source);
        let at = source.find("here").unwrap();
        let shown = lines.snippet(&lines.locate(at, at + 4));
        assert!(
            shown.len() < 260 && shown.contains("日here") && shown.starts_with('…') && shown.ends_with('…'),
            "{shown}"
        );
        assert_eq!(lines.snippet(&lines.locate(0, 1)), "short");
        assert_eq!((lines.line_of_byte(0), lines.line_of_byte(6), lines.line_of_byte(9_999)), (1, 2, 3));
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let cut = |text: String| truncate_message(Message::verbatim(text)).to_string();
        assert_eq!(cut("日".repeat(400)), format!("{}…", "日".repeat(166)));
        assert_eq!(cut("a".repeat(500)), "a".repeat(500));
    }
}
