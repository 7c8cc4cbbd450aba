//! `create_tool`: stores a draft as a tool.
//!
//! ```text
//! name → duplicate → size and syntax → safety → quality → identifier → store → audit
//! ```
//!
//! Invariant: the first step that fails ends the operation, and nothing is stored but the audit
//! event.

mod error;

use serde_json::Value;
use toolcell_analysis::{EntryPoint, Finding};
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_policy::Duplicates;
use toolcell_schema::{Parameter, Schema};
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Entry, Fault, FindError, HistoryError, LabelHolder, NewTool, OnConflict, Scores, ToolRef};
use toolcell_tool::{Draft, Example, MetadataError, Postconditions, Status, ToolId, ToolMetadata, ToolName, ToolSpec};

pub use error::CreateError;

#[cfg(feature = "proof")]
use super::candidates::find_equivalent;
use super::example_check::compare_with_examples;
use super::factory::declared_tools;
use super::lookup::find_exact;
use super::types::check_types;
use crate::admission::StoredTool;
use crate::host_calls::FlowContext;
use crate::parts::Parts;
use crate::request::{CreateTool, RequestError};
use crate::verification::EquivalentTool;
#[cfg(feature = "proof")]
use crate::verification::equivalence::CompareError;
use crate::verification::postconditions;
use crate::verification::proof::ExampleComparison;
use crate::vet::{VettedTool, vet};

/// The result of creating a tool.
#[derive(Debug, Clone)]
pub struct CreateResult {
    /// The identifier of the tool.
    pub id: ToolId,
    /// The name of the tool.
    pub name: ToolName,
    /// The description of the tool.
    pub description: String,
    /// The parameters of the tool.
    pub parameters: Vec<Parameter>,
    /// The scores that the analysis gave the tool.
    pub scores: Scores,
    /// The findings of the analysis, in source order.
    pub findings: Vec<Finding>,
    /// The status of the tool.
    pub status: Status,
    /// The version number within the history of the name, from 1.
    pub version: u64,
    /// The tool that the name referred to before.
    pub replaced: Option<ToolId>,
    /// Tools with the same source: names and identifiers.
    pub identical_to: Vec<(ToolName, ToolId)>,
    /// Tools with another source that give the same answers.
    pub equivalent: Vec<EquivalentTool>,
    /// Why the tool needs an approval before it runs. `None` if it needs none.
    pub needs_approval: Option<Message>,
    /// The comparison of the tool with its examples.
    pub examples: ExampleComparison,
}

/// Creates a tool from a draft and stores it.
pub(crate) fn create(parts: &Parts, request: &CreateTool) -> Result<CreateResult, CreateError> {
    create_recorded(parts, request, FactoryCheck::Evaluate)
}

/// Creates a tool of a factory that was evaluated just now, and whose parameters the request has.
pub(super) fn create_declared(parts: &Parts, request: &CreateTool) -> Result<CreateResult, CreateError> {
    create_recorded(parts, request, FactoryCheck::Done)
}

/// Whether a factory has to be evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FactoryCheck {
    Evaluate,
    /// The caller has evaluated it.
    Done,
}

fn create_recorded(parts: &Parts, request: &CreateTool, check: FactoryCheck) -> Result<CreateResult, CreateError> {
    let at = parts.now();
    let done = create_inner(parts, request, check, at);
    // On success the audit event is written together with the tool.
    if let Err(error) = &done {
        let result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
        let name = Some(request.name.clone());
        parts.recorder.log_attempt(&AuditEvent { name, result, ..AuditEvent::new(Action::CreateTool, at) });
    }
    done
}

fn create_inner(
    parts: &Parts,
    request: &CreateTool,
    check: FactoryCheck,
    at: jiff::Timestamp,
) -> Result<CreateResult, CreateError> {
    if let Some(mode) = request.mode.as_deref().filter(|mode| *mode != "function") {
        return Err(CreateError::Mode { mode: mode.chars().take(40).flat_map(char::escape_debug).collect() });
    }
    let name = ToolName::parse(&request.name)?;
    if let Some((_, origin)) = parts.admission.policy().reserved(&name) {
        return Err(CreateError::Reserved { origin: origin.localize(), name });
    }
    let when_taken = if request.replace { OnConflict::Replace } else { OnConflict::Refuse };
    let before = find_current(parts, &name, when_taken)?;
    for (field, text) in [("description", &request.description), ("code", &request.code)] {
        if text.trim().is_empty() {
            return Err(RequestError(message!("`{field}` is required", field)).into());
        }
    }
    let draft = Draft::from_bytes(name.as_str(), request.code.as_bytes())?;
    let (schema, tool) = analyze_draft(parts, request, &name, &draft, check)?;
    let notes = build_metadata(request, &schema)?;
    label_source(parts, request, tool.spec().id())?;
    store_tool(parts, &tool, &schema, &notes, before, when_taken, at)
}

