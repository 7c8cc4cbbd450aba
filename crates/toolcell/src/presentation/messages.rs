//! The answers as text: in Japanese exactly as the contract words them, in English and Chinese with
//! the same structure.
//!
//! Invariant: a text renders a value and adds nothing to it. The code that prints it on a terminal
//! escapes its control characters.

use std::fmt::Write as _;

use toolcell_error::ErrorCode;
use toolcell_host::Outcome;
use toolcell_i18n::{Lang, Localize as _, tr};
use toolcell_schema::Parameter;
use toolcell_store::{Entry, VersionCommit};
use toolcell_tool::{Status, ToolName};

use crate::admission::hook::HookContext;
use crate::operations::create::{CreateError, CreateResult};
use crate::operations::delete::DeleteError;
use crate::operations::deprecate::DeprecateResult;
use crate::operations::exec::ExecError;
use crate::operations::list::{ListToolsError, ToolList};
use crate::operations::run::{Deprecation, RunError, RunResult, ToolFailure};
use crate::verification::proof::ExampleComparison;

/// The maximum number of examples that are listed because they do not match.
const MAX_MISMATCHES: usize = 10;

/// Returns the message of a failure: `{headline}: {detail}`.
pub(super) fn failure_message(code: ErrorCode, detail: &str, lang: Lang) -> String {
    match code.title(lang) {
        Some(headline) if detail.is_empty() => headline.to_owned(),
        Some(headline) => format!("{headline}{}{detail}", lang.colon()),
        None => detail.to_owned(),
    }
}

/// Returns the text of a failed operation.
pub(super) fn error_text(message: &str, lang: Lang) -> String {
    format!("{}{}{message}", tr!(lang, "error"), lang.colon())
}

/// Returns the text of an operation that failed with this code.
pub(crate) fn error_text_for_code(code: ErrorCode, detail: &str, lang: Lang) -> String {
    error_text(&failure_message(code, detail, lang), lang)
}

/// A builder for text lines, without a final line feed.
struct Lines(String);

impl Lines {
    fn push_line(&mut self, line: std::fmt::Arguments<'_>) -> &mut Self {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{line}");
        self
    }

    fn finish(mut self) -> String {
        // The line feeds at the end of a result are kept.
        self.0.pop();
        self.0
    }
}

/// Returns a heading: the colon at its end has no space.
fn heading(text: &str, lang: Lang) -> String {
    format!("{text}{}", lang.colon().trim_end())
}

