//! Decisions about tools that were reviewed on a page, which may be older than the decision.
//!
//! Invariant: a decision is made about exactly what was shown: the tool, its grants, and the decisions that stood. If any of it
//! changed since, because another person was faster or the policy was edited, nothing is decided. Decisions of one process are made one
//! after the other; of two processes that decide at the same moment, the later decision counts. Each attempt leaves one audit event.

use std::sync::PoisonError;

use toolcell_error::ErrorCode;
use toolcell_i18n::Localize as _;
use toolcell_store::Decision;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};

use super::approvals::{ApprovalError, ApprovedRuns, approval_prompt, approve, refuse, revoke};
use super::show::{ShowError, ToolDetails, show};
use crate::parts::Parts;

/// A decision about a tool that a person reviewed.
#[derive(Debug, Clone, Copy)]
pub struct ReviewDecision<'a> {
    /// The identifier of the tool.
    pub tool: &'a str,
    /// The [digest](ToolDetails::review_digest) of what was shown.
    pub shown: &'a str,
    /// The decision.
    pub action: ReviewAction,
    /// Who decides, and why if a reason was given.
    pub by: &'a str,
}

/// What a person decides about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewAction {
    /// The tool may run with the grants that were shown, until it changes.
    Approve,
    /// The tool may run once with the grants that were shown, within a day.
    ApproveOnce,
    /// The tool may not run, with any grants.
    Refuse,
    /// The decisions about the tool end, and its next run asks again.
    Revoke,
}

/// The error of a decision about a reviewed tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ReviewError {
    /// What would be decided about is not what was shown.
    #[error("the tool, its grants or the decisions about it changed since they were shown: nothing was decided")]
    #[code(ApprovalChanged)]
    #[hint("review the tool as it is now, then decide")]
    Changed,
    /// The decision failed.
    #[error(transparent)]
    #[coded(transparent)]
    Approval(#[from] ApprovalError),
    /// The tool cannot be shown.
    #[error(transparent)]
    #[coded(transparent)]
    Show(#[from] ShowError),
}

impl ToolDetails {
    /// Returns the digest of what a decision about the tool is bound to: its identifier, the grants that it would get, whether the
    /// analysis accepts it, and the decisions that stand. 64 hexadecimal digits.
    #[must_use]
    pub fn review_digest(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 review");
        hasher.update(self.entry.id.as_bytes());
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        add(&self.grants.to_value().to_string());
        add(self.approval_state.name());
        add(if self.entry.current { "current" } else { "past" });
        for approval in &self.approvals {
            add(match approval.decision {
                Decision::Approved => "approved",
                Decision::ApprovedOnce => "approved-once",
                Decision::Refused => "refused",
            });
            add(&approval.grants.to_string());
            add(&approval.by);
            add(&approval.at.to_string());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Decides about a tool, if it is still as it was shown.
pub(crate) fn decide(parts: &Parts, decision: &ReviewDecision<'_>) -> Result<(), ReviewError> {
    // Of two people who decide at once, one is second.
    let _one_at_a_time = parts.review_lock.lock().unwrap_or_else(PoisonError::into_inner);
    let audited = match decision.action {
        ReviewAction::Approve => Action::Approve,
        ReviewAction::ApproveOnce => Action::ApproveOnce,
        ReviewAction::Refuse => Action::Refuse,
        ReviewAction::Revoke => Action::Revoke,
    };
    let is_as_shown = show(parts, decision.tool, None).map(|details| details.review_digest() == decision.shown);
    match is_as_shown {
        Ok(true) => {}
        Ok(false) => return Err(log_undecided(parts, audited, decision, ReviewError::Changed)),
        Err(error) => return Err(log_undecided(parts, audited, decision, error.into())),
    }
    // These write the audit event themselves.
    match decision.action {
        ReviewAction::Approve | ReviewAction::ApproveOnce => {
            let prompt = approval_prompt(parts, decision.tool)
                .map_err(|error| log_undecided(parts, audited, decision, error.into()))?;
            let runs = if decision.action == ReviewAction::Approve { ApprovedRuns::All } else { ApprovedRuns::One };
            approve(parts, &prompt, runs, decision.by).map(drop)?;
        }
        ReviewAction::Refuse => refuse(parts, decision.tool, decision.by).map(drop)?,
        ReviewAction::Revoke => revoke(parts, decision.tool, decision.by).map(drop)?,
    }
    Ok(())
}

/// Writes the audit event of a decision that was not made.
fn log_undecided(parts: &Parts, action: Action, decision: &ReviewDecision<'_>, error: ReviewError) -> ReviewError {
    let code: ErrorCode = error.code();
    let result = Err(EventFailure { code, message: Some(error.localize().to_string()) });
    let name = Some(decision.tool.to_owned());
    let mut event = AuditEvent { name, result, ..AuditEvent::new(action, parts.now()) };
    event.details.decided_by = Some(decision.by.to_owned());
    parts.recorder.log_attempt(&event);
    error
}
