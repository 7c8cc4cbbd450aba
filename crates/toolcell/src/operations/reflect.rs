//! `tool_reflection`: recommends whether to create a tool for a task, and which one, or which
//! existing tool to use.
//!
//! Invariant: nothing runs, and nothing changes except the search index and the audit log. The last
//! tool's result is data, whatever it says.

mod schema;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use toolcell_i18n::{message, msgid};
use toolcell_reflection::{
    ExistingTool, PastOperation, Proposal, ProposalKind, Recommendation, ReflectionInput, Thresholds, ToolHealth,
    propose, reflect,
};
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Entry, Fault, FindError, ToolRef};
use toolcell_tool::{NAME_LIMIT, Status, ToolId, ToolName};

use super::search::{SearchError, search};
use crate::parts::Parts;
use crate::request::RequestError;

/// The maximum number of stored tools to consider.
const MAX_EXISTING_TOOLS: usize = 8;
/// The number of runs from which a tool counts as failing if more than half of them failed.
const MIN_RUNS: u64 = 3;

/// A request for advice on whether to create a tool: `tool_reflection`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReflectOnTask {
    /// The task.
    pub task_description: Option<String>,
    /// The result of the last tool call; empty before the first one.
    pub last_tool_result: Option<String>,
    /// The number of failed attempts.
    #[schemars(with = "Option<u64>")]
    pub failed_attempts: Option<Number>,
    /// The previous operations, the oldest first: lines of text, or
    /// `{ name, arguments, outcome?, duration_ms?, tokens? }`.
    #[schemars(with = "Vec<schema::PastOperationSchema>")]
    pub history: Vec<PastOperation>,
}

/// The result of a reflection.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectResult {
    /// The task.
    pub task: String,
    /// The number of failed attempts.
    pub failed_attempts: u64,
    /// The recommendation, with its evidence.
    pub reflection: toolcell_reflection::Reflection,
    /// The stored tools that the recommendation names.
    pub tools: Vec<Entry>,
    /// The proposed tool, if one should be created. It can be created as it is; the body of a skeleton must still be
    /// written.
    pub proposal: Option<Proposal>,
}

/// The JSON body of a reflection.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReflectResponse<'a> {
    /// Whether to create a tool or use an existing one.
    pub recommend: bool,
    /// `create`, `reuse`, `revise`, `compose` or `none`.
    #[schemars(extend("enum" = ["create", "reuse", "revise", "compose", "none"]))]
    pub decision: &'static str,
    /// The stored tools that the recommendation names.
    #[schemars(with = "Vec<String>")]
    pub tools: Vec<ToolId>,
    /// The reason why a tool is worth creating.
    pub trigger: Option<&'static str>,
    /// The probability that a tool is worth creating, 0 to 1.
    pub score: f64,
    /// The evidence for and against it.
    #[schemars(with = "Vec<schema::EvidenceSchema>")]
    pub evidence: &'a [toolcell_reflection::Evidence],
    /// Whether the last tool's result reads as a success that a tool could reproduce.
    pub reusable: bool,
    /// Whether the code of the proposed tool does the task (`ready`), or its body must still be written (`skeleton`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("enum" = ["ready", "skeleton"]))]
    pub proposal_kind: Option<ProposalKind>,
    /// The proposed tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::ProposalSchema>")]
    pub proposal: Option<&'a Proposal>,
}

/// The error of a reflection.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ReflectError {
    /// The request is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Request(#[from] RequestError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl ReflectError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Request(_) => {
                msgid!(
                    "`task_description` and `last_tool_result` are strings, `failed_attempts` is an integer, and \
                     `history` a list of {\"name\", \"arguments\", \"outcome\"} or of strings"
                )
            }
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl ReflectResult {
    /// Returns the JSON body of the reflection.
    #[must_use]
    pub fn body(&self) -> ReflectResponse<'_> {
        let reflection = &self.reflection;
        ReflectResponse {
            recommend: reflection.is_recommended(),
            decision: decision_name(&reflection.decision),
            tools: self.tools.iter().map(|entry| entry.id).collect(),
            trigger: reflection.trigger.map(toolcell_reflection::Trigger::name),
            score: reflection.score,
            evidence: &reflection.evidence,
            reusable: reflection.reusable,
            proposal_kind: self.proposal.as_ref().map(|proposal| proposal.kind),
            proposal: self.proposal.as_ref(),
        }
    }
}

fn decision_name(decision: &Recommendation) -> &'static str {
    match decision {
        Recommendation::Create => "create",
        Recommendation::Reuse(_) => "reuse",
        Recommendation::Revise(_) => "revise",
        Recommendation::Compose(_) => "compose",
        Recommendation::None => "none",
    }
}

