//! Decoded views of a text, in which encoded secrets are searched for: without escapes, without
//! white space, without quoted-printable encoding, only the hexadecimal digits, or only the decimal
//! numbers.
//!
//! Invariant: each byte of a view records the range of the original text that it was decoded from,
//! so a match in a view is redacted in the original. The cost is linear: each view takes one pass,
//! and there are few of them.

use std::borrow::Cow;

/// The maximum length of an HTML character reference, including `&` and `;`.
const MAX_ENTITY_BYTES: usize = 12;
/// The maximum number of blanks between the `=` and the line break of quoted-printable.
const MAX_TRAILING_BLANKS: usize = 76;
/// HTML character references of characters that occur in secrets and that encoders escape.
const NAMED_ENTITIES: [(&[u8], u8); 24] = [
    (b"amp", b'&'),
    (b"apos", b'\''),
    (b"ast", b'*'),
    (b"colon", b':'),
    (b"comma", b','),
    (b"commat", b'@'),
    (b"dollar", b'$'),
    (b"equals", b'='),
    (b"excl", b'!'),
    (b"gt", b'>'),
    (b"lbrack", b'['),
    (b"lowbar", b'_'),
    (b"lpar", b'('),
    (b"lt", b'<'),
    (b"num", b'#'),
    (b"percnt", b'%'),
    (b"period", b'.'),
    (b"plus", b'+'),
    (b"quest", b'?'),
    (b"quot", b'"'),
    (b"rbrack", b']'),
    (b"rpar", b')'),
    (b"semi", b';'),
    (b"sol", b'/'),
];

/// A decoded view of a text.
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The range of the original text for each byte; `None` for the original text itself.
    source_ranges: Option<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    /// Creates the view of the original text.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), source_ranges: None }
    }

    /// Returns the range of the original text for a range of the view.
    pub(super) fn source_range(&self, start: usize, end: usize) -> (usize, usize) {
        let Some(places) = &self.source_ranges else { return (start, end) };
        let from = places.get(start).map_or(0, |(from, _)| *from);
        let to = end.checked_sub(1).and_then(|last| places.get(last)).map_or(from, |(_, to)| *to);
        (from as usize, to as usize)
    }

    /// Decodes one layer of escapes: percent-encoding, HTML character references, and string
    /// escapes of JSON, JavaScript and Python. Returns `None` if the text has no escape.
    pub(super) fn unescape(&self) -> Option<View<'static>> {
        let is_escape = |byte: &u8| matches!(byte, b'%' | b'&' | b'\\');
        if !self.bytes.iter().any(is_escape) {
            return None;
        }
        let mut next = ViewBuilder::default();
        let (mut at, mut changed) = (0, false);
        while let Some(byte) = self.bytes.get(at) {
            let read = if is_escape(byte) { parse_escape(&self.bytes[at..]) } else { None };
            let length = read.map_or(1, |(_, length)| length);
            let place = self.source_range(at, at + length);
            match read {
                None => next.push(*byte, place),
                Some((read, _)) => {
                    changed = true;
                    match read {
                        Unescaped::Byte(byte) => next.push(byte, place),
                        Unescaped::Char(char) => {
                            let mut utf8 = [0; 4];
                            char.encode_utf8(&mut utf8).bytes().for_each(|byte| next.push(byte, place));
                        }
                    }
                }
            }
            at += length;
        }
        changed.then(|| next.build())
    }

    /// Removes white space. Returns `None` if the text has no white space.
    pub(super) fn without_whitespace(&self) -> Option<View<'static>> {
        self.bytes.iter().any(u8::is_ascii_whitespace).then(|| self.filtered(|byte| !byte.is_ascii_whitespace()))
    }

    /// Keeps the hexadecimal digits, without separators and `0x`. Returns `None` if there is
    /// nothing to remove.
    pub(super) fn hex_digits(&self) -> Option<View<'static>> {
        if !self.bytes.iter().any(|byte| is_separator(*byte) || matches!(byte, b'x' | b'X')) {
            return None;
        }
        let mut next = ViewBuilder::default();
        let mut at = 0;
        while let Some(byte) = self.bytes.get(at) {
            if *byte == b'0' && matches!(self.bytes.get(at + 1), Some(b'x' | b'X')) {
                at += 2;
                continue;
            }
            if !is_separator(*byte) {
                next.push(*byte, self.source_range(at, at + 1));
            }
            at += 1;
        }
        Some(next.build())
    }

    /// Decodes quoted-printable (RFC 2045, section 6.7): soft line breaks and escapes such as
    /// `=3D`. Returns `None` if the text has no such sequence.
    pub(super) fn decode_quoted_printable(&self) -> Option<View<'static>> {
        if !self.bytes.contains(&b'=') {
            return None;
        }
        let mut next = ViewBuilder::default();
        let (mut at, mut changed) = (0, false);
        while let Some(byte) = self.bytes.get(at) {
            let (read, length) = if *byte == b'=' { decode_printable(&self.bytes[at..]) } else { (Some(*byte), 1) };
            changed |= length > 1;
            if let Some(read) = read {
                next.push(read, self.source_range(at, at + length));
            }
            at += length;
        }
        changed.then(|| next.build())
    }

    /// Replaces each run of separators by one comma. Returns `None` if there are no digits.
    pub(super) fn decimal_numbers(&self) -> Option<View<'static>> {
        if !self.bytes.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let mut next = ViewBuilder::default();
        let mut was_between = false;
        for (at, byte) in self.bytes.iter().enumerate() {
            let between = is_separator(*byte);
            if !between {
                next.push(*byte, self.source_range(at, at + 1));
            } else if !was_between {
                next.push(b',', self.source_range(at, at + 1));
            }
            was_between = between;
        }
        Some(next.build())
    }

    fn filtered(&self, keeps: impl Fn(u8) -> bool) -> View<'static> {
        let mut next = ViewBuilder::default();
        for (at, byte) in self.bytes.iter().enumerate().filter(|(_, byte)| keeps(**byte)) {
            next.push(*byte, self.source_range(at, at + 1));
        }
        next.build()
    }
}

