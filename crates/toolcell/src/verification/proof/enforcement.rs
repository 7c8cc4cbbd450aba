//! The check that a tool's parameter schema is enforced: for each declared constraint, parameters
//! that violate only that constraint are refused.
//!
//! Invariant: nothing runs in the cell here, because invalid parameters must not get there.

use serde_json::{Map, Value, json};
use toolcell_i18n::{Message, message};
use toolcell_schema::Schema;

use super::{Check, CheckKind, truncated_json};

/// A function that creates a value.
type ValueFn = fn() -> Value;
/// A value of each type that is invalid for all others.
const WRONG_VALUES: [(&str, ValueFn); 5] = [
    ("object", || json!({ "no such field": [1] })),
    ("array", || json!([["no such item"]])),
    ("string", || json!("no such text")),
    ("boolean", || json!(true)),
    ("number", || json!(0.123)),
];

/// Violates the declared constraints one at a time, starting from valid parameters.
pub(crate) fn check_enforcement(schema: &Schema, right: Option<&Value>) -> Check {
    let Some(declared) = schema.json_schema() else {
        return Check::skipped(CheckKind::Parameters, message!("no parameters are declared, so all are accepted"));
    };
    let Some(right) = right.and_then(Value::as_object) else {
        return Check::skipped(CheckKind::Parameters, message!("there is no example to start from"));
    };
    let broken = violations(declared, right);
    for (what, parameters) in &broken {
        if schema.check_value(Value::Object(parameters.clone())).is_ok() {
            let given = truncated_json(&Value::Object(parameters.clone()));
            let says = message!("{what}, but {given} is accepted", what, given);
            return Check::failed(CheckKind::Parameters, 0, 0, says);
        }
    }
    match broken.len() {
        0 => Check::skipped(CheckKind::Parameters, message!("the schema excludes nothing")),
        count => {
            let says = message!("{count} violations of the schema are rejected", count);
            Check::passed(CheckKind::Parameters, 0, 0, says)
        }
    }
}

/// Returns the declared constraints with parameters that violate them.
fn violations(declared: &Value, right: &Map<String, Value>) -> Vec<(Message, Map<String, Value>)> {
    let with = |name: &str, value: Value| {
        let mut changed = right.clone();
        changed.insert(name.to_owned(), value);
        changed
    };
    let mut all = Vec::new();
    if declared["additionalProperties"] == json!(false) {
        all.push((message!("undeclared parameters are not allowed"), with("no such parameter", json!(1))));
    }
    for name in declared["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut without = right.clone();
        // A parameter with a default is filled in.
        if without.shift_remove(name).is_some() && declared["properties"][name].get("default").is_none() {
            all.push((message!("`{name}` is required", name), without));
        }
    }
    for (name, property) in declared["properties"].as_object().into_iter().flatten() {
        if let Some(kind) = property["type"].as_str() {
            let accepted = if kind == "integer" { "number" } else { kind };
            let other = WRONG_VALUES
                .iter()
                .find(|(known, _)| *known != accepted && (accepted == "object" || *known == "object"));
            if let Some((_, other)) = other.filter(|_| kind != "null") {
                all.push((message!("`{name}` has the type {kind}", name, kind), with(name, other())));
            }
        }
        if property["enum"].is_array() {
            all.push((message!("`{name}` has an `enum`", name), with(name, json!("no such value"))));
        }
        if let Some(least) = property["minimum"].as_f64() {
            let what = message!("`{name}` is at least {least}", name, least);
            all.push((what, with(name, json!(least - least.abs().max(1.0)))));
        }
        if let Some(most) = property["maximum"].as_f64() {
            let what = message!("`{name}` is at most {most}", name, most);
            all.push((what, with(name, json!(most + most.abs().max(1.0)))));
        }
    }
    all
}
