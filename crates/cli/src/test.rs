//! `test`: runs the tests beside tools, and holds them to their budgets.
//!
//! Invariant: nothing outside of the files that are named counts: no store, no policy, no network. Nothing is written that was
//! not shown.

mod watch;

use std::path::PathBuf;

use serde_json::json;
use toolcell::{CancelToken, Lang, SandboxConfig, Toolbox, visible};
use toolcell_testing::report::{self, Words};
use toolcell_testing::{Budgets, Problem, RunOptions, Suite, Tested, find, run as run_suites, update};

use crate::Streams;
use crate::args::TestArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::unwritable;
use crate::person;

/// How a file of tests is read.
type Reader = fn(&std::path::Path) -> Result<Suite, Vec<Problem>>;

pub(crate) fn run(
    args: &TestArgs,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let toolbox = toolbox(args.sandbox.config(), args.jobs)?;
    if args.watch {
        return watch::run(&args.paths, streams, cancel, lang, |streams| {
            once(args, &toolbox, json, lang, streams, cancel)
        });
    }
    once(args, &toolbox, json, lang, streams, cancel)
}

/// A toolbox with as many slots as there are jobs. It has the limits of the built-in policy, so that a test comes out the same
/// wherever it runs.
pub(crate) fn toolbox(config: SandboxConfig, jobs: usize) -> Result<Toolbox, Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let slots = if jobs == 0 { cores() } else { jobs.min(cores() * 4) };
    Ok(Toolbox::new(&SandboxConfig { slots, ..config })?)
}

fn once(
    args: &TestArgs,
    toolbox: &Toolbox,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let reader: Reader = match (args.update, args.no_budgets) {
        (true, _) => Suite::read_unfinished,
        (false, true) => Suite::read_without_budgets,
        (false, false) => Suite::read,
    };
    let (suites, problems) = read(&args.paths, reader)?;
    let tested = if problems.is_empty() {
        run_suites(&suites, toolbox, &options(args, cancel))
    } else {
        Tested { problems, ..Tested::default() }
    };
    if let Some(word) = &args.filter
        && (tested.problems.is_empty() && tested.done.is_empty() && tested.not_run == 0 && !tested.cancelled)
    {
        let message = format!("no test has `{word}` in its name or in that of its tool");
        return Err(Failure::said("test-not-found", message, "`toolcell test --json` names all tests of a folder"));
    }
    tell(args, &tested, json, lang, streams)?;
    if tested.cancelled {
        return Ok(Exit::Interrupted);
    }
    if args.update && tested.problems.is_empty() {
        return updated(args, &suites, &tested, json, lang, streams);
    }
    streams.output.flush()?;
    Ok(exit(&tested))
}

fn options(args: &TestArgs, cancel: &CancelToken) -> RunOptions {
    let budgets = match args.max_regression {
        _ if args.no_budgets => Budgets::Ignored,
        Some(most) => Budgets::Regression(most),
        None => Budgets::Held,
    };
    let (fail_fast, filter) = (args.fail_fast, args.filter.clone());
    RunOptions { jobs: args.jobs, fail_fast, filter, budgets, cancel: Some(cancel.clone()) }
}

/// The files that paths name, and all that is wrong with any of them.
pub(crate) fn read(paths: &[PathBuf], reader: Reader) -> Result<(Vec<Suite>, Vec<Problem>), Failure> {
    let files = find(paths).map_err(|(path, error)| {
        let failed = Failure::File { path: path.display().to_string(), error };
        Failure::said(failed.code(), failed.message(), "name a file of tests, or a folder with such files")
    })?;
    if files.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let message = format!("{}: there are no tests in it", named.join(", "));
        return Err(Failure::said("file-not-found", message, "tests of average.ts are in average.test.toml beside it"));
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

/// What came of it means for the process.
pub(crate) fn exit(tested: &Tested) -> Exit {
    match tested {
        tested if tested.cancelled => Exit::Interrupted,
        tested if !tested.problems.is_empty() => Exit::Usage,
        tested if tested.failed() > 0 => Exit::ToolFailed,
        _ => Exit::Done,
    }
}

/// Says what came of it, in all the forms that are asked for.
fn tell(args: &TestArgs, tested: &Tested, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if json {
        writeln!(streams.output, "{}", report::json(tested))?;
    } else {
        tell_in_text(tested, lang, streams)?;
    }
    if args.github || std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true") {
        let annotations = report::github(tested);
        // The runner reads both streams; JSON stays alone on its own.
        let stream = if json { &mut *streams.errors } else { &mut *streams.output };
        write!(stream, "{annotations}")?;
    }
    if let Some(path) = &args.junit {
        let xml = report::junit(tested).map_err(|error| Failure::Stream(std::io::Error::other(error)))?;
        std::fs::write(path, xml).map_err(unwritable(path))?;
    }
    Ok(())
}

/// Problems on standard error, results on standard output.
pub(crate) fn tell_in_text(tested: &Tested, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let (error, hint, words) = match lang {
        Lang::En => ("error", "hint", Words::ENGLISH),
        Lang::Ja => ("エラー", "ヒント", Words::JAPANESE),
        Lang::Zh => ("错误", "提示", Words::CHINESE),
    };
    let colon = lang.colon();
    for problem in &tested.problems {
        writeln!(streams.errors, "{error}{colon}{}", visible(&problem.to_string()))?;
        writeln!(streams.errors, "{hint}{colon}{}", visible(&problem.hint))?;
    }
    if tested.problems.is_empty() || !tested.done.is_empty() {
        for line in report::text(tested, &words).lines() {
            writeln!(streams.output, "{}", streams.shown(line))?;
        }
    }
    Ok(())
}

/// Shows what the files are to become, and writes them if somebody says so.
fn updated(
    args: &TestArgs,
    suites: &[Suite],
    tested: &Tested,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let (files, left) = update(suites, tested);
    let asks = !files.is_empty() && !args.yes;
    let diffs: Vec<String> = files.iter().map(|file| visible_lines(&file.diff())).collect();
    // Where a person is asked, the question shows them the differences.
    let is_shown = asks && streams.somebody_is_there() && (json || streams.output_is_terminal);
    if !is_shown {
        let stream = if json { &mut *streams.errors } else { &mut *streams.output };
        write!(stream, "{}", diffs.concat())?;
    }
    streams.output.flush()?;
    if asks {
        if !streams.somebody_is_there() {
            let message = "nobody is there who could confirm it; nothing was written".to_owned();
            return Err(Failure::Typed { message, hint: "look at the difference, and say --yes" });
        }
        let question = match lang {
            Lang::En => "Write this?",
            Lang::Ja => "この内容を書き込みますか？",
            Lang::Zh => "写入这些内容吗？",
        };
        let lines: Vec<String> = diffs.iter().flat_map(|diff| diff.lines()).map(str::to_owned).collect();
        if !person::confirms(&lines, question, lang)? {
            return Ok(exit(tested));
        }
    }
    for file in &files {
        file.write().map_err(unwritable(&file.path))?;
    }
    if json {
        let paths: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        writeln!(streams.output, "{}", json!({ "written": paths, "left_to_the_author": left }))?;
    }
    Ok(if left == 0 { Exit::Done } else { Exit::ToolFailed })
}

/// Text with the ends of its lines, and nothing else in it that a terminal would obey.
pub(crate) fn visible_lines(text: &str) -> String {
    text.lines().map(|line| visible(line) + "\n").collect()
}
