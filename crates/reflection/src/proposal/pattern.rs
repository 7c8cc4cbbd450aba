//! What the operations of a history were given: the fields that the items of a repetition have.
//!
//! Invariant: names and kinds are taken over, values never: a proposal is printed, and a history may have secrets in it.

use serde_json::{Value, json};

use crate::line::understood;
use crate::operation::{Operation, repeated};

/// How many fields are taken over.
const FIELDS_LIMIT: usize = 12;
/// The longest name of a field, in characters.
const FIELD_LIMIT: usize = 64;
/// How many operations are looked at.
const OPERATIONS_LIMIT: usize = 200;
/// Parameters that the code has itself.
const TAKEN: [&str; 2] = ["items", "template"];

/// What was repeated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    /// What was called; nothing where no history shows it.
    pub(super) operation: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// A field of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Its type, in the short form of parameters; none where it was of several types, or nothing.
    pub(super) kind: Option<&'static str>,
    /// Whether every operation had it.
    pub(super) is_always: bool,
}

impl Pattern {
    pub(super) fn of(history: &[Operation]) -> Self {
        let Some(most) = repeated(history).into_iter().next() else { return Self::default() };
        let history = understood(history);
        let same = || history.iter().filter(|it| it.name.trim() == most.name).take(OPERATIONS_LIMIT);
        let mut fields: Vec<(Field, usize)> = Vec::new();
        for (name, value) in same().filter_map(|it| it.arguments.as_object()).flatten() {
            if let Some((field, count)) = fields.iter_mut().find(|(field, _)| field.name == *name) {
                *count += 1;
                field.kind = field.kind.filter(|known| kind(value) == Some(*known));
            } else if fields.len() < FIELDS_LIMIT && name.chars().count() <= FIELD_LIMIT {
                fields.push((Field { name: name.clone(), kind: kind(value), is_always: false }, 1));
            }
        }
        let all = same().count();
        let fields = fields.into_iter().map(|(field, count)| Field { is_always: count == all, ..field }).collect();
        Self { operation: Some(most.name), fields }
    }

    /// The fields that may be parameters of their own.
    pub(super) fn shared(&self) -> impl Iterator<Item = (&Field, &'static str)> {
        let free = |field: &&Field| !TAKEN.contains(&field.name.as_str());
        self.fields.iter().filter(free).filter_map(|field| Some((field, field.kind?)))
    }

    /// The text that is made of each item: `read: path={path}`.
    pub(super) fn template(&self) -> String {
        let in_template = self.in_template();
        let parts: Vec<String> = in_template.iter().map(|field| format!("{0}={{{0}}}", field.name)).collect();
        match (&self.operation, parts.is_empty()) {
            (_, true) => "{value}".to_owned(),
            (Some(operation), false) => format!("{}: {}", plain(operation), parts.join(", ")),
            (None, false) => parts.join(", "),
        }
    }

    /// Two items, and what becomes of them.
    pub(super) fn samples(&self) -> (Value, Value) {
        let sample = |at: usize| {
            let fields: serde_json::Map<String, Value> =
                self.fields.iter().filter(|it| it.is_always).map(|it| (it.name.clone(), value(it.kind, at))).collect();
            if self.in_template().is_empty() { json!({"value": value(None, at)}) } else { Value::Object(fields) }
        };
        let result = |at: usize| {
            let fields = self.in_template();
            let text = |field: &&Field| format!("{}={}", field.name, written(&value(field.kind, at)));
            let parts: Vec<String> = fields.iter().map(text).collect();
            match (&self.operation, parts.is_empty()) {
                (_, true) => written(&value(None, at)),
                (Some(operation), false) => format!("{}: {}", plain(operation), parts.join(", ")),
                (None, false) => parts.join(", "),
            }
        };
        let outcome = |at: usize| json!({"index": at, "ok": true, "result": result(at)});
        (json!([sample(0), sample(1)]), json!({"results": [outcome(0), outcome(1)], "failed": 0}))
    }

    /// The fields whose names can stand between braces.
    fn in_template(&self) -> Vec<&Field> {
        let fits = |name: &str| !name.is_empty() && !name.contains(['{', '}']) && !name.contains(char::is_control);
        self.fields.iter().filter(|field| field.is_always && fits(&field.name)).collect()
    }
}

/// The name of an operation as part of a template.
fn plain(operation: &str) -> String {
    operation.chars().filter(|letter| !letter.is_control() && !matches!(letter, '{' | '}')).take(40).collect()
}

/// The type of a value. A text that names a type stands for it: histories may have shapes instead of values.
fn kind(value: &Value) -> Option<&'static str> {
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

/// A value that nobody had.
fn value(kind: Option<&str>, at: usize) -> Value {
    match kind {
        Some("number") => json!(at + 1),
        Some("boolean") => json!(at == 0),
        Some("array") => json!([at + 1]),
        Some("object") => json!({"n": at + 1}),
        _ => json!(["a", "b"][at % 2]),
    }
}

fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(arguments: Value) -> Operation {
        Operation { name: "convert".to_owned(), arguments, ..Operation::default() }
    }

    #[test]
    fn names_and_kinds_are_taken_over_and_values_are_not() {
        let history = [
            called(json!({"path": "sk-secret", "width": 1, "deep": null})),
            called(json!({"path": "sk-secret", "width": 4, "deep": null})),
            called(json!({"path": "sk-secret", "width": "x", "deep": null})),
            called(json!({"path": "sk-secret", "width": 2, "deep": null, "more": [1]})),
        ];
        let pattern = Pattern::of(&history);
        let found: Vec<_> = pattern.fields.iter().map(|it| (it.name.as_str(), it.kind, it.is_always)).collect();
        let expect = [
            ("path", Some("string"), true),
            ("width", None, true),
            ("deep", None, true),
            ("more", Some("array"), false),
        ];
        assert_eq!(found, expect);
        assert_eq!(pattern.template(), "convert: path={path}, width={width}, deep={deep}");
        assert!(!format!("{pattern:?} {:?}", pattern.samples()).contains("secret"));
    }

    #[test]
    fn a_shape_is_as_good_as_values() {
        let shape = json!({"count": "integer", "tags": "array"});
        let pattern = Pattern::of(&[called(shape.clone()), called(shape)]);
        let kinds: Vec<_> = pattern.fields.iter().map(|field| field.kind).collect();
        assert_eq!(kinds, [Some("number"), Some("array")]);
    }
}
