//! Other readings of some text: without escapes, without white space, without what quoted-printable adds, its hexadecimal digits
//! alone, its decimal numbers alone.
//!
//! Invariant: each byte of a view knows the bytes of the text that it was read from, so that what is found in a view is covered in the
//! text. The work is linear in the text: a view is made in one pass, and there are few of them.

use std::borrow::Cow;

/// The longest reference to a character in HTML that is read, with its `&` and its `;`.
const ENTITY: usize = 12;
/// The most blanks between the `=` and the line break of quoted-printable.
const MAX_TRAILING_BLANKS: usize = 76;
/// Names of characters in HTML that stand in secrets, and that somebody escapes.
const NAMED: [(&[u8], u8); 24] = [
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

/// A reading of some text.
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// For each byte where what it was read from begins and ends. Nothing for the text itself.
    places: Option<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    /// The text as it is.
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), places: None }
    }

    /// Where in the text a part of the view was read from.
    pub(super) fn place(&self, start: usize, end: usize) -> (usize, usize) {
        let Some(places) = &self.places else { return (start, end) };
        let from = places.get(start).map_or(0, |(from, _)| *from);
        let to = end.checked_sub(1).and_then(|last| places.get(last)).map_or(from, |(_, to)| *to);
        (from as usize, to as usize)
    }

    /// The same with one layer of escapes read: those of URLs, of HTML, and of strings in JSON, JavaScript and Python. Nothing where
    /// there are none.
    pub(super) fn unescaped(&self) -> Option<View<'static>> {
        let is_escape = |byte: &u8| matches!(byte, b'%' | b'&' | b'\\');
        if !self.bytes.iter().any(is_escape) {
            return None;
        }
        let mut next = Building::default();
        let (mut at, mut changed) = (0, false);
        while let Some(byte) = self.bytes.get(at) {
            let read = if is_escape(byte) { escape(&self.bytes[at..]) } else { None };
            let length = read.map_or(1, |(_, length)| length);
            let place = self.place(at, at + length);
            match read {
                None => next.push(*byte, place),
                Some((read, _)) => {
                    changed = true;
                    match read {
                        Read::Byte(byte) => next.push(byte, place),
                        Read::Char(char) => {
                            let mut utf8 = [0; 4];
                            char.encode_utf8(&mut utf8).bytes().for_each(|byte| next.push(byte, place));
                        }
                    }
                }
            }
            at += length;
        }
        changed.then(|| next.done())
    }

    /// The same without white space. Nothing where there is none.
    pub(super) fn compact(&self) -> Option<View<'static>> {
        self.bytes.iter().any(u8::is_ascii_whitespace).then(|| self.only(|byte| !byte.is_ascii_whitespace()))
    }

    /// The hexadecimal digits, without what stands between them and without `0x`. Nothing where nothing stands between any.
    pub(super) fn digits(&self) -> Option<View<'static>> {
        if !self.bytes.iter().any(|byte| is_between(*byte) || matches!(byte, b'x' | b'X')) {
            return None;
        }
        let mut next = Building::default();
        let mut at = 0;
        while let Some(byte) = self.bytes.get(at) {
            if *byte == b'0' && matches!(self.bytes.get(at + 1), Some(b'x' | b'X')) {
                at += 2;
                continue;
            }
            if !is_between(*byte) {
                next.push(*byte, self.place(at, at + 1));
            }
            at += 1;
        }
        Some(next.done())
    }

    /// The same with quoted-printable read (RFC 2045, 6.7): without soft line breaks, and with bytes for `=3D`. Nothing where there is
    /// neither.
    pub(super) fn quoted_printable(&self) -> Option<View<'static>> {
        if !self.bytes.contains(&b'=') {
            return None;
        }
        let mut next = Building::default();
        let (mut at, mut changed) = (0, false);
        while let Some(byte) = self.bytes.get(at) {
            let (read, length) = if *byte == b'=' { printable(&self.bytes[at..]) } else { (Some(*byte), 1) };
            changed |= length > 1;
            if let Some(read) = read {
                next.push(read, self.place(at, at + length));
            }
            at += length;
        }
        changed.then(|| next.done())
    }

    /// The same with one comma for whatever stands between two numbers. Nothing where there are no numbers.
    pub(super) fn decimals(&self) -> Option<View<'static>> {
        if !self.bytes.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let mut next = Building::default();
        let mut was_between = false;
        for (at, byte) in self.bytes.iter().enumerate() {
            let between = is_between(*byte);
            if !between {
                next.push(*byte, self.place(at, at + 1));
            } else if !was_between {
                next.push(b',', self.place(at, at + 1));
            }
            was_between = between;
        }
        Some(next.done())
    }

    fn only(&self, keeps: impl Fn(u8) -> bool) -> View<'static> {
        let mut next = Building::default();
        for (at, byte) in self.bytes.iter().enumerate().filter(|(_, byte)| keeps(**byte)) {
            next.push(*byte, self.place(at, at + 1));
        }
        next.done()
    }
}

