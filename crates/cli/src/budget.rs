//! `budget`: what tools may cost, measured anew or learned from their runs.
//!
//! Invariant: fuel that was counted under another model counts for nothing.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcell::store::{RUN, Record};
use toolcell::{CancelToken, Lang, RunRecord, ShowError, visible};
use toolcell_testing::report;
use toolcell_testing::{
    Budgets, Learned, Limit, Method, RunCost, RunOptions, Suite, Tested, learn, model, rebase, run as run_suites,
};

use crate::args::{BudgetArgs, BudgetCommand, LearnArgs, RebaseArgs, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::unwritable;
use crate::rules::Rules;
use crate::test::{exit, read, tell_in_text, toolbox, visible_lines};
use crate::{Streams, input, open};

/// The most runs of a tool that are looked at, the newest.
const RUNS: usize = 100_000;
/// The longest file of runs, in bytes.
const RUNS_LIMIT: u64 = 256 << 20;

pub(crate) fn run(
    args: &BudgetArgs,
    rules: Result<Rules, Failure>,
    dir: Result<std::path::PathBuf, Failure>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    match &args.command {
        BudgetCommand::Rebase(args) => rebased(args, json, lang, streams, cancel),
        BudgetCommand::Learn(args) => {
            let (costs, passed_over) = match (&args.runs, &args.tool) {
                (Some(path), _) => in_file(path, streams)?,
                (None, tool) => in_store(tool.as_deref().unwrap_or_default(), &rules?, &dir?)?,
            };
            learned(args, &costs, passed_over, json, streams)
        }
    }
}

/// Measures, and writes what was measured.
fn rebased(
    args: &RebaseArgs,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let (suites, problems) = read(&args.paths, Suite::read_outdated)?;
    let options = RunOptions { budgets: Budgets::Ignored, cancel: Some(cancel.clone()), ..RunOptions::default() };
    let tested = if problems.is_empty() {
        run_suites(&suites, &toolbox(args.sandbox.config(), 0)?, &options)
    } else {
        Tested { problems, ..Tested::default() }
    };
    let files = if tested.cancelled || !tested.problems.is_empty() { Vec::new() } else { rebase(&suites, &tested) };
    for file in files.iter().filter(|_| !args.dry_run) {
        file.write().map_err(unwritable(&file.path))?;
    }
    if json {
        let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        let tests: Value = serde_json::from_str(&report::json(&tested)).unwrap_or_default();
        let body = json!({ "model": model(), "rewritten": paths, "written": !args.dry_run, "tests": tests });
        writeln!(streams.output, "{body}")?;
    } else {
        for file in &files {
            write!(streams.output, "{}", visible_lines(&file.diff()))?;
        }
        if !tested.is_good() {
            tell_in_text(&tested, lang, streams)?;
        }
        // Where a file is wrong, none is measured.
        if !tested.problems.is_empty() {
            return Ok(exit(&tested));
        }
        let word = match (lang, args.dry_run) {
            (Lang::En, true) => "to be rewritten",
            (Lang::En, false) => "rewritten",
            (Lang::Ja, true) => "書き換え対象",
            (Lang::Ja, false) => "書き換え済み",
            (Lang::Zh, true) => "待改写",
            (Lang::Zh, false) => "已改写",
        };
        writeln!(streams.output, "{}: {word} {} / {}", model(), files.len(), suites.len())?;
    }
    streams.output.flush()?;
    Ok(exit(&tested))
}

/// The runs of a stored tool that count, and how many do not.
fn in_store(tool: &str, rules: &Rules, dir: &Path) -> Result<(Vec<RunCost>, usize), Failure> {
    let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
    let entry = toolbox.find(tool).map_err(ShowError::from)?;
    let Some(store) = toolbox.store() else { return Ok((Vec::new(), 0)) };
    let records = store.records_of_kind(entry.id, RUN, RUNS)?;
    let costs: Vec<RunCost> = records.iter().filter_map(|(_, record)| cost_of_record(record)).collect();
    let passed_over = records.len() - costs.len();
    Ok((costs, passed_over))
}

/// What a run took that ended by itself and was counted under this model.
fn cost_of_record(record: &Record) -> Option<RunCost> {
    let record: RunRecord = serde_json::from_slice(&record.body).ok()?;
    let used = record.used.filter(|_| matches!(record.outcome.as_str(), "returned" | "threw"))?;
    let counted_under = format!("{} wasmtime-{}", used.guest, used.engine);
    (counted_under == model()).then_some(RunCost { fuel: used.fuel, memory: used.memory_bytes, micros: used.micros })
}

/// The runs in a file, one a line.
fn in_file(path: &Path, streams: &mut Streams<'_>) -> Result<(Vec<RunCost>, usize), Failure> {
    let text = match path.to_str() {
        Some("-") => input::said("-", RUNS_LIMIT, streams)?,
        _ => input::file(path, RUNS_LIMIT)?,
    };
    let (mut costs, mut passed_over) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let run: RawRun<'_> = serde_json::from_str(line).map_err(|error| Failure::Typed {
            message: format!("{}:{}: no run: {error}", path.display(), number + 1),
            hint: "hand in runs as `toolcell exec --json` prints them, one a line",
        })?;
        match cost_of(&run) {
            Some(cost) => costs.push(cost),
            None => passed_over += 1,
        }
    }
    Ok((costs, passed_over))
}

