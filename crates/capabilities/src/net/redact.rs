//! Values of secrets become placeholders again in what comes back.
//!
//! This is a hedge: it finds what honest servers repeat, in the common encodings and in several layers of them. Who means to can write
//! a value so that nobody recognises it. What is promised is that a value goes to the hosts of its grant alone.
//!
//! Invariant: where pieces begin and end makes no difference. What could be the beginning of a value is held back until it is
//! known to be none, and what two values share is covered with both.

mod pattern;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

use crate::net::secret::Secret;
use pattern::{Pattern, compacted, decimal, hexadecimal, written};
use view::View;

/// How many layers of escapes are read, one after the other.
const LAYERS: usize = 4;
/// How many bytes stand for one byte of a value at most, where it is found in a view: what is longer is found only where no piece ends
/// in it.
const STRETCH: usize = 12;

/// Finds the values of secrets.
pub(super) struct Redactor(Option<Finder>);

struct Finder {
    /// The value as it is written.
    written: Search,
    /// The ways to write it in which white space may stand.
    compacted: Search,
    /// Its hexadecimal digits.
    digits: Search,
    /// Its bytes as decimal numbers.
    decimals: Search,
    placeholders: Vec<String>,
    /// How much is held back.
    held: usize,
}

/// Looks for several texts at once.
struct Search {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

impl Search {
    fn new(patterns: impl IntoIterator<Item = Pattern>) -> Result<Self, BuildError> {
        let patterns: Vec<Pattern> = patterns.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        // Hosts and names of headers come back in lower case, hexadecimal digits in either.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|pattern| &pattern.text))?;
        Ok(Self { automaton, patterns })
    }

    /// Where in the text values stand that are found in a view of it, and of which secret.
    fn spans(&self, view: &View<'_>, spans: &mut Vec<(usize, usize, usize)>) {
        spans.extend(self.automaton.find_overlapping_iter(&*view.bytes).map(|found| {
            let pattern = &self.patterns[found.pattern().as_usize()];
            let end = (found.end() + pattern.after).min(view.bytes.len());
            let (start, end) = view.place(found.start().saturating_sub(pattern.before), end);
            (start, end, pattern.secret)
        }));
    }
}

impl Redactor {
    /// What finds these secrets, by their names and values.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Result<Self, BuildError> {
        let (names, values): (Vec<&str>, Vec<&str>) =
            secrets.into_iter().map(|(name, secret)| (name, secret.value())).unzip();
        let all = |ways: fn(usize, &str) -> Vec<Pattern>| {
            Search::new(values.iter().enumerate().flat_map(|(index, value)| ways(index, value)))
        };
        let Some(longest) = values.iter().map(|value| value.len()).max() else { return Ok(Self(None)) };
        let (written, compacted) = (all(written)?, all(compacted)?);
        let (digits, decimals) = (all(hexadecimal)?, all(decimal)?);
        let pattern = written.patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or_default();
        let held = pattern.max(longest * STRETCH) + 1;
        let placeholders = names.iter().map(|name| format!("{{{{secret:{name}}}}}")).collect();
        Ok(Self(Some(Finder { written, compacted, digits, decimals, placeholders, held })))
    }

    /// Bytes without the values.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.0 else { return bytes.to_vec() };
        let mut held = Held { bytes: bytes.to_vec(), covered: 0 };
        held.release(finder, 0)
    }

    /// Text without the values.
    pub(super) fn text(&self, text: &str) -> String {
        match &self.0 {
            None => text.to_owned(),
            Some(_) => String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned(),
        }
    }

    /// The secrets whose values are in some bytes, by their place among those that are looked for.
    pub(super) fn mentioned(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let Some(finder) = &self.0 else { return BTreeSet::new() };
        finder.spans(bytes).into_iter().map(|(_, _, secret)| secret).collect()
    }
}

/// Redacts what comes in pieces.
pub(super) struct Redaction {
    redactor: Arc<Redactor>,
    held: Held,
}

impl Redaction {
    pub(super) fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Held::default() }
    }

    /// What finds them.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// What is sure, of this piece and those before.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.redactor.0 else { return piece.to_vec() };
        self.held.bytes.extend_from_slice(piece);
        // What is held is looked through again each time: with small pieces, it is done for several at once.
        if self.held.bytes.len() < finder.held + finder.held / 4 {
            return Vec::new();
        }
        self.held.release(finder, finder.held)
    }

    /// The rest.
    pub(super) fn end(&mut self) -> Vec<u8> {
        self.redactor.0.as_ref().map_or_else(Vec::new, |finder| self.held.release(finder, 0))
    }
}

/// What is not sure yet.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// How much at its beginning belongs to a value whose placeholder is out already.
    covered: usize,
}

impl Held {
    /// Lets go of all but the last bytes.
    fn release(&mut self, finder: &Finder, keep: usize) -> Vec<u8> {
        let cut = self.bytes.len().saturating_sub(keep);
        if cut == 0 {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(cut);
        let (mut at, mut covered) = (0, self.covered);
        for (start, end, secret) in finder.spans(&self.bytes) {
            if start >= cut {
                break;
            }
            // Two values that only touch are two.
            if start >= covered {
                out.extend_from_slice(&self.bytes[at.max(covered)..start]);
                out.extend_from_slice(finder.placeholders[secret].as_bytes());
                at = start;
            }
            covered = covered.max(end);
        }
        out.extend_from_slice(&self.bytes[at.max(covered).min(cut)..cut]);
        self.bytes.drain(..cut);
        self.covered = covered.saturating_sub(cut);
        out
    }
}

impl Finder {
    /// Where values stand, and of which secret, in order.
    fn spans(&self, bytes: &[u8]) -> Vec<(usize, usize, usize)> {
        let mut spans = Vec::new();
        let mut view = View::of(bytes);
        self.written.spans(&view, &mut spans);
        if let Some(compact) = view.compact() {
            self.compacted.spans(&compact, &mut spans);
        }
        let mut is_unescaped = false;
        for _ in 0..LAYERS {
            let Some(next) = view.unescaped() else { break };
            self.written.spans(&next, &mut spans);
            (view, is_unescaped) = (next, true);
        }
        if is_unescaped && let Some(compact) = view.compact() {
            self.compacted.spans(&compact, &mut spans);
        }
        if let Some(printable) = view.quoted_printable() {
            self.written.spans(&printable, &mut spans);
        }
        if let Some(decimals) = view.decimals() {
            self.decimals.spans(&decimals, &mut spans);
        }
        if let Some(digits) = view.digits() {
            self.digits.spans(&digits, &mut spans);
        }
        spans.sort_unstable();
        spans
    }
}

#[cfg(test)]
mod tests;
