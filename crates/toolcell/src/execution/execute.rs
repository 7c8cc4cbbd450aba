//! The only entry into the sandbox.
//!
//! Invariant: scripts are evaluated and tools are called only here, and only with a
//! [`CallAuthorization`]: a permit, or host calls without effects. A test lists the callers.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolcell_host::{
    CallContext, CallError, CallProfile, CallStatus, FrameOrigin, FuelScope, Outcome, PrepareResult, Report, ResumeError,
    Script,
    SuspendedCall, Thrown,
};

use crate::admission::permit::{CallAuthorization, Permit};
use crate::execution::backend::PreparedScript;
use crate::toolbox::Toolbox;

/// An evaluated script with the mapping back to the author's source.
pub(crate) struct PreparedTool {
    prepared: PreparedScript,
    script: toolcell_analysis::Script,
    /// The name of the tool, if a factory creates several.
    tool: Option<String>,
}

/// The code of a call.
pub(crate) enum ToolCode<'a> {
    /// A script that was evaluated before.
    Prepared(Arc<PreparedTool>),
    /// A script that must be evaluated first.
    Script(&'a toolcell_analysis::Script),
}

impl PreparedTool {
    /// Returns the memory that caching it takes, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.prepared.held_bytes() + self.script.code().len()
    }

    /// Returns the manifest, in which the script describes its tools.
    pub(crate) fn manifest(&self) -> &toolcell_host::Json {
        self.prepared.manifest()
    }
}

impl Toolbox {
    /// Evaluates a script. The inner error is the report of a script that failed to load.
    pub(crate) fn evaluate(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        authorization: CallAuthorization<'_>,
        run: &CallContext<'_>,
    ) -> Result<Result<PreparedTool, Report>, CallError> {
        let evaluated = Script { name, source: script.code() };
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
    pub(crate) fn execute_suspendable(
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
    pub(crate) fn resume_call(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        _: &Permit,
        suspended: &SuspendedCall,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        let mut called = self.sandbox.resume(suspended, &Script { name, source: script.code() }, run)?;
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

impl Toolbox {
    /// Calls a tool on the interpreter, whatever the image of this toolbox. The interpreter starts
    /// on first use. Nothing is cached.
    pub(crate) fn execute_interpreted(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        permit: &Permit,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        let sandbox = self.interpreter().map_err(|error| CallError::NoInstance(error.to_owned()))?;
        let started = Instant::now();
        let evaluated = Script { name, source: script.code() };
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

/// Maps the positions in a report back to the author's source.
fn map_positions(report: &mut Report, name: &str, script: &toolcell_analysis::Script) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    if !script.has_position_map() {
        return;
    }
    let first = map_stack_positions(thrown, name, script);
    if let (Some(line), Some(column)) = (thrown.line, thrown.column) {
        // An error from a compiled decorator is reported where the author used the decorator.
        let place = script.map_back(line, column).or(first);
        (thrown.line, thrown.column) = (place.map(|place| place.0), place.map(|place| place.1));
    }
}

/// Maps the positions in a profile back to the author's source.
fn map_profile_positions(profile: &mut CallProfile, script: &toolcell_analysis::Script) {
    if !script.has_position_map() {
        return;
    }
    // Code that the author did not write has no line.
    let lead =
        |line: &mut u32, column: &mut u32| (*line, *column) = script.map_back(*line, *column).unwrap_or_default();
    for function in profile.functions.iter_mut().filter(|function| function.origin == FrameOrigin::Tool) {
        lead(&mut function.line, &mut function.column);
    }
    let frames = profile.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
    for frame in frames.filter(|frame| frame.line > 0) {
        if profile.functions[frame.function].origin == FrameOrigin::Tool {
            lead(&mut frame.line, &mut frame.column);
        }
    }
}

/// Maps frames such as `at execute (tool.ts:3:7)` back to the author's line and column, and drops
/// frames that the author did not write. Returns the first position.
fn map_stack_positions(thrown: &mut Thrown, name: &str, script: &toolcell_analysis::Script) -> Option<(u32, u32)> {
    let marker = format!("{name}:");
    let mut first = None;
    let lines = thrown.stack.lines().filter_map(|line| {
        let whole = || Some(line.to_owned());
        let Some((before, place)) = line.rsplit_once(&marker) else { return whole() };
        let digits = place.trim_end_matches(')');
        let Some((row, column)) = digits.split_once(':') else { return whole() };
        let (Ok(row), Ok(column)) = (row.parse(), column.parse()) else { return whole() };
        let (row, column) = script.map_back(row, column)?;
        first.get_or_insert((row, column));
        Some(format!("{before}{marker}{row}:{column}{}", &place[digits.len()..]))
    });
    thrown.stack = lines.collect::<Vec<_>>().join("\n");
    first
}
