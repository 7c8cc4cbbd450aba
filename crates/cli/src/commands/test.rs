//! `test`: runs tool tests and checks their budgets.
//!
//! Invariant: only the given files count: no store, no policy, no network. Nothing is written
//! without showing it first.

mod watch;

use std::path::PathBuf;

use serde_json::json;
use toolcell::{CancelToken, Lang, Localize as _, SandboxConfig, Toolbox, escape_control_chars};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid, tr};
use toolcell_testing::report;
use toolcell_testing::{BudgetPolicy, Suite, SuiteProblem, TestOptions, TestReport, find_suites, run_suites, update};

use crate::args::TestArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::write_error;
use crate::prompt;
use crate::streams::Streams;

/// A function that reads a test file.
type SuiteReader = fn(&std::path::Path) -> Result<Suite, Vec<SuiteProblem>>;

pub(crate) fn run(args: &TestArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = test_toolbox(args.sandbox.config()?, args.jobs)?;
    if args.watch {
        return watch::run(&args.paths, context, |context| run_once(args, &toolbox, context));
    }
    run_once(args, &toolbox, context)
}

/// Creates a toolbox with one call slot per job, under the built-in policy, so that a test has the
/// same result everywhere.
pub(crate) fn test_toolbox(config: SandboxConfig, jobs: usize) -> Result<Toolbox, CliError> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let slots = if jobs == 0 { cores() } else { jobs.min(cores() * 4) };
    Ok(Toolbox::new(&SandboxConfig { slots, ..config })?)
}

fn run_once(args: &TestArgs, toolbox: &Toolbox, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let reader: SuiteReader = match (args.update, args.no_budgets) {
        (true, _) => Suite::read_unfinished,
        (false, true) => Suite::read_without_budgets,
        (false, false) => Suite::read,
    };
    let (suites, problems) = read_suites(&args.paths, reader)?;
    let tested = if problems.is_empty() {
        run_suites(&suites, toolbox, &run_options(args, &context.cancel))
    } else {
        TestReport { problems, ..TestReport::default() }
    };
    if let Some(word) = &args.filter
        && (tested.problems.is_empty() && tested.results.is_empty() && tested.not_run == 0 && !tested.is_cancelled)
    {
        return Err(CliError::coded(
            ErrorCode::TestNotFound,
            message!("no test name or tool name contains `{word}`", word),
            msgid!("list the tests with `toolcell test FOLDER --json`"),
        ));
    }
    print_report(args, &tested, context)?;
    if tested.is_cancelled {
        return Ok(Exit::Interrupted);
    }
    if args.update && tested.problems.is_empty() {
        return update_files(args, &suites, &tested, context);
    }
    context.streams.output.flush()?;
    Ok(exit_for_report(&tested))
}

fn run_options(args: &TestArgs, cancel: &CancelToken) -> TestOptions {
    let budgets = match args.max_regression {
        _ if args.no_budgets => BudgetPolicy::Ignored,
        Some(most) => BudgetPolicy::Regression(most),
        None => BudgetPolicy::Enforced,
    };
    let (fail_fast, filter) = (args.fail_fast, args.filter.clone());
    TestOptions { jobs: args.jobs, fail_fast, filter, budgets, cancel: Some(cancel.clone()) }
}

/// Reads the test files at the paths, and collects the problems of all of them.
pub(crate) fn read_suites(paths: &[PathBuf], reader: SuiteReader) -> Result<(Vec<Suite>, Vec<SuiteProblem>), CliError> {
    let files = find_suites(paths).map_err(|(path, error)| {
        let failed = CliError::File { path: path.display().to_string(), error };
        let hint = msgid!("pass a test file, or a folder that contains test files");
        CliError::coded(failed.code(), failed.message(), hint)
    })?;
    if files.is_empty() {
        let named = Message::list(paths.iter().map(|path| Message::verbatim(path.display().to_string())));
        return Err(CliError::coded(
            ErrorCode::FileNotFound,
            message!("{paths}: no tests found", paths = named),
            msgid!("put the tests of average.ts into average.test.toml beside it"),
        ));
    }
    let (mut suites, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        match reader(&file) {
            Ok(suite) => suites.push(suite),
            Err(wrong) => problems.extend(wrong),
        }
    }
    Ok((suites, problems))
}

