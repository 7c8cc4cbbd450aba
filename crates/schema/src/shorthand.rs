//! The short form of parameter declarations, and its conversion to JSON Schema.
//!
//! Invariant: nothing in a definition is dropped: it is converted, or refused by its name.

use serde_json::{Map, Value, json};
use toolcell_i18n::{Message, message};

use super::display;
use super::error::SchemaError;

/// The allowed keys of a definition.
const DEFINITION_KEYS: [&str; 9] =
    ["type", "description", "default", "enum", "minimum", "maximum", "required", "items", "properties"];
/// The types of the short form.
const SHORTHAND_TYPES: [&str; 5] = ["string", "number", "boolean", "object", "array"];

/// Returns whether a declaration is a JSON Schema: `$schema` or `type` is a string (or `type` an
/// array), or `properties` is an object without a string under `type`. A definition of the short
/// form is an object with a string under `type`, so parameters may be named `type`, `$schema` or
/// `properties`.
pub(super) fn is_json_schema(declared: &Map<String, Value>) -> bool {
    let properties = declared.get("properties").and_then(Value::as_object);
    declared.get("$schema").is_some_and(Value::is_string)
        || declared.get("type").is_some_and(|it| it.is_string() || it.is_array())
        || properties.is_some_and(|properties| !properties.get("type").is_some_and(Value::is_string))
}

/// Converts the short form to the equivalent JSON Schema.
pub(super) fn to_json_schema(declared: &Map<String, Value>) -> Result<Value, SchemaError> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, definition) in declared {
        let wrong = |what: Message| SchemaError::Definition { at: Message::verbatim(display::name(name)), what };
        let definition = definition.as_object().ok_or_else(|| {
            wrong(message!(
                "is declared as {value}, expected an object with `type` and `description`",
                value = display::value(definition),
            ))
        })?;
        let mut property = definition.clone();
        if let Some(key) = property.keys().find(|key| !DEFINITION_KEYS.contains(&key.as_str())) {
            return Err(wrong(unknown_key(key)));
        }
        match definition.get("type") {
            Some(Value::String(kind)) if SHORTHAND_TYPES.contains(&kind.as_str()) => {}
            Some(kind) => return Err(wrong(unknown_type(kind, &SHORTHAND_TYPES))),
            None => {
                let known = display::names(SHORTHAND_TYPES.into_iter());
                return Err(wrong(message!("has no `type`, expected one of {known}", known)));
            }
        }
        match property.shift_remove("required") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => required.push(name.as_str()),
            Some(other) => {
                let value = display::value(&other);
                return Err(wrong(message!("has `required` {value}, expected true or false", value)));
            }
        }
        properties.insert(name.clone(), Value::Object(property));
    }
    Ok(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}

/// Returns the message for an unknown type.
pub(super) fn unknown_type(kind: &Value, known: &[&'static str]) -> Message {
    let near = kind.as_str().and_then(|kind| display::nearest(kind, known.iter().copied()));
    let value = display::value(kind);
    match near {
        Some(near) => message!("has the unknown type {value}; did you mean `{near}`?", value, near),
        None => {
            let known = display::names(known.iter().copied());
            message!("has the unknown type {value}, expected one of {known}", value, known)
        }
    }
}

fn unknown_key(key: &str) -> Message {
    // The contract's own name for `enum`.
    let near = if key == "allowedValues" { Some("enum") } else { display::nearest(key, DEFINITION_KEYS.into_iter()) };
    match near {
        Some(near) => message!("has the unknown key {key}; did you mean `{near}`?", key = display::name(key), near),
        None => {
            let known = display::names(DEFINITION_KEYS.into_iter());
            message!("has the unknown key {key}, expected one of {known}", key = display::name(key), known)
        }
    }
}
