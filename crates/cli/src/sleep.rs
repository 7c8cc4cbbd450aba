//! `run --sleep`, `resume` and `asleep`: runs that sleep until somebody has decided what they may do.
//!
//! Invariant: what is not approved does not happen, and, unless it is refused, the run sleeps on.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use toolcell::{
    Asleep, CancelToken, Choice, Lang, Planner, ResumeRun, RunError, RunOptions, RunState, Sleeper, Ticket, Toolbox,
    line,
};

use crate::args::{ResumeArgs, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::{self, Content, Plan, PlanOptions};
use crate::progress::Progress;
use crate::rules::Rules;
use crate::run::{self, Shape};
use crate::table::{Column, Fit, Table, TooLong};
use crate::{Streams, open};

pub(crate) fn resume(
    args: &ResumeArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, args.sandbox.config(), rules)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start(&args.run));
    let otherwise = if args.refuse { Choice::Refuse } else { Choice::Later };
    let content = if args.show_content { Content::Shown } else { Content::Sized };
    let of = PlanOptions { approved: &args.approve, otherwise, content };
    let plan = Plan::new(&of, &toolbox, lang, streams, cancel, progress.as_ref())?;
    let options = RunOptions {
        caller: "cli".to_owned(),
        plan: Some(Arc::clone(&plan) as Arc<dyn Planner>),
        cancel: Some(cancel.clone()),
        partial: progress.as_ref().map(run::partial),
        person: streams.somebody_is_there().then(|| run::person(lang, cancel, progress.as_ref())),
        ..RunOptions::default()
    };
    let state = toolbox.resume(&ResumeRun { run: args.run.clone(), ..ResumeRun::default() }, &options);
    run::end(progress.as_ref());
    let shape = if json { Shape::Json } else { Shape::Plain };
    print(state, &toolbox, Some(&plan), shape, lang, streams)
}

/// What came of a run that may have fallen asleep.
pub(crate) fn print(
    state: Result<RunState, RunError>,
    toolbox: &Toolbox,
    plan: Option<&Plan>,
    shape: Shape,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let state = state?;
    let all = plan.and_then(|plan| plan.keep(toolbox));
    let asleep = match state {
        RunState::Ended(ran) => return run::finish(*ran, plan, all, shape, lang, streams),
        RunState::Asleep(asleep) => asleep,
    };
    if shape == Shape::Json {
        let held = plan.map(Plan::lines).unwrap_or_default();
        let text = serde_json::to_string(&Body::of(asleep, held, all)).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
        return Ok(Exit::Done);
    }
    let (word, hint) = match lang {
        Lang::En => ("asleep", "hint"),
        Lang::Ja => ("休止中", "ヒント"),
        Lang::Zh => ("已休眠", "提示"),
    };
    let colon = lang.colon();
    writeln!(streams.output, "{word}{colon}{}", asleep.run)?;
    streams.output.flush()?;
    if let Some(plan) = plan {
        plan::print(plan, all.as_deref(), lang, streams)?;
    }
    for Ticket { function, ticket } in &asleep.tickets {
        writeln!(streams.errors, "{word}{colon}{} ({})", line(function), line(ticket))?;
    }
    let approves = all.map(|digest| format!(" --approve all:{digest}")).unwrap_or_default();
    writeln!(streams.errors, "{hint}{colon}toolcell resume {}{approves}", asleep.run)?;
    Ok(Exit::Done)
}

/// A run that sleeps, in JSON.
#[derive(Serialize)]
struct Body {
    outcome: &'static str,
    run: String,
    tool: String,
    name: String,
    plan: Vec<plan::Line>,
    /// The digest under which all that is held can be approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    tickets: Vec<Ticket>,
    bytes: u64,
    record: Option<String>,
}

impl Body {
    fn of(asleep: Asleep, plan: Vec<plan::Line>, plan_digest: Option<String>) -> Self {
        let Asleep { run, tool, name, tickets, bytes, record, .. } = asleep;
        let (run, tool, name) = (run.to_string(), tool.to_string(), name.to_string());
        let record = record.map(|hash| hash.to_string());
        Self { outcome: "asleep", run, tool, name, plan, plan_digest, tickets, bytes, record }
    }
}

pub(crate) fn list(
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let sleepers = |toolbox: Toolbox| toolbox.sleepers().map_err(Failure::from);
    let toolbox = dir.exists().then(|| open::existing(dir, SandboxArgs::one_call(), rules)).transpose()?;
    let sleepers = toolbox.map(sleepers).transpose()?.unwrap_or_default();
    if json {
        let runs: Vec<Value> = sleepers.iter().map(in_json).collect();
        writeln!(streams.output, "{}", json!({ "runs": runs }))?;
        return Ok(Exit::Done);
    }
    if sleepers.is_empty() {
        writeln!(streams.errors, "note: no run is asleep")?;
        return Ok(Exit::Done);
    }
    let titles = match lang {
        Lang::En => ["run", "tool", "caller", "since", "bytes"],
        Lang::Ja => ["実行", "ツール", "呼び出し元", "開始", "サイズ"],
        Lang::Zh => ["运行", "工具", "调用方", "开始", "大小"],
    };
    let fits = [(Fit::Whole, 0), (Fit::Text(12), 0), (Fit::Text(8), 0), (Fit::Whole, 1), (Fit::Number, 2)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, spare });
    let mut table = Table::new(columns.collect());
    for Sleeper { run, name, caller, since, bytes, .. } in &sleepers {
        table.row([run.to_string(), name.clone(), caller.clone(), at(*since), bytes.to_string()]);
    }
    table.print(TooLong::Cut, "toolcell asleep --json", streams)?;
    Ok(Exit::Done)
}

fn in_json(sleeper: &Sleeper) -> Value {
    let Sleeper { run, tool, name, caller, since, bytes } = sleeper;
    let (run, tool, since) = (run.to_string(), tool.to_string(), since.to_string());
    json!({ "run": run, "tool": tool, "name": name, "caller": caller, "since": since, "bytes": bytes })
}

/// A time, to the second.
fn at(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
