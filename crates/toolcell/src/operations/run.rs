//! `run_dynamic_tool`: runs a stored tool.
//!
//! Invariant: each attempt leaves one record and one audit line, also where a line returns early.

mod content;
mod error;
mod nested;

use std::cell::RefCell;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolcell_analysis::{EntryPoint, source_line};
use toolcell_error::ErrorCode;
use toolcell_flows::Label;
use toolcell_host::{Effects, HostCalls, Json, Outcome, Report};
use toolcell_i18n::{Message, message};
use toolcell_policy::LimitOverrides;
use toolcell_store::audit::Action;
use toolcell_store::{Entry, Fault};
use toolcell_tool::{Status, ToolId, ToolName};

pub use content::{ContentItem, ToolContent};
pub use error::{RunError, ToolFailure};

pub(super) use nested::NestedRuns;

use super::deprecate::replacement_for;
use super::hook_tools::StoredHookTools;
use super::lookup::{find_exact, find_tool};
use crate::admission::hook::{ApprovalPrompt, HookContext};
use crate::admission::{
    AdmissionError, AdmissionMode, AdmissionRequest, Called, DecisionStep, Permit, ReviewedRun, StoredTool, grant_hints,
};
use crate::execution::{AdmittedRun, LoadedTool, RunOptions, draw_seed};
use crate::host_calls::{CallerContext, EffectLog, FlowStart, NestingContext, OpenRequest, PlanChain};
use crate::parts::Parts;
use crate::receipt::{Receipt, ReceiptRecording, ReceiptSigner, signer_of};
use crate::records::{AttemptEnd, RunRecorder};
use crate::request::RunTool;
use crate::verification::postconditions::ReturnsCheck;

/// The result of a run that took place, whatever its outcome.
#[derive(Debug, Clone)]
#[must_use = "a tool that failed is in here as well"]
pub struct RunResult {
    /// The tool's identifier.
    pub tool: ToolId,
    /// The tool's name.
    pub name: ToolName,
    /// The report of the call, as revised by the hooks.
    pub report: Report,
    /// What a model reads of the value, if the tool comes from a factory and returned
    /// `{ content, details? }`.
    pub content: Option<ToolContent>,
    /// Text that hooks add for the model.
    pub context: Vec<HookContext>,
    /// Whether a hook hides the output from the model. The report still contains it.
    pub output_suppressed: bool,
    /// The hook that changed the outcome.
    pub revised_by: Option<String>,
    /// The deprecation of the tool, if it is deprecated.
    pub deprecated: Option<Deprecation>,
    /// The line of the tool's source at which it threw, if it did.
    pub thrown_at: Option<SourceLine>,
    /// The host calls that were performed for the run.
    pub effect_log: Option<EffectLog>,
    /// The extent to which the run and the tools that it called changed external state: `none` for
    /// read-only runs.
    pub effects: Effects,
    /// Where the data came from that the run was handed, and so what its result may tell, if the policy has rules about
    /// flows.
    pub label: Option<Label>,
    /// The hash of the run record in the store.
    pub record: Option<blake3::Hash>,
    /// Why the run is not recorded, or not completely yet; the policy permits it to run anyway.
    pub unrecorded: Option<Message>,
    /// The receipt, if one was requested: of the run before the hooks' revisions.
    pub receipt: Option<Box<Receipt>>,
}

/// A position in the source of a tool, and the text of that line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in UTF-16 units, counted from 1.
    pub column: u32,
    /// The text of the line; of a long one, at most 240 bytes around the column.
    pub text: String,
}

impl SourceLine {
    /// Returns the line of a source at which a call threw.
    pub(crate) fn of_exception(source: &str, report: &Report) -> Option<Self> {
        let Outcome::Threw(thrown) = &report.outcome else { return None };
        let (line, column) = thrown.line.zip(thrown.column)?;
        let text = source_line(source, line, column);
        (!text.trim().is_empty()).then_some(Self { line, column, text })
    }
}

/// The deprecation of a tool, which still works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecation {
    /// The tool to use instead, if there is one.
    pub successor: Option<ToolName>,
}

impl RunResult {
    /// Returns the tool's result: JSON text, or `None` for `undefined`.
    ///
    /// # Errors
    /// `tool-failed`, and the codes of the limits: the tool did not return.
    pub fn value(&self) -> Result<Option<&Json>, ToolFailure> {
        ToolFailure::check(&self.report)
    }

