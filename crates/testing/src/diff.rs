//! Differences as an author reads them.
//!
//! Invariant: two values that are the same have no difference, whatever the order of their keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use serde_json::Value;

/// How many lines of a difference are shown.
const LINES: usize = 60;
/// How many lines around a change are shown.
const AROUND: u32 = 3;
/// Texts of more lines are not compared line by line: that takes time that grows with the square of them.
const MAX_DIFF_LINES: usize = 10_000;
/// How much of a line is shown, in characters.
const MAX_LINE_CHARS: usize = 500;

/// The unified difference of two texts of a file.
#[must_use]
pub fn unified(path: &str, before: &str, after: &str) -> String {
    let hunks = hunks(before, after);
    if hunks.is_empty() { hunks } else { format!("--- {path}\n+++ {path}\n{hunks}") }
}

/// What is different, line by line, with some lines around it.
fn hunks(before: &str, after: &str) -> String {
    if before.lines().count().max(after.lines().count()) > MAX_DIFF_LINES {
        return first_difference(before, after);
    }
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(AROUND);
    diff.unified_diff(&BasicLineDiffPrinter(&input.interner), config, &input).to_string()
}

/// The first line that differs, of texts that are too long to compare.
fn first_difference(before: &str, after: &str) -> String {
    let (mut old, mut new) = (before.split_inclusive('\n'), after.split_inclusive('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let (one, other) = (old.next(), new.next());
        if one == other {
            if one.is_none() {
                return String::new();
            }
            continue;
        }
        let shown = |sign, line: &str| format!("{sign}{}\n", line.trim_end_matches(['\r', '\n']));
        let sides = [one.map(|line| shown('-', line)), other.map(|line| shown('+', line))];
        let sides: String = sides.into_iter().flatten().collect();
        let (count, other_count) = (before.lines().count(), after.lines().count());
        return format!(
            "@@ line {number} @@\n{sides}… the rest is not compared: {count} and {other_count} lines, the limit is {MAX_DIFF_LINES}\n"
        );
    }
}

/// The difference of two values, a line each: `- ` is expected, `+ ` is what came.
pub(crate) fn of_values(expected: &Value, actual: &Value) -> String {
    of_texts(&pretty(expected), &pretty(actual))
}

/// The same of texts.
pub(crate) fn of_texts(expected: &str, actual: &str) -> String {
    let (expected, actual) = (format!("{expected}\n"), format!("{actual}\n"));
    let text = hunks(&expected, &actual);
    // The numbers of lines of a value that is written nowhere say nothing.
    let lines: Vec<&str> = text.lines().map(|line| if line.starts_with("@@") { "…" } else { line }).collect();
    let lines = if lines.first() == Some(&"…") { &lines[1..] } else { &lines[..] };
    let mut shown = String::from("- expected\n+ actual\n");
    for line in lines.iter().take(LINES) {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((line, ""));
        let space = if matches!(sign, "-" | "+" | " ") { " " } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(shown, "{sign}{space}{}", cut_to(rest, MAX_LINE_CHARS));
    }
    if lines.len() > LINES {
        let _ = writeln!(shown, "… {} more lines", lines.len() - LINES);
    }
    shown
}

fn pretty(value: &Value) -> String {
    // A value has a text.
    serde_json::to_string_pretty(&settled(value)).unwrap_or_default()
}

/// The same value in the one form in which values are compared: keys in order, and numbers as JavaScript has them.
pub(crate) fn settled(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| value.clone(), number_of),
        Value::Array(items) => Value::Array(items.iter().map(settled).collect()),
        Value::Object(members) => {
            let sorted: BTreeMap<&String, Value> = members.iter().map(|(key, value)| (key, settled(value))).collect();
            Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// A number without a fraction is shown without one; -0 is 0, which JSON does not tell apart for a reader.
fn number_of(number: f64) -> Value {
    /// The whole numbers up to here are exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and exact")]
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

/// Whether two values are the same to JavaScript.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    settled(one) == settled(other)
}

/// A value in a line, cut where it is long.
pub(crate) fn short(value: &Value) -> String {
    cut(&settled(value).to_string())
}

/// A text, cut where it is long.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, 160)
}

fn cut_to(text: &str, limit: usize) -> String {
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
            assert_eq!(same(&one, &other), expect, "{one} {other}");
        }
    }

    #[test]
    fn a_difference_shows_what_is_around_it() {
        let expected = json!({ "total": 3, "items": ["a", "b"], "unit": "EUR" });
        let actual = json!({ "total": 4, "items": ["a", "b"], "unit": "EUR" });
        let text = of_values(&expected, &actual);
        assert!(text.starts_with("- expected\n+ actual\n"), "{text}");
        assert!(text.contains("\n-   \"total\": 3,\n+   \"total\": 4,\n"), "{text}");
        assert!(!text.contains("Number(") && !text.contains("@@"), "{text}");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let list = |from: u32| Value::from((from..from + 500).collect::<Vec<_>>());
        let text = of_values(&list(0), &list(1_000));
        assert!(text.lines().count() == LINES + 3 && text.ends_with("more lines\n"), "{}", text.lines().count());
        let line = of_texts(&"a".repeat(100_000), "b");
        assert!(line.len() < 1_000 && line.contains('…'), "{}", line.len());
    }

    #[test]
    fn texts_of_very_many_lines_are_not_compared_line_by_line() {
        let list =
            |from: u32| Value::from((0..60_000).map(|at| at % 7 + from * u32::from(at > 99)).collect::<Vec<_>>());
        let text = of_values(&list(0), &list(1));
        let expect = "- expected\n+ actual\n-   2,\n+   3,\n… the rest is not compared: 60002 and 60002 lines, the limit is 10000\n";
        assert_eq!(text, expect);
        let longer = "a\n".repeat(10_001);
        assert_eq!(unified("a", &longer, &longer), "");
        let text = unified("a", &longer, &format!("{longer}b\n"));
        assert!(text.starts_with("--- a\n+++ a\n@@ line 10002 @@\n+b\n… the rest"), "{text}");
    }
}
