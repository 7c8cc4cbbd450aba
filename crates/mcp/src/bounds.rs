//! Bounds of a message, the same on each way in.
//!
//! JSON takes more memory as a tree than as a text: an item of a list has two bytes in the text and takes some hundred in memory. So
//! the values are counted in the text, before a tree is built.
//!
//! Invariant: no tree is built of a text that has too many values.

use rmcp::model::ErrorData;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest message over standard input, in bytes.
pub(crate) const MESSAGE_LIMIT: usize = 4 << 20;
/// The most values of a message, keys included: a list of 250,000 numbers, and what is around it.
pub(crate) const MAX_VALUES: usize = 256_000;
/// What a value takes in a tree, in bytes: itself, and the room that a list has for more.
const BYTES_PER_VALUE: usize = 96;
/// What an object takes besides, in bytes: its table, and room for its first fields.
const BYTES_PER_OBJECT: usize = 512;

/// The number of values in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Values {
    /// Commas, colons and opening brackets: no text has fewer of them than values and keys, but for the outermost one.
    count: usize,
    objects: usize,
}

impl Values {
    /// Counts the values of a text in one pass. Invalid JSON is counted as well: no parser reads more values of it before it fails.
    pub(crate) fn count(text: &[u8]) -> Self {
        let mut values = Self { count: 0, objects: 0 };
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b',' | b':' | b'[' => values.count += 1,
                b'{' => {
                    values.count += 1;
                    values.objects += 1;
                }
                b'"' => {
                    while let Some(byte) = bytes.next() {
                        match byte {
                            b'"' => break,
                            b'\\' => drop(bytes.next()),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        values
    }

    /// Why a message with so many values is refused.
    pub(crate) const fn excess(self) -> Option<Excess> {
        if self.count > MAX_VALUES { Some(Excess::Values { values: self.count, limit: MAX_VALUES }) } else { None }
    }

    /// About what the tree of them takes, in bytes.
    pub(crate) const fn memory(self) -> usize {
        self.count.saturating_mul(BYTES_PER_VALUE).saturating_add(self.objects.saturating_mul(BYTES_PER_OBJECT))
    }
}

/// The limit that a message exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(untagged)]
pub(crate) enum Excess {
    /// It is too long.
    #[error("the message has {bytes} bytes, the limit is {limit}")]
    Bytes { bytes: u64, limit: usize },
    /// It has too many values.
    #[error("the message has {values} values, keys included, the limit is {limit}")]
    Values { values: usize, limit: usize },
}

impl Excess {
    /// The stable code of the refusal.
    pub(crate) const CODE: &str = "message-too-large";

    /// What to do next.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Bytes { .. } => "send less, or in several calls",
            Self::Values { .. } => "send fewer values: a long list as one text, or in several calls",
        }
    }

    /// The error of JSON-RPC that says so.
    pub(crate) fn error(self) -> ErrorData {
        ErrorData::invalid_request(self.to_string(), Some(json!({"code": Self::CODE, "hint": self.hint()})))
    }

    /// Reads it from the parameters of the request that replaced the message.
    pub(crate) fn from_params(params: Option<&Value>) -> Option<Self> {
        Self::deserialize(params?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, count: usize, objects: usize) {
        assert_eq!(Values::count(text.as_bytes()), Values { count, objects }, "{text}");
    }

    #[test]
    fn values_and_keys_are_counted_outside_of_strings() {
        check("", 0, 0);
        check("7", 0, 0);
        check("[0,0,0]", 3, 0);
        check(r#"{"a":1,"b":[{}]}"#, 6, 2);
        check(r#"["[,:{",",\",,\\",""]"#, 3, 0);
        check(r#"[0,"\\",{}]"#, 4, 1);
        // An unterminated string.
        check(r#"[0,"a,,,,"#, 2, 0);
        check(r#"[0,"a\"#, 2, 0);
    }

    #[test]
    fn no_text_has_more_values_than_are_counted() {
        fn nodes(value: &Value) -> usize {
            1 + match value {
                Value::Array(items) => items.iter().map(nodes).sum(),
                Value::Object(fields) => fields.values().map(|field| 1 + nodes(field)).sum(),
                _ => 0,
            }
        }
        for text in
            ["1", "[]", "[[],[]]", r#"{"a":{"b":[1,2,{"c":null}]},"d":"x,y"}"#, r#"[{"":0},{"":0}]"#, r#"["","",""]"#]
        {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(nodes(&value) <= Values::count(text.as_bytes()).count + 1, "{text}");
        }
    }

    #[test]
    fn a_list_of_as_many_short_numbers_as_fill_a_mebibyte_is_within_the_bound() {
        let list = format!("{{\"x\":[{}]}}", vec!["100"; 1 << 18].join(","));
        assert!(list.len() >= 1 << 20 && Values::count(list.as_bytes()).excess().is_some());
        let list = format!("{{\"x\":[{}]}}", vec!["1000"; 250_000].join(","));
        assert!(list.len() >= 1 << 20 && Values::count(list.as_bytes()).excess().is_none());
    }
}
