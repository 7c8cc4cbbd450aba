//! The compiler of TypeScript 7 (`tsc`), as a process for each check.
//!
//! ```text
//! files → private folder → tsc --noEmit → lines of text → diagnostics
//! ```
//!
//! The compiler reads files, so what a source imports could be read. Three things prevent that. It resolves nothing
//! (`--noResolve`), so it opens the files of the check and its own libraries alone. All files of a check have a random
//! suffix (`--moduleSuffixes`) without which no module is found, so a diagnostic does not tell whether another file
//! exists. And `/// <reference …/>` is an ordinary comment.
//!
//! Invariant: after a check, neither a process of the compiler's group nor a file is left. What the compiler prints is
//! bounded, and is text.

use std::fs::DirBuilder;
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use toolcell_i18n::{Message, message};
use toolcell_types::{
    DiagnosticCategory, LIBRARIES, MAX_DIAGNOSTICS, MAX_REQUEST_BYTES, TypeDiagnostic, TypedFile, sanitize_message,
};

use super::Answer;
use crate::admission::hook::resolve_program;

/// The oldest version whose diagnostics are those of `toolcell-types`.
const OLDEST_MAJOR_VERSION: u32 = 7;
/// The time in which the compiler has to end. It is started anew for each check, mostly by Node: that takes 0.1 s on an
/// idle machine, and can take seconds on a busy one.
const RUN_TIME: Duration = Duration::from_secs(5);
/// How often to look whether the compiler has ended, after it closed its output.
const POLL_TIME: Duration = Duration::from_millis(2);
/// Bytes that are read of what it prints.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// Bytes that are kept of its standard error.
const MAX_STDERR_BYTES: u64 = 4 << 10;
/// Characters of a line of its output in a message.
const MAX_SHOWN_CHARS: usize = 200;
/// The memory above which the runtime of Go collects garbage as hard as it can.
const SOFT_MEMORY_LIMIT: &str = "256MiB";
/// The processors that the runtime of Go uses.
const PROCESSORS: &str = "2";
/// Bytes of writable memory. Go and Node reserve far more addresses than they use, so the address space is not limited.
#[cfg(target_os = "linux")]
const MAX_DATA_BYTES: u64 = 512 << 20;
/// Seconds of processor time: it does not outlive for long a parent that died before the deadline.
#[cfg(target_os = "linux")]
const MAX_CPU_SECONDS: u64 = 10;
/// What the runtime of Go says when memory is used up.
const OUT_OF_MEMORY: [&str; 3] = ["out of memory", "cannot allocate memory", "stack overflow"];

/// The compiler that the user names.
#[derive(Debug)]
pub(super) struct Compiler {
    command: Vec<String>,
    folder: PathBuf,
    /// Its version, once it has told it.
    version: OnceLock<String>,
}

impl Compiler {
    pub(super) const fn new(command: Vec<String>, folder: PathBuf) -> Self {
        Self { command, folder, version: OnceLock::new() }
    }

    /// Returns the version of the compiler, if it can be used.
    pub(super) fn version(&self) -> Result<&str, Message> {
        if let Some(version) = self.version.get() {
            return Ok(version);
        }
        let ended = self.run(Path::new("/"), &["--version".to_owned()])?;
        let Some(status) = ended.status else {
            return Err(message!("it did not tell its version within {seconds} s", seconds = RUN_TIME.as_secs()));
        };
        let printed = String::from_utf8_lossy(&ended.output);
        let Some(version) = printed.trim().strip_prefix("Version ").filter(|_| status.success()) else {
            let line = first_line(&[&printed, &ended.stderr]);
            return Err(message!("it is not the compiler of TypeScript: `--version` gives `{line}`", line));
        };
        let version = shown(version);
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major.is_none_or(|major| major < OLDEST_MAJOR_VERSION) {
            return Err(message!(
                "it is TypeScript {version}, and {oldest} is needed: npm install --global typescript@{oldest}",
                version,
                oldest = OLDEST_MAJOR_VERSION
            ));
        }
        Ok(self.version.get_or_init(|| version))
    }

