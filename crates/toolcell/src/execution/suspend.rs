//! Suspension of runs: a waiting run is saved to the store and resumed in this process or another
//! one.
//!
//! ```text
//! suspend: effects and functions are pending → memory and calls → compress → encrypt → store
//! resume: request → same tool, grants and caller? → remove from the store → continue
//! ```
//!
//! Invariant: a suspended run is resumed at most once: one transaction removes it from the store
//! before any of it runs. Every check that could refuse the resumption comes before that, and
//! leaves it suspended.

mod callbacks;
mod encryption;
mod error;
mod types;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_host::{self as host, ENGINE_VERSION, GUEST_DIGEST, Params};
use toolcell_store::audit::Action;
use toolcell_store::{Entry, Fault, RunId, StoreAccess, SuspendedRow};
use toolcell_tool::Grants;

pub use error::RunSuspendError;
pub use types::{CallbackTicket, ResumeRequest, RunOutcome, SuspendedRun, SuspendedRunInfo};

use super::start::AdmittedRun;
use crate::admission::grant_hints;
use crate::admission::permit::{AdmissionMode, AdmissionRequest, Permit};
use crate::host_calls::{
    ChainHead, DeferAll, EffectApprover, HeldEffect, NestingContext, PendingHostCalls, PlanChain, PlanPosition,
    RunEnvironment,
};
use crate::operations::run::{RunError, RunOptions};
use crate::records::run_record::{AttemptEnd, RunRecorder};
use crate::request::RunTool;
use crate::toolbox::Toolbox;

/// The plain-text data that a suspended run is bound to, in its store row.
#[derive(Serialize, Deserialize)]
struct RunBinding {
    name: String,
    grants: Value,
    guest: String,
    engine: String,
    /// The plan so far; `None` for runs that an earlier version suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<PlanBinding>,
}

/// The plan of a suspended run.
#[derive(Serialize, Deserialize)]
struct PlanBinding {
    links: ChainHead,
    /// The places of the held effects, in the same order.
    places: Vec<PlanPosition>,
}

/// A suspended run, decrypted.
struct OpenedRun {
    row: SuspendedRow,
    binding: RunBinding,
    state: SuspendedState,
    params: Params,
}

/// The encrypted state of a suspended run.
#[derive(Serialize, Deserialize)]
struct SuspendedState {
    /// The serialized call: memory and engine state.
    call: ByteString,
    pending: PendingHostCalls,
    params: String,
    call_id: String,
    /// The seed that was drawn for the run.
    random: Option<u64>,
    /// Whether its effects are held for approval.
    planned: bool,
}

/// A byte string, serialized as bytes instead of a sequence.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct ByteString(#[serde(with = "serde_bytes")] Vec<u8>);

/// The parts of a run that are the same at every suspension.
struct SuspendContext<'a> {
    run: RunId,
    entry: &'a Entry,
    grants: &'a Grants,
    params: &'a str,
    random: Option<u64>,
    given: &'a RunEnvironment<'a>,
}