/// Notes that the source of a tool may tell what its author was told, if the policy has rules about flows.
fn label_source(parts: &Parts, request: &CreateTool, tool: ToolId) -> Result<(), Fault> {
    if parts.admission.policy().flows().rules().is_empty() {
        return Ok(());
    }
    let labels = parts.require_store()?.labels();
    let known = match &request.context {
        // It may be any of them.
        FlowContext::Remembered if request.caller.is_empty() => {
            let all = labels.all()?.into_iter();
            all.filter(|(holder, _)| matches!(holder, LabelHolder::Caller(_))).flat_map(|(_, told)| told).collect()
        }
        FlowContext::Remembered => labels.sources(&[LabelHolder::Caller(request.caller.clone())])?,
        FlowContext::Given(label) => label.to_texts(),
    };
    labels.join(&[LabelHolder::Tool(tool)], &known)
}

/// Returns the tool that the name refers to. A taken name is an error unless it is to be
/// replaced or the stored object is damaged: a damaged tool may be created again, and the store
/// checks that it is the same.
fn find_current(parts: &Parts, name: &ToolName, when_taken: OnConflict) -> Result<Option<ToolId>, CreateError> {
    let store = parts.require_store()?;
    let is_damaged = |entry: &Entry| matches!(store.catalog().spec(entry), Err(Fault::Object { .. }));
    match store.catalog().find(&ToolRef::Name(name.clone())) {
        Ok(entry) if when_taken == OnConflict::Refuse && !is_damaged(&entry) => {
            Err(CreateError::History(HistoryError::Taken {
                name: name.clone(),
                existing_name: entry.name.as_str().to_owned(),
                existing: entry.id,
            }))
        }
        Ok(entry) => Ok(Some(entry.id)),
        Err(FindError::Unknown(_)) => Ok(None),
        Err(FindError::Fault(fault)) => Err(fault.into()),
        Err(other) => Err(CreateError::History(HistoryError::Find(other))),
    }
}

/// Analyzes a draft. A factory declares the parameters of its tool itself if the request does
/// not.
fn analyze_draft(
    parts: &Parts,
    request: &CreateTool,
    name: &ToolName,
    draft: &Draft,
    check: FactoryCheck,
) -> Result<(Schema, VettedTool), CreateError> {
    let schema = Schema::compile(&request.parameters)?;
    let capabilities = request.capabilities.clone();
    let spec = ToolSpec::new(name.clone(), draft, request.parameters.clone(), capabilities.clone())?;
    let tool = vet(spec)?;
    if tool.entry_point() != EntryPoint::Factory || check == FactoryCheck::Done {
        return Ok((schema, tool));
    }
    let parameters = factory_parameters(parts, name, &tool)?;
    if !request.parameters.is_null() || parameters.is_null() {
        return Ok((schema, tool));
    }
    let schema = Schema::compile(&parameters)?;
    let spec = ToolSpec::new(name.clone(), draft, parameters, capabilities)?;
    Ok((schema, vet(spec)?))
}

/// Returns the parameters of a factory's tool.
fn factory_parameters(parts: &Parts, name: &ToolName, tool: &VettedTool) -> Result<Value, CreateError> {
    let mut tools = declared_tools(parts, name.as_str(), tool).map_err(CreateError::Factory)?;
    let found = match tools.as_slice() {
        [_] => Some(0),
        tools => tools.iter().position(|tool| tool.name.as_deref() == Some(name.as_str())),
    };
    if let Some(index) = found {
        return Ok(tools.swap_remove(index).parameters);
    }
    let names = tools.iter().filter_map(|tool| tool.name.as_deref());
    let made = Message::list(names.map(|name| Message::verbatim(format!("\"{name}\""))));
    Err(CreateError::Factory(message!("it returns {tools}, none of which is named `{name}`", tools = made, name)))
}

/// Returns the equivalent tools, except for the one that is replaced.
fn find_duplicates_of(
    parts: &Parts,
    tool: &VettedTool,
    schema: &Schema,
    notes: &ToolMetadata,
    before: Option<ToolId>,
) -> Result<Vec<EquivalentTool>, CreateError> {
    let duplicates = parts.admission.policy().duplicates();
    if duplicates == Duplicates::Allow {
        return Ok(Vec::new());
    }
    find_duplicates_by_behaviour(parts, tool, schema, notes, before, duplicates)
}

/// Returns the tools that give the same answers, or refuses the new tool because of one.
#[cfg(feature = "proof")]
fn find_duplicates_by_behaviour(
    parts: &Parts,
    tool: &VettedTool,
    schema: &Schema,
    notes: &ToolMetadata,
    before: Option<ToolId>,
    duplicates: Duplicates,
) -> Result<Vec<EquivalentTool>, CreateError> {
    let mut alike = match find_equivalent(parts, tool, schema, notes.description(), notes.examples()) {
        Ok(alike) => alike,
        Err(CompareError::Fault(fault)) => return Err(fault.into()),
        // A failed comparison that would only produce a warning does not refuse the tool.
        Err(CompareError::Call(error)) if duplicates == Duplicates::Warn => {
            tracing::debug!(%error, "the new tool was not compared with existing tools");
            Vec::new()
        }
        Err(CompareError::Call(error)) => return Err(error.into()),
    };
    alike.retain(|alike| Some(alike.entry.id) != before);
    match alike.first() {
        Some(first) if duplicates == Duplicates::Refuse => Err(CreateError::Duplicate(Box::new(first.clone()))),
        _ => Ok(alike),
    }
}

