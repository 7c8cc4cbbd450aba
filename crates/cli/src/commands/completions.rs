//! `completions`: shell completion of commands, options and tool names.
//!
//! Invariant: the shell queries the program itself, so the candidates are always current. An error
//! yields fewer candidates, and never a message.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use toolcell::store::{Filter, PAGE_LIMIT, Settings, Store};

use crate::args::{self, CompletionsArgs, resolve_store_dir};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::language;

/// The environment variable that the shell sets to query completions.
const COMPLETE_VARIABLE: &str = "TOOLCELL_COMPLETE";
/// Maximum number of tool names offered.
const MAX_CANDIDATES: usize = PAGE_LIMIT;
/// The arguments whose value is the name of a tool.
const TOOL_ARGUMENTS: [&str; 4] = ["tool", "tools", "name", "successor"];
/// The commands where an argument of that name is something else: a tool of a factory, a new name,
/// part of a name, and a deleted tool.
const EXCLUDED_COMMANDS: [&str; 4] = ["exec", "create", "list", "undelete"];

pub(crate) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if let Some(shell) = Shells::builtins().completer(args.shell.name()) {
        shell.write_registration(
            COMPLETE_VARIABLE,
            "toolcell",
            "toolcell",
            "toolcell",
            &mut *context.streams.output,
        )?;
    }
    Ok(Exit::Done)
}

/// Answers a completion query, and returns whether there was one.
pub(crate) fn handle_request() -> bool {
    let words: Vec<OsString> = std::env::args_os().collect();
    // The shell passes the words of its command line after `--`.
    let start = words.iter().position(|word| word == "--").map_or(0, |at| at + 1);
    let asked = CompleteEnv::with_factory(|| command(&words[start..])).var(COMPLETE_VARIABLE);
    let here = std::env::current_dir().ok();
    // An unexpected value of the variable must not keep the command from running.
    asked.try_complete(words.iter().cloned(), here.as_deref()).unwrap_or(false)
}

/// Returns the completion candidates of the last word.
#[must_use]
pub fn complete(words: &[&str]) -> Vec<String> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let last = words.len().saturating_sub(1);
    let offered = clap_complete::engine::complete(&mut command(&words), words, last, None).unwrap_or_default();
    offered.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
}

/// Returns the command tree, with completion of the tools in the store that the words select.
fn command(words: &[OsString]) -> Command {
    let dir = args::find_option(words, "--dir").map(PathBuf::from).or_else(|| resolve_store_dir(None).ok());
    with_tools(args::command(language::of_words(words)), dir.as_deref())
}

fn with_tools(command: Command, dir: Option<&Path>) -> Command {
    let Some(dir) = dir else { return command };
    let named = |arg: Arg| {
        let dir = dir.to_owned();
        if TOOL_ARGUMENTS.contains(&arg.get_id().as_str()) {
            arg.add(ArgValueCandidates::new(move || tool_candidates(&dir)))
        } else {
            arg
        }
    };
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = if EXCLUDED_COMMANDS.contains(&command.get_name()) { command } else { command.mut_args(named) };
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |below| with_tools(below, Some(dir))))
}

/// Returns the names of the tools in a store, with the first line of their descriptions as help.
fn tool_candidates(dir: &Path) -> Vec<CompletionCandidate> {
    let listed = Store::open_existing(dir, &Settings::default());
    let filter = Filter { limit: MAX_CANDIDATES, ..Filter::default() };
    let Some(page) = listed.ok().and_then(|store| store.catalog().list(&filter).ok()) else { return Vec::new() };
    let candidate = |entry: &toolcell::store::Entry| {
        let does: String = entry.description.lines().next().unwrap_or_default().chars().take(80).collect();
        CompletionCandidate::new(entry.name.as_str()).help(Some(toolcell::escape_control_chars(&does).into()))
    };
    page.entries.iter().map(candidate).collect()
}
