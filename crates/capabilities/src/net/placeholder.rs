//! Where secrets stand in what a tool wrote: `{{secret:NAME}}`.
//!
//! Invariant: what is put in is not looked at again, so a value that looks like a placeholder is none.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use toolcell_tool::SecretName;

/// What stands for itself everywhere in a URL (RFC 3986, section 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// How text says what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As it is.
    Plain,
    /// As in a URL: placeholders may be percent-encoded, values are.
    Encoded,
    /// Inside of a string of JSON.
    Json,
}

impl Writing {
    fn write(self, value: &str) -> Vec<u8> {
        match self {
            Self::Plain => value.as_bytes().to_vec(),
            Self::Encoded => percent_encode(value.as_bytes(), ENCODED).to_string().into_bytes(),
            Self::Json => inside_json(value).into_bytes(),
        }
    }
}

/// Text as it stands between the quotes of JSON.
pub(super) fn inside_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// The text with values in the place of placeholders.
pub(super) fn fill<'v, E>(
    text: &[u8],
    writing: Writing,
    mut value: impl FnMut(&str) -> Result<&'v str, E>,
) -> Result<Vec<u8>, E> {
    let mut filled = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, end, name)) = next(text, at, writing) {
        filled.extend_from_slice(&text[at..start]);
        filled.extend_from_slice(&writing.write(value(name)?));
        at = end;
    }
    filled.extend_from_slice(&text[at..]);
    Ok(filled)
}

/// The names of the secrets that have a placeholder in some text.
pub(super) fn names(text: &[u8], writing: Writing) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some((_, end, name)) = next(text, at, writing) {
        names.push(name);
        at = end;
    }
    names
}

/// The next placeholder: where it begins, where it ends, and what it names.
fn next(text: &[u8], from: usize, writing: Writing) -> Option<(usize, usize, &str)> {
    let starts = |at: &usize| match text[*at] {
        b'{' => true,
        b'%' => writing == Writing::Encoded,
        _ => false,
    };
    (from..text.len()).filter(starts).find_map(|at| {
        let (end, name) = placeholder(text, at, writing)?;
        Some((at, end, name))
    })
}

fn placeholder(text: &[u8], at: usize, writing: Writing) -> Option<(usize, &str)> {
    let start = b"{{secret:".iter().try_fold(at, |at, byte| one(text, at, *byte, writing))?;
    let length = text[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
    let name = str::from_utf8(&text[start..start + length]).ok()?;
    SecretName::parse(name).ok()?;
    let end = b"}}".iter().try_fold(start + length, |at, byte| one(text, at, *byte, writing))?;
    Some((end, name))
}

/// Where a byte ends that stands at a place.
fn one(text: &[u8], at: usize, byte: u8, writing: Writing) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.first() == Some(&byte) {
        return Some(at + 1);
    }
    let [b'%', high, low, ..] = rest else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let encoded = digit(*high)? * 16 + digit(*low)? == u32::from(byte);
    (writing == Writing::Encoded && encoded).then_some(at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, writing: Writing, expect: &str) {
        let value = |name: &str| if name == "A-1" { Ok("v \"&{{secret:B}}") } else { Err(name.to_owned()) };
        let filled = fill(text.as_bytes(), writing, value);
        let filled = filled.map_or_else(|name| format!("no {name}"), |filled| String::from_utf8(filled).unwrap());
        assert_eq!(filled, expect, "{text}");
    }

    #[test]
    fn placeholders_become_values() {
        use Writing::{Encoded, Json, Plain};
        check("Bearer {{secret:A-1}}!", Plain, "Bearer v \"&{{secret:B}}!");
        check("{{secret:A-1}}{{secret:A-1}}", Encoded, &"v%20%22%26%7B%7Bsecret%3AB%7D%7D".repeat(2));
        check("a=%7B%7bsecret%3aA-1%7d%7D&b", Encoded, "a=v%20%22%26%7B%7Bsecret%3AB%7D%7D&b");
        check("a={%7Bsecret:A-1}%7D", Encoded, "a=v%20%22%26%7B%7Bsecret%3AB%7D%7D");
        check(r#"{"k":"{{secret:A-1}}"}"#, Json, r#"{"k":"v \"&{{secret:B}}"}"#);
        check("{{{secret:A-1}}}", Plain, "{v \"&{{secret:B}}}");
        check("{{secret:OTHER}}", Plain, "no OTHER");
    }

    #[test]
    fn what_is_no_placeholder_stays() {
        for text in [
            "",
            "{",
            "{{",
            "{{secret",
            "{{secret:",
            "{{secret:}}",
            "{{secret:A-1",
            "{{secret:A-1}",
            "{{secret:1A}}",
            "{{secret: A}}",
            "{{Secret:A}}",
            "{{ secret:A}}",
            "%7B%7Bsecret%3AA%7D%7D",
            "%7",
            "%",
            "{{secret:Ä}}",
        ] {
            check(text, Writing::Plain, text);
        }
        check("%7B%7Bsecret%3AA%7D%7", Writing::Encoded, "%7B%7Bsecret%3AA%7D%7");
        check("%7B%7B%73ecret%3AX%7D%7D", Writing::Encoded, "no X");
        check("%257B%257Bsecret%253AA%257D%257D", Writing::Encoded, "%257B%257Bsecret%253AA%257D%257D");
    }
}
