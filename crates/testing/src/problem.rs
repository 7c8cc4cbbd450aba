//! Problems in test files, with their positions.
//!
//! Invariant: every problem has a file, a line, a column, and a hint.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use toolcell_i18n::{Localize, Message};

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FilePosition {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

impl FilePosition {
    /// The start of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Returns the position after a character at this position.
    const fn next(self, character: char) -> Self {
        match character {
            '\n' => Self { line: self.line.saturating_add(1), column: 1 },
            _ => Self { line: self.line, column: self.column.saturating_add(1) },
        }
    }
}

/// An index of positions in a text. It marks a position at regular intervals, so that lookups need
/// not count from the start: a file may have a hundred thousand tests.
pub(crate) struct PositionIndex<'t> {
    text: &'t str,
    marks: Vec<(usize, FilePosition)>,
}

impl<'t> PositionIndex<'t> {
    /// The minimum distance between marks, in bytes.
    const MARK_INTERVAL: usize = 1024;

    pub(crate) fn new(text: &'t str) -> Self {
        let (mut marks, mut next, mut place) = (Vec::new(), Self::MARK_INTERVAL, FilePosition::START);
        for (byte, character) in text.char_indices() {
            if byte >= next {
                marks.push((byte, place));
                next = byte + Self::MARK_INTERVAL;
            }
            place = place.next(character);
        }
        Self { text, marks }
    }

    /// Returns the position of a byte offset.
    pub(crate) fn position(&self, byte: usize) -> FilePosition {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let passed = self.marks.partition_point(|(mark, _)| *mark <= byte);
        let (from, place) = self.marks[..passed].last().copied().unwrap_or((0, FilePosition::START));
        self.text[from..byte].chars().fold(place, FilePosition::next)
    }
}

/// A problem that prevents tests from running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteProblem {
    /// The stable code: `test-invalid` (the file is malformed), `test-impossible` (an expectation
    /// cannot be met), `tool-missing`, `tool-refused` (the analysis refuses the tool),
    /// `budget-model-missing`, `budget-model-mismatch`, `file-unreadable`.
    pub code: &'static str,
    /// The test file.
    pub path: Box<Path>,
    /// The position in the file.
    #[serde(flatten)]
    pub place: FilePosition,
    /// The problem, in words.
    pub message: Message,
    /// The next step for the author.
    pub hint: Message,
}

impl Localize for SuiteProblem {
    fn localize(&self) -> Message {
        let FilePosition { line, column } = self.place;
        let place = format!("{}:{line}:{column}: ", self.path.display());
        Message::sequence([Message::verbatim(place), self.message.clone()])
    }
}

impl fmt::Display for SuiteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.localize().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters() {
        for (text, byte, line, column) in
            [("", 0, 1, 1), ("ab", 2, 1, 3), ("a\nb", 2, 2, 1), ("é=1", 2, 1, 2), ("é", 1, 1, 1), ("a", 9, 1, 2)]
        {
            assert_eq!(PositionIndex::new(text).position(byte), FilePosition { line, column }, "{text:?} {byte}");
        }
    }

    #[test]
    fn a_place_beyond_marks_is_counted_from_the_last_of_them() {
        let text = "é".repeat(3000) + "\n" + &"ab\n".repeat(1000);
        let places = PositionIndex::new(&text);
        for (byte, line, column) in [
            (0, 1, 1),
            (2046, 1, 1024),
            (5999, 1, 3000),
            (6000, 1, 3001),
            (6001, 2, 1),
            (9000, 1001, 3),
            (9001, 1002, 1),
        ] {
            assert_eq!(places.position(byte), FilePosition { line, column }, "{byte}");
        }
    }
}
