//! The common arguments of a repeated operation, which become the fields of a repetition's items.
//!
//! Invariant: names and types are used, values never: a proposal is printed, and a history may
//! contain secrets.

use serde_json::{Value, json};

use crate::history_line::normalize_history;
use crate::operation::PastOperation;
use crate::repetition::find_repeated;

/// The most fields that are used.
const MAX_FIELDS: usize = 12;
/// The longest name of a field, in characters.
const MAX_FIELD_CHARS: usize = 64;
/// The most operations that are inspected.
const MAX_OPERATIONS: usize = 200;
/// The parameters that the code defines itself.
const RESERVED_PARAMETERS: [&str; 2] = ["items", "template"];

/// The arguments of a repeated operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RepetitionPattern {
    /// The name of the operation; `None` without a repetition in the history.
    pub(super) operation: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// A field of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// The type, in the short form of parameters; `None` if it is null or differs.
    pub(super) kind: Option<&'static str>,
    /// Whether all operations had the field.
    pub(super) is_always: bool,
}

impl RepetitionPattern {
    pub(super) fn from_history(history: &[PastOperation]) -> Self {
        let Some(most) = find_repeated(history).into_iter().next() else { return Self::default() };
        let history = normalize_history(history);
        let same = || history.iter().filter(|it| it.name.trim() == most.name).take(MAX_OPERATIONS);
        let mut fields: Vec<(Field, usize)> = Vec::new();
        for (name, value) in same().filter_map(|it| it.arguments.as_object()).flatten() {
            if let Some((field, count)) = fields.iter_mut().find(|(field, _)| field.name == *name) {
                *count += 1;
                field.kind = field.kind.filter(|known| value_type(value) == Some(*known));
            } else if fields.len() < MAX_FIELDS && name.chars().count() <= MAX_FIELD_CHARS {
                fields.push((Field { name: name.clone(), kind: value_type(value), is_always: false }, 1));
            }
        }
        let all = same().count();
        let fields = fields.into_iter().map(|(field, count)| Field { is_always: count == all, ..field }).collect();
        Self { operation: Some(most.name), fields }
    }

    /// The fields that can be parameters of their own.
    pub(super) fn shared_parameters(&self) -> impl Iterator<Item = (&Field, &'static str)> {
        let free = |field: &&Field| !RESERVED_PARAMETERS.contains(&field.name.as_str());
        self.fields.iter().filter(free).filter_map(|field| Some((field, field.kind?)))
    }

    /// The template that is filled for each item: `read: path={path}`.
    pub(super) fn template(&self) -> String {
        let in_template = self.template_fields();
        let parts: Vec<String> = in_template.iter().map(|field| format!("{0}={{{0}}}", field.name)).collect();
        match (&self.operation, parts.is_empty()) {
            (_, true) => "{value}".to_owned(),
            (Some(operation), false) => format!("{}: {}", template_label(operation), parts.join(", ")),
            (None, false) => parts.join(", "),
        }
    }

    /// Two sample items and the result for them.
    pub(super) fn sample_items(&self) -> (Value, Value) {
        let sample = |at: usize| {
            let fields: serde_json::Map<String, Value> = self
                .fields
                .iter()
                .filter(|it| it.is_always)
                .map(|it| (it.name.clone(), sample_value(it.kind, at)))
                .collect();
            if self.template_fields().is_empty() {
                json!({"value": sample_value(None, at)})
            } else {
                Value::Object(fields)
            }
        };
        let result = |at: usize| {
            let fields = self.template_fields();
            let text = |field: &&Field| format!("{}={}", field.name, to_plain_text(&sample_value(field.kind, at)));
            let parts: Vec<String> = fields.iter().map(text).collect();
            match (&self.operation, parts.is_empty()) {
                (_, true) => to_plain_text(&sample_value(None, at)),
                (Some(operation), false) => format!("{}: {}", template_label(operation), parts.join(", ")),
                (None, false) => parts.join(", "),
            }
        };
        let outcome = |at: usize| json!({"index": at, "ok": true, "result": result(at)});
        (json!([sample(0), sample(1)]), json!({"results": [outcome(0), outcome(1)], "failed": 0}))
    }

    /// The fields whose names can stand in a template.
    fn template_fields(&self) -> Vec<&Field> {
        let fits = |name: &str| !name.is_empty() && !name.contains(['{', '}']) && !name.contains(char::is_control);
        self.fields.iter().filter(|field| field.is_always && fits(&field.name)).collect()
    }
}

/// The name of the operation, without characters that have a meaning in templates.
fn template_label(operation: &str) -> String {
    operation.chars().filter(|letter| !letter.is_control() && !matches!(letter, '{' | '}')).take(40).collect()
}

/// The type of a value. A string that names a type stands for that type, because a history may
/// contain shapes instead of values.
fn value_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(text) => Some(match text.as_str() {
            "number" | "integer" => "number",
            "boolean" => "boolean",
            "array" => "array",
            "object" => "object",
            _ => "string",
        }),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

/// A synthetic sample value.
fn sample_value(kind: Option<&str>, at: usize) -> Value {
    match kind {
        Some("number") => json!(at + 1),
        Some("boolean") => json!(at == 0),
        Some("array") => json!([at + 1]),
        Some("object") => json!({"n": at + 1}),
        _ => json!(["a", "b"][at % 2]),
    }
}

fn to_plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(arguments: Value) -> PastOperation {
        PastOperation { name: "convert".to_owned(), arguments, ..PastOperation::default() }
    }

    #[test]
    fn names_and_kinds_are_taken_over_and_values_are_not() {
        let history = [
            called(json!({"path": "sk-secret", "width": 1, "deep": null})),
            called(json!({"path": "sk-secret", "width": 4, "deep": null})),
            called(json!({"path": "sk-secret", "width": "x", "deep": null})),
            called(json!({"path": "sk-secret", "width": 2, "deep": null, "more": [1]})),
        ];
        let pattern = RepetitionPattern::from_history(&history);
        let found: Vec<_> = pattern.fields.iter().map(|it| (it.name.as_str(), it.kind, it.is_always)).collect();
        let expect = [
            ("path", Some("string"), true),
            ("width", None, true),
            ("deep", None, true),
            ("more", Some("array"), false),
        ];
        assert_eq!(found, expect);
        assert_eq!(pattern.template(), "convert: path={path}, width={width}, deep={deep}");
        assert!(!format!("{pattern:?} {:?}", pattern.sample_items()).contains("secret"));
    }

    #[test]
    fn a_shape_is_as_good_as_values() {
        let shape = json!({"count": "integer", "tags": "array"});
        let pattern = RepetitionPattern::from_history(&[called(shape.clone()), called(shape)]);
        let kinds: Vec<_> = pattern.fields.iter().map(|field| field.kind).collect();
        assert_eq!(kinds, [Some("number"), Some("array")]);
    }
}
