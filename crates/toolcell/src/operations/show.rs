//! The details of a tool, for review before it runs.
//!
//! Invariant: showing a tool changes nothing, and leaves no audit line.

use serde_json::json;
use toolcell_analysis::Capabilities;
use toolcell_dts::{Detail, FunctionSchema, tool_calls};
use toolcell_i18n::Message;
use toolcell_policy::{GrantDecision, Grants};
use toolcell_schema::{Parameter, Schema, signature};
use toolcell_store::{Approval, Decision, Entry, Fault, FindError, HistoryEntry, ToolRef, ToolUsage};
use toolcell_tool::{IdPrefix, ToolMetadata, ToolName, ToolSpec};

use super::lookup::{FindToolError, find};
use crate::TYPE_DECLARATIONS;
use crate::parts::Parts;
use crate::verification::proof::{PROOF, Proof};
use crate::vet::Refusal;

/// The details of a tool.
#[derive(Debug, Clone)]
pub struct ToolDetails {
    /// The index entry.
    pub entry: Entry,
    /// The successor, if the tool is deprecated.
    pub successor: Option<Entry>,
    /// The metadata: description, tags, examples.
    pub notes: ToolMetadata,
    /// The specification, which determines the behaviour.
    pub spec: ToolSpec,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The history of its name, the oldest version first.
    pub history: Vec<HistoryEntry>,
    /// The statistics of its runs.
    pub usage: ToolUsage,
    /// The requested capabilities.
    pub requested: Capabilities,
    /// The policy's decision about each of them.
    pub grant_decisions: Vec<GrantDecision>,
    /// The resulting grants.
    pub grants: Grants,
    /// All stored approvals and refusals, for any grants.
    pub approvals: Vec<Approval>,
    /// The approval state.
    pub approval_state: ApprovalState,
    /// The last verification.
    pub proof: Option<Proof>,
}

/// Returns the signature of a stored tool.
pub(crate) fn signature_of(parts: &Parts, entry: &Entry) -> Result<String, Fault> {
    let catalog = parts.require_store()?.catalog();
    let (spec, notes) = (catalog.spec(entry)?, catalog.metadata(entry)?);
    Ok(signature(entry.name.as_str(), spec.parameters(), notes.postconditions().returns.as_ref()))
}

/// The declaration that the calls of stored tools take the place of.
const ANY_CALL: &str = "interface Tools {\n  call(name: string, params?: object): Promise<any>;\n}\n";

/// Returns the declarations of what the code of a tool sees, with a call for each of these tools.
pub(crate) fn type_declarations(parts: &Parts, entries: &[Entry]) -> Result<String, Fault> {
    if entries.is_empty() {
        return Ok(TYPE_DECLARATIONS.to_owned());
    }
    let catalog = parts.require_store()?.catalog();
    let any_params = json!({"type": "object", "additionalProperties": true});
    let mut tools = Vec::new();
    for entry in entries {
        let (spec, notes) = (catalog.spec(entry)?, catalog.metadata(entry)?);
        // A declaration that an older version accepted admits any parameters.
        let declared = Schema::compile(spec.parameters()).ok().and_then(|schema| schema.json_schema().cloned());
        tools.push((entry.name.as_str(), notes, declared.unwrap_or_else(|| any_params.clone())));
    }
    let functions: Vec<FunctionSchema<'_>> = tools
        .iter()
        .map(|(name, notes, input)| FunctionSchema {
            name,
            description: notes.description(),
            input,
            output: notes.postconditions().returns.as_ref(),
        })
        .collect();
    Ok(TYPE_DECLARATIONS.replacen(ANY_CALL, &tool_calls(&functions, Detail::Full), 1))
}

/// The approval state of a tool with its current grants.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ApprovalState {
    /// Approved by a stored decision.
    Approved,
    /// One run is approved by a stored decision.
    ApprovedOnce,
    /// Refused by a stored decision.
    Refused,
    /// The policy requires no approval.
    NotRequired,
    /// An approval is required.
    Unapproved {
        /// The reason.
        why: Message,
    },
    /// The analysis refuses the tool.
    Unsafe(Refusal),
}

impl ApprovalState {
    /// Returns the name of the state.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ApprovedOnce => "approved-once",
            Self::Refused => "refused",
            Self::NotRequired => "free",
            Self::Unapproved { .. } => "unapproved",
            Self::Unsafe(_) => "unsafe",
        }
    }
}

