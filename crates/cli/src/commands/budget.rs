//! `budget`: rebases the budgets of tests, and derives limits from recorded runs.
//!
//! Invariant: fuel measured under another fuel model is ignored.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcell::store::{RUN_KIND, Record};
use toolcell::{RunRecord, ShowError, escape_control_chars};
use toolcell_i18n::{Message, message, tr};
use toolcell_testing::report;
use toolcell_testing::{
    BudgetPolicy, LearnedLimit, LearnedLimits, LimitMethod, RunCost, Suite, TestOptions, TestReport, learn_limits,
    model, rebase, run_suites,
};

use crate::args::{BudgetArgs, BudgetCommand, LearnArgs, RebaseArgs, SandboxArgs};
use crate::commands::test::{escape_lines, exit_for_report, print_text_report, read_suites, test_toolbox};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::write_error;
use crate::input;
use crate::streams::Streams;

/// Maximum number of recorded runs read for a tool, newest first.
const MAX_RUNS: usize = 100_000;
/// Maximum size of a file of runs, in bytes.
const MAX_RUNS_BYTES: u64 = 256 << 20;

pub(crate) fn run(args: &BudgetArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    match &args.command {
        BudgetCommand::Rebase(args) => rebase_budgets(args, context),
        BudgetCommand::Learn(args) => {
            let (costs, passed_over) = match (&args.runs, &args.tool) {
                (Some(path), _) => costs_from_file(path, &mut context.streams)?,
                (None, tool) => costs_from_store(tool.as_deref().unwrap_or_default(), context)?,
            };
            learn_from_runs(args, &costs, passed_over, context)
        }
    }
}

/// Measures the budgets of test files again, and rewrites the files.
fn rebase_budgets(args: &RebaseArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, ref cancel, .. } = *context;
    let (suites, problems) = read_suites(&args.paths, Suite::read_outdated)?;
    let options =
        TestOptions { budgets: BudgetPolicy::Ignored, cancel: Some(cancel.clone()), ..TestOptions::default() };
    let tested = if problems.is_empty() {
        run_suites(&suites, &test_toolbox(args.sandbox.config()?, 0)?, &options)
    } else {
        TestReport { problems, ..TestReport::default() }
    };
    let files = if tested.is_cancelled || !tested.problems.is_empty() { Vec::new() } else { rebase(&suites, &tested) };
    for file in files.iter().filter(|_| !args.dry_run) {
        file.write().map_err(write_error(&file.path))?;
    }
    if format.is_json() {
        let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        let tests: Value = serde_json::from_str(&report::json(&tested)).unwrap_or_default();
        let body = json!({ "model": model(), "rewritten": paths, "written": !args.dry_run, "tests": tests });
        writeln!(streams.output, "{body}")?;
    } else {
        for file in &files {
            write!(streams.output, "{}", escape_lines(&file.diff()))?;
        }
        if !tested.is_success() {
            print_text_report(&tested, lang, streams)?;
        }
        // One invalid file stops all measurements.
        if !tested.problems.is_empty() {
            return Ok(exit_for_report(&tested));
        }
        let (model, count, all) = (model(), files.len(), suites.len());
        let text = if args.dry_run {
            tr!(lang, "{model}: to be rewritten {count} / {all}", model, count, all)
        } else {
            tr!(lang, "{model}: rewritten {count} / {all}", model, count, all)
        };
        writeln!(streams.output, "{text}")?;
    }
    streams.output.flush()?;
    Ok(exit_for_report(&tested))
}

/// Returns the costs of a stored tool's runs, and how many runs were ignored.
fn costs_from_store(tool: &str, context: &Context<'_>) -> Result<(Vec<RunCost>, usize), CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let entry = toolbox.find(tool).map_err(ShowError::from)?;
    let Some(store) = toolbox.store() else { return Ok((Vec::new(), 0)) };
    let records = store.runs().records_of_kind(entry.id, RUN_KIND, MAX_RUNS)?;
    let costs: Vec<RunCost> = records.iter().filter_map(|(_, record)| cost_of_record(record)).collect();
    let passed_over = records.len() - costs.len();
    Ok((costs, passed_over))
}