impl CreateResult {
    /// Returns the answer of `create_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let Self { name, id, scores, description, .. } = self;
        let (id, colon) = (id.short(), lang.colon());
        let verified = if self.status == Status::Passed { "verified" } else { "unverified" };
        let mut lines = Lines(String::new());
        lines.push_line(format_args!("{}\n", tr!(lang, "Created the tool `{name}`.", name)));
        lines.push_line(format_args!("{}{colon}{id}", tr!(lang, "Tool ID")));
        lines.push_line(format_args!("{}{colon}{:.2}", tr!(lang, "Safety score"), scores.safety));
        lines.push_line(format_args!("{}{colon}{:.2}", tr!(lang, "Quality score"), scores.quality));
        lines.push_line(format_args!("{}{colon}{verified}\n", tr!(lang, "Verification")));
        lines.push_line(format_args!("{}\n{description}\n", heading(tr!(lang, "Description"), lang)));
        if !self.parameters.is_empty() {
            lines.push_line(format_args!("{}", heading(tr!(lang, "Parameters"), lang)));
            for Parameter { name, kind, description, .. } in &self.parameters {
                let line = tr!(lang, "- {name} ({kind}): {description}", name, kind, description);
                lines.push_line(format_args!("{line}"));
            }
            lines.push_line(format_args!(""));
        }
        lines.push_line(format_args!("{}", heading(tr!(lang, "heading" => "Usage"), lang)));
        lines.push_line(format_args!("run_dynamic_tool({{ tool_id: \"{id}\", parameters: {{ /* ... */ }} }})"));
        match &self.examples {
            ExampleComparison::NoExamples => {}
            ExampleComparison::NotRun(reason) => {
                let text = tr!(lang, "not run: {reason}", reason = reason.to_text(lang));
                lines.push_line(format_args!("\n{}{colon}{text}", tr!(lang, "Examples")));
            }
            ExampleComparison::Compared { count, from_template, mismatches } => {
                let (count, matching) = (*count, count - mismatches.len());
                let text = match *from_template {
                    0 => tr!(lang, "{matching} of {count} match", matching, count),
                    template => tr!(
                        lang,
                        "{matching} of {count} match ({template} came with the template, and say nothing about your task)",
                        matching,
                        count,
                        template,
                    ),
                };
                lines.push_line(format_args!("\n{}{colon}{text}", tr!(lang, "Examples")));
                for mismatch in mismatches.iter().take(MAX_MISMATCHES) {
                    lines.push_line(format_args!("- {}", mismatch.to_text(lang)));
                }
            }
        }
        for alike in &self.equivalent {
            let (name, id, count) = (&alike.entry.name, alike.entry.id.short(), alike.inputs);
            let note =
                tr!(lang, "Note: the tool `{name}` ({id}) gives the same answers to {count} inputs", name, id, count);
            lines.push_line(format_args!("\n{note}"));
        }
        lines.finish()
    }
}

impl CreateError {
    /// Returns the answer of a failed `create_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        match self.taken_name() {
            Some(name) => {
                let detail = self.localize().to_text(lang);
                format!("{}{}{detail}", tr!(lang, "the tool `{name}` exists already", name), lang.colon())
            }
            None => failure_message(self.code(), &self.localize().to_text(lang), lang),
        }
    }
}

impl RunResult {
    /// Returns the answer of `run_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let name = &self.name;
        let took = format!("{}{}{}ms", tr!(lang, "Time"), lang.colon(), self.report.usage.duration.as_millis());
        let mut lines = Lines(String::new());
        match self.value() {
            Ok(_) => {
                lines.push_line(format_args!("{}\n\n{took}\n", tr!(lang, "Ran the tool `{name}`.", name)));
                lines.push_line(format_args!("{}", heading(tr!(lang, "Result"), lang)));
                lines.push_line(format_args!("{}", self.output(lang)));
            }
            Err(failed) => {
                lines.push_line(format_args!("{}\n\n{took}", tr!(lang, "The tool `{name}` failed.", name)));
                lines.push_line(format_args!("{}", error_text(&failed.to_message(lang), lang)));
            }
        }
        for HookContext { hook, text } in &self.context {
            lines.push_line(format_args!("\n{}", tr!(lang, "Note (hook `{hook}`): {text}", hook, text)));
        }
        if let Some(deprecation) = &self.deprecated {
            let text = deprecation.to_text(name, lang);
            lines.push_line(format_args!("\n{}{}{text}", tr!(lang, "Note"), lang.colon()));
        }
        lines.finish()
    }

    /// Returns the tool's result as text.
    fn output(&self, lang: Lang) -> String {
        match (&self.report.outcome, &self.content) {
            _ if self.output_suppressed => tr!(lang, "(output hidden by a hook)").to_owned(),
            (Outcome::Returned(_), Some(content)) => content.to_text(),
            (Outcome::Returned(Some(value)), None) => value.to_text(),
            _ => String::new(),
        }
    }
}

impl Deprecation {
    /// Returns the deprecation notice for the tool with this name, with its successor.
    #[must_use]
    pub fn to_text(&self, name: &ToolName, lang: Lang) -> String {
        match &self.successor {
            Some(new) => tr!(lang, "the tool `{name}` is deprecated; use `{new}` instead", name, new),
            None => tr!(lang, "the tool `{name}` is deprecated", name),
        }
    }
}

