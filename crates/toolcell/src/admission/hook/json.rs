//! The JSON that command hooks read and write, in the format of other agent hosts' hooks.
//!
//! Invariant: an answer is either understood completely or rejected. An unknown key could be a
//! misspelt objection.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_host::Json;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_tool::ToolId;

use super::error::{FailureCause, escaped_excerpt, excerpt_message};
use super::event::HookEvent;
use super::post_run::PostRunEvent;
use super::verdict::{HookDecision, HookVerdict, ResultChange, Revision};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventJson<'a> {
    hook_event_name: &'static str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_id: Option<ToolId>,
    tool_args: &'a Value,
    /// Milliseconds since 1970.
    timestamp: i64,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_result: Option<ResultJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    result_type: &'static str,
    text_result_for_llm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    duration_ms: u128,
}

/// Serializes the event before a run.
pub(super) fn write_pre_event(call: &HookEvent) -> Result<Vec<u8>, FailureCause> {
    write_event(call, "preToolUse", None)
}

/// Serializes the event after a run.
pub(super) fn write_post_event(call: &HookEvent, end: &PostRunEvent) -> Result<Vec<u8>, FailureCause> {
    let result = end.result.as_ref().and_then(|json| RawValue::from_string(json.as_str().to_owned()).ok());
    let end = ResultJson {
        result_type: end.result_type(),
        text_result_for_llm: end.text(),
        result,
        error: end.error.as_deref(),
        code: end.code.as_deref(),
        duration_ms: end.duration.as_millis(),
    };
    write_event(call, "postToolUse", Some(end))
}

fn write_event(call: &HookEvent, event: &'static str, end: Option<ResultJson<'_>>) -> Result<Vec<u8>, FailureCause> {
    let shown = EventJson {
        hook_event_name: event,
        tool_name: &call.tool_name,
        tool_id: call.tool,
        tool_args: &call.args,
        timestamp: call.at.as_millisecond(),
        cwd: &call.cwd,
        tool_result: end,
    };
    let mut text =
        serde_json::to_vec(&shown).map_err(|error| FailureCause::Failed(Message::verbatim(error.to_string())))?;
    text.push(b'\n');
    Ok(text)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct RawVerdict {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    modified_args: Option<Map<String, Value>>,
    additional_context: Option<String>,
    suppress_output: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct RawRevision {
    /// `null` is a result here: a hook that replaces a result with `null` must not find it
    /// unchanged.
    #[serde(default, deserialize_with = "present")]
    modified_result: Option<Box<RawValue>>,
    error: Option<String>,
    additional_context: Option<String>,
    suppress_output: Option<bool>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// Parses the answer of a command before a run.
pub(super) fn parse_verdict(hook: &str, answer: &[u8]) -> Result<HookVerdict, FailureCause> {
    let said: RawVerdict = parse_answer(answer)?;
    let reason = said.permission_decision_reason;
    let unexplained = || message!("the hook `{hook}` gives no reason", hook);
    let decision = match said.permission_decision.as_deref() {
        None => HookDecision::NoObjection,
        Some("allow") => HookDecision::Allow,
        Some("ask") => HookDecision::Ask { reason: reason.map_or_else(unexplained, Message::verbatim) },
        Some("deny") => HookDecision::Deny { reason: reason.map_or_else(unexplained, Message::verbatim) },
        Some(other) => {
            let other = escaped_excerpt(other);
            return Err(FailureCause::InvalidAnswer(message!(
                "`permissionDecision` is `{other}`, it must be allow, ask or deny",
                other
            )));
        }
    };
    Ok(HookVerdict {
        decision,
        modified_args: said.modified_args.map(Value::Object),
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// Parses the answer of a command after a run.
pub(super) fn parse_revision(answer: &[u8]) -> Result<Revision, FailureCause> {
    let said: RawRevision = parse_answer(answer)?;
    let change = match (said.modified_result, said.error) {
        (None, None) => ResultChange::Unchanged,
        (None, Some(error)) => ResultChange::Fail(error),
        (Some(result), None) => {
            let result = Json::parse(result.get()).map_err(|error| FailureCause::InvalidAnswer(error.localize()))?;
            ResultChange::Succeed(result)
        }
        (Some(_), Some(_)) => {
            return Err(FailureCause::InvalidAnswer(message!(
                "both `modifiedResult` and `error` are set, only one is allowed"
            )));
        }
    };
    Ok(Revision {
        change,
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// Parses one object or `null`, and nothing else.
fn parse_answer<'a, T: Deserialize<'a> + Default>(answer: &'a [u8]) -> Result<T, FailureCause> {
    let invalid = |error: std::str::Utf8Error| FailureCause::InvalidAnswer(Message::verbatim(error.to_string()));
    let text = std::str::from_utf8(answer).map_err(invalid)?.trim();
    match text.bytes().next() {
        None => Err(FailureCause::Silent),
        _ if text == "null" => Ok(T::default()),
        Some(b'{') => {
            serde_json::from_str(text).map_err(|error| FailureCause::InvalidAnswer(excerpt_message(&error.to_string())))
        }
        Some(_) => {
            let text = escaped_excerpt(text);
            Err(FailureCause::InvalidAnswer(message!("`{text}` is neither an object nor null", text)))
        }
    }
}
