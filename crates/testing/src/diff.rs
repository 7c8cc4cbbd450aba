//! Diffs of values and texts for people.
//!
//! Invariant: equal values have an empty diff, whatever the order of their keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use serde_json::Value;
use toolcell_i18n::{Message, message};

/// The maximum number of lines in a diff of values.
const MAX_LINES: usize = 60;
/// The number of context lines around a change.
const CONTEXT_LINES: u32 = 3;
/// The maximum number of lines that are compared line by line: the time grows with the square of
/// the number.
const MAX_DIFF_LINES: usize = 10_000;
/// The maximum length of a line in a diff, in characters.
const MAX_LINE_CHARS: usize = 500;

/// Returns the unified diff of two versions of a file, empty if they are equal.
#[must_use]
pub fn unified(path: &str, before: &str, after: &str) -> String {
    let (hunks, note) = hunks(before, after);
    let note = note.map(|note| format!("{note}\n")).unwrap_or_default();
    if hunks.is_empty() { hunks } else { format!("--- {path}\n+++ {path}\n{hunks}{note}") }
}

/// Returns the changed lines with some context, and a note on what was not compared.
fn hunks(before: &str, after: &str) -> (String, Option<Message>) {
    if before.lines().count().max(after.lines().count()) > MAX_DIFF_LINES {
        return first_difference(before, after);
    }
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(CONTEXT_LINES);
    (diff.unified_diff(&BasicLineDiffPrinter(&input.interner), config, &input).to_string(), None)
}

/// Returns the first line that differs, for texts that are too long to compare.
fn first_difference(before: &str, after: &str) -> (String, Option<Message>) {
    let (mut old, mut new) = (before.split_inclusive('\n'), after.split_inclusive('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let (one, other) = (old.next(), new.next());
        if one == other {
            if one.is_none() {
                return (String::new(), None);
            }
            continue;
        }
        let shown = |sign, line: &str| format!("{sign}{}\n", line.trim_end_matches(['\r', '\n']));
        let sides = [one.map(|line| shown('-', line)), other.map(|line| shown('+', line))];
        let sides: String = sides.into_iter().flatten().collect();
        let (count, other_count) = (before.lines().count(), after.lines().count());
        let note = message!(
            "… the rest is not compared: {count} and {other_count} lines, the limit is {limit}",
            count,
            other_count,
            limit = MAX_DIFF_LINES,
        );
        return (format!("@@ line {number} @@\n{sides}"), Some(note));
    }
}

/// Returns the diff of two values, in lines: `- ` is expected, `+ ` is actual.
pub(crate) fn diff_values(expected: &Value, actual: &Value) -> Message {
    diff_texts(&pretty(expected), &pretty(actual))
}

/// Returns the diff of two texts in the same form.
pub(crate) fn diff_texts(expected: &str, actual: &str) -> Message {
    let (expected, actual) = (format!("{expected}\n"), format!("{actual}\n"));
    let (text, note) = hunks(&expected, &actual);
    // Line numbers mean nothing here, because the formatted value is in no file.
    let lines: Vec<&str> = text.lines().map(|line| if line.starts_with("@@") { "…" } else { line }).collect();
    let lines = if lines.first() == Some(&"…") { &lines[1..] } else { &lines[..] };
    let mut shown = String::new();
    for line in lines.iter().take(MAX_LINES) {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((line, ""));
        let space = if matches!(sign, "-" | "+" | " ") { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{sign}{space}{}", truncate_to(rest, MAX_LINE_CHARS));
    }
    let rest = (lines.len() > MAX_LINES).then(|| message!("… {count} more lines", count = lines.len() - MAX_LINES));
    let line_feed = || Message::verbatim("\n".to_owned());
    let mut parts = vec![message!("- expected\n+ actual"), line_feed(), Message::verbatim(shown)];
    for remark in note.into_iter().chain(rest) {
        parts.extend([remark, line_feed()]);
    }
    Message::sequence(parts)
}

fn pretty(value: &Value) -> String {
    // Serialising a value cannot fail.
    serde_json::to_string_pretty(&normalize(value)).unwrap_or_default()
}

/// Normalises a value for comparison: keys in order, and numbers as JavaScript represents them.
pub(crate) fn normalize(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| value.clone(), normalize_number),
        Value::Array(items) => Value::Array(items.iter().map(normalize).collect()),
        Value::Object(members) => {
            let sorted: BTreeMap<&String, Value> = members.iter().map(|(key, value)| (key, normalize(value))).collect();
            Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Normalises a number: integers have no fraction, and -0 becomes 0.
fn normalize_number(number: f64) -> Value {
    /// Integers up to this one are exact in a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and exact")]
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

/// Returns whether two values are equal in JavaScript's terms.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    normalize(one) == normalize(other)
}

/// Formats a value on one line, truncated if it is long.
pub(crate) fn summarize(value: &Value) -> String {
    truncate(&normalize(value).to_string())
}

/// Truncates a text to 160 characters.
pub(crate) fn truncate(text: &str) -> String {
    truncate_to(text, 160)
}

fn truncate_to(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_those_of_javascript_and_keys_have_no_order() {
        for (one, other, expect) in [
            (json!(2), json!(2.0), true),
            (json!(-0.0), json!(0), true),
            (json!(0.1), json!(0.1), true),
            (json!(1), json!("1"), false),
            (json!({ "a": 1, "b": [2.0] }), json!({ "b": [2], "a": 1 }), true),
            (json!([1, 2]), json!([2, 1]), false),
            (json!(null), json!({}), false),
        ] {
            assert_eq!(is_equal(&one, &other), expect, "{one} {other}");
        }
    }

    #[test]
    fn a_difference_shows_what_is_around_it() {
        let expected = json!({ "total": 3, "items": ["a", "b"], "unit": "EUR" });
        let actual = json!({ "total": 4, "items": ["a", "b"], "unit": "EUR" });
        let text = diff_values(&expected, &actual).to_string();
        assert!(text.starts_with("- expected\n+ actual\n"), "{text}");
        assert!(text.contains("\n-   \"total\": 3,\n+   \"total\": 4,\n"), "{text}");
        assert!(!text.contains("Number(") && !text.contains("@@"), "{text}");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let list = |from: u32| Value::from((from..from + 500).collect::<Vec<_>>());
        let text = diff_values(&list(0), &list(1_000)).to_string();
        assert!(text.lines().count() == MAX_LINES + 3 && text.ends_with("more lines\n"), "{}", text.lines().count());
        let line = diff_texts(&"a".repeat(100_000), "b").to_string();
        assert!(line.len() < 1_000 && line.contains('…'), "{}", line.len());
    }

    #[test]
    fn texts_of_very_many_lines_are_not_compared_line_by_line() {
        let list =
            |from: u32| Value::from((0..60_000).map(|at| at % 7 + from * u32::from(at > 99)).collect::<Vec<_>>());
        let text = diff_values(&list(0), &list(1));
        let expect = "- expected\n+ actual\n-   2,\n+   3,\n… the rest is not compared: 60002 and 60002 lines, the \
                      limit is 10000\n";
        assert_eq!(text, expect);
        let longer = "a\n".repeat(10_001);
        assert_eq!(unified("a", &longer, &longer), "");
        let text = unified("a", &longer, &format!("{longer}b\n"));
        assert!(text.starts_with("--- a\n+++ a\n@@ line 10002 @@\n+b\n… the rest"), "{text}");
    }
}