    /// Deserializes the tool's result. `undefined` is read as `null`.
    ///
    /// # Errors
    /// `tool-failed`, and the codes of the limits: the tool did not return. `value-mismatch`: the
    /// value is not a `T`.
    ///
    /// # Examples
    /// ```no_run
    /// # fn example(ran: &toolcell::RunResult) -> Result<(), toolcell::ValueError> {
    /// let mean: f64 = ran.value_as()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn value_as<T: DeserializeOwned>(&self) -> Result<T, ValueError> {
        let text = self.value()?.map_or("null", Json::as_str);
        serde_json::from_str(text).map_err(|error| ValueError::Mismatch { reason: error.to_string() })
    }
}

/// The error of reading a tool's result as a type.
#[derive(Debug, Clone, PartialEq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ValueError {
    /// The tool did not return.
    #[error(transparent)]
    #[coded(transparent)]
    Failed(#[from] ToolFailure),
    /// The value has another type.
    #[error("the result is of another type: {reason}")]
    #[code(ValueMismatch)]
    Mismatch {
        /// What differs, and where.
        reason: String,
    },
}

/// Returns how the value of a run differs from the result that the tool declares. A tool that was
/// deleted meanwhile declares nothing.
pub(crate) fn result_problem(parts: &Parts, ran: &RunResult) -> Option<Message> {
    let value = serde_json::from_str(ran.value().ok()??.as_str()).ok()?;
    let store = parts.require_store().ok()?;
    let entry = find_exact(store, ran.tool).ok()??;
    let notes = store.catalog().metadata(&entry).ok()?;
    ReturnsCheck::new(notes.postconditions()).check(&value).err().map(|error| error.detail())
}

/// The decision about a run that is not performed: every step, and the result.
#[derive(Debug)]
pub struct Explanation {
    /// The steps of the decision, in order.
    pub steps: Vec<DecisionStep>,
    /// `Ok` if the tool would run; otherwise why not.
    pub admitted: Result<(), RunError>,
    /// The prompts that an approver would get before it runs: without them it runs at once.
    pub prompts: Vec<ApprovalPrompt>,
}

/// Runs a stored tool.
///
/// A failure of the tool is part of the result; an error means that the run did not take place.
pub(crate) fn run(parts: &Parts, request: &RunTool, options: &RunOptions) -> Result<RunResult, RunError> {
    let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
    let mut attempted =
        RunRecorder::start(&parts.recorder, Action::RunDynamicTool, &options.caller, called, &request.parameters)?;
    attempted.tokens_saved = options.tokens_saved;
    attempted.time_saved = options.time_saved;
    attempted.set_claims(&options.claims);
    let mut done = run_inner(parts, request, options, &mut attempted, None);
    if parts.keeps_receipts()
        && let Ok(RunResult { receipt, revised_by, output_suppressed, .. }) = &mut done
    {
        // What a hook hides or replaces is not kept.
        if let Some(receipt) = receipt
            && revised_by.is_none()
            && !*output_suppressed
        {
            attempted.keep_receipt(receipt.to_text());
        }
        // The caller gets a receipt only on request.
        *receipt = receipt.take().filter(|_| options.receipt);
    }
    let ended = match &done {
        Ok(_) => AttemptEnd::Completed,
        Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
    };
    let (.., effects) = attempted.consumed();
    let record = attempted.finish(ended).map_err(|source| RunError::RecordFailed { source, effects });
    let mut ran = done?;
    let recorded = record?;
    (ran.record, ran.unrecorded) = (recorded.record, recorded.unrecorded);
    Ok(ran)
}

/// Admits and runs the tool.
fn run_inner(
    parts: &Parts,
    request: &RunTool,
    options: &RunOptions,
    attempted: &mut RunRecorder<'_>,
    within: Option<&CallerContext<'_>>,
) -> Result<RunResult, RunError> {
    let signer = match signer_of_run(parts, options, within)? {
        None if options.receipt => return Err(RunError::NoReceiptKey),
        signer => signer,
    };
    let admitted = admit_run(parts, request, options, attempted, within)?;
    run_admitted(parts, admitted, signer, attempted)
}

/// Returns the signer of the receipt, if one is requested or kept. The receipt of a run contains the results of the tools
/// that it called, so those have none of their own.
fn signer_of_run(
    parts: &Parts,
    options: &RunOptions,
    within: Option<&CallerContext<'_>>,
) -> Result<Option<ReceiptSigner>, Fault> {
    if options.receipt {
        return signer_of(parts.store.as_deref());
    }
    if within.is_some() || !parts.keeps_receipts() {
        return Ok(None);
    }
    // Without a key, the run is recorded without a receipt.
    Ok(signer_of(parts.store.as_deref()).unwrap_or_else(|fault| {
        tracing::warn!(%fault, "the receipt of the run cannot be signed");
        None
    }))
}

