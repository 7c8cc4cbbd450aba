//! Signatures: the parameters and the result of a tool as one line in the notation of TypeScript,
//! such as `average(xs: number[]) → number`.
//!
//! Types are approximate: what TypeScript has no word for, such as a range or a pattern, is left
//! out, and a part that is nested too deeply or has too many members is shortened to its type.
//!
//! Invariant: a signature is one line without control characters, and its length and the work for
//! it are bounded, whatever the schema is.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::{display, shorthand};

/// The maximum nesting of types.
const MAX_DEPTH: usize = 4;
/// The maximum number of properties of an object, and of members of a union.
const MAX_MEMBERS: usize = 12;
/// The maximum number of parameters.
const MAX_PARAMETERS: usize = 20;
/// The length at which nested types are shortened to their outermost one, in bytes.
const MAX_BYTES: usize = 400;

/// Returns the signature of a tool: its name, its parameters as they are declared (see
/// [`Schema::compile`](crate::Schema::compile)), and the JSON Schema of its result, if it is known.
/// A declaration is not checked; one that is invalid counts as none.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_schema::signature;
///
/// let xs = json!({"xs": {"type": "array", "items": {"type": "number"}, "required": true}});
/// assert_eq!(signature("average", &xs, Some(&json!({"type": "number"}))), "average(xs: number[]) → number");
/// assert_eq!(signature("average", &json!(null), None), "average(…)");
/// ```
#[must_use]
pub fn signature(name: &str, declared: &Value, returns: Option<&Value>) -> String {
    let parameters = declared.as_object().filter(|declared| !declared.is_empty()).and_then(|declared| {
        if shorthand::is_json_schema(declared) {
            Some(Cow::Borrowed(declared))
        } else {
            shorthand::to_json_schema(declared).ok()?.as_object().cloned().map(Cow::Owned)
        }
    });
    let parameters = parameters.map_or_else(|| "…".to_owned(), |schema| write_parameters(&schema));
    let mut text = format!("{name}({parameters})");
    if let Some(returns) = returns {
        let mut writer = TypeWriter::new(MAX_BYTES);
        writer.write_type(returns, MAX_DEPTH);
        // Writing to a string does not fail.
        let _ = write!(text, " → {}", writer.text);
    }
    text
}

/// Returns the list of parameters.
fn write_parameters(schema: &Map<String, Value>) -> String {
    let mut writer = TypeWriter::new(MAX_BYTES);
    writer.write_properties(schema, MAX_PARAMETERS, ", ", MAX_DEPTH);
    writer.text
}

/// Writes types until its room is used up.
struct TypeWriter {
    text: String,
    room: usize,
}

impl TypeWriter {
    const fn new(room: usize) -> Self {
        Self { text: String::new(), room }
    }

    /// Writes the type that a schema describes. Without depth or room, only its outermost part.
    fn write_type(&mut self, schema: &Value, depth: usize) {
        if let Some(value) = schema.get("const") {
            return self.write_literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            return self.write_union(values, Self::write_literal);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array).filter(|choices| !choices.is_empty()) {
                if self.is_full(depth) {
                    return self.text.push_str("unknown");
                }
                return self.write_union(choices, |writer, choice| writer.write_type(choice, depth - 1));
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.write_named(name, schema, depth),
            Some(Value::Array(names)) => self.write_union(names, |writer, name| {
                writer.write_named(name.as_str().unwrap_or_default(), schema, depth);
            }),
            _ if schema.get("properties").is_some() => self.write_named("object", schema, depth),
            _ => self.text.push_str("unknown"),
        }
    }

    fn write_named(&mut self, name: &str, schema: &Value, depth: usize) {
        match name {
            "integer" => self.text.push_str("number"),
            "array" => self.write_array(schema, depth),
            "object" => self.write_object(schema, depth),
            "string" | "number" | "boolean" | "null" => self.text.push_str(name),
            _ => self.text.push_str("unknown"),
        }
    }

    fn write_array(&mut self, schema: &Value, depth: usize) {
        let items = schema.get("items").filter(|items| items.is_object());
        match items {
            Some(items) if !self.is_full(depth) => {
                let start = self.text.len();
                self.write_type(items, depth - 1);
                // `A | B[]` would be another type.
                if self.text[start..].contains(" | ") {
                    self.text.insert(start, '(');
                    self.text.push(')');
                }
                self.text.push_str("[]");
            }
            _ => self.text.push_str("unknown[]"),
        }
    }

