//! JSON Schemas that all clients understand: a common dialect, and one type per value.
//!
//! The requests have nullable fields, but some clients map schemas to dialects without `null`. A
//! nullable field is therefore declared as optional.
//!
//! Invariant: a request that matches its schema parses.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Generates the schema of an input.
pub(crate) fn for_input<T: JsonSchema>() -> Map<String, Value> {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    let Value::Object(mut schema) = schema else { return Map::new() };
    // The tool has a description of its own, and an unknown field is an error that names it.
    for noise in ["$schema", "title", "description", "additionalProperties"] {
        schema.remove(noise);
    }
    schema
}

/// Reduces a schema to one type per value and to plain JSON Schema keywords.
fn simplify(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        *schema = any_value_schema();
        return;
    };
    // These number formats are specific to Rust.
    fields.remove("format");
    fields.remove("default");
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    let missing = nullable_properties(fields);
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    flatten_nullable(fields);
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|name| !missing.iter().any(|missing| name == missing));
    }
    for property in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        simplify(property);
    }
    if let Some(items) = fields.get_mut("items") {
        simplify(items);
    }
    let says_nothing =
        !["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| fields.contains_key(*key));
    if says_nothing && let Value::Object(anything) = any_value_schema() {
        fields.extend(anything);
    }
}

/// Replaces `anyOf` of a schema and null by that schema.
fn flatten_nullable(fields: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = fields.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
    for choice in &mut *choices {
        simplify(choice);
    }
    if let [Value::Object(one)] = choices.as_slice() {
        let one = one.clone();
        fields.remove("anyOf");
        for (key, value) in one {
            fields.entry(key).or_insert(value);
        }
    }
}

/// The names of the nullable properties.
fn nullable_properties(fields: &Map<String, Value>) -> Vec<String> {
    let is_null = |value: &Value| value.is_null() || value == "null" || value.get("type") == Some(&Value::from("null"));
    let may_be_null = |property: &Value| {
        let lists = [property.get("type"), property.get("anyOf"), property.get("enum")].into_iter().flatten();
        lists.filter_map(Value::as_array).flatten().any(is_null)
    };
    let properties = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter(|(_, property)| may_be_null(property)).map(|(name, _)| name.clone()).collect()
}

/// A schema for any JSON value, written out.
fn any_value_schema() -> Value {
    let kinds = ["object", "array", "string", "number", "boolean", "null"];
    json!({"anyOf": kinds.map(|kind| json!({"type": kind}))})
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Part {
        count: u64,
        name: Option<String>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Whole {
        part: Option<Part>,
        parts: Vec<Part>,
        value: Value,
        at: Option<f64>,
    }

    #[test]
    fn what_may_be_null_may_be_missing_and_has_one_type() {
        let schema = for_input::<Whole>();
        assert_eq!(schema["required"], json!(["parts", "value"]));
        let part = json!({"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}, "name": {"type": "string"}}, "required": ["count"]});
        assert_eq!(schema["properties"]["part"], part);
        assert_eq!(schema["properties"]["parts"]["items"], part);
        assert_eq!(schema["properties"]["at"], json!({"type": "number"}));
        assert_eq!(schema["properties"]["value"], any_value_schema());
    }
}
