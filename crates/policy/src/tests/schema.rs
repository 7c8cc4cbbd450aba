//! The schema for editors accepts and refuses the same files as the parser.

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::{ALL, user};
use crate::Policy;

/// Converts a file to the JSON that editors validate.
fn json(text: &str) -> Value {
    let (table, errors) = DeTable::parse_recoverable(text);
    assert!(errors.is_empty(), "{errors:?}");
    of_value(&DeValue::Table(table.into_inner()))
}

fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(integer) => json!(integer.as_str().parse::<i64>().unwrap()),
        DeValue::Boolean(value) => json!(value),
        DeValue::Array(items) => items.iter().map(|item| of_value(item.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), of_value(value.get_ref()))).collect()
        }
        other => panic!("no file of these tests has {other:?}"),
    }
}

fn check(text: &str, expect: bool) {
    assert_eq!(jsonschema::is_valid(&Policy::json_schema(), &json(text)), expect, "the schema: {text}");
    assert_eq!(user(text).is_ok(), expect, "the reading: {text}");
}

#[test]
fn it_is_a_schema() {
    jsonschema::meta::validate(&Policy::json_schema()).unwrap();
}

#[test]
fn it_takes_what_a_file_can_say() {
    check("", true);
    check(ALL, true);
    check("[grants]", true);
    check("[grants.default]\nnet = false\nkv = false\nfiles = false\nsecrets = false\ntools = false", true);
    check("[[grants.default.net]]\nhost = \"any\"", true);
    check("[limits]\nmemory_mb = 8\n[ceilings]\nmemory_mb = 1024", true);
}

#[test]
fn it_refuses_what_no_file_can_say() {
    check("limit = 1", false);
    check("[limits]\nfule = 1", false);
    check("[limits]\nfuel = \"1\"", false);
    check("[limits]\nfuel = 0", false);
    check("[ceilings]\nmemory_mb = 1025", false);
    check("[store]\ntools = -1", false);
    check("[approval]\nmode = \"sometimes\"", false);
    check("[grants.default]\nnet = true", false);
    check("[grants.default]\nnet = []", false);
    check("[[grants.default.net]]\nport = 1", false);
    check("[[grants.default.net]]\nhost = \"a.example\"\nports = [0]", false);
    check("[[grants.default.net]]\nhost = \"a.example\"\nmethods = [\"get\"]", false);
    check("[[grants.default.net]]\nhost = \"a.example\"\nrequest_bytes = 1_099_511_627_777", false);
    check("[[grants.default.secrets]]\nname = \"T\"", false);
    check("[grants.default]\ntools = \"all\"", false);
    check("[grants.default]\ntools = []", false);
    check("[grants.default]\ntimer = true", false);
    check("[grants.tags.x]\ntimers = 1", false);
    check("[[hooks]]\nname = \"x\"", false);
    check("[[hooks]]\nname = \"x\"\ncommand = []", false);
    check("[[hooks]]\nname = \"x\"\ncommand = [\"y\"]\nwhen = [\"later\"]", false);
}

#[test]
fn a_file_that_is_read_fits_the_schema_whatever_is_broken_in_it() {
    let validator = jsonschema::validator_for(&Policy::json_schema()).unwrap();
    let (mut read, mut refused) = (0, 0);
    for at in 0..ALL.len() {
        for with in ["", "\"", "[", "1", "x", "\n"] {
            let text = format!("{}{with}{}", &ALL[..at], &ALL[at + 1..]);
            match user(&text) {
                Ok(_) => {
                    read += 1;
                    assert!(validator.is_valid(&json(&text)), "{text}");
                }
                Err(error) => {
                    refused += 1;
                    let lines = u32::try_from(text.lines().count()).unwrap() + 1;
                    assert!(error.problems().iter().all(|problem| problem.line <= lines), "{error}");
                }
            }
        }
    }
    assert!(read > 100 && refused > 1_000, "{read} were read, {refused} refused");
}

#[test]
fn every_key_has_a_description() {
    fn visit(path: &str, schema: &Value) {
        for (key, below) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            assert!(below["description"].is_string(), "{path}");
            assert_ne!(below.get("default"), Some(&Value::Null), "{path}");
            visit(&path, below);
        }
        for way in schema["anyOf"].as_array().into_iter().flatten() {
            visit(path, way);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                visit(path, &schema[inner]);
            }
        }
    }
    let schema = Policy::json_schema();
    assert_eq!(schema["title"], "toolcell.toml");
    assert_eq!(schema["properties"]["limits"]["properties"]["memory_mb"]["default"], 64);
    assert_eq!(schema["properties"]["ceilings"]["properties"]["memory_mb"]["default"], 1024);
    visit("", &schema);
}
