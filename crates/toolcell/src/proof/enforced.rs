//! That what a tool declares of its parameters is enforced: for each thing that is declared, parameters that break it and
//! nothing else are refused.
//!
//! Invariant: nothing of this runs in the cell, because none of it may get there.

use serde_json::{Map, Value, json};

use super::challenge::short;
use super::{Check, Trying};
use crate::params::Schema;

/// Makes a value.
type Made = fn() -> Value;
/// A value of each kind that cannot be taken for one of another.
const KINDS: [(&str, Made); 5] = [
    ("object", || json!({ "no such field": [1] })),
    ("array", || json!([["no such item"]])),
    ("string", || json!("no such text")),
    ("boolean", || json!(true)),
    ("number", || json!(0.123)),
];

/// Breaks what is declared, one thing at a time, starting from parameters that are right.
pub(crate) fn enforced(schema: &Schema, right: Option<&Value>) -> Check {
    let Some(declared) = schema.json_schema() else {
        return Check::skipped(Trying::Parameters, "nothing is declared, so anything is accepted");
    };
    let Some(right) = right.and_then(Value::as_object) else {
        return Check::skipped(Trying::Parameters, "there is no example to start from");
    };
    let broken = broken(declared, right);
    for (what, parameters) in &broken {
        if schema.check_value(Value::Object(parameters.clone())).is_ok() {
            let given = short(&Value::Object(parameters.clone()));
            return Check::failed(Trying::Parameters, 0, 0, format!("{what}, and {given} is accepted"));
        }
    }
    match broken.len() {
        0 => Check::skipped(Trying::Parameters, "what is declared excludes nothing"),
        many => Check::passed(Trying::Parameters, 0, 0, format!("{many} ways to break what is declared are refused")),
    }
}

/// What is declared, and parameters that break it.
fn broken(declared: &Value, right: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let with = |name: &str, value: Value| {
        let mut changed = right.clone();
        changed.insert(name.to_owned(), value);
        changed
    };
    let mut all = Vec::new();
    if declared["additionalProperties"] == json!(false) {
        all.push(("others than the declared ones are excluded".to_owned(), with("no such parameter", json!(1))));
    }
    for name in declared["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut without = right.clone();
        // One that has a default is filled in.
        if without.shift_remove(name).is_some() && declared["properties"][name].get("default").is_none() {
            all.push((format!("`{name}` is required"), without));
        }
    }
    for (name, property) in declared["properties"].as_object().into_iter().flatten() {
        if let Some(kind) = property["type"].as_str() {
            let accepted = if kind == "integer" { "number" } else { kind };
            let other =
                KINDS.iter().find(|(known, _)| *known != accepted && (accepted == "object" || *known == "object"));
            if let Some((_, other)) = other.filter(|_| kind != "null") {
                all.push((format!("`{name}` is of the type {kind}"), with(name, other())));
            }
        }
        if property["enum"].is_array() {
            all.push((format!("`{name}` is one of a few"), with(name, json!("no such value"))));
        }
        if let Some(least) = property["minimum"].as_f64() {
            all.push((format!("`{name}` is at least {least}"), with(name, json!(least - least.abs().max(1.0)))));
        }
        if let Some(most) = property["maximum"].as_f64() {
            all.push((format!("`{name}` is at most {most}"), with(name, json!(most + most.abs().max(1.0)))));
        }
    }
    all
}
