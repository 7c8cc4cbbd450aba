//! The program of a hook: its environment and the files it consists of.
//!
//! Invariant: a program gets only the environment variables that it needs to start and those that
//! its policy names, and never a secret of a tool or a token. The files are looked up each time,
//! because the search path belongs to the host.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use toolcell_policy::variable_refusal;

/// The environment variables that every program gets, and the name prefix of further ones.
const PASSED_VARIABLES: [&str; 6] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"];
const PASSED_PREFIX: &str = "LC_";
/// The maximum length of a `#!` line, in bytes, as in Linux (`BINPRM_BUF_SIZE`).
const MAX_SHEBANG_BYTES: u64 = 256;
/// The maximum depth of `#!` interpreters, as in Linux.
const MAX_INTERPRETERS: usize = 4;

/// Returns the part of the host's environment that a program gets.
pub(super) fn filtered_environment(named: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let is_named = || named.iter().any(|named| named == name) && variable_refusal(name).is_none();
        PASSED_VARIABLES.contains(&name) || name.starts_with(PASSED_PREFIX) || is_named()
    };
    std::env::vars_os().filter(move |(name, _)| is_passed(name))
}

/// The files and folders that a command consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFiles {
    /// The program, the arguments that are files (the script of an interpreter, a file of rules),
    /// and the interpreters in the `#!` lines of these files.
    pub files: Vec<PathBuf>,
    /// The arguments that are folders.
    pub folders: Vec<PathBuf>,
}

impl ProgramFiles {
    /// Looks up the files of a command. A program path with a `/` is resolved against the folder, a
    /// name is looked up in `PATH`. An argument, or the part after its `=`, is resolved both
    /// against the current directory, as the program would do, and against the folder. Programs
    /// that the text of an argument starts (`sh -c TEXT`) are not looked up.
    #[must_use]
    pub fn for_command(command: &[String], folder: &Path) -> Self {
        let mut found = Self::default();
        let Some((program, arguments)) = command.split_first() else { return found };
        match resolve_program(program, folder) {
            Some(path) => found.files.push(path),
            // The program does not exist yet. Creating this file would decide what runs, so it
            // counts.
            None if program.contains('/') => found.files.push(folder.join(program)),
            None => {}
        }
        let here = std::env::current_dir().unwrap_or_default();
        for argument in arguments {
            found.add_argument(argument, &[&here, folder]);
        }
        found.add_interpreters(&here);
        found
    }

    /// Adds an argument, and the part after its `=`, if it is an existing file or folder below one
    /// of `below`.
    fn add_argument(&mut self, argument: &str, below: &[&Path]) {
        let value = argument.split_once('=').map(|(_, value)| value);
        for text in [Some(argument), value].into_iter().flatten().filter(|text| !text.is_empty()) {
            for folder in below {
                self.add_existing(&folder.join(text));
            }
        }
    }

    /// Adds the interpreters of the files, and their interpreters in turn.
    fn add_interpreters(&mut self, here: &Path) {
        let mut known = 0;
        for _ in 0..MAX_INTERPRETERS {
            let new = self.files[known..].to_vec();
            known = self.files.len();
            for words in new.iter().filter_map(|file| shebang_words(file)) {
                let mut rest = words.iter().map(String::as_str);
                let Some(program) = rest.next() else { continue };
                // The kernel resolves the path against the current directory.
                let path = here.join(program);
                let is_env = path.file_name().is_some_and(|name| name == "env");
                self.add_program(path);
                // Which word `env` starts depends on its options, so each word that names a program
                // counts.
                for named in rest.clone().filter(|_| is_env).map(program_in_env_word) {
                    let missing = named.contains('/').then(|| here.join(named));
                    if let Some(path) = resolve_program(named, here).or(missing) {
                        self.add_program(path);
                    }
                }
                rest.for_each(|argument| self.add_argument(argument, &[here]));
            }
        }
    }

    /// Adds a program, which need not exist yet.
    fn add_program(&mut self, path: PathBuf) {
        if !self.files.contains(&path) {
            self.files.push(path);
        }
    }

