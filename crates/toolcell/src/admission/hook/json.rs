//! The JSON that hooks read and write, in the protocol of Toolcell and in those of other hosts; and
//! the same JSON seen from the other side: a program that asks about a call.
//!
//! Invariant: an answer that is not understood never permits anything.

mod claude;
mod copilot;
mod native;

use serde::Deserialize;
use serde_json::Value;
use toolcell_host::Json;
use toolcell_i18n::{Lang, Message, message};
use toolcell_policy::HookProtocol;

use super::command::ProgramAnswer;
use super::error::{FailureCause, escaped_excerpt, excerpt_message};
use super::event::HookEvent;
use super::external::{EventProblem, ExternalCall, ExternalDecision};
use super::post_run::PostRunEvent;
use super::verdict::{HookDecision, HookVerdict, Revision};

/// Serializes the event of a call for a command: before a run, or after it.
pub(super) fn write_event(
    protocol: HookProtocol,
    call: &HookEvent,
    end: Option<&PostRunEvent>,
) -> Result<Vec<u8>, FailureCause> {
    let text = match protocol {
        HookProtocol::Toolcell => native::write_event(call, end),
        HookProtocol::Copilot => copilot::write_event(call, end),
        HookProtocol::Claude => claude::write_event(call, end),
    };
    let mut text = text.map_err(|error| FailureCause::Failed(Message::verbatim(error.to_string())))?;
    text.push(b'\n');
    Ok(text)
}

/// Returns the event of a call for a tool: before a run, or after it.
pub(super) fn tool_event(call: &HookEvent, end: Option<&PostRunEvent>) -> Result<Value, FailureCause> {
    native::event(call, end).map_err(|error| FailureCause::Failed(Message::verbatim(error.to_string())))
}

/// Parses the answer of a command before a run.
pub(super) fn parse_verdict(
    protocol: HookProtocol,
    hook: &str,
    answer: ProgramAnswer,
) -> Result<HookVerdict, FailureCause> {
    match answer {
        ProgramAnswer::Objected(why) => Ok(HookVerdict::deny_with(stated_reason(hook, Some(why)))),
        ProgramAnswer::Printed(printed) => {
            let text = to_text(&printed)?;
            match protocol {
                HookProtocol::Toolcell => native::parse_verdict(hook, text),
                HookProtocol::Copilot => copilot::parse_verdict(hook, text),
                HookProtocol::Claude => claude::parse_verdict(hook, text),
            }
        }
    }
}

/// Parses the answer of a command after a run.
pub(super) fn parse_revision(protocol: HookProtocol, answer: ProgramAnswer) -> Result<Revision, FailureCause> {
    match answer {
        // The tool has run: what the command objects to is for the model to read.
        ProgramAnswer::Objected(why) => Ok(Revision::unchanged().with_context(why.trim())),
        ProgramAnswer::Printed(printed) => {
            let text = to_text(&printed)?;
            match protocol {
                HookProtocol::Toolcell => native::parse_revision(text),
                HookProtocol::Copilot => copilot::parse_revision(text),
                HookProtocol::Claude => claude::parse_revision(text),
            }
        }
    }
}

/// Reads the result of a tool as its answer before a run. `undefined` and `null` are no objection.
pub(super) fn tool_verdict(hook: &str, result: Option<&Json>) -> Result<HookVerdict, FailureCause> {
    native::parse_verdict(hook, result.map_or("null", Json::as_str))
}

/// Parses the answer of a function before a run. `null` is no objection.
pub(super) fn json_verdict(hook: &str, answer: &str) -> Result<HookVerdict, FailureCause> {
    native::parse_verdict(hook, answer)
}

/// Parses the answer of a function after a run. `null` is no change.
pub(super) fn json_revision(answer: &str) -> Result<Revision, FailureCause> {
    native::parse_revision(answer)
}

/// Reads the result of a tool as its answer after a run. `undefined` and `null` are no change.
pub(super) fn tool_revision(result: Option<&Json>) -> Result<Revision, FailureCause> {
    native::parse_revision(result.map_or("null", Json::as_str))
}

/// Parses the call that a program asks about.
///
/// # Errors
/// The text is not the JSON of a call that is about to run.
pub fn parse_call(protocol: HookProtocol, text: &str) -> Result<ExternalCall, EventProblem> {
    // `serde` reads an array as a struct, too.
    if text.trim_start().starts_with('[') {
        return Err(EventProblem::Json(message!("an array, it must be an object")));
    }
    match protocol {
        HookProtocol::Toolcell => native::parse_call(text),
        HookProtocol::Copilot => copilot::parse_call(text),
        HookProtocol::Claude => claude::parse_call(text),
    }
}

/// Formats a decision as the JSON that a host reads from its hook.
#[must_use]
pub fn decision_json(protocol: HookProtocol, decision: &ExternalDecision, lang: Lang) -> Value {
    match protocol {
        // The keys are the same.
        HookProtocol::Toolcell | HookProtocol::Copilot => native::decision(decision, lang),
        HookProtocol::Claude => claude::decision(decision, lang),
    }
}

fn to_text(answer: &[u8]) -> Result<&str, FailureCause> {
    let invalid = |error: std::str::Utf8Error| FailureCause::InvalidAnswer(Message::verbatim(error.to_string()));
    Ok(std::str::from_utf8(answer).map_err(invalid)?.trim())
}

/// Parses one object, and nothing else.
fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, FailureCause> {
    if !text.starts_with('{') {
        let text = escaped_excerpt(text);
        return Err(FailureCause::InvalidAnswer(message!("`{text}` is neither an object nor null", text)));
    }
    serde_json::from_str(text).map_err(|error| FailureCause::InvalidAnswer(excerpt_message(&error.to_string())))
}

/// Returns the decision with a name.
fn to_decision(hook: &str, name: Option<&str>, reason: Option<String>) -> Result<HookDecision, FailureCause> {
    match name {
        None => Ok(HookDecision::NoObjection),
        Some("allow") => Ok(HookDecision::Allow),
        Some("ask") => Ok(HookDecision::Ask { reason: stated_reason(hook, reason) }),
        Some("deny") => Ok(HookDecision::Deny { reason: stated_reason(hook, reason) }),
        Some(other) => {
            let other = escaped_excerpt(other);
            Err(FailureCause::InvalidAnswer(message!(
                "`permissionDecision` is `{other}`, it must be allow, ask or deny",
                other
            )))
        }
    }
}

/// Returns the reason that a hook gives.
fn stated_reason(hook: &str, reason: Option<String>) -> Message {
    let reason = reason.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    reason.map_or_else(|| message!("the hook `{hook}` gives no reason", hook), Message::verbatim)
}
