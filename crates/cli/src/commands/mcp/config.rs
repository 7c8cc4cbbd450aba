//! `mcp config`: prints a client's configuration entry, or writes it to or removes it from the
//! client's file.
//!
//! Invariant: a file is changed only on request.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::{Lang, escape_control_chars};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, msgid, tr};

use crate::args::{McpConfigArgs, PolicyArgs};
use crate::client_config::{self, ClientEntry, ClientError, FILE_LIMIT, OnForeignEntry, ServerTarget};
use crate::context::Context;
use crate::edited_file::{EditRules, EditedFile};
use crate::error::CliError;
use crate::exit::Exit;
use crate::streams::Streams;

/// The name of the program.
const PROGRAM_NAME: &str = "toolcell";
/// The configuration file of a client.
pub(in crate::commands) const CLIENT_FILE: EditRules = EditRules {
    limit: FILE_LIMIT,
    changed: ErrorCode::ClientFileChanged,
    too_long_hint: msgid!("add the snippet by hand; nothing was changed"),
    unreadable_hint: msgid!("choose another file with --file; nothing was changed"),
    unwritable_hint: msgid!("choose another file with --file, or add the snippet by hand"),
};

pub(crate) fn run(args: &McpConfigArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let entry = ClientEntry::new(&args.name, build_server(args, context.dir_option.as_deref())?)
        .map_err(|error| client_error(&error))?;
    let path = config_path(args, &context.policy_args)?;
    let changed = (args.write || args.remove).then(|| edit_file(args, &entry, &path)).transpose()?;
    let (shown, snippet) = (path.display().to_string(), args.client.snippet(&entry));
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let (client, changed) = (args.client.name(), changed.unwrap_or_default());
        let response = json!({ "client": client, "file": shown, "snippet": snippet, "changed": changed });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    let done = ConfigResult { path: escape_control_chars(&shown), snippet, changed };
    print_result(args, &done, lang, streams)?;
    Ok(Exit::Done)
}

/// What was done with a client's configuration.
struct ConfigResult {
    /// The client's file, escaped.
    path: String,
    snippet: String,
    /// Whether the file changed; `None` if it was not to be edited.
    changed: Option<bool>,
}

/// Prints what was done. Without `--write` and `--remove`, the snippet goes to standard output, and
/// a note on its place to standard error.
fn print_result(
    args: &McpConfigArgs,
    done: &ConfigResult,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let (name, ConfigResult { path, snippet, changed }) = (&args.name, done);
    let text = match (changed, args.remove) {
        (Some(true), true) => tr!(lang, "removed `{name}` from {path}", name, path),
        (Some(false), true) => tr!(lang, "nothing to remove: {path} has no `{name}`", name, path),
        (Some(true), false) => tr!(lang, "added `{name}` to {path}", name, path),
        (Some(false), false) => tr!(lang, "{path} already has `{name}`; nothing was changed", name, path),
        (None, _) => {
            write!(streams.output, "{}", streams.escape_for_output(snippet))?;
            streams.print_note(&message!("add this to {path}, or let --write do it", path), lang)?;
            return print_client_note(args, lang, streams);
        }
    };
    writeln!(streams.output, "{text}")?;
    if args.remove { Ok(()) } else { print_client_note(args, lang, streams) }
}

/// Prints what the user has to know about the client, if anything.
fn print_client_note(args: &McpConfigArgs, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Some(note) = args.client.note() else { return Ok(()) };
    streams.print_note(&message!("{client}: {note}", client = args.client.name(), note = Message::from(note)), lang)
}

/// Returns the server that the entry points to.
fn build_server(args: &McpConfigArgs, dir: Option<&Path>) -> Result<ServerTarget, CliError> {
    if let Some(url) = &args.http {
        return ServerTarget::http(url, args.token_env.as_deref()).map_err(|error| client_error(&error));
    }
    let mut words = vec!["mcp".to_owned()];
    if let Some(dir) = dir {
        let whole = std::path::absolute(dir).map_err(|error| CLIENT_FILE.unreadable(dir, &error))?;
        words.extend(["--dir".to_owned(), path_to_utf8(&whole)?]);
    }
    if let Some(count) = args.publish {
        words.extend(["--publish".to_owned(), count.to_string()]);
    }
    ServerTarget::command(program_command()?, words).map_err(|error| client_error(&error))
}

pub(in crate::commands) fn client_error(error: &ClientError) -> CliError {
    CliError::coded(error.code(), error.localize(), error.hint())
}

/// Returns the command that starts this program: its name if `PATH` resolves it to this binary,
/// else its path.
pub(in crate::commands) fn program_command() -> Result<String, CliError> {
    let own = std::env::current_exe().map_err(|error| CLIENT_FILE.unreadable(Path::new(PROGRAM_NAME), &error))?;
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM_NAME)).find(is_program);
    let whole = |path: &Path| path.canonicalize().ok();
    match first {
        Some(first) if whole(&first).is_some_and(|first| whole(&own) == Some(first)) => Ok(PROGRAM_NAME.to_owned()),
        _ => path_to_utf8(&own),
    }
}

/// Converts a path to UTF-8.
pub(in crate::commands) fn path_to_utf8(path: &Path) -> Result<String, CliError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CliError::usage(
            message!("{path} cannot be written to the configuration: the path is not UTF-8", path = path.display()),
            msgid!("use a folder with a UTF-8 name"),
        )
    })
}

/// Returns the client's configuration file.
fn config_path(args: &McpConfigArgs, places: &PolicyArgs) -> Result<PathBuf, CliError> {
    if let Some(file) = &args.place.file {
        return Ok(file.clone());
    }
    if !args.place.user {
        let file = args.client.project_file();
        return Ok(places.project.as_ref().map_or_else(|| file.to_owned(), |project| project.join(file)));
    }
    let home = etcetera::home_dir().map_err(|_| no_home())?;
    let folder = |variable: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from);
        set.filter(|folder| folder.is_absolute())
    };
    Ok(args.client.user_file(&home, folder))
}

pub(in crate::commands) fn no_home() -> CliError {
    CliError::usage(
        msgid!("the client's file is unknown: no home directory found"),
        msgid!("pass the file with --file, or set HOME"),
    )
}

/// Adds or removes the entry, and returns whether the file changed.
fn edit_file(args: &McpConfigArgs, entry: &ClientEntry, path: &Path) -> Result<bool, CliError> {
    let file = EditedFile::open(path, &CLIENT_FILE)?;
    let foreign = if args.force { OnForeignEntry::Replace } else { OnForeignEntry::Refuse };
    let edit = if args.remove { client_config::remove } else { client_config::upsert };
    let after = edit(args.client, entry, file.text(), foreign).map_err(|error| {
        let message = message!("{path}: {reason}", path = path.display(), reason = error);
        CliError::coded(error.code(), message, error.hint())
    })?;
    file.replace(&after, file_mode(args))
}

/// Returns the mode of a new file. A project file follows the umask; a user file is private,
/// because clients may keep tokens in it.
const fn file_mode(args: &McpConfigArgs) -> u32 {
    if args.place.user { 0o600 } else { 0o666 }
}
