//! Failed calls: the contract's text, with a stable code beside it.
//!
//! Invariant: a failed call carries a stable code and no structured value.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcell::{Effects, Lang, Localize, Message};
use toolcell_error::ErrorCode;
use toolcell_i18n::tr;

use crate::next_step::hint_for_model;
use crate::tool_result::{Content, ToolResult};

/// The key in `_meta` that holds a failure for programs: `code`, `hint`, and, where they apply,
/// `effects`, `retryAfterMs` and `pending`.
pub const ERROR_META_KEY: &str = "toolcell/error";

/// A failed tool call.
#[derive(Debug)]
pub struct CallFailure {
    /// The stable code.
    pub code: ErrorCode,
    /// The message worded as in the contract.
    pub text: String,
    /// What the model can do next; empty if there is nothing to suggest.
    pub hint: Message,
    /// How far a run changed the outside world before it failed; `None` if the call was not a run.
    pub effects: Option<Effects>,
    /// The pending approval that blocks the call.
    pub pending: Option<Value>,
    /// How long to wait before a retry, if waiting alone can help.
    pub retry: Option<Duration>,
}

impl CallFailure {
    /// Creates a failure with the hint of an error, which is adapted to the model.
    pub fn new(code: ErrorCode, text: String, hint: impl Into<Message>) -> Self {
        Self { code, text, hint: hint_for_model(code, hint.into()), effects: None, pending: None, retry: None }
    }

    /// Creates a failure of the request or the host, not of a tool, with the contract's `error:` prefix in `lang`.
    pub fn for_server(code: ErrorCode, error: &impl Localize, hint: impl Into<Message>, lang: Lang) -> Self {
        let text = format!("{}{}{}", tr!(lang, "error"), lang.colon(), error.localize().to_text(lang));
        Self::new(code, text, hint)
    }
}

/// Builds the result of a failed call: its content in `lang`, and its metadata in English.
#[must_use]
pub fn error_result(failure: CallFailure, lang: Lang) -> ToolResult {
    let CallFailure { code, text, hint, effects, pending, retry } = failure;
    let colon = lang.colon();
    let mut lines = vec![format!("{}{colon}{code}", tr!(lang, "code"))];
    let hint_text = hint.to_text(lang);
    if !hint_text.is_empty() {
        lines.push(format!("{}{colon}{hint_text}", tr!(lang, "hint")));
    }
    let mut error = json!({"code": code, "hint": hint});
    if let Some(effects) = effects {
        error["effects"] = effects.name().into();
        // A caller that retries must know which effects have already happened.
        if effects != Effects::None {
            lines.push(format!("{}{colon}{}", tr!(lang, "effects"), effects.name()));
        }
    }
    if let Some(retry) = retry {
        error["retryAfterMs"] = json!(retry.as_millis());
    }
    if let Some(pending) = pending {
        error["pending"] = pending;
    }
    ToolResult {
        content: vec![Content::Text(text), Content::Text(lines.join("\n"))],
        structured: None,
        meta: Map::from_iter([(ERROR_META_KEY.to_owned(), error)]),
        is_error: true,
    }
}
