//! A home for servers: a folder with a policy and a store, and the binary that works on it.
//!
//! Invariant: no server outlasts its test, and nobody waits for one without a deadline.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::peer::Peer;
use super::web::Web;

/// For how long anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

/// A folder with a policy and a store.
pub(crate) struct Home {
    folder: TempDir,
    binary: PathBuf,
    /// Who the processes are of, where it is somebody else.
    user: Option<u32>,
}

impl Home {
    pub(crate) fn new(policy: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), binary: binary(), user: None };
        fs::write(home.path("policy.toml"), policy).unwrap();
        home
    }

    /// One whose processes are bound by permissions: none binds root, so those of root are a user who owns nothing else.
    pub(crate) fn of_nobody(policy: &str) -> Self {
        Self::of_user(policy, NOBODY)
    }

    /// The same with a certain user, where this process is root's.
    pub(crate) fn of_user(policy: &str, user: u32) -> Self {
        let mut home = Self::new(policy);
        if geteuid().is_root() {
            let copy = home.path("toolcell");
            fs::copy(&home.binary, &copy).unwrap();
            fs::set_permissions(home.path("."), fs::Permissions::from_mode(0o755)).unwrap();
            chown(home.path("."), Some(user), Some(user)).unwrap();
            (home.binary, home.user) = (copy, Some(user));
        }
        home
    }

    /// A command under a limit on the processes and threads of its user.
    pub(crate) fn limited(&self, threads: u32, words: &[&str]) -> Command {
        let inner = self.toolcell(words);
        let mut command = Command::new("/bin/bash");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.args(["-c", &format!("ulimit -u {threads} && exec \"$0\" \"$@\"")]).arg(inner.get_program());
        command.args(inner.get_args());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A server at pipes, started so.
    pub(crate) fn piped_at(mut command: Command) -> Peer {
        command.stdin(Stdio::piped());
        Peer::at(Process::of(command.spawn().unwrap()))
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn toolcell(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.args(["--lang", "en", "--no-project", "--dir"]).arg(self.path("store"));
        command.arg("--config").arg(self.path("policy.toml")).args(words);
        // No test sees what whoever runs it has set.
        for variable in ["LANG", "LOG", "MCP_TOKEN", "METRICS_TOKEN"] {
            command.env_remove(format!("TOOLCELL_{variable}"));
        }
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end, in a process of its own.
    pub(crate) fn command(&self, words: &[&str]) -> Output {
        self.toolcell(words).output().unwrap()
    }

    /// The same with variables of its environment.
    pub(crate) fn command_with(&self, words: &[&str], set: &[(&str, &str)]) -> Output {
        self.toolcell(words).envs(set.iter().copied()).output().unwrap()
    }

    /// The same with standard output somewhere else.
    pub(crate) fn writing_to(&self, words: &[&str], output: impl Into<Stdio>) -> Output {
        self.toolcell(words).stdout(output).output().unwrap()
    }

    /// What a command that does well prints.
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let output = self.command(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?} ended with {}: {errors}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a command at a terminal, which is that of its session: a person types there, and sees its standard error.
    pub(crate) fn at_terminal(&self, words: &[&str], terminal: &OwnedFd) -> Child {
        let inner = self.toolcell(words);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(inner.get_program()).args(inner.get_args()).env("NO_COLOR", "1");
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(stream()).stdout(Stdio::piped()).stderr(stream()).spawn().unwrap()
    }

    /// Runs a command as somebody types it, with this binary.
    pub(crate) fn types(&self, command: &str) -> Output {
        let ours = command.strip_prefix("toolcell ").unwrap();
        let policy = self.path("policy.toml");
        let line = format!("'{}' --no-project --config '{}' {ours}", self.binary.display(), policy.display());
        Command::new("/bin/sh").args(["-c", &line]).stdin(Stdio::null()).output().unwrap()
    }

    /// A server at pipes.
    pub(crate) fn piped(&self, words: &[&str]) -> Peer {
        let mut command = self.toolcell(&["mcp"]);
        command.args(words).stdin(Stdio::piped());
        Peer::at(Process::of(command.spawn().unwrap()))
    }

    /// The same with variables of its environment.
    pub(crate) fn piped_with(&self, words: &[&str], set: &[(&str, &str)]) -> Peer {
        let mut command = self.toolcell(&["mcp"]);
        command.args(words).envs(set.iter().copied()).stdin(Stdio::piped());
        Peer::at(Process::of(command.spawn().unwrap()))
    }

    /// A server over HTTP.
    pub(crate) fn web(&self, words: &[&str]) -> Web {
        let mut command = self.toolcell(&["mcp", "--http", "127.0.0.1:0"]);
        command.args(words);
        Web::at(Process::of(command.spawn().unwrap()))
    }

    /// The same with variables of its environment.
    pub(crate) fn web_with(&self, words: &[&str], set: &[(&str, &str)]) -> Web {
        let mut command = self.toolcell(&["mcp", "--http", "127.0.0.1:0"]);
        command.args(words).envs(set.iter().copied());
        Web::at(Process::of(command.spawn().unwrap()))
    }

    /// A file of tokens for these principals and for metrics: each has its name, often enough to be long enough.
    pub(crate) fn tokens(&self, principals: &[&str], more: &str) -> String {
        let tables =
            principals.iter().map(|name| format!("[principals.{name}]\ntoken = '{}'\n{more}\n", Self::token(name)));
        let path = self.path("tokens.toml");
        let metrics = format!("[metrics]\ntoken = '{}'\n", Self::token("metrics"));
        fs::write(&path, tables.chain([metrics]).collect::<String>()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn token(principal: &str) -> String {
        principal.repeat(16)
    }

    /// The lines of the audit log, the oldest first.
    pub(crate) fn audit(&self) -> Vec<Value> {
        lines(&self.path("store"))
    }

    /// The lines of the audit log of a principal.
    pub(crate) fn audit_of(&self, principal: &str) -> Vec<Value> {
        lines(&self.path("store/principals").join(principal))
    }

    /// Waits until the log has a line like this, and gives it.
    #[track_caller]
    pub(crate) fn logs(&self, like: impl Fn(&Value) -> bool) -> Value {
        let found = until(|| self.audit().into_iter().rev().find(&like));
        found.unwrap_or_else(|| panic!("no such line: {:#}", json!(self.audit())))
    }

    /// The lines of the log that say that a run of this tool failed so.
    pub(crate) fn failures(&self, tool: &str, code: &str) -> Vec<Value> {
        let mut lines = self.audit();
        lines.retain(|line| line["action"] == "run_dynamic_tool" && line["toolName"] == tool && line["error"] == code);
        lines
    }

    /// Waits until the log says that a run of this tool failed so.
    #[track_caller]
    pub(crate) fn logs_failure(&self, tool: &str, code: &str) -> Value {
        let found = until(|| self.failures(tool, code).pop());
        found.unwrap_or_else(|| panic!("no run of `{tool}` failed with `{code}`: {:#}", json!(self.audit())))
    }
}

/// The lines of the log of a store. One that is only begun is none yet.
fn lines(store: &Path) -> Vec<Value> {
    let text = fs::read_to_string(store.join("logs/dynamic-tools-audit.jsonl")).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| serde_json::from_str(line.strip_suffix('\n')?).ok()).collect()
}

/// The binary, which stands beside the folder of this test.
pub(crate) fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("toolcell");
    assert!(path.exists(), "{} is not there: cargo build --workspace --bins", path.display());
    path
}

/// Asks until there is an answer, for as long as anything is waited for.
pub(crate) fn until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    // Nobody tells that a file has changed, or a process has ended.
    let (_nobody, never) = channel::<()>();
    while began.elapsed() < PATIENCE {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        assert_eq!(never.recv_timeout(Duration::from_millis(5)), Err(RecvTimeoutError::Timeout));
    }
    None
}

/// A server that is killed when its test is done with it.
pub(crate) struct Process {
    pub(super) child: Child,
    errors: Receiver<String>,
    /// What it said on standard error.
    said: String,
}

impl Process {
    fn of(mut child: Child) -> Self {
        let (told, errors) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.split(b'\n').map_while(Result::ok) {
                if told.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { child, errors, said: String::new() }
    }

    /// What comes after this on a line of standard error.
    #[track_caller]
    pub(super) fn says(&mut self, before: &str) -> String {
        while let Ok(line) = self.errors.recv_timeout(PATIENCE) {
            self.said.push_str(&line);
            self.said.push('\n');
            if let Some(rest) = line.strip_prefix(before) {
                return rest.to_owned();
            }
        }
        panic!("it did not say `{before}`: {}", self.said);
    }

    /// What it has said on standard error until now.
    pub(crate) fn errors(&mut self) -> &str {
        while let Ok(line) = self.errors.try_recv() {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        &self.said
    }

    /// All that it says on standard error, once it has ended.
    pub(crate) fn errors_to_the_end(&mut self) -> &str {
        while let Ok(line) = self.errors.recv_timeout(PATIENCE) {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        &self.said
    }

    /// The most memory that it had so far, in MiB.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    }

    pub(crate) fn is_sent(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits until it has ended, and gives its exit status.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let status = until(|| self.child.try_wait().unwrap());
        status.unwrap_or_else(|| panic!("it goes on: {}", self.errors())).code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Where it has ended already, there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
