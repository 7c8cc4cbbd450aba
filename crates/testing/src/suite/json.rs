//! Values of TOML as JSON.
//!
//! Invariant: what JSON has no word for is refused, and not changed.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;

/// The JSON of a value; why there is none, in a sentence.
pub(super) fn of(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            Value::Number(whole.map_err(|_| format!("{number} is too large a number"))?.into())
        }
        DeValue::Float(number) => {
            let float: f64 = number.as_str().parse().map_err(|_| format!("{number} is no number"))?;
            Value::Number(Number::from_f64(float).ok_or_else(|| format!("JSON has no word for {number}"))?)
        }
        DeValue::Datetime(_) => return Err("JSON has no dates: write it as text".to_owned()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| of(item.get_ref())).collect::<Result<_, _>>()?),
        DeValue::Table(table) => {
            let mut members = Map::new();
            for (key, value) in table {
                members.insert(key.get_ref().clone().into_owned(), of(value.get_ref())?);
            }
            Value::Object(members)
        }
    })
}
