//! The declared behaviour of a tool: examples and postconditions.
//!
//! Invariant: examples and postconditions are never trusted. Verification tests them, and they are
//! not part of the tool's identity.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_i18n::{Message, message};

/// The maximum size of a predicate, in bytes.
const PREDICATE_LIMIT: usize = 4 * 1024;

/// Parameters for a tool, with the expected outcome.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_tool::{Example, Expectation};
///
/// let example = Example::from_value(&json!({"parameters": {"n": 21}, "result": 42}))?;
/// assert_eq!(example.expect, Expectation::Result(json!(42)));
/// let example = Example::from_value(&json!({"parameters": {"n": 21}, "holds": "result > parameters.n"}))?;
/// assert_eq!(example.expect, Expectation::Holds("result > parameters.n".to_owned()));
/// let error = Example::from_value(&json!({"n": 21})).unwrap_err();
/// assert!(error.to_string().starts_with("has no `parameters`"));
/// # Ok::<(), toolcell_i18n::Message>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The tool's parameters, a JSON object.
    pub parameters: Value,
    /// The expected outcome.
    pub expect: Expectation,
    /// Where the example comes from.
    pub source: ExampleSource,
}

/// Where an example comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExampleSource {
    /// The author of the tool wrote it for the task.
    #[default]
    Author,
    /// It came with the template that the tool is made from, so it says nothing about the task.
    Template,
}

/// The expected outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Expectation {
    /// The tool returns this JSON value; null also matches `undefined`.
    Result(Value),
    /// The tool throws an error whose name and message contain this text.
    Throws(String),
    /// The tool returns a value for which this expression over `result` and `parameters` is true.
    Holds(String),
    /// The tool returns any value.
    Returns,
}

/// The properties that a tool declares for all its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Postconditions {
    /// A JSON Schema that every result satisfies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// The name of a parameter. If a result is passed back as this parameter, the tool returns it
    /// unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<String>,
}

impl Postconditions {
    /// Returns whether nothing is declared.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.returns.is_none() && self.idempotent.is_none()
    }
}

impl Example {
    /// Parses `{ parameters, result | throws | holds, source? }`. Common synonyms are accepted: `params`,
    /// `args` and `input`; `expected`, `expect` and `output`.
    ///
    /// # Errors
    /// A clause that describes the first problem found.
    pub fn from_value(value: &Value) -> Result<Self, Message> {
        let Value::Object(fields) = value else { return Err(message!("is not an object")) };
        let known = ["parameters", "params", "args", "input"];
        let (parameters, _) = one_of(fields, &known)?.ok_or(message!(
            "has no `parameters`: write {\"parameters\": {…}, \"result\": …}, or `throws` or `holds` instead of \
             `result`"
        ))?;
        if !parameters.is_object() {
            return Err(message!("has `parameters` that are not an object"));
        }
        let expected = ["result", "expected", "expect", "output", "throws", "holds"];
        let expect = match one_of(fields, &expected)? {
            None => Expectation::Returns,
            Some((value, "throws")) => Expectation::Throws(text("throws", value)?),
            Some((value, "holds")) => Expectation::Holds(text("holds", value)?),
            Some((value, _)) => Expectation::Result(value.clone()),
        };
        let source = match fields.get("source") {
            None => ExampleSource::Author,
            Some(Value::String(source)) if source == "template" => ExampleSource::Template,
            Some(_) => return Err(message!("has a `source` that is not \"template\"")),
        };
        let is_known = |key: &str| known.contains(&key) || expected.contains(&key) || key == "source";
        match fields.keys().find(|key| !is_known(key)) {
            Some(other) => Err(message!("has an unknown field `{field}`", field = other.escape_debug())),
            None => Ok(Self { parameters: parameters.clone(), expect, source }),
        }
    }
}

/// Returns the one field that is present among names that are synonyms or mutually exclusive.
fn one_of<'v, 'n>(fields: &'v Map<String, Value>, names: &[&'n str]) -> Result<Option<(&'v Value, &'n str)>, Message> {
    let mut found = names.iter().filter_map(|name| fields.get(*name).map(|value| (value, *name)));
    match (found.next(), found.next()) {
        (Some((_, one)), Some((_, other))) => {
            Err(message!("has both `{one}` and `{other}`, only one is allowed", one, other))
        }
        (first, _) => Ok(first),
    }
}

fn text(field: &str, value: &Value) -> Result<String, Message> {
    match value.as_str() {
        Some(text) if text.trim().is_empty() => Err(message!("has an empty `{field}`", field)),
        Some(text) if text.len() > PREDICATE_LIMIT => {
            let (len, limit) = (text.len(), PREDICATE_LIMIT);
            Err(message!("has a `{field}` of {len} bytes, the limit is {limit}", field, len, limit))
        }
        Some(text) => Ok(text.to_owned()),
        None => Err(message!("has a `{field}` that is not a string", field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(value: &Value, expect: &str) {
        assert_eq!(Example::from_value(value).unwrap_err(), expect);
    }

    #[test]
    fn what_is_no_example_says_why() {
        check(&json!([1]), "is not an object");
        check(&json!({"parameters": 1, "result": 1}), "has `parameters` that are not an object");
        check(
            &json!({"parameters": {}, "result": 1, "throws": "x"}),
            "has both `result` and `throws`, only one is allowed",
        );
        check(&json!({"parameters": {}, "params": {}}), "has both `parameters` and `params`, only one is allowed");
        check(&json!({"parameters": {}, "holds": 1}), "has a `holds` that is not a string");
        check(&json!({"parameters": {}, "throws": " "}), "has an empty `throws`");
        check(&json!({"parameters": {}, "result": 1, "why": ""}), "has an unknown field `why`");
    }

    #[test]
    fn a_result_may_be_null() {
        let read = |value| Example::from_value(&value).unwrap().expect;
        assert_eq!(read(json!({"params": {}, "expected": null})), Expectation::Result(Value::Null));
        assert_eq!(read(json!({"params": {}})), Expectation::Returns);
    }
}
