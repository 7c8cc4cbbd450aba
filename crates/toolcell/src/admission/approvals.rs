//! Approvals: whether a tool needs one, and the stored decisions of people.
//!
//! Invariant: a decision is stored together with its audit event.

use toolcell_analysis::Severity;
use toolcell_policy::{ApprovalMode, Grants};
use toolcell_store::audit::{Action, AuditEvent};
use toolcell_store::{Approval, Decision, DecisionOutcome, Entry, Fault, Store};
use toolcell_tool::ToolId;

use super::AdmissionControl;
use crate::vet::VettedTool;

impl AdmissionControl {
    /// Returns why a tool needs approval; `None` if it needs none.
    pub(crate) fn approval_reason(&self, tool: &VettedTool) -> Option<String> {
        approval_reason(self.policy.approval().0, tool)
    }

    /// Records a pending approval of a tool. If the store is read-only, the next run asks again.
    pub(crate) fn request_approval(
        &self,
        store: &Store,
        tool: ToolId,
        grants: &Grants,
        caller: &str,
    ) -> Result<(), Fault> {
        if store.access() == toolcell_store::StoreAccess::Full {
            store.approvals().request(tool, &grants.to_value(), caller, (self.clock)())?;
        }
        Ok(())
    }

    /// Stores the decision about a tool with these grants, unless the tool was deleted in the
    /// meantime.
    pub(crate) fn record_decision(
        &self,
        store: &Store,
        entry: &Entry,
        grants: &Grants,
        decision: Decision,
        by: &str,
    ) -> Result<DecisionOutcome, Fault> {
        let at = (self.clock)();
        let approval = Approval { tool: entry.id, grants: grants.to_value(), decision, by: by.to_owned(), at };
        let action = if decision == Decision::Approved { Action::Approve } else { Action::Refuse };
        let name = Some(entry.name.to_string());
        let mut attempt = AuditEvent { tool: Some(entry.id), name, ..AuditEvent::new(action, at) };
        attempt.details.decided_by = Some(by.to_owned());
        store.with_audit(attempt).set_decision(&approval)
    }
}

/// Returns why a tool needs approval; `None` if it needs none.
fn approval_reason(mode: ApprovalMode, tool: &VettedTool) -> Option<String> {
    match mode {
        ApprovalMode::Auto => return None,
        ApprovalMode::Never | ApprovalMode::Ask => return Some("every tool requires approval".to_owned()),
        ApprovalMode::AutoSafe => {}
    }
    let asked: Vec<String> =
        tool.requested_capabilities().iter().map(|(asked, _)| format!("`{}`", asked.name())).collect();
    let asks = (!asked.is_empty()).then(|| format!("it asks for {}", asked.join(", ")));
    let worst = tool.worst_finding().filter(|finding| finding.severity >= Severity::Medium);
    let found = worst.map(|worst| format!("it has a finding of severity {}: {}", worst.severity.name(), worst.message));
    let why: Vec<String> = asks.into_iter().chain(found).collect();
    (!why.is_empty()).then(|| why.join(", and "))
}
