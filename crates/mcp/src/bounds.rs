//! Size limits of messages, shared by both transports.
//!
//! JSON takes more memory as a tree than as text: an array item of two bytes takes about a hundred
//! bytes in memory. Values are therefore counted in the text before a tree is built.
//!
//! Invariant: no tree is built from a text with more than [`MAX_VALUES`] values.

use rmcp::model::ErrorData;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcell_error::ErrorCode;

/// The longest message on standard input, in bytes: 4 MiB.
pub(crate) const MAX_STDIO_MESSAGE_BYTES: usize = 4 << 20;
/// The most values in a message, keys included: an array of 250,000 numbers and its envelope.
pub(crate) const MAX_VALUES: usize = 256_000;
/// The memory of one value in a tree, in bytes, spare capacity of its array included.
const BYTES_PER_VALUE: usize = 96;
/// The additional memory of an object, in bytes: its table, with capacity for the first fields.
const BYTES_PER_OBJECT: usize = 512;

/// The number of values in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueCount {
    /// Commas, colons and opening brackets. This is an upper bound of the number of values and
    /// keys, the outermost value excepted.
    count: usize,
    objects: usize,
}

impl ValueCount {
    /// Counts the values of a text in one pass. For invalid JSON the count is an upper bound of
    /// what a parser reads before it fails.
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

    /// Returns the limit that a message with this many values exceeds.
    pub(crate) const fn exceeded_limit(self) -> Option<MessageTooLarge> {
        if self.count > MAX_VALUES {
            Some(MessageTooLarge::Values { values: self.count, limit: MAX_VALUES })
        } else {
            None
        }
    }

    /// Estimates the memory of the parsed tree, in bytes.
    pub(crate) const fn estimated_bytes(self) -> usize {
        self.count.saturating_mul(BYTES_PER_VALUE).saturating_add(self.objects.saturating_mul(BYTES_PER_OBJECT))
    }
}

/// The limit that a message exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, toolcell_i18n::Localize)]
#[serde(untagged)]
pub(crate) enum MessageTooLarge {
    /// The message is too long.
    #[error("the message has {bytes} bytes, the limit is {limit}")]
    Bytes { bytes: u64, limit: usize },
    /// The message has too many values.
    #[error("the message has {values} values, keys included, the limit is {limit}")]
    Values { values: usize, limit: usize },
}

impl MessageTooLarge {
    /// The stable code of this error.
    pub(crate) const CODE: ErrorCode = ErrorCode::MessageTooLarge;

    /// What the client can do next.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Bytes { .. } => "send a smaller message, or split it into several calls",
            Self::Values { .. } => "send fewer values: pass a long list as one string, or split it into several calls",
        }
    }

    /// Builds the JSON-RPC error.
    pub(crate) fn to_error(self) -> ErrorData {
        ErrorData::invalid_request(self.to_string(), Some(json!({"code": Self::CODE, "hint": self.hint()})))
    }

    /// Parses the value from the parameters of the request that replaced the message.
    pub(crate) fn from_params(params: Option<&Value>) -> Option<Self> {
        Self::deserialize(params?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, count: usize, objects: usize) {
        assert_eq!(ValueCount::count(text.as_bytes()), ValueCount { count, objects }, "{text}");
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
            assert!(nodes(&value) <= ValueCount::count(text.as_bytes()).count + 1, "{text}");
        }
    }

    #[test]
    fn a_list_of_as_many_short_numbers_as_fill_a_mebibyte_is_within_the_bound() {
        let list = format!("{{\"x\":[{}]}}", vec!["100"; 1 << 18].join(","));
        assert!(list.len() >= 1 << 20 && ValueCount::count(list.as_bytes()).exceeded_limit().is_some());
        let list = format!("{{\"x\":[{}]}}", vec!["1000"; 250_000].join(","));
        assert!(list.len() >= 1 << 20 && ValueCount::count(list.as_bytes()).exceeded_limit().is_none());
    }
}
