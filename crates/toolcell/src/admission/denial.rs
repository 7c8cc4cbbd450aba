//! Denials of calls.
//!
//! Invariant: whether an answer can still admit the call is stated by [`Denial::awaits`], not by
//! the message.

use toolcell_i18n::{Message, message, msgid};
use toolcell_policy::SuggestedArgument;
use toolcell_store::Entry;

use super::grant_hints::to_words;
use super::hook::{Admission, AwaitedAnswer, HookDecision};

/// The denial of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("{reason}")]
pub struct Denial {
    /// What denied the call: `hook` and the name of a hook, `approval`, `person`, or another stage
    /// of the decision.
    pub denied_by: String,
    /// The reason.
    pub reason: Message,
    /// A hint on what to do next.
    pub hint: Message,
    /// Boxed, so that errors stay small.
    awaits: Option<Box<AwaitedAnswer>>,
}

impl Denial {
    /// Creates a denial that waits for no answer.
    pub(crate) fn new(by: impl Into<String>, reason: impl Into<Message>, hint: impl Into<Message>) -> Self {
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

    /// Replaces the hint with the command that grants what the tool lacks, and approves it.
    pub(super) fn with_missing_grants(self, entry: &Entry, missing: &[SuggestedArgument]) -> Self {
        if missing.is_empty() {
            return self;
        }
        let (id, words) = (entry.id.short(), to_words(missing));
        let hint = message!(
            "review it with `toolcell show {id}`; `toolcell grant {id} {words}` grants what it lacks, and approves it",
            id,
            words
        );
        Self { hint, ..self }
    }

    /// Denies a tool that is granted nothing of what it requests: an approval would not help it.
    pub(super) fn nothing_granted(entry: &Entry, why: &Message) -> Self {
        let (name, id) = (&entry.name, entry.id.short());
        let reason = message!(
            "`{name}` ({id}) is not approved, and is granted nothing of what it requests: {why}",
            name,
            id,
            why
        );
        Self::new("approval", reason, approval_hint(entry)).with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a tool that is not approved while no approver is available; the approval is pending.
    pub(super) fn approval_pending(entry: &Entry, why: &Message) -> Self {
        Self::unapproved(entry, why).with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a tool that is not approved, under a policy that never asks.
    pub(super) fn unapproved(entry: &Entry, why: &Message) -> Self {
        let (name, id) = (&entry.name, entry.id.short());
        let reason = message!("`{name}` ({id}) is not approved: {why}", name, id, why);
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies code that is not stored, because every tool needs an approval.
    pub(crate) fn code_unapproved() -> Self {
        let hint = msgid!("store it with `create_tool`, ask the user to approve that tool, and run it");
        let reason = message!("every tool requires approval, and code that is not stored cannot be approved");
        Self::new("approval", reason, hint)
    }

    /// Denies a call while the approver has deferred the answer about the tool.
    pub(super) fn answer_deferred(entry: &Entry, why: &Message) -> Self {
        let hint = message!("repeat the call after approval; {hint}", hint = approval_hint(entry));
        Self::new("person", message!("a person is being asked: {why}", why), hint)
            .with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the prompt about the tool cannot be shown in full; the approval is
    /// pending.
    pub(super) fn not_shown(entry: &Entry, why: &Message) -> Self {
        let hint = message!("`toolcell approvals` lists it; {hint}", hint = approval_hint(entry));
        let reason = message!("the approval prompt for `{name}` was not shown: {why}", name = entry.name, why);
        Self::new("approval", reason, hint).with_awaited(AwaitedAnswer::ToolApproval(entry.id))
    }

    /// Denies a call because the tool was deleted before its approval.
    pub(super) fn tool_gone(entry: &Entry) -> Self {
        let (name, id) = (&entry.name, entry.id.short());
        let reason = message!("`{name}` ({id}) was deleted while its approval was pending", name, id);
        Self::new("approval", reason, msgid!("create the tool again, and approve the new one"))
    }

    /// Denies a tool that was refused.
    pub(super) fn refused(entry: &Entry) -> Self {
        let reason = message!("the approval of `{name}` ({id}) was refused", name = entry.name, id = entry.id.short());
        Self::new("approval", reason, approval_hint(entry))
    }

    /// Denies a call because the approver declined the tool this time.
    pub(super) fn declined(entry: &Entry, feedback: Option<Message>) -> Self {
        let reason = feedback.map_or_else(
            || message!("a person refused the call"),
            |why| message!("a person refused the call: {why}", why),
        );
        Self::new("person", reason, approval_hint(entry))
    }

    /// Returns the denial of the hooks, if they denied the call.
    pub(super) fn from_hooks(admission: &Admission) -> Option<Self> {
        let HookDecision::Deny { reason } = &admission.decision else { return None };
        let hook = admission.decided_by.as_deref().unwrap_or_default();
        let Some(waits) = admission.awaits else {
            let hint =
                message!("the hook `{hook}` denied the call: change the call, or ask the owner of the hook", hook);
            return Some(Self::new(format!("hook {hook}"), reason.clone(), hint));
        };
        let hint = message!("the hook `{hook}` asks for confirmation: repeat the same call after the answer", hook);
        Some(Self::new("person", reason.clone(), hint).with_awaited(waits))
    }
}

fn approval_hint(entry: &Entry) -> Message {
    let id = entry.id.short();
    message!("review it with `toolcell show {id}`, and approve it with `toolcell approvals grant {id}`", id)
}
