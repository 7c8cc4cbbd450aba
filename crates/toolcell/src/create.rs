//! `create_tool`: takes a draft, and keeps it as a tool.
//!
//! ```text
//! name → duplicate → size and syntax → safety → quality → identifier → store → audit
//! ```
//!
//! Invariant: a step that fails ends it, and nothing is kept but the audit line.

mod error;

use serde_json::Value;
use toolcell_analysis::{Finding, Shape};
use toolcell_host::{NoOperations, Outcome, Params, Run};
use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Entry, Fault, FindError, NameStepError, Registration, Scores, ToolRef, WhenTaken};
use toolcell_tool::{Claims, Draft, Example, Notes, NotesError, Status, ToolId, ToolName, ToolSpec};

pub use error::CreateError;

use crate::alike::{Alike, NotCompared};
use crate::approve::found;
use crate::claim;
use crate::params::{Parameter, Schema};
use crate::permit::{Permit, needs_approval};
use crate::policy::Duplicates;
use crate::request::{CreateTool, RequestError};
use crate::toolbox::Toolbox;
use crate::vet::{VettedTool, vet};

/// The longest description that a factory gives of its tools, in bytes of JSON: several tools, each with its parameters.
const MANIFEST_LIMIT: usize = 256 * 1024;

/// A tool that was made.
#[derive(Debug, Clone)]
pub struct Created {
    /// Its identifier.
    pub id: ToolId,
    /// Its name.
    pub name: ToolName,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What the analysis says of it.
    pub scores: Scores,
    /// What the analysis found, in the order of the source.
    pub findings: Vec<Finding>,
    /// How far it is trusted.
    pub status: Status,
    /// The number of the version, from 1.
    pub version: u64,
    /// The tool that the name led to before.
    pub replaced: Option<ToolId>,
    /// Tools with the same source: names and identifiers.
    pub identical_to: Vec<(ToolName, ToolId)>,
    /// Tools with another source that give the same answers.
    pub alike: Vec<Alike>,
    /// Why somebody has to approve it before it runs, where somebody has to.
    pub needs_approval: Option<String>,
}

impl Toolbox {
    /// Makes a tool of a draft, and keeps it.
    ///
    /// # Errors
    /// `request-invalid`, `mode-unsupported`, `name-required`, `name-invalid`, `name-reserved`, `name-taken`,
    /// `source-too-large`, `source-invalid`, `syntax-error`, `syntax-unsupported`, `parameters-invalid`,
    /// `capabilities-invalid`, `notes-invalid`, `critical-risk`, `tool-missing`, `tool-limit-reached`, and those of the disk.
    pub fn create(&self, request: &CreateTool) -> Result<Created, CreateError> {
        let at = self.now();
        let done = self.created(request, at);
        // The line of a tool that is kept is written with it.
        if let Err(error) = &done {
            let result = Err(Failure { code: error.code(), message: Some(error.to_string()) });
            let name = Some(request.name.clone());
            self.note(&Attempt { name, result, ..Attempt::new(Action::CreateTool, at) });
        }
        done
    }

    fn created(&self, request: &CreateTool, at: jiff::Timestamp) -> Result<Created, CreateError> {
        if let Some(mode) = request.mode.as_deref().filter(|mode| *mode != "function") {
            return Err(CreateError::Mode { mode: mode.chars().take(40).flat_map(char::escape_debug).collect() });
        }
        let name = ToolName::parse(&request.name)?;
        if let Some((_, origin)) = self.policy.reserved(&name) {
            return Err(CreateError::Reserved { origin: origin.to_string(), name });
        }
        let when_taken = if request.replace { WhenTaken::Replace } else { WhenTaken::Refuse };
        let before = self.before(&name, when_taken)?;
        for (field, text) in [("description", &request.description), ("code", &request.code)] {
            if text.trim().is_empty() {
                return Err(RequestError(format!("`{field}` is required")).into());
            }
        }
        let draft = Draft::from_bytes(name.as_str(), request.code.as_bytes())?;
        let (schema, tool) = self.described(request, &name, &draft)?;
        let notes = noted(request, &schema)?;
        self.kept_as_tool(&tool, &schema, &notes, before, when_taken, at)
    }

