//! Edits of a text at byte ranges.
//!
//! Invariant: bytes outside the range of an edit are unchanged.

use std::ops::Range;

/// A replacement of a byte range.
#[derive(Debug)]
pub(super) struct TextEdit {
    range: Range<usize>,
    replacement: String,
}

impl TextEdit {
    pub(super) const fn insert(at: usize, with: String) -> Self {
        Self { range: at..at, replacement: with }
    }

    pub(super) const fn remove(at: Range<usize>) -> Self {
        Self { range: at, replacement: String::new() }
    }

    pub(super) const fn replace(at: Range<usize>, with: String) -> Self {
        Self { range: at, replacement: with }
    }
}

/// Applies the edits. Insertions at the same offset keep their order; overlapping removals remove
/// their union once.
pub(super) fn apply(text: &str, mut splices: Vec<TextEdit>) -> String {
    splices.sort_by_key(|splice| splice.range.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for TextEdit { range: at, replacement: with } in splices {
        result.push_str(text.get(done..at.start).unwrap_or_default());
        result.push_str(&with);
        done = done.max(at.end);
    }
    result.push_str(&text[done..]);
    result
}

/// The line and the column of a byte offset, both from 1; columns count characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut before = at.min(text.len());
    while !text.is_char_boundary(before) {
        before -= 1;
    }
    let before = &text[..before];
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// The line ending of a text: CRLF if its first line ends with it, else LF.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether a text spans more than one line.
pub(super) fn has_newline(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns the text without its final line ending, if it has one.
pub(super) fn strip_final_newline(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
}

/// The offset of the end of the line, without its line ending.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}

/// The offset of the start of the line.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The indentation of the line.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
