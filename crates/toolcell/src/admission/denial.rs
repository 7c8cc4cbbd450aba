//! Denials of calls.
//!
//! Invariant: whether an answer can still admit the call is stated by [`Denial::awaits`], not by
//! the message.

use toolcell_store::Entry;

use super::hook::{Admission, AwaitedAnswer, HookDecision};

/// The denial of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
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
        let hint = format!("{}; to grant its missing capabilities, add {lines} to the policy", self.hint);
        Self { hint, ..self }
    }

    /// Denies a tool that is not approved while no approver is available; the approval is pending.
    pub(super) fn approval_pending(entry: &Entry, why: &str) -> Self {
        Self::unapproved(entry, why).with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a tool that is not approved, under a policy that never asks.
    pub(super) fn unapproved(entry: &Entry, why: &str) -> Self {
        let reason = format!("`{}` ({}) is not approved: {why}", entry.name, entry.id.short());
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies a call while the approver has deferred the answer about the tool.
    pub(super) fn answer_deferred(entry: &Entry, why: &str) -> Self {
        let hint = format!("repeat the call after approval; {}", approval_hint(entry));
        Self::new("person", format!("a person is being asked: {why}"), hint)
            .with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the prompt about the tool cannot be shown in full; the approval is
    /// pending.
    pub(super) fn not_shown(entry: &Entry, why: &str) -> Self {
        let hint = format!("`toolcell approvals` lists it; {}", approval_hint(entry));
        Self::new("approval", format!("the approval prompt for `{}` was not shown: {why}", entry.name), hint)
            .with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the tool was deleted before its approval.
    pub(super) fn tool_gone(entry: &Entry) -> Self {
        let reason = format!("`{}` ({}) was deleted while its approval was pending", entry.name, entry.id.short());
        Self::new("approval", reason, "create the tool again, and approve the new one")
    }

    /// Denies a tool that was refused.
    pub(super) fn refused(entry: &Entry) -> Self {
        let reason = format!("the approval of `{}` ({}) was refused", entry.name, entry.id.short());
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies a call because the approver declined the tool this time.
    pub(super) fn declined(entry: &Entry, feedback: Option<String>) -> Self {
        let reason = feedback
            .map_or_else(|| "a person refused the call".to_owned(), |why| format!("a person refused the call: {why}"));
        Self::new("person", reason, approval_hint(entry))
    }

    /// Returns the denial of the hooks, if they denied the call.
    pub(super) fn from_hooks(admission: &Admission) -> Option<Self> {
        let HookDecision::Deny { reason } = &admission.decision else { return None };
        let hook = admission.decided_by.as_deref().unwrap_or_default();
        let Some(waits) = admission.awaits else {
            let hint = format!("the hook `{hook}` denied the call: change the call, or ask the owner of the hook");
            return Some(Self::new(format!("hook {hook}"), reason, hint));
        };
        let hint = format!("the hook `{hook}` asks for confirmation: repeat the same call after the answer");
        Some(Self::new("person", reason, hint).with_awaited(waits))
    }
}

fn approval_hint(entry: &Entry) -> String {
    format!("review it with `toolcell show {0}`, and approve it with `toolcell approvals grant {0}`", entry.id.short())
}