/// Returns the exit status of a report.
pub(crate) fn exit_for_report(tested: &TestReport) -> Exit {
    match tested {
        tested if tested.is_cancelled => Exit::Interrupted,
        tested if !tested.problems.is_empty() => Exit::Usage,
        tested if tested.failed_count() > 0 => Exit::ToolFailed,
        _ => Exit::Done,
    }
}

/// Prints the report in all requested formats.
fn print_report(args: &TestArgs, tested: &TestReport, context: &mut Context<'_>) -> Result<(), CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let annotates = args.github || std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
    match (format.is_json(), annotates) {
        (true, _) => {
            writeln!(streams.output, "{}", report::json(tested))?;
            // GitHub's runner reads both streams; standard output holds only JSON.
            if annotates {
                write!(streams.errors, "{}", report::github(tested))?;
            }
        }
        // The problems are annotations alone: as text, they could contain commands for the runner.
        (false, true) => {
            let text = text_lines(tested, lang, streams);
            let text = report::without_commands(&text)?;
            write!(streams.output, "{text}{}", report::github(tested))?;
        }
        (false, false) => print_text_report(tested, lang, streams)?,
    }
    if let Some(path) = &args.junit {
        let xml = report::junit(tested).map_err(|error| CliError::Stream(std::io::Error::other(error)))?;
        std::fs::write(path, xml).map_err(write_error(path))?;
    }
    Ok(())
}

/// Prints problems to standard error, and results to standard output.
pub(crate) fn print_text_report(tested: &TestReport, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for problem in &tested.problems {
        streams.print_labelled(tr!(lang, "error"), &problem.localize().to_text(lang), lang)?;
        streams.print_hint(&problem.hint, lang)?;
    }
    let text = text_lines(tested, lang, streams);
    write!(streams.output, "{text}")
}

/// The results as lines of text: nothing if there are problems only.
fn text_lines(tested: &TestReport, lang: Lang, streams: &Streams<'_>) -> String {
    if !tested.problems.is_empty() && tested.results.is_empty() {
        return String::new();
    }
    report::text(tested, lang).lines().map(|line| streams.escape_for_output(line) + "\n").collect()
}

/// Shows the diff of the updated files, and writes them after confirmation.
fn update_files(
    args: &TestArgs,
    suites: &[Suite],
    tested: &TestReport,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let (files, left) = update(suites, tested);
    let asks = !files.is_empty() && !args.yes;
    let diffs: Vec<String> = files.iter().map(|file| escape_lines(&file.diff())).collect();
    // If the user is prompted, the prompt shows the diff.
    let is_shown = asks && streams.is_interactive() && (format.is_json() || streams.output_is_terminal);
    if !is_shown {
        let stream = if format.is_json() { &mut *streams.errors } else { &mut *streams.output };
        write!(stream, "{}", diffs.concat())?;
    }
    streams.output.flush()?;
    if asks {
        if !streams.is_interactive() {
            return Err(CliError::usage(
                msgid!("confirmation needs a terminal; nothing was written"),
                msgid!("review the diff, then pass --yes"),
            ));
        }
        let question = tr!(lang, "Write these changes?");
        let lines: Vec<String> = diffs.iter().flat_map(|diff| diff.lines()).map(str::to_owned).collect();
        if !prompt::confirm(&lines, question, lang)? {
            return Ok(exit_for_report(tested));
        }
    }
    for file in &files {
        file.write().map_err(write_error(&file.path))?;
    }
    if format.is_json() {
        let paths: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        writeln!(streams.output, "{}", json!({ "written": paths, "leftToTheAuthor": left }))?;
    }
    Ok(if left == 0 { Exit::Done } else { Exit::ToolFailed })
}

/// Escapes control characters other than line breaks.
pub(crate) fn escape_lines(text: &str) -> String {
    text.lines().map(|line| escape_control_chars(line) + "\n").collect()
}
