//! JSON as an owner of a file would write it.
//!
//! Invariant: an object that is written has white space after its first brace and before its last one.

use serde_json::{Map, Value};

use super::entry::Field;

/// What a level is moved in by where a file does not say.
pub(super) const UNIT: &str = "  ";

/// The object that an entry is.
pub(super) fn object(fields: &[Field]) -> Value {
    Value::Object(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// An object with one key.
pub(super) fn nested(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// How a value is written.
pub(super) enum Layout<'a> {
    /// On one line.
    Line,
    /// A line for each field.
    Lines { newline: &'a str, unit: &'a str, indent: String },
}

/// The text of a value. A list is on one line always.
pub(super) fn render(value: &Value, layout: &Layout<'_>) -> String {
    match (value, layout) {
        (Value::Object(fields), Layout::Line) => {
            let fields = fields.iter().map(|(key, value)| property(key, value, layout));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        (Value::Object(fields), Layout::Lines { newline, unit, indent }) => {
            let deeper = format!("{indent}{unit}");
            let inner = Layout::Lines { newline, unit, indent: deeper.clone() };
            let fields = fields.iter().map(|(key, value)| format!("{newline}{deeper}{}", property(key, value, &inner)));
            format!("{{{}{newline}{indent}}}", fields.collect::<Vec<_>>().join(","))
        }
        (Value::Array(items), _) => {
            let items: Vec<String> = items.iter().map(|item| render(item, &Layout::Line)).collect();
            format!("[{}]", items.join(", "))
        }
        (other, _) => other.to_string(),
    }
}

/// A key and its value.
pub(super) fn property(key: &str, value: &Value, layout: &Layout<'_>) -> String {
    format!("{}: {}", Value::from(key), render(value, layout))
}
