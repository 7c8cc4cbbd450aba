//! Where something stands in the author's text.
//!
//! Invariant: lines and columns are counted from 1, columns in UTF-16 units, as editors and stack traces count them.

/// A stretch of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column behind the last character.
    pub end_column: u32,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// Where each line of a text begins.
pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(source: &'a str) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        Self { source, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The place of some bytes; what lies outside of the text is moved to its end.
    pub(crate) fn locate(&self, start: usize, end: usize) -> Location {
        let (start, end) = (self.boundary(start), self.boundary(end.max(start)));
        let ((line, column), (end_line, end_column)) = (self.place(start), self.place(end));
        Location { line, column, end_line, end_column, start, end }
    }

    /// A line without its end, counted from 1.
    pub(crate) fn text(&self, line: u32) -> &'a str {
        let index = (line as usize).saturating_sub(1);
        let Some(start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.source.len());
        self.source[*start..end].trim_end_matches(['\n', '\r'])
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.source.len());
        while !self.source.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn place(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let before = &self.source[self.starts[line - 1]..at];
        let column = before.chars().map(char::len_utf16).sum::<usize>() + 1;
        (number(line), number(column))
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_utf16_units() {
        let lines = Lines::of("a\r\n名前 = 😀x\n");
        let at = "a\r\n名前 = 😀".len();
        let place = lines.locate(at, at + 1);
        assert_eq!((place.line, place.column, place.end_column), (2, 8, 9));
        assert_eq!((lines.text(1), lines.text(2), lines.text(9), lines.count()), ("a", "名前 = 😀x", "", 3));
        assert_eq!(lines.locate(999, 0).line, 3);
    }
}
