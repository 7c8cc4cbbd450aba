//! The text answer of `tool_reflection`: in Japanese exactly as the contract words it, in English
//! and Chinese with the same structure.
//!
//! Invariant: text from the caller is on one line and truncated.

use toolcell_i18n::{Lang, Localize as _, tr};
use toolcell_reflection::{ProposalKind, Recommendation};
use toolcell_store::Entry;

use crate::operations::reflect::{ReflectError, ReflectResult};
use crate::presentation::messages::error_text_for_code;

/// The maximum length of the quoted task in characters.
const MAX_TASK_CHARS: usize = 100;

impl ReflectResult {
    /// Returns the answer of `tool_reflection`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let task: String = self.task.trim().chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
        let task: String = task.chars().take(MAX_TASK_CHARS).collect();
        // The contract prints one fixed sentence if nothing is recommended; the value contains the
        // evidence.
        let reason = match &self.reflection.decision {
            Recommendation::None => tr!(lang, "the conditions for creating a tool are not met").to_owned(),
            _ => self.reason(lang),
        };
        let colon = lang.colon();
        let lines = [
            format!("# {}\n", tr!(lang, "Tool reflection")),
            format!("## {}", tr!(lang, "Task analysis")),
            format!("- {}{colon}{task}...", tr!(lang, "Description")),
            format!("- {}{colon}{}\n", tr!(lang, "Failed attempts"), self.failed_attempts),
            format!("## {}{colon}{}", tr!(lang, "Recommended"), self.recommended(lang)),
            format!("- {}{colon}{reason}", tr!(lang, "Reason")),
            self.next_step(lang),
        ];
        lines.join("\n")
    }

    /// Returns the reason in one or two sentences.
    #[must_use]
    pub fn reason(&self, lang: Lang) -> String {
        self.reflection.reason().to_text(lang)
    }

    fn recommended(&self, lang: Lang) -> &'static str {
        match &self.reflection.decision {
            Recommendation::Create => tr!(lang, "create a tool"),
            Recommendation::Reuse(_) => tr!(lang, "use an existing tool"),
            Recommendation::Revise(_) => tr!(lang, "fix an existing tool"),
            Recommendation::Compose(_) => tr!(lang, "combine existing tools"),
            Recommendation::None => tr!(lang, "continue without a tool"),
        }
    }

    /// Returns the next step.
    fn next_step(&self, lang: Lang) -> String {
        let says = match &self.reflection.decision {
            Recommendation::None if self.reflection.reusable => return tr!(lang, "- Reusable: yes").to_owned(),
            Recommendation::None => return tr!(lang, "- Reusable: no").to_owned(),
            Recommendation::Revise(_) => tr!(lang, "Fix this tool, and create it again with replace: true:"),
            Recommendation::Create => tr!(lang, "Create the tool with this command:"),
            Recommendation::Reuse(_) | Recommendation::Compose(_) => tr!(lang, "Run this:"),
        };
        let skeleton = self.proposal.as_ref().filter(|proposal| proposal.kind == ProposalKind::Skeleton);
        let note =
            skeleton.map_or_else(String::new, |_| format!("\n{}", tr!(lang, "Write the body of `execute` first.")));
        format!("\n## {}\n{says}\n{}{note}", tr!(lang, "Next step"), self.next_call())
    }

    /// Returns the next call, in the contract's wording.
    fn next_call(&self) -> String {
        if let Some(proposal) = &self.proposal {
            return proposal.to_call();
        }
        let of = |entry: &Entry| match self.reflection.decision {
            Recommendation::Revise(_) => format!("create_tool({{ name: '{}', /* ... */ replace: true }})", entry.name),
            _ => format!("run_dynamic_tool({{ tool_id: \"{}\", parameters: {{ /* ... */ }} }})", entry.id.short()),
        };
        self.tools.iter().map(of).collect::<Vec<_>>().join("\n")
    }
}

impl ReflectError {
    /// Returns the answer of a failed `tool_reflection`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text_for_code(self.code(), &self.localize().to_text(lang), lang)
    }
}