    fn write_object(&mut self, schema: &Value, depth: usize) {
        let has = |key: &str| schema.get(key).and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
        if self.is_full(depth) {
            self.text.push_str("object");
        } else if let Some(fields) = schema.as_object().filter(|_| has("properties")) {
            self.text.push_str("{ ");
            self.write_properties(fields, MAX_MEMBERS, "; ", depth - 1);
            self.text.push_str(" }");
        } else if has("additionalProperties") {
            self.text.push_str("Record<string, ");
            self.write_type(&schema["additionalProperties"], depth - 1);
            self.text.push('>');
        } else {
            self.text.push_str("object");
        }
    }

    fn write_properties(&mut self, schema: &Map<String, Value>, limit: usize, separator: &str, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        for (at, (name, property)) in properties.into_iter().flatten().enumerate() {
            if at > 0 {
                self.text.push_str(separator);
            }
            if at == limit || self.text.len() > self.room {
                return self.text.push('…');
            }
            self.write_key(name);
            self.text.push_str(if is_required(name) { ": " } else { "?: " });
            self.write_type(property, depth);
        }
    }

    /// Writes a property name, in quotes where TypeScript wants them.
    fn write_key(&mut self, name: &str) {
        let is_start = |char: char| char.is_alphabetic() || matches!(char, '_' | '$');
        let is_identifier = name.starts_with(is_start) && name.chars().all(|char| is_start(char) || char.is_numeric());
        let shown = if is_identifier { display::text(name) } else { display::value(&Value::from(name)) };
        self.text.push_str(&shown);
    }

    fn write_literal(&mut self, value: &Value) {
        self.text.push_str(&display::value(value));
    }

    fn write_union(&mut self, members: &[Value], write: impl Fn(&mut Self, &Value)) {
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.text.push_str(" | ");
            }
            if at == MAX_MEMBERS || self.text.len() > self.room {
                return self.text.push('…');
            }
            write(self, member);
        }
    }

    /// Whether there is no depth or room for a nested type.
    const fn is_full(&self, depth: usize) -> bool {
        depth == 0 || self.text.len() > self.room
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn type_of(schema: &Value) -> String {
        let text = signature("f", &Value::Null, Some(schema));
        text.strip_prefix("f(…) → ").unwrap().to_owned()
    }

    #[test]
    fn types_are_those_of_typescript() {
        for (schema, expected) in [
            (json!({"type": "integer"}), "number"),
            (json!({"type": ["string", "null"]}), "string | null"),
            (json!({"enum": ["a", 1, null]}), "\"a\" | 1 | null"),
            (json!({"const": "x", "type": "string"}), "\"x\""),
            (json!({"type": "array"}), "unknown[]"),
            (json!({"type": "array", "items": {"type": ["string", "number"]}}), "(string | number)[]"),
            (json!({"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}), "boolean[][]"),
            (json!({"type": "object"}), "object"),
            (json!({"type": "object", "additionalProperties": {"type": "number"}}), "Record<string, number>"),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
                "string | string[]",
            ),
            (
                json!({"properties": {"a": {"type": "string"}, "b c": {}}, "required": ["a"]}),
                "{ a: string; \"b c\"?: unknown }",
            ),
            (json!({"$ref": "#/$defs/a"}), "unknown"),
            (json!(true), "unknown"),
        ] {
            assert_eq!(type_of(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn parameters_are_named_and_optional_ones_are_marked() {
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "unit": {"enum": ["kg", "lb"]}, "年齢": {"type": "integer"}},
            "required": ["text"],
        });
        let expected = "f(text: string, unit?: \"kg\" | \"lb\", 年齢?: number)";
        assert_eq!(signature("f", &schema, None), expected);
        assert_eq!(signature("f", &json!({"type": "object"}), None), "f()");
    }

    #[test]
    fn whatever_the_schema_is_the_signature_is_short_and_one_line() {
        let wide = Value::Object((0..2_000).map(|at| (format!("k{at}"), json!({"type": "string"}))).collect());
        let deep = (0..60).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        let bomb = (0..3).fold(json!({"type": "string"}), |inner, _| json!({"anyOf": vec![inner; 40]}));
        let evil = json!({"properties": {"a\n\u{202e}\u{1b}[2J": {"enum": ["x\ny\u{202e}", "z".repeat(10_000)]}}});
        for schema in [json!({"type": "object", "properties": wide}), deep, bomb, evil] {
            let text = signature("f", &json!({"properties": {"p": schema}}), Some(&schema));
            assert!(text.len() < 2_500, "{} bytes", text.len());
            assert!(!text.contains(['\n', '\u{202e}', '\u{1b}']), "{text}");
        }
    }
}
