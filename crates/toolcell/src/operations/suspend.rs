//! Suspendable runs: a run is suspended when everything that it waits for takes time, and resumed
//! in this process or another one.
//!
//! ```text
//! resume: request → same tool, grants and caller? → remove from the store → continue
//! ```
//!
//! Invariant: a suspended run is resumed at most once: one transaction removes it from the store
//! before any of it runs. Every check that could refuse the resumption comes before that, and
//! leaves it suspended.

use std::sync::Arc;

use toolcell_flows::Label;
use toolcell_host::{self as host, Effects, Outcome, Params, Stop};
use toolcell_store::audit::Action;
use toolcell_store::{Fault, RunId, StoreAccess};

use super::hook_tools::StoredHookTools;
use super::lookup::find_tool;
use super::run::{NestedRuns, RunError, RunResult, admit_run, review_run, run_admitted};
use crate::admission::{AdmissionRequest, Called, StoredTool, grant_hints};
use crate::execution::suspend::{
    self, OpenedRun, ResumeRequest, RunSuspendError, SuspendedRun, SuspendedRunDetails, SuspendedRunInfo,
};
use crate::execution::{AdmittedRun, RunOptions};
use crate::host_calls::{DeferAll, EffectApprover, FlowStart, NestingContext, OpenRequest, PlanChain};
use crate::parts::Parts;
use crate::records::{AttemptEnd, RunRecorder};
use crate::request::RunTool;

/// The outcome of a suspendable run.
#[derive(Debug)]
#[must_use = "a suspended run continues only when it is resumed"]
pub enum RunOutcome {
    /// The run finished.
    Finished(Box<RunResult>),
    /// The run was suspended.
    Suspended(SuspendedRun),
}

/// Runs a stored tool, and suspends the run when everything that it waits for takes time.
pub(crate) fn run_suspendable(parts: &Parts, request: &RunTool, options: &RunOptions) -> Result<RunOutcome, RunError> {
    let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
    let params = &request.parameters;
    let mut attempted = RunRecorder::start(&parts.recorder, Action::RunDynamicTool, &options.caller, called, params)?;
    attempted.tokens_saved = options.tokens_saved;
    attempted.time_saved = options.time_saved;
    attempted.set_claims(&options.claims);
    let done = run_suspendable_inner(parts, request, options, &mut attempted);
    finish_record(attempted, done)
}

fn run_suspendable_inner(
    parts: &Parts,
    request: &RunTool,
    options: &RunOptions,
    attempted: &mut RunRecorder<'_>,
) -> Result<RunOutcome, RunError> {
    let admitted = admit_run(parts, request, options, attempted, None)?;
    let may_suspend = parts.store.as_ref().is_some_and(|store| store.access() == StoreAccess::Full);
    let Some(run) = attempted.run_id().filter(|_| may_suspend) else {
        return run_admitted(parts, admitted, None, attempted).map(|ran| RunOutcome::Finished(Box::new(ran)));
    };
    let called = parts.runtime.call_admitted_suspendable(&admitted);
    attempted.set_environment(&admitted.environment);
    finish_or_suspend(parts, called?, run, admitted, attempted)
}

/// Resumes a suspended run until it finishes or is suspended again.
pub(crate) fn resume(parts: &Parts, request: &ResumeRequest, options: &RunOptions) -> Result<RunOutcome, RunError> {
    let opened = parts.require_store().map_err(RunError::from).and_then(|store| {
        // What other nodes decided about the tool meanwhile counts, and the run can only be taken where the library is reached.
        store.follow()?;
        suspend::open(store, &request.run).map_err(RunError::from)
    });
    let (name, params) = match &opened {
        Ok(opened) => (&*opened.binding.name, opened.params.clone()),
        Err(_) => (&*request.run, Params::default()),
    };
    let mut attempted = RunRecorder::start(&parts.recorder, Action::Resume, &options.caller, name, &params)?;
    attempted.tokens_saved = options.tokens_saved;
    attempted.time_saved = options.time_saved;
    attempted.set_claims(&options.claims);
    attempted.set_resumed_run(&request.run);
    let done = opened.and_then(|opened| resume_inner(parts, opened, request, options, &mut attempted));
    finish_record(attempted, done)
}

