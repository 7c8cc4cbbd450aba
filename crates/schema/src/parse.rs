//! The conversion between JSON text and values.
//!
//! Invariant: a text that has no value is refused with its position. JavaScript parses numbers that
//! overflow, lone surrogates and any depth; a schema check of such a text would check a different
//! value.

use std::io;

use serde_json::Value;
use toolcell_i18n::{Message, message};
use toolcell_json::Params;

use super::complexity;
use super::error::ParamsError;

/// The maximum nesting depth of parameters, if the tool declares a schema.
const MAX_DEPTH: usize = 127;

/// Parses a JSON text.
pub(super) fn parse_value(text: &str) -> Result<Value, ParamsError> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let what = explain_parse_error(text, &error);
        ParamsError::single("", message!("{what} at line {line}, column {column}", what, line, column))
    })
}

/// Refuses a value that is nested too deeply.
pub(super) fn check_depth(value: &Value) -> Result<(), ParamsError> {
    match complexity::depth(value) {
        0..=MAX_DEPTH => Ok(()),
        depth => {
            let message = message!("is nested {depth} deep, the limit is {limit}", depth, limit = MAX_DEPTH);
            Err(ParamsError::single("", message))
        }
    }
}

/// Serializes a value as parameters.
pub(super) fn to_params(value: &Value) -> Result<Params, ParamsError> {
    let text = serde_json::to_string(value)
        .map_err(|error| ParamsError::single("", message!("is not serializable: {error}", error)))?;
    Params::parse(text).map_err(|error| ParamsError::single("", message!("is not serializable: {error}", error)))
}

/// Returns whether a value has more than `limit` bytes of JSON.
pub(super) fn is_longer_than(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(LimitedWriter(limit), value).is_err()
}

/// A writer that fails after this many bytes.
struct LimitedWriter(usize);

impl io::Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether a value contains more than `limit` values.
pub(super) fn has_more_values_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        if count + open.len() > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().take(limit)),
            Value::Object(fields) => open.extend(fields.values().take(limit)),
            _ => {}
        }
    }
    false
}

/// Explains why a JSON text has no value: its depth, a lone surrogate, or a number that overflows.
fn explain_parse_error(text: &str, error: &serde_json::Error) -> Message {
    if TextScan::new(text.as_bytes()).deepest > MAX_DEPTH {
        return message!("is nested more than {limit} deep", limit = MAX_DEPTH);
    }
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let read = text.as_bytes().get(..before + error.column()).unwrap_or(text.as_bytes());
    if TextScan::new(read).in_string || read.ends_with(b"\"") {
        message!("has a string with an unpaired surrogate")
    } else {
        message!("has a number that is out of range")
    }
}

/// The result of scanning the start of a JSON text.
struct TextScan {
    deepest: usize,
    in_string: bool,
}

impl TextScan {
    fn new(text: &[u8]) -> Self {
        let mut scan = Self { deepest: 0, in_string: false };
        let mut depth = 0_usize;
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if scan.in_string => {
                    bytes.next();
                }
                b'"' => scan.in_string = !scan.in_string,
                b'[' | b'{' if !scan.in_string => {
                    depth += 1;
                    scan.deepest = scan.deepest.max(depth);
                }
                b']' | b'}' if !scan.in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        scan
    }
}
