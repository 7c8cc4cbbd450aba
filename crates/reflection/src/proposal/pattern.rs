//! The common arguments of a repeated operation, which become the parameters of a skeleton.
//!
//! Invariant: names and types are used, values never: a proposal is printed, and a history may
//! contain secrets.

use serde_json::Value;

use crate::history_line::normalize_history;
use crate::operation::PastOperation;
use crate::repetition::find_repeated;

/// The most fields that are used.
const MAX_FIELDS: usize = 12;
/// The longest name of a field, in characters.
const MAX_FIELD_CHARS: usize = 64;
/// The most operations that are inspected.
const MAX_OPERATIONS: usize = 200;

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

    /// The fields whose type is known, with their types.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&Field, &'static str)> {
        self.fields.iter().filter_map(|field| Some((field, field.kind?)))
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        assert!(!format!("{pattern:?}").contains("secret"));
    }

    #[test]
    fn a_shape_is_as_good_as_values() {
        let shape = json!({"count": "integer", "tags": "array"});
        let pattern = RepetitionPattern::from_history(&[called(shape.clone()), called(shape)]);
        let kinds: Vec<_> = pattern.fields.iter().map(|field| field.kind).collect();
        assert_eq!(kinds, [Some("number"), Some("array")]);
    }
}
