//! Schemas as clients take them: of the dialect that all of them know, with one type for each value.
//!
//! The types of the operations say that a field may be null; some clients map schemas onto dialects that have no such type.
//! So a field that may be null is one that may be missing here, and where it is null it is left out of the answer.
//!
//! Invariant: what is written with [`fit`] passes the schema.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema of what is read.
pub(crate) fn of_input<T: JsonSchema>() -> JsonObject {
    generated::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what is written.
pub(crate) fn of_output<T: JsonSchema>() -> JsonObject {
    generated::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    // What it is for stands beside it.
    for noise in ["title", "description"] {
        schema.remove(noise);
    }
    schema
}

/// One type for each value, and no more than JSON Schema knows.
fn plain(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        *schema = anything();
        return;
    };
    // Formats of numbers are Rust's.
    fields.remove("format");
    fields.remove("default");
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    let missing = optional(fields);
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    not_null(fields);
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|name| !missing.iter().any(|missing| name == missing));
    }
    for property in
        fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(JsonObject::values_mut)
    {
        plain(property);
    }
    if let Some(items) = fields.get_mut("items") {
        plain(items);
    }
    let says_nothing =
        !["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| fields.contains_key(*key));
    if says_nothing && let Value::Object(anything) = anything() {
        fields.extend(anything);
    }
}

/// `anyOf` something and null is that something.
fn not_null(fields: &mut JsonObject) {
    let Some(Value::Array(choices)) = fields.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
    for choice in &mut *choices {
        plain(choice);
    }
    if let [Value::Object(one)] = choices.as_slice() {
        let one = one.clone();
        fields.remove("anyOf");
        for (key, value) in one {
            fields.entry(key).or_insert(value);
        }
    }
}

/// The properties that may be null.
fn optional(fields: &JsonObject) -> Vec<String> {
    let is_null = |value: &Value| value.is_null() || value == "null" || value.get("type") == Some(&Value::from("null"));
    let may_be_null = |property: &Value| {
        let lists = [property.get("type"), property.get("anyOf"), property.get("enum")].into_iter().flatten();
        lists.filter_map(Value::as_array).flatten().any(is_null)
    };
    let properties = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter(|(_, property)| may_be_null(property)).map(|(name, _)| name.clone()).collect()
}

/// Any JSON at all, said in so many words.
fn anything() -> Value {
    let kinds = ["object", "array", "string", "number", "boolean", "null"];
    json!({"anyOf": kinds.map(|kind| json!({"type": kind}))})
}

/// Leaves out what is null and may be missing.
pub(crate) fn fit(schema: &JsonObject, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
            fields.retain(|name, value| !value.is_null() || properties.get(name).is_none_or(may_be_null));
            for (name, value) in fields {
                if let Some(Value::Object(property)) = properties.get(name) {
                    fit(property, value);
                }
            }
        }
        Value::Array(items) => {
            let Some(Value::Object(schema)) = schema.get("items") else { return };
            for item in items {
                fit(schema, item);
            }
        }
        _ => {}
    }
}

/// Whether null is one of the values.
fn may_be_null(schema: &Value) -> bool {
    let any = schema.get("anyOf").and_then(Value::as_array);
    any.is_some_and(|choices| choices.iter().any(|choice| choice.get("type") == Some(&Value::from("null"))))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Part {
        count: u64,
        name: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Whole {
        part: Option<Part>,
        parts: Vec<Part>,
        value: Value,
        at: Option<f64>,
    }

    #[test]
    fn what_may_be_null_may_be_missing_and_has_one_type() {
        let schema = of_output::<Whole>();
        assert_eq!(schema["required"], json!(["parts", "value"]));
        let part = json!({"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}, "name": {"type": "string"}}, "required": ["count"]});
        assert_eq!(schema["properties"]["part"], part);
        assert_eq!(schema["properties"]["parts"]["items"], part);
        assert_eq!(schema["properties"]["at"], json!({"type": "number"}));
        assert_eq!(schema["properties"]["value"], anything());
    }

    #[test]
    fn what_is_null_is_left_out_but_where_null_is_a_value() {
        let schema = of_output::<Whole>();
        let whole = Whole {
            part: None,
            parts: vec![Part { count: 1, name: None }],
            value: json!({"a": null, "b": [null]}),
            at: Some(0.5),
        };
        let mut value = serde_json::to_value(&whole).unwrap();
        fit(&schema, &mut value);
        assert_eq!(value, json!({"parts": [{"count": 1}], "value": {"a": null, "b": [null]}, "at": 0.5}));
        let mut nothing = serde_json::to_value(Whole { value: Value::Null, parts: vec![], ..whole }).unwrap();
        fit(&schema, &mut nothing);
        assert_eq!(nothing, json!({"parts": [], "value": null, "at": 0.5}));
    }
}
