//! Conversion of TOML values to JSON.
//!
//! Invariant: a value that JSON cannot represent is refused, never converted silently.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;
use toolcell_i18n::{Message, message};

/// Converts a value to JSON. The error is a message.
pub(super) fn json_from_toml(value: &DeValue<'_>) -> Result<Value, Message> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            Value::Number(whole.map_err(|_| message!("{number} is too large", number))?.into())
        }
        DeValue::Float(number) => {
            let float: f64 = number.as_str().parse().map_err(|_| message!("{number} is not a number", number))?;
            Value::Number(Number::from_f64(float).ok_or_else(|| message!("JSON cannot represent {number}", number))?)
        }
        DeValue::Datetime(_) => return Err(message!("JSON has no dates: write it as a string")),
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