/// Returns whether a byte can separate digits or numbers.
fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b":-.,;_'\"|/[]{}()".contains(&byte)
}

/// Decodes the quoted-printable escape at an `=`, and returns its length. A soft line break has no
/// value.
fn decode_printable(text: &[u8]) -> (Option<u8>, usize) {
    let rest = &text[1..];
    if let Some(byte) = parse_digits(rest, 2, 16).and_then(|byte| u8::try_from(byte).ok()) {
        return (Some(byte), 3);
    }
    // Some relays add blanks before the line break.
    let blanks = rest.iter().take(MAX_TRAILING_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match &rest[blanks..] {
        [b'\r', b'\n', ..] => (None, 1 + blanks + 2),
        [b'\r' | b'\n', ..] => (None, 1 + blanks + 1),
        _ => (Some(b'='), 1),
    }
}

/// A view under construction.
#[derive(Default)]
struct ViewBuilder {
    bytes: Vec<u8>,
    source_ranges: Vec<(u32, u32)>,
}

impl ViewBuilder {
    fn push(&mut self, byte: u8, (from, to): (usize, usize)) {
        let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.bytes.push(byte);
        self.source_ranges.push((short(from), short(to)));
    }

    fn build(self) -> View<'static> {
        View { bytes: Cow::Owned(self.bytes), source_ranges: Some(self.source_ranges) }
    }
}

/// The value of an escape.
#[derive(Clone, Copy)]
enum Unescaped {
    Byte(u8),
    Char(char),
}

/// Decodes the escape at the start of a text, and returns its length.
fn parse_escape(text: &[u8]) -> Option<(Unescaped, usize)> {
    match text {
        [b'%', b'u' | b'U', rest @ ..] => {
            parse_utf16_escape(rest).map(|(char, length)| (Unescaped::Char(char), 2 + length))
        }
        [b'%', rest @ ..] => Some((Unescaped::Byte(u8::try_from(parse_digits(rest, 2, 16)?).ok()?), 3)),
        [b'&', b'#', rest @ ..] => parse_numeric_entity(rest).map(|(char, length)| (Unescaped::Char(char), 2 + length)),
        [b'&', rest @ ..] => parse_named_entity(rest).map(|(byte, length)| (Unescaped::Byte(byte), 1 + length)),
        [b'\\', rest @ ..] => parse_backslash_escape(rest).map(|(read, length)| (read, 1 + length)),
        _ => None,
    }
}

/// Parses exactly this many digits.
fn parse_digits(text: &[u8], digits: usize, radix: u32) -> Option<u32> {
    let digits = text.get(..digits).filter(|digits| !digits.is_empty())?;
    digits
        .iter()
        .try_fold(0_u32, |number, digit| number.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?))
}

/// Counts the leading digits, up to `most`.
fn count_digits(text: &[u8], most: usize, radix: u32) -> usize {
    text.iter().take(most).take_while(|digit| char::from(**digit).is_digit(radix)).count()
}

/// Decodes a UTF-16 code unit of four digits, or a surrogate pair with the escape of its second
/// half.
fn parse_utf16_escape(text: &[u8]) -> Option<(char, usize)> {
    let high = parse_digits(text, 4, 16)?;
    if let Some(char) = char::from_u32(high) {
        return Some((char, 4));
    }
    let [b'\\' | b'%', b'u' | b'U', low @ ..] = text.get(4..)? else { return None };
    let units = [u16::try_from(high).ok()?, u16::try_from(parse_digits(low, 4, 16)?).ok()?];
    char::decode_utf16(units).next()?.ok().map(|char| (char, 10))
}

/// Decodes a numeric HTML character reference, after its `&#`.
fn parse_numeric_entity(text: &[u8]) -> Option<(char, usize)> {
    let (start, radix) = if let [b'x' | b'X', ..] = text { (1, 16) } else { (0, 10) };
    let digits = count_digits(&text[start..], MAX_ENTITY_BYTES, radix);
    let char = char::from_u32(parse_digits(&text[start..], digits, radix)?)?;
    let end = start + digits;
    Some((char, end + usize::from(text.get(end) == Some(&b';'))))
}

