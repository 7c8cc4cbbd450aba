//! Calls that may be suspended, and calls that resume.

use std::time::Instant;

use toolcell_i18n::Message;
use toolcell_json::Params;

use super::Sandbox;
use crate::call_loop::{MaySuspend, resume_call};
use crate::context::{CallContext, ScriptSource};
use crate::error::CallError;
use crate::instance::HostState;
use crate::limits::Budget;
use crate::prepared::Prepared;
use crate::suspend::{CallStatus, ResumeError, SuspendedCall};

impl Sandbox {
    /// Calls a prepared tool, and suspends the call if its host calls ask for that
    /// ([`HostCallDriver::wait_or_suspend`](crate::HostCallDriver::wait_or_suspend)).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the tool are reported in the [`Report`](crate::Report).
    pub fn call_suspendable(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        self.call_inner::<MaySuspend>(prepared, params, budget, run).map(CallStatus::from)
    }

    /// Resumes a suspended call in a new instance, with the rest of its budget.
    /// [`HostCalls::start`](crate::HostCalls::start) must return the host calls that were pending.
    ///
    /// The virtual clock continues at [`CallContext::started_at`], or where it stopped if that is
    /// later. The tool, the call identifier and the seed are those of the original call.
    ///
    /// # Errors
    /// `asleep-tool` if the call belongs to another script, `busy`, `no-instance`. Faults of the
    /// tool are reported in the [`CallStatus`].
    pub fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        let started = Instant::now();
        let budget = suspended.budget();
        if !suspended.is_of(script) {
            return Err(ResumeError::ScriptMismatch);
        }
        let attempt = match self.acquire_slot_within(budget, suspended.time_left(), run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(CallStatus::Finished(suspended.stopped_report(stop, started))),
        };
        let _slot = &attempt.permit;
        let mut cell = self.guest.instantiate(HostState::for_run(budget, run, &attempt.deadline))?;
        suspended
            .restore(&mut cell, run)
            .map_err(|error| CallError::NoInstance(Message::verbatim(format!("{error:#}"))))?;
        let turn = resume_call::<MaySuspend>(&mut cell, budget, run, &attempt.deadline);
        let so_far = suspended.in_progress(*script, started);
        Ok(so_far.into_status(cell, turn, &attempt.deadline)?.into())
    }
}
