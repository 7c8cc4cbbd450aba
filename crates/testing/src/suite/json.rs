//! Conversion of TOML values to JSON.
//!
//! Invariant: a value that JSON cannot represent is refused, never converted silently.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;

/// Converts a value to JSON. The error is a message.
pub(super) fn json_from_toml(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            Value::Number(whole.map_err(|_| format!("{number} is too large"))?.into())
        }
        DeValue::Float(number) => {
            let float: f64 = number.as_str().parse().map_err(|_| format!("{number} is not a number"))?;
            Value::Number(Number::from_f64(float).ok_or_else(|| format!("JSON cannot represent {number}"))?)
        }
        DeValue::Datetime(_) => return Err("JSON has no dates: write it as a string".to_owned()),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| json_from_toml(item.get_ref())).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let mut members = Map::new();
            for (key, value) in table {
                members.insert(key.get_ref().clone().into_owned(), json_from_toml(value.get_ref())?);
            }
            Value::Object(members)
        }
    })
}
