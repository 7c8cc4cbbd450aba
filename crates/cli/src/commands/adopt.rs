//! `adopt`: stores the tools of files that were written for pi or oh-my-pi.
//!
//! Invariant: what is wrong with one tool or one file is reported beside it, and does not keep the
//! others from being stored.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolcell::{AdoptedTool, Adoption, Draft, Toolbox, escape_control_chars, single_line};
use toolcell_i18n::{Lang, Message, message, tr};

use crate::args::AdoptArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::streams::Streams;

/// The endings of files with tools.
const ENDINGS: [&str; 4] = ["ts", "mts", "js", "mjs"];

/// What became of a file.
struct AdoptedFile {
    path: String,
    tools: Result<Vec<AdoptedTool>, CliError>,
}

/// The number of tools, or of files that cannot be read, by what became of them.
#[derive(Default)]
struct Counts {
    created: usize,
    unchanged: usize,
    failed: usize,
}

pub(crate) fn run(args: &AdoptArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let paths = expand_paths(&args.paths)?;
    let toolbox = context.open_toolbox(args.sandbox.config()?)?;
    let files = paths.into_iter().map(|path| {
        let tools = adopt_file(&path, args.replace, &toolbox, &mut context.streams);
        AdoptedFile { path, tools }
    });
    let files: Vec<AdoptedFile> = files.collect();
    let mut counts = Counts::default();
    for file in &files {
        match &file.tools {
            Ok(tools) => tools.iter().for_each(|tool| match tool.result {
                Ok(Adoption::Created(_)) => counts.created += 1,
                Ok(Adoption::Unchanged(_)) => counts.unchanged += 1,
                Err(_) => counts.failed += 1,
            }),
            Err(_) => counts.failed += 1,
        }
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let Counts { created, unchanged, failed } = counts;
        let files: Vec<Value> = files.iter().map(file_json).collect();
        let text = json!({"files": files, "created": created, "unchanged": unchanged, "failed": failed});
        writeln!(streams.output, "{text}")?;
    } else {
        print_text(&files, &counts, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(first_failure(files).map_or(Exit::Done, |error| error.exit()))
}

/// Stores the tools of a file.
fn adopt_file(
    path: &str,
    replace: bool,
    toolbox: &Toolbox,
    streams: &mut Streams<'_>,
) -> Result<Vec<AdoptedTool>, CliError> {
    let bytes = input::read_source(path, streams)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let draft = Draft::from_bytes(name, &bytes)?;
    Ok(toolbox.adopt(&draft, replace)?)
}

/// Expands folders to the files in them that a host would load: its files, and the index file of
/// each folder in it.
fn expand_paths(paths: &[String]) -> Result<Vec<String>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        if !Path::new(path).is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        for entry in sorted_entries(Path::new(path))? {
            if entry.is_dir() {
                let index = ENDINGS.iter().map(|ending| entry.join("index").with_extension(ending));
                found.extend(index.filter(|file| file.is_file()).take(1).map(|file| file.display().to_string()));
            } else if is_source(&entry) {
                found.push(entry.display().to_string());
            }
        }
        if found.len() == before {
            return Err(CliError::NoSources { path: path.clone() });
        }
    }
    Ok(found)
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let failed = |error| CliError::File { path: folder.display().to_string(), error };
    let entries = fs::read_dir(folder).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()).map_err(failed));
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    Ok(entries)
}

/// Whether a file has tools: a declaration file has none.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_declaration = name.ends_with(".d.ts") || name.ends_with(".d.mts");
    !is_declaration && path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

fn print_text(
    files: &[AdoptedFile],
    counts: &Counts,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<(), std::io::Error> {
    for AdoptedFile { path, tools } in files {
        let tools = match tools {
            Ok(tools) => tools,
            Err(error) => {
                // An error of the file system names the path itself.
                let text = match error {
                    CliError::File { .. } => error.message(),
                    _ => message!("{path}: {reason}", path, reason = error.message()),
                };
                print_failure(&text, error.hint(), lang, streams)?;
                continue;
            }
        };
        for AdoptedTool { name, result } in tools {
            match result {
                Ok(Adoption::Created(created)) => {
                    let (id, name) = (created.id.short(), &created.name);
                    let line = tr!(lang, "{path}: created {name} ({id})", path = escape_control_chars(path), name, id);
                    writeln!(streams.output, "{line}")?;
                    if let Some(reason) = &created.needs_approval {
                        let text = message!("`{name}` needs approval before its first run: {reason}", name, reason);
                        streams.print_note(&text, lang)?;
                    }
                }
                Ok(Adoption::Unchanged(id)) => {
                    let (path, id) = (escape_control_chars(path), id.short());
                    writeln!(
                        streams.output,
                        "{}",
                        tr!(lang, "{path}: {name} ({id}) is stored already", path, name, id)
                    )?;
                }
                Err(error) => {
                    let (name, reason) = (single_line(name), Message::verbatim(error.to_message(lang)));
                    let text = message!("{path}: `{name}`: {reason}", path, name, reason);
                    print_failure(&text, Some(error.hint()), lang, streams)?;
                }
            }
        }
    }
    let Counts { created, unchanged, failed } = *counts;
    let text = tr!(lang, "{created} created, {unchanged} unchanged, {failed} failed", created, unchanged, failed);
    writeln!(streams.output, "{text}")
}

fn print_failure(
    text: &Message,
    hint: Option<Message>,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<(), std::io::Error> {
    streams.print_labelled(tr!(lang, "error"), &single_line(&text.to_text(lang)), lang)?;
    match hint {
        Some(hint) => streams.print_hint(&hint, lang),
        None => Ok(()),
    }
}

fn file_json(file: &AdoptedFile) -> Value {
    match &file.tools {
        Ok(tools) => {
            let tools: Vec<Value> = tools.iter().map(tool_json).collect();
            json!({"path": file.path, "tools": tools})
        }
        Err(error) => {
            let hint = error.hint().map(|hint| hint.to_string()).unwrap_or_default();
            let error = json!({"code": error.code(), "message": error.message().to_string(), "hint": hint});
            json!({"path": file.path, "tools": [], "error": error})
        }
    }
}

fn tool_json(tool: &AdoptedTool) -> Value {
    match &tool.result {
        Ok(Adoption::Created(created)) => json!({
            "name": tool.name, "outcome": "created", "id": created.id.to_string(),
            "needsApproval": created.needs_approval.as_ref().map(ToString::to_string),
        }),
        Ok(Adoption::Unchanged(id)) => json!({"name": tool.name, "outcome": "unchanged", "id": id.to_string()}),
        Err(error) => {
            let error = json!({"code": error.code(), "message": error.to_string(), "hint": error.hint().to_string()});
            json!({"name": tool.name, "outcome": "failed", "error": error})
        }
    }
}

/// Returns the error of the first tool that was not stored, or of the first file.
fn first_failure(files: Vec<AdoptedFile>) -> Option<CliError> {
    files.into_iter().find_map(|file| match file.tools {
        Ok(tools) => tools.into_iter().find_map(|tool| tool.result.err()).map(CliError::from),
        Err(error) => Some(error),
    })
}