    /// Has files checked.
    pub(super) fn ask(&self, files: &[TypedFile]) -> Answer {
        if files.iter().map(|file| file.text.len()).sum::<usize>() >= MAX_REQUEST_BYTES {
            return Answer::TooComplex;
        }
        if let Err(why) = self.version() {
            return Answer::Failed(why);
        }
        let folder = match CheckFolder::create(files) {
            Ok(folder) => folder,
            Err(error) => return Answer::Failed(message!("the files of the check cannot be written: {error}", error)),
        };
        let ended = match self.run(&folder.path, &folder.arguments(files)) {
            Ok(ended) => ended,
            Err(why) => return Answer::Failed(why),
        };
        let Some(status) = ended.status else { return Answer::TooComplex };
        let printed = String::from_utf8_lossy(&ended.output);
        if status.signal().is_some() || OUT_OF_MEMORY.iter().any(|words| ended.stderr.contains(words)) {
            return Answer::TooComplex;
        }
        let diagnostics = folder.parse(&printed, files);
        if status.success() || !diagnostics.is_empty() {
            return Answer::Checked(diagnostics);
        }
        Answer::Failed(message!("it failed: {line}", line = first_line(&[&ended.stderr, &printed])))
    }

    /// Runs the compiler in a folder.
    fn run(&self, folder: &Path, arguments: &[String]) -> Result<Ended, Message> {
        let name = self.command.first().map_or("", String::as_str);
        let found = resolve_program(name, &self.folder).and_then(|path| std::path::absolute(path).ok());
        let Some(program) = found else {
            let name = shown(name);
            return Err(message!("there is no program `{name}`: npm install --global typescript@7", name));
        };
        let mut command = Command::new(program);
        command.args(self.command.iter().skip(1)).args(arguments).current_dir(folder).process_group(0);
        // A script of Node finds `node` in it.
        let path = std::env::var_os("PATH").map(|path| ("PATH", path));
        command.env_clear().envs(path).env("GOMEMLIMIT", SOFT_MEMORY_LIMIT).env("GOMAXPROCS", PROCESSORS);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let deadline = Instant::now() + RUN_TIME;
        let cannot_start = |error: io::Error| message!("it cannot be started: {error}", error);
        let mut running = Running(command.spawn().map_err(cannot_start)?);
        running.limit();
        let (Some(output), Some(stderr)) = (running.0.stdout.take(), running.0.stderr.take()) else {
            return Err(cannot_start(io::Error::other("it has no pipes")));
        };
        let output = read_bounded(output, MAX_OUTPUT_BYTES).map_err(cannot_start)?;
        let stderr = read_bounded(stderr, MAX_STDERR_BYTES).map_err(cannot_start)?;
        let left = || deadline.saturating_duration_since(Instant::now());
        let closed = output.recv_timeout(left()).and_then(|output| Ok((output, stderr.recv_timeout(left())?)));
        let has_ended = closed.is_ok() && running.wait_until(deadline);
        let status = running.end().map_err(cannot_start)?;
        let (output, stderr) = closed.unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(Ended { output, stderr, status: has_ended.then_some(status) })
    }
}

/// What came of a run.
struct Ended {
    output: Vec<u8>,
    stderr: String,
    /// `None` if it was killed at the deadline.
    status: Option<ExitStatus>,
}

/// A running compiler. Its process group is killed in the end.
struct Running(Child);