    /// The tool that the name leads to. Where it is taken, this is the end, unless what was stored is damaged: whoever
    /// has the tool still may make it again, and the store sees whether it is the same.
    fn before(&self, name: &ToolName, when_taken: WhenTaken) -> Result<Option<ToolId>, CreateError> {
        let store = self.shelf()?;
        let is_damaged = |entry: &Entry| matches!(store.spec(entry), Err(Fault::Object { .. }));
        match store.find(&ToolRef::Name(name.clone())) {
            Ok(entry) if when_taken == WhenTaken::Refuse && !is_damaged(&entry) => {
                Err(CreateError::Step(NameStepError::Taken {
                    name: name.clone(),
                    existing_name: entry.name.as_str().to_owned(),
                    existing: entry.id,
                }))
            }
            Ok(entry) => Ok(Some(entry.id)),
            Err(FindError::Unknown(_)) => Ok(None),
            Err(FindError::Fault(fault)) => Err(fault.into()),
            Err(other) => Err(CreateError::Step(NameStepError::Find(other))),
        }
    }

    /// Analyses a draft. A factory says itself what its tool takes, where the request does not.
    fn described(
        &self,
        request: &CreateTool,
        name: &ToolName,
        draft: &Draft,
    ) -> Result<(Schema, VettedTool), CreateError> {
        let schema = Schema::compile(&request.parameters)?;
        let capabilities = request.capabilities.clone();
        let spec = ToolSpec::new(name.clone(), draft, request.parameters.clone(), capabilities.clone())?;
        let tool = vet(spec)?;
        if tool.shape() != Shape::Factory {
            return Ok((schema, tool));
        }
        let parameters = self.parameters_of_factory(name, &tool)?;
        if !request.parameters.is_null() || parameters.is_null() {
            return Ok((schema, tool));
        }
        let schema = Schema::compile(&parameters)?;
        let spec = ToolSpec::new(name.clone(), draft, parameters, capabilities)?;
        Ok((schema, vet(spec)?))
    }

    /// What the tool of this name takes that a factory makes: it is evaluated in the cell, with nothing granted.
    fn parameters_of_factory(&self, name: &ToolName, tool: &VettedTool) -> Result<Value, CreateError> {
        let failed = |why: String| CreateError::Factory(why);
        let args = self.anything.check(Params::default()).map_err(|error| failed(error.to_string()))?;
        let permit = Permit::to_describe(args);
        let run = Run { operations: &NoOperations, ..Run::default() };
        let evaluated = self.evaluate(name.as_str(), tool.script(), &permit, &run);
        let kept = match evaluated.map_err(|error| failed(error.to_string()))? {
            Ok(kept) => kept,
            Err(report) => {
                return Err(failed(match report.outcome {
                    Outcome::Threw(thrown) => format!("{}: {}", thrown.name, thrown.message),
                    Outcome::Stopped(stop) => stop.to_string(),
                    Outcome::Returned(_) => "it gives no tool".to_owned(),
                }));
            }
        };
        let manifest = kept.manifest().as_str();
        if manifest.len() > MANIFEST_LIMIT {
            return Err(failed(format!(
                "it describes its tools in {} bytes, the limit is {MANIFEST_LIMIT}",
                manifest.len()
            )));
        }
        let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
        let tools: Vec<&Value> = manifest["tools"].as_array().into_iter().flatten().collect();
        let named = tools.iter().find(|tool| tool["name"] == name.as_str());
        match (tools.as_slice(), named) {
            ([only], _) => Ok(only["parameters"].clone()),
            (_, Some(named)) => Ok(named["parameters"].clone()),
            (several, None) => {
                let made: Vec<String> = several.iter().map(|tool| tool["name"].to_string()).collect();
                Err(failed(format!("it makes {}, and none of them is called `{name}`", made.join(", "))))
            }
        }
    }

