//! What was done before, and what of it was the same.
//!
//! Invariant: two operations are the same where their names are, and the shapes of their arguments: the same keys with the
//! same kinds of values. What is said as a line of text is taken apart first ([`line`](crate::line)). Toolcell's own operations are never counted, or a reflection would lead to the next one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolcell_tool::OPERATIONS;

use crate::line::understood;

/// How deep arguments are looked into.
const DEPTH_LIMIT: usize = 4;

/// One thing that was done before. What a host knows beyond that is left alone.
///
/// It is read from an object, or from a line of text that says what was done: `"grep TODO src/a.ts"`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Operation {
    /// What was called, or a line that says what was done.
    pub name: String,
    /// What it was given, or the shape of it.
    pub arguments: Value,
    /// How it ended: `ok` or `error`; whatever else is said is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// How many tokens it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// An operation as an object, by whatever names hosts call its fields.
#[derive(Deserialize)]
struct RawOperation {
    #[serde(alias = "tool", alias = "tool_name", alias = "toolName")]
    name: String,
    #[serde(default, alias = "args", alias = "params", alias = "parameters", alias = "input")]
    arguments: Value,
    #[serde(default, alias = "status")]
    outcome: Option<String>,
    #[serde(default, alias = "durationMs", alias = "time_ms")]
    duration_ms: Option<f64>,
    #[serde(default)]
    tokens: Option<u64>,
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Operation;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an operation, or a line that says what was done")
            }

            fn visit_str<E>(self, line: &str) -> Result<Operation, E> {
                Ok(Operation { name: line.to_owned(), ..Operation::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Operation, A::Error> {
                let raw = RawOperation::deserialize(MapAccessDeserializer::new(map))?;
                let RawOperation { name, arguments, outcome, duration_ms, tokens } = raw;
                Ok(Operation { name, arguments, outcome, duration_ms, tokens })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Operations that were the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repeated {
    /// What was called.
    pub name: String,
    /// What it was given each time, such as `{path: string}`.
    pub shape: String,
    /// How often.
    pub count: usize,
    /// How often it failed.
    pub failed: usize,
    /// How many tokens it cost on the average, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Where they stand in the history, from 0; the first few.
    pub at: Vec<usize>,
}

/// How many places are told.
const TOLD: usize = 8;

/// The operations that were done more than once, the most frequent first.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_reflection::{Operation, repeated};
///
/// let called = |path: &str| Operation { name: "read".into(), arguments: json!({"path": path}), ..Operation::default() };
/// let found = repeated(&[called("a.csv"), called("b.csv")]);
/// assert_eq!((found[0].count, found[0].shape.as_str()), (2, "{path: string}"));
/// ```
#[must_use]
pub fn repeated(history: &[Operation]) -> Vec<Repeated> {
    let history = understood(history);
    let mut groups: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (at, operation) in history.iter().enumerate().filter(|(_, operation)| !is_ours(&operation.name)) {
        groups.entry((operation.name.trim(), shape(&operation.arguments, 0))).or_default().push(at);
    }
    let mut found: Vec<Repeated> = groups
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|((name, shape), places)| {
            let of = || places.iter().map(|at| &history[*at]);
            let known: Vec<u64> = of().filter_map(|operation| operation.tokens).collect();
            let sum: u128 = known.iter().map(|tokens| u128::from(*tokens)).sum();
            let tokens = sum.checked_div(known.len() as u128).and_then(|mean| u64::try_from(mean).ok());
            let failed = of().filter(|operation| operation.failed()).count();
            let at = places.iter().copied().take(TOLD).collect();
            Repeated { name: name.to_owned(), shape, count: places.len(), failed, tokens, at }
        })
        .collect();
    found.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.at.cmp(&other.at)));
    found
}

impl Operation {
    /// Whether it is said to have failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        let said = self.outcome.as_deref().unwrap_or_default().to_ascii_lowercase();
        matches!(said.as_str(), "error" | "failed" | "failure" | "threw" | "stopped" | "timeout")
    }
}

/// Whether a call is one of Toolcell's own, by whatever surface.
fn is_ours(name: &str) -> bool {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let last = last.rsplit("__").next().unwrap_or(last).trim();
    OPERATIONS.contains(&last)
}

/// The shape of arguments: `{path: string, lines: [number]}`.
pub(crate) fn shape(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) | Value::Object(_) if depth == DEPTH_LIMIT => "…".to_owned(),
        Value::Array(items) => {
            let kinds: BTreeSet<String> = items.iter().take(16).map(|item| shape(item, depth + 1)).collect();
            format!("[{}]", kinds.into_iter().collect::<Vec<_>>().join(" | "))
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields = sorted.into_iter().map(|(key, value)| format!("{key}: {}", shape(value, depth + 1)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn done(name: &str, arguments: Value) -> Operation {
        Operation { name: name.to_owned(), arguments, ..Operation::default() }
    }

    #[test]
    fn the_same_is_counted_whatever_the_values_and_the_order_of_keys() {
        let history = [
            done("convert", json!({"from": "a.csv", "width": 1})),
            done("read", json!({"path": "a"})),
            done("convert", json!({"width": 2.5, "from": "b.csv"})),
            done("convert", json!({"from": "b.csv", "width": "2"})),
            done("convert", json!({"from": "c.csv", "width": 3})),
        ];
        let found = repeated(&history);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].count, found[0].at.as_slice()), (3, [0, 2, 4].as_slice()));
        assert_eq!(found[0].shape, "{from: string, width: number}");
    }

    #[test]
    fn an_operation_is_an_object_or_a_line() {
        let read = |value: Value| serde_json::from_value::<Operation>(value);
        let expect = Operation { tokens: Some(3), ..done("grep", json!({"path": "a"})) };
        assert_eq!(read(json!({"toolName": "grep", "input": {"path": "a"}, "tokens": 3, "more": 1})).unwrap(), expect);
        assert_eq!(read(json!("grep TODO a.ts")).unwrap(), done("grep TODO a.ts", json!(null)));
        let error = |value: Value| read(value).unwrap_err().to_string();
        assert_eq!(error(json!({"nam": 1})), "missing field `name`");
        assert!(error(json!(1)).ends_with("expected an operation, or a line that says what was done"));
    }

    #[test]
    fn our_own_operations_are_never_counted() {
        for name in ["run_dynamic_tool", "mcp__toolcell__run_dynamic_tool", "toolcell.tool_reflection"] {
            assert_eq!(repeated(&[done(name, json!({})), done(name, json!({}))]), []);
        }
    }

    #[test]
    fn tokens_of_any_size_have_a_mean() {
        let one = Operation { tokens: Some(u64::MAX), ..done("a", json!(null)) };
        assert_eq!(repeated(&[one.clone(), one])[0].tokens, Some(u64::MAX));
    }
}