fn resume_inner(
    parts: &Parts,
    opened: OpenedRun,
    request: &ResumeRequest,
    options: &RunOptions,
    attempted: &mut RunRecorder<'_>,
) -> Result<RunOutcome, RunError> {
    let OpenedRun { row, binding: bound, state: mut kept, params } = opened;
    if row.caller != options.caller {
        return Err(RunSuspendError::OtherCaller { run: row.run }.into());
    }
    let entry = find_tool(parts, Some(&row.tool.to_string()), None)?;
    attempted.set_tool(entry.id, &entry.name);
    let store = parts.require_store()?;
    let ready = parts.runtime.load_tool(store, &entry)?;
    let suspended = host::SuspendedCall::from_bytes(&kept.call.0).map_err(RunSuspendError::Resume)?;
    let schema = ready.schema()?;
    let args = schema.check(params)?;
    let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
    let hook_tools = StoredHookTools::new(parts, options.on_overload);
    let subject = AdmissionRequest {
        name: entry.name.as_str(),
        schema,
        requested: tool.requested_capabilities(),
        called: Called::Tool(StoredTool { store, entry: &entry, tool }),
        hook_tools: &hook_tools,
    };
    if parts.admission.granted_to(&subject).to_value() != bound.grants {
        return Err(RunSuspendError::GrantsChanged { run: row.run, name: entry.name.clone() }.into());
    }
    let purpose = options.admission_mode();
    let permit = parts.admission.admit(&subject, args, *suspended.budget(), purpose, &mut Vec::new())?;
    if permit.args().params().as_str() != kept.params {
        return Err(RunSuspendError::changed_by_hook(row.run).into());
    }
    attempted.set_permit(&permit);
    attempted.set_seed(kept.random);
    suspend::deliver_answers([parts.resources.functions(), &options.functions], &mut kept.pending, request)?;
    let planned = kept.planned || !kept.pending.held.is_empty();
    let nobody = || planned.then(|| Arc::new(DeferAll) as Arc<dyn EffectApprover>);
    let options = RunOptions { effect_approver: options.effect_approver.clone().or_else(nobody), ..options.clone() };
    let plan = match bound.plan {
        Some(plan) => {
            kept.pending.places = plan.places;
            PlanChain::from_head(plan.links)
        }
        None => PlanChain::new(entry.id, &kept.params),
    };
    // Of a run that was not followed it is not known what it was handed.
    let resumed = bound.sources.map_or_else(Label::any, |sources| Label::parse(sources.iter().map(String::as_str)));
    let nesting = NestingContext { caller: None, plan: options.effect_approver.as_ref().map(|_| Arc::new(plan)) };
    let given = parts.resources.open_grants(
        parts.resource_context(),
        OpenRequest {
            grants: permit.grants(),
            tool: entry.id,
            name: entry.name.as_str(),
            params: permit.args().params().as_str(),
            call_id: &kept.call_id,
            effect_approver: options.effect_approver.as_deref(),
            approver: options.approver.clone(),
            functions: &options.functions,
            nested: Box::new(NestedRuns::new(parts, &options)),
            nesting,
            flow: FlowStart {
                tool: Some(entry.name.as_str()),
                caller: &options.caller,
                context: &options.context,
                resumed: Some(resumed),
                under_way: None,
            },
        },
    )?;
    *given.pending() = kept.pending;
    if !store.suspended().take(&row)? {
        return Err(RunSuspendError::NotSuspended { run: row.run.to_string() }.into());
    }
    let admitted = AdmittedRun {
        entry,
        ready: Arc::clone(&ready),
        permit,
        drawn_seed: kept.random,
        environment: given,
        options: &options,
        clock: parts.clock,
    };
    let called = parts.runtime.resume_admitted(&admitted, &suspended);
    if !has_continued(&called, &suspended, admitted.environment.effects.max_effects()) {
        // It is saved again unchanged.
        store.suspended().save(&row).map_err(RunSuspendError::Store)?;
    }
    attempted.set_environment(&admitted.environment);
    finish_or_suspend(parts, called.map_err(RunSuspendError::Resume)?, row.run, admitted, attempted)
}

