//! What the host answers, as a file says it.
//!
//! Invariant: an answer has one form, that of what it answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use super::cases::json_in;
use super::reader::{Fields, Reader};
use crate::answers::{Answer, Answered, grant_of, response};

/// What an answer can say.
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
/// What only an answer to a request says.
const OF_FETCH: [&str; 5] = ["url", "method", "status", "headers", "json"];
/// What only an answer of another tool says.
const OF_TOOLS: [&str; 3] = ["name", "params", "fuel"];

/// The answers of a test.
pub(super) fn answers<'t>(reader: &mut Reader<'t>, value: Spanned<DeValue<'t>>) -> Vec<Answer> {
    let span = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        reader.invalid(&span, "`answers` is a list".to_owned(), "write each as [[case.answers]]");
        return Vec::new();
    };
    let mut answers = Vec::new();
    for item in items {
        if let Some(fields) = reader.fields(item, "answer", KEYS) {
            answers.extend(answer(reader, fields));
        }
    }
    answers
}

fn answer<'t>(reader: &mut Reader<'t>, mut fields: Fields<'t>) -> Option<Answer> {
    let span = fields.span.clone();
    let Some(value) = fields.take("kind") else {
        reader.invalid(&span, "an answer has no `kind`".to_owned(), "say what it answers: kind = \"fetch\"");
        return None;
    };
    let kind = reader.text(value, "kind")?;
    let (kind, at) = (kind.get_ref().clone(), kind.span());
    let kind = if kind == "tools" { "tools.call".to_owned() } else { kind };
    if grant_of(&kind).is_none() {
        let hint = "there are fetch, tools, kv.get, kv.list, kv.commit and those of files";
        reader.invalid(&at, format!("nothing is asked for as `{kind}`"), hint);
    }
    for (keys, of) in [(&OF_FETCH[..], "fetch"), (&OF_TOOLS[..], "tools.call")] {
        for key in keys.iter().filter(|_| kind != of) {
            if let Some(span) = fields.at(key) {
                reader.invalid(
                    &span,
                    format!("an answer to `{kind}` has no `{key}`"),
                    "say `request`, `returns` or `fails`",
                );
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
        if let (Some(_), Some(span)) = (fields.at(one), fields.at(other)) {
            reader.invalid(&span, format!("an answer cannot say both `{one}` and `{other}`"), "leave one of them out");
        }
    }
    let request = fields.take("request").and_then(|value| reader.json(&value, "request"));
    let mut request = request.unwrap_or_else(|| json!({}));
    if !request.is_object() {
        reader.invalid(&span, "`request` is a table".to_owned(), "name members of what is asked for");
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
    let fuel = fields.take("fuel").and_then(|value| reader.whole(&value, "fuel")).unwrap_or_default();
    let failed = fields.take("fails").and_then(|value| failure(reader, value));
    let answered = if kind == "fetch" {
        fetched(reader, &mut fields, &request)
    } else {
        let value = json_in(reader, &mut fields, "returns", "returns_json");
        // What a file has in it comes along with the answer.
        let body = fields.take("body").and_then(|value| reader.text(value, "body"));
        Some(Answered::Value(value.unwrap_or(Value::Null), body.map(|text| text.into_inner().into_bytes())))
    };
    reader.finish(fields);
    Some(Answer { kind, request, answered: failed.or(answered)?, fuel })
}

/// The response to a request.
fn fetched<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>, request: &Value) -> Option<Answered> {
    let status = fields.take("status").map(|value| (reader.whole(&value, "status"), value.span()));
    let status = match status {
        None => 200,
        Some((number, span)) => {
            let status = number.and_then(|number| u16::try_from(number).ok()).filter(|code| (200..=599).contains(code));
            if status.is_none() {
                reader.invalid(&span, "a status is 200 to 599 (RFC 9110)".to_owned(), "say the status of the answer");
            }
            status?
        }
    };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    if let Some(value) = fields.take("headers") {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            reader.invalid(&span, "`headers` is a table".to_owned(), "write it so: headers = { etag = \"1\" }");
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
    Some(response(request["url"].as_str().unwrap_or_default(), status, &headers, body.into_bytes()))
}

/// `{ name = "NetworkError", message = "…", code = "…" }`
fn failure<'t>(reader: &mut Reader<'t>, value: Spanned<DeValue<'t>>) -> Option<Answered> {
    let mut fields = reader.fields(value, "fails", &["name", "message", "code"])?;
    let mut text = |key: &str, unless: &str| {
        let value = fields.take(key).and_then(|value| reader.text(value, key));
        value.map_or_else(|| unless.to_owned(), Spanned::into_inner)
    };
    let (name, message, code) = (text("name", "Error"), text("message", ""), text("code", "failed"));
    reader.finish(fields);
    Some(Answered::Failure { name, message, code })
}