/// Recommends whether to create a tool for a task, and proposes one.
pub(crate) fn reflect_on_task(parts: &Parts, request: &ReflectOnTask) -> Result<ReflectResult, ReflectError> {
    let done = reflect_inner(parts, request);
    let mut attempt = AuditEvent::new(Action::ToolReflection, parts.now());
    match &done {
        Ok(reflected) => {
            attempt.tool = reflected.tools.first().map(|entry| entry.id);
            attempt.details.outcome = Some(decision_name(&reflected.reflection.decision));
        }
        Err(error) => attempt.result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) }),
    }
    parts.recorder.log_attempt(&attempt);
    done
}

fn reflect_inner(parts: &Parts, request: &ReflectOnTask) -> Result<ReflectResult, ReflectError> {
    let task = required("task_description", request.task_description.as_deref())?;
    if task.trim().is_empty() {
        return Err(RequestError(message!("`task_description` is empty")).into());
    }
    let result = required("last_tool_result", request.last_tool_result.as_deref())?;
    let failed_attempts = parse_attempts(request.failed_attempts.as_ref())?;
    let found = find_existing(parts, task)?;
    let known: Vec<ExistingTool> = found.iter().map(|(entry, covered)| to_existing_tool(entry, *covered)).collect();
    let (failures, repetitions) = parts.admission.policy().reflection_thresholds();
    let thresholds = Thresholds {
        failures,
        repetitions: usize::try_from(repetitions).unwrap_or(usize::MAX),
        ..Thresholds::default()
    };
    let history = &request.history;
    let reflection = reflect(
        &ReflectionInput { task, last_result: result, failed_attempts, history, existing_tools: &known },
        &thresholds,
    );
    let entry = |id: &ToolId| found.iter().find(|(entry, _)| entry.id == *id).map(|(entry, _)| entry.clone());
    let tools: Vec<Entry> = match &reflection.decision {
        Recommendation::Reuse(id) | Recommendation::Revise(id) => entry(id).into_iter().collect(),
        Recommendation::Compose(ids) => ids.iter().filter_map(entry).collect(),
        Recommendation::Create | Recommendation::None => Vec::new(),
    };
    let proposal = match (&reflection.decision, reflection.trigger) {
        (Recommendation::Create, Some(trigger)) => Some(with_free_name(parts, propose(task, trigger, history))?),
        _ => None,
    };
    Ok(ReflectResult { task: task.to_owned(), failed_attempts, reflection, tools, proposal })
}

/// Returns the stored tools that match a task, with the share of the task that each covers;
/// none if the store cannot be searched.
fn find_existing(parts: &Parts, task: &str) -> Result<Vec<(Entry, f64)>, Fault> {
    if parts.store.is_none() {
        return Ok(Vec::new());
    }
    let hits = match search(parts, task, MAX_EXISTING_TOOLS) {
        Ok(hits) => hits,
        Err(SearchError::Fault(fault)) => return Err(fault),
        Err(error) => {
            tracing::debug!(%error, "the stored tools cannot be searched");
            return Ok(Vec::new());
        }
    };
    let hits = hits.into_iter().filter(|hit| hit.entry.status != Status::Deprecated);
    Ok(hits.map(|hit| (hit.entry, hit.coverage)).collect())
}

/// Gives the proposal a free name by appending a number if the name is taken.
fn with_free_name(parts: &Parts, mut proposal: Proposal) -> Result<Proposal, Fault> {
    let first = proposal.name.clone();
    for number in 2..100 {
        if is_name_free(parts, &proposal.name)? {
            break;
        }
        let end = format!("_{number}");
        let start: String = first.chars().take(NAME_LIMIT - end.len()).collect();
        proposal.name = start + &end;
    }
    Ok(proposal)
}

fn is_name_free(parts: &Parts, name: &str) -> Result<bool, Fault> {
    let Ok(name) = ToolName::parse(name) else { return Ok(true) };
    if parts.admission.policy().reserved(&name).is_some() {
        return Ok(false);
    }
    let Some(store) = &parts.store else { return Ok(true) };
    match store.catalog().find(&ToolRef::Name(name)) {
        Err(FindError::Fault(fault)) => Err(fault),
        found => Ok(found.is_err()),
    }
}

fn required<'a>(field: &str, said: Option<&'a str>) -> Result<&'a str, RequestError> {
    said.ok_or_else(|| RequestError(message!("`{field}` is required", field)))
}

/// Parses the number of failed attempts, which may be written as a float.
fn parse_attempts(said: Option<&Number>) -> Result<u64, RequestError> {
    let Some(number) = said else { return Ok(0) };
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=1e15).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and in the range")]
    let whole = whole.map(|whole| whole as u64);
    whole.ok_or_else(|| {
        RequestError(message!("`failed_attempts` is {number}, it must be a whole number from 0 to 10^15", number))
    })
}

fn to_existing_tool(entry: &Entry, covered: f64) -> ExistingTool {
    let failures = entry.runs.saturating_sub(entry.successes);
    let fails = entry.status == Status::Failed || (entry.runs >= MIN_RUNS && failures * 2 > entry.runs);
    ExistingTool {
        id: entry.id,
        name: entry.name.to_string(),
        description: entry.description.clone(),
        coverage: covered,
        health: if fails { ToolHealth::Failing } else { ToolHealth::Healthy },
    }
}