/// What counts of a run, as it is written: results of any length stand beside it.
#[derive(Deserialize)]
struct RawRun<'a> {
    #[serde(borrow)]
    outcome: Option<&'a RawValue>,
    #[serde(borrow)]
    duration_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    fuel: Option<&'a RawValue>,
    #[serde(borrow)]
    memory_bytes: Option<&'a RawValue>,
}

fn cost_of(run: &RawRun<'_>) -> Option<RunCost> {
    if !matches!(run.outcome?.get(), "\"returned\"" | "\"threw\"") {
        return None;
    }
    let millis = run.duration_ms?.get().parse::<f64>().ok()?;
    let duration = std::time::Duration::try_from_secs_f64(millis / 1000.0).ok()?;
    let micros = u64::try_from(duration.as_micros()).ok()?;
    Some(RunCost { fuel: run.fuel?.get().parse().ok()?, memory: run.memory_bytes?.get().parse().ok()?, micros })
}

fn learned(
    args: &LearnArgs,
    costs: &[RunCost],
    passed_over: usize,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let learned = learn(costs).map_err(|error| {
        let message = format!("{error}; {passed_over} do not count: of another fuel model, or stopped");
        Failure::Typed { message, hint: "run it more often, or hand in more runs" }
    })?;
    if json {
        let about = args.tool.as_deref();
        let body = json!({ "tool": about, "model": model(), "passed_over": passed_over, "learned": learned });
        writeln!(streams.output, "{body}")?;
        return Ok(Exit::Done);
    }
    let Learned { runs, fuel, memory_bytes, timeout_ms } = &learned;
    writeln!(streams.output, "# from {runs} runs ({passed_over} passed over), under the model {}", model())?;
    for (name, limit, margin) in [
        ("fuel", fuel, "a tenth on top"),
        ("memory_bytes", memory_bytes, "a tenth on top, in whole pages"),
        ("timeout_ms", timeout_ms, "ten times as much: machines differ"),
    ] {
        writeln!(streams.output, "{name} = {}  # {}", limit.limit, visible(&told(limit, margin)))?;
    }
    if !fuel.stops_doubling {
        writeln!(streams.errors, "warning: a run of twice the median fuel is not stopped: the runs differ too much")?;
    }
    Ok(Exit::Done)
}

/// What a limit is made by, in a sentence.
fn told(limit: &Limit, margin: &str) -> String {
    let method = match limit.method {
        Method::DistributionFree => "it admits 999 of the next 1,000 runs, whatever their distribution",
        Method::LogNormal => "it admits 999 of the next 1,000 runs where they are log-normal",
    };
    format!("median {}, largest {}; {method}, with 95 % confidence; {margin}", limit.median, limit.largest)
}
