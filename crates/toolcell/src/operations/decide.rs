//! `decide`: decides about a call of a tool that Toolcell does not run.
//!
//! ```text
//! policy: `external_tools` → hooks: allow, deny, ask → policy, if a hook changed the arguments → the approver
//! ```
//!
//! Invariant: the strictest of these decides, and each decision leaves one audit line. Without an
//! approver the answer may be `ask`, which the host resolves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_host::OnOverload;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_policy::{CallDecision, ExternalRuling};
use toolcell_store::audit::{Action, AuditEvent, Details, Digest, EventFailure};

use super::hook_tools::StoredHookTools;
use crate::admission::DecisionStep;
use crate::admission::hook::{
    Admission, Approver, ExternalCall, ExternalDecision, HookDecision, HookEnvironment, HookStep,
};
use crate::parts::Parts;

/// The time limit of a decision for which none is set: less than the limits that hosts set for
/// their hooks, because a host may let a call pass whose hook is late.
pub const DEFAULT_DECISION_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of a decision.
#[derive(Clone, Copy)]
pub struct DecideOptions<'a> {
    /// The caller, for the audit log and for hooks.
    pub caller: &'a str,
    /// Who is asked about a call for which the decision is `ask`. Without an approver, that is the
    /// decision.
    pub approver: Option<&'a dyn Approver>,
    /// The time that all hooks together have. The time that the approver takes does not count.
    pub timeout: Duration,
}

impl Default for DecideOptions<'_> {
    fn default() -> Self {
        Self { caller: "host", approver: None, timeout: DEFAULT_DECISION_TIMEOUT }
    }
}

/// Decides about a call. A call that cannot be recorded is denied, unless the policy permits that.
pub(crate) fn decide(parts: &Parts, call: &ExternalCall, options: &DecideOptions<'_>) -> ExternalDecision {
    let started = Instant::now();
    let decision = decide_unrecorded(parts, call, options, started);
    let args = call.args.to_string();
    let event = AuditEvent {
        name: Some(call.tool_name.clone()),
        result: match &decision.decision {
            HookDecision::Deny { reason } => {
                Err(EventFailure { code: ErrorCode::PermissionDenied, message: Some(reason.to_string()) })
            }
            _ => Ok(()),
        },
        details: Details {
            parameters: Some(Digest::new(args.as_bytes())),
            outcome: Some(decision.decision.name()),
            decided_by: Some(decision.decided_by.clone()),
            caller: Some(call.claims.describe(options.caller)),
            duration_ms: Some(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)),
            ..Details::default()
        },
        ..AuditEvent::new(Action::Decide, parts.now())
    };
    match parts.recorder.log_decision(&event) {
        Ok(()) => decision,
        Err(fault) => {
            ExternalDecision::failed(&message!("the decision cannot be recorded: {reason}", reason = fault.localize()))
        }
    }
}

fn decide_unrecorded(
    parts: &Parts,
    call: &ExternalCall,
    &DecideOptions { caller, approver, timeout }: &DecideOptions<'_>,
    started: Instant,
) -> ExternalDecision {
    let admission = &parts.admission;
    let mut steps = Vec::new();
    let mut decided = Admission::default();
    let mut policy_origin = None;
    let mut apply_policy = |decided: &mut Admission, args: &Value| {
        let Some(ruling) = admission.policy().decide_external(&call.tool_name, args) else { return };
        steps.push(policy_step(&ruling));
        if decided.tighten(to_decision(&ruling)) {
            policy_origin = Some(ruling.origin.to_string());
        }
    };
    apply_policy(&mut decided, &call.args);
    let mut event = admission.hook_event(&call.tool_name, None, call.args.clone());
    if let Some(cwd) = &call.cwd {
        event.cwd.clone_from(cwd);
    }
    let event = event.external().with_claims(call.claims.clone()).with_caller(caller);
    let hook_tools = StoredHookTools::new(parts, OnOverload::Wait);
    let environment = HookEnvironment { approver, tools: &hook_tools, deadline: started.checked_add(timeout) };
    decided = admission.hooks().admit_with(decided, event.clone(), &environment);
    let hook_steps: Vec<DecisionStep> = decided.steps.iter().map(HookStep::to_decision_step).collect();
    if let Some(args) = decided.args.clone() {
        apply_policy(&mut decided, &args);
    }
    steps.extend(hook_steps);
    let who = |decided: &Admission| match (&decided.decided_by, &policy_origin) {
        (Some(hook), _) => format!("hook {hook}"),
        (None, Some(origin)) => format!("policy {origin}"),
        (None, None) => "none".to_owned(),
    };
    let decided_by = if approver.is_some() && matches!(decided.decision, HookDecision::Ask { .. }) {
        decided = decided.resolve_ask(&event, approver);
        "person".to_owned()
    } else {
        who(&decided)
    };
    ExternalDecision {
        decided_by,
        decision: decided.decision,
        args: decided.args.map(Arc::unwrap_or_clone),
        context: decided.context,
        suppress_output: decided.suppress_output,
        awaits: decided.awaits,
        steps,
    }
}

fn policy_step(ruling: &ExternalRuling) -> DecisionStep {
    DecisionStep {
        stage: "policy",
        rule: message!("external_tools ({origin})", origin = ruling.origin),
        verdict: to_decision(ruling).name().into(),
        reason: Message::verbatim(ruling.reason.clone().unwrap_or_default()),
    }
}

fn to_decision(ruling: &ExternalRuling) -> HookDecision {
    let reason = || match &ruling.reason {
        Some(reason) => Message::verbatim(reason.clone()),
        None => message!("the policy says so ({origin})", origin = ruling.origin),
    };
    match ruling.decision {
        CallDecision::Allow => HookDecision::Allow,
        CallDecision::Ask => HookDecision::Ask { reason: reason() },
        CallDecision::Deny => HookDecision::Deny { reason: reason() },
    }
}
