//! Records: one record and one audit line for each attempt to run a tool.
//!
//! Invariant: an attempt is recorded whatever its outcome, also if its process was killed.

mod flusher;
mod interrupted;
mod rejected_request;
mod run_record;

use std::sync::Arc;

use jiff::Timestamp;
use toolcell_policy::Policy;
use toolcell_store::audit::AuditEvent;
use toolcell_store::{Fault, Store, StoreAccess};

pub use run_record::{ContentDigest, ResourceUse, RunRecord};

pub(crate) use run_record::{AttemptEnd, RunRecorder};

use crate::clock::Clock;
use flusher::RunFlusher;

/// The recorder of attempts.
pub(crate) struct Recorder {
    /// The store of the records; without one, nothing is recorded.
    store: Option<Arc<Store>>,
    flusher: RunFlusher,
    clock: Clock,
    /// Whether the policy refuses attempts that cannot be recorded.
    is_required: bool,
}

impl Recorder {
    /// Creates a recorder of attempts under a policy.
    pub(crate) fn new(store: Option<Arc<Store>>, policy: &Policy, clock: Clock) -> Self {
        Self { store, flusher: RunFlusher::default(), clock, is_required: policy.is_audit_required() }
    }

    /// Writes the audit line of an attempt that changed nothing. If that fails, the store emits a
    /// notice and the operation still succeeds.
    pub(crate) fn log_attempt(&self, attempt: &AuditEvent<'_>) {
        if let Some(store) = self.store.as_deref().filter(|store| store.access() == StoreAccess::Full) {
            // The store reports a failure as a notice.
            let _ = store.log(attempt);
        }
    }

    /// Writes the audit line of a decision.
    ///
    /// # Errors
    /// The line is not written, and the policy requires it. A toolbox without a store writes none.
    pub(crate) fn log_decision(&self, decision: &AuditEvent<'_>) -> Result<(), Fault> {
        let Some(store) = self.audited_store() else { return Ok(()) };
        match store.log(decision) {
            Err(fault) if self.is_required => Err(fault),
            // The store reports a failure as a notice.
            _ => Ok(()),
        }
    }

    /// Returns the store if attempts are recorded in it: it is writable, or the policy requires
    /// records.
    fn audited_store(&self) -> Option<&Store> {
        self.store.as_deref().filter(|store| store.access() == StoreAccess::Full || self.is_required)
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}
