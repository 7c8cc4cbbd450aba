//! What commands read and write: JSON in the form that hooks of other agent hosts have.
//!
//! Invariant: an answer is understood whole, or it does not count. A key that is not known could be a misspelt objection.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_host::Json;
use toolcell_tool::ToolId;

use super::call::GateCall;
use super::end::GateEnd;
use super::failure::{Cause, shown};
use super::verdict::{Change, Decision, Revision, Verdict};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    hook_event_name: &'static str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_id: Option<ToolId>,
    tool_args: &'a Value,
    /// Milliseconds since 1970.
    timestamp: i64,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_result: Option<ShownEnd<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownEnd<'a> {
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

/// A call before it runs.
pub(super) fn before(call: &GateCall) -> Result<Vec<u8>, Cause> {
    write(call, "preToolUse", None)
}

/// A call after it ran.
pub(super) fn after(call: &GateCall, end: &GateEnd) -> Result<Vec<u8>, Cause> {
    let result = end.result.as_ref().and_then(|json| RawValue::from_string(json.as_str().to_owned()).ok());
    let end = ShownEnd {
        result_type: end.result_type(),
        text_result_for_llm: end.text(),
        result,
        error: end.error.as_deref(),
        code: end.code.as_deref(),
        duration_ms: end.duration.as_millis(),
    };
    write(call, "postToolUse", Some(end))
}

fn write(call: &GateCall, event: &'static str, end: Option<ShownEnd<'_>>) -> Result<Vec<u8>, Cause> {
    let shown = Shown {
        hook_event_name: event,
        tool_name: &call.tool_name,
        tool_id: call.tool,
        tool_args: &call.args,
        timestamp: call.at.as_millisecond(),
        cwd: &call.cwd,
        tool_result: end,
    };
    let mut text = serde_json::to_vec(&shown).map_err(|error| Cause::Failed(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct SaidBefore {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    modified_args: Option<Map<String, Value>>,
    additional_context: Option<String>,
    suppress_output: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct SaidAfter {
    /// Here `null` is a result like another: whoever blanks one out should not find it kept.
    #[serde(default, deserialize_with = "present")]
    modified_result: Option<Box<RawValue>>,
    error: Option<String>,
    additional_context: Option<String>,
    suppress_output: Option<bool>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// The answer of a command before a run.
pub(super) fn verdict(gate: &str, answer: &[u8]) -> Result<Verdict, Cause> {
    let said: SaidBefore = read(answer)?;
    let reason = said.permission_decision_reason;
    let unexplained = || format!("the gate `{gate}` gives no reason");
    let decision = match said.permission_decision.as_deref() {
        None => Decision::NoObjection,
        Some("allow") => Decision::Allow,
        Some("ask") => Decision::Ask { reason: reason.unwrap_or_else(unexplained) },
        Some("deny") => Decision::Deny { reason: reason.unwrap_or_else(unexplained) },
        Some(other) => {
            let other = shown(other);
            return Err(Cause::Nonsense(format!("`permissionDecision` is `{other}`, it may be allow, ask or deny")));
        }
    };
    Ok(Verdict {
        decision,
        modified_args: said.modified_args.map(Value::Object),
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// The answer of a command after a run.
pub(super) fn revision(answer: &[u8]) -> Result<Revision, Cause> {
    let said: SaidAfter = read(answer)?;
    let change = match (said.modified_result, said.error) {
        (None, None) => Change::Keep,
        (None, Some(error)) => Change::Fail(error),
        (Some(result), None) => {
            let result = Json::parse(result.get()).map_err(|error| Cause::Nonsense(error.to_string()))?;
            Change::Succeed(result)
        }
        (Some(_), Some(_)) => {
            return Err(Cause::Nonsense("both `modifiedResult` and `error`, it may be one of them".to_owned()));
        }
    };
    Ok(Revision {
        change,
        additional_context: said.additional_context,
        suppress_output: said.suppress_output.unwrap_or_default(),
    })
}

/// One object or `null`, and nothing else.
fn read<'a, T: Deserialize<'a> + Default>(answer: &'a [u8]) -> Result<T, Cause> {
    let text = std::str::from_utf8(answer).map_err(|error| Cause::Nonsense(format!("{error}")))?.trim();
    match text.bytes().next() {
        None => Err(Cause::Silent),
        _ if text == "null" => Ok(T::default()),
        Some(b'{') => serde_json::from_str(text).map_err(|error| Cause::Nonsense(shown(&error.to_string()))),
        Some(_) => Err(Cause::Nonsense(format!("`{}` is neither an object nor null", shown(text)))),
    }
}
