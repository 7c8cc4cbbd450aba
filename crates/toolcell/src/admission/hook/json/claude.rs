//! The protocol of the hooks of Claude Code (`PreToolUse` and `PostToolUse`), as its documentation
//! of November 2026 has it.
//!
//! Keys that are not known have no effect, and neither has an output that is no JSON, as there: a
//! script that works there is to decide the same here. Only an exit status other than 0 and 2,
//! which has no effect there, denies a call here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolcell_host::Json;
use toolcell_i18n::{Lang, Localize as _};

use super::super::error::FailureCause;
use super::super::event::{CallerClaims, HookEvent};
use super::super::post_run::PostRunEvent;
use super::super::verdict::{HookDecision, HookVerdict, ResultChange, Revision};
use super::{EventProblem, ExternalCall, ExternalDecision, parse_object, stated_reason, to_decision};

/// The name of the event before a run.
const PRE_TOOL_USE: &str = "PreToolUse";

#[derive(Serialize)]
struct EventJson<'a> {
    session_id: &'a str,
    /// Toolcell has no transcript of the session.
    transcript_path: &'static str,
    cwd: &'a str,
    permission_mode: &'static str,
    hook_event_name: &'static str,
    tool_name: &'a str,
    tool_input: &'a Value,
    tool_use_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<Value>,
}

/// Serializes the event of a call.
pub(super) fn write_event(call: &HookEvent, end: Option<&PostRunEvent>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&EventJson {
        session_id: call.claims.session.as_deref().unwrap_or_default(),
        transcript_path: "",
        cwd: &call.cwd,
        permission_mode: "default",
        hook_event_name: if end.is_none() { PRE_TOOL_USE } else { "PostToolUse" },
        tool_name: &call.tool_name,
        tool_input: &call.args,
        tool_use_id: call.claims.call.as_deref().unwrap_or_default(),
        agent_id: call.claims.agent.as_deref(),
        tool_response: end.map(response),
    })
}

/// Returns the result of a run in the form that the host gives to its hooks.
fn response(end: &PostRunEvent) -> Value {
    match &end.result {
        Some(result) => serde_json::from_str(result.as_str()).unwrap_or_default(),
        None => json!({ "is_error": end.error.is_some(), "content": end.text() }),
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct RawAnswer {
    #[serde(rename = "continue")]
    continues: Option<bool>,
    stop_reason: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<RawOutput>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct RawOutput {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    updated_tool_output: Option<Value>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Value>,
    additional_context: Option<String>,
}

/// Parses an answer before a run.
pub(super) fn parse_verdict(hook: &str, answer: &str) -> Result<HookVerdict, FailureCause> {
    let RawAnswer { continues, stop_reason, decision, reason, hook_specific_output } = parse_answer(answer)?;
    let output = hook_specific_output.unwrap_or_default();
    let decision = match (continues, output.permission_decision.as_deref(), decision.as_deref()) {
        (Some(false), ..) => HookDecision::Deny { reason: stated_reason(hook, stop_reason) },
        (_, None, Some("block")) => HookDecision::Deny { reason: stated_reason(hook, reason) },
        (_, None, Some("approve")) => HookDecision::Allow,
        (_, name, other) => to_decision(hook, name.or(other), output.permission_decision_reason.or(reason))?,
    };
    Ok(HookVerdict {
        decision,
        modified_args: output.updated_input,
        additional_context: output.additional_context,
        suppress_output: false,
    })
}

/// Parses an answer after a run. A reason to block is for the model to read: the tool has run.
pub(super) fn parse_revision(answer: &str) -> Result<Revision, FailureCause> {
    let RawAnswer { continues, stop_reason, decision, reason, hook_specific_output } = parse_answer(answer)?;
    let output = hook_specific_output.unwrap_or_default();
    let blocked = reason.filter(|_| decision.as_deref() == Some("block"));
    let context: Vec<String> = blocked.into_iter().chain(output.additional_context).collect();
    let change = match (continues, output.updated_tool_output.or(output.updated_mcp_tool_output)) {
        (Some(false), _) => ResultChange::Fail(stop_reason.unwrap_or_else(|| "a hook ended the turn".to_owned())),
        (_, None) => ResultChange::Unchanged,
        (_, Some(result)) => ResultChange::Succeed(
            Json::parse(result.to_string()).map_err(|error| FailureCause::InvalidAnswer(error.localize()))?,
        ),
    };
    let additional_context = (!context.is_empty()).then(|| context.join("\n"));
    Ok(Revision { change, additional_context, suppress_output: false })
}

fn parse_answer(answer: &str) -> Result<RawAnswer, FailureCause> {
    if answer.starts_with('{') { parse_object(answer) } else { Ok(RawAnswer::default()) }
}

/// Parses a call that the host asks about.
pub(super) fn parse_call(text: &str) -> Result<ExternalCall, EventProblem> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct RawCall {
        hook_event_name: String,
        tool_name: Option<String>,
        #[serde(default)]
        tool_input: Value,
        cwd: Option<String>,
        session_id: Option<String>,
        agent_id: Option<String>,
        tool_use_id: Option<String>,
    }
    let call: RawCall = serde_json::from_str(text)?;
    EventProblem::check_event(Some(&call.hook_event_name), PRE_TOOL_USE)?;
    let name = call.tool_name.ok_or_else(|| EventProblem::missing("tool_name"))?;
    let claims = CallerClaims { client: None, session: call.session_id, agent: call.agent_id, call: call.tool_use_id };
    ExternalCall::new(name, call.tool_input, call.cwd, claims)
}

/// Formats the decision about a call.
pub(super) fn decision(decision: &ExternalDecision, lang: Lang) -> Value {
    let mut output = Map::new();
    let mut put = |key: &str, value: Option<Value>| output.extend(value.map(|value| (key.to_owned(), value)));
    put("permissionDecision", decision.permission().map(Value::from));
    put("permissionDecisionReason", decision.reason_text(lang).map(Value::from));
    put("updatedInput", decision.args.clone());
    put("additionalContext", decision.context_text().map(Value::from));
    if output.is_empty() {
        return json!({});
    }
    output.insert("hookEventName".to_owned(), PRE_TOOL_USE.into());
    json!({ "hookSpecificOutput": output })
}
