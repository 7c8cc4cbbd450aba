//! Parsing of mocks in a test file.
//!
//! Invariant: a mock has only the keys that fit the kind of its host call.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;
use toolcell_i18n::message;

use super::reader::{Fields, Reader};
use crate::mocks::{Mock, MockReply, required_grant, response_reply};

/// The keys of a mock.
const KEYS: &[&str] = &[
    "kind",
    "request",
    "url",
    "method",
    "status",
    "headers",
    "body",
    "json",
    "name",
    "params",
    "returns",
    "returns_json",
    "fails",
    "fuel",
];
/// The keys that only a `fetch` mock has.
const FETCH_KEYS: [&str; 5] = ["url", "method", "status", "headers", "json"];
/// The keys that only a `tools.call` mock has.
const TOOL_KEYS: [&str; 3] = ["name", "params", "fuel"];

/// Parses the mocks of a test.
pub(super) fn parse_mocks<'t>(reader: &mut Reader<'t>, value: Spanned<DeValue<'t>>) -> Vec<Mock> {
    let span = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        reader.invalid(&span, message!("`answers` must be a list"), message!("write each as [[case.answers]]"));
        return Vec::new();
    };
    let mut answers = Vec::new();
    for item in items {
        if let Some(fields) = reader.fields(item, "answer", KEYS) {
            answers.extend(parse_mock(reader, fields));
        }
    }
    answers
}

fn parse_mock<'t>(reader: &mut Reader<'t>, mut fields: Fields<'t>) -> Option<Mock> {
    let span = fields.span.clone();
    let Some(value) = fields.take("kind") else {
        reader.invalid(&span, message!("an answer has no `kind`"), message!("add one: kind = \"fetch\""));
        return None;
    };
    let kind = reader.text(value, "kind")?;
    let (kind, at) = (kind.get_ref().clone(), kind.span());
    let kind = if kind == "tools" { "tools.call".to_owned() } else { kind };
    if required_grant(&kind).is_none() {
        let hint = message!("the operations are fetch, tools, kv.get, kv.list, kv.commit and those of files");
        reader.invalid(&at, message!("there is no operation `{kind}`", kind), hint);
    }
    for (keys, of) in [(&FETCH_KEYS[..], "fetch"), (&TOOL_KEYS[..], "tools.call")] {
        for key in keys.iter().filter(|_| kind != of) {
            if let Some(span) = fields.key_span(key) {
                let message = message!("an answer to `{kind}` has no `{key}`", kind, key);
                reader.invalid(&span, message, message!("use `request`, `returns` or `fails`"));
            }
        }
    }
    for (one, other) in [
        ("json", "body"),
        ("returns", "returns_json"),
        ("fails", "status"),
        ("fails", "headers"),
        ("fails", "json"),
        ("fails", "body"),
        ("fails", "returns"),
        ("fails", "returns_json"),
    ] {
        if let (Some(_), Some(span)) = (fields.key_span(one), fields.key_span(other)) {
            let message = message!("an answer cannot have both `{one}` and `{other}`", one, other);
            reader.invalid(&span, message, message!("remove one of them"));
        }
    }
    let request = fields.take("request").and_then(|value| reader.json(&value, "request"));
    let mut request = request.unwrap_or_else(|| json!({}));
    if !request.is_object() {
        let message = message!("`{what}` must be a table", what = "request");
        reader.invalid(&span, message, message!("name members of the request"));
        return None;
    }
    for key in ["url", "method", "name"] {
        if let Some(text) = fields.take(key).and_then(|value| reader.text(value, key)) {
            request[key] = text.into_inner().into();
        }
    }
    if let Some(value) = fields.take("params").and_then(|value| reader.json(&value, "params")) {
        request["params"] = value;
    }
    let fuel = fields.take("fuel").and_then(|value| reader.unsigned(&value, "fuel")).unwrap_or_default();
    let failed = fields.take("fails").and_then(|value| parse_failure(reader, value));
    let answered = if kind == "fetch" {
        parse_fetch_reply(reader, &mut fields, &request)
    } else {
        let value = reader.json_field(&mut fields, "returns", "returns_json");
        // The contents of a file come as binary data with the reply.
        let body = fields.take("body").and_then(|value| reader.text(value, "body"));
        Some(MockReply::Value(value.unwrap_or(Value::Null), body.map(|text| text.into_inner().into_bytes())))
    };
    reader.reject_unknown(fields);
    Some(Mock { kind, request, reply: failed.or(answered)?, fuel })
}

/// Parses the response to a request.
fn parse_fetch_reply<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>, request: &Value) -> Option<MockReply> {
    let status = fields.take("status").map(|value| (reader.unsigned(&value, "status"), value.span()));
    let status = match status {
        None => 200,
        Some((number, span)) => {
            let status = number.and_then(|number| u16::try_from(number).ok()).filter(|code| (200..=599).contains(code));
            if status.is_none() {
                let message = message!("a status must be 200 to 599 (RFC 9110)");
                reader.invalid(&span, message, message!("correct the status"));
            }
            status?
        }
    };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    if let Some(value) = fields.take("headers") {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            let message = message!("`{what}` must be a table", what = "headers");
            reader.invalid(&span, message, message!("write it as: headers = { etag = \"1\" }"));
            return None;
        };
        for (key, value) in table {
            let value = reader.text(value, "headers")?;
            headers.insert(key.get_ref().to_ascii_lowercase(), value.into_inner());
        }
    }
    let text = fields.take("body").and_then(|value| reader.text(value, "body")).map(Spanned::into_inner);
    let body = match fields.take("json").map(|value| reader.json(&value, "body")) {
        Some(json) => {
            headers.entry("content-type".to_owned()).or_insert_with(|| "application/json".to_owned());
            json?.to_string()
        }
        None => text.unwrap_or_default(),
    };
    let headers: Vec<(String, String)> = headers.into_iter().collect();
    Some(response_reply(request["url"].as_str().unwrap_or_default(), status, &headers, body.into_bytes()))
}

/// Parses an error: `{ name = "NetworkError", message = "…", code = "…" }`
fn parse_failure<'t>(reader: &mut Reader<'t>, value: Spanned<DeValue<'t>>) -> Option<MockReply> {
    let mut fields = reader.fields(value, "fails", &["name", "message", "code"])?;
    let mut text = |key: &str, unless: &str| {
        let value = fields.take(key).and_then(|value| reader.text(value, key));
        value.map_or_else(|| unless.to_owned(), Spanned::into_inner)
    };
    let (name, message, code) = (text("name", "Error"), text("message", ""), text("code", "failed"));
    reader.reject_unknown(fields);
    Some(MockReply::Failure { name, message, code })
}