/// Returns whether a run that was resumed has burned fuel or begun an effect since.
fn has_continued(
    called: &Result<host::CallStatus, host::ResumeError>,
    suspended: &host::SuspendedCall,
    effects: Effects,
) -> bool {
    match called {
        Err(host::ResumeError::Call(host::CallError::Bug { .. })) | Ok(host::CallStatus::Suspended(_)) => true,
        Err(_) => false,
        Ok(host::CallStatus::Finished(report)) => {
            // Such as one that was cancelled while it waited for a slot, or for a first decision.
            let has_moved = report.usage.fuel != suspended.fuel_used() || effects != Effects::None;
            has_moved || !matches!(report.outcome, Outcome::Stopped(Stop::Cancelled))
        }
    }
}

/// Finishes a run, or saves it if it was suspended.
fn finish_or_suspend(
    parts: &Parts,
    called: host::CallStatus,
    run: RunId,
    admitted: AdmittedRun<'_>,
    attempted: &mut RunRecorder<'_>,
) -> Result<RunOutcome, RunError> {
    let suspended = match called {
        host::CallStatus::Finished(mut report) => {
            let AdmittedRun { entry, ready, permit, options, .. } = admitted;
            if let Ok(tool) = &ready.vetted {
                grant_hints::add_grant_hint(&mut report, &entry, tool, permit.grants(), parts.admission.policy());
            }
            let hook_tools = StoredHookTools::new(parts, options.on_overload);
            return review_run(parts, entry, &ready, permit, report, (attempted, &hook_tools))
                .map(|ran| RunOutcome::Finished(Box::new(ran)));
        }
        host::CallStatus::Suspended(suspended) => suspended,
    };
    let saved = match parts.require_store() {
        Ok(store) => suspend::save(store, run, &admitted, &suspended),
        Err(fault) => Err(fault.into()),
    };
    attempted.set_early_end(if saved.is_ok() { "suspended" } else { "stopped" }, suspended.fuel_used());
    let (.., effects) = attempted.consumed();
    saved.map(RunOutcome::Suspended).map_err(|source| RunError::SuspendFailed { source, effects })
}

/// Returns all suspended runs, the oldest first.
pub(crate) fn suspended_runs(parts: &Parts) -> Result<Vec<SuspendedRunInfo>, Fault> {
    suspend::list(parts.require_store()?)
}

/// Returns what a suspended run waits for.
pub(crate) fn suspended_run(parts: &Parts, run: &str) -> Result<SuspendedRunDetails, RunSuspendError> {
    suspend::details(parts.require_store()?, run)
}

/// Finishes the attempt's record.
fn finish_record(attempted: RunRecorder<'_>, done: Result<RunOutcome, RunError>) -> Result<RunOutcome, RunError> {
    let ended = match &done {
        Ok(_) => AttemptEnd::Completed,
        Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
    };
    let (.., effects) = attempted.consumed();
    let record = attempted.finish(ended).map_err(|source| RunError::RecordFailed { source, effects });
    let mut state = done?;
    let recorded = record?;
    match &mut state {
        RunOutcome::Finished(ran) => (ran.record, ran.unrecorded) = (recorded.record, recorded.unrecorded),
        RunOutcome::Suspended(suspended) => suspended.record = recorded.record,
    }
    Ok(state)
}
