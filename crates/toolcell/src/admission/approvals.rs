//! Approvals: whether a tool needs one, and the stored decisions of people.
//!
//! Invariant: a decision is stored together with its audit event.

use toolcell_analysis::Severity;
use toolcell_i18n::{Message, message};
use toolcell_policy::{ApprovalMode, Grants};
use toolcell_store::audit::{Action, AuditEvent};
use toolcell_store::{Approval, Decision, DecisionOutcome, Entry, Fault, Store};
use toolcell_tool::ToolId;

use super::AdmissionControl;
use crate::vet::VettedTool;

impl AdmissionControl {
    /// Returns why a tool needs approval; `None` if it needs none.
    pub(crate) fn approval_reason(&self, tool: &VettedTool) -> Option<Message> {
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
        let action = match decision {
            Decision::Approved => Action::Approve,
            Decision::ApprovedOnce => Action::ApproveOnce,
            Decision::Refused => Action::Refuse,
        };
        let name = Some(entry.name.to_string());
        let mut attempt = AuditEvent { tool: Some(entry.id), name, ..AuditEvent::new(action, at) };
        attempt.details.decided_by = Some(by.to_owned());
        store.with_audit(attempt).set_decision(&approval)
    }
}

/// Returns why a tool needs approval; `None` if it needs none.
fn approval_reason(mode: ApprovalMode, tool: &VettedTool) -> Option<Message> {
    match mode {
        ApprovalMode::Auto => return None,
        ApprovalMode::Never | ApprovalMode::Ask => return Some(message!("every tool requires approval")),
        ApprovalMode::AutoSafe => {}
    }
    let requested = tool.requested_capabilities();
    let asked = requested.iter().map(|(capability, _)| Message::verbatim(format!("`{}`", capability.name())));
    let asked: Vec<Message> = asked.collect();
    let asks = (!asked.is_empty()).then(|| message!("it asks for {capabilities}", capabilities = Message::list(asked)));
    let worst = tool.worst_finding().filter(|finding| finding.severity >= Severity::Medium);
    let found = worst.map(|worst| {
        let (severity, finding) = (worst.severity, &worst.message);
        message!("it has a finding of severity {severity}: {finding}", severity, finding)
    });
    match (asks, found) {
        (Some(asks), Some(found)) => Some(message!("{asks}, and {found}", asks, found)),
        (asks, found) => asks.or(found),
    }
}
