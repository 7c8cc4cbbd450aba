//! Renders JSON in the style of the file.
//!
//! Invariant: a rendered object has white space after its opening and before its closing brace.

use serde_json::{Map, Value};

use super::entry::Field;

/// The indentation of one level in a file that shows none.
pub(super) const DEFAULT_INDENT: &str = "  ";

/// The entry as a JSON object.
pub(super) fn entry_object(fields: &[Field]) -> Value {
    Value::Object(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// An object with one key.
pub(super) fn single_key_object(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// The layout of a rendered object.
pub(super) enum Layout<'a> {
    /// Everything on one line.
    Line,
    /// One line per field.
    Lines { newline: &'a str, unit: &'a str, indent: String },
}

/// Renders a value. Arrays are always on one line.
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

/// Renders a key and its value.
pub(super) fn property(key: &str, value: &Value, layout: &Layout<'_>) -> String {
    format!("{}: {}", Value::from(key), render(value, layout))
}
