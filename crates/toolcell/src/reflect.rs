//! `tool_reflection`: says whether a tool is worth making, and which one; or which one there is already.
//!
//! Invariant: nothing runs, and nothing changes but the index that is searched and the log. What the last tool returned is
//! data, whatever it says.

mod schema;
mod text;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use toolcell_reflection::{Decision, Known, Occasion, Operation, Proposal, Soundness, Thresholds, propose, reflect};
use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Entry, Fault, FindError, ToolRef};
use toolcell_tool::{NAME_LIMIT, Status, ToolId, ToolName};

use crate::request::RequestError;
use crate::search::SearchError;
use crate::toolbox::Toolbox;

/// How many stored tools are looked at.
const KNOWN: usize = 8;
/// A tool that ran at least so often, and failed in more than half of the runs, fails.
const TRIED: u64 = 3;

/// Asks whether a tool should be made: `tool_reflection`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReflectOnTask {
    /// What is to be done.
    pub task_description: Option<String>,
    /// What the last tool gave, as text.
    pub last_tool_result: Option<String>,
    /// How often it failed: 0 where nothing is said.
    #[schemars(with = "Option<u64>")]
    pub failed_attempts: Option<Number>,
    /// What was done before, the oldest first: `{ name, arguments, outcome?, duration_ms?, tokens? }`, or a line of text each.
    #[schemars(with = "Vec<schema::Done>")]
    pub history: Vec<Operation>,
}

/// What a reflection says.
#[derive(Debug, Clone, PartialEq)]
pub struct Reflected {
    /// The task.
    pub task: String,
    /// How often it failed.
    pub failed_attempts: u64,
    /// The decision, with the evidence for it.
    pub reflection: toolcell_reflection::Reflection,
    /// The stored tools that the decision is about.
    pub tools: Vec<Entry>,
    /// The tool to make, where one is to be made: it can be made as it is.
    pub proposal: Option<Proposal>,
}

/// A reflection, as programs read it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReflectedBody<'a> {
    /// Whether a tool is worth making, or there is one already that does it.
    pub recommend: bool,
    /// `create`, `reuse`, `revise`, `compose` or `none`.
    #[schemars(extend("enum" = ["create", "reuse", "revise", "compose", "none"]))]
    pub decision: &'static str,
    /// The stored tools that it is about.
    #[schemars(with = "Vec<String>")]
    pub tools: Vec<ToolId>,
    /// What makes a tool worth making.
    pub trigger: Option<&'static str>,
    /// How likely it is that one is, 0 to 1.
    pub score: f64,
    /// What speaks for it, and what against it.
    #[schemars(with = "Vec<schema::Evidence>")]
    pub evidence: &'a [toolcell_reflection::Evidence],
    /// Whether what the last tool gave may be had again.
    pub reusable: bool,
    /// The tool to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Proposal>")]
    pub proposal: Option<&'a Proposal>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectError {
    /// The request cannot be meant so.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ReflectError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Request(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Request(_) => {
                "`task_description` and `last_tool_result` are texts, `failed_attempts` is a whole number, and `history` a \
                 list of {\"name\", \"arguments\", \"outcome\"} or of texts"
            }
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Reflected {
    /// The reflection as programs read it.
    #[must_use]
    pub fn body(&self) -> ReflectedBody<'_> {
        let reflection = &self.reflection;
        ReflectedBody {
            recommend: reflection.recommends(),
            decision: decision_name(&reflection.decision),
            tools: self.tools.iter().map(|entry| entry.id).collect(),
            trigger: reflection.trigger.map(toolcell_reflection::Trigger::name),
            score: reflection.score,
            evidence: &reflection.evidence,
            reusable: reflection.reusable,
            proposal: self.proposal.as_ref(),
        }
    }
}

fn decision_name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Create => "create",
        Decision::Reuse(_) => "reuse",
        Decision::Revise(_) => "revise",
        Decision::Compose(_) => "compose",
        Decision::None => "none",
    }
}

