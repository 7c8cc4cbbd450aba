//! `completions`: what a shell is told so that it completes commands, options and the names of tools.
//!
//! Invariant: the shell asks the program itself, so that what it offers is what there is. Whatever goes wrong meanwhile,
//! it is offered less and told nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use toolcell::store::{Filter, PAGE_LIMIT, Settings, Store};

use crate::Streams;
use crate::args::{Args, CompletionsArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// What the shell sets when it wants to be told.
const VARIABLE: &str = "TOOLCELL_COMPLETE";
/// How many names of tools are offered.
const OFFERED: usize = PAGE_LIMIT;
/// The arguments that are tools, or a name that one has.
const TOOLS: [&str; 4] = ["tool", "tools", "name", "successor"];
/// The commands where an argument that is called so is something else: one of a factory, a new name, a part of a name, and
/// one that was deleted.
const OTHERS: [&str; 4] = ["exec", "create", "list", "undelete"];

pub(crate) fn run(args: &CompletionsArgs, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if let Some(shell) = Shells::builtins().completer(args.shell.name()) {
        shell.write_registration(VARIABLE, "toolcell", "toolcell", "toolcell", &mut *streams.output)?;
    }
    Ok(Exit::Done)
}

/// Whether a shell asked, and was told.
pub(crate) fn answered() -> bool {
    let words: Vec<OsString> = std::env::args_os().collect();
    let asked = CompleteEnv::with_factory(|| command(&words)).var(VARIABLE);
    let here = std::env::current_dir().ok();
    // Where it is set to something else, that is no reason not to do what is typed.
    asked.try_complete(words.iter().cloned(), here.as_deref()).unwrap_or(false)
}

/// What may stand in place of the last word.
#[must_use]
pub fn complete(words: &[&str]) -> Vec<String> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let last = words.len().saturating_sub(1);
    let offered = clap_complete::engine::complete(&mut command(&words), words, last, None).unwrap_or_default();
    offered.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
}

/// The commands, with the tools in the store that the words are about.
fn command(words: &[OsString]) -> Command {
    let dir = said_dir(words).or_else(|| crate::args::dir(None).ok());
    with_tools(Args::command(), dir.as_deref())
}

/// The directory that the words name.
fn said_dir(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().map(OsString::as_os_str);
    while let Some(word) = words.next() {
        if word == OsStr::new("--dir") {
            return words.next().map(PathBuf::from);
        }
        if let Some(dir) = word.to_str().and_then(|word| word.strip_prefix("--dir=")) {
            return Some(PathBuf::from(dir));
        }
    }
    None
}

fn with_tools(command: Command, dir: Option<&Path>) -> Command {
    let Some(dir) = dir else { return command };
    let named = |arg: Arg| {
        let dir = dir.to_owned();
        if TOOLS.contains(&arg.get_id().as_str()) { arg.add(ArgValueCandidates::new(move || names(&dir))) } else { arg }
    };
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = if OTHERS.contains(&command.get_name()) { command } else { command.mut_args(named) };
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |below| with_tools(below, Some(dir))))
}

/// The names of the tools in a store, with what they do.
fn names(dir: &Path) -> Vec<CompletionCandidate> {
    let listed = Store::open_existing(dir, &Settings::default());
    let filter = Filter { limit: OFFERED, ..Filter::default() };
    let Some(page) = listed.ok().and_then(|store| store.list(&filter).ok()) else { return Vec::new() };
    let candidate = |entry: &toolcell::store::Entry| {
        let does: String = entry.description.lines().next().unwrap_or_default().chars().take(80).collect();
        CompletionCandidate::new(entry.name.as_str()).help(Some(toolcell::visible(&does).into()))
    };
    page.entries.iter().map(candidate).collect()
}
