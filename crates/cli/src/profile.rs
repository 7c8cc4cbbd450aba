//! `profile`: runs a tool once and says where its fuel goes.
//!
//! Invariant: the tool runs as `run` or `exec` runs it, once. Standard output is the profile alone: what the tool returned is not
//! printed, and what it logged goes to standard error.

mod flame;
mod text;

use std::path::{Path, PathBuf};

use toolcell::{
    CancelToken, ExecError, Lang, Precheck, Profile, ProfileError, Report, Run, RunOptions, RunTool, Toolbox, visible,
};

use crate::Streams;
use crate::answer::lines;
use crate::args::{ProfileDiffArgs, ProfileTakeArgs};
use crate::exec::print_aside;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::during;
use crate::rules::Rules;
use crate::{input, open, run};

/// The longest profile that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// What a file of a tool ends in.
const ENDINGS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];

pub(crate) fn take(
    args: &ProfileTakeArgs,
    rules: &Rules,
    dir: Result<PathBuf, Failure>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let word = args.tool.as_deref().unwrap_or_default();
    let is_file = word == "-" || word.contains('/') || ENDINGS.iter().any(|ending| word.ends_with(ending));
    let drawing = args.svg.as_deref().map(flame::Drawing::begin).transpose()?;
    let (report, profile, source) = if is_file {
        of_draft(word, args, rules, dir.ok().as_deref(), streams, cancel)?
    } else {
        of_tool(word, args, rules, &dir?, lang, streams, cancel)?
    };
    if let Some(drawing) = drawing {
        drawing.finish(&profile)?;
    }
    print_aside(&report, lang, streams)?;
    let exit = Exit::of(&report.outcome);
    for line in lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", visible(&line))?;
    }
    if json {
        writeln!(streams.output, "{}", profile.to_json())?;
    } else if args.lines {
        text::listing(&profile, &source, lang, streams)?;
    } else {
        text::print(&profile, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(exit)
}

/// The profile of a draft, and its text.
fn of_draft(
    file: &str,
    args: &ProfileTakeArgs,
    rules: &Rules,
    dir: Option<&Path>,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<(Report, Profile, String), Failure> {
    let words = match &*args.params {
        [] => "{}",
        [one] => one,
        _ => {
            let message = format!("{} words are given as the parameters of {file}", args.params.len());
            return Err(Failure::Typed {
                message,
                hint: "give one JSON object, @FILE, or -; KEY=VALUE is for tools that are kept",
            });
        }
    };
    if file == "-" && words == "-" {
        return Err(Failure::OneInput);
    }
    let draft = input::draft(file, streams)?;
    let params = input::params(words, streams)?;
    let toolbox = open::for_drafts(dir, args.sandbox.config(), rules)?;
    let budget = toolbox.policy().budget(&args.limits.wanted()).map_err(ExecError::from)?;
    let run = Run { seed: args.seed, started_at: input::now(), cancel: Some(cancel), ..Run::default() };
    let take = || toolbox.profile_draft(&draft, &params, &budget, &run, Precheck::Critical);
    let (report, profile) = during(draft.name(), streams, take)?;
    Ok((report, profile, draft.source().to_owned()))
}

/// The profile of a tool that is kept, and its text.
fn of_tool(
    name: &str,
    args: &ProfileTakeArgs,
    rules: &Rules,
    dir: &Path,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<(Report, Profile, String), Failure> {
    let given = run::given(&args.params, streams)?;
    let toolbox = open::existing(dir, args.sandbox.config(), rules)?;
    let request = RunTool::of(name, given.params(name, &toolbox)?);
    let options = RunOptions {
        caller: "cli".to_owned(),
        limits: args.limits.wanted(),
        seed: args.seed,
        cancel: Some(cancel.clone()),
        person: streams.somebody_is_there().then(|| run::person(lang, cancel, None)),
        ..RunOptions::default()
    };
    let (ran, profile) = toolbox.profile(&request, &options)?;
    let source = source_of(&toolbox, &ran.tool.to_string());
    Ok((run::seen(ran).0, profile, source))
}

/// The text of a tool that was run; nothing where it is gone meanwhile.
fn source_of(toolbox: &Toolbox, id: &str) -> String {
    let spec = toolbox.find(id).ok().and_then(|entry| toolbox.store()?.spec(&entry).ok());
    spec.map(|spec| spec.source().to_owned()).unwrap_or_default()
}

/// Shows what is different between two profiles.
pub(crate) fn diff(args: &ProfileDiffArgs, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if args.before == "-" && args.after == "-" {
        let message = "two profiles cannot both come from standard input".to_owned();
        return Err(Failure::Typed { message, hint: "name a file for one of them" });
    }
    let mut read = |file: &str| {
        let word = if file == "-" { "-".to_owned() } else { format!("@{file}") };
        let text = input::said(&word, LIMIT, streams)?;
        let named = |error: ProfileError| Failure::said(error.code(), format!("{file}: {error}"), error.hint());
        Profile::parse(&text).map_err(named)
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let difference = before.compared_to(&after)?;
    if json {
        // Text and numbers: there is nothing in it that cannot be written.
        let text = serde_json::to_string(&difference).unwrap_or_default();
        writeln!(streams.output, "{text}")?;
    } else {
        text::print_difference(&difference, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(Exit::Done)
}
