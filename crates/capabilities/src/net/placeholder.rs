//! Placeholders for secrets in a tool's requests: `{{secret:NAME}}`.
//!
//! Invariant: inserted values are not scanned again, so a value that looks like a placeholder has
//! no effect.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use toolcell_tool::SecretName;

/// The characters to escape: all but the unreserved ones (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The encoding of the text around a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEncoding {
    /// Plain text.
    Plain,
    /// URL text. Placeholders may be percent-encoded; inserted values are.
    UrlEncoded,
    /// The content of a JSON string.
    Json,
}

impl BodyEncoding {
    fn encode(self, value: &str) -> Vec<u8> {
        match self {
            Self::Plain => value.as_bytes().to_vec(),
            Self::UrlEncoded => percent_encode(value.as_bytes(), ESCAPED).to_string().into_bytes(),
            Self::Json => json_string_content(value).into_bytes(),
        }
    }
}

/// Returns the content of a JSON string with this value, without the quotes.
pub(super) fn json_string_content(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Replaces the placeholders by values.
pub(super) fn fill<'v, E>(
    text: &[u8],
    writing: BodyEncoding,
    mut value: impl FnMut(&str) -> Result<&'v str, E>,
) -> Result<Vec<u8>, E> {
    let mut filled = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, end, name)) = next_placeholder(text, at, writing) {
        filled.extend_from_slice(&text[at..start]);
        filled.extend_from_slice(&writing.encode(value(name)?));
        at = end;
    }
    filled.extend_from_slice(&text[at..]);
    Ok(filled)
}

/// Returns the names of the secrets in the placeholders of a text.
pub(super) fn secret_names(text: &[u8], writing: BodyEncoding) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some((_, end, name)) = next_placeholder(text, at, writing) {
        names.push(name);
        at = end;
    }
    names
}

/// Returns the start, the end and the name of the next placeholder.
fn next_placeholder(text: &[u8], from: usize, writing: BodyEncoding) -> Option<(usize, usize, &str)> {
    let starts = |at: &usize| match text[*at] {
        b'{' => true,
        b'%' => writing == BodyEncoding::UrlEncoded,
        _ => false,
    };
    (from..text.len()).filter(starts).find_map(|at| {
        let (end, name) = parse_placeholder(text, at, writing)?;
        Some((at, end, name))
    })
}

fn parse_placeholder(text: &[u8], at: usize, writing: BodyEncoding) -> Option<(usize, &str)> {
    let start = b"{{secret:".iter().try_fold(at, |at, byte| match_byte(text, at, *byte, writing))?;
    let length = text[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
    let name = str::from_utf8(&text[start..start + length]).ok()?;
    SecretName::parse(name).ok()?;
    let end = b"}}".iter().try_fold(start + length, |at, byte| match_byte(text, at, *byte, writing))?;
    Some((end, name))
}

/// Matches one byte, possibly percent-encoded, and returns the offset after it.
fn match_byte(text: &[u8], at: usize, byte: u8, writing: BodyEncoding) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.first() == Some(&byte) {
        return Some(at + 1);
    }
    let [b'%', high, low, ..] = rest else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let encoded = digit(*high)? * 16 + digit(*low)? == u32::from(byte);
    (writing == BodyEncoding::UrlEncoded && encoded).then_some(at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, writing: BodyEncoding, expect: &str) {
        let value = |name: &str| if name == "A-1" { Ok("v \"&{{secret:B}}") } else { Err(name.to_owned()) };
        let filled = fill(text.as_bytes(), writing, value);
        let filled = filled.map_or_else(|name| format!("no {name}"), |filled| String::from_utf8(filled).unwrap());
        assert_eq!(filled, expect, "{text}");
    }

    #[test]
    fn placeholders_become_values() {
        use BodyEncoding::{Json, Plain, UrlEncoded};
        check("Bearer {{secret:A-1}}!", Plain, "Bearer v \"&{{secret:B}}!");
        check("{{secret:A-1}}{{secret:A-1}}", UrlEncoded, &"v%20%22%26%7B%7Bsecret%3AB%7D%7D".repeat(2));
        check("a=%7B%7bsecret%3aA-1%7d%7D&b", UrlEncoded, "a=v%20%22%26%7B%7Bsecret%3AB%7D%7D&b");
        check("a={%7Bsecret:A-1}%7D", UrlEncoded, "a=v%20%22%26%7B%7Bsecret%3AB%7D%7D");
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
            check(text, BodyEncoding::Plain, text);
        }
        check("%7B%7Bsecret%3AA%7D%7", BodyEncoding::UrlEncoded, "%7B%7Bsecret%3AA%7D%7");
        check("%7B%7B%73ecret%3AX%7D%7D", BodyEncoding::UrlEncoded, "no X");
        check("%257B%257Bsecret%253AA%257D%257D", BodyEncoding::UrlEncoded, "%257B%257Bsecret%253AA%257D%257D");
    }
}
