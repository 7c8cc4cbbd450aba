//! Display of the arguments of a call in an approval prompt.
//!
//! Invariant: each key of the arguments is shown in full. A long value is truncated on its own, and
//! the truncation mark states how much is missing.

use serde_json::Value;
use toolcell_i18n::{Lang, tr};

use super::{cut_mark, escape_for_display};

/// The maximum length of a shown value, and of a nested value on one line, in characters.
const MAX_VALUE_CHARS: usize = 200;
/// The maximum number of entries shown of a nested object or array.
const MAX_ENTRIES: usize = 64;
/// The maximum nesting depth at which the keys of a value are shown.
const MAX_DEPTH: usize = 6;

/// Formats the arguments: a line for each key, and further lines for long nested values.
pub(super) fn argument_lines(args: &Value, lang: Lang) -> Vec<String> {
    let mut lines = ArgumentLines { lines: Vec::new(), lang };
    match args {
        Value::Object(fields) if fields.is_empty() => lines.push(0, tr!(lang, "none")),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| lines.push_entry(0, &display_key(name), value)),
        other => lines.push_entry(0, "", other),
    }
    lines.lines
}

struct ArgumentLines {
    lines: Vec<String>,
    lang: Lang,
}

impl ArgumentLines {
    fn push(&mut self, depth: usize, text: &str) {
        self.lines.push(format!("{:width$}{text}", "", width = 4 + 2 * depth));
    }

    fn push_entry(&mut self, depth: usize, label: &str, value: &Value) {
        let colon = if label.is_empty() { "" } else { ": " };
        let text = value.to_string();
        let size = text.chars().count();
        let is_nested = matches!(value, Value::Object(_) | Value::Array(_));
        if size <= MAX_VALUE_CHARS || !is_nested || depth >= MAX_DEPTH {
            let start: String = text.chars().take(MAX_VALUE_CHARS).collect();
            let mark = if size > MAX_VALUE_CHARS { cut_mark(MAX_VALUE_CHARS, size, self.lang) } else { String::new() };
            return self.push(depth, &format!("{label}{colon}{}{mark}", escape_for_display(&start)));
        }
        self.push(depth, label);
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter().take(MAX_ENTRIES) {
                    self.push_entry(depth + 1, &display_key(name), value);
                }
                self.push_entry_count(depth + 1, fields.len());
            }
            Value::Array(items) => {
                for (at, item) in items.iter().take(MAX_ENTRIES).enumerate() {
                    self.push_entry(depth + 1, &format!("[{at}]"), item);
                }
                self.push_entry_count(depth + 1, items.len());
            }
            _ => {}
        }
    }

    /// Adds the number of shown entries, if some are left out.
    fn push_entry_count(&mut self, depth: usize, all: usize) {
        if all > MAX_ENTRIES {
            let said = tr!(self.lang, "… {shown} of {all} entries shown", shown = MAX_ENTRIES, all);
            self.push(depth, &said);
        }
    }
}

/// Formats a key, in quotes if it could be mistaken for something else.
fn display_key(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-'));
    if is_plain { escape_for_display(name) } else { escape_for_display(&Value::from(name).to_string()) }
}
