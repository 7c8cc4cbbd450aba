//! Past operations, as hosts report them.
//!
//! Invariant: an operation is an object with a name, or a line of text; anything else is refused.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A past operation. Unknown fields are ignored.
///
/// It is deserialised from an object, or from a line of text: `"grep TODO src/a.ts"`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PastOperation {
    /// The name of the operation, or a line that describes it.
    pub name: String,
    /// The arguments, or their shape.
    pub arguments: Value,
    /// The outcome: `error`, `failed`, `failure`, `threw`, `stopped` and `timeout` count as
    /// failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The duration, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The tokens that it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// An operation as an object, with the field names that hosts use.
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

impl<'de> Deserialize<'de> for PastOperation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OperationVisitor;
        impl<'de> Visitor<'de> for OperationVisitor {
            type Value = PastOperation;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an operation, or a line that says what was done")
            }

            fn visit_str<E>(self, line: &str) -> Result<PastOperation, E> {
                Ok(PastOperation { name: line.to_owned(), ..PastOperation::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PastOperation, A::Error> {
                let raw = RawOperation::deserialize(MapAccessDeserializer::new(map))?;
                let RawOperation { name, arguments, outcome, duration_ms, tokens } = raw;
                Ok(PastOperation { name, arguments, outcome, duration_ms, tokens })
            }
        }
        deserializer.deserialize_any(OperationVisitor)
    }
}

impl PastOperation {
    /// Whether the outcome is a failure.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let said = self.outcome.as_deref().unwrap_or_default().to_ascii_lowercase();
        matches!(said.as_str(), "error" | "failed" | "failure" | "threw" | "stopped" | "timeout")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn done(name: &str, arguments: Value) -> PastOperation {
        PastOperation { name: name.to_owned(), arguments, ..PastOperation::default() }
    }

    #[test]
    fn an_operation_is_an_object_or_a_line() {
        let read = |value: Value| serde_json::from_value::<PastOperation>(value);
        let expect = PastOperation { tokens: Some(3), ..done("grep", json!({"path": "a"})) };
        assert_eq!(read(json!({"toolName": "grep", "input": {"path": "a"}, "tokens": 3, "more": 1})).unwrap(), expect);
        assert_eq!(read(json!("grep TODO a.ts")).unwrap(), done("grep TODO a.ts", json!(null)));
        let error = |value: Value| read(value).unwrap_err().to_string();
        assert_eq!(error(json!({"nam": 1})), "missing field `name`");
        assert!(error(json!(1)).ends_with("expected an operation, or a line that says what was done"));
    }
}
