//! A tool that is worth making, as a request that can be made as it is printed.
//!
//! Reading order: `lexicon` finds the words that a name is made of, `conversion` what becomes what, `family` the kind of
//! tool, `name` the name; `defaults` and `pattern` say what the task and the history tell of its parameters.
//!
//! Invariant: a proposal passes the rules of `create_tool` whatever the task and the history. Its code is one of five that
//! are compiled in: no text that was handed in is ever part of it.

mod call;
mod conversion;
mod defaults;
mod description;
mod examples;
mod family;
mod lexicon;
mod name;
mod parameters;
mod pattern;
#[cfg(test)]
mod tests;
mod tongue;

use serde::Serialize;
use serde_json::Value;

use crate::operation::Operation;
use crate::trigger::Trigger;
use conversion::conversion;
use defaults::Defaults;
use family::Family;
use pattern::Pattern;
use tongue::Tongue;

/// How much of a task is kept with the tool, in characters.
const TASK_LIMIT: usize = 200;

/// A tool to make, with the field names of `create_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// What it is called: a name that passes [`ToolName::parse`](toolcell_tool::ToolName::parse).
    pub name: String,
    /// What it does, in the language of the task.
    pub description: String,
    /// TypeScript that works as it is.
    pub code: String,
    /// What it takes, in the short form of `create_tool`.
    pub parameters: Value,
    /// What it is found by: its family, and the formats that the task names.
    pub tags: Vec<String>,
    /// Calls with the exact result: `{"parameters": …, "result": …}`.
    pub examples: Vec<Value>,
    /// What it returns, as a JSON Schema.
    pub returns: Option<Value>,
    /// The task, cut at 200 characters.
    pub generated_from: String,
}

/// The tool for a task, where `trigger` makes one worth making.
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
pub fn propose(task: &str, trigger: Trigger, history: &[Operation]) -> Proposal {
    let tokens = lexicon::tokens(task);
    let family = Family::of(trigger, &tokens);
    let pattern = if family == Family::Repetition { Pattern::of(history) } else { Pattern::default() };
    let defaults = Defaults::of(&tokens, conversion(&tokens).as_ref());
    let tongue = Tongue::of(task);
    let name = match &pattern.operation {
        Some(operation) => name::of_operation(operation, task),
        None => name::of_task(task, family),
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
        generated_from: cut(task.trim(), TASK_LIMIT),
    }
}

/// The first characters of a text, and a sign that there are more.
fn cut(text: &str, limit: usize) -> String {
    let mut cut: String = text.chars().take(limit).collect();
    if text.chars().nth(limit).is_some() {
        cut.push('…');
    }
    cut
}