/// The error of showing a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ShowError {
    /// The tool was not found.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindToolError),
    /// The name has no version with this number.
    #[error("`{name}` has no version {number}, it has {}", .known.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))]
    #[code(VersionNotFound)]
    #[hint("`toolcell show` without a version prints the history of a name")]
    NoVersion {
        /// The name.
        name: ToolName,
        /// The requested version.
        number: u64,
        /// The existing versions, at most the last ten.
        known: Vec<u64>,
    },
    /// The store failed, or its content is damaged.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl From<FindError> for ShowError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Fault(fault) => Self::Fault(fault),
            other => Self::Find(FindToolError::Store(other)),
        }
    }
}

/// Returns the details of a tool, or of an earlier version of a name. A tool that was deleted
/// or replaced is found by its identifier.
pub(crate) fn show(parts: &Parts, called: &str, version: Option<u64>) -> Result<ToolDetails, ShowError> {
    let entry = match version {
        None => find_including_deleted(parts, called)?,
        Some(number) => find_version(parts, called, number)?,
    };
    let store = parts.require_store()?;
    let ready = parts.load_tool(&entry)?;
    let asked = ready.vetted.as_ref().map(|tool| tool.requested_capabilities().clone()).unwrap_or_default();
    let grants = parts.admission.policy().grants_for(entry.id, &entry.name, &entry.tags, &asked);
    let said = store.approvals().decision(entry.id, &grants.to_value())?;
    let proof = last_proof(parts, &entry)?;
    let standing = match (&ready.vetted, said) {
        (Err(refusal), _) => ApprovalState::Unsafe(refusal.clone()),
        (Ok(_), Some(Decision::Refused)) => ApprovalState::Refused,
        (Ok(_), Some(Decision::Approved)) => ApprovalState::Approved,
        (Ok(tool), _) => match parts.admission.approval_reason(tool) {
            None => ApprovalState::NotRequired,
            Some(_) if store.approvals().single(entry.id, &grants.to_value(), parts.now())?.is_some() => {
                ApprovalState::ApprovedOnce
            }
            Some(why) => ApprovalState::Unapproved { why },
        },
    };
    Ok(ToolDetails {
        successor: store.catalog().replacement_for(&entry)?,
        notes: store.catalog().metadata(&entry)?,
        spec: store.catalog().spec(&entry)?,
        parameters: ready.schema.as_ref().map(|schema| schema.parameters().to_vec()).unwrap_or_default(),
        history: store.catalog().history(&entry.name)?,
        usage: store.runs().usage(&entry)?,
        grant_decisions: parts.admission.policy().grant_decisions(entry.id, &entry.name, &entry.tags, &asked),
        approvals: store.approvals().for_tool(entry.id)?,
        requested: asked,
        grants,
        approval_state: standing,
        proof,
        entry,
    })
}

/// Finds a tool, also a deleted one.
fn find_including_deleted(parts: &Parts, called: &str) -> Result<Entry, ShowError> {
    match (find(parts, called), IdPrefix::parse(called)) {
        (Err(FindToolError::Unknown { suggestion: Some(_), .. }), Ok(prefix)) => {
            Ok(parts.require_store()?.catalog().find_any(&prefix)?)
        }
        (found, _) => Ok(found?),
    }
}

/// Finds the tool of a version of a name.
fn find_version(parts: &Parts, called: &str, number: u64) -> Result<Entry, ShowError> {
    let store = parts.require_store()?;
    let name = match ToolRef::parse(called) {
        Ok(ToolRef::Name(name)) => name,
        _ => find_including_deleted(parts, called)?.name,
    };
    let history = store.catalog().history(&name)?;
    if history.is_empty() {
        // This error suggests similar names.
        find(parts, called)?;
    }
    let Some(past) = history.iter().find(|past| past.number == number) else {
        let known = history.iter().skip(history.len().saturating_sub(10)).map(|past| past.number).collect();
        return Err(ShowError::NoVersion { name, number, known });
    };
    match IdPrefix::parse(&past.id.to_string()) {
        Ok(id) => Ok(store.catalog().find_any(&id)?),
        Err(_) => Err(FindError::Unknown(past.id.to_string()).into()),
    }
}

/// Returns the last proof of a tool.
pub(crate) fn last_proof(parts: &Parts, entry: &Entry) -> Result<Option<Proof>, Fault> {
    let newest = parts.require_store()?.runs().records_of_kind(entry.id, PROOF, 1)?.into_iter().next();
    Ok(newest.and_then(|(_, record)| serde_json::from_slice(&record.body).ok()))
}
