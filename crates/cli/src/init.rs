//! `init`: writes a policy file to begin with.
//!
//! Invariant: nothing is overwritten, and what is written changes nothing until somebody edits it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::visible;

use crate::Streams;
use crate::args::{InitArgs, PolicyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::unwritable;
use crate::rules;

const USER: &str = include_str!("init/user.toml");
const PROJECT: &str = include_str!("init/project.toml");

pub(crate) fn run(
    args: &InitArgs,
    places: &PolicyArgs,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let (path, text, mode) = if args.user {
        (rules::user_path(places).ok_or(Failure::NoHome)?, USER, 0o600)
    } else {
        let here = args.folder == Path::new(".");
        (if here { rules::FILE.into() } else { args.folder.join(rules::FILE) }, PROJECT, 0o644)
    };
    write(&path, text, mode)?;
    let shown = path.display().to_string();
    if json {
        let layer = if args.user { "user" } else { "project" };
        writeln!(streams.output, "{}", json!({ "path": shown, "layer": layer }))?;
        return Ok(Exit::Done);
    }
    writeln!(streams.output, "wrote {}; it changes nothing yet", visible(&shown))?;
    for (command, what) in [
        ("toolcell config show --origin", "what holds, and why"),
        ("toolcell create FILE", "makes a tool"),
        ("toolcell list", "shows the tools that there are"),
    ] {
        writeln!(streams.errors, "next: {command:<31} {what}")?;
    }
    Ok(Exit::Done)
}

/// Writes a new file, and the folder of it.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed = unwritable(path);
    if let Some(folder) = path.parent().filter(|folder| *folder != PathBuf::new()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(&failed)?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = match opened {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let message = format!("{} is there already", path.display());
            return Err(Failure::said(
                "file-exists",
                message,
                "edit it; `toolcell config check` says whether it is sound",
            ));
        }
        other => other.map_err(&failed)?,
    };
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half a policy is none.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

#[cfg(test)]
mod tests {
    use toolcell::PolicyFile;
    use toolcell::policy::{Layer, Policy};

    use super::*;

    /// The file with its examples.
    fn with_examples(text: &str) -> String {
        let example = |line: &str| line.starts_with("# ") && (line.contains(" = ") || line.starts_with("# ["));
        text.lines().map(|line| if example(line) { &line[2..] } else { line }).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_init_writes_is_sound_with_its_examples_and_changes_nothing_without() {
        for (layer, text) in [(Layer::User, USER), (Layer::Project, PROJECT)] {
            let parse = |text: &str| PolicyFile::parse(layer, text, Path::new("toolcell.toml")).unwrap();
            let as_written = Policy::layered([parse(text)]).unwrap();
            let value = |setting: &toolcell::policy::Setting| (setting.key.clone(), setting.value.clone());
            let values = |policy: &Policy| policy.origins().iter().map(value).collect::<Vec<_>>();
            assert_eq!(values(&as_written), values(&Policy::default()), "{layer}");
            let edited = Policy::layered([parse(&with_examples(text))]).unwrap();
            assert_eq!(edited.gates().len(), 1, "{layer}");
        }
    }
}
