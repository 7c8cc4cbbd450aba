//! Formatting of JSON text for people.
//!
//! Invariant: the input is valid JSON, and only the white space between its tokens changes.

/// Formats a string without quotes and escapes, and anything else indented by two spaces, as
/// `JSON.stringify(value, null, 2)` does.
pub(crate) fn format_text(json: &str) -> String {
    let json = json.trim();
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => unescape(inner),
        None => indent(json),
    }
}

/// Decodes the contents of a JSON string. A lone surrogate, which UTF-8 cannot hold, becomes
/// U+FFFD.
fn unescape(inner: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    let flush = |units: &mut Vec<u16>, out: &mut String| {
        out.extend(char::decode_utf16(units.drain(..)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
    };
    while let Some(char) = chars.next() {
        if char != '\\' {
            flush(&mut units, &mut out);
            out.push(char);
            continue;
        }
        let escaped = chars.next().unwrap_or('\\');
        if escaped == 'u' {
            let digits: String = chars.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
            continue;
        }
        flush(&mut units, &mut out);
        out.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        });
    }
    flush(&mut units, &mut out);
    out
}

fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut bytes = json.char_indices().peekable();
    while let Some((start, char)) = bytes.next() {
        match char {
            '"' => {
                let mut end = start + 1;
                let mut escaped = false;
                for (at, char) in bytes.by_ref() {
                    end = at + char.len_utf8();
                    if char == '"' && !escaped {
                        break;
                    }
                    escaped = char == '\\' && !escaped;
                }
                out.push_str(&json[start..end]);
            }
            '{' | '[' => {
                out.push(char);
                while bytes.next_if(|(_, next)| next.is_ascii_whitespace()).is_some() {}
                if let Some((_, close)) = bytes.next_if(|(_, next)| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                new_line(&mut out, depth);
                out.push(char);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if char.is_ascii_whitespace() => {}
            _ => out.push(char),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::format_text;

    fn check(json: &str, expect: &str) {
        assert_eq!(format_text(json), expect);
    }

    #[test]
    fn strings_are_shown_as_they_are() {
        check(r#""""#, "");
        check(r#""a\"b\\c\/\n""#, "a\"b\\c/\n");
        check(r#""\u65e5\ud83d\ude00 \ud800x""#, "日😀 \u{fffd}x");
    }

    #[test]
    fn everything_else_is_indented_and_otherwise_unchanged() {
        check("1e400", "1e400");
        check(" [ ] ", "[]");
        check(
            r#"{"a,b":"{\"","c":[1,{"d":null}]}"#,
            "{\n  \"a,b\": \"{\\\"\",\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ]\n}",
        );
    }
}
