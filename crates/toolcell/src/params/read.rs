//! From text to values and back.
//!
//! Invariant: what cannot be a value is refused with its place. JavaScript reads numbers that overflow, halves of
//! surrogate pairs and any depth; to check such a text against a declaration would be to check another one.

use std::io;

use serde_json::Value;
use toolcell_host::Params;

use super::bounds;
use super::error::ParamsError;

/// How deep parameters are nested at most, where a tool declares what they are.
const DEPTH_LIMIT: usize = 127;

/// Reads a text.
pub(super) fn value(text: &str) -> Result<Value, ParamsError> {
    serde_json::from_str(text).map_err(|error| {
        let what = unreadable(text, &error);
        ParamsError::one("", format!("{what} at line {}, column {}", error.line(), error.column()))
    })
}

/// Refuses what is nested too deep.
pub(super) fn bounded(value: &Value) -> Result<(), ParamsError> {
    match bounds::depth(value) {
        0..=DEPTH_LIMIT => Ok(()),
        depth => Err(ParamsError::one("", format!("is nested {depth} deep, the limit is {DEPTH_LIMIT}"))),
    }
}

/// Writes a text.
pub(super) fn params(value: &Value) -> Result<Params, ParamsError> {
    let text = serde_json::to_string(value).map_err(|error| ParamsError::one("", format!("has no text: {error}")))?;
    Params::parse(text).map_err(|error| ParamsError::one("", format!("has no text: {error}")))
}

/// Whether a value has more bytes of JSON than this.
pub(super) fn is_longer_than(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(Room(limit), value).is_err()
}

/// Takes so many bytes, and then fails.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether there are more values in one than this.
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

/// Why a text that is JSON is no value: it is too deep, or half of a surrogate pair stands alone, or a number overflows.
fn unreadable(text: &str, error: &serde_json::Error) -> String {
    if Scan::of(text.as_bytes()).deepest > DEPTH_LIMIT {
        return format!("is nested more than {DEPTH_LIMIT} deep");
    }
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let read = text.as_bytes().get(..before + error.column()).unwrap_or(text.as_bytes());
    if Scan::of(read).in_string || read.ends_with(b"\"") {
        "has half of a surrogate pair in a text".to_owned()
    } else {
        "has a number that is larger than a number can be".to_owned()
    }
}

/// What the start of a text that is JSON is made of.
struct Scan {
    deepest: usize,
    in_string: bool,
}

impl Scan {
    fn of(text: &[u8]) -> Self {
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