impl Toolbox {
    /// Runs a stored tool as [`Toolbox::run`] does, and suspends the run when everything that it
    /// waits for takes time: an effect that the effect approver
    /// [defers](crate::EffectDecision::Defer), or a host function that answers later.
    /// [`Toolbox::resume`] resumes it.
    ///
    /// Tools that it calls are not suspended: for them, deferring means refusing. A suspendable run
    /// gets no receipt.
    ///
    /// # Errors
    /// Those of [`Toolbox::run`], and `too-large-to-sleep`: the run has ended in that case.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use toolcell::policy::Layer;
    /// use toolcell::{
    ///     CreateTool, EffectApprover, EffectDecision, HeldEffect, Params, Policy, PolicyFile, ResumeRequest,
    ///     RunOptions, RunOutcome, RunTool, Toolbox, ToolboxConfig,
    /// };
    ///
    /// struct Always(EffectDecision);
    /// impl EffectApprover for Always {
    ///     fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
    ///         vec![self.0; held.len()]
    ///     }
    /// }
    /// let deciding = |decision| RunOptions { effect_approver: Some(Arc::new(Always(decision))), ..RunOptions::default() };
    ///
    /// let rules = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"";
    /// let rules = PolicyFile::parse(Layer::User, rules, "toolcell.toml".as_ref())?;
    /// let config = ToolboxConfig { policy: Policy::from_layers([rules])?, ..ToolboxConfig::default() };
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), config)?;
    /// toolbox.create(&CreateTool {
    ///     name: "note".to_owned(),
    ///     description: "Keeps a note".to_owned(),
    ///     code: "const execute = async ({ text }) => { await kv.set('note', text); return kv.get('note') }".to_owned(),
    ///     capabilities: serde_json::json!(["kv"]),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::new("note", Params::parse(r#"{"text": "milk"}"#)?);
    /// let RunOutcome::Suspended(suspended) = toolbox.run_suspendable(&request, &deciding(EffectDecision::Defer))?
    /// else {
    ///     panic!("the run is not suspended")
    /// };
    /// assert_eq!(suspended.held[0].kind, "kv.commit");
    /// // Possibly in another process, a day later:
    /// let resumed = toolbox.resume(&ResumeRequest::new(suspended.run), &deciding(EffectDecision::Perform))?;
    /// let RunOutcome::Finished(ran) = resumed else { panic!("every effect was decided") };
    /// assert_eq!(ran.value()?.unwrap().as_str(), "\"milk\"");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_suspendable(&self, request: &RunTool, options: &RunOptions) -> Result<RunOutcome, RunError> {
        let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
        let params = &request.parameters;
        let mut attempted = RunRecorder::start(self, Action::RunDynamicTool, &options.caller, called, params)?;
        attempted.tokens_saved = options.tokens_saved;
        let done = self.run_suspendable_inner(request, options, &mut attempted);
        finish_record(attempted, done)
    }

    fn run_suspendable_inner(
        &self,
        request: &RunTool,
        options: &RunOptions,
        attempted: &mut RunRecorder<'_>,
    ) -> Result<RunOutcome, RunError> {
        let admitted = self.admit_run(request, options, attempted, None)?;
        let may_sleep = self.store.as_ref().is_some_and(|store| store.access() == StoreAccess::Full);
        let Some(run) = attempted.run_id().filter(|_| may_sleep) else {
            return self.run_admitted(admitted, None, attempted).map(|ran| RunOutcome::Finished(Box::new(ran)));
        };
        let called = self.call_admitted_suspendable(&admitted);
        attempted.set_effects(&admitted.environment.effects);
        self.finish_or_suspend(called?, run, admitted, attempted)
    }

    /// Resumes a suspended run until it finishes or is suspended again. The options' effect
    /// approver decides about the held effects; without one, they stay undecided and the run is
    /// suspended again. The limits are those of the original run.
    ///
    /// The pre-run hooks run again, and a tool whose approval was revoked is not resumed.
    ///
    /// # Errors
    /// `run-not-asleep`, `asleep-principal`, `asleep-grants-changed`, `asleep-guest`,
    /// `asleep-tool`, `ticket-unknown`, `integrity`, `tool-not-found`, `permission-denied`: a
    /// suspended run stays suspended. `too-large-to-sleep`, and the store's I/O errors.
    pub fn resume(&self, request: &ResumeRequest, options: &RunOptions) -> Result<RunOutcome, RunError> {
        let opened = self.open_suspended(&request.run);
        let (name, params) = match &opened {
            Ok(opened) => (&*opened.binding.name, opened.params.clone()),
            Err(_) => (&*request.run, Params::default()),
        };
        let mut attempted = RunRecorder::start(self, Action::Resume, &options.caller, name, &params)?;
        attempted.tokens_saved = options.tokens_saved;
        attempted.set_resumed_run(&request.run);
        let done = opened.and_then(|opened| self.resume_inner(opened, request, options, &mut attempted));
        finish_record(attempted, done)
    }

    /// Loads and decrypts a suspended run, and checks its integrity.
    fn open_suspended(&self, run: &str) -> Result<OpenedRun, RunError> {
        let store = self.require_store()?;
        let not_suspended = || RunSuspendError::NotSuspended { run: run.chars().take(64).collect() };
        let id: RunId = run.parse().map_err(|_| not_suspended())?;
        let row = store.suspended(id)?.ok_or_else(not_suspended)?;
        let damaged = || RunSuspendError::Damaged { run: row.run };
        let opened = encryption::decrypt(&store.derive_key(encryption::KEY_PURPOSE)?, &row).ok_or_else(damaged)?;
        let bound: RunBinding = serde_json::from_str(&row.binding).map_err(|_| damaged())?;
        if (&*bound.guest, &*bound.engine) != (GUEST_DIGEST, ENGINE_VERSION) {
            return Err(RunSuspendError::Resume(host::ResumeError::GuestMismatch {
                guest: bound.guest,
                engine: bound.engine,
            })
            .into());
        }
        let kept: SuspendedState = postcard::from_bytes(&opened).map_err(|_| damaged())?;
        let params = Params::parse(kept.params.as_str()).map_err(|_| damaged())?;
        Ok(OpenedRun { row, binding: bound, state: kept, params })
    }

    fn resume_inner(
        &self,
        opened: OpenedRun,
        request: &ResumeRequest,
        options: &RunOptions,
        attempted: &mut RunRecorder<'_>,
    ) -> Result<RunOutcome, RunError> {
        let OpenedRun { row, binding: bound, state: mut kept, params } = opened;
        if row.caller != options.caller {
            return Err(RunSuspendError::OtherCaller { run: row.run }.into());
        }
        let entry = self.find_tool(Some(&row.tool.to_string()), None)?;
        attempted.set_tool(entry.id, &entry.name);
        let ready = self.load_tool(&entry)?;
        let suspended = host::SuspendedCall::from_bytes(&kept.call.0).map_err(RunSuspendError::Resume)?;
        let schema = ready.schema()?;
        let args = schema.check(params)?;
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let subject = AdmissionRequest {
            name: entry.name.as_str(),
            schema,
            requested: tool.requested_capabilities(),
            tool: Some((&entry, tool)),
        };
        if self.granted_to(&subject).to_value() != bound.grants {
            return Err(RunSuspendError::GrantsChanged { run: row.run, name: entry.name.clone() }.into());
        }
        let purpose = AdmissionMode::Run { approver: options.approver.as_deref(), caller: &options.caller };
        let permit = self.admit(&subject, args, *suspended.budget(), purpose, &mut Vec::new())?;
        if permit.args().params().as_str() != kept.params {
            return Err(RunSuspendError::changed_by_hook(row.run).into());
        }
        attempted.set_permit(&permit);
        attempted.set_seed(kept.random);
        self.deliver_answers(&mut kept.pending, request)?;
        let planned = kept.planned || !kept.pending.held.is_empty();
        let nobody = || planned.then(|| Arc::new(DeferAll) as Arc<dyn EffectApprover>);
        let options =
            RunOptions { effect_approver: options.effect_approver.clone().or_else(nobody), ..options.clone() };
        let plan = match bound.plan {
            Some(plan) => {
                kept.pending.places = plan.places;
                PlanChain::from_head(plan.links)
            }
            None => PlanChain::new(entry.id, &kept.params),
        };
        let nesting = NestingContext { caller: None, plan: options.effect_approver.as_ref().map(|_| Arc::new(plan)) };
        let given = self.open_grants(permit.grants(), &entry, &kept.call_id, &options, nesting)?;
        *given.pending() = kept.pending;
        if !self.require_store()?.take_suspended(&row)? {
            return Err(RunSuspendError::NotSuspended { run: row.run.to_string() }.into());
        }
        let admitted =
            AdmittedRun { entry, ready: Arc::clone(&ready), permit, drawn_seed: kept.random, environment: given };
        let called = self.resume_admitted(&admitted, &suspended);
        if let Err(host::ResumeError::ScriptMismatch | host::ResumeError::Call(host::CallError::Busy { .. })) = &called
        {
            // The run did not continue, so it is saved again unchanged.
            self.require_store()?.save_suspended(&row).map_err(RunSuspendError::Store)?;
        }
        attempted.set_effects(&admitted.environment.effects);
        self.finish_or_suspend(called.map_err(RunSuspendError::Resume)?, row.run, admitted, attempted)
    }

    /// Finishes a run, or saves it if it was suspended.
    fn finish_or_suspend(
        &self,
        called: host::CallStatus,
        run: RunId,
        admitted: AdmittedRun<'_>,
        attempted: &mut RunRecorder<'_>,
    ) -> Result<RunOutcome, RunError> {
        let suspended = match called {
            host::CallStatus::Finished(mut report) => {
                let AdmittedRun { entry, ready, permit, .. } = admitted;
                if let Ok(tool) = &ready.vetted {
                    grant_hints::add_grant_hint(&mut report, &entry, tool, permit.grants(), &self.policy);
                }
                return self
                    .review_run(entry, permit, report, attempted)
                    .map(|ran| RunOutcome::Finished(Box::new(ran)));
            }
            host::CallStatus::Suspended(suspended) => suspended,
        };
        let AdmittedRun { entry, permit, drawn_seed: random, environment: given, .. } = &admitted;
        let sleeps_as = SuspendContext {
            run,
            entry,
            grants: permit.grants(),
            params: permitted_params(permit),
            random: *random,
            given,
        };
        let laid = self.save_suspended(&sleeps_as, &suspended);
        attempted.set_early_end(if laid.is_ok() { "suspended" } else { "stopped" }, suspended.fuel_used());
        let (.., effects) = attempted.consumed();
        laid.map(RunOutcome::Suspended).map_err(|source| RunError::SuspendFailed { source, effects })
    }

    /// Encrypts and saves a suspended run.
    fn save_suspended(
        &self,
        of: &SuspendContext<'_>,
        suspended: &host::SuspendedCall,
    ) -> Result<SuspendedRun, RunSuspendError> {
        let SuspendContext { run, entry, given, .. } = *of;
        let store = self.require_store()?;
        let pending = std::mem::take(&mut *given.pending());
        let tool = (entry.id, entry.name.as_str());
        let placed = pending.places.iter().zip(&pending.held);
        let held: Vec<HeldEffect> = placed.map(|(place, operation)| HeldEffect::new(*place, tool, operation)).collect();
        let plan = given.plan.as_ref().map(|plan| PlanBinding { links: plan.head(), places: pending.places.clone() });
        let tickets = pending
            .tickets
            .iter()
            .map(|one| CallbackTicket { function: one.function.clone(), ticket: one.ticket.clone() });
        let tickets = tickets.collect();
        let kept = SuspendedState {
            call: ByteString(suspended.to_bytes()),
            pending,
            params: of.params.to_owned(),
            call_id: given.call_id.clone(),
            random: of.random,
            planned: given.options.effect_approver.is_some(),
        };
        let bound = RunBinding {
            name: entry.name.to_string(),
            grants: of.grants.to_value(),
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            plan,
        };
        let unwritten =
            |error: &dyn std::fmt::Display| RunSuspendError::Encrypt(format!("it cannot be serialized: {error}"));
        let content = postcard::to_allocvec(&kept).map_err(|error| unwritten(&error))?;
        let bound = serde_json::to_string(&bound).map_err(|error| unwritten(&error))?;
        let (caller, at) = (given.options.caller.clone(), self.now());
        let mut row = SuspendedRow { run, tool: entry.id, caller, suspended_at: at, binding: bound, blob: Vec::new() };
        row.blob = encryption::encrypt(&store.derive_key(encryption::KEY_PURPOSE)?, &row, &content)?;
        store.save_suspended(&row)?;
        let (name, bytes) = (entry.name.clone(), row.blob.len() as u64);
        Ok(SuspendedRun { run, tool: entry.id, name, held, tickets, bytes, record: None })
    }

    /// Returns all suspended runs, the oldest first.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn suspended_runs(&self) -> Result<Vec<SuspendedRunInfo>, Fault> {
        let sleeper = |row: SuspendedRow| {
            let bound: Option<RunBinding> = serde_json::from_str(&row.binding).ok();
            let (name, bytes) = (bound.map(|bound| bound.name).unwrap_or_default(), row.blob.len() as u64);
            SuspendedRunInfo { run: row.run, tool: row.tool, name, caller: row.caller, since: row.suspended_at, bytes }
        };
        Ok(self.require_store()?.all_suspended()?.into_iter().map(sleeper).collect())
    }
}

/// Returns the parameters that a run was admitted with.
fn permitted_params(permit: &Permit) -> &str {
    permit.args().params().as_str()
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
