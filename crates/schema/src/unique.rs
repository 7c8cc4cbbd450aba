//! `uniqueItems` in linear time.
//!
//! Invariant: two values have the same key exactly if JSON Schema considers them equal. The
//! library's hash ignores the brackets of arrays, so all items of a crafted array of arrays collide
//! and are compared pairwise.

use std::collections::HashSet;

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

/// The keyword that this replaces in the library.
pub(super) const KEYWORD: &str = "uniqueItems";

struct UniqueItems(bool);

/// Creates the validator of `uniqueItems`.
#[expect(clippy::unnecessary_wraps, reason = "what the library asks for")]
pub(super) fn keyword<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(UniqueItems(value.as_bool().unwrap_or_default())))
}

impl<'i> Keyword<'i> for UniqueItems {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("two items are the same")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        !self.0 || instance.as_array().is_none_or(|items| are_unique(items))
    }
}

fn are_unique(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut key = Vec::new();
        write_key(item, &mut key);
        seen.insert(key)
    })
}

/// Serializes a value to a key: equal values have equal keys, and others do not.
fn write_key(value: &Value, key: &mut Vec<u8>) {
    match value {
        Value::Null => key.push(b'n'),
        Value::Bool(truth) => key.push(if *truth { b't' } else { b'f' }),
        Value::Number(number) => {
            let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            let float = number.as_f64().unwrap_or_default();
            match whole.or_else(|| exact_integer(float)) {
                Some(whole) => {
                    key.push(b'i');
                    key.extend(whole.to_be_bytes());
                }
                None => {
                    key.push(b'd');
                    key.extend(float.to_bits().to_be_bytes());
                }
            }
        }
        Value::String(text) => write_text_key(text, key),
        Value::Array(items) => {
            key.push(b'[');
            for item in items {
                write_key(item, key);
            }
            key.push(b']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            key.push(b'{');
            for (name, value) in sorted {
                write_text_key(name, key);
                write_key(value, key);
            }
            key.push(b'}');
        }
    }
}

fn write_text_key(text: &str, key: &mut Vec<u8>) {
    key.push(b's');
    key.extend(text.len().to_be_bytes());
    key.extend(text.as_bytes());
}

/// Returns the integer value of a float without a fraction: `1.0` equals `1`.
fn exact_integer(float: f64) -> Option<i128> {
    let fits = float.fract() == 0.0 && float.abs() < 1e30;
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction, and is smaller than 2^127")]
    fits.then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_equal_in_json_schema_is_the_same() {
        for same in [
            json!([1, 1.0]),
            json!([0, -0.0]),
            json!(["a", "b", "a"]),
            json!([{ "a": 1, "b": [2] }, { "b": [2.0], "a": 1 }]),
            json!([[], []]),
        ] {
            assert!(!are_unique(same.as_array().unwrap()), "{same}");
        }
        for different in [
            json!([1, true, "1", [1], null, 1.5, false, 0]),
            json!([[[], []], [[[]]], []]),
            json!([["a", "b"], ["ab"], ["a", "b", ""]]),
            json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]),
            json!([{ "a": 1 }, { "a": 2 }, { "b": 1 }]),
        ] {
            assert!(are_unique(different.as_array().unwrap()), "{different}");
        }
    }
}
