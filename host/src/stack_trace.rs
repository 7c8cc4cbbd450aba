//! Corrects source positions in stack traces.
//!
//! The engine counts columns in bytes, and reports an undefined name at the position of the code
//! before it. Both are corrected here, because the source is known here.
//!
//! Invariant: only positions change; no frame is added or dropped.

use std::fmt::Write as _;

use crate::outcome::Thrown;

/// The ends of the engine's messages about a name without a value, after the name.
const UNRESOLVED_SUFFIXES: [&str; 2] = [" is not defined", " is not initialized"];

/// Corrects the positions of an error.
pub(crate) fn fix_positions(thrown: &mut Thrown, name: &str, source: &str) {
    let marker = format!("{name}:");
    let mut missing = missing_name(thrown).map(str::to_owned);
    let mut stack = String::with_capacity(thrown.stack.len());
    let mut first = true;
    for frame in thrown.stack.lines() {
        match frame_position(frame, &marker) {
            Some((start, end, line, column)) => {
                let offset = offset_of(source, line, column);
                let missing = missing.take();
                let offset = missing.and_then(|missing| find_read(source, offset, &missing)).unwrap_or(offset);
                let (line, column) = line_and_column(source, offset);
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

/// Returns the name that a `ReferenceError` is about.
fn missing_name(thrown: &Thrown) -> Option<&str> {
    let end = UNRESOLVED_SUFFIXES.iter().find_map(|text| thrown.message.find(text))?;
    let name = &thrown.message[..end];
    (thrown.name == "ReferenceError" && !name.is_empty() && name.chars().all(is_name_char)).then_some(name)
}

/// Finds `LINE:COLUMN` in a frame. Returns its byte range and both numbers.
fn frame_position(frame: &str, marker: &str) -> Option<(usize, usize, u32, u32)> {
    let start = frame.rfind(marker)? + marker.len();
    let end =
        frame[start..].find(|char: char| char != ':' && !char.is_ascii_digit()).map_or(frame.len(), |at| start + at);
    let (line, column) = frame[start..end].split_once(':')?;
    Some((start, end, line.parse().ok()?, column.parse().ok()?))
}

/// Returns the byte offset of a line and a column in bytes, both counted from 1.
fn offset_of(source: &str, line: u32, column: u32) -> usize {
    let before: usize = source.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let mut offset = (before + column.saturating_sub(1) as usize).min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Returns the line and the column in UTF-16 units of a byte offset, both counted from 1.
fn line_and_column(source: &str, offset: usize) -> (u32, u32) {
    let before = &source[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Finds the first read of a name at or after `from`. Names in strings and comments, properties and
/// keys do not count, nor do operands of `typeof`, which does not throw.
fn find_read(source: &str, from: usize, name: &str) -> Option<usize> {
    let mut at = from;
    while let Some(char) = source[at..].chars().next() {
        let rest = &source[at..];
        if let Some(length) = skipped_len(rest) {
            at += length;
        } else if is_name_char(char) {
            let length = rest.find(|char| !is_name_char(char)).unwrap_or(rest.len());
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

/// Returns the length of the comment or string that starts here, if one does.
fn skipped_len(rest: &str) -> Option<usize> {
    let quote = rest.chars().next()?;
    if let Some(comment) = rest.strip_prefix("//") {
        return Some(comment.find('\n').map_or(rest.len(), |end| end + 2));
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(rest.len(), |end| end + 4));
    }
    // Templates may contain code, so they are not skipped.
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

/// Returns whether a name between these two texts is read.
fn is_read(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let property = before.ends_with('.') && !before.ends_with("...");
    let asked = before.ends_with("typeof");
    let key = after.trim_start().starts_with(':') && before.ends_with(['{', ',']);
    !property && !asked && !key
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, message: &str, engine: &str, expect: &str) {
        let stack = format!("    at f (t.js:{engine})\n    at map (native)\n");
        let mut thrown =
            Thrown { name: "ReferenceError".into(), message: message.into(), line: None, column: None, stack };
        fix_positions(&mut thrown, "t.js", source);
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
