//! Changing a text at places.
//!
//! Invariant: what is not between the ends of a splice stays byte for byte.

use std::ops::Range;

/// What is put in the place of a part of a text.
#[derive(Debug)]
pub(super) struct Splice {
    at: Range<usize>,
    with: String,
}

impl Splice {
    pub(super) const fn insert(at: usize, with: String) -> Self {
        Self { at: at..at, with }
    }

    pub(super) const fn remove(at: Range<usize>) -> Self {
        Self { at, with: String::new() }
    }

    pub(super) const fn replace(at: Range<usize>, with: String) -> Self {
        Self { at, with }
    }
}

/// The text with all of them done; of two at one place, the first comes first. What two of them take away goes once.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.at.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for Splice { at, with } in splices {
        result.push_str(text.get(done..at.start).unwrap_or_default());
        result.push_str(&with);
        done = done.max(at.end);
    }
    result.push_str(&text[done..]);
    result
}

/// The line and the column of a place, from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let mut before = at.min(text.len());
    while !text.is_char_boundary(before) {
        before -= 1;
    }
    let before = &text[..before];
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// How the lines of a text end.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether a part of a text is on more than one line.
pub(super) fn has_newline(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// A text without the end of its last line, where that has one.
pub(super) fn without_newline(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
}

/// Where the line ends that a place is in, without what ends it.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}

/// Where the line begins that a place is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// What the line that a place is in begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
