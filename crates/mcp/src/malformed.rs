//! What is no message of the protocol, and the error that answers it.
//!
//! Invariant: an identifier is given back only where it is that of a request. What cannot be told apart has none.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How much of the beginning and of the end of a text an identifier is looked for in, where the text cannot be parsed.
pub(crate) const ENDS: usize = 4 << 10;

/// The answer to what is no message.
#[derive(Debug)]
pub(crate) struct Malformed {
    /// The identifier of the request, where it can be read.
    pub(crate) id: Option<RequestId>,
    /// Why it is none.
    pub(crate) error: ErrorData,
}

/// What tells a request from other messages. Texts that nobody looks at may be no Unicode.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// The answer to a text that does not parse as a message; none where nobody waits for one.
pub(crate) fn malformed(text: &[u8], why: &serde_json::Error) -> Option<Malformed> {
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
        (ErrorCode::INVALID_REQUEST, "message-invalid", "send one message that the protocol has")
    } else {
        let hint = "send JSON in UTF-8; a text that is cut within a surrogate pair is none: cut it between characters";
        (ErrorCode::PARSE_ERROR, "message-not-json", hint)
    };
    let what = if is_json { "the message is none of the protocol" } else { "the message is no JSON" };
    let error = ErrorData::new(code, format!("{what}: {why}"), Some(json!({"code": name, "hint": hint})));
    Some(Malformed { id: id.and_then(|id| serde_json::from_value(id).ok()), error })
}

/// The identifier of the request that a text is, as far as its ends show one.
pub(crate) fn request_id(text: &[u8]) -> Option<Value> {
    let (begin, end) = (&text[..text.len().min(ENDS)], &text[text.len().saturating_sub(ENDS)..]);
    id_at_begin(&String::from_utf8_lossy(begin)).or_else(|| id_at_end(&String::from_utf8_lossy(end)))
}

/// The identifier, where it stands before everything that is long: `{"jsonrpc":"2.0","id":7,`.
fn id_at_begin(begin: &str) -> Option<Value> {
    let mut rest = begin.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = scalar(rest.trim_start())?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = scalar(after)?;
        if key == "id" {
            return Some(value).filter(is_id);
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// The identifier, where it stands behind it: `"jsonrpc":"2.0","id":7}`.
fn id_at_end(end: &str) -> Option<Value> {
    let at = end.rfind("\"id\"")?;
    let (value, after) = scalar(end[at + 4..].trim_start().strip_prefix(':')?.trim_start())?;
    let mut after = after.trim();
    // What else may stand behind it at the same depth.
    while let Some(rest) = after.strip_prefix(',') {
        let (_, rest) = scalar(rest.trim_start())?;
        let (_, rest) = scalar(rest.trim_start().strip_prefix(':')?.trim_start())?;
        after = rest.trim_start();
    }
    (after == "}" && is_id(&value)).then_some(value)
}

/// A text or a number at the beginning of some JSON, and what comes after it.
fn scalar(text: &str) -> Option<(Value, &str)> {
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
