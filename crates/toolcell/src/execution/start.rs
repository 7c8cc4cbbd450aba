//! Executes an admitted run in the sandbox.
//!
//! Invariant: a run executes with exactly what it was admitted with.

use std::sync::Arc;

use toolcell_host::{CallContext, CallError, CallStatus, FuelScope, HostCalls, Report, ResumeError, SuspendedCall};
use toolcell_store::Entry;

use super::environment::{cache_key, unix_time, wall_clock};
use super::loaded::LoadedTool;
use super::options::RunOptions;
use super::prepared::ToolCode;
use super::runtime::Runtime;
use crate::admission::{CallAuthorization, Permit};
use crate::clock::Clock;
use crate::host_calls::RunEnvironment;

/// A run that was admitted and may start.
pub(crate) struct AdmittedRun<'a> {
    pub(crate) entry: Entry,
    pub(crate) ready: Arc<LoadedTool>,
    pub(crate) permit: Permit,
    /// The random seed drawn for the run, if it is granted real random numbers.
    pub(crate) drawn_seed: Option<u64>,
    pub(crate) environment: RunEnvironment<'a>,
    pub(crate) options: &'a RunOptions,
    pub(crate) clock: Clock,
}

impl Runtime {
    /// Calls a stored tool with these host calls: those of the run's environment, or a recording of
    /// them. `finished` observes the call and its report.
    pub(crate) fn call_admitted(
        &self,
        admitted: &AdmittedRun<'_>,
        host_calls: &dyn HostCalls,
        finished: impl FnOnce(&CallContext<'_>, &Report),
    ) -> Result<Report, CallError> {
        let AdmittedRun { entry, permit, .. } = admitted;
        let code = self.code_to_execute(admitted)?;
        with_call_context(admitted, |run| {
            let run = CallContext { host_calls, ..*run };
            let (key, name) = (cache_key(entry.id, permit.grants()), entry.name.as_str());
            let report = self.execute(key, name, code, CallAuthorization::Admitted(permit), &run)?;
            finished(&run, &report);
            Ok(report)
        })
    }

    /// Calls a stored tool, and suspends the call where it waits for a decision or a host function.
    pub(crate) fn call_admitted_suspendable(&self, admitted: &AdmittedRun<'_>) -> Result<CallStatus, CallError> {
        let AdmittedRun { entry, permit, .. } = admitted;
        let code = self.code_to_execute(admitted)?;
        with_call_context(admitted, |run| {
            self.execute_suspendable(cache_key(entry.id, permit.grants()), entry.name.as_str(), code, permit, run)
        })
    }

    /// Resumes a suspended run.
    pub(crate) fn resume_admitted(
        &self,
        admitted: &AdmittedRun<'_>,
        suspended: &SuspendedCall,
    ) -> Result<CallStatus, ResumeError> {
        let AdmittedRun { entry, ready, permit, .. } = admitted;
        let tool = ready.vetted.as_ref().map_err(|_| ResumeError::ScriptMismatch)?;
        with_call_context(admitted, |run| self.resume_call(entry.name.as_str(), tool.script(), permit, suspended, run))
    }

    /// Returns the code to execute: a cached script, or the script of the tool.
    fn code_to_execute<'a>(&self, admitted: &'a AdmittedRun<'_>) -> Result<ToolCode<'a>, CallError> {
        let AdmittedRun { entry, ready, permit, .. } = admitted;
        if let Some(kept) = self.cached_script(&cache_key(entry.id, permit.grants())) {
            return Ok(ToolCode::Prepared(kept));
        }
        // The tool of an admitted run has passed the analysis.
        let tool = ready.vetted.as_ref().map_err(CallError::bug)?;
        Ok(ToolCode::Script(tool.script()))
    }
}

/// Calls `enter` with the context of the run.
fn with_call_context<T>(admitted: &AdmittedRun<'_>, enter: impl FnOnce(&CallContext<'_>) -> T) -> T {
    let AdmittedRun { permit, drawn_seed: random, environment: given, options, clock, .. } = admitted;
    let wall_clock = permit.grants().clock.then(|| wall_clock(*clock));
    enter(&CallContext {
        tool: None,
        call_id: &given.call_id,
        seed: random.unwrap_or(options.seed),
        started_at: unix_time(clock()),
        wall_clock: wall_clock.as_ref(),
        host_calls: given,
        cancel: options.cancel.as_ref(),
        partial_sink: options.partial.as_ref(),
        on_overload: options.on_overload,
        profile: options.profile.as_deref(),
        time_limit: None,
        fuel_scope: FuelScope::LoadingAndCall,
    })
}
