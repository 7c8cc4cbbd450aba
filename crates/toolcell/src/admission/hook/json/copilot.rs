//! The protocol of the hooks of GitHub Copilot (`preToolUse` and `postToolUse`), as the runtime of
//! its SDK 1.0 has it.
//!
//! Keys that are not known have no effect, as in that runtime: a script that works there is to
//! decide the same here.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_host::Json;
use toolcell_i18n::Localize as _;

use super::super::error::FailureCause;
use super::super::event::{CallerClaims, HookEvent};
use super::super::post_run::PostRunEvent;
use super::super::verdict::{HookVerdict, ResultChange, Revision};
use super::{EventProblem, ExternalCall, parse_object, to_decision};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventJson<'a> {
    session_id: &'a str,
    /// Milliseconds since 1970.
    timestamp: i64,
    cwd: &'a str,
    tool_name: &'a str,
    tool_args: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_result: Option<ResultJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson {
    result_type: &'static str,
    text_result_for_llm: String,
}

/// Serializes the event of a call.
pub(super) fn write_event(call: &HookEvent, end: Option<&PostRunEvent>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&EventJson {
        session_id: call.claims.session.as_deref().unwrap_or_default(),
        timestamp: call.at.as_millisecond(),
        cwd: &call.cwd,
        tool_name: &call.tool_name,
        tool_args: &call.args,
        tool_result: end.map(|end| ResultJson { result_type: end.result_type(), text_result_for_llm: end.text() }),
    })
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct RawAnswer {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    modified_args: Option<Value>,
    modified_result: Option<Value>,
    additional_context: Option<String>,
    suppress_output: Option<bool>,
}

/// Parses an answer before a run.
pub(super) fn parse_verdict(hook: &str, answer: &str) -> Result<HookVerdict, FailureCause> {
    let said = parse_answer(answer)?;
    Ok(HookVerdict {
        decision: to_decision(hook, said.permission_decision.as_deref(), said.permission_decision_reason)?,
        modified_args: said.modified_args.map(parsed_if_text),
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// Parses an answer after a run.
pub(super) fn parse_revision(answer: &str) -> Result<Revision, FailureCause> {
    let said = parse_answer(answer)?;
    let change = match said.modified_result {
        None => ResultChange::Unchanged,
        Some(result) => to_change(&result)?,
    };
    Ok(Revision {
        change,
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// Reads a result: an object with `textResultForLlm`, or another value as it is.
fn to_change(result: &Value) -> Result<ResultChange, FailureCause> {
    let text = result["textResultForLlm"].as_str();
    if let Some(text) = text.filter(|_| matches!(result["resultType"].as_str(), Some(kind) if kind != "success")) {
        return Ok(ResultChange::Fail(text.to_owned()));
    }
    let value = text.map_or_else(|| result.clone(), Value::from);
    let json = Json::parse(value.to_string()).map_err(|error| FailureCause::InvalidAnswer(error.localize()))?;
    Ok(ResultChange::Succeed(json))
}

fn parse_answer(answer: &str) -> Result<RawAnswer, FailureCause> {
    if answer.is_empty() || answer == "null" { Ok(RawAnswer::default()) } else { parse_object(answer) }
}

/// Parses a call that the host asks about.
pub(super) fn parse_call(text: &str) -> Result<ExternalCall, EventProblem> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", expecting = "an object")]
    struct RawCall {
        hook_event_name: Option<String>,
        tool_name: String,
        #[serde(default)]
        tool_args: Value,
        cwd: Option<String>,
        session_id: Option<String>,
        agent_id: Option<String>,
        tool_call_id: Option<String>,
        tool_result: Option<Value>,
    }
    let call: RawCall = serde_json::from_str(text)?;
    let event = call.hook_event_name.or_else(|| call.tool_result.map(|_| "postToolUse".to_owned()));
    EventProblem::check_event(event.as_deref(), "preToolUse")?;
    let claims = CallerClaims { client: None, session: call.session_id, agent: call.agent_id, call: call.tool_call_id };
    ExternalCall::new(call.tool_name, parsed_if_text(call.tool_args), call.cwd, claims)
}

/// Parses arguments that are the JSON text of an object: some versions of the host pass them so.
fn parsed_if_text(args: Value) -> Value {
    let parsed = args.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.filter(Value::is_object).unwrap_or(args)
}
