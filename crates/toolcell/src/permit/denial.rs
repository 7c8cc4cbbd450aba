//! Denials of calls.
//!
//! Invariant: whether an answer can still admit the call is stated by [`Denial::awaits`], not by
//! the message.

use toolcell_store::Entry;

use crate::hook::{Admission, AwaitedAnswer, HookDecision};

/// The denial of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denial {
    /// What denied the call: `hook` and the name of a hook, `approval`, `person`, or another stage
    /// of the decision.
    pub denied_by: String,
    /// The reason.
    pub reason: String,
    /// A hint on what to do next.
    pub hint: String,
    /// Boxed, so that errors stay small.
    awaits: Option<Box<AwaitedAnswer>>,
}

impl Denial {
    /// Creates a denial that waits for no answer.
    pub(crate) fn new(by: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { denied_by: by.into(), reason: reason.into(), hint: hint.into(), awaits: None }
    }

    /// Returns the denial with the answer that it waits for.
    fn with_awaited(self, waits: AwaitedAnswer) -> Self {
        Self { awaits: Some(Box::new(waits)), ..self }
    }

    /// Returns the answer that would still admit the call, or `None` if the denial is final.
    #[must_use]
    pub fn awaits(&self) -> Option<AwaitedAnswer> {
        self.awaits.as_deref().copied()
    }

    /// Adds the lines of a policy that would grant the requested capabilities that are not granted.
    pub(super) fn with_grant_lines(self, lines: Option<String>) -> Self {
        let Some(lines) = lines else { return self };
        let hint = format!("{}; what it asks for and is not granted comes with {lines} in the policy", self.hint);
        Self { hint, ..self }
    }

    /// Denies a tool that is not approved while no approver is available; the approval is pending.
    pub(super) fn approval_pending(entry: &Entry, why: &str) -> Self {
        Self::unapproved(entry, why).with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a tool that is not approved, under a policy that never asks.
    pub(super) fn unapproved(entry: &Entry, why: &str) -> Self {
        let reason = format!("nobody approved `{}` ({}): {why}", entry.name, entry.id.short());
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies a call while the approver has deferred the answer about the tool.
    pub(super) fn answer_deferred(entry: &Entry, why: &str) -> Self {
        let hint = format!("once it is approved the same call runs; {}", approval_hint(entry));
        Self::new("person", format!("somebody is being asked: {why}"), hint)
            .with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the prompt about the tool cannot be shown in full; the approval is
    /// pending.
    pub(super) fn not_shown(entry: &Entry, why: &str) -> Self {
        let hint = format!("a person finds it with `toolcell approvals`; {}", approval_hint(entry));
        Self::new("approval", format!("nobody was asked to approve `{}`: {why}", entry.name), hint)
            .with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the tool was deleted before its approval.
    pub(super) fn tool_gone(entry: &Entry) -> Self {
        let reason = format!("`{}` ({}) was deleted while a person was asked", entry.name, entry.id.short());
        Self::new("approval", reason, "make the tool again, and have it approved then")
    }

    /// Denies a tool that was refused.
    pub(super) fn refused(entry: &Entry) -> Self {
        let reason = format!("somebody refused `{}` ({})", entry.name, entry.id.short());
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies a call because the approver declined the tool this time.
    pub(super) fn declined(entry: &Entry, feedback: Option<String>) -> Self {
        let reason =
            feedback.map_or_else(|| "the person said no".to_owned(), |why| format!("the person said no: {why}"));
        Self::new("person", reason, approval_hint(entry))
    }

    /// Returns the denial of the hooks, if they denied the call.
    pub(super) fn from_hooks(admission: &Admission) -> Option<Self> {
        let HookDecision::Deny { reason } = &admission.decision else { return None };
        let hook = admission.decided_by.as_deref().unwrap_or_default();
        let Some(waits) = admission.awaits else {
            let hint = format!("the hook `{hook}` decides: change the call, or ask whoever set it up");
            return Some(Self::new(format!("hook {hook}"), reason, hint));
        };
        let hint = format!("the hook `{hook}` asks a person: once they have answered, make the same call again");
        Some(Self::new("person", reason, hint).with_awaited(waits))
    }
}

fn approval_hint(entry: &Entry) -> String {
    format!("look at it with `toolcell show {0}`, and approve it with `toolcell approvals grant {0}`", entry.id.short())
}
