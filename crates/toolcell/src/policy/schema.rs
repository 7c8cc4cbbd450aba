//! The JSON Schema of a policy file, for editors, and the check of a file against it.
//!
//! Invariant: what passes the check has the shape of a [`Form`]. A library would check as well, but it knows no lines,
//! and not which key was meant.

use std::ops::Range;
use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use crate::policy::form::Form;
use crate::policy::problem::{Reading, shown};

/// The JSON Schema of a policy file: draft 7, which editors of TOML know best.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings
        .with_transform(RecursiveTransform(drop_null_default))
        .into_generator()
        .into_root_schema_for::<Form>()
        .to_value()
});

/// What may be left out is `None` here; a file has no such value.
fn drop_null_default(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

impl Reading<'_> {
    /// Takes out of a table what its schema does not allow, and notes why. The answer is whether all is there that the
    /// table needs.
    pub(super) fn prune(&mut self, path: &str, span: &Range<usize>, table: &mut DeTable<'_>, schema: &Value) -> bool {
        for needed in texts(&schema["required"]).filter(|needed| !table.contains_key(*needed)) {
            self.wrong(span, format!("`{path}` needs a `{needed}`"));
        }
        for (key, mut value) in std::mem::take(table) {
            match of_key(schema, key.get_ref()) {
                None => self.wrong(&key.span(), unknown(path, key.get_ref(), schema)),
                Some(of_key) => {
                    if self.fits(&below(path, key.get_ref()), &mut value, of_key) {
                        table.insert(key, value);
                    }
                }
            }
        }
        texts(&schema["required"]).all(|needed| table.contains_key(needed))
    }

    /// Whether a value is what its schema wants, after taking out of it what is not.
    fn fits(&mut self, path: &str, value: &mut Spanned<DeValue<'_>>, schema: &Value) -> bool {
        let span = value.span();
        if let Some(ways) = schema["anyOf"].as_array() {
            let kind = kind(value.get_ref());
            if let Some(way) = ways.iter().find(|way| way["type"] == kind) {
                return self.fits(path, value, way);
            }
            let (kind, wanted) = (with_article(kind), ways_said(path, ways));
            self.wrong(&span, format!("`{path}` is {kind}, it must be {wanted}"));
            return false;
        }
        let wanted = schema["type"].as_str().unwrap_or("string");
        let wrong = match (value.get_mut(), wanted) {
            (DeValue::Table(table), "object") => return self.prune(path, &span, table, schema),
            (DeValue::Array(array), "array") => match self.items(path, array, schema) {
                Some(fits) => return fits,
                None => format!("`{path}` is empty, it needs something in it"),
            },
            (DeValue::Integer(integer), "integer") => match out_of_range(integer, schema) {
                None => return true,
                Some(range) => format!("`{path}` is {}, it must be {range}", shown(&integer.to_string())),
            },
            (DeValue::String(text), "string") => match not_among(text, schema) {
                None => return true,
                Some(choices) => format!("`{path}` cannot be `{}`{choices}", shown(text)),
            },
            (DeValue::Boolean(true), "boolean") if schema["enum"][0] == false => {
                format!("`{path}` cannot be `true`: say what is granted, or `false` for nothing")
            }
            (DeValue::Boolean(_), "boolean") => return true,
            (other, _) => {
                format!("`{path}` is {}, it must be {}", with_article(other.type_str()), with_article(wanted))
            }
        };
        self.wrong(&span, wrong);
        false
    }

    /// Whether all items fit, after taking out those that do not; nothing where there are too few of them.
    fn items(&mut self, path: &str, array: &mut DeArray<'_>, schema: &Value) -> Option<bool> {
        if schema["minItems"].as_u64().is_some_and(|least| (array.len() as u64) < least) {
            return None;
        }
        let before = array.len();
        for mut item in std::mem::replace(array, DeArray::new()) {
            if self.fits(path, &mut item, &schema["items"]) {
                array.push(item);
            }
        }
        // A command without one of its words is another command.
        Some(array.len() == before || schema["items"]["type"] == "object")
    }
}

/// What JSON Schema calls a value of this kind.
fn kind<'v>(value: &'v DeValue<'_>) -> &'v str {
    if let DeValue::Table(_) = value { "object" } else { value.type_str() }
}

/// What may stand at a place where values of several kinds may.
fn ways_said(path: &str, ways: &[Value]) -> String {
    let said = ways.iter().map(|way| match way["enum"].as_array().and_then(|words| words.first()) {
        Some(word) => format!("`{word}`"),
        None if way["items"]["type"] == "object" => format!("an array (`[[{path}]]`)"),
        None => with_article(way["type"].as_str().unwrap_or("string")),
    });
    said.collect::<Vec<_>>().join(" or ")
}

/// Where a key leads to, for messages.
fn below(path: &str, key: &str) -> String {
    let key = shown(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The schema of what stands under a key, if such a key may be.
fn of_key<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    schema["properties"].get(key).or_else(|| Some(&schema["additionalProperties"]).filter(|others| others.is_object()))
}

fn unknown(path: &str, key: &str, schema: &Value) -> String {
    let known: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let owner = if path.is_empty() { "a policy".to_owned() } else { format!("`{path}`") };
    format!("{owner} has no `{}`{}", shown(key), choices(key, &known))
}

/// The range that an integer is not in.
fn out_of_range(integer: &DeInteger<'_>, schema: &Value) -> Option<String> {
    let (least, most) = (schema["minimum"].as_u64().unwrap_or(0), schema["maximum"].as_u64().unwrap_or(u64::MAX));
    let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    let fits = value.is_some_and(|value| (least..=most).contains(&value));
    (!fits).then(|| format!("{least} to {most}"))
}

/// What could have been meant, where a text is not one of those that may be.
fn not_among(text: &str, schema: &Value) -> Option<String> {
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let known: Vec<&str> = described.filter_map(|one| one["const"].as_str()).chain(texts(&schema["enum"])).collect();
    (!known.is_empty() && !known.contains(&text)).then(|| choices(text, &known))
}

/// What could have been meant, and what else there is.
fn choices(text: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|known| (strsim::osa_distance(&text.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    let meant = near.map(|(_, near)| format!(", did you mean `{near}`?")).unwrap_or_default();
    let all: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("{meant} (there are {})", all.join(", "))
}

fn with_article(kind: &str) -> String {
    match kind {
        "object" => "a table".to_owned(),
        vowel if vowel.starts_with(['a', 'i']) => format!("an {vowel}"),
        other => format!("a {other}"),
    }
}