    /// The tools that do the same, but for the one that is replaced.
    fn compared(
        &self,
        tool: &VettedTool,
        schema: &Schema,
        notes: &Notes,
        before: Option<ToolId>,
    ) -> Result<Vec<Alike>, CreateError> {
        let duplicates = self.policy.duplicates();
        if duplicates == Duplicates::Allow {
            return Ok(Vec::new());
        }
        let mut alike = match self.alike_to(tool, schema, notes.description(), notes.examples()) {
            Ok(alike) => alike,
            Err(NotCompared::Fault(fault)) => return Err(fault.into()),
            // A warning is not worth a refusal.
            Err(NotCompared::Call(error)) if duplicates == Duplicates::Warn => {
                tracing::debug!(%error, "a tool is not compared with others");
                Vec::new()
            }
            Err(NotCompared::Call(error)) => return Err(error.into()),
        };
        alike.retain(|alike| Some(alike.entry.id) != before);
        match alike.first() {
            Some(first) if duplicates == Duplicates::Refuse => Err(CreateError::Duplicate(Box::new(first.clone()))),
            _ => Ok(alike),
        }
    }

    /// Whether this tool is there already, and passed when something else was expected of it.
    fn proven_otherwise(&self, id: ToolId, notes: &Notes) -> Result<bool, Fault> {
        let store = self.shelf()?;
        let Some(entry) = found(store, id)? else { return Ok(false) };
        if entry.status != Status::Passed {
            return Ok(false);
        }
        let before = store.notes(&entry)?;
        Ok(before.examples() != notes.examples() || before.claims() != notes.claims())
    }

    fn kept_as_tool(
        &self,
        tool: &VettedTool,
        schema: &Schema,
        notes: &Notes,
        before: Option<ToolId>,
        when_taken: WhenTaken,
        at: jiff::Timestamp,
    ) -> Result<Created, CreateError> {
        let (store, spec) = (self.shelf()?, tool.spec());
        let identical = store.with_same_source(spec)?;
        let mut alike = self.compared(tool, schema, notes, before)?;
        // Of those with the same source that is said already.
        alike.retain(|alike| identical.iter().all(|known| known.id != alike.entry.id));
        let proven = self.proven_otherwise(spec.id(), notes)?;
        let change = store.change(Attempt::new(Action::CreateTool, at));
        let step = change.put(&Registration { spec, notes, scores: tool.scores(), at }, when_taken)?;
        // From here on the tool is there, so nothing may fail any more.
        if proven {
            // Somebody else may have changed it meanwhile, and then it is not passed any more either.
            let _ = store.set_status(spec.id(), Status::Unverified);
        }
        // Somebody may have deleted it already.
        let entry = store.find(&ToolRef::Name(spec.name().clone())).ok();
        let needs_approval = needs_approval(self.policy.approval().0, tool);
        if needs_approval.is_some() && self.policy.approval().0 != crate::policy::ApprovalMode::Never {
            let grants = self.policy.grants_for(step.id, &step.name, notes.tags(), tool.asked());
            if let Err(fault) = self.ask_later(store, step.id, &grants, "create") {
                tracing::warn!(tool = %step.id, %fault, "that somebody has to approve it is noted when it is run");
            }
        }
        Ok(Created {
            id: step.id,
            name: step.name,
            description: notes.description().to_owned(),
            parameters: schema.parameters().to_vec(),
            scores: tool.scores(),
            findings: tool.findings().to_vec(),
            status: entry.map_or(Status::Unverified, |entry| entry.status),
            version: step.number,
            replaced: before.filter(|before| *before != step.id),
            identical_to: identical
                .into_iter()
                .filter(|entry| Some(entry.id) != before)
                .map(|entry| (entry.name, entry.id))
                .collect(),
            alike,
            needs_approval,
        })
    }
}

/// What is said about a tool. Examples and claims are such that they can be tried.
fn noted(request: &CreateTool, schema: &Schema) -> Result<Notes, CreateError> {
    for (at, example) in request.examples.iter().enumerate() {
        Example::read(example).map_err(|reason| NotesError::Example { number: at + 1, reason })?;
    }
    let claims = Claims { returns: request.returns.clone(), idempotent: request.idempotent.clone() };
    claim::check(&claims, schema).map_err(|reason| NotesError::Claims { reason })?;
    let notes = Notes::from_parts(
        request.description.clone(),
        request.tags.clone(),
        request.generated_from.clone(),
        request.examples.clone(),
    )?;
    Ok(notes.with_claims(claims)?.with_cost(request.cost)?)
}