/// Admits a run: each step turns a weaker proof into a stronger one.
pub(super) fn admit_run<'a>(
    parts: &'a Parts,
    request: &RunTool,
    options: &'a RunOptions,
    attempted: &mut RunRecorder<'_>,
    within: Option<&CallerContext<'_>>,
) -> Result<AdmittedRun<'a>, RunError> {
    if within.is_none() {
        parts.require_store()?.check_view()?;
    }
    let entry = find_tool(parts, request.tool_id.as_deref(), request.tool_name.as_deref())?;
    attempted.set_tool(entry.id, &entry.name);
    let ready = parts.load_tool(&entry)?;
    let budget = parts.admission.policy().budget(&requested_limits(request, options))?;
    let budget = within.map_or(budget, |within| within.limit_budget(budget));
    let schema = ready.schema()?;
    let args = schema.check(request.parameters.clone())?;
    let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
    let hook_tools = StoredHookTools::new(parts, options.on_overload);
    let subject = AdmissionRequest {
        name: entry.name.as_str(),
        schema,
        requested: tool.requested_capabilities(),
        called: Called::Tool(StoredTool { store: parts.require_store()?, entry: &entry, tool }),
        hook_tools: &hook_tools,
    };
    let purpose = options.admission_mode();
    let permit = match parts.admission.admit(&subject, args, budget, purpose, &mut Vec::new()) {
        Ok(permit) => permit,
        Err(error) => {
            if let AdmissionError::Denied(denial) = &error {
                attempted.set_decider(&denial.denied_by);
                let args = serde_json::from_str(request.parameters.as_str()).unwrap_or_default();
                let (called, why) = ((entry.name.as_str(), Some(entry.id)), denial.to_string());
                let caller = options.admission_mode().caller();
                parts.admission.notify_refused(called, args, &caller, (ErrorCode::PermissionDenied, why), &hook_tools);
            }
            return Err(error.into());
        }
    };
    let permit = match within {
        Some(within) => permit.restricted_to(within.grants),
        None => permit,
    };
    attempted.set_permit(&permit);
    let random = draw_seed(permit.grants())?;
    attempted.set_seed(random);
    let call_id = attempted.call_id();
    let begin = || options.effect_approver.as_ref().map(|_| PlanChain::new(entry.id, permit.args().params().as_str()));
    let plan = within.map_or_else(|| begin().map(Arc::new), |within| within.plan.clone());
    let given = parts.resources.open_grants(
        parts.resource_context(),
        OpenRequest {
            grants: permit.grants(),
            tool: entry.id,
            name: entry.name.as_str(),
            params: permit.args().params().as_str(),
            call_id: &call_id,
            effect_approver: options.effect_approver.as_deref(),
            approver: options.approver.clone(),
            functions: &options.functions,
            nested: Box::new(NestedRuns::new(parts, options)),
            nesting: NestingContext { caller: within, plan },
            flow: FlowStart {
                tool: Some(entry.name.as_str()),
                caller: &options.caller,
                context: &options.context,
                resumed: None,
                under_way: within.map(|within| (within.under_way, within.is_alone)),
            },
        },
    )?;
    let ready = Arc::clone(&ready);
    Ok(AdmittedRun { entry, ready, permit, drawn_seed: random, environment: given, options, clock: parts.clock })
}

/// Runs an admitted call without suspension, and signs a receipt if a signer is given. The receipt
/// has the inputs and the result of the tool itself, before hints are added to the report.
pub(super) fn run_admitted(
    parts: &Parts,
    admitted: AdmittedRun<'_>,
    signer: Option<ReceiptSigner>,
    attempted: &mut RunRecorder<'_>,
) -> Result<RunResult, RunError> {
    let recording = signer.map(|signer| ReceiptRecording::new(&admitted.environment, signer));
    let host_calls: &dyn HostCalls = recording.as_ref().map_or(&admitted.environment, ReceiptRecording::operations);
    let report = parts.runtime.call_admitted(&admitted, host_calls, |run, report| {
        if let (Some(recording), Ok(tool)) = (&recording, &admitted.ready.vetted) {
            let AdmittedRun { entry, permit, .. } = &admitted;
            recording.finish(parts.runtime.image(), &entry.name, tool, permit, (run, report));
        }
    });
    let receipt = recording.and_then(ReceiptRecording::into_receipt);
    attempted.set_environment(&admitted.environment);
    let (mut report, AdmittedRun { entry, ready, permit, options, .. }) = (report?, admitted);
    if let Ok(tool) = &ready.vetted {
        grant_hints::add_grant_hint(&mut report, &entry, tool, permit.grants(), parts.admission.policy());
    }
    let hook_tools = StoredHookTools::new(parts, options.on_overload);
    review_run(parts, entry, &ready, permit, report, (attempted, &hook_tools)).map(|ran| RunResult { receipt, ..ran })
}

