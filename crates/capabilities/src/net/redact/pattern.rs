//! The ways in which a value is written.

use data_encoding::{BASE32_NOPAD, BASE32HEX_NOPAD, BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

use crate::net::placeholder::inside_json;

/// What stands for itself in URLs, by those who write them: RFC 3986, `encodeURIComponent`, forms, queries, `encodeURI`, `quote` of
/// Python.
const ENCODINGS: [&AsciiSet; 7] = [NON_ALPHANUMERIC, UNRESERVED, COMPONENT, FORM, QUERY, WHOLE, QUOTE];
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');
const QUOTE: &AsciiSet = &UNRESERVED.remove(b'/');
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

/// The fewest bytes, without white space, of a value that is looked for across white space.
const MIN_COMPACTED_BYTES: usize = 16;

/// One way in which a value is written.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) text: Vec<u8>,
    pub(super) secret: usize,
    /// How many bytes in front of it, and after it, have a part of the value in them.
    pub(super) before: usize,
    pub(super) after: usize,
}

/// The ways in which a value is written as it stands.
pub(super) fn written(secret: usize, value: &str) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let json = inside_json(value);
    let ascii = json.chars().map(|char| if char.is_ascii() { char.to_string() } else { escaped(char) }).collect();
    let html = json.chars().map(|char| if "<>&".contains(char) { escaped(char) } else { char.to_string() }).collect();
    let backwards = value.chars().rev().collect();
    let mut texts = vec![value.to_owned(), value.replace(' ', "+"), backwards];
    texts.extend([json.replace('/', "\\/"), json, ascii, html]);
    for set in ENCODINGS {
        let encoded = percent_encode(bytes, set).to_string();
        texts.extend([encoded.replace("%20", "+"), encoded]);
    }
    texts.push(bytes.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).map(char::from).collect());
    let mut all: Vec<Pattern> = texts.into_iter().map(|text| whole(secret, text.into_bytes())).collect();
    let (low, high): (Vec<_>, Vec<_>) =
        value.encode_utf16().map(|unit| (unit.to_le_bytes(), unit.to_be_bytes())).unzip();
    all.extend([low, high].map(|units| whole(secret, units.concat())));
    all.extend(packed(secret, value));
    all
}

/// The ways in which a value is written that are looked for in text without its white space. A short value could stand there by
/// chance, where words that are next to each other become one.
pub(super) fn compacted(secret: usize, value: &str) -> Vec<Pattern> {
    if value.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() < MIN_COMPACTED_BYTES {
        return packed(secret, value);
    }
    let mut all = written(secret, value);
    for pattern in &mut all {
        pattern.text.retain(|byte| !byte.is_ascii_whitespace());
    }
    all
}

/// Those in which white space may stand anywhere, however short the value is.
fn packed(secret: usize, value: &str) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let mut all = hexadecimal(secret, value);
    all.extend(decimal(secret, value));
    let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for encoding in [BASE64_NOPAD, BASE64URL_NOPAD] {
        for bytes in [bytes, &wide] {
            all.extend((0..3).map(|front| aligned(secret, bytes, &encoding, front)));
        }
    }
    for encoding in [BASE32_NOPAD, BASE32HEX_NOPAD] {
        all.extend((0..5).map(|front| aligned(secret, bytes, &encoding, front)));
    }
    all
}

/// The value in hexadecimal digits.
pub(super) fn hexadecimal(secret: usize, value: &str) -> Vec<Pattern> {
    vec![whole(secret, HEXLOWER.encode(value.as_bytes()).into_bytes())]
}

/// The bytes of the value as decimal numbers, with a comma between any two.
pub(super) fn decimal(secret: usize, value: &str) -> Vec<Pattern> {
    let numbers: Vec<String> = value.bytes().map(|byte| byte.to_string()).collect();
    vec![whole(secret, numbers.join(",").into_bytes())]
}

fn whole(secret: usize, text: Vec<u8>) -> Pattern {
    Pattern { text, secret, before: 0, after: 0 }
}

/// A value in base64 or base32 after so many other bytes: the characters that are of it alone.
fn aligned(secret: usize, bytes: &[u8], encoding: &Encoding, front: usize) -> Pattern {
    let padded = [&[0; 4][..front], bytes].concat();
    let text = encoding.encode(&padded).into_bytes();
    let bits = encoding.bit_width();
    // A character with bits of two bytes in it is of the value in part.
    let (skipped, before) = ((8 * front).div_ceil(bits), usize::from(!(8 * front).is_multiple_of(bits)));
    let after = usize::from(!(8 * padded.len()).is_multiple_of(bits));
    Pattern { text: text[skipped..text.len() - after].to_vec(), secret, before, after }
}

fn escaped(char: char) -> String {
    let mut units = [0; 2];
    let units = char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
    units.collect::<Vec<_>>().concat()
}
