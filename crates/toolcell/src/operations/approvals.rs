//! Approvals of tools: the pending ones, the facts needed for a decision, and the decision.
//!
//! Invariant: an approval is for the tool and the grants of an [`ApprovalPrompt`] that was shown.
//! If the policy grants something else by then, nothing is approved. A refusal is for the tool,
//! whatever it is granted. Each attempt to decide leaves one audit event.

use toolcell_i18n::{Localize as _, Message, message, msgid};
use toolcell_policy::Grants;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Approval, Decision, DecisionOutcome, Entry, Fault, FindError, PendingApproval};
use toolcell_tool::{ToolId, ToolName};

use super::lookup::{FindToolError, find, find_exact};
use crate::admission::hook::ApprovalPrompt;
use crate::parts::Parts;
use crate::vet::Refusal;

/// The maximum number of requests that are looked through, newest first.
const MAX_REQUESTS: usize = 10_000;

/// A tool whose approval is pending.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingTool {
    /// The tool.
    pub tool: Entry,
    /// The request for the approval.
    pub approval: PendingApproval,
}

/// The result of a decision about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalResult {
    /// The identifier of the tool.
    pub tool: ToolId,
    /// The name of the tool.
    pub name: ToolName,
    /// The grants that are approved. For a refusal, the current grants, which do not limit it.
    pub grants: Grants,
}

/// The error of a decision about a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ApprovalError {
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindToolError),
    /// The analysis rejects the tool, so an approval has no effect.
    #[error("{0}")]
    #[code(SafetyCheckFailed)]
    Unsafe(Refusal),
    /// The grants that were shown are not the ones that would be approved.
    #[error("the grants of `{name}` are now {now}, but {shown} was shown: nothing was approved")]
    #[code(ApprovalChanged)]
    Changed {
        /// The name of the tool.
        name: ToolName,
        /// The grants that were shown.
        shown: Message,
        /// The grants that the policy gives now.
        now: Message,
    },
    /// The prompt is not about a stored tool.
    #[error("the prompt is about a call of `{0}`, not about a stored tool: nothing was approved")]
    #[code(ToolNotFound)]
    NoTool(String),
    /// The store failed, or an object in it is damaged.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl ApprovalError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Find(error) => error.hint(),
            Self::Unsafe(refusal) => refusal.hint(),
            Self::Changed { .. } => msgid!("review the tool again with `toolcell approvals`, then decide"),
            Self::NoTool(_) => msgid!("list the pending stored tools with `toolcell approvals`, then decide"),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

/// Returns the pending approvals, newest first. A request for other grants than those that the tool
/// has and is approved with waits for nothing: the policy changed since.
pub(crate) fn pending_approvals(parts: &Parts, limit: usize) -> Result<Vec<PendingTool>, Fault> {
    let store = parts.require_store()?;
    let is_settled = |request: &PendingApproval| {
        let Ok((_, grants)) = load_with_grants(parts, &request.tool.to_string()) else { return false };
        matches!(store.approvals().decision(request.tool, &grants.to_value()), Ok(Some(Decision::Approved)))
    };
    let requests = store.approvals().pending(MAX_REQUESTS)?.into_iter().filter(|request| !is_settled(request));
    let pending = requests
        .map(|question| Ok(find_exact(store, question.tool)?.map(|tool| PendingTool { tool, approval: question })));
    pending.filter_map(Result::transpose).take(limit).collect()
}

/// Returns the decisions about tools that a name refers to, newest first.
pub(crate) fn decisions(parts: &Parts, limit: usize) -> Result<Vec<(Entry, Approval)>, Fault> {
    let store = parts.require_store()?;
    let said = store.approvals().decisions(limit)?.into_iter();
    let decisions = said.map(|approval| Ok(find_exact(store, approval.tool)?.map(|tool| (tool, approval))));
    decisions.filter_map(Result::transpose).collect()
}

/// Returns the facts needed to decide about a tool: its source, its findings, the capabilities
/// it requests, and the grants it would get now. The tool is given by its name, its identifier,
/// or a prefix of the identifier.
pub(crate) fn approval_prompt(parts: &Parts, tool: &str) -> Result<ApprovalPrompt, ApprovalError> {
    let (entry, grants) = load_with_grants(parts, tool)?;
    let ready = parts.load_tool(&entry)?;
    let tool = ready.vetted.as_ref().map_err(|refusal| ApprovalError::Unsafe(refusal.clone()))?;
    let why = parts.admission.approval_reason(tool);
    let why = why.unwrap_or_else(|| message!("it needs no approval under this policy"));
    let call = parts.admission.hook_event(entry.name.as_str(), Some(entry.id), serde_json::json!({}));
    Ok(ApprovalPrompt::for_tool(tool, &grants, call, why))
}

