//! Regular expressions on known texts, if the pattern has the same meaning in the `regex` crate.
//!
//! Invariant: matching takes time linear in the text, because that crate does not backtrack.

use regex::{Regex, RegexBuilder};

use crate::semantics::value::Value;

/// The maximum number of matches that are taken.
const MAX_MATCHES: usize = 4096;

/// Compiles a pattern for the crate; `None` if it might have another meaning there.
fn compile_regexp(pattern: &str, flags: &str) -> Option<Regex> {
    // In JavaScript these classes match ASCII only, and `$` without `m` matches only the end.
    let mut ascii = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                'd' => ascii.push_str("[0-9]"),
                'w' => ascii.push_str("[0-9A-Za-z_]"),
                'x' => {
                    ascii.push_str("\\x");
                }
                escaped @ ('s' | 'n' | 't' | 'r' | '.' | '/' | '\\' | '-' | '|' | '$' | '^' | '*' | '+' | '?' | '('
                | ')' | '[' | ']' | '{' | '}') => {
                    if escaped != '/' {
                        ascii.push('\\');
                    }
                    ascii.push(escaped);
                }
                _ => return None,
            },
            letter => ascii.push(letter),
        }
    }
    let mut builder = RegexBuilder::new(&ascii);
    builder
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(1 << 16)
        .dfa_size_limit(1 << 16);
    builder.build().ok()
}

/// Folds `text.replace(/pattern/flags, by)`; `by` receives the match and its groups.
pub(crate) fn replace_with(
    text: &str,
    pattern: &str,
    flags: &str,
    by: &mut dyn FnMut(&[Value]) -> Option<String>,
) -> Option<String> {
    let regex = compile_regexp(pattern, flags)?;
    let mut replaced = String::new();
    let mut done = 0;
    for captures in regex.captures_iter(text).take(if flags.contains('g') { MAX_MATCHES } else { 1 }) {
        let whole = captures.get(0)?;
        let groups: Vec<Value> =
            captures.iter().map(|group| group.map_or(Value::Undefined, |group| Value::text(group.as_str()))).collect();
        replaced.push_str(&text[done..whole.start()]);
        replaced.push_str(&by(&groups)?);
        done = whole.end();
    }
    replaced.push_str(&text[done..]);
    Some(replaced)
}

/// Folds `text.match(/pattern/flags)`.
pub(super) fn match_text(text: &str, pattern: &str, flags: &str) -> Option<Value> {
    let regex = compile_regexp(pattern, flags)?;
    if flags.contains('g') {
        let all: Vec<Value> =
            regex.find_iter(text).take(MAX_MATCHES).map(|found| Value::text(found.as_str())).collect();
        return Some(if all.is_empty() { Value::Null } else { Value::List(all.into()) });
    }
    let Some(captures) = regex.captures(text) else { return Some(Value::Null) };
    let groups = captures.iter().map(|group| group.map_or(Value::Undefined, |group| Value::text(group.as_str())));
    Some(Value::List(groups.collect()))
}

/// Folds `text.split(/pattern/)`, for patterns without groups.
pub(super) fn split(text: &str, pattern: &str, flags: &str) -> Option<Vec<Value>> {
    let regex = compile_regexp(pattern, flags)?;
    (regex.captures_len() == 1).then(|| regex.split(text).take(MAX_MATCHES).map(Value::text).collect())
}
