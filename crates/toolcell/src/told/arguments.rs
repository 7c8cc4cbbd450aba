//! The arguments of a call, as a person is shown them.
//!
//! Invariant: each key of the arguments is shown, whole. A value that is long is cut by itself, and the cut says how much is missing.

use serde_json::Value;
use toolcell_tool::Lang;

use super::{cut_mark, unmasked};

/// The most characters of a value that are shown, and of a nested value in one line.
const MAX_VALUE_CHARS: usize = 200;
/// The most entries of an object or an array within the arguments that are shown.
const MAX_ENTRIES: usize = 64;
/// How deep a value may be nested within the arguments to be shown with its keys.
const MAX_DEPTH: usize = 6;

/// The arguments, a line for each key, and more where a value is long and nested.
pub(super) fn lines(args: &Value, lang: Lang) -> Vec<String> {
    let mut lines = Lines { lines: Vec::new(), lang };
    match args {
        Value::Object(fields) if fields.is_empty() => lines.put(0, &lines.word(["none", "なし", "无"])),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| lines.entry(0, &key(name), value)),
        other => lines.entry(0, "", other),
    }
    lines.lines
}

struct Lines {
    lines: Vec<String>,
    lang: Lang,
}

impl Lines {
    fn put(&mut self, depth: usize, text: &str) {
        self.lines.push(format!("{:width$}{text}", "", width = 4 + 2 * depth));
    }

    fn word(&self, [en, ja, zh]: [&str; 3]) -> String {
        let word = match self.lang {
            Lang::En => en,
            Lang::Ja => ja,
            Lang::Zh => zh,
        };
        word.to_owned()
    }

    fn entry(&mut self, depth: usize, label: &str, value: &Value) {
        let colon = if label.is_empty() { "" } else { ": " };
        let text = value.to_string();
        let size = text.chars().count();
        let is_nested = matches!(value, Value::Object(_) | Value::Array(_));
        if size <= MAX_VALUE_CHARS || !is_nested || depth >= MAX_DEPTH {
            let start: String = text.chars().take(MAX_VALUE_CHARS).collect();
            let mark = if size > MAX_VALUE_CHARS { cut_mark(MAX_VALUE_CHARS, size, self.lang) } else { String::new() };
            return self.put(depth, &format!("{label}{colon}{}{mark}", unmasked(&start)));
        }
        self.put(depth, label);
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter().take(MAX_ENTRIES) {
                    self.entry(depth + 1, &key(name), value);
                }
                self.rest(depth + 1, fields.len());
            }
            Value::Array(items) => {
                for (at, item) in items.iter().take(MAX_ENTRIES).enumerate() {
                    self.entry(depth + 1, &format!("[{at}]"), item);
                }
                self.rest(depth + 1, items.len());
            }
            _ => {}
        }
    }

    /// Says how many entries are shown, where that is not all of them.
    fn rest(&mut self, depth: usize, all: usize) {
        if all > MAX_ENTRIES {
            let said = match self.lang {
                Lang::En => format!("… {MAX_ENTRIES} of {all} entries shown"),
                Lang::Ja => format!("… {all}項目のうち{MAX_ENTRIES}項目を表示"),
                Lang::Zh => format!("… 显示 {all} 项中的 {MAX_ENTRIES} 项"),
            };
            self.put(depth, &said);
        }
    }
}

/// A key, in quotes where it could be taken for something else.
fn key(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-'));
    if is_plain { unmasked(name) } else { unmasked(&Value::from(name).to_string()) }
}
