//! Redaction of secrets: values in responses are replaced by their placeholders.
//!
//! This is a safety net. It recognizes values that honest servers echo, in the common encodings and
//! in several layers of them. A malicious server can encode a value so that it is not recognized.
//! The guarantee is that a value is sent only to the hosts of its grant.
//!
//! Invariant: the result does not depend on chunk boundaries. Bytes that may begin a value are held
//! back until this is decided. Where two values overlap, both are covered.

mod pattern;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

use crate::net::secret::Secret;
use pattern::{Pattern, decimal_patterns, hex_patterns, literal_patterns, patterns_without_whitespace};
use view::View;

/// The maximum number of nested escape layers that are decoded.
const MAX_ESCAPE_LAYERS: usize = 4;
/// The maximum number of encoded bytes per byte of a value that are held back for matches in a
/// view. A longer encoding is recognized only if no chunk ends inside of it.
const MAX_EXPANSION: usize = 12;

/// Replaces secrets in texts by their placeholders, in the common encodings too.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Redactor, Secret};
///
/// let secret = Secret::parse("correct horse battery".to_owned())?;
/// let redactor = Redactor::for_secrets([("KEY", &secret)])?;
/// assert_eq!(redactor.redact_text("it is Y29ycmVjdCBob3JzZSBiYXR0ZXJ5."), "it is {{secret:KEY}}.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Redactor(Option<Finder>);

/// The error for secrets that are too many, or too long, to be searched for together.
#[derive(Debug, thiserror::Error)]
#[error("the secrets cannot be searched for")]
pub struct RedactorError(#[from] BuildError);

struct Finder {
    /// The values in their literal encodings.
    literal: PatternSet,
    /// The encodings that may be interrupted by white space.
    without_whitespace: PatternSet,
    /// The values in hexadecimal.
    digits: PatternSet,
    /// The bytes of the values as decimal numbers.
    decimals: PatternSet,
    placeholders: Vec<String>,
    /// The number of bytes to hold back while streaming.
    holdback_bytes: usize,
}

/// A multi-pattern search.
struct PatternSet {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

impl PatternSet {
    fn new(patterns: impl IntoIterator<Item = Pattern>) -> Result<Self, BuildError> {
        let patterns: Vec<Pattern> = patterns.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        // Hosts and header names are returned in lower case, hexadecimal digits in either case.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|pattern| &pattern.text))?;
        Ok(Self { automaton, patterns })
    }

    /// Adds the spans of all matches in a view: start and end in the original text, and the index
    /// of the secret.
    fn spans(&self, view: &View<'_>, spans: &mut Vec<(usize, usize, usize)>) {
        spans.extend(self.automaton.find_overlapping_iter(&*view.bytes).map(|found| {
            let pattern = &self.patterns[found.pattern().as_usize()];
            let end = (found.end() + pattern.after).min(view.bytes.len());
            let (start, end) = view.source_range(found.start().saturating_sub(pattern.before), end);
            (start, end, pattern.secret)
        }));
    }
}

impl Redactor {
    /// Creates a redactor for these secrets, given by name and value.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Result<Self, BuildError> {
        let (names, values): (Vec<&str>, Vec<&str>) =
            secrets.into_iter().map(|(name, secret)| (name, secret.value())).unzip();
        let all = |ways: fn(usize, &str) -> Vec<Pattern>| {
            PatternSet::new(values.iter().enumerate().flat_map(|(index, value)| ways(index, value)))
        };
        let Some(longest) = values.iter().map(|value| value.len()).max() else { return Ok(Self(None)) };
        let (written, compacted) = (all(literal_patterns)?, all(patterns_without_whitespace)?);
        let (digits, decimals) = (all(hex_patterns)?, all(decimal_patterns)?);
        let pattern = written.patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or_default();
        let held = pattern.max(longest * MAX_EXPANSION) + 1;
        let placeholders = names.iter().map(|name| format!("{{{{secret:{name}}}}}")).collect();
        Ok(Self(Some(Finder {
            literal: written,
            without_whitespace: compacted,
            digits,
            decimals,
            placeholders,
            holdback_bytes: held,
        })))
    }

    /// Redacts a complete byte string.
    pub(super) fn redact_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.0 else { return bytes.to_vec() };
        let mut held = Buffered { bytes: bytes.to_vec(), covered: 0 };
        held.release(finder, 0)
    }

    /// Creates a redactor for these secrets, given by name and value.
    ///
    /// # Errors
    /// The secrets are too many, or too long.
    pub fn for_secrets<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Result<Self, RedactorError> {
        Ok(Self::new(secrets)?)
    }

    /// Whether there is nothing to redact.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether bytes contain one of the values.
    #[must_use]
    pub fn finds_any(&self, bytes: &[u8]) -> bool {
        !self.secrets_in(bytes).is_empty()
    }

    /// Redacts a complete text.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> String {
        match &self.0 {
            None => text.to_owned(),
            Some(_) => String::from_utf8_lossy(&self.redact_bytes(text.as_bytes())).into_owned(),
        }
    }

    /// Returns the indices of the secrets whose values occur in the bytes.
    pub(super) fn secrets_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let Some(finder) = &self.0 else { return BTreeSet::new() };
        finder.spans(bytes).into_iter().map(|(_, _, secret)| secret).collect()
    }
}