/// Compares nothing. A policy that refuses duplicates cannot be followed.
#[cfg(not(feature = "proof"))]
fn find_duplicates_by_behaviour(
    _parts: &Parts,
    _tool: &VettedTool,
    _schema: &Schema,
    _notes: &ToolMetadata,
    _before: Option<ToolId>,
    duplicates: Duplicates,
) -> Result<Vec<EquivalentTool>, CreateError> {
    if duplicates == Duplicates::Refuse { Err(CreateError::NoComparison) } else { Ok(Vec::new()) }
}

/// Whether this tool exists already and has passed verification with other examples or
/// postconditions.
fn has_new_expectations(parts: &Parts, id: ToolId, notes: &ToolMetadata) -> Result<bool, Fault> {
    let store = parts.require_store()?;
    let Some(entry) = find_exact(store, id)? else { return Ok(false) };
    if entry.status != Status::Passed {
        return Ok(false);
    }
    let before = store.catalog().metadata(&entry)?;
    Ok(before.examples() != notes.examples() || before.postconditions() != notes.postconditions())
}

fn store_tool(
    parts: &Parts,
    tool: &VettedTool,
    schema: &Schema,
    notes: &ToolMetadata,
    before: Option<ToolId>,
    when_taken: OnConflict,
    at: jiff::Timestamp,
) -> Result<CreateResult, CreateError> {
    let (store, spec) = (parts.require_store()?, tool.spec());
    let identical = store.catalog().find_same_source(spec)?;
    let mut alike = find_duplicates_of(parts, tool, schema, notes, before)?;
    // Tools with the same source are listed in `identical_to` already.
    alike.retain(|alike| identical.iter().all(|known| known.id != alike.entry.id));
    let proven = has_new_expectations(parts, spec.id(), notes)?;
    let change = store.with_audit(AuditEvent::new(Action::CreateTool, at));
    let step = change.insert(&NewTool { spec, metadata: notes, scores: tool.scores(), at }, when_taken)?;
    // The tool is stored from here on, so nothing may fail any more.
    if proven {
        // Another process may have changed the status meanwhile; then it is no longer passed
        // either.
        let _ = store.catalog().set_status(spec.id(), Status::Unverified);
    }
    // Another process may have deleted the tool already.
    let entry = store.catalog().find(&ToolRef::Name(spec.name().clone())).ok();
    let needs_approval = parts.admission.approval_reason(tool);
    if needs_approval.is_some() && parts.admission.policy().approval().0 != toolcell_policy::ApprovalMode::Never {
        let grants =
            parts.admission.policy().grants_for(step.id, &step.name, notes.tags(), tool.requested_capabilities());
        if let Err(fault) = parts.admission.request_approval(store, step.id, &grants, "create") {
            tracing::warn!(tool = %step.id, %fault, "the approval request was not stored; the next run stores it");
        }
    }
    let examples = match (&entry, &needs_approval) {
        (_, Some(_)) if !notes.examples().is_empty() => {
            ExampleComparison::NotRun(message!("the tool needs an approval first"))
        }
        (Some(entry), None) => compare_with_examples(parts, StoredTool { store, entry, tool }, schema, notes),
        _ => ExampleComparison::NoExamples,
    };
    let mut findings = tool.findings().to_vec();
    findings.extend(check_types(parts, tool, schema.json_schema(), notes.postconditions().returns.as_ref()));
    Ok(CreateResult {
        id: step.id,
        name: step.name,
        description: notes.description().to_owned(),
        parameters: schema.parameters().to_vec(),
        scores: tool.scores(),
        findings,
        status: entry.map_or(Status::Unverified, |entry| entry.status),
        version: step.number,
        replaced: before.filter(|before| *before != step.id),
        identical_to: identical
            .into_iter()
            .filter(|entry| Some(entry.id) != before)
            .map(|entry| (entry.name, entry.id))
            .collect(),
        equivalent: alike,
        needs_approval,
        examples,
    })
}

/// Builds the metadata of a tool. Examples and postconditions are checked to be usable for
/// verification.
fn build_metadata(request: &CreateTool, schema: &Schema) -> Result<ToolMetadata, CreateError> {
    for (at, example) in request.examples.iter().enumerate() {
        Example::from_value(example).map_err(|reason| MetadataError::Example { number: at + 1, reason })?;
    }
    let claims = Postconditions { returns: request.returns.clone(), idempotent: request.idempotent.clone() };
    postconditions::validate(&claims, schema).map_err(|reason| MetadataError::Postconditions { reason })?;
    let notes = ToolMetadata::from_parts(
        request.description.clone(),
        request.tags.clone(),
        request.generated_from.clone(),
        request.examples.clone(),
    )?;
    Ok(notes.with_postconditions(claims)?.with_cost(request.cost)?)
}
