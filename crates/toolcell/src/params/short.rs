//! The short form in which tools declare their parameters, as a JSON Schema.
//!
//! Invariant: nothing that is written in a definition is dropped: it is taken over, or refused by its name.

use serde_json::{Map, Value, json};

use super::error::SchemaError;
use super::shown;

/// What a definition may have.
const KEYS: [&str; 9] =
    ["type", "description", "default", "enum", "minimum", "maximum", "required", "items", "properties"];
/// The types of the short form.
const TYPES: [&str; 5] = ["string", "number", "boolean", "object", "array"];

/// Whether a declaration is a JSON Schema: `$schema` or `type` is a text (or `type` a list), or `properties` is an
/// object that has no text under `type`. A definition of the short form is an object with a text under `type`, so
/// parameters may be called `type`, `$schema` or `properties`.
pub(super) fn is_json_schema(declared: &Map<String, Value>) -> bool {
    let properties = declared.get("properties").and_then(Value::as_object);
    declared.get("$schema").is_some_and(Value::is_string)
        || declared.get("type").is_some_and(|it| it.is_string() || it.is_array())
        || properties.is_some_and(|properties| !properties.get("type").is_some_and(Value::is_string))
}

/// The JSON Schema that says the same.
pub(super) fn to_json_schema(declared: &Map<String, Value>) -> Result<Value, SchemaError> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, definition) in declared {
        let wrong = |what: String| SchemaError::Definition { at: shown::name(name), what };
        let definition = definition.as_object().ok_or_else(|| {
            wrong(format!(
                "is declared as {}, expected an object with `type` and `description`",
                shown::value(definition)
            ))
        })?;
        let mut property = definition.clone();
        if let Some(key) = property.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(wrong(unknown(key)));
        }
        match definition.get("type") {
            Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => {}
            Some(kind) => return Err(wrong(unknown_type(kind, &TYPES))),
            None => return Err(wrong(format!("has no `type`: it is one of {}", shown::names(TYPES.into_iter())))),
        }
        match property.shift_remove("required") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => required.push(name.as_str()),
            Some(other) => {
                return Err(wrong(format!("has `required` {}, expected true or false", shown::value(&other))));
            }
        }
        properties.insert(name.clone(), Value::Object(property));
    }
    Ok(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}

/// What is wrong with a type that there is not.
pub(super) fn unknown_type(kind: &Value, known: &[&'static str]) -> String {
    let near = kind.as_str().and_then(|kind| shown::nearest(kind, known.iter().copied()));
    match near {
        Some(near) => format!("has the type {}, which there is not; did you mean `{near}`?", shown::value(kind)),
        None => format!(
            "has the type {}, which there is not: it is one of {}",
            shown::value(kind),
            shown::names(known.iter().copied())
        ),
    }
}

fn unknown(key: &str) -> String {
    // The documents' own name of what a definition calls `enum`.
    let near = if key == "allowedValues" { Some("enum") } else { shown::nearest(key, KEYS.into_iter()) };
    match near {
        Some(near) => format!("has {}, which no definition has; did you mean `{near}`?", shown::name(key)),
        None => {
            format!("has {}, which no definition has: it may have {}", shown::name(key), shown::names(KEYS.into_iter()))
        }
    }
}
