//! Values of secrets become placeholders again in what comes back.
//!
//! Invariant: where pieces begin and end makes no difference. What could be the beginning of a value is held back until it is
//! known to be none, and what two values share is covered with both.

use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

use crate::net::placeholder::inside_json;
use crate::net::secret::Secrets;

/// What stands for itself in URLs, by those who write them: RFC 3986, `encodeURIComponent`, forms, queries, `encodeURI`.
const ENCODINGS: [&AsciiSet; 6] = [NON_ALPHANUMERIC, UNRESERVED, COMPONENT, FORM, QUERY, WHOLE];
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const WHOLE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// One way in which a value is written.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    text: Vec<u8>,
    secret: usize,
    /// How many bytes in front of it, and after it, have a part of the value in them.
    before: usize,
    after: usize,
}

/// Finds the values of secrets.
pub(super) struct Redactor(Option<Finder>);

struct Finder {
    search: AhoCorasick,
    patterns: Vec<Pattern>,
    placeholders: Vec<String>,
    /// How much is held back.
    held: usize,
}

impl Redactor {
    pub(super) fn new(secrets: &Secrets) -> Result<Self, BuildError> {
        let patterns: BTreeSet<Pattern> =
            secrets.iter().enumerate().flat_map(|(index, (_, secret))| patterns(index, secret.value())).collect();
        let patterns: Vec<Pattern> = patterns.into_iter().collect();
        let Some(longest) = patterns.iter().map(|pattern| pattern.text.len()).max() else { return Ok(Self(None)) };
        // Hosts and names of headers come back in lower case, hexadecimal digits in either.
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|pattern| &pattern.text))?;
        let placeholders = secrets.iter().map(|(grant, _)| format!("{{{{secret:{}}}}}", grant.name)).collect();
        Ok(Self(Some(Finder { search, patterns, placeholders, held: longest + 1 })))
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

    /// The secrets whose values are in some bytes.
    pub(super) fn mentioned(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let Some(finder) = &self.0 else { return BTreeSet::new() };
        finder
            .search
            .find_overlapping_iter(bytes)
            .map(|found| finder.patterns[found.pattern().as_usize()].secret)
            .collect()
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
        let found = self.search.find_overlapping_iter(bytes).map(|found| {
            let pattern = &self.patterns[found.pattern().as_usize()];
            let (start, end) = (found.start().saturating_sub(pattern.before), found.end() + pattern.after);
            (start, end.min(bytes.len()), pattern.secret)
        });
        let mut spans: Vec<_> = found.collect();
        spans.sort_unstable();
        spans
    }
}

/// All ways in which a value is written.
fn patterns(secret: usize, value: &str) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let json = inside_json(value);
    let ascii = json.chars().map(|char| if char.is_ascii() { char.to_string() } else { escaped(char) }).collect();
    let html = json.chars().map(|char| if "<>&".contains(char) { escaped(char) } else { char.to_string() }).collect();
    let mut texts = vec![value.to_owned(), HEXLOWER.encode(bytes), json.replace('/', "\\/"), json, ascii, html];
    for set in ENCODINGS {
        let encoded = percent_encode(bytes, set).to_string();
        texts.extend([encoded.replace("%20", "+"), encoded]);
    }
    texts.push(bytes.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).map(char::from).collect());
    let plain = texts.into_iter().map(|text| Pattern { text: text.into_bytes(), secret, before: 0, after: 0 });
    let base64 = [BASE64_NOPAD, BASE64URL_NOPAD].into_iter();
    let base64 = base64.flat_map(|encoding| (0..3).map(move |front| aligned(secret, bytes, &encoding, front)));
    plain.chain(base64).collect()
}

/// A value in base64 after so many other bytes: the characters that are of it alone.
fn aligned(secret: usize, bytes: &[u8], encoding: &Encoding, front: usize) -> Pattern {
    let padded = [&[0, 0][..front], bytes].concat();
    let text = encoding.encode(&padded).into_bytes();
    // Three bytes are four characters. One with bits of two bytes in it is of the value in part.
    let (skipped, before) = [(0, 0), (2, 1), (3, 1)][front];
    let after = usize::from(!padded.len().is_multiple_of(3));
    Pattern { text: text[skipped..text.len() - after].to_vec(), secret, before, after }
}

fn escaped(char: char) -> String {
    let mut units = [0; 2];
    let units = char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
    units.collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests;
