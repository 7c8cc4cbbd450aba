//! `profile`: runs a tool once and shows where its fuel is spent.
//!
//! Invariant: the tool runs exactly once, as `run` or `exec` would run it. Only the profile goes to
//! standard output; the result is not printed, and console output goes to standard error.

mod flame;
mod text;

use std::path::{Path, PathBuf};

use toolcell::{
    CallContext, CancelToken, ExecError, Lang, Precheck, Profile, ProfileError, Report, RunOptions, RunTool, Toolbox,
    escape_control_chars,
};

use crate::Streams;
use crate::answer::error_lines;
use crate::args::{ProfileDiffArgs, ProfileTakeArgs};
use crate::error::CliError;
use crate::exec::print_logs_and_warnings;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::progress::with_progress;
use crate::{input, run, toolbox};

/// Maximum size of a profile, in bytes.
const MAX_PROFILE_BYTES: u64 = 64 << 20;

/// File name endings that mark an argument as a source file.
const SOURCE_ENDINGS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];

pub(crate) fn take(
    args: &ProfileTakeArgs,
    rules: &PolicyFiles,
    dir: Result<PathBuf, CliError>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, CliError> {
    let word = args.tool.as_deref().unwrap_or_default();
    let is_file = word == "-" || word.contains('/') || SOURCE_ENDINGS.iter().any(|ending| word.ends_with(ending));
    let drawing = args.svg.as_deref().map(flame::FlameGraphFile::create).transpose()?;
    let (report, profile, source) = if is_file {
        profile_draft(word, args, rules, dir.ok().as_deref(), streams, cancel)?
    } else {
        profile_tool(word, args, rules, &dir?, lang, streams, cancel)?
    };
    if let Some(drawing) = drawing {
        drawing.finish(&profile)?;
    }
    print_logs_and_warnings(&report, lang, streams)?;
    let exit = Exit::from_outcome(&report.outcome);
    for line in error_lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", escape_control_chars(&line))?;
    }
    if json {
        writeln!(streams.output, "{}", profile.to_json())?;
    } else if args.lines {
        text::print_listing(&profile, &source, lang, streams)?;
    } else {
        text::print(&profile, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(exit)
}

/// Profiles a source file, and returns the profile with the source.
fn profile_draft(
    file: &str,
    args: &ProfileTakeArgs,
    rules: &PolicyFiles,
    dir: Option<&Path>,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<(Report, Profile, String), CliError> {
    let words = match &*args.params {
        [] => "{}",
        [one] => one,
        _ => {
            let message = format!("{} parameter arguments for {file}, the limit is 1", args.params.len());
            return Err(CliError::Usage {
                message,
                hint: "pass one JSON object, @FILE, or -; KEY=VALUE works only for stored tools",
            });
        }
    };
    if file == "-" && words == "-" {
        return Err(CliError::StdinUsedTwice);
    }
    let draft = input::read_draft(file, streams)?;
    let params = input::read_params(words, streams)?;
    let toolbox = toolbox::open_for_drafts(dir, args.sandbox.config()?, rules)?;
    let budget = toolbox.policy().budget(&args.limits.overrides()).map_err(ExecError::from)?;
    let run = CallContext { seed: args.seed, started_at: input::now(), cancel: Some(cancel), ..CallContext::default() };
    let take = || toolbox.profile_draft(&draft, &params, &budget, &run, Precheck::Critical);
    let (report, profile) = with_progress(draft.name(), streams, take)?;
    Ok((report, profile, draft.source().to_owned()))
}

/// Profiles a stored tool, and returns the profile with its source.
fn profile_tool(
    name: &str,
    args: &ProfileTakeArgs,
    rules: &PolicyFiles,
    dir: &Path,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<(Report, Profile, String), CliError> {
    let given = run::parse_param_words(&args.params, streams)?;
    let toolbox = toolbox::open_existing(dir, args.sandbox.config()?, rules)?;
    let request = RunTool::new(name, given.resolve(name, &toolbox)?);
    let options = RunOptions {
        caller: "cli".to_owned(),
        limits: args.limits.overrides(),
        seed: args.seed,
        cancel: Some(cancel.clone()),
        approver: streams.is_interactive().then(|| run::terminal_approver(lang, cancel, None)),
        ..RunOptions::default()
    };
    let (ran, profile) = toolbox.profile(&request, &options)?;
    let source = stored_source(&toolbox, &ran.tool.to_string());
    Ok((run::visible_result(ran).0, profile, source))
}

/// Returns the source of the tool that ran, or an empty string if it has been removed since.
fn stored_source(toolbox: &Toolbox, id: &str) -> String {
    let spec = toolbox.find(id).ok().and_then(|entry| toolbox.store()?.spec(&entry).ok());
    spec.map(|spec| spec.source().to_owned()).unwrap_or_default()
}

/// Compares two profiles.
pub(crate) fn diff(
    args: &ProfileDiffArgs,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    if args.before == "-" && args.after == "-" {
        let message = "two profiles cannot both come from standard input".to_owned();
        return Err(CliError::Usage { message, hint: "pass a file for one of them" });
    }
    let mut read = |file: &str| {
        let word = if file == "-" { "-".to_owned() } else { format!("@{file}") };
        let text = input::read_text_argument(&word, MAX_PROFILE_BYTES, streams)?;
        let named = |error: ProfileError| CliError::coded(error.code(), format!("{file}: {error}"), error.hint());
        Profile::parse(&text).map_err(named)
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let difference = before.compare(&after)?;
    if json {
        // Serialization cannot fail: the fields are text and numbers.
        let text = serde_json::to_string(&difference).unwrap_or_default();
        writeln!(streams.output, "{text}")?;
    } else {
        text::print_difference(&difference, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(Exit::Done)
}
