//! `adapter`: makes Toolcell a part of an agent: prints the files for it, or writes or removes them.
//!
//! Invariant: a file is changed only on request, and all files are checked before the first one is changed.

use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::escape_control_chars;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, msgid, tr};

use super::mcp::config::{CLIENT_FILE, client_error, no_home, path_to_utf8, program_command};
use crate::adapter::{AdapterFile, AdapterSettings, Agent, Place, server_arguments};
use crate::args::{AdapterArgs, PolicyArgs};
use crate::client_config::{ClientEntry, DEFAULT_NAME, OnForeignEntry, ServerTarget};
use crate::context::Context;
use crate::edited_file::{EditRules, EditedFile};
use crate::error::CliError;
use crate::exit::Exit;

/// A file of an agent.
const ADAPTER_FILE: EditRules = EditRules {
    too_long_hint: msgid!("move it away, or shorten it; nothing was changed"),
    unreadable_hint: msgid!("correct the file, or move it away; nothing was changed"),
    unwritable_hint: msgid!("make the file and its folder writable, or choose the user's files with --user"),
    ..CLIENT_FILE
};

pub(crate) fn run(args: &AdapterArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let settings = build_settings(args, context.dir_option.as_deref())?;
    let place = place(args, &context.policy_args)?;
    let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let files = args.agent.files(&place, folder);
    let has_gate = matches!(args.agent, Agent::Pi | Agent::Omp) || files.iter().any(AdapterFile::is_gate);
    if args.gate && !has_gate {
        return Err(match args.agent {
            Agent::OmpTools => CliError::usage(
                message!("custom tools cannot decide about other tools"),
                message!("use `toolcell adapter omp`, whose extension can"),
            ),
            agent => CliError::usage(
                message!("{agent} reads hooks from projects only", agent = agent.name()),
                message!("leave out --user, or --gate"),
            ),
        });
    }
    // A gate that is no longer asked for is removed.
    let is_wanted = |file: &AdapterFile| !args.what.remove && (args.gate || !file.is_gate());
    if !args.what.write && !args.what.remove {
        let wanted: Vec<&AdapterFile> = files.iter().filter(|file| is_wanted(file)).collect();
        return print_files(args, &settings, &wanted, context);
    }
    let mut edits = Vec::new();
    for file in &files {
        edits.push((file, plan(args, &settings, file, is_wanted(file))?));
    }
    let mut changes = Vec::new();
    for (file, (opened, after)) in &edits {
        let was_there = !opened.text().is_empty();
        let changed = opened.replace(after, if args.user { 0o600 } else { 0o666 })?;
        if changed || is_wanted(file) || args.what.remove && !file.is_gate() {
            changes.push((file.path.display().to_string(), changed, was_there, is_wanted(file)));
        }
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let files = changes.iter().map(|(path, changed, ..)| json!({ "file": path, "changed": changed }));
        let response = json!({ "agent": args.agent.name(), "files": files.collect::<Vec<_>>() });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    for (path, changed, was_there, wanted) in &changes {
        let path = escape_control_chars(path);
        let text = match (changed, wanted, was_there) {
            (true, true, true) => tr!(lang, "updated {path}", path),
            (true, true, false) => tr!(lang, "created {path}", path),
            (true, false, _) => tr!(lang, "removed Toolcell from {path}", path),
            (false, true, _) => tr!(lang, "{path} is up to date", path),
            (false, false, _) => tr!(lang, "nothing to remove from {path}", path),
        };
        writeln!(streams.output, "{text}")?;
    }
    if args.what.write {
        print_note(args, context)?;
    }
    Ok(Exit::Done)
}

/// Prints the content of each file, under its path.
fn print_files(
    args: &AdapterArgs,
    settings: &AdapterSettings,
    files: &[&AdapterFile],
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let files = files.iter().map(|file| {
            json!({ "file": file.path.display().to_string(), "snippet": file.snippet(settings), "changed": false })
        });
        let response = json!({ "agent": args.agent.name(), "files": files.collect::<Vec<_>>() });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    for file in files {
        let path = escape_control_chars(&file.path.display().to_string());
        streams.print_note(&message!("add this to {path}, or let --write do it", path), lang)?;
        write!(streams.output, "{}", streams.escape_for_output(&file.snippet(settings)))?;
    }
    print_note(args, context)?;
    Ok(Exit::Done)
}

/// Prints what the user has to know about the agent.
fn print_note(args: &AdapterArgs, context: &mut Context<'_>) -> std::io::Result<()> {
    let Context { ref mut streams, lang, .. } = *context;
    let note = Message::from(args.agent.note());
    streams.print_note(&message!("{client}: {note}", client = args.agent.name(), note), lang)
}

/// Reads a file, and returns it with its new text.
fn plan(
    args: &AdapterArgs,
    settings: &AdapterSettings,
    file: &AdapterFile,
    is_wanted: bool,
) -> Result<(EditedFile<'static>, String), CliError> {
    let opened = EditedFile::open(&file.path, &ADAPTER_FILE)?;
    let foreign = if args.force { OnForeignEntry::Replace } else { OnForeignEntry::Refuse };
    let edited = if is_wanted {
        file.upsert(settings, opened.text(), foreign)
    } else if opened.text().is_empty() {
        Ok(String::new())
    } else {
        file.remove(settings, opened.text(), foreign)
    };
    let after = edited.map_err(|error| {
        let message = message!("{path}: {reason}", path = file.path.display(), reason = error.localize());
        // Those of an entry name options of `mcp config`.
        let hint = match error.code() {
            ErrorCode::ClientEntryTaken => msgid!("move it away, or pass --force to replace it; nothing was changed"),
            _ => ADAPTER_FILE.unreadable_hint,
        };
        CliError::coded(error.code(), message, hint)
    })?;
    Ok((opened, after))
}

fn build_settings(args: &AdapterArgs, dir: Option<&Path>) -> Result<AdapterSettings, CliError> {
    let program = program_command()?;
    let mut options = Vec::new();
    if let Some(dir) = dir {
        let whole = std::path::absolute(dir).map_err(|error| CLIENT_FILE.unreadable(dir, &error))?;
        options.extend(["--dir".to_owned(), path_to_utf8(&whole)?]);
    }
    let server =
        ServerTarget::command(program.clone(), server_arguments(&options)).map_err(|error| client_error(&error))?;
    let entry = ClientEntry::new(DEFAULT_NAME, server).map_err(|error| client_error(&error))?;
    Ok(AdapterSettings { program, options, entry, gate: args.gate })
}

fn place(args: &AdapterArgs, places: &PolicyArgs) -> Result<Place, CliError> {
    if args.user {
        return Ok(Place::User(etcetera::home_dir().map_err(|_| no_home())?));
    }
    Ok(Place::Project(places.project.clone().unwrap_or_default()))
}
