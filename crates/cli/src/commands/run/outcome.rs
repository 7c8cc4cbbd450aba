//! Prints how a run ended: finished, or suspended until its held effects are decided.

use serde::Serialize;
use toolcell::{
    CallbackTicket, DeprecationResponse, EffectLog, HookContextResponse, Label, Lang, Outcome, Report, RunError,
    RunOutcome, RunResult, SuspendedRun, Toolbox, missing_capability, single_line,
};
use toolcell_i18n::{Message, message, tr};

use crate::commands::held_effects::{self, EffectPlan, PlanLine};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::run::{print_logs_and_warnings, print_text};
use crate::response::CommandResponse;
use crate::streams::Streams;

/// The output format of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFormat {
    /// One JSON object.
    Json,
    /// The text that a model would receive.
    ModelText,
    /// The result on standard output, and everything else on standard error.
    Plain,
}

/// How a run is printed.
pub(crate) struct RunView<'a> {
    pub(crate) toolbox: &'a Toolbox,
    /// The held effects, if the run has a plan.
    pub(crate) plan: Option<&'a EffectPlan>,
    pub(crate) format: RunFormat,
}

/// Prints the outcome of a run that has finished or was suspended.
pub(crate) fn print_outcome(
    state: Result<RunOutcome, RunError>,
    view: &RunView<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let state = state?;
    let plan = view.plan;
    let all = plan.and_then(|plan| plan.store(view.toolbox));
    let suspended_run = match state {
        RunOutcome::Finished(ran) => return print_finished(*ran, view, all, context),
        RunOutcome::Suspended(suspended_run) => suspended_run,
    };
    let Context { ref mut streams, lang, .. } = *context;
    if view.format == RunFormat::Json {
        let held = plan.map(EffectPlan::lines).unwrap_or_default();
        let text = serde_json::to_string(&SuspendedOutput::from_run(suspended_run, held, all))
            .map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
        return Ok(Exit::Done);
    }
    let (word, colon) = (tr!(lang, "suspended"), lang.colon());
    writeln!(streams.output, "{word}{colon}{}", suspended_run.run)?;
    streams.output.flush()?;
    if let Some(plan) = plan {
        held_effects::print(plan, all.as_deref(), lang, streams)?;
    }
    for CallbackTicket { function, ticket } in &suspended_run.tickets {
        writeln!(streams.errors, "{word}{colon}{} ({})", single_line(function), single_line(ticket))?;
    }
    let approves = all.map(|digest| format!(" --approve all:{digest}")).unwrap_or_default();
    streams.print_hint(&Message::verbatim(format!("toolcell resume {}{approves}", suspended_run.run)), lang)?;
    Ok(Exit::Done)
}

/// Prints a finished run and its held effects.
fn print_finished(
    ran: RunResult,
    view: &RunView<'_>,
    all: Option<String>,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let exit = Exit::from_outcome(&ran.report.outcome);
    let Context { ref mut streams, lang, .. } = *context;
    match view.format {
        RunFormat::Json => {
            let held = view.plan.map(EffectPlan::lines);
            let text =
                serde_json::to_string(&RunOutput { plan: held, plan_digest: all, ..RunOutput::from_result(ran) })
                    .map_err(std::io::Error::from)?;
            writeln!(streams.output, "{text}")?;
            streams.output.flush()?;
            return Ok(exit);
        }
        RunFormat::ModelText => {
            print_logs_and_warnings(&ran.report, lang, streams)?;
            let text = streams.escape_for_output(&ran.to_text(lang));
            writeln!(streams.output, "{text}")?;
        }
        RunFormat::Plain => {
            let hint = grant_hint(&ran, view.toolbox);
            print_plain(ran, lang, streams)?;
            if let Some(hint) = hint {
                streams.print_hint(&hint, lang)?;
            }
        }
    }
    streams.output.flush()?;
    if let Some(plan) = view.plan {
        held_effects::print(plan, all.as_deref(), lang, streams)?;
    }
    Ok(exit)
}

/// Returns the command that grants what a tool failed for.
fn grant_hint(ran: &RunResult, toolbox: &Toolbox) -> Option<Message> {
    let capability = missing_capability(&ran.report)?;
    let missing = toolbox.approval_prompt(&ran.tool.to_string()).ok()?.tool_approval?.missing.clone();
    let words: Vec<&str> =
        missing.iter().filter(|one| one.capability == capability).map(|one| one.text.as_str()).collect();
    let (name, words) = (&ran.name, words.join(" "));
    (!words.is_empty()).then(|| message!("`toolcell grant {name} {words}` grants it", name, words))
}

