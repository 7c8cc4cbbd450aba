//! The JSON Schema of policy files, for editors, and the check of a file against it.
//!
//! Invariant: a file that passes the check deserializes into [`RawPolicy`]. A validation library
//! could check it too, but would report no lines and no similar keys.

use std::ops::Range;
use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};
use toolcell_i18n::{Message, message};

use crate::problem::{PolicyParser, escape_for_display};
use crate::raw::RawPolicy;

/// The JSON Schema of a policy file: draft 7, which TOML editors support best.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings
        .with_transform(RecursiveTransform(drop_null_default))
        .into_generator()
        .into_root_schema_for::<RawPolicy>()
        .to_value()
});

/// Removes the `null` defaults that `Option` fields get: TOML has no null.
fn drop_null_default(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

impl PolicyParser<'_> {
    /// Removes the values of a table that its schema does not allow, and reports them. Returns
    /// whether all required keys remain.
    pub(super) fn prune(&mut self, path: &str, span: &Range<usize>, table: &mut DeTable<'_>, schema: &Value) -> bool {
        for needed in strings(&schema["required"]).filter(|needed| !table.contains_key(*needed)) {
            self.report(span, message!("`{path}` needs a `{key}`", path, key = needed));
        }
        let choices: Vec<&str> = alternative_keys(schema).collect();
        let has_choice = |table: &DeTable<'_>| choices.is_empty() || choices.iter().any(|key| table.contains_key(*key));
        if !has_choice(table) {
            let choices = join_alternatives(choices.iter().map(|key| message!("a `{key}`", key)));
            self.report(span, message!("`{path}` needs {choices}", path, choices));
        }
        for (key, mut value) in std::mem::take(table) {
            match property_schema(schema, key.get_ref()) {
                None => self.report(&key.span(), unknown_key_message(path, key.get_ref(), schema)),
                Some(of_key) => {
                    if self.prune_value(&child_path(path, key.get_ref()), &mut value, of_key) {
                        table.insert(key, value);
                    }
                }
            }
        }
        strings(&schema["required"]).all(|needed| table.contains_key(needed)) && has_choice(table)
    }

    /// Removes the invalid parts of a value, and returns whether the rest is valid.
    fn prune_value(&mut self, path: &str, value: &mut Spanned<DeValue<'_>>, schema: &Value) -> bool {
        let span = value.span();
        if let Some(ways) = schema["anyOf"].as_array() {
            let kind = type_name(value.get_ref());
            if let Some(way) = ways.iter().find(|way| way["type"] == kind) {
                return self.prune_value(path, value, way);
            }
            let (kind, wanted) = (with_article(kind), describe_alternatives(path, ways));
            self.report(&span, message!("`{path}` is {kind}, it must be {wanted}", path, kind, wanted));
            return false;
        }
        let wanted = schema["type"].as_str().unwrap_or("string");
        let wrong = match (value.get_mut(), wanted) {
            (DeValue::Table(table), "object") => return self.prune(path, &span, table, schema),
            (DeValue::Array(array), "array") => match self.prune_items(path, array, schema) {
                Some(fits) => return fits,
                None => message!("`{path}` is empty, it needs at least one entry", path),
            },
            (DeValue::Integer(integer), "integer") => match out_of_range(integer, schema) {
                None => return true,
                Some((least, most)) => {
                    let value = escape_for_display(&integer.to_string());
                    message!("`{path}` is {value}, it must be {least} to {most}", path, value, least, most)
                }
            },
            (DeValue::String(text), "string") => match enum_mismatch(text, schema) {
                None => return true,
                Some(choices) => {
                    message!("`{path}` cannot be `{value}`{choices}", path, value = escape_for_display(text), choices)
                }
            },
            (DeValue::Boolean(true), "boolean") if schema["enum"][0] == false => {
                message!("`{path}` cannot be `true`: list the grants, or set `false` to grant nothing", path)
            }
            (DeValue::Boolean(_), "boolean") => return true,
            (other, _) => {
                let (kind, wanted) = (with_article(other.type_str()), with_article(wanted));
                message!("`{path}` is {kind}, it must be {wanted}", path, kind, wanted)
            }
        };
        self.report(&span, wrong);
        false
    }

    /// Removes the invalid items, and returns whether the rest is valid; `None` if the array is too
    /// short.
    fn prune_items(&mut self, path: &str, array: &mut DeArray<'_>, schema: &Value) -> Option<bool> {
        if schema["minItems"].as_u64().is_some_and(|least| (array.len() as u64) < least) {
            return None;
        }
        let before = array.len();
        for mut item in std::mem::replace(array, DeArray::new()) {
            if self.prune_value(path, &mut item, &schema["items"]) {
                array.push(item);
            }
        }
        // A command without one of its arguments would be another command.
        Some(array.len() == before || schema["items"]["type"] == "object")
    }
}

