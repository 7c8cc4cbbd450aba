//! Admission: decides whether a call may run.
//!
//! Reading order: `permit` is the decision; `hook` runs the hooks of the host and of the policy;
//! `approvals` are the stored decisions of people; `denial` is the answer to a refused call, with
//! `grant_hints`; `review` lets the post-run hooks revise the outcome of an admitted one.
//!
//! Invariant: a permit is created only by an admission, and whatever cannot decide refuses.

mod approvals;
mod decision_step;
mod denial;
pub(crate) mod grant_hints;
pub mod hook;
mod permit;
mod review;

use std::path::Path;

use serde_json::Value;
use toolcell_policy::Policy;
use toolcell_tool::ToolId;

pub use decision_step::DecisionStep;
pub use denial::Denial;
pub use permit::Permit;

pub(crate) use permit::{
    AdmissionError, AdmissionMode, AdmissionRequest, CallAuthorization, Called, EffectFreeHostCalls, StoredTool,
    UngrantedCall,
};
pub(crate) use review::ReviewedRun;

use crate::clock::Clock;
use crate::vet::VettedTool;
use hook::{HookEvent, Hooks};

/// The rules that calls are admitted under: the policy, the hooks and the approvals.
pub(crate) struct AdmissionControl {
    policy: Policy,
    hooks: Hooks,
    /// The working directory that hooks are given.
    cwd: String,
    clock: Clock,
}

impl AdmissionControl {
    /// Creates the admission under a policy and hooks.
    pub(crate) fn new(policy: Policy, hooks: Hooks, cwd: &Path, clock: Clock) -> Self {
        Self { policy, hooks, cwd: cwd.display().to_string(), clock }
    }

    /// Returns the policy that tools run under.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the hooks that run before and after each call.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Whether a tool would run without an approval and without a decision of a hook.
    pub(crate) fn runs_unapproved(&self, tool: &VettedTool) -> bool {
        self.hooks.has_no_pre_hooks() && self.approval_reason(tool).is_none()
    }

    /// Creates the event that hooks receive for a call.
    pub(crate) fn hook_event(&self, name: &str, tool: Option<ToolId>, args: Value) -> HookEvent {
        HookEvent::new(name, tool, args, (self.clock)(), self.cwd.as_str())
    }
}
