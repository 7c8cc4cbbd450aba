//! Follows a request through its redirects.
//!
//! Invariant: each host that a request leads to is a sink, and a source of the answer.

use std::sync::{Arc, Mutex, PoisonError};

use toolcell_capabilities::{ObservedRequest, RequestObserver};
use toolcell_flows::{Label, Sink, Source, Target};
use toolcell_host::OperationError;
use toolcell_policy::FlowPolicy;
use toolcell_tool::SecretName;

use super::{AnswerSource, describe, is_safe};
use crate::host_calls::RunEnvironment;
use crate::host_calls::error::error_without_effects;

impl RunEnvironment<'_> {
    /// Returns the observer of a request, if flows are followed.
    pub(in crate::host_calls) fn flow_observer(&self, answer: Option<&AnswerSource>) -> Option<FlowObserver> {
        let flows = self.flows.as_ref()?;
        let mut label = flows.label();
        label.join(answer.map_or(&Label::default(), AnswerSource::label));
        let observed = answer.and_then(|answer| answer.observed.clone()).unwrap_or_default();
        Some(FlowObserver { policy: flows.policy.clone(), label, observed, first: Mutex::new(true) })
    }
}

/// Follows a request through its redirects: each host that it leads to is a sink, and a source of the answer.
pub(in crate::host_calls) struct FlowObserver {
    policy: FlowPolicy,
    /// The label of the run when the request began, and of what it sends.
    label: Label,
    observed: Arc<Mutex<Label>>,
    /// Whether the next request is the one that was decided about.
    first: Mutex<bool>,
}

impl RequestObserver for FlowObserver {
    fn before_request(&self, request: &ObservedRequest<'_>) -> Result<(), OperationError> {
        let is_first = std::mem::take(&mut *self.first.lock().unwrap_or_else(PoisonError::into_inner));
        let host = request.host.trim_end_matches('.').to_ascii_lowercase();
        let mut observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_first {
            // Where a redirect leads is what the hosts before it say.
            let mut label = self.label.clone();
            label.join(&observed);
            let sink = Sink { target: Target::Web(host.clone()), writes: !is_safe(request.method.name()) };
            if let Some(decision) = self.policy.rules().decide(&label, None, &sink) {
                let from = describe(&decision.from);
                let message = format!(
                    "a redirect leads to `{sink}`, and what this run has read of {from} may not decide that; request its target directly"
                );
                return Err(error_without_effects("NotAllowedError", "flow-refused", message));
            }
        }
        observed.insert(Source::Web(host));
        for name in &request.secrets {
            if let Ok(name) = SecretName::parse(name) {
                observed.insert(Source::Secret(name));
            }
        }
        Ok(())
    }
}
