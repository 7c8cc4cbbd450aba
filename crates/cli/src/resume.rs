//! `run --suspend`, `resume` and `suspended`: runs that are suspended until their held effects are
//! decided.
//!
//! Invariant: effects that are not approved are not performed. Unless they are refused, the run is
//! suspended again.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use toolcell::{
    CallbackTicket, CancelToken, EffectApprover, EffectDecision, Lang, ResumeRequest, RunError, RunOptions, RunOutcome,
    SuspendedRun, SuspendedRunInfo, Toolbox, single_line,
};

use crate::args::{ResumeArgs, SandboxArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::held_effects::{self, ContentDetail, EffectPlan, PlanOptions};
use crate::policy_files::PolicyFiles;
use crate::progress::Progress;
use crate::run::{self, OutputFormat};
use crate::table::{Column, Fit, Overflow, Table};
use crate::{Streams, toolbox};

pub(crate) fn resume(
    args: &ResumeArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, CliError> {
    let toolbox = toolbox::open_existing(dir, args.sandbox.config()?, rules)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start(&args.run));
    let otherwise = if args.refuse { EffectDecision::Refuse } else { EffectDecision::Defer };
    let content = if args.show_content { ContentDetail::Full } else { ContentDetail::SizeOnly };
    let of = PlanOptions { approved: &args.approve, fallback: otherwise, content };
    let plan = EffectPlan::new(&of, &toolbox, lang, streams, cancel, progress.as_ref())?;
    let options = RunOptions {
        caller: "cli".to_owned(),
        effect_approver: Some(Arc::clone(&plan) as Arc<dyn EffectApprover>),
        cancel: Some(cancel.clone()),
        partial: progress.as_ref().map(run::partial_sink),
        approver: streams.is_interactive().then(|| run::terminal_approver(lang, cancel, progress.as_ref())),
        ..RunOptions::default()
    };
    let state = toolbox.resume(&ResumeRequest { run: args.run.clone(), ..ResumeRequest::default() }, &options);
    run::end_progress(progress.as_ref());
    let shape = if json { OutputFormat::Json } else { OutputFormat::Plain };
    print_outcome(state, &toolbox, Some(&plan), shape, lang, streams)
}

/// Prints the outcome of a run that has finished or was suspended.
pub(crate) fn print_outcome(
    state: Result<RunOutcome, RunError>,
    toolbox: &Toolbox,
    plan: Option<&EffectPlan>,
    shape: OutputFormat,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let state = state?;
    let all = plan.and_then(|plan| plan.store(toolbox));
    let suspended_run = match state {
        RunOutcome::Finished(ran) => return run::print_finished(*ran, plan, all, shape, lang, streams),
        RunOutcome::Suspended(suspended_run) => suspended_run,
    };
    if shape == OutputFormat::Json {
        let held = plan.map(EffectPlan::lines).unwrap_or_default();
        let text = serde_json::to_string(&SuspendedOutput::from_run(suspended_run, held, all))
            .map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
        return Ok(Exit::Done);
    }
    let (word, hint) = match lang {
        Lang::En => ("suspended", "hint"),
        Lang::Ja => ("休止中", "ヒント"),
        Lang::Zh => ("已休眠", "提示"),
    };
    let colon = lang.colon();
    writeln!(streams.output, "{word}{colon}{}", suspended_run.run)?;
    streams.output.flush()?;
    if let Some(plan) = plan {
        held_effects::print(plan, all.as_deref(), lang, streams)?;
    }
    for CallbackTicket { function, ticket } in &suspended_run.tickets {
        writeln!(streams.errors, "{word}{colon}{} ({})", single_line(function), single_line(ticket))?;
    }
    let approves = all.map(|digest| format!(" --approve all:{digest}")).unwrap_or_default();
    writeln!(streams.errors, "{hint}{colon}toolcell resume {}{approves}", suspended_run.run)?;
    Ok(Exit::Done)
}

/// The JSON output of a suspended run.
#[derive(Serialize)]
struct SuspendedOutput {
    outcome: &'static str,
    run: String,
    tool: String,
    name: String,
    plan: Vec<held_effects::PlanLine>,
    /// The digest that approves all held effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    tickets: Vec<CallbackTicket>,
    bytes: u64,
    record: Option<String>,
}

impl SuspendedOutput {
    fn from_run(suspended_run: SuspendedRun, plan: Vec<held_effects::PlanLine>, plan_digest: Option<String>) -> Self {
        let SuspendedRun { run, tool, name, tickets, bytes, record, .. } = suspended_run;
        let (run, tool, name) = (run.to_string(), tool.to_string(), name.to_string());
        let record = record.map(|hash| hash.to_string());
        Self { outcome: "suspended", run, tool, name, plan, plan_digest, tickets, bytes, record }
    }
}

pub(crate) fn list(
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let runs_of_store = |toolbox: Toolbox| toolbox.suspended_runs().map_err(CliError::from);
    let toolbox =
        dir.exists().then(|| toolbox::open_existing(dir, SandboxArgs::single_call_config(), rules)).transpose()?;
    let runs_of_store = toolbox.map(runs_of_store).transpose()?.unwrap_or_default();
    if json {
        let runs: Vec<Value> = runs_of_store.iter().map(run_to_json).collect();
        writeln!(streams.output, "{}", json!({ "runs": runs }))?;
        return Ok(Exit::Done);
    }
    if runs_of_store.is_empty() {
        writeln!(streams.errors, "note: no run is suspended")?;
        return Ok(Exit::Done);
    }
    let titles = match lang {
        Lang::En => ["run", "tool", "caller", "since", "bytes"],
        Lang::Ja => ["実行", "ツール", "呼び出し元", "開始", "サイズ"],
        Lang::Zh => ["运行", "工具", "调用方", "开始", "大小"],
    };
    let fits = [(Fit::Whole, 0), (Fit::Text(12), 0), (Fit::Text(8), 0), (Fit::Whole, 1), (Fit::Number, 2)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare });
    let mut table = Table::new(columns.collect());
    for SuspendedRunInfo { run, name, caller, since, bytes, .. } in &runs_of_store {
        table.add_row([run.to_string(), name.clone(), caller.clone(), format_time(*since), bytes.to_string()]);
    }
    table.print(Overflow::Truncate, "toolcell suspended --json", streams)?;
    Ok(Exit::Done)
}

fn run_to_json(sleeper: &SuspendedRunInfo) -> Value {
    let SuspendedRunInfo { run, tool, name, caller, since, bytes } = sleeper;
    let (run, tool, since) = (run.to_string(), tool.to_string(), since.to_string());
    json!({ "run": run, "tool": tool, "name": name, "caller": caller, "since": since, "bytes": bytes })
}

/// Formats a timestamp with a precision of one second.
fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
