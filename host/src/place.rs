//! Where in the author's text something was thrown.
//!
//! The engine counts columns in bytes, and gives a name that is not defined the place of whatever came before it. Both
//! are put right here, where the source is known.
//!
//! Invariant: this only moves positions; it never adds or drops a frame.

use std::fmt::Write as _;

use crate::outcome::Thrown;

/// What the engine says of a name that has no value, after the name.
const NO_VALUE: [&str; 2] = [" is not defined", " is not initialized"];

/// Puts the positions of an error right.
pub(crate) fn correct(thrown: &mut Thrown, name: &str, source: &str) {
    let marker = format!("{name}:");
    let mut missing = missing_name(thrown).map(str::to_owned);
    let mut stack = String::with_capacity(thrown.stack.len());
    let mut first = true;
    for frame in thrown.stack.lines() {
        match position(frame, &marker) {
            Some((start, end, line, column)) => {
                let offset = offset_of(source, line, column);
                let missing = missing.take();
                let offset = missing.and_then(|missing| find_name(source, offset, &missing)).unwrap_or(offset);
                let (line, column) = place_of(source, offset);
                if first {
                    (thrown.line, thrown.column) = (Some(line), Some(column));
                    first = false;
                }
                stack.push_str(&frame[..start]);
                let _ = write!(stack, "{line}:{column}");
                stack.push_str(&frame[end..]);
            }
            None => stack.push_str(frame),
        }
        stack.push('\n');
    }
    thrown.stack = stack;
}

/// The name that a `ReferenceError` is about.
fn missing_name(thrown: &Thrown) -> Option<&str> {
    let end = NO_VALUE.iter().find_map(|text| thrown.message.find(text))?;
    let name = &thrown.message[..end];
    (thrown.name == "ReferenceError" && !name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Where in a frame its `LINE:COLUMN` stands, and what it says.
fn position(frame: &str, marker: &str) -> Option<(usize, usize, u32, u32)> {
    let start = frame.rfind(marker)? + marker.len();
    let end =
        frame[start..].find(|char: char| char != ':' && !char.is_ascii_digit()).map_or(frame.len(), |at| start + at);
    let (line, column) = frame[start..end].split_once(':')?;
    Some((start, end, line.parse().ok()?, column.parse().ok()?))
}

/// The byte offset of a line and a column in bytes, both counted from 1.
fn offset_of(source: &str, line: u32, column: u32) -> usize {
    let before: usize = source.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let mut offset = (before + column.saturating_sub(1) as usize).min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The line and the column in UTF-16 units of a byte offset, both counted from 1.
fn place_of(source: &str, offset: usize) -> (u32, u32) {
    let before = &source[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Where the name is first read at or after `from`: not in a string or a comment, not as a property or a key, and
/// not behind `typeof`, which asks without reading.
fn find_name(source: &str, from: usize, name: &str) -> Option<usize> {
    let mut at = from;
    while let Some(char) = source[at..].chars().next() {
        let rest = &source[at..];
        if let Some(length) = skipped(rest) {
            at += length;
        } else if is_name(char) {
            let length = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
            if &rest[..length] == name && is_read(&source[..at], &rest[length..]) {
                return Some(at);
            }
            at += length;
        } else {
            at += char.len_utf8();
        }
    }
    None
}

/// The length of the comment or string that begins here.
fn skipped(rest: &str) -> Option<usize> {
    let quote = rest.chars().next()?;
    if let Some(comment) = rest.strip_prefix("//") {
        return Some(comment.find('\n').map_or(rest.len(), |end| end + 2));
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(rest.len(), |end| end + 4));
    }
    // What stands in a template may be code, so templates are read.
    if !matches!(quote, '"' | '\'') {
        return None;
    }
    let mut escaped = false;
    for (at, char) in rest.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return Some(at),
            _ if char == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// Whether a name between these two texts is one that is read.
fn is_read(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let property = before.ends_with('.') && !before.ends_with("...");
    let asked = before.ends_with("typeof");
    let key = after.trim_start().starts_with(':') && before.ends_with(['{', ',']);
    !property && !asked && !key
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, message: &str, engine: &str, expect: &str) {
        let stack = format!("    at f (t.js:{engine})\n    at map (native)\n");
        let mut thrown =
            Thrown { name: "ReferenceError".into(), message: message.into(), line: None, column: None, stack };
        correct(&mut thrown, "t.js", source);
        assert_eq!(thrown.stack, format!("    at f (t.js:{expect})\n    at map (native)\n"));
        assert_eq!(format!("{}:{}", thrown.line.unwrap(), thrown.column.unwrap()), expect);
    }

    #[test]
    fn columns_are_counted_in_utf_16_units() {
        check("const あ = \"日本\"; x.y", "", "1:23", "1:17");
        check("a\n😀; x", "", "2:7", "2:5");
        check("a", "", "9:9", "1:2");
    }

    #[test]
    fn a_missing_name_is_looked_for_where_it_is_read() {
        check("() => {\n  const a = 1;\n  foo(a);\n}", "foo is not defined", "1:1", "3:3");
        check("// foo\n'foo' + o.foo + { foo: 1 } + typeof foo + foo", "foo is not defined", "1:1", "2:43");
        check("/* foo */ `${foo}`", "foo is not defined", "1:1", "1:14");
        check("bar", "foo is not defined", "1:1", "1:1");
        check("food + foo; let foo", "foo is not initialized", "1:1", "1:8");
    }
}
