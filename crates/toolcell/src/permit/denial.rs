//! Why a call may not run.
//!
//! Invariant: whether somebody may still say yes to it is in [`Denial::waits`], and not in the words.

use toolcell_store::Entry;

use crate::gate::{Admission, Decision, Waiting};

/// A call may not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denial {
    /// Who denied it: a gate, an approval, the policy.
    pub by: String,
    /// Why.
    pub reason: String,
    /// What to do next.
    pub hint: String,
    /// Apart, so that errors stay small.
    waits: Option<Box<Waiting>>,
}

impl Denial {
    /// A denial that nobody is about to think over.
    pub(crate) fn new(by: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { by: by.into(), reason: reason.into(), hint: hint.into(), waits: None }
    }

    /// The same, while somebody may still say yes.
    fn waiting(self, waits: Waiting) -> Self {
        Self { waits: Some(Box::new(waits)), ..self }
    }

    /// What somebody may still say yes to, so that the same call runs; none where it was refused for good.
    #[must_use]
    pub fn waits(&self) -> Option<Waiting> {
        self.waits.as_deref().copied()
    }

    /// The same, with the lines of a policy that would grant what is asked for and not granted.
    pub(super) fn with_lines(self, lines: Option<String>) -> Self {
        let Some(lines) = lines else { return self };
        let hint = format!("{}; what it asks for and is not granted comes with {lines} in the policy", self.hint);
        Self { hint, ..self }
    }

    /// Nobody approved a tool, and nobody is there to ask; it is among what people are asked.
    pub(super) fn pending(entry: &Entry, why: &str) -> Self {
        Self::unapproved(entry, why).waiting(Waiting::Approval(entry.id))
    }

    /// Nobody approved a tool, and nobody is asked.
    pub(super) fn unapproved(entry: &Entry, why: &str) -> Self {
        let reason = format!("nobody approved `{}` ({}): {why}", entry.name, entry.id.short());
        Self::new("approval", reason, approve_with(entry))
    }

    /// Somebody is asked about a tool, and answers later.
    pub(super) fn asked(entry: &Entry, why: &str) -> Self {
        let hint = format!("once it is approved the same call runs; {}", approve_with(entry));
        Self::new("person", format!("somebody is being asked: {why}"), hint).waiting(Waiting::Approval(entry.id))
    }

    /// The question about a tool cannot be shown whole, so nobody was asked; it is among what people are asked.
    pub(super) fn not_shown(entry: &Entry, why: &str) -> Self {
        let hint = format!("a person finds it with `toolcell approvals`; {}", approve_with(entry));
        Self::new("approval", format!("nobody was asked to approve `{}`: {why}", entry.name), hint)
            .waiting(Waiting::Approval(entry.id))
    }

    /// A tool was approved, and its name was taken away before that.
    pub(super) fn gone(entry: &Entry) -> Self {
        let reason = format!("`{}` ({}) was deleted while a person was asked", entry.name, entry.id.short());
        Self::new("approval", reason, "make the tool again, and have it approved then")
    }

    /// Somebody refused a tool.
    pub(super) fn refused(entry: &Entry) -> Self {
        let reason = format!("somebody refused `{}` ({})", entry.name, entry.id.short());
        Self::new("approval", reason, approve_with(entry))
    }

    /// The person said no to a tool, this time.
    pub(super) fn declined(entry: &Entry, feedback: Option<String>) -> Self {
        let reason =
            feedback.map_or_else(|| "the person said no".to_owned(), |why| format!("the person said no: {why}"));
        Self::new("person", reason, approve_with(entry))
    }

    /// What gates denied, if they did.
    pub(super) fn by_gates(admission: &Admission) -> Option<Self> {
        let Decision::Deny { reason } = &admission.decision else { return None };
        let gate = admission.decided_by.as_deref().unwrap_or_default();
        let Some(waits) = admission.waits else {
            let hint = format!("the gate `{gate}` decides: change the call, or ask whoever set it up");
            return Some(Self::new(format!("gate {gate}"), reason, hint));
        };
        let hint = format!("the gate `{gate}` asks a person: once they have answered, make the same call again");
        Some(Self::new("person", reason, hint).waiting(waits))
    }
}

fn approve_with(entry: &Entry) -> String {
    format!("look at it with `toolcell show {0}`, and approve it with `toolcell approvals grant {0}`", entry.id.short())
}
