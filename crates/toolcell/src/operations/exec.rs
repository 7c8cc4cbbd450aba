//! Runs a draft once and stores nothing.
//!
//! Invariant: the draft is compiled here, and runs by the same path as a stored tool.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolcell_analysis::{AnalysisError, Capabilities, Finding, Script, quick_check, transpile};
use toolcell_error::ErrorCode;
use toolcell_flows::Label;
use toolcell_host::{Budget, CallContext, CallError, Effects, Grant, Json, Params, Report};
use toolcell_i18n::Message;
use toolcell_policy::{ApprovalMode, Grants, LimitError, LimitOverrides};
use toolcell_schema::ParamsError;
use toolcell_store::audit::Action;
use toolcell_store::{Fault, RecordError};
use toolcell_tool::{Draft, DraftError, ToolName, ToolSpec};

use super::hook_tools::StoredHookTools;
use super::run::{NestedRuns, SourceLine, ToolFailure};
use super::types::check_code;
use crate::admission::grant_hints::add_draft_grant_hint;
use crate::admission::hook::{ApprovalPrompt, Approver, CallerClaims, HookContext};
use crate::admission::{
    AdmissionError, AdmissionMode, AdmissionRequest, CallAuthorization, Called, Denial, Permit, ReviewedRun,
};
use crate::execution::{RunOptions, ToolCode, draw_seed, unix_time, wall_clock};
use crate::host_calls::{
    FlowContext, FlowStart, GrantOpenError, HostFunctions, NestingContext, OpenRequest, RunEnvironment,
};
use crate::parts::Parts;
use crate::records::{AttemptEnd, RunRecorder};
use crate::request::RunCode;
use crate::vet::{Refusal, describe_findings};

/// The name of code that has none, in stack traces and in the audit log.
pub(super) const CODE_NAME: &str = "code";

/// Whether a draft is analyzed before it runs. Isolation does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precheck {
    /// Drafts with a critical finding do not run.
    #[default]
    Critical,
    /// Every draft runs that can be compiled.
    Off,
}

/// The options of running a draft.
#[derive(Clone, Default)]
pub struct ExecOptions {
    /// Whether the draft is analyzed before it runs.
    pub precheck: Precheck,
    /// What the draft is granted. If it is anything, the toolbox performs the draft's host calls, and
    /// not those of the [`CallContext`].
    pub grants: Grants,
    /// The caller, for the record and for rules about flows. Without it, that is `host`.
    pub caller: Option<String>,
    /// Who is asked what MCP servers want to know from the user. Approvals are not asked for.
    pub approver: Option<Arc<dyn Approver>>,
}

impl fmt::Debug for ExecOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { precheck, grants, caller, approver: _ } = self;
        let mut shown = f.debug_struct("ExecOptions");
        shown.field("precheck", precheck).field("grants", grants).field("caller", caller).finish_non_exhaustive()
    }
}

impl From<Precheck> for ExecOptions {
    /// No grants.
    fn from(precheck: Precheck) -> Self {
        Self { precheck, ..Self::default() }
    }
}

