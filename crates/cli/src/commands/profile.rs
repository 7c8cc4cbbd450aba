//! `profile`: runs a tool once and shows where its fuel is spent.
//!
//! Invariant: the tool runs exactly once, as `run` or `exec` would run it. Only the profile goes to
//! standard output; the result is not printed, and console output goes to standard error.

pub(crate) mod diff;

use toolcell::{CallContext, ExecError, Precheck, Profile, Report, RunOptions, RunTool, Toolbox, escape_control_chars};

use super::run::{parse_param_words, visible_result};
use crate::args::ProfileTakeArgs;
use crate::commands::CLI_CALLER;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::render::flame::FlameGraphFile;
use crate::render::profile::{print_listing, print_profile};
use crate::render::progress::with_progress;
use crate::render::run::{error_lines, print_logs_and_warnings};

/// File name endings that mark an argument as a source file.
const SOURCE_ENDINGS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];

pub(crate) fn run(args: &ProfileTakeArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let word = args.tool.as_deref().unwrap_or_default();
    let is_file = word == "-" || word.contains('/') || SOURCE_ENDINGS.iter().any(|ending| word.ends_with(ending));
    let drawing = args.svg.as_deref().map(FlameGraphFile::create).transpose()?;
    let (report, profile, source) =
        if is_file { profile_draft(word, args, context)? } else { profile_tool(word, args, context)? };
    if let Some(drawing) = drawing {
        drawing.finish(&profile)?;
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    print_logs_and_warnings(&report, lang, streams)?;
    let exit = Exit::from_outcome(&report.outcome);
    for line in error_lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", escape_control_chars(&line))?;
    }
    if format.is_json() {
        writeln!(streams.output, "{}", profile.to_json())?;
    } else if args.lines {
        print_listing(&profile, &source, lang, streams)?;
    } else {
        print_profile(&profile, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(exit)
}

/// Profiles a source file, and returns the profile with the source.
fn profile_draft(
    file: &str,
    args: &ProfileTakeArgs,
    context: &mut Context<'_>,
) -> Result<(Report, Profile, String), CliError> {
    if file == "-" && args.params.iter().any(|word| word == "-") {
        return Err(CliError::StdinUsedTwice);
    }
    let draft = input::read_draft(file, &mut context.streams)?;
    let params = parse_param_words(&args.params, &mut context.streams)?.resolve_for_draft()?;
    let toolbox = context.open_toolbox_for_drafts(args.sandbox.config()?)?;
    let budget = toolbox.policy().budget(&args.limits.overrides()).map_err(ExecError::from)?;
    let run = CallContext {
        seed: args.seed,
        started_at: input::now(),
        cancel: Some(&context.cancel),
        ..CallContext::default()
    };
    let take = || toolbox.profile_draft(&draft, &params, &budget, &run, Precheck::Critical);
    let taken = with_progress(draft.name(), &context.streams, take);
    let (report, profile) = taken.map_err(|error| CliError::from(error).in_source(file, draft.source()))?;
    Ok((report, profile, draft.source().to_owned()))
}

/// Profiles a stored tool, and returns the profile with its source.
fn profile_tool(
    name: &str,
    args: &ProfileTakeArgs,
    context: &mut Context<'_>,
) -> Result<(Report, Profile, String), CliError> {
    // An unknown store directory is reported before anything is read.
    context.store_dir()?;
    let given = parse_param_words(&args.params, &mut context.streams)?;
    let toolbox = context.open_existing_toolbox(args.sandbox.config()?)?;
    let request = RunTool::new(name, given.resolve(name, &toolbox)?);
    let options = RunOptions {
        caller: CLI_CALLER.to_owned(),
        limits: args.limits.overrides(),
        seed: args.seed,
        cancel: Some(context.cancel.clone()),
        approver: context.approver(None),
        ..RunOptions::default()
    };
    let (ran, profile) = toolbox.profile(&request, &options)?;
    let source = stored_source(&toolbox, &ran.tool.to_string());
    Ok((visible_result(ran).0, profile, source))
}

/// Returns the source of the tool that ran, or an empty string if it has been removed since.
fn stored_source(toolbox: &Toolbox, id: &str) -> String {
    let spec = toolbox.find(id).ok().and_then(|entry| toolbox.store()?.catalog().spec(&entry).ok());
    spec.map(|spec| spec.source().to_owned()).unwrap_or_default()
}
