//! The protocol of Toolcell: the keys of GitHub Copilot's hooks, and some more.
//!
//! Invariant: an answer is either understood completely or rejected. An unknown key could be a
//! misspelt objection.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_host::Json;
use toolcell_i18n::{Lang, Localize as _, message};
use toolcell_tool::ToolId;

use super::super::error::FailureCause;
use super::super::event::{CallerClaims, HookEvent};
use super::super::post_run::PostRunEvent;
use super::super::verdict::{HookVerdict, ResultChange, Revision};
use super::{EventProblem, ExternalCall, ExternalDecision, parse_object, to_decision};

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
    external: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
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

/// Returns the event of a call: before a run, or after it.
pub(super) fn event(call: &HookEvent, end: Option<&PostRunEvent>) -> serde_json::Result<Value> {
    serde_json::to_value(event_json(call, end))
}

/// Serializes the event of a call.
pub(super) fn write_event(call: &HookEvent, end: Option<&PostRunEvent>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&event_json(call, end))
}

fn event_json<'a>(call: &'a HookEvent, end: Option<&'a PostRunEvent>) -> EventJson<'a> {
    let tool_result = end.map(|end| ResultJson {
        result_type: end.result_type(),
        text_result_for_llm: end.text(),
        result: end.result.as_ref().and_then(|json| RawValue::from_string(json.as_str().to_owned()).ok()),
        error: end.error.as_deref(),
        code: end.code.as_deref(),
        duration_ms: end.duration.as_millis(),
    });
    EventJson {
        hook_event_name: if end.is_none() { "preToolUse" } else { "postToolUse" },
        tool_name: &call.tool_name,
        tool_id: call.tool,
        tool_args: &call.args,
        timestamp: call.at.as_millisecond(),
        cwd: &call.cwd,
        external: call.is_external.then_some(true),
        session_id: call.claims.session.as_deref(),
        agent_id: call.claims.agent.as_deref(),
        tool_call_id: call.claims.call.as_deref(),
        tool_result,
    }
}

/// Parses a call that a program asks about.
pub(super) fn parse_call(text: &str) -> Result<ExternalCall, EventProblem> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
    struct RawCall {
        hook_event_name: Option<String>,
        tool_name: String,
        #[serde(default)]
        tool_args: Value,
        #[serde(rename = "timestamp")]
        _timestamp: Option<i64>,
        cwd: Option<String>,
        session_id: Option<String>,
        agent_id: Option<String>,
        tool_call_id: Option<String>,
    }
    let call: RawCall = serde_json::from_str(text)?;
    EventProblem::check_event(call.hook_event_name.as_deref(), "preToolUse")?;
    let claims = CallerClaims { client: None, session: call.session_id, agent: call.agent_id, call: call.tool_call_id };
    ExternalCall::new(call.tool_name, call.tool_args, call.cwd, claims)
}

/// Serializes the decision about a call.
pub(super) fn decision(decision: &ExternalDecision, lang: Lang) -> Value {
    let mut fields = Map::new();
    if let Some(name) = decision.permission() {
        fields.insert("permissionDecision".to_owned(), name.into());
    }
    let mut put = |key: &str, value: Option<Value>| fields.extend(value.map(|value| (key.to_owned(), value)));
    put("permissionDecisionReason", decision.reason_text(lang).map(Value::from));
    put("modifiedArgs", decision.args.clone());
    put("additionalContext", decision.context_text().map(Value::from));
    put("suppressOutput", decision.suppress_output.then_some(Value::Bool(true)));
    Value::Object(fields)
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

/// Parses an answer before a run.
pub(super) fn parse_verdict(hook: &str, answer: &str) -> Result<HookVerdict, FailureCause> {
    let said: RawVerdict = parse_answer(answer)?;
    Ok(HookVerdict {
        decision: to_decision(hook, said.permission_decision.as_deref(), said.permission_decision_reason)?,
        modified_args: said.modified_args.map(Value::Object),
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// Parses an answer after a run.
pub(super) fn parse_revision(answer: &str) -> Result<Revision, FailureCause> {
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
fn parse_answer<'a, T: Deserialize<'a> + Default>(answer: &'a str) -> Result<T, FailureCause> {
    match answer.trim() {
        "" => Err(FailureCause::Silent),
        "null" => Ok(T::default()),
        text => parse_object(text),
    }
}
