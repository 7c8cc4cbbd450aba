//! The encodings in which the value of a secret is searched for.

use data_encoding::{BASE32_NOPAD, BASE32HEX_NOPAD, BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

use crate::net::placeholder::json_string_content;

/// Characters that are percent-encoded by common encoders: RFC 3986, `encodeURIComponent`, forms,
/// queries, `encodeURI`, and Python's `quote`.
const ESCAPE_SETS: [&AsciiSet; 7] =
    [NON_ALPHANUMERIC, UNRESERVED, ENCODE_URI_COMPONENT, FORM, QUERY, ENCODE_URI, PYTHON_QUOTE];
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const ENCODE_URI_COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');
const PYTHON_QUOTE: &AsciiSet = &UNRESERVED.remove(b'/');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const ENCODE_URI: &AsciiSet = &CONTROLS
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

/// The minimum size of a value that is searched for in text without white space, in bytes without
/// white space.
const MIN_COMPACTED_BYTES: usize = 16;

/// A byte string to search for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) text: Vec<u8>,
    pub(super) secret: usize,
    /// The number of adjacent bytes before and after the match that also encode a part of the
    /// value.
    pub(super) before: usize,
    pub(super) after: usize,
}

/// Returns the patterns for text as it is.
pub(super) fn literal_patterns(secret: usize, value: &str) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let json = json_string_content(value);
    let ascii =
        json.chars().map(|char| if char.is_ascii() { char.to_string() } else { unicode_escape(char) }).collect();
    let html =
        json.chars().map(|char| if "<>&".contains(char) { unicode_escape(char) } else { char.to_string() }).collect();
    let backwards = value.chars().rev().collect();
    let mut texts = vec![value.to_owned(), value.replace(' ', "+"), backwards];
    texts.extend([json.replace('/', "\\/"), json, ascii, html]);
    for set in ESCAPE_SETS {
        let encoded = percent_encode(bytes, set).to_string();
        texts.extend([encoded.replace("%20", "+"), encoded]);
    }
    texts.push(bytes.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).map(char::from).collect());
    let mut all: Vec<Pattern> = texts.into_iter().map(|text| exact_pattern(secret, text.into_bytes())).collect();
    let (low, high): (Vec<_>, Vec<_>) =
        value.encode_utf16().map(|unit| (unit.to_le_bytes(), unit.to_be_bytes())).unzip();
    all.extend([low, high].map(|units| exact_pattern(secret, units.concat())));
    all.extend(encoded_patterns(secret, value));
    all
}

/// Returns the patterns for text without white space. Short values are searched for only in encoded
/// form, because adjacent words could form them by chance.
pub(super) fn patterns_without_whitespace(secret: usize, value: &str) -> Vec<Pattern> {
    if value.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() < MIN_COMPACTED_BYTES {
        return encoded_patterns(secret, value);
    }
    let mut all = literal_patterns(secret, value);
    for pattern in &mut all {
        pattern.text.retain(|byte| !byte.is_ascii_whitespace());
    }
    all
}

/// Returns the encodings that may be interrupted by white space, also for short values.
fn encoded_patterns(secret: usize, value: &str) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let mut all = hex_patterns(secret, value);
    all.extend(decimal_patterns(secret, value));
    let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for encoding in [BASE64_NOPAD, BASE64URL_NOPAD] {
        for bytes in [bytes, &wide] {
            all.extend((0..3).map(|front| aligned_pattern(secret, bytes, &encoding, front)));
        }
    }
    for encoding in [BASE32_NOPAD, BASE32HEX_NOPAD] {
        all.extend((0..5).map(|front| aligned_pattern(secret, bytes, &encoding, front)));
    }
    all
}

/// Returns the value in hexadecimal.
pub(super) fn hex_patterns(secret: usize, value: &str) -> Vec<Pattern> {
    vec![exact_pattern(secret, HEXLOWER.encode(value.as_bytes()).into_bytes())]
}

/// Returns the bytes of the value as decimal numbers, separated by commas.
pub(super) fn decimal_patterns(secret: usize, value: &str) -> Vec<Pattern> {
    let numbers: Vec<String> = value.bytes().map(|byte| byte.to_string()).collect();
    vec![exact_pattern(secret, numbers.join(",").into_bytes())]
}

fn exact_pattern(secret: usize, text: Vec<u8>) -> Pattern {
    Pattern { text, secret, before: 0, after: 0 }
}

/// Returns the base64 or base32 characters that depend only on the value, if it follows `front`
/// other bytes.
fn aligned_pattern(secret: usize, bytes: &[u8], encoding: &Encoding, front: usize) -> Pattern {
    let padded = [&[0; 4][..front], bytes].concat();
    let text = encoding.encode(&padded).into_bytes();
    let bits = encoding.bit_width();
    // A character on the boundary encodes bits of a neighbouring byte too, so it only partly
    // depends on the value.
    let (skipped, before) = ((8 * front).div_ceil(bits), usize::from(!(8 * front).is_multiple_of(bits)));
    let after = usize::from(!(8 * padded.len()).is_multiple_of(bits));
    Pattern { text: text[skipped..text.len() - after].to_vec(), secret, before, after }
}

fn unicode_escape(char: char) -> String {
    let mut units = [0; 2];
    let units = char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
    units.collect::<Vec<_>>().concat()
}
