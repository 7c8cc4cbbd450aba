//! Replies to messages that do not parse.
//!
//! Invariant: the reply carries an identifier only if it is certain to be the identifier of a
//! request.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How much of the beginning and the end of a text is searched for an identifier if the text does
/// not parse, in bytes.
pub(crate) const SCAN_BYTES: usize = 4 << 10;

/// The reply to a malformed message.
#[derive(Debug)]
pub(crate) struct Malformed {
    /// The identifier of the request, if it can be read.
    pub(crate) id: Option<RequestId>,
    /// The error.
    pub(crate) error: ErrorData,
}

/// The fields that tell a request from other messages. The other fields may contain invalid
/// Unicode.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// Returns the reply to a text that does not parse as a message; `None` for notifications.
pub(crate) fn reply_to_malformed(text: &[u8], why: &serde_json::Error) -> Option<Malformed> {
    let text = String::from_utf8_lossy(text);
    let envelope = serde_json::from_str::<Envelope<'_>>(&text).ok();
    let is_json = matches!(why.classify(), Category::Data);
    let id = match &envelope {
        Some(Envelope { id: None, method: Some(_) }) if is_json => return None,
        Some(Envelope { id: Some(id), method: Some(_) }) => serde_json::from_str(id.get()).ok().filter(is_id),
        None if text.contains("\"method\"") => request_id(text.as_bytes()),
        _ => None,
    };
    let (code, name, hint) = if is_json {
        (ErrorCode::INVALID_REQUEST, "message-invalid", "send one valid MCP message")
    } else {
        let hint = "send JSON in UTF-8; if you cut a string, cut it between characters, not inside a surrogate pair";
        (ErrorCode::PARSE_ERROR, "message-not-json", hint)
    };
    let what = if is_json { "the message is not an MCP message" } else { "the message is not valid JSON" };
    let error = ErrorData::new(code, format!("{what}: {why}"), Some(json!({"code": name, "hint": hint})));
    Some(Malformed { id: id.and_then(|id| serde_json::from_value(id).ok()), error })
}

/// Finds the identifier of a request in the beginning or the end of its text.
pub(crate) fn request_id(text: &[u8]) -> Option<Value> {
    let (begin, end) = (&text[..text.len().min(SCAN_BYTES)], &text[text.len().saturating_sub(SCAN_BYTES)..]);
    id_near_start(&String::from_utf8_lossy(begin)).or_else(|| id_near_end(&String::from_utf8_lossy(end)))
}

/// Finds an identifier before all long values: `{"jsonrpc":"2.0","id":7,`.
fn id_near_start(begin: &str) -> Option<Value> {
    let mut rest = begin.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = parse_scalar(rest.trim_start())?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = parse_scalar(after)?;
        if key == "id" {
            return Some(value).filter(is_id);
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// Finds an identifier after all long values: `"jsonrpc":"2.0","id":7}`.
fn id_near_end(end: &str) -> Option<Value> {
    let at = end.rfind("\"id\"")?;
    let (value, after) = parse_scalar(end[at + 4..].trim_start().strip_prefix(':')?.trim_start())?;
    let mut after = after.trim();
    // Other scalar fields of the same object may follow.
    while let Some(rest) = after.strip_prefix(',') {
        let (_, rest) = parse_scalar(rest.trim_start())?;
        let (_, rest) = parse_scalar(rest.trim_start().strip_prefix(':')?.trim_start())?;
        after = rest.trim_start();
    }
    (after == "}" && is_id(&value)).then_some(value)
}

/// Parses a string or a number at the beginning of a text, and returns the rest.
fn parse_scalar(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if !text.starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        return None;
    }
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}