/// Whether a byte separates digits or numbers.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b":-.,;_'\"|/[]{}()".contains(&byte)
}

/// What stands for what quoted-printable begins with its `=`, and how long that is; nothing stands for a soft line break.
fn printable(text: &[u8]) -> (Option<u8>, usize) {
    let rest = &text[1..];
    if let Some(byte) = number(rest, 2, 16).and_then(|byte| u8::try_from(byte).ok()) {
        return (Some(byte), 3);
    }
    // Blanks before the break are of some relay.
    let blanks = rest.iter().take(MAX_TRAILING_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match &rest[blanks..] {
        [b'\r', b'\n', ..] => (None, 1 + blanks + 2),
        [b'\r' | b'\n', ..] => (None, 1 + blanks + 1),
        _ => (Some(b'='), 1),
    }
}

/// A view that is being made.
#[derive(Default)]
struct Building {
    bytes: Vec<u8>,
    places: Vec<(u32, u32)>,
}

impl Building {
    fn push(&mut self, byte: u8, (from, to): (usize, usize)) {
        let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.bytes.push(byte);
        self.places.push((short(from), short(to)));
    }

    fn done(self) -> View<'static> {
        View { bytes: Cow::Owned(self.bytes), places: Some(self.places) }
    }
}

/// What an escape stands for.
#[derive(Clone, Copy)]
enum Read {
    Byte(u8),
    Char(char),
}

/// The escape that some text begins with, and its length.
fn escape(text: &[u8]) -> Option<(Read, usize)> {
    match text {
        [b'%', b'u' | b'U', rest @ ..] => unit(rest).map(|(char, length)| (Read::Char(char), 2 + length)),
        [b'%', rest @ ..] => Some((Read::Byte(u8::try_from(number(rest, 2, 16)?).ok()?), 3)),
        [b'&', b'#', rest @ ..] => reference(rest).map(|(char, length)| (Read::Char(char), 2 + length)),
        [b'&', rest @ ..] => named(rest).map(|(byte, length)| (Read::Byte(byte), 1 + length)),
        [b'\\', rest @ ..] => backslash(rest).map(|(read, length)| (read, 1 + length)),
        _ => None,
    }
}

/// So many digits.
fn number(text: &[u8], digits: usize, radix: u32) -> Option<u32> {
    let digits = text.get(..digits).filter(|digits| !digits.is_empty())?;
    digits
        .iter()
        .try_fold(0_u32, |number, digit| number.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?))
}

/// How many digits there are, and no more than so many.
fn count(text: &[u8], most: usize, radix: u32) -> usize {
    text.iter().take(most).take_while(|digit| char::from(**digit).is_digit(radix)).count()
}

