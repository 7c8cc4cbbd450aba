//! What an operation came to, as a client reads it: the contract's text, and beside it the value.
//!
//! Invariant: what failed has a stable code, and no value that a client could take for one.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Map, Value, json};
use toolcell::{Effects, Failed, Lang, Ran};

use crate::operation::Operation;
use crate::schema::fit;

/// The key of `_meta` under which a failure is, for programs.
pub(crate) const ERROR: &str = "toolcell/error";

/// Why there is no value.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The stable code.
    pub(crate) code: &'static str,
    /// What the contract says of it.
    pub(crate) text: String,
    /// What to do next.
    pub(crate) hint: String,
    /// How far a tool changed the world all the same, where one was to run.
    pub(crate) effects: Option<Effects>,
    /// What somebody has to settle before it can be otherwise.
    pub(crate) pending: Option<Value>,
    /// When to try again, where that alone helps.
    pub(crate) retry: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(code: &'static str, text: String, hint: impl Into<String>) -> Self {
        Self { code, text, hint: hint.into(), effects: None, pending: None, retry: None }
    }

    /// A failure of the server's own, in the words of the contract.
    pub(crate) fn ours(code: &'static str, message: &str, hint: impl Into<String>, lang: Lang) -> Self {
        let error = match lang {
            Lang::Ja => "エラー",
            Lang::En => "error",
            Lang::Zh => "错误",
        };
        Self::new(code, format!("{error}{}{message}", lang.colon()), hint)
    }
}

/// The answer of an operation that was done.
pub(crate) fn done(operation: Operation, text: String, body: &impl Serialize) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    // Bodies are plain data; what cannot be written is left out, and the text says it.
    result.structured_content = serde_json::to_value(body).ok().map(|mut value| {
        fit(operation.gives(), &mut value);
        value
    });
    result
}

/// The answer of an operation that was not done.
pub(crate) fn failed(failure: Failure) -> CallToolResult {
    let Failure { code, text, hint, effects, pending, retry } = failure;
    let mut told = format!("code: {code}");
    if !hint.is_empty() {
        told.push_str("\nhint: ");
        told.push_str(&hint);
    }
    let mut error = json!({"code": code, "hint": hint});
    if let Some(effects) = effects {
        error["effects"] = effects.name().into();
        // Who tries again should know what happened already.
        if effects != Effects::None {
            told.push_str("\neffects: ");
            told.push_str(effects.name());
        }
    }
    if let Some(retry) = retry {
        error["retryAfterMs"] = json!(retry.as_millis());
    }
    if let Some(pending) = pending {
        error["pending"] = pending;
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text), ContentBlock::text(told)]);
    result.meta = Some(MetaObject(Map::from_iter([(ERROR.to_owned(), error)])));
    result
}

/// The answer of a run that took place.
pub(crate) fn ran(ran: &Ran, lang: Lang) -> CallToolResult {
    let text = ran.to_text(lang);
    match ran.body() {
        Ok(body) => done(Operation::Run, text, &body),
        Err(error) => failed(Failure { effects: Some(ran.effects), ..Failure::new(error.code(), text, hint(&error)) }),
    }
}

/// What whoever wrote or runs a tool can do about its failure.
fn hint(failed: &Failed) -> &'static str {
    match failed.code() {
        "tool-failed" => "look at the parameters and at the code; create_tool with replace: true makes a new version",
        "timeout" => "raise timeout_ms (up to 600000), or do less in one run",
        "out-of-fuel" | "out-of-memory" => "do less in one run, or ask whoever set the limits",
        "output-too-large" => "return less: a summary, or one page at a time",
        "stalled" => "a promise waits for something that never comes: settle it in the tool",
        "cancelled" => "it was ended from outside; run it again if that was not meant",
        _ => "",
    }
}