impl Running {
    /// Limits what the process takes of the machine.
    fn limit(&self) {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

            let pid = Pid::from_child(&self.0);
            for (resource, most) in
                [(Resource::Data, MAX_DATA_BYTES), (Resource::Cpu, MAX_CPU_SECONDS), (Resource::Core, 0)]
            {
                // An existing limit may be tighter; it is never raised.
                let Rlimit { current, maximum } = getrlimit(resource);
                let most = [current, maximum].into_iter().flatten().fold(most, u64::min);
                // It may have ended already.
                let _ = prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) });
            }
        }
    }

    /// Waits until the first process of the group has ended, without reaping it: its group keeps its number.
    fn wait_until(&self, deadline: Instant) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            match waitid(WaitId::Pid(Pid::from_child(&self.0)), options) {
                Ok(Some(_)) => return true,
                Ok(None) | Err(rustix::io::Errno::INTR) if Instant::now() < deadline => std::thread::sleep(POLL_TIME),
                _ => return false,
            }
        }
    }

    /// Kills the group, and returns the status of its first process.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // It may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Once it is reaped, its number may be that of another process.
        if let Ok(None) = self.0.try_wait() {
            let _ = self.end();
        }
    }
}

/// Reads a pipe to its end on a thread, and keeps its first bytes.
fn read_bounded(mut pipe: impl Read + Send + 'static, limit: u64) -> io::Result<Receiver<Vec<u8>>> {
    let (send, receive) = channel();
    std::thread::Builder::new().name("types".to_owned()).spawn(move || {
        let mut kept = Vec::new();
        let read = pipe.by_ref().take(limit).read_to_end(&mut kept);
        if read.is_ok() {
            // A full pipe would stop the compiler.
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        // After the deadline the receiver is gone.
        let _ = send.send(kept);
    })?;
    Ok(receive)
}

/// A folder that only this user can enter, with the files of one check. It is removed in the end.
struct CheckFolder {
    path: PathBuf,
    /// What the names of its files have in front of `.ts`, so that no other file is a module.
    suffix: String,
}

impl CheckFolder {
    #[expect(clippy::disallowed_methods, reason = "the compiler reads files")]
    fn create(files: &[TypedFile]) -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let random = HEXLOWER.encode(&random);
        // The compiler tells real paths.
        let path = std::env::temp_dir().canonicalize()?.join(format!("toolcell-types-{random}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self { path, suffix: format!(".{random}") };
        for file in files {
            std::fs::write(folder.path.join(folder.file_name(&file.name)), without_directives(&file.text))?;
        }
        Ok(folder)
    }

    /// Returns the name of a file in the folder.
    fn file_name(&self, name: &str) -> String {
        let at = name.rfind(".d.ts").or_else(|| name.rfind(".ts")).unwrap_or(name.len());
        format!("{}{}{}", &name[..at], self.suffix, &name[at..])
    }

    /// Returns the arguments of the compiler: the options of `toolcell-types`, and the files.
    fn arguments(&self, files: &[TypedFile]) -> Vec<String> {
        let libraries = LIBRARIES.join(",");
        let options = [
            // No configuration of the folders above, and no types that are installed there.
            "--ignoreConfig",
            "--types",
            "",
            "--noResolve",
            "--moduleSuffixes",
            &self.suffix,
            "--lib",
            &libraries,
            "--target",
            "es2025",
            "--module",
            "esnext",
            "--moduleResolution",
            "bundler",
            "--allowImportingTsExtensions",
            // Of its own declarations a file may have any name, as it does when it runs.
            "--moduleDetection",
            "force",
            "--strict",
            "--skipLibCheck",
            "--noEmit",
            "--singleThreaded",
            "--pretty",
            "false",
        ];
        let files = files.iter().map(|file| self.file_name(&file.name));
        options.into_iter().map(str::to_owned).chain(files).collect()
    }

    /// Reads the diagnostics that the compiler has printed, in the order of the files and their lines.
    fn parse(&self, printed: &str, files: &[TypedFile]) -> Vec<TypeDiagnostic> {
        let names: Vec<String> = files.iter().map(|file| self.file_name(&file.name)).collect();
        let mut found: Vec<(usize, TypeDiagnostic)> = Vec::new();
        let mut is_explained = false;
        for line in printed.lines() {
            if line.starts_with(' ') {
                if let Some((_, diagnostic)) = found.last_mut().filter(|_| is_explained) {
                    diagnostic.message.push('\n');
                    diagnostic.message.push_str(line);
                }
                continue;
            }
            // What is said of other files, or of none, is of no use.
            let known =
                parse_line(line).and_then(|parsed| Some((names.iter().position(|name| name == parsed.0)?, parsed)));
            is_explained = known.is_some();
            let Some((file, (_, line, column, category, code, message))) = known else { continue };
            let (name, message) = (Some(files[file].name.clone()), message.to_owned());
            found.push((file, TypeDiagnostic { file: name, line, column, code, message, category }));
        }
        found.sort_by_key(|(file, diagnostic)| (*file, diagnostic.line, diagnostic.column));
        found.dedup();
        let here = format!("{}/", self.path.display());
        let told = found.into_iter().take(MAX_DIAGNOSTICS).map(|(_, diagnostic)| {
            let message = diagnostic.message.replace(&here, "/").replace(&self.suffix, "");
            TypeDiagnostic { message: sanitize_message(&message), ..diagnostic }
        });
        told.collect()
    }
}

impl Drop for CheckFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the files of a type check are left behind");
        }
    }
}

