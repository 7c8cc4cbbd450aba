//! Text that is put into a source, and the way back.

/// What is put into a source, in the order in which it is to stand where several are at one place.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    at: usize,
    /// How many bytes of the source go; none of them ends a line.
    gone: usize,
    text: String,
}

/// An edit that does not fit the others, or the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misplaced {
    /// Where it was to be, in bytes.
    pub(super) at: usize,
}

impl Edits {
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at, 0, text);
    }

    pub(super) fn replace(&mut self, at: usize, gone: usize, text: impl Into<String>) {
        self.0.push(Edit { at, gone, text: text.into() });
    }

    /// Inserts before all else that is inserted at its place.
    pub(super) fn insert_first(&mut self, at: usize, text: impl Into<String>) {
        self.0.insert(0, Edit { at, gone: 0, text: text.into() });
    }

    /// The text with all edits, and where it stood before.
    ///
    /// # Errors
    /// Two edits overlap, or one is outside of the source or within a character.
    pub(super) fn apply(mut self, source: &str) -> Result<(String, Shifts), Misplaced> {
        self.0.sort_by_key(|edit| edit.at);
        let more: usize = self.0.iter().map(|edit| edit.text.len()).sum();
        let mut code = String::with_capacity(source.len() + more);
        let mut shifts = Shifts { lines: 1, shifts: Vec::new() };
        let (mut old, mut new) = (0, 0);
        let mut done = 0;
        for edit in self.0 {
            let misplaced = Misplaced { at: edit.at };
            let kept = source.get(done..edit.at).ok_or(misplaced)?;
            code.push_str(kept);
            shifts.pass(kept, &mut old, &mut new);
            let gone = source.get(edit.at..edit.at + edit.gone).ok_or(misplaced)?;
            let text = edit.text.as_str();
            code.push_str(text);
            let (from, width) = (old, columns(text));
            old += columns(gone);
            shifts.shifts.push(Shift { line: shifts.lines, from: new, to: new + width, old: from, then: old });
            new += width;
            done = edit.at + edit.gone;
        }
        let rest = &source[done..];
        code.push_str(rest);
        shifts.pass(rest, &mut old, &mut new);
        Ok((code, shifts))
    }
}

fn columns(text: &str) -> u32 {
    text.chars().map(|letter| if u32::from(letter) > 0xffff { 2 } else { 1 }).sum()
}

/// Where text stood before other text was put in between: columns moved, lines did not.
#[derive(Debug, Clone)]
pub(crate) struct Shifts {
    /// How many lines the source has; what is below is not the author's.
    lines: u32,
    shifts: Vec<Shift>,
}

/// Text that was put in, and what it moved. Columns are counted from 0 in UTF-16 units.
#[derive(Debug, Clone, Copy)]
struct Shift {
    line: u32,
    from: u32,
    to: u32,
    /// The column before, of the beginning and of what is behind.
    old: u32,
    then: u32,
}

impl Shifts {
    fn pass(&mut self, text: &str, old: &mut u32, new: &mut u32) {
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

    /// The place before, line and column counted from 1; nothing where there was none.
    pub(crate) fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        if line > self.lines {
            return None;
        }
        let at = column.saturating_sub(1);
        let before = self.shifts.partition_point(|shift| (shift.line, shift.from) <= (line, at));
        match self.shifts[..before].last() {
            Some(shift) if shift.line == line => {
                let column = if at < shift.to { shift.old } else { shift.then + (at - shift.to) };
                Some((line, column + 1))
            }
            _ => Some((line, column)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Edits, Misplaced};

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
            assert_eq!(applied(edits), Err(Misplaced { at }), "{edits:?}");
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