/// Decodes a named HTML character reference, after its `&`.
fn parse_named_entity(text: &[u8]) -> Option<(u8, usize)> {
    let end = text.iter().take(MAX_ENTITY_BYTES).position(|byte| *byte == b';')?;
    let (_, byte) = NAMED_ENTITIES.iter().find(|(name, _)| text[..end].eq_ignore_ascii_case(name))?;
    Some((*byte, end + 1))
}

/// Decodes an escape of JSON, JavaScript or Python, after its backslash.
fn parse_backslash_escape(text: &[u8]) -> Option<(Unescaped, usize)> {
    let byte = |byte| Some((Unescaped::Byte(byte), 1));
    match text {
        [b'u', b'{', rest @ ..] => {
            let digits = count_digits(rest, 6, 16);
            let char = char::from_u32(parse_digits(rest, digits, 16)?)?;
            (rest.get(digits) == Some(&b'}')).then_some((Unescaped::Char(char), digits + 3))
        }
        [b'u', rest @ ..] => parse_utf16_escape(rest).map(|(char, length)| (Unescaped::Char(char), 1 + length)),
        [b'U', rest @ ..] => Some((Unescaped::Char(char::from_u32(parse_digits(rest, 8, 16)?)?), 9)),
        [b'x', rest @ ..] => Some((Unescaped::Byte(u8::try_from(parse_digits(rest, 2, 16)?).ok()?), 3)),
        [b'0'..=b'7', ..] => {
            let digits = count_digits(text, 3, 8);
            Some((Unescaped::Byte(u8::try_from(parse_digits(text, digits, 8)?).ok()?), digits))
        }
        [b'n', ..] => byte(b'\n'),
        [b'r', ..] => byte(b'\r'),
        [b't', ..] => byte(b'\t'),
        [other @ (b'"' | b'\'' | b'\\' | b'/' | b'`'), ..] => byte(*other),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let read = View::new(text.as_bytes()).unescape();
        let read = read.map_or_else(|| text.as_bytes().to_vec(), |view| view.bytes.into_owned());
        assert_eq!(String::from_utf8_lossy(&read), expect, "{text}");
    }

    #[test]
    fn escapes_are_read() {
        check("%41%c3%B6%u0041%2541", "AöA%41");
        check("&amp;&LT;&#65;&#x41;&#x0041;&#65 &sol;", "&<AAAA /");
        check(r#"\u0041\u{41}\x41\101\"\\\/\U00000041\ud83d\ude00"#, "AAAA\"\\/A😀");
        check(r"\n\r\t", "\n\r\t");
    }

    #[test]
    fn what_is_no_escape_stays() {
        for text in [
            "", "%", "%4", "%4g", "&", "&#", "&#;", "&#x;", "&foo;", "&amp", r"\", r"\u12", r"\x4", r"\q", "a=b&c=d",
            r"\ud83d",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn quoted_printable_is_read() {
        for (text, expect) in
            [("a=3Db=\r\nc=\nd= \t\r\ne", Some("a=bcde")), ("a=b", None), ("a=", None), ("a=3", None), ("a", None)]
        {
            let read = View::new(text.as_bytes()).decode_quoted_printable();
            let read = read.map(|view| String::from_utf8_lossy(&view.bytes).into_owned());
            assert_eq!(read.as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_whatever_stands_between_them() {
        for text in ["65,66,67", "65; 66; 67", "65\n66\r\n67", "65 66\t67", "65|66|67", "65\", \"66\", \"67"] {
            let view = View::new(text.as_bytes()).decimal_numbers().unwrap();
            assert_eq!(String::from_utf8_lossy(&view.bytes), "65,66,67", "{text}");
        }
        let view = View::new(b"a 65 ; 66b").decimal_numbers().unwrap();
        assert_eq!((&*view.bytes, view.source_range(2, 7)), (&b"a,65,66b"[..], (2, 9)));
    }

    #[test]
    fn what_was_read_knows_where_it_stood() {
        let view = View::new(b"a%2541b").unescape().unwrap();
        assert_eq!((&*view.bytes, view.source_range(1, 4)), (&b"a%41b"[..], (1, 6)));
        let view = view.unescape().unwrap();
        assert_eq!((&*view.bytes, view.source_range(1, 2), view.source_range(2, 3)), (&b"aAb"[..], (1, 6), (6, 7)));
        let view = View::new(b"ab \r\ncd").without_whitespace().unwrap();
        assert_eq!((&*view.bytes, view.source_range(1, 3)), (&b"abcd"[..], (1, 6)));
        let view = View::new(b"0x41, 0x42:43").hex_digits().unwrap();
        assert_eq!((&*view.bytes, view.source_range(0, 6)), (&b"414243"[..], (2, 13)));
    }
}