/// Parses `FILE(LINE,COLUMN): CATEGORY TSCODE: MESSAGE`.
fn parse_line(text: &str) -> Option<(&str, u32, u32, DiagnosticCategory, i32, &str)> {
    let (place, rest) = text.split_once("): ")?;
    let (file, position) = place.split_once('(')?;
    let (line, column) = position.split_once(',')?;
    let (category, rest) = rest.split_once(" TS")?;
    let (code, message) = rest.split_once(": ")?;
    let category = match category {
        "error" => DiagnosticCategory::Error,
        "warning" => DiagnosticCategory::Warning,
        "suggestion" => DiagnosticCategory::Suggestion,
        "message" => DiagnosticCategory::Message,
        _ => return None,
    };
    Some((file, line.parse().ok()?, column.parse().ok()?, category, code.parse().ok()?, message))
}

/// Returns a source in which each comment with three slashes before the first statement has two. No position changes.
fn without_directives(source: &str) -> String {
    let is_space = |char: char| char.is_whitespace() || matches!(char, '\u{180e}' | '\u{200b}' | '\u{feff}');
    let ends_line = |char: char| matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    if rest.starts_with("#!") {
        let (line, after) = rest.split_at(rest.find(ends_line).unwrap_or(rest.len()));
        text.push_str(line);
        rest = after;
    }
    loop {
        let comment = rest.trim_start_matches(is_space);
        text.push_str(&rest[..rest.len() - comment.len()]);
        rest = comment;
        let length = if rest.starts_with("//") {
            rest.find(ends_line).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            text.push_str(rest);
            return text;
        };
        let (comment, after) = rest.split_at(length);
        match comment.strip_prefix("///") {
            Some(directive) => {
                text.push_str("// ");
                text.push_str(directive);
            }
            None => text.push_str(comment),
        }
        rest = after;
    }
}

/// Returns the first line of the first of these texts that has one, for a message.
fn first_line(texts: &[&str]) -> String {
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    shown(lines.into_iter().find(|line| !line.is_empty()).unwrap_or("nothing"))
}