/// Prints the result to standard output, and everything else to standard error.
fn print_plain(ran: RunResult, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let suppressed = ran.output_suppressed;
    let deprecated = ran.deprecated.as_ref().map(|deprecation| deprecation.to_text(&ran.name, lang));
    let (unrecorded, content) = (ran.unrecorded.clone(), ran.content.clone());
    let (report, context) = visible_result(ran);
    match content.filter(|_| !suppressed) {
        Some(content) => {
            print_logs_and_warnings(&report, lang, streams)?;
            writeln!(streams.output, "{}", streams.escape_for_output(&content.to_text()))?;
        }
        None => print_text(&report, lang, streams)?,
    }
    if let Some(why) = unrecorded {
        streams.print_warning(&message!("this run was not fully recorded: {reason}", reason = why), lang)?;
    }
    if let Some(text) = deprecated {
        streams.print_note(&Message::verbatim(text), lang)?;
    }
    for HookContextResponse { hook, text } in context {
        let line = tr!(lang, "note ({hook}): {text}", hook = single_line(&hook), text = single_line(&text));
        writeln!(streams.errors, "{line}")?;
    }
    if suppressed {
        streams.print_note(&message!("a hook suppressed the output"), lang)?;
    }
    Ok(())
}

/// Splits a result into the report, without output that a hook suppressed, and the context that
/// hooks added.
pub(crate) fn visible_result(ran: RunResult) -> (Report, Vec<HookContextResponse>) {
    let RunResult { mut report, context, output_suppressed: suppressed, .. } = ran;
    if suppressed && matches!(report.outcome, Outcome::Returned(_)) {
        report.outcome = Outcome::Returned(None);
    }
    (report, context.into_iter().map(HookContextResponse::from).collect())
}

/// The JSON output of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunOutput {
    tool: String,
    name: String,
    #[serde(flatten)]
    answer: CommandResponse,
    record: Option<String>,
    /// Why the run is not recorded, or not completely yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrecorded: Option<String>,
    context: Vec<HookContextResponse>,
    suppressed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    revised_by: Option<String>,
    /// The effects of the run outside the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<EffectLog>,
    /// Where the data came from that the run was handed, if the policy has rules about flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    /// The held effects, in a run with a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<PlanLine>>,
    /// The digest that approves all remaining held effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    /// The deprecation of the tool, with its successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<DeprecationResponse>,
}

impl RunOutput {
    fn from_result(mut ran: RunResult) -> Self {
        let (tool, name, suppressed) = (ran.tool.to_string(), ran.name.to_string(), ran.output_suppressed);
        let (record, revised_by) = (ran.record.map(|hash| hash.to_string()), ran.revised_by.take());
        let (done, effects, unrecorded) = (ran.effect_log.take(), ran.effects, ran.unrecorded.take());
        let labels = ran.label.as_ref().map(Label::to_texts);
        let deprecated = ran.deprecated.as_ref().map(DeprecationResponse::from);
        let (report, context) = visible_result(ran);
        let answer = CommandResponse::from_report(None, report).with_effects(effects);
        Self {
            tool,
            name,
            answer,
            record,
            unrecorded: unrecorded.map(|reason| reason.to_string()),
            context,
            suppressed,
            revised_by,
            done,
            labels,
            plan: None,
            plan_digest: None,
            deprecated,
        }
    }
}

/// The JSON output of a suspended run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SuspendedOutput {
    outcome: &'static str,
    run: String,
    tool: String,
    name: String,
    plan: Vec<PlanLine>,
    /// The digest that approves all held effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    tickets: Vec<CallbackTicket>,
    bytes: u64,
    record: Option<String>,
}

impl SuspendedOutput {
    fn from_run(suspended_run: SuspendedRun, plan: Vec<PlanLine>, plan_digest: Option<String>) -> Self {
        let SuspendedRun { run, tool, name, tickets, bytes, record, .. } = suspended_run;
        let (run, tool, name) = (run.to_string(), tool.to_string(), name.to_string());
        let record = record.map(|hash| hash.to_string());
        Self { outcome: "suspended", run, tool, name, plan, plan_digest, tickets, bytes, record }
    }
}
