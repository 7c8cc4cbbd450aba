//! The syntax of messages: `{name}` is a placeholder, `{{` and `}}` are braces.

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

/// Returns the parts of a message. A brace that is neither doubled nor part of a placeholder is text.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, after) = split_first(rest)?;
        rest = after;
        Some(part)
    })
}

fn split_first(text: &str) -> Option<(Part<'_>, &str)> {
    if text.is_empty() {
        return None;
    }
    if text.starts_with("{{") || text.starts_with("}}") {
        return Some((Part::Text(&text[..1]), &text[2..]));
    }
    if let Some(inside) = text.strip_prefix('{')
        && let Some((name, after)) = inside.split_once('}')
    {
        return Some((Part::Placeholder(name), after));
    }
    let end = text.char_indices().skip(1).find(|(_, char)| matches!(char, '{' | '}')).map_or(text.len(), |(at, _)| at);
    Some((Part::Text(&text[..end]), &text[end..]))
}

/// Whether a text has these placeholders and no others. Evaluated by the compiler.
///
/// # Panics
/// There are more than 32 names.
#[must_use]
pub const fn has_placeholders(text: &str, names: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let mut used = [false; 32];
    assert!(names.len() <= used.len(), "a message has at most 32 arguments");
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'}' if at + 1 < bytes.len() && bytes[at + 1] == bytes[at] => at += 2,
            b'{' => {
                let start = at + 1;
                while at < bytes.len() && bytes[at] != b'}' {
                    at += 1;
                }
                let mut index = 0;
                while index < names.len() && !is_same(names[index].as_bytes(), bytes, start, at) {
                    index += 1;
                }
                if at == bytes.len() || index == names.len() {
                    return false;
                }
                used[index] = true;
                at += 1;
            }
            b'}' => return false,
            _ => at += 1,
        }
    }
    let mut index = 0;
    while index < names.len() {
        if !used[index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn is_same(name: &[u8], text: &[u8], start: usize, end: usize) -> bool {
    if name.len() != end - start {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if name[index] != text[start + index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_braces_are_told_apart() {
        let split = |text| parts(text).collect::<Vec<_>>();
        assert_eq!(
            split("a {b} {{c}}"),
            [
                Part::Text("a "),
                Part::Placeholder("b"),
                Part::Text(" "),
                Part::Text("{"),
                Part::Text("c"),
                Part::Text("}"),
            ]
        );
        assert_eq!(split("「{a}」あ"), [Part::Text("「"), Part::Placeholder("a"), Part::Text("」あ")]);
        assert_eq!(split("}あ{"), [Part::Text("}あ"), Part::Text("{")]);
        assert_eq!(split(""), []);
    }

    #[test]
    fn text_and_arguments_match_or_not() {
        assert!(has_placeholders("a {b} {{c}} {d} {b}", &["d", "b"]));
        assert!(!has_placeholders("a {b}", &[]));
        assert!(!has_placeholders("a", &["b"]));
        assert!(!has_placeholders("a {b", &["b"]));
        assert!(!has_placeholders("a } b", &[]));
    }
}