/// The error of running a draft.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum ExecError {
    /// The draft is not valid source.
    #[error(transparent)]
    Source(#[from] AnalysisError),
    /// The analysis rejects the draft.
    #[error("{}", describe_findings(.0))]
    Refused(Vec<Finding>),
    /// The source is too large, or not text.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The analysis rejects the code of a model.
    #[error(transparent)]
    Unsafe(#[from] Refusal),
    /// The requested limits are not available.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A hook denies the call.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// A hook changed the parameters to invalid ones.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// A grant cannot be opened.
    #[error(transparent)]
    Grant(#[from] GrantOpenError),
    /// The sandbox did not accept the call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The draft ran, and a hook that failed withholds the result.
    #[error(transparent)]
    Withheld(Denial),
    /// The run cannot be recorded, so it does not start.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The draft ran, and recording the run failed.
    #[error("the tool ran, but the run cannot be recorded: {0}")]
    RecordFailed(#[from] RecordError),
}

impl From<AdmissionError> for ExecError {
    fn from(error: AdmissionError) -> Self {
        match error {
            AdmissionError::Denied(denial) => Self::Denied(denial),
            AdmissionError::Params(error) => Self::Params(error),
            AdmissionError::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl ExecError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Source(error) => error.code(),
            Self::Refused(_) => ErrorCode::SafetyCheckFailed,
            Self::Draft(error) => error.code(),
            Self::Unsafe(refusal) => refusal.code(),
            Self::Limit(error) => error.code(),
            Self::Denied(_) => ErrorCode::PermissionDenied,
            Self::Withheld(_) => ErrorCode::ResultWithheld,
            Self::RecordFailed(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::Grant(error) => error.code(),
            Self::Call(error) => error.code(),
            Self::Fault(error) => error.code(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Source(error) => error.hint().into(),
            Self::Refused(findings) => findings.first().map_or("", |finding| finding.suggestion).into(),
            Self::Draft(error) => error.hint().into(),
            Self::Unsafe(refusal) => refusal.hint().into(),
            Self::Limit(error) => error.hint().into(),
            Self::Denied(denial) | Self::Withheld(denial) => denial.hint.clone(),
            Self::RecordFailed(error) => error.hint().into(),
            Self::Params(error) => error.hint().into(),
            Self::Grant(error) => error.hint(),
            Self::Call(error) => error.hint().into(),
            Self::Fault(error) => error.hint().into(),
        }
    }

    /// Returns the line and column of the error, if it is in the draft.
    #[must_use]
    pub fn position(&self) -> Option<(u32, u32)> {
        let location = match self {
            Self::Unsafe(refusal) => return refusal.position(),
            Self::Source(error) => error.diagnostics().first()?.location,
            Self::Refused(findings) => findings.first()?.location,
            _ => return None,
        };
        Some((location.line, location.column))
    }
}

/// The result of code that ran once, whatever its outcome.
#[derive(Debug, Clone)]
#[must_use = "code that failed is in here as well"]
pub struct CodeResult {
    /// The report of the call, as revised by the hooks.
    pub report: Report,
    /// Text that hooks add for the model.
    pub context: Vec<HookContext>,
    /// Whether a hook hides the output from the model. The report still contains it.
    pub output_suppressed: bool,
    /// Whether hooks changed the parameters or the result.
    pub is_revised: bool,
    /// The line of the code at which it threw, if it did.
    pub thrown_at: Option<SourceLine>,
    /// The extent to which the code changed external state.
    pub effects: Effects,
    /// Where the data came from that the code was handed, and so what its result may tell, if the policy has rules about
    /// flows.
    pub label: Option<Label>,
    /// What a type checker says about the code, if there is one.
    pub type_errors: Vec<Finding>,
    /// The hash of the run record in the store.
    pub record: Option<blake3::Hash>,
}

impl CodeResult {
    /// Returns the result of the code: JSON text, or `None` for `undefined`.
    ///
    /// # Errors
    /// `tool-failed`, and the codes of the limits: the code did not return.
    pub fn value(&self) -> Result<Option<&Json>, ToolFailure> {
        ToolFailure::check(&self.report)
    }
}

/// Runs code of a model once, with what the policy grants to drafts. The analysis rejects what it
/// rejects of a tool, and hooks decide about the call. If the policy asks a person about every tool,
/// the code does not run.
pub(crate) fn run_code(parts: &Parts, request: &RunCode, options: &RunOptions) -> Result<CodeResult, ExecError> {
    let mut attempted =
        RunRecorder::start(&parts.recorder, Action::Exec, &options.caller, CODE_NAME, &request.parameters)?;
    attempted.set_claims(&options.claims);
    let done = run_code_inner(parts, request, options, &mut attempted);
    let ended = match &done {
        Ok(_) => AttemptEnd::Completed,
        Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
    };
    let (.., effects) = attempted.consumed();
    let label = attempted.flow_label().cloned();
    let is_changed = attempted.are_parameters_changed();
    let record = attempted.finish(ended)?.record;
    let (ReviewedRun { report, context, output_suppressed, revised_by }, source) = done?;
    let is_revised = is_changed || revised_by.is_some();
    let thrown_at = SourceLine::of_exception(&source, &report);
    let capabilities = Capabilities::unscoped(code_grants(parts, options).capabilities());
    let type_errors =
        code_draft(parts, request).map_or_else(|_| Vec::new(), |draft| check_code(parts, &draft, &capabilities));
    Ok(CodeResult { report, context, output_suppressed, is_revised, thrown_at, effects, label, type_errors, record })
}

/// Returns the prompts that an approver would get before this code runs. Hooks are asked, and nothing
/// runs.
pub(crate) fn code_prompts(
    parts: &Parts,
    request: &RunCode,
    options: &RunOptions,
) -> Result<Vec<ApprovalPrompt>, ExecError> {
    let draft = code_draft(parts, request)?;
    let budget = code_budget(parts, request, options)?;
    let (schema, grants) = (parts.runtime.any_schema(), code_grants(parts, options));
    let args = schema.check(request.parameters.clone())?;
    let (requested, called) = (&Capabilities::default(), Called::Draft(&grants));
    let hook_tools = &StoredHookTools::new(parts, options.on_overload);
    let subject = AdmissionRequest { name: draft.name(), schema, requested, called, hook_tools };
    let prompts = RefCell::default();
    let mode = AdmissionMode::Explain { prompts: &prompts, caller: &options.caller, claims: &options.claims };
    parts.admission.admit(&subject, args, budget, mode, &mut Vec::new())?;
    Ok(prompts.into_inner())
}

/// Checks code that a model wants to run. Its findings are for a person who reads it; without one, the
/// grants are the limit.
fn code_draft(parts: &Parts, request: &RunCode) -> Result<Draft, ExecError> {
    let draft = Draft::from_bytes(CODE_NAME, request.code.as_bytes()).map_err(ExecError::Draft)?;
    let loaded = parts.runtime.load_code(code_spec(&draft)?);
    loaded.vetted.as_ref().map_err(Clone::clone)?;
    if matches!(parts.admission.policy().approval().0, ApprovalMode::Never | ApprovalMode::Ask) {
        return Err(Denial::code_unapproved().into());
    }
    Ok(draft)
}

fn code_budget(parts: &Parts, request: &RunCode, options: &RunOptions) -> Result<Budget, ExecError> {
    let limits = LimitOverrides { timeout_ms: request.timeout_ms.or(options.limits.timeout_ms), ..options.limits };
    Ok(parts.admission.policy().budget(&limits)?)
}

fn code_grants(parts: &Parts, options: &RunOptions) -> Grants {
    options.code_grants.clone().unwrap_or_else(|| parts.admission.policy().draft_grants())
}

/// Runs the code, and returns the reviewed run and the source.
fn run_code_inner(
    parts: &Parts,
    request: &RunCode,
    options: &RunOptions,
    attempted: &mut RunRecorder<'_>,
) -> Result<(ReviewedRun, String), ExecError> {
    let draft = code_draft(parts, request)?;
    let budget = code_budget(parts, request, options)?;
    let call_id = attempted.call_id();
    let run = CallContext {
        call_id: &call_id,
        seed: options.seed,
        started_at: unix_time(parts.now()),
        cancel: options.cancel.as_ref(),
        partial_sink: options.partial.as_ref(),
        on_overload: options.on_overload,
        profile: options.profile.as_deref(),
        ..CallContext::default()
    };
    let caller = options.admission_mode();
    let exec = ExecOptions {
        grants: code_grants(parts, options),
        approver: options.approver.clone(),
        ..ExecOptions::default()
    };
    let call = DraftCall {
        draft: &draft,
        params: &request.parameters,
        budget: &budget,
        run: &run,
        options: &exec,
        caller,
        functions: &options.functions,
        context: &options.context,
    };
    let reviewed = exec_inner(parts, &call, attempted)?;
    Ok((reviewed, request.code.clone()))
}

/// Runs the tool in a draft. Its outcome is in the report. A draft that was run before is not
/// evaluated again.
///
/// The caller has approved the draft, and its grants, by passing them: hooks run, but no approver is
/// asked. Without grants, the draft's host calls are those of `run`. Its limits are at most those of
/// the policy.
pub(crate) fn exec(
    parts: &Parts,
    draft: &Draft,
    params: &Params,
    budget: &Budget,
    run: &CallContext<'_>,
    options: &ExecOptions,
) -> Result<Report, ExecError> {
    let by = options.caller.as_deref().unwrap_or("host");
    let mut attempted = RunRecorder::start(&parts.recorder, Action::Exec, by, draft.name(), params)?;
    let claims = CallerClaims::default();
    let caller = AdmissionMode::Run { approver: None, caller: by, claims: &claims, cancel: run.cancel };
    let functions = &HostFunctions::default();
    let context = &FlowContext::default();
    let call = DraftCall { draft, params, budget, run, options, caller, functions, context };
    let done = exec_inner(parts, &call, &mut attempted);
    let ended = match &done {
        Ok(_) => AttemptEnd::Completed,
        Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
    };
    attempted.finish(ended)?;
    Ok(done?.into_report())
}

/// A call of a draft.
struct DraftCall<'a> {
    draft: &'a Draft,
    params: &'a Params,
    budget: &'a Budget,
    run: &'a CallContext<'a>,
    options: &'a ExecOptions,
    caller: AdmissionMode<'a>,
    /// The functions that only this call may call.
    functions: &'a HostFunctions,
    /// What the caller knows.
    context: &'a FlowContext,
}

/// Runs the draft, and updates the record.
fn exec_inner(parts: &Parts, call: &DraftCall<'_>, attempted: &mut RunRecorder<'_>) -> Result<ReviewedRun, ExecError> {
    let &DraftCall { draft, params, budget, run, options, caller, functions, context } = call;
    let ExecOptions { precheck, ref grants, .. } = *options;
    parts.admission.policy().check_budget(budget)?;
    let args = parts.runtime.any_schema().check(params.clone())?;
    let asked = Capabilities::default();
    let called = Called::Draft(grants);
    let hook_tools = StoredHookTools::new(parts, run.on_overload);
    let (name, schema) = (draft.name(), parts.runtime.any_schema());
    let subject = AdmissionRequest { name, schema, requested: &asked, called, hook_tools: &hook_tools };
    // What cannot be compiled is refused before a hook is asked.
    let checked = match parts.runtime.cached_script(&cache_key(draft, run, grants, precheck)) {
        Some(_) => None,
        None => Some(prepare_script(draft, precheck)?),
    };
    let permit = parts.admission.admit(&subject, args, *budget, caller, &mut Vec::new())?;
    attempted.set_permit(&permit);
    let drawn = draw_seed(permit.grants())?;
    attempted.set_seed(drawn);
    let (call_id, nested) = (attempted.call_id(), nested_options(run, caller, functions, context));
    let environment =
        if permit.grants().is_empty() { None } else { Some(open_grants(parts, call, &permit, &call_id, &nested)?) };
    let wall_clock = permit.grants().clock.then(|| wall_clock(parts.clock));
    let run = match &environment {
        Some(environment) => CallContext {
            host_calls: environment,
            call_id: &call_id,
            seed: drawn.unwrap_or(run.seed),
            wall_clock: wall_clock.as_ref(),
            ..*run
        },
        None => *run,
    };
    let key = cache_key(draft, &run, grants, precheck);
    let code = match (parts.runtime.cached_script(&key), &checked) {
        (Some(kept), _) => ToolCode::Prepared(kept),
        (None, Some(script)) => ToolCode::Script(script),
        (None, None) => return Err(CallError::bug("there is no script to evaluate").into()),
    };
    let report = parts.runtime.execute(key, draft.name(), code, CallAuthorization::Admitted(&permit), &run);
    if let Some(environment) = &environment {
        attempted.set_environment(environment);
    }
    let mut report = report?;
    add_draft_grant_hint(&mut report, permit.grants());
    attempted.set_report(&report);
    parts.admission.run_post_hooks(name, None, permit, report, &hook_tools).map_err(ExecError::Withheld)
}

/// Opens the grants of a draft.
fn open_grants<'a>(
    parts: &'a Parts,
    &DraftCall { draft, options: exec, .. }: &DraftCall<'_>,
    permit: &Permit,
    call_id: &str,
    options: &'a RunOptions,
) -> Result<RunEnvironment<'a>, ExecError> {
    let request = OpenRequest {
        grants: permit.grants(),
        tool: code_spec(draft)?.id(),
        name: draft.name(),
        params: permit.args().params().as_str(),
        call_id,
        effect_approver: None,
        approver: exec.approver.clone(),
        functions: &options.functions,
        nested: Box::new(NestedRuns::new(parts, options)),
        nesting: NestingContext { caller: None, plan: None },
        flow: FlowStart {
            tool: None,
            caller: &options.caller,
            context: &options.context,
            resumed: None,
            under_way: None,
        },
    };
    Ok(parts.resources.open_grants(parts.resource_context(), request)?)
}

/// Returns the options of the runs that a draft starts.
fn nested_options(
    run: &CallContext<'_>,
    caller: AdmissionMode<'_>,
    functions: &HostFunctions,
    context: &FlowContext,
) -> RunOptions {
    let caller = if let AdmissionMode::Run { caller, .. } = caller { caller } else { "host" };
    RunOptions {
        caller: caller.to_owned(),
        cancel: run.cancel.cloned(),
        functions: functions.clone(),
        context: context.clone(),
        ..RunOptions::default()
    }
}

/// Returns the specification of a draft, which has no name of its own.
fn code_spec(draft: &Draft) -> Result<ToolSpec, ExecError> {
    let bug = || ExecError::from(CallError::bug("the specification of code is valid"));
    let name = ToolName::parse(CODE_NAME).map_err(|_| bug())?;
    ToolSpec::new(name, draft, Value::Null, Value::Null).map_err(|_| bug())
}

/// Compiles a draft, and analyzes it if asked to.
fn prepare_script(draft: &Draft, precheck: Precheck) -> Result<Script, ExecError> {
    match precheck {
        Precheck::Off => Ok(transpile(draft.source(), draft.language())?),
        Precheck::Critical => {
            let (script, findings) = quick_check(draft.source(), draft.language())?;
            if findings.is_empty() { Ok(script) } else { Err(ExecError::Refused(findings)) }
        }
    }
}

/// Returns the cache key of a draft with its name and its grants.
fn cache_key(draft: &Draft, run: &CallContext<'_>, grants: &Grants, precheck: Precheck) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared script");
    hasher.update(&[u8::from(precheck == Precheck::Off)]);
    for part in [draft.name(), draft.source()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    if !grants.is_empty() {
        // A script depends on which capabilities there are and on the names of the secrets.
        for capability in grants.capabilities() {
            hasher.update(capability.name().as_bytes()).update(b"\0");
        }
        // No capability has an empty name, so this marks the start of the secrets.
        hasher.update(b"\0");
        for secret in &grants.secrets {
            hasher.update(secret.name.as_str().as_bytes()).update(b"\0");
        }
        return hasher.finalize();
    }
    for grant in run.host_calls.grants() {
        hasher.update(grant.name().as_bytes()).update(b"\0");
        if let Grant::Secrets { names } = grant {
            // Names of secrets and of grants contain no `:`.
            hasher.update(names.join(":").as_bytes()).update(b"\0");
        }
    }
    hasher.finalize()
}