/// Returns a text without control characters, and bounded.
fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> TypedFile {
        TypedFile { name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn comments_are_no_directives_and_positions_stay() {
        for (source, expected) in [
            ("/// <reference lib=\"dom\" />\nlet a", "//  <reference lib=\"dom\" />\nlet a"),
            (
                "#!/usr/bin/env node\r\n/* é */ ///<reference path='x'/>",
                "#!/usr/bin/env node\r\n/* é */ // <reference path='x'/>",
            ),
            ("\u{feff}// a\u{2028}\u{200b}/// b", "\u{feff}// a\u{2028}\u{200b}//  b"),
            ("/* /// a */ //// b", "/* /// a */ // / b"),
            // Those behind a statement are comments anyway.
            ("let a = `\n/// b`", "let a = `\n/// b`"),
            ("/* no end /// a", "/* no end /// a"),
            ("", ""),
        ] {
            assert_eq!(without_directives(source), expected);
            assert_eq!(without_directives(source).encode_utf16().count(), source.encode_utf16().count());
        }
    }

    #[test]
    fn diagnostics_are_those_of_the_files_in_their_order() {
        let files = [file("tool.ts", ""), file("toolcell.d.ts", ""), file("contract.ts", "")];
        let folder = CheckFolder { path: PathBuf::from("/tmp/x"), suffix: ".0a".to_owned() };
        assert_eq!(folder.file_name("toolcell.d.ts"), "toolcell.0a.d.ts");
        let printed = "\
contract.0a.ts(2,14): error TS2322: Type 'A' is not assignable.\r
  Types of `typeof import(\"/tmp/x/tool.0a\")`\u{1b}[31m
    are (1,2): error TS1: x
tool.0a.ts(9,1): error TS2304: Cannot find name 'b'.
tool.0a.ts(1,3): warning TS1: a: b
tool.0a.ts(1,3): warning TS1: a: b
tool.0a.ts(x,3): error TS1: a
/etc/passwd(1,1): error TS1005: ';' expected.
error TS5023: Unknown compiler option '--b'.
  with an explanation of nothing
";
        let found = folder.parse(printed, &files);
        let shown: Vec<String> = found
            .iter()
            .map(|one| {
                let file = one.file.as_deref().unwrap();
                format!("{file}:{}:{} {} {}", one.line, one.column, one.code, one.message)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "tool.ts:1:3 1 a: b",
                "tool.ts:9:1 2304 Cannot find name 'b'.",
                "contract.ts:2:14 2322 Type 'A' is not assignable.\n  Types of `typeof import(\"/tool\")`\u{fffd}[31m\n    are (1,2): error TS1: x",
            ]
        );
        let many = "tool.0a.ts(1,3): error TS1: a\ntool.0a.ts(1,4): error TS1: a\n".repeat(100);
        assert_eq!(folder.parse(&many, &files).len(), 2);
        let many: Vec<String> =
            (1..100).map(|line| format!("tool.0a.ts({line},3): error TS1: {}\n", "a".repeat(5_000))).collect();
        let found = folder.parse(&many.concat(), &files);
        assert_eq!((found.len(), found[0].message.chars().count()), (MAX_DIAGNOSTICS, 1_000));
    }

    #[test]
    fn the_folder_of_a_check_is_private_and_is_removed() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = CheckFolder::create(&[file("tool.ts", "/// a")]).unwrap();
        let path = folder.path.clone();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(path.join(folder.file_name("tool.ts")).is_file());
        assert_eq!(folder.suffix.len(), 33);
        drop(folder);
        assert!(!path.exists());
    }

    /// Returns a compiler that is a script of the shell, which tells this version.
    #[expect(clippy::disallowed_methods, reason = "the compiler is a file")]
    fn script(folder: &Path, version: &str, check: &str) -> Compiler {
        let path = folder.join("tsc");
        let text = format!("if [ \"$1\" = --version ]; then echo '{version}'; exit; fi\n{check}\n");
        std::fs::write(&path, text).unwrap();
        Compiler::new(vec!["/bin/sh".to_owned(), path.display().to_string()], PathBuf::new())
    }

    /// Returns what comes of a check by a script.
    fn answer(version: &str, check: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        match script(folder.path(), version, check).ask(&[file("tool.ts", "let a")]) {
            Answer::Checked(found) => format!("{} found", found.len()),
            Answer::TooComplex => "too complex".to_owned(),
            Answer::Failed(why) => why.to_string(),
        }
    }

    #[test]
    fn what_is_no_compiler_of_typescript_7_says_what_is_needed() {
        let ask = |command: &[&str]| {
            let command = command.iter().map(ToString::to_string).collect();
            Compiler::new(command, PathBuf::from("/nowhere"))
                .version()
                .map(str::to_owned)
                .map_err(|why| why.to_string())
        };
        let missing = "there is no program `./tsc`: npm install --global typescript@7";
        assert_eq!(ask(&["./tsc"]), Err(missing.to_owned()));
        assert_eq!(
            ask(&["echo", "\u{1b}[31m"]),
            Err("it is not the compiler of TypeScript: `--version` gives `\\u{1b}[31m --version`".to_owned())
        );
        let silent = "it is not the compiler of TypeScript: `--version` gives `nothing`";
        assert_eq!(ask(&["sh", "-c", "exit 1"]), Err(silent.to_owned()));
        let old = "it is TypeScript 6.0.3, and 7 is needed: npm install --global typescript@7";
        assert_eq!(answer("Version 6.0.3", "exit 0"), old);
        assert_eq!(answer("Version 7.1.0-dev.20261021.1", "exit 0"), "0 found");
        assert_eq!(answer("Version 10.0.0", "exit 0"), "0 found");
    }

    #[test]
    fn a_compiler_that_fails_says_why_and_one_that_runs_out_of_memory_that_types_are_too_complex() {
        let answer = |check: &str| answer("Version 7.0.2", check);
        let diagnostic = "for file; do :; done; echo \"$file(1,1): error TS1: a\"; exit 1";
        assert_eq!(answer(diagnostic), "1 found");
        assert_eq!(
            answer("echo \"error TS5023: Unknown compiler option '--b'.\"; exit 1"),
            "it failed: error TS5023: Unknown compiler option \\'--b\\'."
        );
        assert_eq!(answer("echo 'panic: nil' >&2; exit 2"), "it failed: panic: nil");
        assert_eq!(answer("exit 3"), "it failed: nothing");
        assert_eq!(answer("echo 'fatal error: runtime: out of memory' >&2; exit 2"), "too complex");
        assert_eq!(answer("kill -9 $$"), "too complex");
        // What is printed beyond the limit is read, and not kept.
        assert_eq!(answer("head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2; exit 0"), "0 found");
    }

    /// The environment may have secrets of tools.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the compiler leaves a file behind")]
    fn a_compiler_gets_the_search_path_alone_and_limits() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        // They are set just after the start.
        let limits = if cfg!(target_os = "linux") {
            "until [ \"$(ulimit -d)\" != unlimited ]; do :; done; ulimit -d"
        } else {
            ":"
        };
        let check = format!("{{ env | cut -d= -f1 | sort; pwd; {limits}; }} > {}", seen.display());
        let compiler = script(folder.path(), "Version 7.0.2", &check);
        assert!(matches!(compiler.ask(&[file("tool.ts", "let a")]), Answer::Checked(_)));
        let seen = std::fs::read_to_string(seen).unwrap();
        let mut lines: Vec<&str> =
            seen.lines().filter(|line| !["PWD", "_", "SHLVL", "OLDPWD"].contains(line)).collect();
        if cfg!(target_os = "linux") {
            let kibibytes: u64 = lines.pop().unwrap().parse().unwrap();
            assert!(kibibytes <= 512 << 10, "{kibibytes}");
        }
        let place = lines.pop().unwrap();
        assert!(place.contains("/toolcell-types-") && !Path::new(place).exists(), "{place}");
        assert_eq!(lines, ["GOMAXPROCS", "GOMEMLIMIT", "PATH"]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the compiler leaves a file behind")]
    fn a_compiler_that_hangs_is_killed_with_what_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let check = format!("sleep 60 & echo $! > {}; exec yes >&2", pid.display());
        let compiler = script(folder.path(), "Version 7.0.2", &check);
        let began = Instant::now();
        assert!(matches!(compiler.ask(&[file("tool.ts", "let a")]), Answer::TooComplex));
        assert!(began.elapsed() < RUN_TIME * 2);
        let pid: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A signal is delivered once the process is scheduled. One that was not waited for yet is a zombie.
        let has_ended = || state().is_empty() || state().contains(") Z ");
        let deadline = Instant::now() + RUN_TIME;
        while !has_ended() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(has_ended(), "{}", state());
    }
}
