//! Generates a tool, as a request that `create_tool` accepts as it is: ready code, or a skeleton.
//!
//! Reading order: `crate::templates` decides whether ready code does the task. For a skeleton, `lexicon` finds the words
//! for a name, `conversion` the source and target of a conversion, `tool_kind` the kind of the tool and `name` its name;
//! `parameters` and `pattern` derive its parameters from the task and the history.
//!
//! Invariant: a proposal is valid for `create_tool` whatever the task and the history are. Its code is compiled in, and
//! never contains input text.

mod call;
mod conversion;
mod description;
mod lexicon;
mod name;
mod parameters;
mod pattern;
#[cfg(test)]
mod tests;
mod tool_kind;

use serde::Serialize;
use serde_json::Value;

use crate::operation::PastOperation;
use crate::task_language::TaskLanguage;
use crate::templates::{Match, find_template};
use crate::trigger::Trigger;
use pattern::RepetitionPattern;
use tool_kind::ToolKind;

/// The longest excerpt of a task in a proposal, in characters.
const MAX_TASK_CHARS: usize = 200;

/// The longest description of ready code, in characters. It may quote the task.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// The code of a skeleton.
const SKELETON: &str = include_str!("proposal/skeleton.ts");

/// How far a proposal does the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalKind {
    /// The code does the task.
    Ready,
    /// The body of the code must still be written.
    Skeleton,
}

/// A proposed tool, with the field names of `create_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// Whether the code is ready.
    #[serde(skip)]
    pub kind: ProposalKind,
    /// The name, which passes [`ToolName::parse`](toolcell_tool::ToolName::parse).
    pub name: String,
    /// The description, in the language of the task.
    pub description: String,
    /// TypeScript source.
    pub code: String,
    /// The parameters, in the short form of `create_tool`.
    pub parameters: Value,
    /// The tags of ready code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Calls of ready code with their exact results: `{"parameters": …, "result": …, "source": "template"}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// The JSON Schema of the result of ready code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// The task, cut at 200 characters, of ready code. The description of a skeleton is the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_from: Option<String>,
}

/// Proposes a tool for a task with this trigger.
///
/// # Examples
/// ```
/// use toolcell_reflection::{ProposalKind, Trigger, propose};
///
/// let proposal = propose("複数のCSVテキストをJSONに変換する", Trigger::Transformation, &[]);
/// assert_eq!((proposal.kind, proposal.name.as_str()), (ProposalKind::Ready, "csv_to_json"));
/// let proposal = propose("Convert the legacy classes to hooks", Trigger::Transformation, &[]);
/// assert_eq!((proposal.kind, proposal.name.as_str()), (ProposalKind::Skeleton, "legacy_classes_to_hooks"));
/// ```
#[must_use]
pub fn propose(task: &str, trigger: Trigger, history: &[PastOperation]) -> Proposal {
    match find_template(task) {
        Some(found) => ready(&found, task),
        None => skeleton(task, trigger, history),
    }
}

fn ready(found: &Match, task: &str) -> Proposal {
    let language = TaskLanguage::detect(task);
    Proposal {
        kind: ProposalKind::Ready,
        name: found.name(),
        description: description::single_line(&found.description(language), MAX_DESCRIPTION_CHARS),
        code: found.code().to_owned(),
        parameters: found.parameters(language),
        tags: found.tags(),
        examples: found.examples(),
        returns: Some(found.returns()),
        generated_from: Some(truncate_chars(task.trim(), MAX_TASK_CHARS)),
    }
}

fn skeleton(task: &str, trigger: Trigger, history: &[PastOperation]) -> Proposal {
    let tokens = lexicon::tokens(task);
    let kind = ToolKind::for_trigger(trigger, &tokens);
    let pattern = if kind == ToolKind::Repetition {
        RepetitionPattern::from_history(history)
    } else {
        RepetitionPattern::default()
    };
    let name = match &pattern.operation {
        Some(operation) => name::for_operation(operation, task),
        None => name::for_task(task, kind),
    };
    let language = TaskLanguage::detect(task);
    Proposal {
        kind: ProposalKind::Skeleton,
        name,
        description: description::of_skeleton(language, &pattern, task),
        code: SKELETON.to_owned(),
        parameters: parameters::of_skeleton(language, &pattern, &tokens),
        tags: Vec::new(),
        examples: Vec::new(),
        returns: None,
        generated_from: None,
    }
}

/// The first characters of a text, with an ellipsis if there are more.
fn truncate_chars(text: &str, limit: usize) -> String {
    let mut cut: String = text.chars().take(limit).collect();
    if text.chars().nth(limit).is_some() {
        cut.push('…');
    }
    cut
}