/// A number of UTF-16 in four digits, or a pair of them with the escape of the second.
fn unit(text: &[u8]) -> Option<(char, usize)> {
    let high = number(text, 4, 16)?;
    if let Some(char) = char::from_u32(high) {
        return Some((char, 4));
    }
    let [b'\\' | b'%', b'u' | b'U', low @ ..] = text.get(4..)? else { return None };
    let units = [u16::try_from(high).ok()?, u16::try_from(number(low, 4, 16)?).ok()?];
    char::decode_utf16(units).next()?.ok().map(|char| (char, 10))
}

/// A character of HTML by its number, behind `&#`.
fn reference(text: &[u8]) -> Option<(char, usize)> {
    let (start, radix) = if let [b'x' | b'X', ..] = text { (1, 16) } else { (0, 10) };
    let digits = count(&text[start..], ENTITY, radix);
    let char = char::from_u32(number(&text[start..], digits, radix)?)?;
    let end = start + digits;
    Some((char, end + usize::from(text.get(end) == Some(&b';'))))
}

/// A character of HTML by its name, behind `&`.
fn named(text: &[u8]) -> Option<(u8, usize)> {
    let end = text.iter().take(ENTITY).position(|byte| *byte == b';')?;
    let (_, byte) = NAMED.iter().find(|(name, _)| text[..end].eq_ignore_ascii_case(name))?;
    Some((*byte, end + 1))
}

/// An escape of JSON, JavaScript or Python, behind its backslash.
fn backslash(text: &[u8]) -> Option<(Read, usize)> {
    let byte = |byte| Some((Read::Byte(byte), 1));
    match text {
        [b'u', b'{', rest @ ..] => {
            let digits = count(rest, 6, 16);
            let char = char::from_u32(number(rest, digits, 16)?)?;
            (rest.get(digits) == Some(&b'}')).then_some((Read::Char(char), digits + 3))
        }
        [b'u', rest @ ..] => unit(rest).map(|(char, length)| (Read::Char(char), 1 + length)),
        [b'U', rest @ ..] => Some((Read::Char(char::from_u32(number(rest, 8, 16)?)?), 9)),
        [b'x', rest @ ..] => Some((Read::Byte(u8::try_from(number(rest, 2, 16)?).ok()?), 3)),
        [b'0'..=b'7', ..] => {
            let digits = count(text, 3, 8);
            Some((Read::Byte(u8::try_from(number(text, digits, 8)?).ok()?), digits))
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
        let read = View::of(text.as_bytes()).unescaped();
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
            let read = View::of(text.as_bytes()).quoted_printable();
            let read = read.map(|view| String::from_utf8_lossy(&view.bytes).into_owned());
            assert_eq!(read.as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_whatever_stands_between_them() {
        for text in ["65,66,67", "65; 66; 67", "65\n66\r\n67", "65 66\t67", "65|66|67", "65\", \"66\", \"67"] {
            let view = View::of(text.as_bytes()).decimals().unwrap();
            assert_eq!(String::from_utf8_lossy(&view.bytes), "65,66,67", "{text}");
        }
        let view = View::of(b"a 65 ; 66b").decimals().unwrap();
        assert_eq!((&*view.bytes, view.place(2, 7)), (&b"a,65,66b"[..], (2, 9)));
    }

    #[test]
    fn what_was_read_knows_where_it_stood() {
        let view = View::of(b"a%2541b").unescaped().unwrap();
        assert_eq!((&*view.bytes, view.place(1, 4)), (&b"a%41b"[..], (1, 6)));
        let view = view.unescaped().unwrap();
        assert_eq!((&*view.bytes, view.place(1, 2), view.place(2, 3)), (&b"aAb"[..], (1, 6), (6, 7)));
        let view = View::of(b"ab \r\ncd").compact().unwrap();
        assert_eq!((&*view.bytes, view.place(1, 3)), (&b"abcd"[..], (1, 6)));
        let view = View::of(b"0x41, 0x42:43").digits().unwrap();
        assert_eq!((&*view.bytes, view.place(0, 6)), (&b"414243"[..], (2, 13)));
    }
}