/// Returns the cost of a run that finished by itself under this fuel model.
fn cost_of_record(record: &Record) -> Option<RunCost> {
    let record: RunRecord = serde_json::from_slice(&record.body).ok()?;
    let used = record.used.filter(|_| matches!(record.outcome.as_str(), "returned" | "threw"))?;
    let counted_under = format!("{} wasmtime-{}", used.guest, used.engine);
    (counted_under == model()).then_some(RunCost { fuel: used.fuel, memory: used.memory_bytes, micros: used.micros })
}

/// Returns the costs of the runs in a JSON-lines file, and how many were ignored.
fn costs_from_file(path: &Path, streams: &mut Streams<'_>) -> Result<(Vec<RunCost>, usize), CliError> {
    let text = match path.to_str() {
        Some("-") => input::read_text_argument("-", MAX_RUNS_BYTES, streams)?,
        _ => input::read_file(path, MAX_RUNS_BYTES)?,
    };
    let (mut costs, mut passed_over) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let run: RawRun<'_> = serde_json::from_str(line).map_err(|error| {
            CliError::usage(
                message!("{path}:{line}: not a run: {error}", path = path.display(), line = number + 1, error),
                message!("pass runs as printed by `toolcell exec --json`, one per line"),
            )
        })?;
        match cost_of_run(&run) {
            Some(cost) => costs.push(cost),
            None => passed_over += 1,
        }
    }
    Ok((costs, passed_over))
}

/// The fields of a run that its cost needs, as raw JSON text: results beside them may be of any
/// size.
#[derive(Deserialize)]
struct RawRun<'a> {
    #[serde(borrow)]
    outcome: Option<&'a RawValue>,
    #[serde(borrow, alias = "durationMs")]
    duration_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    fuel: Option<&'a RawValue>,
    #[serde(borrow, alias = "memoryBytes")]
    memory_bytes: Option<&'a RawValue>,
}

fn cost_of_run(run: &RawRun<'_>) -> Option<RunCost> {
    if !matches!(run.outcome?.get(), "\"returned\"" | "\"threw\"") {
        return None;
    }
    let millis = run.duration_ms?.get().parse::<f64>().ok()?;
    let duration = std::time::Duration::try_from_secs_f64(millis / 1000.0).ok()?;
    let micros = u64::try_from(duration.as_micros()).ok()?;
    Some(RunCost { fuel: run.fuel?.get().parse().ok()?, memory: run.memory_bytes?.get().parse().ok()?, micros })
}

fn learn_from_runs(
    args: &LearnArgs,
    costs: &[RunCost],
    passed_over: usize,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let learned = learn_limits(costs).map_err(|error| {
        CliError::usage(
            message!(
                "{error}; {count} ignored: stopped, or measured under another fuel model",
                error,
                count = passed_over
            ),
            message!("run the tool more often, or pass more runs"),
        )
    })?;
    if format.is_json() {
        let about = args.tool.as_deref();
        let body = json!({ "tool": about, "model": model(), "passedOver": passed_over, "learned": learned });
        writeln!(streams.output, "{body}")?;
        return Ok(Exit::Done);
    }
    let LearnedLimits { runs, fuel, memory_bytes, timeout_ms } = &learned;
    let from = tr!(
        lang,
        "from {runs} runs ({ignored} ignored), under the fuel model {model}",
        runs,
        ignored = passed_over,
        model = model()
    );
    writeln!(streams.output, "# {from}")?;
    for (name, limit, margin) in [
        ("fuel", fuel, message!("plus 10 %")),
        ("memory_bytes", memory_bytes, message!("plus 10 %, in whole pages")),
        ("timeout_ms", timeout_ms, message!("times ten, because machines differ")),
    ] {
        let how = describe_limit(limit, &margin).to_text(lang);
        writeln!(streams.output, "{name} = {}  # {}", limit.limit, escape_control_chars(&how))?;
    }
    if !fuel.stops_doubling {
        let text = message!("the limit allows twice the median fuel, because the runs vary too much");
        streams.print_warning(&text, lang)?;
    }
    Ok(Exit::Done)
}

/// Describes in a sentence how a limit was derived.
fn describe_limit(limit: &LearnedLimit, margin: &Message) -> Message {
    let method = match limit.method {
        LimitMethod::DistributionFree => message!("covers 999 of the next 1,000 runs, for any distribution"),
        LimitMethod::LogNormal => message!("covers 999 of the next 1,000 runs, if log-normal"),
    };
    message!(
        "median {median}, largest {largest}; {method}, with 95 % confidence; {margin}",
        median = limit.median,
        largest = limit.largest,
        method,
        margin
    )
}
