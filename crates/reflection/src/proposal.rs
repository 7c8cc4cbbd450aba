//! Generates a tool, as a request that `create_tool` accepts as it is.
//!
//! Reading order: `lexicon` finds the words for a name, `conversion` the source and target of a
//! conversion, `tool_kind` the kind of the tool and `name` its name. `defaults` and `pattern`
//! derive its parameters from the task and the history.
//!
//! Invariant: a proposal is valid for `create_tool` whatever the task and the history are. Its code
//! is one of five compiled-in sources, and never contains input text.

mod call;
mod conversion;
mod defaults;
mod description;
mod examples;
mod lexicon;
mod name;
mod parameters;
mod pattern;
mod task_language;
#[cfg(test)]
mod tests;
mod tool_kind;

use serde::Serialize;
use serde_json::Value;

use crate::operation::PastOperation;
use crate::trigger::Trigger;
use conversion::find_conversion;
use defaults::Defaults;
use pattern::RepetitionPattern;
use task_language::TaskLanguage;
use tool_kind::ToolKind;

/// The longest excerpt of a task in a proposal, in characters.
const MAX_TASK_CHARS: usize = 200;

/// A proposed tool, with the field names of `create_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The name, which passes [`ToolName::parse`](toolcell_tool::ToolName::parse).
    pub name: String,
    /// The description, in the language of the task.
    pub description: String,
    /// TypeScript source that works as it is.
    pub code: String,
    /// The parameters, in the short form of `create_tool`.
    pub parameters: Value,
    /// The tags: the kind of the tool, and the formats that the task names.
    pub tags: Vec<String>,
    /// Calls with their exact results: `{"parameters": …, "result": …}`.
    pub examples: Vec<Value>,
    /// The JSON Schema of the result.
    pub returns: Option<Value>,
    /// The task, cut at 200 characters.
    pub generated_from: String,
}

/// Proposes a tool for a task with this trigger.
///
/// # Examples
/// ```
/// use toolcell_reflection::{Trigger, propose};
///
/// let proposal = propose("複数のCSVファイルをJSONに変換する", Trigger::Transformation, &[]);
/// assert_eq!(proposal.name, "csv_to_json");
/// assert_eq!(proposal.parameters["from"]["default"], "csv");
/// ```
#[must_use]
pub fn propose(task: &str, trigger: Trigger, history: &[PastOperation]) -> Proposal {
    let tokens = lexicon::tokens(task);
    let family = ToolKind::for_trigger(trigger, &tokens);
    let pattern = if family == ToolKind::Repetition {
        RepetitionPattern::from_history(history)
    } else {
        RepetitionPattern::default()
    };
    let defaults = Defaults::from_tokens(&tokens, find_conversion(&tokens).as_ref());
    let tongue = TaskLanguage::detect(task);
    let name = match &pattern.operation {
        Some(operation) => name::for_operation(operation, task),
        None => name::for_task(task, family),
    };
    let mut tags = vec![family.name().to_owned()];
    for token in &tokens {
        if conversion::is_format(&token.word) && !tags.contains(&token.word) && tags.len() < 5 {
            tags.push(token.word.clone());
        }
    }
    Proposal {
        name,
        description: description::description(family, tongue, defaults, &pattern, task),
        code: family.code().to_owned(),
        parameters: parameters::parameters(family, tongue, defaults, &pattern),
        tags,
        examples: examples::examples(family, defaults, &pattern),
        returns: Some(parameters::returns(family)),
        generated_from: truncate_chars(task.trim(), MAX_TASK_CHARS),
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