impl ToolFailure {
    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        failure_message(self.code(), &self.localize().to_text(lang), lang)
    }
}

impl RunError {
    /// Returns the answer of a refused `run_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // The headline already says that the parameters are invalid.
        let detail =
            if let Self::Params(error) = self { error.detail().to_text(lang) } else { self.localize().to_text(lang) };
        failure_message(self.code(), &detail, lang)
    }
}

impl ExecError {
    /// Returns the answer of code that was refused.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text_for_code(self.code(), &self.localize().to_text(lang), lang)
    }
}

impl ToolList {
    /// Returns the answer of `list_dynamic_tools`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let mut lines = Lines(String::new());
        let count = self.tools.len();
        lines.push_line(format_args!("{}", tr!(lang, "# Registered dynamic tools ({count})", count)));
        for entry in &self.tools {
            push_list_entry(entry, self.successors.get(&entry.id), lang, &mut lines);
        }
        if let Some(next) = &self.next_cursor {
            let more = self.remaining;
            lines.push_line(format_args!("\n{}", tr!(lang, "There are {more} more: cursor: \"{next}\"", more, next)));
        }
        lines.finish()
    }
}

fn push_list_entry(entry: &Entry, successor: Option<&ToolName>, lang: Lang, lines: &mut Lines) {
    let Entry { name, confidence, runs, status, .. } = entry;
    let (id, colon) = (entry.id.short(), lang.colon());
    let tags = match &entry.tags[..] {
        [] => tr!(lang, "none").to_owned(),
        tags => tags.join(tr!(lang, "separator of tags" => ", ")),
    };
    let used = entry.last_used_at.map_or_else(|| tr!(lang, "never").to_owned(), |at| at.to_string());
    lines.push_line(format_args!("\n## {name}\n- ID{colon}{id}"));
    // A description must not look like another list entry.
    let description = entry.description.replace('\n', "\n  ");
    lines.push_line(format_args!("- {}{colon}{description}", tr!(lang, "Description")));
    lines.push_line(format_args!("- {}{colon}{confidence:.2}", tr!(lang, "Confidence")));
    lines.push_line(format_args!("{}", tr!(lang, "- Runs: {runs} | Last used: {used}", runs, used)));
    let status = status.name();
    let verification = match successor {
        Some(new) => tr!(lang, "- Verification: {status} (use `{new}` instead)", status, new),
        None => format!("- {}{colon}{status}", tr!(lang, "Verification")),
    };
    lines.push_line(format_args!("{verification}"));
    lines.push_line(format_args!("- {}{colon}{tags}", tr!(lang, "Tags")));
}

impl ListToolsError {
    /// Returns the answer of a failed `list_dynamic_tools`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text_for_code(self.code(), &self.localize().to_text(lang), lang)
    }
}

/// Returns the answer of `delete_dynamic_tool`.
#[must_use]
pub fn deleted_text(step: &VersionCommit, lang: Lang) -> String {
    tr!(lang, "Deleted the tool `{name}` ({id}).", name = step.name, id = step.id.short())
}

/// Returns the answer of a deprecation.
#[must_use]
pub fn deprecated_text(done: &DeprecateResult, lang: Lang) -> String {
    let (name, id) = (&done.name, done.tool.short());
    match &done.successor {
        Some(Entry { name: new, .. }) => {
            tr!(lang, "Deprecated the tool `{name}` ({id}) in favour of `{new}`.", name, id, new)
        }
        None => tr!(lang, "Deprecated the tool `{name}` ({id}).", name, id),
    }
}

impl DeleteError {
    /// Returns the answer of a failed `delete_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // The contract prints only the headline for this error.
        let is_complete = matches!(self, Self::Unconfirmed { .. });
        let detail = if is_complete { String::new() } else { self.localize().to_text(lang) };
        failure_message(self.code(), &detail, lang)
    }
}
