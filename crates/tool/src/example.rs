//! What a tool is expected to do: examples, and claims.
//!
//! Invariant: an example or a claim is never believed. It is what a proof tries, and does not change what the tool is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest predicate, in bytes.
const PREDICATE_LIMIT: usize = 4 * 1024;

/// Parameters, and what is expected of the tool that gets them.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_tool::{Example, Expectation};
///
/// let example = Example::read(&json!({"parameters": {"n": 21}, "result": 42}))?;
/// assert_eq!(example.expect, Expectation::Result(json!(42)));
/// let example = Example::read(&json!({"parameters": {"n": 21}, "holds": "result > parameters.n"}))?;
/// assert_eq!(example.expect, Expectation::Holds("result > parameters.n".to_owned()));
/// assert!(Example::read(&json!({"n": 21})).unwrap_err().starts_with("has no `parameters`"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What the tool is given: an object.
    pub parameters: Value,
    /// What it is expected to do.
    pub expect: Expectation,
}

/// What a tool is expected to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Expectation {
    /// To return this, as JSON; null also stands for `undefined`.
    Result(Value),
    /// To throw an error whose name and message have this in them.
    Throws(String),
    /// To return what makes this expression of `result` and `parameters` true.
    Holds(String),
    /// To return, whatever it is.
    Returns,
}

/// What a tool claims of all its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    /// A JSON Schema that every result passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// The parameter that a result can be given back as, and comes out as it went in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<String>,
}

impl Claims {
    /// Whether nothing is claimed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.returns.is_none() && self.idempotent.is_none()
    }
}

impl Example {
    /// Reads `{ parameters, result | throws | holds }`. Other common names are understood: `params`, `args` and `input`;
    /// `expected`, `expect` and `output`.
    ///
    /// # Errors
    /// A clause that says what is wrong.
    pub fn read(value: &Value) -> Result<Self, String> {
        let Value::Object(fields) = value else { return Err("is no object".to_owned()) };
        let known = ["parameters", "params", "args", "input"];
        let (parameters, _) = one_of(fields, &known)?.ok_or(
            "has no `parameters`: write {\"parameters\": {…}, \"result\": …}, or `throws` or `holds` for `result`",
        )?;
        if !parameters.is_object() {
            return Err("has `parameters` that are no object".to_owned());
        }
        let expected = ["result", "expected", "expect", "output", "throws", "holds"];
        let expect = match one_of(fields, &expected)? {
            None => Expectation::Returns,
            Some((value, "throws")) => Expectation::Throws(text("throws", value)?),
            Some((value, "holds")) => Expectation::Holds(text("holds", value)?),
            Some((value, _)) => Expectation::Result(value.clone()),
        };
        let other = fields.keys().find(|key| !known.contains(&key.as_str()) && !expected.contains(&key.as_str()));
        match other {
            Some(other) => Err(format!("has an unknown field `{}`", other.escape_debug())),
            None => Ok(Self { parameters: parameters.clone(), expect }),
        }
    }
}

/// The field that is there of several that mean the same, or exclude each other.
fn one_of<'v, 'n>(fields: &'v Map<String, Value>, names: &[&'n str]) -> Result<Option<(&'v Value, &'n str)>, String> {
    let mut found = names.iter().filter_map(|name| fields.get(*name).map(|value| (value, *name)));
    match (found.next(), found.next()) {
        (Some((_, one)), Some((_, other))) => Err(format!("has `{one}` and `{other}`, of which it can have one")),
        (first, _) => Ok(first),
    }
}

fn text(field: &str, value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some(text) if text.trim().is_empty() => Err(format!("has an empty `{field}`")),
        Some(text) if text.len() > PREDICATE_LIMIT => {
            Err(format!("has a `{field}` of {} bytes, the limit is {PREDICATE_LIMIT}", text.len()))
        }
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("has a `{field}` that is no text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(value: &Value, expect: &str) {
        assert_eq!(Example::read(value).unwrap_err(), expect);
    }

    #[test]
    fn what_is_no_example_says_why() {
        check(&json!([1]), "is no object");
        check(&json!({"parameters": 1, "result": 1}), "has `parameters` that are no object");
        check(
            &json!({"parameters": {}, "result": 1, "throws": "x"}),
            "has `result` and `throws`, of which it can have one",
        );
        check(&json!({"parameters": {}, "params": {}}), "has `parameters` and `params`, of which it can have one");
        check(&json!({"parameters": {}, "holds": 1}), "has a `holds` that is no text");
        check(&json!({"parameters": {}, "throws": " "}), "has an empty `throws`");
        check(&json!({"parameters": {}, "result": 1, "why": ""}), "has an unknown field `why`");
    }

    #[test]
    fn a_result_may_be_null() {
        let read = |value| Example::read(&value).unwrap().expect;
        assert_eq!(read(json!({"params": {}, "expected": null})), Expectation::Result(Value::Null));
        assert_eq!(read(json!({"params": {}})), Expectation::Returns);
    }
}
