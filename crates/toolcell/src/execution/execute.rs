//! The only entry into the sandbox.
//!
//! Invariant: scripts are evaluated and tools are called only here, and only with a
//! [`CallAuthorization`]: a permit, or host calls without effects. A test lists the callers.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolcell_host::{
    CallContext, CallError, CallStatus, FuelScope, PrepareResult, Report, ResumeError, ScriptSource, SuspendedCall,
};
use toolcell_i18n::Message;

use super::backend::PreparedScript;
use super::positions::{map_positions, map_profile_positions};
use super::prepared::{PreparedTool, ToolCode};
use super::runtime::Runtime;
use crate::admission::{CallAuthorization, Permit};

impl Runtime {
    /// Evaluates a script. The inner error is the report of a script that failed to load.
    pub(crate) fn evaluate(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        authorization: CallAuthorization<'_>,
        run: &CallContext<'_>,
    ) -> Result<Result<PreparedTool, Report>, CallError> {
        let evaluated = ScriptSource { name, source: script.code() };
        let run = authorization.context(run);
        Ok(match self.sandbox.prepare(&evaluated, authorization.budget(), &run)? {
            PrepareResult::Ready(prepared) => {
                let tools = tool_names(&prepared);
                let tool = tools.iter().find(|tool| tools.len() > 1 && *tool == name).cloned();
                Ok(PreparedTool { prepared, script: script.clone(), tool })
            }
            PrepareResult::Failed(mut report) => {
                map_positions(&mut report, name, script);
                Err(report)
            }
        })
    }

    /// Calls a tool, after evaluating its script if necessary.
    pub(crate) fn execute(
        &self,
        key: blake3::Hash,
        name: &str,
        code: ToolCode<'_>,
        authorization: CallAuthorization<'_>,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        let started = Instant::now();
        let kept = match self.prepare_code(key, name, code, authorization, run)? {
            Ok(kept) => kept,
            Err(report) => return Ok(report),
        };
        Self::call_prepared(&kept, name, authorization, &with_remaining_limits(run, authorization, started))
    }

    /// Calls a tool whose script is evaluated for this call alone, as an earlier one was.
    pub(crate) fn execute_uncached(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        evaluating: (CallAuthorization<'_>, &CallContext<'_>),
        calling: (CallAuthorization<'_>, &CallContext<'_>),
    ) -> Result<Report, CallError> {
        let started = Instant::now();
        match self.evaluate(name, script, evaluating.0, evaluating.1)? {
            Ok(kept) => {
                Self::call_prepared(&kept, name, calling.0, &with_remaining_limits(calling.1, calling.0, started))
            }
            Err(report) => Ok(report),
        }
    }

    fn call_prepared(
        kept: &PreparedTool,
        name: &str,
        authorization: CallAuthorization<'_>,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        let run = authorization.context(run);
        let run = CallContext { tool: run.tool.or(kept.tool.as_deref()), ..run };
        let (params, budget) = (authorization.args().params(), authorization.budget());
        let mut report = kept.prepared.call(params, budget, &run)?;
        map_positions(&mut report, name, &kept.script);
        if let Some(slot) = run.profile {
            slot.revise(|profile| map_profile_positions(profile, &kept.script));
        }
        Ok(report)
    }

    /// Calls a tool, and suspends the call where its host calls allow that.
    pub(super) fn execute_suspendable(
        &self,
        key: blake3::Hash,
        name: &str,
        code: ToolCode<'_>,
        permit: &Permit,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        let started = Instant::now();
        let authorization = CallAuthorization::Admitted(permit);
        let kept = match self.prepare_code(key, name, code, authorization, run)? {
            Ok(kept) => kept,
            Err(report) => return Ok(CallStatus::Finished(report)),
        };
        let run = with_remaining_limits(run, authorization, started);
        let run = CallContext { tool: run.tool.or(kept.tool.as_deref()), ..run };
        let params = permit.args().params();
        let mut called = kept.prepared.call_suspendable(params, permit.budget(), &run)?;
        if let CallStatus::Finished(report) = &mut called {
            map_positions(report, name, &kept.script);
        }
        Ok(called)
    }

    /// Resumes a suspended call. The permit proves that the call is admitted.
    pub(super) fn resume_call(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        _: &Permit,
        suspended: &SuspendedCall,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        let mut called = self.sandbox.resume(suspended, &ScriptSource { name, source: script.code() }, run)?;
        if let CallStatus::Finished(report) = &mut called {
            map_positions(report, name, script);
        }
        Ok(called)
    }

    /// Returns the evaluated script. The inner error is the report of a script that failed to load.
    fn prepare_code(
        &self,
        key: blake3::Hash,
        name: &str,
        code: ToolCode<'_>,
        authorization: CallAuthorization<'_>,
        run: &CallContext<'_>,
    ) -> Result<Result<Arc<PreparedTool>, Report>, CallError> {
        match code {
            ToolCode::Prepared(kept) => Ok(Ok(kept)),
            ToolCode::Script(script) => {
                Ok(self.evaluate(name, script, authorization, run)?.map(|kept| self.cache_script(key, kept)))
            }
        }
    }
}

impl Runtime {
    /// Calls a tool on the interpreter, whatever the image of this toolbox. The interpreter starts
    /// on first use. Nothing is cached.
    pub(crate) fn execute_interpreted(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        permit: &Permit,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        let sandbox = self.interpreter().map_err(|error| CallError::NoInstance(Message::verbatim(error.to_owned())))?;
        let started = Instant::now();
        let evaluated = ScriptSource { name, source: script.code() };
        let mut report = match sandbox.prepare(&evaluated, permit.budget(), run)? {
            PrepareResult::Ready(prepared) => {
                let tools = tool_names(&prepared);
                let tool = tools.iter().find(|tool| tools.len() > 1 && *tool == name);
                let authorization = CallAuthorization::Admitted(permit);
                let run = with_remaining_limits(run, authorization, started);
                let run = CallContext { tool: tool.map(String::as_str), ..run };
                prepared.call(permit.args().params(), permit.budget(), &run)?
            }
            PrepareResult::Failed(report) => report,
        };
        map_positions(&mut report, name, script);
        Ok(report)
    }
}

/// Returns the context of a call after its script was loaded: both share one deadline and one fuel
/// limit.
fn with_remaining_limits<'a>(
    run: &CallContext<'a>,
    authorization: CallAuthorization<'_>,
    started: Instant,
) -> CallContext<'a> {
    let limit = authorization.budget().deadline;
    let time = run.time_limit.unwrap_or(limit).min(limit).saturating_sub(started.elapsed());
    CallContext { time_limit: Some(time), fuel_scope: FuelScope::LoadingAndCall, ..*run }
}

/// Returns the names of the tools that a factory created. Unnamed tools are left out.
fn tool_names(prepared: &PreparedScript) -> Vec<String> {
    let manifest: Value = serde_json::from_str(prepared.manifest().as_str()).unwrap_or_default();
    let named = |tool: &Value| tool["name"].as_str().map(str::to_owned);
    manifest["tools"].as_array().into_iter().flatten().filter_map(named).collect()
}