/// A redactor for data that arrives in chunks.
pub(super) struct StreamRedactor {
    redactor: Arc<Redactor>,
    buffered: Buffered,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, buffered: Buffered::default() }
    }

    /// Returns the underlying redactor.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Adds a chunk, and returns the redacted bytes that are final by now.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.redactor.0 else { return piece.to_vec() };
        self.buffered.bytes.extend_from_slice(piece);
        // The buffer is searched again each time, so small chunks are collected first.
        if self.buffered.bytes.len() < finder.holdback_bytes + finder.holdback_bytes / 4 {
            return Vec::new();
        }
        self.buffered.release(finder, finder.holdback_bytes)
    }

    /// Returns the redacted rest of the stream.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.redactor.0.as_ref().map_or_else(Vec::new, |finder| self.buffered.release(finder, 0))
    }
}

/// The bytes that are not final yet.
#[derive(Default)]
struct Buffered {
    bytes: Vec<u8>,
    /// The number of leading bytes that belong to a value whose placeholder was already emitted.
    covered: usize,
}

impl Buffered {
    /// Emits all but the last `keep` bytes, redacted.
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
            // Adjacent values are separate matches; only overlapping ones merge.
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
    /// Returns the spans of all values, sorted: start, end, and index of the secret.
    fn spans(&self, bytes: &[u8]) -> Vec<(usize, usize, usize)> {
        let mut spans = Vec::new();
        let mut view = View::new(bytes);
        self.literal.spans(&view, &mut spans);
        if let Some(compact) = view.without_whitespace() {
            self.without_whitespace.spans(&compact, &mut spans);
        }
        let mut is_unescaped = false;
        for _ in 0..MAX_ESCAPE_LAYERS {
            let Some(next) = view.unescape() else { break };
            self.literal.spans(&next, &mut spans);
            (view, is_unescaped) = (next, true);
        }
        if is_unescaped && let Some(compact) = view.without_whitespace() {
            self.without_whitespace.spans(&compact, &mut spans);
        }
        if let Some(printable) = view.decode_quoted_printable() {
            self.literal.spans(&printable, &mut spans);
        }
        if let Some(decimals) = view.decimal_numbers() {
            self.decimals.spans(&decimals, &mut spans);
        }
        if let Some(digits) = view.hex_digits() {
            self.digits.spans(&digits, &mut spans);
        }
        spans.sort_unstable();
        spans
    }
}

#[cfg(test)]
mod tests;
