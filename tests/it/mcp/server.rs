//! A folder with a policy and a store, and the binary that works on them.
//!
//! Invariant: no server outlives its test, and every wait has a deadline.

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

use super::raw_client::RawClient;
use super::raw_http::WebServer;

/// Timeout of every wait.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);

/// A user who owns no files.
const NOBODY_UID: u32 = 65_534;

/// A folder with a policy and a store.
pub(crate) struct BinaryFixture {
    folder: TempDir,
    binary: PathBuf,
    /// The user that processes run as, if it is another one.
    user: Option<u32>,
}

impl BinaryFixture {
    pub(crate) fn new(policy: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), binary: binary(), user: None };
        fs::write(home.path("policy.toml"), policy).unwrap();
        home
    }

    /// Creates a fixture whose processes are bound by file permissions. Root is not, so as root
    /// they run as a user who owns nothing else.
    pub(crate) fn as_nobody(policy: &str) -> Self {
        Self::as_user(policy, NOBODY_UID)
    }

    /// Like [`BinaryFixture::as_nobody`], with this user if the test runs as root.
    pub(crate) fn as_user(policy: &str, user: u32) -> Self {
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

    /// Returns a command with a limit on the processes and threads of its user.
    pub(crate) fn with_thread_limit(&self, threads: u32, words: &[&str]) -> Command {
        let inner = self.base_command(words);
        let mut command = Command::new("/bin/bash");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.args(["-c", &format!("ulimit -u {threads} && exec \"$0\" \"$@\"")]).arg(inner.get_program());
        command.args(inner.get_args());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a stdio server with this command, and connects to it.
    pub(crate) fn connect_stdio(mut command: Command) -> RawClient {
        command.stdin(Stdio::piped());
        RawClient::from_process(ServerProcess::new(command.spawn().unwrap()))
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn base_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.args(["--lang", "en", "--no-project", "--dir"]).arg(self.path("store"));
        command.arg("--config").arg(self.path("policy.toml")).args(words);
        // Tests must not depend on the caller's environment.
        for variable in ["LANG", "LOG", "MCP_TOKEN", "METRICS_TOKEN"] {
            command.env_remove(format!("TOOLCELL_{variable}"));
        }
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end, in its own process.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.base_command(words).output().unwrap()
    }

    /// Runs a command with environment variables.
    pub(crate) fn run_with_env(&self, words: &[&str], set: &[(&str, &str)]) -> Output {
        self.base_command(words).envs(set.iter().copied()).output().unwrap()
    }

    /// Runs a command with another standard output.
    pub(crate) fn run_with_stdout(&self, words: &[&str], output: impl Into<Stdio>) -> Output {
        self.base_command(words).stdout(output).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn stdout_of(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?} ended with {}: {errors}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a command with a controlling terminal: its input and its standard error are the
    /// terminal.
    pub(crate) fn spawn_at_terminal(&self, words: &[&str], terminal: &OwnedFd) -> Child {
        let inner = self.base_command(words);
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

    /// Runs a command line in a shell, with this binary.
    pub(crate) fn run_shell_line(&self, command: &str) -> Output {
        let ours = command.strip_prefix("toolcell ").unwrap();
        let policy = self.path("policy.toml");
        let line = format!("'{}' --no-project --config '{}' {ours}", self.binary.display(), policy.display());
        Command::new("/bin/sh").args(["-c", &line]).stdin(Stdio::null()).output().unwrap()
    }

    /// Starts a stdio server and connects to it.
    pub(crate) fn start_stdio(&self, words: &[&str]) -> RawClient {
        let mut command = self.base_command(&["mcp"]);
        command.args(words).stdin(Stdio::piped());
        RawClient::from_process(ServerProcess::new(command.spawn().unwrap()))
    }

    /// Starts a stdio server with environment variables and connects to it.
    pub(crate) fn start_stdio_with_env(&self, words: &[&str], set: &[(&str, &str)]) -> RawClient {
        let mut command = self.base_command(&["mcp"]);
        command.args(words).envs(set.iter().copied()).stdin(Stdio::piped());
        RawClient::from_process(ServerProcess::new(command.spawn().unwrap()))
    }

    /// Starts an HTTP server.
    pub(crate) fn start_http(&self, words: &[&str]) -> WebServer {
        let mut command = self.base_command(&["mcp", "--http", "127.0.0.1:0"]);
        command.args(words);
        WebServer::from_process(ServerProcess::new(command.spawn().unwrap()))
    }

    /// Starts an HTTP server with environment variables.
    pub(crate) fn start_http_with_env(&self, words: &[&str], set: &[(&str, &str)]) -> WebServer {
        let mut command = self.base_command(&["mcp", "--http", "127.0.0.1:0"]);
        command.args(words).envs(set.iter().copied());
        WebServer::from_process(ServerProcess::new(command.spawn().unwrap()))
    }

    /// Writes a file of tokens for these principals and for metrics, and returns its path. A token
    /// is its principal's name repeated, to be long enough.
    pub(crate) fn write_tokens(&self, principals: &[&str], more: &str) -> String {
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

    /// Returns the lines of the audit log, oldest first.
    pub(crate) fn audit_lines(&self) -> Vec<Value> {
        read_audit_log(&self.path("store"))
    }

    /// Returns the lines of a principal's audit log.
    pub(crate) fn principal_audit_lines(&self, principal: &str) -> Vec<Value> {
        read_audit_log(&self.path("store/principals").join(principal))
    }

    /// Waits for a matching line in the audit log, and returns it.
    #[track_caller]
    pub(crate) fn wait_for_log_line(&self, like: impl Fn(&Value) -> bool) -> Value {
        let found = poll(|| self.audit_lines().into_iter().rev().find(&like));
        found.unwrap_or_else(|| panic!("no such line: {:#}", json!(self.audit_lines())))
    }

    /// Returns the log lines of runs of this tool that failed with this code.
    pub(crate) fn failures(&self, tool: &str, code: &str) -> Vec<Value> {
        let mut lines = self.audit_lines();
        lines.retain(|line| line["action"] == "run_dynamic_tool" && line["toolName"] == tool && line["error"] == code);
        lines
    }

    /// Waits for a log line of a run of this tool that failed with this code.
    #[track_caller]
    pub(crate) fn wait_for_failure(&self, tool: &str, code: &str) -> Value {
        let found = poll(|| self.failures(tool, code).pop());
        found.unwrap_or_else(|| panic!("no run of `{tool}` failed with `{code}`: {:#}", json!(self.audit_lines())))
    }
}

/// Reads the audit log of a store, without a line that is not complete yet.
fn read_audit_log(store: &Path) -> Vec<Value> {
    let text = fs::read_to_string(store.join("logs/dynamic-tools-audit.jsonl")).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| serde_json::from_str(line.strip_suffix('\n')?).ok()).collect()
}

/// Returns the path of the binary, which is built beside the test binary.
pub(crate) fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("toolcell");
    assert!(path.exists(), "{} is not there: cargo build --workspace --bins", path.display());
    path
}

/// Polls until there is a value or the timeout expires.
pub(crate) fn poll<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    // A file that changes and a process that exits send no event.
    let (_nobody, never) = channel::<()>();
    while began.elapsed() < TIMEOUT {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        assert_eq!(never.recv_timeout(Duration::from_millis(5)), Err(RecvTimeoutError::Timeout));
    }
    None
}

/// A server process, which is killed when dropped.
pub(crate) struct ServerProcess {
    pub(super) child: Child,
    errors: Receiver<String>,
    /// Its standard error so far.
    stderr_text: String,
}

impl ServerProcess {
    fn new(mut child: Child) -> Self {
        let (sender, errors) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { child, errors, stderr_text: String::new() }
    }

    /// Waits for a line of standard error with this prefix, and returns the rest of the line.
    #[track_caller]
    pub(super) fn wait_for_line(&mut self, before: &str) -> String {
        while let Ok(line) = self.errors.recv_timeout(TIMEOUT) {
            self.stderr_text.push_str(&line);
            self.stderr_text.push('\n');
            if let Some(rest) = line.strip_prefix(before) {
                return rest.to_owned();
            }
        }
        panic!("it did not say `{before}`: {}", self.stderr_text);
    }

    /// Returns standard error so far.
    pub(crate) fn stderr_so_far(&mut self) -> &str {
        while let Ok(line) = self.errors.try_recv() {
            self.stderr_text.push_str(&line);
            self.stderr_text.push('\n');
        }
        &self.stderr_text
    }

    /// Returns standard error to its end.
    pub(crate) fn stderr_to_end(&mut self) -> &str {
        while let Ok(line) = self.errors.recv_timeout(TIMEOUT) {
            self.stderr_text.push_str(&line);
            self.stderr_text.push('\n');
        }
        &self.stderr_text
    }

    /// Returns the peak resident memory, in MiB.
    pub(crate) fn peak_memory_mib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    }

    pub(crate) fn send_signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for the process to exit, and returns its exit status.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> Option<i32> {
        let status = poll(|| self.child.try_wait().unwrap());
        status.unwrap_or_else(|| panic!("it goes on: {}", self.stderr_so_far())).code()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
