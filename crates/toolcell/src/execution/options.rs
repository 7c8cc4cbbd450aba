//! The options of a run.

use std::sync::Arc;
use std::time::Duration;

use toolcell_host::{CancelToken, OnOverload, PartialResultSink, ProfileSlot};
use toolcell_policy::{Grants, LimitOverrides};

use crate::admission::AdmissionMode;
use crate::admission::hook::{Approver, CallerClaims};
use crate::host_calls::{EffectApprover, FlowContext, HostFunctions};

/// The options of a run, besides its request.
#[derive(Clone)]
pub struct RunOptions {
    /// The caller, for the record.
    pub caller: String,
    /// What the caller claims about itself, for the record and for hooks.
    pub claims: CallerClaims,
    /// Limits that override the policy's.
    pub limits: LimitOverrides,
    /// The seed of `Math.random()`, for tools without the grant of system random numbers.
    pub seed: u64,
    /// Cancels the run from another thread.
    pub cancel: Option<CancelToken>,
    /// Receives partial results, as JSON text, while the tool runs.
    pub partial: Option<PartialResultSink>,
    /// The approver that is prompted when a hook or the policy requires approval.
    pub approver: Option<Arc<dyn Approver>>,
    /// The handling of a call while the maximum number of calls is running.
    pub on_overload: OnOverload,
    /// Decides which side effects happen: the run waits for its decisions. Without it, all of them
    /// happen.
    pub effect_approver: Option<Arc<dyn EffectApprover>>,
    /// Functions that this run and the tools that it calls may call, in addition to those of the
    /// toolbox, which come first where names collide. A run that is suspended takes those of
    /// [`Toolbox::resume`](crate::Toolbox::resume) then.
    pub functions: HostFunctions,
    /// What code that is not stored is granted, as the caller decides. Without it, that is what the
    /// policy grants to drafts. Stored tools are granted what the policy grants them.
    pub code_grants: Option<Grants>,
    /// What the caller knows when it starts the run, where the policy has rules about flows.
    pub context: FlowContext,
    /// The number of tokens that a successful run saves, for the cost report.
    pub tokens_saved: Option<u64>,
    /// The time that a successful run saves, for the ledger.
    pub time_saved: Option<Duration>,
    /// Whether to issue a [`Receipt`](crate::Receipt).
    pub receipt: bool,
    /// Receives the fuel profile of the run, unless the run may be suspended.
    pub profile: Option<Arc<ProfileSlot>>,
}

impl RunOptions {
    /// Returns the mode of the admission of this run.
    pub(crate) fn admission_mode(&self) -> AdmissionMode<'_> {
        let (approver, cancel) = (self.approver.as_deref(), self.cancel.as_ref());
        AdmissionMode::Run { approver, caller: &self.caller, claims: &self.claims, cancel }
    }
}

impl Default for RunOptions {
    /// A host without an approver, with the limits of the policy.
    fn default() -> Self {
        Self {
            caller: "host".to_owned(),
            claims: CallerClaims::default(),
            limits: LimitOverrides::default(),
            seed: 0,
            cancel: None,
            partial: None,
            approver: None,
            on_overload: OnOverload::Wait,
            effect_approver: None,
            functions: HostFunctions::default(),
            code_grants: None,
            context: FlowContext::default(),
            tokens_saved: None,
            time_saved: None,
            receipt: false,
            profile: None,
        }
    }
}
