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

/// The longest part of a line that is shown, in bytes.
const SHOWN: usize = 240;

/// The longest message, in bytes.
const MESSAGE: usize = 500;

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

    /// The line of a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        number(self.starts.partition_point(|start| *start <= at.min(self.source.len())))
    }

    /// A line as it is shown: of a long one, what is around a column.
    pub(crate) fn shown(&self, location: &Location) -> String {
        let text = self.text(location.line);
        if text.len() <= SHOWN {
            return text.to_owned();
        }
        let start = self.starts.get((location.line as usize).saturating_sub(1)).copied().unwrap_or(0);
        let at = location.start.saturating_sub(start).min(text.len());
        let (from, to) = (floor(text, at.saturating_sub(SHOWN / 3)), floor(text, at.saturating_add(SHOWN / 3 * 2)));
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        format!("{before}{}{after}", &text[from..to])
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    fn boundary(&self, at: usize) -> usize {
        floor(self.source, at)
    }

    fn place(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let before = &self.source[self.starts[line - 1]..at];
        let column = before.chars().map(char::len_utf16).sum::<usize>() + 1;
        (number(line), number(column))
    }
}

/// A message, cut where something in it is long.
pub(crate) fn cut(message: String) -> String {
    if message.len() <= MESSAGE {
        return message;
    }
    format!("{}…", &message[..floor(&message, MESSAGE)])
}

/// The start of the character at a byte, or the end of the text.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let source = format!("short\n{}here{}\n", "日".repeat(1_000), "a".repeat(1_000));
        let lines = Lines::of(&source);
        let at = source.find("here").unwrap();
        let shown = lines.shown(&lines.locate(at, at + 4));
        assert!(
            shown.len() < 260 && shown.contains("日here") && shown.starts_with('…') && shown.ends_with('…'),
            "{shown}"
        );
        assert_eq!(lines.shown(&lines.locate(0, 1)), "short");
        assert_eq!((lines.line(0), lines.line(6), lines.line(9_999)), (1, 2, 3));
    }
}