/// Returns the JSON Schema type name of a value.
fn type_name<'v>(value: &'v DeValue<'_>) -> &'v str {
    if let DeValue::Table(_) = value { "object" } else { value.type_str() }
}

/// Describes the alternatives of a value.
fn describe_alternatives(path: &str, ways: &[Value]) -> Message {
    let said = ways.iter().map(|way| match way["enum"].as_array().and_then(|words| words.first()) {
        Some(word) => Message::verbatim(format!("`{word}`")),
        None if way["items"]["type"] == "object" => message!("an array (`[[{path}]]`)", path),
        None => with_article(way["type"].as_str().unwrap_or("string")),
    });
    join_alternatives(said)
}

/// Joins alternatives.
fn join_alternatives(ways: impl Iterator<Item = Message>) -> Message {
    ways.reduce(|first, second| message!("{first} or {second}", first, second))
        .unwrap_or_else(|| Message::verbatim(String::new()))
}

/// Returns the keys of a table of which it needs one.
fn alternative_keys(schema: &Value) -> impl Iterator<Item = &str> {
    let ways = schema["oneOf"].as_array().into_iter().flatten();
    ways.flat_map(|way| strings(&way["required"]))
}

/// Returns the path of a key for messages.
fn child_path(path: &str, key: &str) -> String {
    let key = escape_for_display(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the schema of a key's value, if the key is allowed.
fn property_schema<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    schema["properties"].get(key).or_else(|| Some(&schema["additionalProperties"]).filter(|others| others.is_object()))
}

fn unknown_key_message(path: &str, key: &str, schema: &Value) -> Message {
    let known: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let (choices, key) = (choices(key, &known), escape_for_display(key));
    match path {
        "" => message!("a policy has no `{key}`{choices}", key, choices),
        path => message!("`{path}` has no `{key}`{choices}", path, key, choices),
    }
}

/// Returns the allowed range, if the integer is outside of it.
fn out_of_range(integer: &DeInteger<'_>, schema: &Value) -> Option<(u64, u64)> {
    let (least, most) = (schema["minimum"].as_u64().unwrap_or(0), schema["maximum"].as_u64().unwrap_or(u64::MAX));
    let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    let fits = value.is_some_and(|value| (least..=most).contains(&value));
    (!fits).then_some((least, most))
}

/// Returns the allowed words, with the most similar one first, if the text is none of them.
fn enum_mismatch(text: &str, schema: &Value) -> Option<Message> {
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let known: Vec<&str> = described.filter_map(|one| one["const"].as_str()).chain(strings(&schema["enum"])).collect();
    (!known.is_empty() && !known.contains(&text)).then(|| choices(text, &known))
}

/// Formats the most similar word and the list of all words.
fn choices(text: &str, known: &[&str]) -> Message {
    let near = known
        .iter()
        .map(|known| (strsim::osa_distance(&text.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    let known = Message::list(known.iter().map(|known| Message::verbatim(format!("`{known}`"))));
    match near {
        Some((_, near)) => message!(", did you mean `{near}`? (known: {known})", near, known),
        None => message!(" (known: {known})", known),
    }
}

/// Returns a type with its article: those of JSON Schema that the schema uses, and those of TOML.
fn with_article(kind: &str) -> Message {
    match kind {
        "object" | "table" => message!("a table"),
        "array" => message!("an array"),
        "integer" => message!("an integer"),
        "string" => message!("a string"),
        "boolean" => message!("a boolean"),
        "float" => message!("a float"),
        "datetime" => message!("a datetime"),
        other => Message::verbatim(format!("a {other}")),
    }
}
