//! The program of a hook: what it is started with, and the files that it is made of.
//!
//! Invariant: a program sees of the host's environment what it needs to start and what its policy names, and never a secret of a
//! tool or a token. Which files it is made of is looked up each time, since the search path is the host's.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The environment variables that every program gets, and the beginning of the names of further ones.
const PASSED: [&str; 6] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"];
const PASSED_PREFIX: &str = "LC_";
/// The variables that hold secrets of ours, and the beginning of the names of those that hold secrets of tools.
const SECRET: [&str; 3] = ["TOOLCELL_MCP_TOKEN", "TOOLCELL_TOKEN", "TOOLCELL_KEY_PASSWORD"];
const SECRET_PREFIX: &str = "TOOLCELL_SECRET_";

/// Why a program does not get a variable of this name.
pub(crate) fn refused_variable(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains('=') || name.chars().any(char::is_control) {
        return Some("that is no name of an environment variable");
    }
    let is_secret = SECRET.contains(&name) || name.starts_with(SECRET_PREFIX);
    is_secret
        .then_some("it holds a secret of a tool, or a token, which no hook gets; give the hook a variable of its own")
}

/// The part of the host's environment that a program gets.
pub(super) fn environment(named: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let is_named = || named.iter().any(|named| named == name) && refused_variable(name).is_none();
        PASSED.contains(&name) || name.starts_with(PASSED_PREFIX) || is_named()
    };
    std::env::vars_os().filter(move |(name, _)| is_passed(name))
}

/// The files and folders that a command is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFiles {
    /// The program, and the arguments that are files: the script of an interpreter, a file of rules.
    pub files: Vec<PathBuf>,
    /// The arguments that are folders.
    pub folders: Vec<PathBuf>,
}

impl ProgramFiles {
    /// Looks up what a command is made of. A program with a `/` in it is looked for from a folder, another one in `PATH`; an argument,
    /// or what stands behind the `=` in it, in the current directory, as the program itself would, and in the folder.
    #[must_use]
    pub fn of(command: &[String], folder: &Path) -> Self {
        let mut found = Self::default();
        let Some((program, arguments)) = command.split_first() else { return found };
        match resolved(program, folder) {
            Some(path) => found.files.push(path),
            // It is not there now. Whoever puts it there decides what runs.
            None if program.contains('/') => found.files.push(folder.join(program)),
            None => {}
        }
        let here = std::env::current_dir().unwrap_or_default();
        for argument in arguments {
            let value = argument.split_once('=').map(|(_, value)| value);
            for text in [Some(argument.as_str()), value].into_iter().flatten().filter(|text| !text.is_empty()) {
                found.take(&here.join(text));
                found.take(&folder.join(text));
            }
        }
        found
    }

    fn take(&mut self, path: &Path) {
        let Ok(metadata) = path.metadata() else { return };
        let list = if metadata.is_dir() { &mut self.folders } else { &mut self.files };
        if !metadata.is_dir() && !metadata.is_file() {
            return;
        }
        if !list.iter().any(|known| known == path) {
            list.push(path.to_owned());
        }
    }
}

/// The folders in which programs are looked for.
pub(crate) fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty entry is the current directory.
    std::env::split_paths(&path)
        .map(|entry| if entry.as_os_str().is_empty() { PathBuf::from(".") } else { entry })
        .collect()
}

/// The file that would be started.
fn resolved(program: &str, folder: &Path) -> Option<PathBuf> {
    let starts = |path: &PathBuf| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(folder.join(program)).filter(starts);
    }
    search_path().into_iter().map(|entry| entry.join(program)).find(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_ours_can_be_named() {
        for name in
            ["TOOLCELL_SECRET_API", "TOOLCELL_MCP_TOKEN", "TOOLCELL_TOKEN", "TOOLCELL_KEY_PASSWORD", "", "A=B", "A\nB"]
        {
            assert!(refused_variable(name).is_some(), "{name:?}");
        }
        for name in ["AWS_PROFILE", "TOOLCELL_DIR", "MY_TOOLCELL_SECRET_X"] {
            assert_eq!(refused_variable(name), None, "{name}");
        }
    }

    #[test]
    fn the_files_of_a_command_are_its_program_and_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("check.py");
        let made = std::process::Command::new("touch").arg(&script).status().unwrap();
        assert!(made.success());
        let of = |command: &[&str]| {
            ProgramFiles::of(&command.iter().map(ToString::to_string).collect::<Vec<_>>(), folder.path())
        };
        let found = of(&["sh", "check.py", "--rules=check.py", "-c", "exit 1", ".", ""]);
        let shell = search_path().into_iter().map(|entry| entry.join("sh")).find(|path| path.is_file()).unwrap();
        assert_eq!(found.files, [shell, script]);
        assert!(found.folders.contains(&folder.path().join(".")), "{found:?}");
        // One that is not there yet counts by its place.
        assert_eq!(of(&["./gone"]).files, [folder.path().join("./gone")]);
        assert_eq!(of(&["no-such-program-at-all"]), ProgramFiles::default());
        assert_eq!(of(&[]), ProgramFiles::default());
    }
}
