//! Builds the results of tool calls: the contract's text, with the structured value beside it.
//!
//! Invariant: a failed call carries a stable code and no structured value.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Map, Value, json};
use toolcell::{Effects, Lang, RunResult, ToolFailure};
use toolcell_error::ErrorCode;

use crate::builtin_tools::BuiltinTool;
use crate::client_schema::remove_optional_nulls;

/// The key in `_meta` that holds a failure for programs: `code`, `hint`, and, where they apply,
/// `effects`, `retryAfterMs` and `pending`.
pub(crate) const ERROR_META_KEY: &str = "toolcell/error";

/// A failed tool call.
#[derive(Debug)]
pub(crate) struct CallFailure {
    /// The stable code.
    pub(crate) code: ErrorCode,
    /// The message, worded as in the contract.
    pub(crate) text: String,
    /// What the caller can do next; empty if there is nothing to suggest.
    pub(crate) hint: String,
    /// How far a run changed the outside world before it failed; `None` if the call was not a run.
    pub(crate) effects: Option<Effects>,
    /// The pending approval that blocks the call.
    pub(crate) pending: Option<Value>,
    /// How long to wait before a retry, if waiting alone can help.
    pub(crate) retry: Option<Duration>,
}

impl CallFailure {
    pub(crate) fn new(code: ErrorCode, text: String, hint: impl Into<String>) -> Self {
        Self { code, text, hint: hint.into(), effects: None, pending: None, retry: None }
    }

    /// A failure of the server itself, with the contract's `error:` prefix in `lang`.
    pub(crate) fn for_server(code: ErrorCode, message: &str, hint: impl Into<String>, lang: Lang) -> Self {
        let error = match lang {
            Lang::Ja => "エラー",
            Lang::En => "error",
            Lang::Zh => "错误",
        };
        Self::new(code, format!("{error}{}{message}", lang.colon()), hint)
    }
}

/// Builds the result of a successful call, with `body` as its structured content.
pub(crate) fn success_result(operation: BuiltinTool, text: String, body: &impl Serialize) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    // Response bodies are plain data. One that cannot be serialised is left out; the text has it
    // all.
    result.structured_content = serde_json::to_value(body).ok().map(|mut value| {
        remove_optional_nulls(operation.output_schema(), &mut value);
        value
    });
    result
}

/// Builds the result of a failed call.
pub(crate) fn error_result(failure: CallFailure) -> CallToolResult {
    let CallFailure { code, text, hint, effects, pending, retry } = failure;
    let mut told = format!("code: {code}");
    if !hint.is_empty() {
        told.push_str("\nhint: ");
        told.push_str(&hint);
    }
    let mut error = json!({"code": code, "hint": hint});
    if let Some(effects) = effects {
        error["effects"] = effects.name().into();
        // A caller that retries must know which effects have already happened.
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
    result.meta = Some(MetaObject(Map::from_iter([(ERROR_META_KEY.to_owned(), error)])));
    result
}

/// Builds the result of a finished run, which may itself have failed.
pub(crate) fn run_result(ran: &RunResult, lang: Lang) -> CallToolResult {
    let text = ran.to_text(lang);
    match ran.response() {
        Ok(body) => success_result(BuiltinTool::Run, text, &body),
        Err(error) => error_result(CallFailure {
            effects: Some(ran.effects),
            ..CallFailure::new(error.code(), text, hint(&error))
        }),
    }
}

/// Returns the hint for a tool failure: what the author or the caller of the tool can do about it.
fn hint(failed: &ToolFailure) -> &'static str {
    match failed.code() {
        ErrorCode::ToolFailed => {
            "check the parameters and the code; create_tool with replace: true stores a new version"
        }
        ErrorCode::Timeout => "raise timeout_ms (up to 600000), or do less in one run",
        ErrorCode::OutOfFuel | ErrorCode::OutOfMemory => "do less in one run, or ask the operator to raise the limit",
        ErrorCode::OutputTooLarge => "return less: a summary, or one page at a time",
        ErrorCode::Stalled => "a promise never settles: resolve or reject it in the tool",
        ErrorCode::Cancelled => "the run was cancelled from outside; run it again if that was not intended",
        _ => "",
    }
}