/// The runs of a tool that an approval is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovedRuns {
    /// All, until the tool or its grants change.
    All,
    /// The next one.
    One,
}

/// Approves the tool of a prompt with the grants of that prompt. `by` names the approver.
pub(crate) fn approve(
    parts: &Parts,
    shown: &ApprovalPrompt,
    runs: ApprovedRuns,
    by: &str,
) -> Result<ApprovalResult, ApprovalError> {
    let called = shown.call.tool.map_or_else(|| shown.call.tool_name.clone(), |id| id.to_string());
    let (decision, action) = match runs {
        ApprovedRuns::All => (Decision::Approved, Action::Approve),
        ApprovedRuns::One => (Decision::ApprovedOnce, Action::ApproveOnce),
    };
    approve_inner(parts, shown, &called, decision, by).or_else(|error| log_undecided(parts, action, &called, error))
}

fn approve_inner(
    parts: &Parts,
    shown: &ApprovalPrompt,
    called: &str,
    decision: Decision,
    by: &str,
) -> Result<ApprovalResult, ApprovalError> {
    let (Some(_), Some(approving)) = (shown.call.tool, &shown.tool_approval) else {
        return Err(ApprovalError::NoTool(shown.call.tool_name.clone()));
    };
    let (entry, now) = load_with_grants(parts, called)?;
    if now != approving.grants {
        let (shown, now) = (approving.grants.localize(), now.localize());
        return Err(ApprovalError::Changed { name: entry.name, shown, now });
    }
    match parts.admission.record_decision(parts.require_store()?, &entry, &now, decision, by)? {
        // The audit event was written with the decision.
        DecisionOutcome::Stored => Ok(ApprovalResult { tool: entry.id, name: entry.name, grants: now }),
        DecisionOutcome::ToolGone => Err(FindToolError::Store(FindError::Unknown(called.to_owned())).into()),
    }
}

/// Refuses a tool, whatever the policy grants it now or later. `by` names the approver.
/// [`approve`] and [`revoke`] reverse it.
pub(crate) fn refuse(parts: &Parts, tool: &str, by: &str) -> Result<ApprovalResult, ApprovalError> {
    let done = find(parts, tool).map_err(ApprovalError::from).and_then(|entry| {
        let ready = parts.load_tool(&entry)?;
        // A tool that the analysis now rejects may have been approved before. It is granted
        // nothing.
        let asked = ready.vetted.as_ref().map(|tool| tool.requested_capabilities().clone()).unwrap_or_default();
        let grants = parts.admission.policy().grants_for(entry.id, &entry.name, &entry.tags, &asked);
        parts.admission.record_decision(parts.require_store()?, &entry, &grants, Decision::Refused, by)?;
        Ok(ApprovalResult { tool: entry.id, name: entry.name, grants })
    });
    done.or_else(|error| log_undecided(parts, Action::Refuse, tool, error))
}

/// Revokes the decisions about a tool, and returns how many there were. The next run asks for
/// an approval again.
pub(crate) fn revoke(parts: &Parts, tool: &str, by: &str) -> Result<(Entry, usize), ApprovalError> {
    let done = find(parts, tool).map_err(ApprovalError::from).and_then(|entry| {
        let name = Some(entry.name.to_string());
        let mut attempt = AuditEvent { tool: Some(entry.id), name, ..AuditEvent::new(Action::Revoke, parts.now()) };
        attempt.details.decided_by = Some(by.to_owned());
        let count = parts.require_store()?.with_audit(attempt).revoke(entry.id)?;
        Ok((entry, count))
    });
    match done {
        Ok(done) => Ok(done),
        Err(error) => log_undecided(parts, Action::Revoke, tool, error),
    }
}

/// Loads a tool and the grants that it would get.
fn load_with_grants(parts: &Parts, tool: &str) -> Result<(Entry, Grants), ApprovalError> {
    let entry = find(parts, tool)?;
    let ready = parts.load_tool(&entry)?;
    let vetted = ready.vetted.as_ref().map_err(|refusal| ApprovalError::Unsafe(refusal.clone()))?;
    let grants =
        parts.admission.policy().grants_for(entry.id, &entry.name, &entry.tags, vetted.requested_capabilities());
    Ok((entry, grants))
}

/// Writes the audit event of a failed decision.
fn log_undecided<T>(parts: &Parts, action: Action, tool: &str, error: ApprovalError) -> Result<T, ApprovalError> {
    let result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
    let name = Some(tool.to_owned());
    parts.recorder.log_attempt(&AuditEvent { name, result, ..AuditEvent::new(action, parts.now()) });
    Err(error)
}
