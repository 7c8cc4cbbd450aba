//! The results of the operations other than runs: a text for models, structured content for both,
//! and in `_meta` what only programs need.
//!
//! Invariant: what is in the structured content is in the output schema of its operation, short and
//! without nulls.

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolcell::proof::{Proof, ProofStatus};
use toolcell::store::VersionCommit;
use toolcell::{CreateResult, DeleteResponse, Lang, ReflectResult, ToolList, Toolbox, deleted_text, single_line};
use toolcell_i18n::tr;

use crate::tool_result::{Content, ToolResult};

/// The key in `_meta` that holds the whole response of an operation for programs: full identifiers,
/// scores and times.
const RESPONSE_META_KEY: &str = "toolcell/response";
/// The findings that a model reads of a new tool.
const MAX_FINDINGS: usize = 10;
/// The longest description of a tool in a list, in characters.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// Builds the result of a created tool.
#[must_use]
pub fn create_result(created: &CreateResult, lang: Lang) -> ToolResult {
    let (response, colon) = (created.response(), lang.colon());
    let mut lines = vec![created.to_text(lang)];
    if !created.findings.is_empty() {
        lines.push(format!("\n{}{}", tr!(lang, "Findings"), colon.trim_end()));
        lines.extend(created.findings.iter().take(MAX_FINDINGS).map(|finding| {
            let (line, column) = (finding.location.line, finding.location.column);
            let (severity, message) = (finding.severity.name(), finding.message.to_text(lang));
            format!("- {line}:{column} {severity}{colon}{message}")
        }));
        let more = created.findings.len().saturating_sub(MAX_FINDINGS);
        lines.extend((more > 0).then(|| format!("- {}", tr!(lang, "{more} more", more))));
    }
    if let Some(reason) = &created.needs_approval {
        let reason = reason.to_text(lang);
        lines.push(format!("\n{}", tr!(lang, "The user must approve the tool before it runs: {reason}", reason)));
    }
    let findings: Vec<Value> = response.findings.iter().take(MAX_FINDINGS).map(|finding| {
        json!({"severity": finding.severity, "type": finding.rule, "line": finding.line, "column": finding.column, "description": finding.description})
    }).collect();
    let alike: Vec<&str> = response.alike.iter().map(|alike| alike.name).collect();
    let structured = json!({
        "id": created.id.short(),
        "name": response.name,
        "version": response.version,
        "verificationStatus": response.verification_status,
        "findings": findings,
        "examples": response.examples,
        "alike": alike,
        "needsApproval": response.needs_approval,
    });
    operation_result(lines.join("\n"), structured, &response)
}

/// Builds the result of a list of tools.
#[must_use]
pub fn list_result(listed: &ToolList, toolbox: &Toolbox, lang: Lang) -> ToolResult {
    let heading = tr!(lang, "# Registered dynamic tools ({count})", count = listed.tools.len());
    let mut lines = vec![format!("{heading}\n")];
    let mut tools = Vec::new();
    for entry in &listed.tools {
        // A damaged tool is listed by its name; running it says what is wrong.
        let signature = toolbox.signature(entry).unwrap_or_else(|_| entry.name.to_string());
        let description = single_line(&entry.description).chars().take(MAX_DESCRIPTION_CHARS).collect::<String>();
        let successor = listed.successors.get(&entry.id).map(toolcell::ToolName::as_str);
        let status = match successor {
            Some(new) => tr!(lang, "{status}, use `{new}` instead", status = entry.status.name(), new),
            None => entry.status.name().to_owned(),
        };
        lines.push(format!("- {signature}{}{description} ({status})", lang.colon()));
        tools.push(json!({
            "name": entry.name.as_str(),
            "signature": signature,
            "description": description,
            "verificationStatus": entry.status.name(),
            "successor": successor,
            "tags": entry.tags,
        }));
    }
    if let Some(next) = &listed.next_cursor {
        let more = listed.remaining;
        lines.push(format!("\n{}", tr!(lang, "There are {more} more: cursor: \"{next}\"", more, next)));
    }
    let response = listed.response();
    let more = Some(response.more).filter(|more| *more > 0);
    let structured = json!({"tools": tools, "more": more, "cursor": response.cursor});
    operation_result(lines.join("\n"), structured, &response)
}

/// Builds the result of a deleted tool.
#[must_use]
pub fn delete_result(step: &VersionCommit, lang: Lang) -> ToolResult {
    let response = DeleteResponse::from(step);
    let structured = json!({"id": step.id.short(), "name": response.name});
    operation_result(deleted_text(step, lang), structured, &response)
}

/// Builds the result of a reflection.
#[must_use]
pub fn reflect_result(reflected: &ReflectResult, toolbox: &Toolbox, lang: Lang) -> ToolResult {
    let response = reflected.body();
    let signatures = reflected.tools.iter().map(|entry| {
        let signature = toolbox.signature(entry).unwrap_or_else(|_| entry.name.to_string());
        json!({"name": entry.name.as_str(), "signature": signature})
    });
    let structured = json!({
        "decision": response.decision,
        "reason": reflected.reason(lang),
        "tools": signatures.collect::<Vec<_>>(),
        "proposalKind": response.proposal_kind,
        "proposal": response.proposal,
    });
    // The proposal is in the structured content already.
    let response = toolcell::ReflectResponse { proposal: None, ..response };
    operation_result(reflected.to_text(lang), structured, &response)
}

/// Builds the result of a verification.
#[must_use]
pub fn verify_result(proof: &Proof, lang: Lang) -> ToolResult {
    let checks: Vec<Value> = proof.checks.iter().map(|check| {
        json!({"check": check.check.name(), "verdict": check.verdict.name(), "reason": check.says.to_text(lang)})
    }).collect();
    let counterexample = proof.counterexample.as_ref().map(|found| {
        let place = found.place.map(|(line, column)| format!("{line}:{column}"));
        let mut fields = json!({"message": found.message.to_text(lang), "parameters": found.parameters});
        if let Some(place) = place {
            fields["place"] = place.into();
        }
        fields
    });
    let type_errors: Vec<String> =
        proof.type_errors.iter().take(MAX_FINDINGS).map(|error| error.to_text(lang)).collect();
    let structured = json!({
        "name": proof.name,
        "verdict": proof.verdict.name(),
        "checks": checks,
        "counterexample": counterexample,
        "typeErrors": type_errors,
    });
    let about = json!({"toolId": proof.tool, "seed": proof.seed, "image": proof.image, "engine": proof.engine, "isProven": proof.verdict == ProofStatus::Passed});
    operation_result(proof.to_text(lang), structured, &about)
}

/// Builds the result of an operation. Fields of the structured content that are null or empty are
/// left out.
fn operation_result(text: String, mut structured: Value, response: &impl Serialize) -> ToolResult {
    remove_empty(&mut structured);
    ToolResult {
        content: vec![Content::Text(text)],
        structured: Some(structured),
        // Responses are plain data and always serialize.
        meta: Map::from_iter([(RESPONSE_META_KEY.to_owned(), serde_json::to_value(response).unwrap_or_default())]),
        is_error: false,
    }
}

/// Removes nulls and empty lists among the fields of the outermost object, and of objects in its
/// lists.
fn remove_empty(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    for list in fields.values_mut().filter_map(Value::as_array_mut) {
        list.iter_mut().for_each(remove_empty);
    }
    fields.retain(|key, value| key == "tools" || !(value.is_null() || value.as_array().is_some_and(Vec::is_empty)));
}
