//! `mcp config`: prints a client's configuration entry, or writes it to or removes it from the
//! client's file.
//!
//! Invariant: a file is replaced atomically, only if it still has the content that was read, and
//! only on request. Symlinks are followed and kept: their target is edited.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::{Lang, escape_control_chars};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, msgid, tr};

use crate::args::{McpConfigArgs, PolicyArgs};
use crate::client_config::{self, ClientEntry, ClientError, FILE_LIMIT, OnForeignEntry, ServerTarget};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::streams::Streams;

/// The name of the program.
const PROGRAM_NAME: &str = "toolcell";
/// Maximum number of symlinks followed; the same limit as in Linux.
const MAX_SYMLINKS: usize = 40;

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
        let whole = std::path::absolute(dir).map_err(|error| unreadable(dir, &error))?;
        words.extend(["--dir".to_owned(), path_to_utf8(&whole)?]);
    }
    if let Some(count) = args.publish {
        words.extend(["--publish".to_owned(), count.to_string()]);
    }
    ServerTarget::command(program_command()?, words).map_err(|error| client_error(&error))
}

fn client_error(error: &ClientError) -> CliError {
    CliError::coded(error.code(), error.localize(), error.hint())
}

/// Returns the command that starts this program: its name if `PATH` resolves it to this binary,
/// else its path.
fn program_command() -> Result<String, CliError> {
    let own = std::env::current_exe().map_err(|error| unreadable(Path::new(PROGRAM_NAME), &error))?;
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
fn path_to_utf8(path: &Path) -> Result<String, CliError> {
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

fn no_home() -> CliError {
    CliError::usage(
        msgid!("the client's file is unknown: no home directory found"),
        msgid!("pass the file with --file, or set HOME"),
    )
}

/// Adds or removes the entry, and returns whether the file changed.
fn edit_file(args: &McpConfigArgs, entry: &ClientEntry, path: &Path) -> Result<bool, CliError> {
    let target = resolve_symlinks(path)?;
    let before = read_file(&target)?;
    let foreign = if args.force { OnForeignEntry::Replace } else { OnForeignEntry::Refuse };
    let text = before.as_deref().unwrap_or_default();
    let edit = if args.remove { client_config::remove } else { client_config::upsert };
    let after = edit(args.client, entry, text, foreign).map_err(|error| {
        let message = message!("{path}: {reason}", path = path.display(), reason = error);
        CliError::coded(error.code(), message, error.hint())
    })?;
    if after == text {
        return Ok(false);
    }
    if after.len() as u64 > FILE_LIMIT {
        return Err(too_long(&target));
    }
    replace_file(&target, before.as_deref(), &after, file_mode(args)).map(|()| true)
}

/// Returns the mode of a new file. A project file follows the umask; a user file is private,
/// because clients may keep tokens in it.
const fn file_mode(args: &McpConfigArgs) -> u32 {
    if args.place.user { 0o600 } else { 0o666 }
}

/// Follows symlinks to their final target, whether it exists or not.
fn resolve_symlinks(path: &Path) -> Result<PathBuf, CliError> {
    let failed = |error| unreadable(path, &error);
    let mut target = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        match std::fs::read_link(&target) {
            Ok(next) => target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next)),
            // Not a symlink, or nothing there.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => return Ok(target),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(unreadable_because(path, &message!("too many levels of symlinks")))
}

/// Reads a file; `None` if it does not exist.
fn read_file(path: &Path) -> Result<Option<String>, CliError> {
    let failed = |error| unreadable(path, &error);
    let metadata = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    // Reading a pipe or a device could block forever.
    if !metadata.is_file() {
        return Err(unreadable_because(path, &message!("is not a file")));
    }
    let bytes = File::open(path).and_then(|file| input::read_up_to(file, FILE_LIMIT + 1)).map_err(failed)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(too_long(path));
    }
    input::decode_utf8(bytes, &path.display().to_string()).map(Some)
}

fn too_long(path: &Path) -> CliError {
    let message = message!("{from} is longer than {limit} bytes", from = path.display(), limit = FILE_LIMIT);
    CliError::usage(message, msgid!("add the snippet by hand; nothing was changed"))
}

/// Replaces a file if its content is still `before`. Empty content removes the file.
fn replace_file(path: &Path, before: Option<&str>, after: &str, mode: u32) -> Result<(), CliError> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if before.is_none() {
        let mut making = DirBuilder::new();
        // The folder of a private file is private too.
        making.recursive(true).mode(if mode == 0o600 { 0o700 } else { 0o777 });
        making.create(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let failed = |error: std::io::Error| unwritable(path, &error);
    if after.is_empty() {
        check_unchanged(path, before)?;
        std::fs::remove_file(path).map_err(failed)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let new = folder.join(format!(".{name}.{}.new", std::process::id()));
        let done = write_new_file(&new, path, after, mode).map_err(failed).and_then(|()| {
            check_unchanged(path, before)?;
            std::fs::rename(&new, path).map_err(failed)
        });
        if done.is_err() {
            // Report the first error, even if this cleanup fails.
            let _ = std::fs::remove_file(&new);
        }
        done?;
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Writes a new file beside the old one, with the same owner and mode.
fn write_new_file(new: &Path, old: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(new)?;
    if let Ok(old) = old.metadata() {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Fails if a file no longer has the content `before`.
fn check_unchanged(path: &Path, before: Option<&str>) -> Result<(), CliError> {
    if read_file(path)?.as_deref() == before {
        return Ok(());
    }
    let message = message!("{path} was changed by another program", path = path.display());
    Err(CliError::coded(ErrorCode::ClientFileChanged, message, msgid!("run the command again; it changed nothing")))
}

fn unreadable(path: &Path, error: &std::io::Error) -> CliError {
    unreadable_because(path, &io_reason(error))
}

fn unreadable_because(path: &Path, reason: &Message) -> CliError {
    CliError::coded(
        ErrorCode::FileUnreadable,
        message!("{path} cannot be read: {reason}", path = path.display(), reason),
        msgid!("choose another file with --file; nothing was changed"),
    )
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::coded(
        ErrorCode::FileUnwritable,
        message!("{path} cannot be written: {reason}", path = path.display(), reason = io_reason(error)),
        msgid!("choose another file with --file, or add the snippet by hand"),
    )
}

fn io_reason(error: &std::io::Error) -> Message {
    match error.kind() {
        ErrorKind::PermissionDenied => message!("permission denied"),
        ErrorKind::ReadOnlyFilesystem => message!("the file system is read-only"),
        ErrorKind::NotADirectory => message!("a part of the path is not a folder"),
        _ => Message::verbatim(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_meanwhile_is_not_replaced() {
        let folder = std::env::temp_dir().join(format!("toolcell-mcp-config-{}", std::process::id()));
        let path = folder.join("mcp.json");
        replace_file(&path, None, "first", 0o600).unwrap();
        for (before, after) in [(None, "mine"), (Some("else"), "mine"), (Some("else"), "")] {
            let refused = replace_file(&path, before, after, 0o600).unwrap_err();
            assert_eq!(refused.code(), "client-file-changed");
            assert_eq!(read_file(&path).unwrap().as_deref(), Some("first"));
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        replace_file(&path, Some("first"), "second", 0o600).unwrap();
        replace_file(&path, Some("second"), "", 0o600).unwrap();
        assert_eq!(read_file(&path).unwrap(), None);
        std::fs::remove_dir(&folder).unwrap();
    }
}
