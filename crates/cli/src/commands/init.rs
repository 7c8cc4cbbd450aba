//! `init`: creates a policy file from a template.
//!
//! Invariant: no file is overwritten, and the template has no effect until it is edited.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::escape_control_chars;
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, tr};

use crate::args::InitArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::write_error;
use crate::policy_files;

const USER_TEMPLATE: &str = include_str!("init/user.toml");
const PROJECT_TEMPLATE: &str = include_str!("init/project.toml");

pub(crate) fn run(args: &InitArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let (path, text, mode) = if args.user {
        (policy_files::user_path(&context.policy_args).ok_or(CliError::NoHome)?, USER_TEMPLATE, 0o600)
    } else {
        let here = args.folder == Path::new(".");
        (
            if here { policy_files::FILE_NAME.into() } else { args.folder.join(policy_files::FILE_NAME) },
            PROJECT_TEMPLATE,
            0o644,
        )
    };
    create_file(&path, text, mode)?;
    let shown = path.display().to_string();
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let layer = if args.user { "user" } else { "project" };
        writeln!(streams.output, "{}", json!({ "path": shown, "layer": layer }))?;
        return Ok(Exit::Done);
    }
    let path = escape_control_chars(&shown);
    writeln!(streams.output, "{}", tr!(lang, "created {path}; all settings are still the defaults", path))?;
    for (command, what) in [
        ("toolcell config show --origin", tr!(lang, "show the effective policy and its origins")),
        ("toolcell create FILE", tr!(lang, "command" => "create a tool")),
        ("toolcell list", tr!(lang, "list the stored tools")),
    ] {
        streams.print_labelled(tr!(lang, "next"), &format!("{command:<31} {what}"), lang)?;
    }
    Ok(Exit::Done)
}

/// Creates a new file, and its folder if needed.
fn create_file(path: &Path, text: &str, mode: u32) -> Result<(), CliError> {
    let failed = write_error(path);
    if let Some(folder) = path.parent().filter(|folder| *folder != PathBuf::new()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(&failed)?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = match opened {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(CliError::coded(
                ErrorCode::FileExists,
                message!("{path} already exists", path = path.display()),
                message!("edit it, and validate it with `toolcell config check`"),
            ));
        }
        other => other.map_err(&failed)?,
    };
    file.write_all(text.as_bytes()).map_err(|error| {
        // A partial policy file would be invalid.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

#[cfg(test)]
mod tests {
    use toolcell::PolicyFile;
    use toolcell::policy::{Layer, Policy};

    use super::*;

    /// Returns the template with its example lines uncommented.
    fn uncomment_examples(text: &str) -> String {
        let example = |line: &str| line.starts_with("# ") && (line.contains(" = ") || line.starts_with("# ["));
        text.lines().map(|line| if example(line) { &line[2..] } else { line }).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_init_writes_is_sound_with_its_examples_and_changes_nothing_without() {
        for (layer, text) in [(Layer::User, USER_TEMPLATE), (Layer::Project, PROJECT_TEMPLATE)] {
            let parse = |text: &str| PolicyFile::parse(layer, text, Path::new("toolcell.toml")).unwrap();
            let as_written = Policy::from_layers([parse(text)]).unwrap();
            let value = |setting: &toolcell::policy::Setting| (setting.key.clone(), setting.value.clone());
            let values = |policy: &Policy| policy.settings().iter().map(value).collect::<Vec<_>>();
            assert_eq!(values(&as_written), values(&Policy::default()), "{layer}");
            let edited = Policy::from_layers([parse(&uncomment_examples(text))]).unwrap();
            assert_eq!(edited.hooks().len(), 2, "{layer}");
        }
    }
}
