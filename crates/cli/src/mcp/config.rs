//! `mcp config`: prints the entry that leads a client to the server, puts it into the client's file, and takes it out.
//!
//! Invariant: a file is replaced as a whole or not at all, only if it is still what was read, and never by something that
//! was not asked for. What stands at the end of symbolic links is what is edited; the links stay.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell_mcp::client::{self, ClientError, Entry, FILE_LIMIT, Server, WhenForeign};

use crate::args::{McpConfigArgs, PolicyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{Streams, input};
use toolcell::visible;

/// The name of the program.
const PROGRAM: &str = "toolcell";
/// How many symbolic links are followed, as Linux does.
const LINKS: usize = 40;

pub(crate) fn run(
    args: &McpConfigArgs,
    places: &PolicyArgs,
    dir: Option<&Path>,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let entry = Entry::new(&args.name, server(args, dir)?).map_err(|error| refused(&error))?;
    let path = place(args, places)?;
    let changed = (args.write || args.remove).then(|| edit(args, &entry, &path)).transpose()?;
    let (shown, snippet) = (path.display().to_string(), args.client.snippet(&entry));
    if json {
        let (client, changed) = (args.client.name(), changed.unwrap_or_default());
        let said = json!({ "client": client, "file": shown, "snippet": snippet, "changed": changed });
        writeln!(streams.output, "{said}")?;
        return Ok(Exit::Done);
    }
    say(args, &visible(&shown), &snippet, changed, streams)?;
    Ok(Exit::Done)
}

/// Says what was done; without an option to do something, the snippet goes to standard output, and where it belongs to
/// standard error.
fn say(
    args: &McpConfigArgs,
    path: &str,
    snippet: &str,
    changed: Option<bool>,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let name = &args.name;
    match (changed, args.remove) {
        (Some(true), true) => return writeln!(streams.output, "took `{name}` out of {path}"),
        (Some(false), true) => return writeln!(streams.output, "nothing to remove: there is no `{name}` in {path}"),
        (Some(true), false) => writeln!(streams.output, "put `{name}` into {path}")?,
        (Some(false), false) => writeln!(streams.output, "{path} has `{name}` already; nothing was changed")?,
        (None, _) => {
            write!(streams.output, "{}", streams.shown(snippet))?;
            writeln!(streams.errors, "note: this belongs into {path}; --write puts it there")?;
        }
    }
    args.client.note().map_or(Ok(()), |note| writeln!(streams.errors, "note: {}: {note}", args.client.name()))
}

/// The server that the entry is to lead to.
fn server(args: &McpConfigArgs, dir: Option<&Path>) -> Result<Server, Failure> {
    if let Some(url) = &args.http {
        return Server::http(url, args.token_env.as_deref()).map_err(|error| refused(&error));
    }
    let mut words = vec!["mcp".to_owned()];
    if let Some(dir) = dir {
        let whole = std::path::absolute(dir).map_err(|error| unreadable(dir, &error))?;
        words.extend(["--dir".to_owned(), plain(&whole)?]);
    }
    if let Some(count) = args.publish {
        words.extend(["--publish".to_owned(), count.to_string()]);
    }
    Server::command(command()?, words).map_err(|error| refused(&error))
}

fn refused(error: &ClientError) -> Failure {
    Failure::said(error.code(), error.to_string(), error.hint())
}

/// What starts this program: its name where that leads to it, else where it is.
fn command() -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(|error| unreadable(Path::new(PROGRAM), &error))?;
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM)).find(is_program);
    let whole = |path: &Path| path.canonicalize().ok();
    match first {
        Some(first) if whole(&first).is_some_and(|first| whole(&own) == Some(first)) => Ok(PROGRAM.to_owned()),
        _ => plain(&own),
    }
}

/// A path as text.
fn plain(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Typed {
        message: format!("{} cannot be written into a configuration: it is not UTF-8", path.display()),
        hint: "take a folder with a plain name",
    })
}