    fn add_existing(&mut self, path: &Path) {
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

/// Returns the words of the `#!` line of a file: the interpreter and its arguments. The kernel
/// passes the rest of the line as one argument; the result contains it both whole and split into
/// words, as `env -S` splits it.
fn shebang_words(path: &Path) -> Option<Vec<String>> {
    let mut start = Vec::new();
    open_regular_file(path).ok()?.take(MAX_SHEBANG_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t', '\r', '\0']);
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim_start();
    let words = argument.split_ascii_whitespace();
    let whole = (words.clone().count() > 1).then_some(argument);
    let all = std::iter::once(program).chain(words).chain(whole);
    (!program.is_empty()).then(|| all.map(str::to_owned).collect())
}

/// Returns the program that a word after `env` may name: `-S` and its text can be one quoted word.
fn program_in_env_word(word: &str) -> &str {
    let attached = ["--split-string=", "-vS", "-iS", "-S"].iter().find_map(|option| word.strip_prefix(option));
    attached.unwrap_or(word).trim_matches(['"', '\''])
}

/// Opens a regular file for reading. Fails for anything else, and does not block on a FIFO.
///
/// # Errors
/// The file cannot be opened or is not a regular file.
pub fn open_regular_file(path: &Path) -> std::io::Result<impl Read + use<>> {
    let flags = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits();
    let flags = i32::try_from(flags).map_err(std::io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("not a regular file")) }
}

/// Returns the folders of the search path (`PATH`).
pub(crate) fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty entry is the current directory.
    std::env::split_paths(&path)
        .map(|entry| if entry.as_os_str().is_empty() { PathBuf::from(".") } else { entry })
        .collect()
}

/// Returns the executable file that would be started.
pub(crate) fn resolve_program(program: &str, folder: &Path) -> Option<PathBuf> {
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
    fn the_files_of_a_command_are_its_program_and_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("check.py");
        let made = std::process::Command::new("touch").arg(&script).status().unwrap();
        assert!(made.success());
        let of = |command: &[&str]| {
            ProgramFiles::for_command(&command.iter().map(ToString::to_string).collect::<Vec<_>>(), folder.path())
        };
        let found = of(&["sh", "check.py", "--rules=check.py", "-c", "exit 1", ".", ""]);
        let shell = search_path().into_iter().map(|entry| entry.join("sh")).find(|path| path.is_file()).unwrap();
        assert_eq!(found.files, [shell, script]);
        assert!(found.folders.contains(&folder.path().join(".")), "{found:?}");
        // A missing program counts by its path.
        assert_eq!(of(&["./gone"]).files, [folder.path().join("./gone")]);
        assert_eq!(of(&["no-such-program-at-all"]), ProgramFiles::default());
        assert_eq!(of(&[]), ProgramFiles::default());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the scripts whose interpreters are found are files")]
    fn the_interpreters_of_scripts_are_files_of_a_command() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let at = |path: &Path| path.to_str().unwrap().to_owned();
        let of = |command: &[&Path]| {
            ProgramFiles::for_command(&command.iter().map(|path| at(path)).collect::<Vec<_>>(), home.path()).files
        };
        let shell = search_path().into_iter().map(|entry| entry.join("sh")).find(|path| path.is_file()).unwrap();
        // An interpreter may itself be a script, and may take a file as an argument.
        let rules = write("rules", "");
        let inner = write("inner", &format!("#! {} -e\n", shell.display()));
        let outer = write("outer", &format!("#!{} {}\r\nrest", inner.display(), rules.display()));
        let script = write("check", &format!("#!{}\n", outer.display()));
        assert_eq!(of(&[&script]), [&script, &outer, &inner, &rules, &shell].map(PathBuf::clone));
        // The interpreter of a script that is an argument counts as well.
        assert_eq!(of(&[&shell, &inner]), [&shell, &inner].map(PathBuf::clone));
        // `env` looks up its program in the search path, whatever its options are.
        for line in ["sh", "-S sh -eu", "-Ssh -eu", "-S -u NAME sh", "-S A=b sh", "--split-string=sh -e", "-S \"sh\""] {
            let script = write("by-env", &format!("#!/usr/bin/env {line}\n"));
            let found = of(&[&script]);
            assert_eq!(found[..2], [script, PathBuf::from("/usr/bin/env")], "{line}");
            assert!(found.contains(&shell), "{line}: {found:?}");
        }
        // A missing interpreter counts by its path, and a cycle of interpreters terminates.
        let gone = home.path().join("gone");
        let script = write("lost", &format!("#!{}\n", gone.display()));
        assert_eq!(of(&[&script]), [script.clone(), gone]);
        let circle = home.path().join("circle");
        write("circle", &format!("#!{}\n", circle.display()));
        assert_eq!(of(&[&circle]), [circle]);
        for none in ["#!", "#!  \n/bin/sh", "", "# !/bin/sh", "\u{feff}#!/bin/sh"] {
            let script = write("none", none);
            assert_eq!(of(&[&script]), [script], "{none:?}");
        }
        // Opening a FIFO does not block.
        let fifo = home.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let script = write("fifo-script", &format!("#!{}\n", fifo.display()));
        assert_eq!(of(&[&script]), [script.clone(), fifo.clone()]);
        assert!(
            open_regular_file(&fifo).is_err()
                && open_regular_file(home.path()).is_err()
                && open_regular_file(&script).is_ok()
        );
    }
}
