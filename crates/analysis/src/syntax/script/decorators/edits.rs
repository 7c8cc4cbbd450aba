//! Edits of a source, and the map back to the original columns.

/// Edits of a source; edits at the same offset are applied in insertion order.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    at: usize,
    /// The number of source bytes that the edit removes; they contain no line break.
    removed_bytes: usize,
    text: String,
}

/// An edit that overlaps another one, or that does not fit the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EditConflict {
    /// The byte offset of the edit.
    pub(super) at: usize,
}

impl Edits {
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at, 0, text);
    }

    pub(super) fn replace(&mut self, at: usize, gone: usize, text: impl Into<String>) {
        self.0.push(Edit { at, removed_bytes: gone, text: text.into() });
    }

    /// Inserts text before all other insertions at its offset.
    pub(super) fn insert_first(&mut self, at: usize, text: impl Into<String>) {
        self.0.insert(0, Edit { at, removed_bytes: 0, text: text.into() });
    }

    /// Applies all edits. Returns the text and the map back to the original columns.
    ///
    /// # Errors
    /// Two edits overlap, or one is outside of the source or inside of a character.
    pub(super) fn apply(mut self, source: &str) -> Result<(String, ColumnMap), EditConflict> {
        self.0.sort_by_key(|edit| edit.at);
        let more: usize = self.0.iter().map(|edit| edit.text.len()).sum();
        let mut code = String::with_capacity(source.len() + more);
        let mut shifts = ColumnMap { lines: 1, shifts: Vec::new() };
        let (mut old, mut new) = (0, 0);
        let mut done = 0;
        for edit in self.0 {
            let misplaced = EditConflict { at: edit.at };
            let kept = source.get(done..edit.at).ok_or(misplaced)?;
            code.push_str(kept);
            shifts.advance(kept, &mut old, &mut new);
            let gone = source.get(edit.at..edit.at + edit.removed_bytes).ok_or(misplaced)?;
            let text = edit.text.as_str();
            code.push_str(text);
            let (from, width) = (old, utf16_width(text));
            old += utf16_width(gone);
            shifts.shifts.push(Shift {
                line: shifts.lines,
                new_start: new,
                new_end: new + width,
                old_start: from,
                old_end: old,
            });
            new += width;
            done = edit.at + edit.removed_bytes;
        }
        let rest = &source[done..];
        code.push_str(rest);
        shifts.advance(rest, &mut old, &mut new);
        Ok((code, shifts))
    }
}

fn utf16_width(text: &str) -> u32 {
    text.chars().map(|letter| if u32::from(letter) > 0xffff { 2 } else { 1 }).sum()
}

/// A map from the columns of an edited text to those of the source; lines are the same in both.
#[derive(Debug, Clone)]
pub(crate) struct ColumnMap {
    /// The number of lines of the source; later lines are generated.
    lines: u32,
    shifts: Vec<Shift>,
}

/// An edit's columns in the new and in the old text, counted from 0 in UTF-16 units.
#[derive(Debug, Clone, Copy)]
struct Shift {
    line: u32,
    new_start: u32,
    new_end: u32,
    /// The old columns of the start of the edit, and of the text after it.
    old_start: u32,
    old_end: u32,
}

impl ColumnMap {
    fn advance(&mut self, text: &str, old: &mut u32, new: &mut u32) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let ends = match letter {
                '\r' => letters.peek() != Some(&'\n'),
                '\n' | '\u{2028}' | '\u{2029}' => true,
                _ => false,
            };
            if ends {
                self.lines += 1;
                (*old, *new) = (0, 0);
            } else {
                let width = if u32::from(letter) > 0xffff { 2 } else { 1 };
                *old += width;
                *new += width;
            }
        }
    }

    /// Maps a position back to the source, line and column counted from 1; `None` in generated
    /// lines.
    pub(crate) fn map_back(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        if line > self.lines {
            return None;
        }
        let at = column.saturating_sub(1);
        let before = self.shifts.partition_point(|shift| (shift.line, shift.new_start) <= (line, at));
        match self.shifts[..before].last() {
            Some(shift) if shift.line == line => {
                let column = if at < shift.new_end { shift.old_start } else { shift.old_end + (at - shift.new_end) };
                Some((line, column + 1))
            }
            _ => Some((line, column)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EditConflict, Edits};

    #[test]
    fn edits_that_overlap_are_an_error_and_no_panic() {
        let applied = |edits: &[(usize, usize)]| {
            let mut all = Edits::default();
            for (at, gone) in edits {
                all.replace(*at, *gone, "x");
            }
            all.apply("a日b").map(|(code, _)| code)
        };
        assert_eq!(applied(&[(0, 1), (1, 3)]), Ok("xxb".to_owned()));
        for (edits, at) in
            [(&[(0, 1), (0, 0)], 0), (&[(0, 4), (1, 0)], 1), (&[(2, 0), (4, 0)], 2), (&[(4, 0), (9, 0)], 9)]
        {
            assert_eq!(applied(edits), Err(EditConflict { at }), "{edits:?}");
        }
    }

    #[test]
    fn what_is_inserted_first_stands_before_what_was_inserted_or_replaced_there() {
        let mut edits = Edits::default();
        edits.replace(1, 1, "y");
        edits.insert_first(1, "x");
        assert_eq!(edits.apply("a@b").map(|(code, _)| code), Ok("axyb".to_owned()));
    }
}
