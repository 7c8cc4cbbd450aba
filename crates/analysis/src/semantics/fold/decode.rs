//! Decoding of literal texts and bytes.

use data_encoding::{Encoding, HEXLOWER_PERMISSIVE, Specification};
use percent_encoding::percent_decode_str;
use std::sync::LazyLock;

use crate::semantics::value::{Value, as_index};

/// RFC 4648, both alphabets; white space and missing padding are accepted, as `Buffer` does.
static BASE64: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.ignore.push_str(" \t\r\n=");
    specification.check_trailing_bits = false;
    specification.encoding().ok()
});

pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.as_ref()?.decode(text.as_bytes()).ok()
}

pub(super) fn hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// Decodes percent-encoding (RFC 3986).
pub(super) fn percent(text: &str) -> Option<Value> {
    Some(Value::text(&percent_decode_str(text).decode_utf8().ok()?))
}

/// Converts bytes to text: as UTF-8, or else one character for each byte, as `atob` does.
pub(super) fn bytes_to_text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::text(&text),
        Err(error) => Value::text(&error.as_bytes().iter().copied().map(char::from).collect::<String>()),
    }
}

/// Converts bytes to a list of numbers.
pub(super) fn bytes_to_list(bytes: Vec<u8>) -> Option<Value> {
    (bytes.len() <= 4096).then(|| Value::List(bytes.into_iter().map(|byte| Value::Number(f64::from(byte))).collect()))
}

/// Converts a list of bytes to text, as UTF-8.
pub(crate) fn utf8_to_text(list: &[Value]) -> Option<Value> {
    let bytes: Option<Vec<u8>> = list.iter().map(|byte| u8::try_from(as_index(byte.as_number()?)?).ok()).collect();
    Some(Value::text(&String::from_utf8(bytes?).ok()?))
}

/// Parses JSON (RFC 8259).
pub(super) fn json(text: &str) -> Option<Value> {
    fn value(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(value),
            serde_json::Value::Number(number) => number.as_f64().map_or(Value::Unknown, Value::Number),
            serde_json::Value::String(text) => Value::text(&text),
            serde_json::Value::Array(list) => Value::List(list.into_iter().map(value).collect()),
            serde_json::Value::Object(object) => {
                Value::from_props(object.into_iter().map(|(key, json)| (key.into(), value(json))).collect())
            }
        }
    }
    serde_json::from_str(text).ok().map(value)
}
