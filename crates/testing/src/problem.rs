//! What is wrong with a file of tests, and where.
//!
//! Invariant: every problem has a file, a line and a column, and says what to do.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// Where a file begins.
    pub const BEGINNING: Self = Self { line: 1, column: 1 };

    /// The place after a character that stands here.
    const fn after(self, character: char) -> Self {
        match character {
            '\n' => Self { line: self.line.saturating_add(1), column: 1 },
            _ => Self { line: self.line, column: self.column.saturating_add(1) },
        }
    }
}

/// The places of a text. One is marked every now and then, so that none is counted from the beginning: a file can have a
/// hundred thousand tests.
pub(crate) struct Places<'t> {
    text: &'t str,
    marks: Vec<(usize, Place)>,
}

impl<'t> Places<'t> {
    /// How many bytes there are from one mark to the next, at least.
    const STEP: usize = 1024;

    pub(crate) fn of(text: &'t str) -> Self {
        let (mut marks, mut next, mut place) = (Vec::new(), Self::STEP, Place::BEGINNING);
        for (byte, character) in text.char_indices() {
            if byte >= next {
                marks.push((byte, place));
                next = byte + Self::STEP;
            }
            place = place.after(character);
        }
        Self { text, marks }
    }

    /// The place of a byte.
    pub(crate) fn at(&self, byte: usize) -> Place {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let passed = self.marks.partition_point(|(mark, _)| *mark <= byte);
        let (from, place) = self.marks[..passed].last().copied().unwrap_or((0, Place::BEGINNING));
        self.text[from..byte].chars().fold(place, Place::after)
    }
}

/// Why tests cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stable code: `test-invalid` (the file says what no file can say), `test-impossible` (it expects what cannot be),
    /// `tool-missing`, `tool-refused` (the analysis refuses the tool), `budget-model-missing`, `budget-model-mismatch`,
    /// `file-unreadable`.
    pub code: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
        write!(f, "{}:{line}:{column}: {}", self.path.display(), self.message)
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
            assert_eq!(Places::of(text).at(byte), Place { line, column }, "{text:?} {byte}");
        }
    }

    #[test]
    fn a_place_beyond_marks_is_counted_from_the_last_of_them() {
        let text = "é".repeat(3000) + "\n" + &"ab\n".repeat(1000);
        let places = Places::of(&text);
        for (byte, line, column) in [
            (0, 1, 1),
            (2046, 1, 1024),
            (5999, 1, 3000),
            (6000, 1, 3001),
            (6001, 2, 1),
            (9000, 1001, 3),
            (9001, 1002, 1),
        ] {
            assert_eq!(places.at(byte), Place { line, column }, "{byte}");
        }
    }
}