impl Toolbox {
    /// Says whether a tool is worth making for a task, and which one.
    ///
    /// # Errors
    /// `request-invalid`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{ReflectOnTask, SandboxConfig, Toolbox, read_request};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let text = r#"{"task_description": "Convert these CSV files to JSON", "last_tool_result": "a.csv read"}"#;
    /// let reflected = toolbox.reflect(&read_request::<ReflectOnTask>(text)?)?;
    /// assert_eq!(reflected.body().decision, "create");
    /// assert_eq!(reflected.proposal.unwrap().name, "csv_to_json");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reflect(&self, request: &ReflectOnTask) -> Result<Reflected, ReflectError> {
        let done = self.reflected(request);
        let mut attempt = Attempt::new(Action::ToolReflection, self.now());
        match &done {
            Ok(reflected) => {
                attempt.tool = reflected.tools.first().map(|entry| entry.id);
                attempt.details.outcome = Some(decision_name(&reflected.reflection.decision));
            }
            Err(error) => attempt.result = Err(Failure { code: error.code(), message: Some(error.to_string()) }),
        }
        self.note(&attempt);
        done
    }

    fn reflected(&self, request: &ReflectOnTask) -> Result<Reflected, ReflectError> {
        let task = required("task_description", request.task_description.as_deref())?;
        if task.trim().is_empty() {
            return Err(RequestError("`task_description` is empty".to_owned()).into());
        }
        let result = required("last_tool_result", request.last_tool_result.as_deref())?;
        let failed_attempts = attempts(request.failed_attempts.as_ref())?;
        let found = self.known(task)?;
        let known: Vec<Known> = found.iter().map(|(entry, covered)| known(entry, *covered)).collect();
        let (failures, repetitions) = self.policy.worth_making();
        let thresholds = Thresholds {
            failures,
            repetitions: usize::try_from(repetitions).unwrap_or(usize::MAX),
            ..Thresholds::default()
        };
        let history = &request.history;
        let reflection = reflect(&Occasion { task, result, failed_attempts, history, known: &known }, &thresholds);
        let entry = |id: &ToolId| found.iter().find(|(entry, _)| entry.id == *id).map(|(entry, _)| entry.clone());
        let tools: Vec<Entry> = match &reflection.decision {
            Decision::Reuse(id) | Decision::Revise(id) => entry(id).into_iter().collect(),
            Decision::Compose(ids) => ids.iter().filter_map(entry).collect(),
            Decision::Create | Decision::None => Vec::new(),
        };
        let proposal = match (&reflection.decision, reflection.trigger) {
            (Decision::Create, Some(trigger)) => Some(self.free(propose(task, trigger, history))?),
            _ => None,
        };
        Ok(Reflected { task: task.to_owned(), failed_attempts, reflection, tools, proposal })
    }

    /// The stored tools that may do a task, and how much of it they are about. Where nothing can be searched, there is none.
    fn known(&self, task: &str) -> Result<Vec<(Entry, f64)>, Fault> {
        if self.store.is_none() {
            return Ok(Vec::new());
        }
        let hits = match self.search(task, KNOWN) {
            Ok(hits) => hits,
            Err(SearchError::Fault(fault)) => return Err(fault),
            Err(error) => {
                tracing::debug!(%error, "a reflection does not know the stored tools");
                return Ok(Vec::new());
            }
        };
        let hits = hits.into_iter().filter(|hit| hit.entry.status != Status::Deprecated);
        Ok(hits.map(|hit| (hit.entry, hit.covered)).collect())
    }

    /// The proposal under a name that is free: with a number behind it where the name is taken.
    fn free(&self, mut proposal: Proposal) -> Result<Proposal, Fault> {
        let first = proposal.name.clone();
        for number in 2..100 {
            if self.is_free(&proposal.name)? {
                break;
            }
            let end = format!("_{number}");
            let start: String = first.chars().take(NAME_LIMIT - end.len()).collect();
            proposal.name = start + &end;
        }
        Ok(proposal)
    }

    fn is_free(&self, name: &str) -> Result<bool, Fault> {
        let Ok(name) = ToolName::parse(name) else { return Ok(true) };
        if self.policy.reserved(&name).is_some() {
            return Ok(false);
        }
        let Some(store) = &self.store else { return Ok(true) };
        match store.find(&ToolRef::Name(name)) {
            Err(FindError::Fault(fault)) => Err(fault),
            found => Ok(found.is_err()),
        }
    }
}

fn required<'a>(field: &str, said: Option<&'a str>) -> Result<&'a str, RequestError> {
    said.ok_or_else(|| RequestError(format!("`{field}` is required")))
}

/// A count, however it is written.
fn attempts(said: Option<&Number>) -> Result<u64, RequestError> {
    let Some(number) = said else { return Ok(0) };
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=1e15).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and in the range")]
    let whole = whole.map(|whole| whole as u64);
    whole.ok_or_else(|| {
        RequestError(format!("`failed_attempts` is {number}, it must be a whole number from 0 to 10^15"))
    })
}

fn known(entry: &Entry, covered: f64) -> Known {
    let failures = entry.runs.saturating_sub(entry.successes);
    let fails = entry.status == Status::Failed || (entry.runs >= TRIED && failures * 2 > entry.runs);
    Known {
        id: entry.id,
        name: entry.name.to_string(),
        description: entry.description.clone(),
        likeness: covered,
        sound: if fails { Soundness::Failing } else { Soundness::Sound },
    }
}
