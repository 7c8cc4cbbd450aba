//! Schemas of few values, and how many bits an answer that fits them can carry.
//!
//! An answer that is one of `n` values carries at most log2 of `n` bits of what it was computed from (Shannon, *A
//! Mathematical Theory of Communication*, 1948, section 1; as a bound for information flow: Smith, *On the Foundations of
//! Quantitative Information Flow*, LNCS 5504, 2009).
//!
//! Invariant: what fits is written in one way only, so spelling, order of keys and number formats carry nothing.

use serde_json::Value;

/// The maximum number of values that are counted.
const MAX_VALUES: u64 = 1 << 32;
/// The maximum depth of `anyOf` and `oneOf`.
const MAX_DEPTH: u32 = 8;

/// A schema that allows few values, all of them scalars.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedSchema {
    kinds: Vec<Kind>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Constant(Value),
    Integers(i64, i64),
}

impl BoundedSchema {
    /// Reads a JSON Schema of `boolean`, `null`, `integer` with `minimum` and `maximum`, `const` and `enum` of scalars,
    /// and `anyOf` or `oneOf` of these. `None` if it allows other values, or might.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell_flows::BoundedSchema;
    ///
    /// let urgent = BoundedSchema::from_schema(&json!({ "type": "boolean" })).unwrap();
    /// // True, false, and that the tool failed.
    /// assert_eq!((urgent.bits(), urgent.canonical(&json!(true))), (2, Some("true".to_owned())));
    /// assert_eq!(urgent.canonical(&json!("true")), None);
    /// assert_eq!(BoundedSchema::from_schema(&json!({ "type": "string" })), None);
    /// ```
    #[must_use]
    pub fn from_schema(schema: &Value) -> Option<Self> {
        let bounded = Self { kinds: collect(schema, MAX_DEPTH)? };
        (bounded.values() <= MAX_VALUES).then_some(bounded)
    }

    /// Returns the maximum number of values.
    fn values(&self) -> u64 {
        let count = |kind: &Kind| match kind {
            Kind::Constant(_) => 1,
            Kind::Integers(least, greatest) => greatest.abs_diff(*least).saturating_add(1),
        };
        self.kinds.iter().map(count).fold(0, u64::saturating_add)
    }

    /// Returns the bits that an answer carries at most: that of its values, and of one more for a failure.
    #[must_use]
    pub fn bits(&self) -> u32 {
        u64::BITS - self.values().leading_zeros()
    }

    /// Returns a value as JSON text in its only form; `None` if it does not fit.
    #[must_use]
    pub fn canonical(&self, value: &Value) -> Option<String> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Constant(constant) => is_same(constant, value).then(|| constant.to_string()),
            Kind::Integers(least, greatest) => {
                let number = integer(value)?;
                (*least..=*greatest).contains(&number).then(|| number.to_string())
            }
        })
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns an integer, in whatever form it is written.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "it is an integer below 2^53")]
        let whole = number as i64;
        Some(whole)
    })
}

/// Returns the values that a schema allows; `None` if those are more, or none that are known.
fn collect(schema: &Value, depth: u32) -> Option<Vec<Kind>> {
    let schema = schema.as_object()?;
    if depth == 0 {
        return None;
    }
    let mut kinds = Vec::new();
    for (keyword, value) in schema {
        match keyword.as_str() {
            "const" => kinds.push(constant(value)?),
            "enum" => {
                for value in value.as_array()? {
                    kinds.push(constant(value)?);
                }
            }
            "anyOf" | "oneOf" => {
                for schema in value.as_array()? {
                    kinds.extend(collect(schema, depth - 1)?);
                }
            }
            "type" if !schema.contains_key("const") && !schema.contains_key("enum") => match value.as_str()? {
                "boolean" => kinds.extend([true, false].map(|value| Kind::Constant(Value::Bool(value)))),
                "null" => kinds.push(Kind::Constant(Value::Null)),
                "integer" => {
                    let bound = |name| schema.get(name).and_then(integer);
                    let (least, greatest) = bound("minimum").zip(bound("maximum"))?;
                    if least > greatest {
                        return None;
                    }
                    kinds.push(Kind::Integers(least, greatest));
                }
                _ => return None,
            },
            // These describe, or narrow further.
            "$schema" | "title" | "description" | "minimum" | "maximum" | "type" | "default" | "examples" => {}
            _ => return None,
        }
    }
    (!kinds.is_empty()).then_some(kinds)
}

fn constant(value: &Value) -> Option<Kind> {
    (!value.is_array() && !value.is_object()).then(|| Kind::Constant(value.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn few_values_are_counted() {
        let bits = |schema| BoundedSchema::from_schema(&schema).map(|schema| schema.bits());
        assert_eq!(bits(json!({ "const": 1 })), Some(1));
        assert_eq!(bits(json!({ "enum": ["low", "medium", "high"] })), Some(2));
        assert_eq!(bits(json!({ "type": "string", "enum": ["low", "medium", "high", "none"] })), Some(3));
        assert_eq!(bits(json!({ "type": "integer", "minimum": 0, "maximum": 254 })), Some(8));
        assert_eq!(bits(json!({ "anyOf": [{ "type": "boolean" }, { "type": "null" }] })), Some(2));
        for unbounded in [
            json!(true),
            json!({}),
            json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            json!({ "type": "integer", "minimum": 0 }),
            json!({ "type": ["boolean", "string"] }),
            json!({ "enum": [["a"]] }),
            json!({ "enum": [] }),
            json!({ "anyOf": [{ "type": "boolean" }, {}] }),
            json!({ "$ref": "#" }),
            json!({ "type": "integer", "minimum": -9e15, "maximum": 9e14 }),
        ] {
            assert_eq!(bits(unbounded.clone()), None, "{unbounded}");
        }
    }

    #[test]
    fn a_value_has_one_form() {
        let schema = BoundedSchema::from_schema(&json!({ "type": "integer", "minimum": 0, "maximum": 3 })).unwrap();
        let one: Value = serde_json::from_str("1.0").unwrap();
        assert_eq!(schema.canonical(&one), Some("1".to_owned()));
        let zero: Value = serde_json::from_str("-0.0").unwrap();
        assert_eq!(schema.canonical(&zero), Some("0".to_owned()));
        assert_eq!(schema.canonical(&json!(4)), None);
        assert_eq!(schema.canonical(&json!({ "a": 1 })), None);
    }
}