/// Runs the post-run hooks and builds the caller's result.
pub(super) fn review_run(
    parts: &Parts,
    entry: Entry,
    ready: &LoadedTool,
    permit: Permit,
    report: Report,
    (attempted, hook_tools): (&mut RunRecorder<'_>, &StoredHookTools<'_>),
) -> Result<RunResult, RunError> {
    attempted.set_report(&report);
    let (.., effects) = attempted.consumed();
    let seen = parts.admission.run_post_hooks(entry.name.as_str(), Some(entry.id), permit, report, hook_tools);
    let ReviewedRun { report, context, output_suppressed: suppressed, revised_by } =
        seen.map_err(|denial| RunError::Withheld { denial, effects })?;
    let source = ready.vetted.as_ref().map(|tool| tool.spec().source());
    let thrown_at = source.ok().and_then(|source| SourceLine::of_exception(source, &report));
    let deprecated = deprecation(parts, &entry);
    let is_factory = ready.vetted.as_ref().is_ok_and(|tool| tool.entry_point() == EntryPoint::Factory);
    let content = if is_factory { ToolContent::of_report(&report) } else { None };
    let (tool, name, done) = (entry.id, entry.name, attempted.effect_log());
    Ok(RunResult {
        tool,
        name,
        report,
        content,
        context,
        output_suppressed: suppressed,
        revised_by,
        deprecated,
        thrown_at,
        effect_log: done,
        effects,
        label: attempted.flow_label().cloned(),
        record: None,
        unrecorded: None,
        receipt: None,
    })
}

/// Returns the deprecation of a deprecated tool. A store error counts as no successor, because
/// the tool did run.
fn deprecation(parts: &Parts, entry: &Entry) -> Option<Deprecation> {
    let successor = || replacement_for(parts, entry).ok().flatten().map(|successor| successor.name);
    (entry.status == Status::Deprecated).then(|| Deprecation { successor: successor() })
}

/// Explains, step by step, how a run would be decided, and runs nothing. Hooks are asked and
/// reported; the approver is not.
pub(crate) fn explain(parts: &Parts, request: &RunTool, options: &RunOptions) -> Explanation {
    let (mut steps, prompts) = (Vec::new(), RefCell::default());
    let admitted = explain_steps(parts, request, options, &mut steps, &prompts);
    Explanation { steps, admitted, prompts: prompts.into_inner() }
}

fn explain_steps(
    parts: &Parts,
    request: &RunTool,
    options: &RunOptions,
    steps: &mut Vec<DecisionStep>,
    prompts: &RefCell<Vec<ApprovalPrompt>>,
) -> Result<(), RunError> {
    let mut say = |stage, rule: Message, verdict: Message, reason: Message| {
        steps.push(DecisionStep { stage, rule, verdict, reason });
    };
    let entry = find_tool(parts, request.tool_id.as_deref(), request.tool_name.as_deref())?;
    let (name, found) = (entry.name.to_string(), format!("{} ({})", entry.id, entry.status.name()));
    say("tool", Message::verbatim(name), message!("found"), Message::verbatim(found));
    let ready = parts.load_tool(&entry)?;
    let budget = parts.admission.policy().budget(&requested_limits(request, options))?;
    for (limit, value, origin) in parts.admission.policy().limits_with_origins(&requested_limits(request, options)) {
        let (limit, value) = (limit.name().to_owned(), value.to_string());
        say("limits", Message::verbatim(limit), Message::verbatim(value), origin);
    }
    let schema = ready.schema()?;
    let args = schema.check(request.parameters.clone())?;
    let shown = args.params().as_str().chars().take(200).collect();
    say("parameters", message!("declared"), message!("pass"), Message::verbatim(shown));
    let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
    let worst = tool.worst_finding().map_or_else(
        || message!("no findings"),
        |worst| {
            let (severity, finding) = (worst.severity, &worst.message);
            message!("the worst finding is {severity}: {finding}", severity, finding)
        },
    );
    let score = format!("{:.2}", tool.safety().score);
    say("analysis", message!("safety {score}", score), message!("pass"), worst);
    let subject = AdmissionRequest {
        name: entry.name.as_str(),
        schema,
        requested: tool.requested_capabilities(),
        called: Called::Tool(StoredTool { store: parts.require_store()?, entry: &entry, tool }),
        hook_tools: &StoredHookTools::new(parts, options.on_overload),
    };
    let mode = AdmissionMode::Explain { prompts, caller: &options.caller, claims: &options.claims };
    parts.admission.admit(&subject, args, budget, mode, steps)?;
    Ok(())
}

/// Returns the limits that a request asks for.
fn requested_limits(request: &RunTool, options: &RunOptions) -> LimitOverrides {
    LimitOverrides { timeout_ms: request.timeout_ms.or(options.limits.timeout_ms), ..options.limits }
}