/// The file that the entry belongs to.
fn place(args: &McpConfigArgs, places: &PolicyArgs) -> Result<PathBuf, Failure> {
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

fn no_home() -> Failure {
    let message = "there is no home directory to find the client's file in".to_owned();
    Failure::Typed { message, hint: "name the file with --file, or set HOME" }
}

/// Puts the entry in or takes it out, and says whether that changed the file.
fn edit(args: &McpConfigArgs, entry: &Entry, path: &Path) -> Result<bool, Failure> {
    let target = target(path)?;
    let before = read(&target)?;
    let foreign = if args.force { WhenForeign::Replace } else { WhenForeign::Refuse };
    let text = before.as_deref().unwrap_or_default();
    let edit = if args.remove { client::take } else { client::put };
    let after = edit(args.client, entry, text, foreign).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Failure::said(error.code(), message, error.hint())
    })?;
    if after == text {
        return Ok(false);
    }
    if after.len() as u64 > FILE_LIMIT {
        return Err(too_long(&target));
    }
    replace(&target, before.as_deref(), &after, mode(args)).map(|()| true)
}

/// Who may read a file that is made: of a project, whoever the user lets; of a user, nobody else, since a client may keep
/// tokens in it.
const fn mode(args: &McpConfigArgs) -> u32 {
    if args.place.user { 0o600 } else { 0o666 }
}

/// Where symbolic links lead to in the end, whether there is something or not.
fn target(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| unreadable(path, &error);
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&target) {
            Ok(next) => target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next)),
            // It is no link, or nothing.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => return Ok(target),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(failed(std::io::Error::other("more symbolic links than can be followed")))
}

/// The text of a file; nothing where there is none.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |error| unreadable(path, &error);
    let metadata = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    // What is no file, such as a pipe, could be waited for without end.
    if !metadata.is_file() {
        return Err(failed(std::io::Error::other("is not a file")));
    }
    let bytes = File::open(path).and_then(|file| input::read(file, FILE_LIMIT + 1)).map_err(failed)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(too_long(path));
    }
    input::text(bytes, &path.display().to_string()).map(Some)
}

fn too_long(path: &Path) -> Failure {
    let message = format!("{} is longer than {FILE_LIMIT} bytes", path.display());
    Failure::Typed { message, hint: "put the snippet in by hand; nothing was changed" }
}

/// Puts a text in the place of a file that is still what it was. A text that is empty is that of no file.
fn replace(path: &Path, before: Option<&str>, after: &str, mode: u32) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if before.is_none() {
        let mut making = DirBuilder::new();
        // A folder of a user's is nobody else's, as the file is.
        making.recursive(true).mode(if mode == 0o600 { 0o700 } else { 0o777 });
        making.create(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let failed = |error: std::io::Error| unwritable(path, &error);
    if after.is_empty() {
        unchanged(path, before)?;
        std::fs::remove_file(path).map_err(failed)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let new = folder.join(format!(".{name}.{}.new", std::process::id()));
        let done = fill(&new, path, after, mode).map_err(failed).and_then(|()| {
            unchanged(path, before)?;
            std::fs::rename(&new, path).map_err(failed)
        });
        if done.is_err() {
            // Where even that fails, what failed before is what is said.
            let _ = std::fs::remove_file(&new);
        }
        done?;
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Writes a new file beside the old one, for the same owner and readers.
fn fill(new: &Path, old: &Path, text: &str, mode: u32) -> std::io::Result<()> {
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

/// Nothing, if a file is still what it was.
fn unchanged(path: &Path, before: Option<&str>) -> Result<(), Failure> {
    if read(path)?.as_deref() == before {
        return Ok(());
    }
    let message = format!("{} was changed meanwhile", path.display());
    Err(Failure::said("client-file-changed", message, "run it again; nothing was changed by it"))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be read: {}", path.display(), why(error));
    Failure::said("file-unreadable", message, "name another file with --file; nothing was changed")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {}", path.display(), why(error));
    Failure::said("file-unwritable", message, "name another file with --file, or put the snippet in by hand")
}

fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is no folder".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_meanwhile_is_not_replaced() {
        let folder = std::env::temp_dir().join(format!("toolcell-mcp-config-{}", std::process::id()));
        let path = folder.join("mcp.json");
        replace(&path, None, "first", 0o600).unwrap();
        for (before, after) in [(None, "mine"), (Some("else"), "mine"), (Some("else"), "")] {
            let refused = replace(&path, before, after, 0o600).unwrap_err();
            assert_eq!(refused.code(), "client-file-changed");
            assert_eq!(read(&path).unwrap().as_deref(), Some("first"));
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        replace(&path, Some("first"), "second", 0o600).unwrap();
        replace(&path, Some("second"), "", 0o600).unwrap();
        assert_eq!(read(&path).unwrap(), None);
        std::fs::remove_dir(&folder).unwrap();
    }
}
