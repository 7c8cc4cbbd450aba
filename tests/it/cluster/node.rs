//! Nodes of a library: a server, three nodes that share it, and the commands that work on their directories.
//!
//! Invariant: a node is a process of the binary `toolcell-cluster`, and does not outlive its test.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use toolcell_cluster::ANSWER_LIMIT;

use super::PATIENT;
use super::client::{Client, send};
use super::postgres_server::{PostgresServer, ServerKind};
use super::proxy::Proxy;
use crate::fixtures::cli::CommandOutput;
use crate::mcp::server::{BinaryFixture, TIMEOUT, poll};

/// The secret of the library.
pub(super) const SECRET: &str = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
/// A tool runs without approval, and may keep values.
pub(super) const AUTO: &str =
    "[approval]\nmode = 'auto'\n[grants.default]\ntimers = true\n[grants.default.kv]\nspace = 'notes'\n";
/// Sends a payment.
pub(super) const PAYS: &str =
    "const execute = async ({ url, id }) => (await fetch(url + '/' + id, { method: 'POST', body: id })).status";
/// The library that moves the clock of a process (`apt-get install libfaketime`).
const CLOCK_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
/// The principals of all nodes.
const PRINCIPALS: [&str; 2] = ["alice", "bob"];

/// The source of a tool that returns a number.
pub(super) fn returns(number: u64) -> String {
    format!("const execute = () => {number}")
}

/// A server, and three nodes of one library.
pub(super) struct Library {
    /// They end before the server.
    pub(super) nodes: Vec<Node>,
    /// One between each node and the server, if they were asked for.
    pub(super) proxies: Vec<Proxy>,
    pub(super) postgres: PostgresServer,
    policy: String,
    variables: Vec<(&'static str, String)>,
    answer_limit: Duration,
    folder: TempDir,
}

impl Library {
    /// Starts a server and three nodes under a policy; `None` where the machine has no PostgreSQL.
    pub(super) fn start(policy: &str) -> Option<Self> {
        Self::start_with(policy, &[])
    }

    /// Starts a server, and three nodes with further arguments.
    pub(super) fn start_with(policy: &str, words: &[&str]) -> Option<Self> {
        Self::start_waiting(policy, words, PATIENT)
    }

    /// Starts a server, and three nodes that wait for its answers as long as they do by default.
    pub(super) fn start_impatient(policy: &str, words: &[&str]) -> Option<Self> {
        Self::start_waiting(policy, words, ANSWER_LIMIT)
    }

    /// The same, each with a proxy between it and the server.
    pub(super) fn start_behind_proxies(
        policy: &str,
        words: &[&str],
        variables: &[(&'static str, String)],
    ) -> Option<Self> {
        let mut library = Self::without_nodes(policy, ANSWER_LIMIT)?;
        library.variables = variables.to_vec();
        library.proxies = (0..3).map(|_| Proxy::start(library.postgres.port())).collect();
        let url = |proxy: &Proxy| format!("postgres://toolcell@127.0.0.1:{}/toolcell", proxy.port());
        let node = |(name, proxy): (&str, &Proxy)| library.node_with(name, &url(proxy), words);
        library.nodes = ["a", "b", "c"].into_iter().zip(&library.proxies).map(node).collect();
        Some(library)
    }

    /// Starts a server, and three nodes with further arguments and variables.
    pub(super) fn start_varied(policy: &str, words: &[&str], variables: &[(&'static str, String)]) -> Option<Self> {
        let mut library = Self::without_nodes(policy, PATIENT)?;
        library.variables = variables.to_vec();
        library.nodes = ["a", "b", "c"].map(|name| library.node(name, words)).into();
        Some(library)
    }

    fn start_waiting(policy: &str, words: &[&str], answer_limit: Duration) -> Option<Self> {
        let mut library = Self::without_nodes(policy, answer_limit)?;
        library.nodes = ["a", "b", "c"].map(|name| library.node(name, words)).into();
        Some(library)
    }

    fn without_nodes(policy: &str, answer_limit: Duration) -> Option<Self> {
        let postgres = PostgresServer::start(ServerKind::Fast)?;
        let (policy, folder) = (policy.to_owned(), tempfile::tempdir().unwrap());
        let (nodes, proxies, variables) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self { nodes, proxies, postgres, policy, variables, answer_limit, folder })
    }

    /// Starts a further node.
    pub(super) fn node(&self, name: &str, words: &[&str]) -> Node {
        self.node_with(name, &self.postgres.url(), words)
    }

    fn node_with(&self, name: &str, url: &str, words: &[&str]) -> Node {
        let node = self.prepare(name, url, words);
        node.start();
        node
    }

    /// Starts a further node with another binary.
    pub(super) fn node_of(&self, name: &str, program: &Path, words: &[&str]) -> Node {
        let node = self.prepare(name, &self.postgres.url(), words).with_program(program);
        node.start();
        node
    }

    fn prepare(&self, name: &str, url: &str, words: &[&str]) -> Node {
        let node = Node::new(&self.folder.path().join(name), &self.policy, url, words);
        let node = node.with_answer_limit(self.answer_limit);
        self.variables.iter().fold(node, |node, (name, value)| node.with_variable(name, value))
    }

    /// The clients of a principal, one of each of the three nodes.
    pub(super) fn clients(&self, principal: &str) -> [Client<'_>; 3] {
        [0, 1, 2].map(|index| self.nodes[index].client(principal))
    }
}

/// A node.
pub(super) struct Node {
    pub(super) folder: PathBuf,
    /// The binary of its processes.
    program: PathBuf,
    words: Vec<String>,
    url: String,
    variables: Vec<(&'static str, String)>,
    answer_limit: Duration,
    /// How far its clock is moved, in seconds.
    clock: AtomicI64,
    process: Mutex<Option<Child>>,
    address: Mutex<String>,
}

impl Node {
    /// Prepares a node in a folder.
    pub(super) fn new(folder: &Path, policy: &str, url: &str, words: &[&str]) -> Self {
        fs::create_dir_all(folder).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("policy.toml", policy);
        write("secret", SECRET);
        let tokens = PRINCIPALS.map(|name| format!("[principals.{name}]\ntoken = '{}'\n", BinaryFixture::token(name)));
        write("tokens.toml", &tokens.concat());
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            folder: folder.to_owned(),
            program: binary("toolcell-cluster"),
            words,
            url: url.to_owned(),
            variables: Vec::new(),
            answer_limit: PATIENT,
            clock: AtomicI64::new(0),
            process: Mutex::default(),
            address: Mutex::default(),
        }
    }

    /// Adds an environment variable.
    pub(super) fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Replaces the binary.
    pub(super) fn with_program(mut self, program: &Path) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    /// Sets how long an answer of the database is waited for.
    pub(super) fn with_answer_limit(mut self, limit: Duration) -> Self {
        self.answer_limit = limit;
        self
    }

    /// Starts the process, and waits until it listens.
    #[track_caller]
    pub(super) fn start(&self) {
        if let Err(status) = self.try_start() {
            panic!("it ended with {status:?}: {}", self.log());
        }
    }

    /// Starts the process; its exit status if it ends instead of listening.
    pub(super) fn try_start(&self) -> Result<(), Option<i32>> {
        let log = fs::File::create(self.folder.join("log")).unwrap();
        let mut command = self.command(&self.program, &self.folder.join("store"));
        command.args(["node", "--shared", &self.url, "--http", "127.0.0.1:0", "--secret"]);
        command.arg(self.folder.join("secret")).arg("--tokens").arg(self.folder.join("tokens.toml"));
        // Heads of audit logs would be entries in the midst of what tests count.
        if !self.words.iter().any(|word| word == "--audit-heads") {
            command.args(["--audit-heads", "3600"]);
        }
        command.args(&self.words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let seconds = self.clock.load(Ordering::Relaxed);
        if seconds != 0 && Self::can_move_its_clock() {
            command.env("LD_PRELOAD", CLOCK_LIBRARY).env("FAKETIME", format!("{seconds:+}s"));
            command.env("DONT_FAKE_MONOTONIC", "1");
        }
        let mut process = command.spawn().unwrap();
        let found = poll(|| {
            let ended = process.try_wait().unwrap().map(|status| Err(status.code()));
            let log = self.log();
            let line = log.lines().find_map(|line| line.strip_prefix("listening on http://")?.strip_suffix("/mcp"));
            ended.or_else(|| Some(Ok(line?.to_owned())))
        });
        // Set before a panic, so that it is killed.
        *self.process.lock().unwrap() = Some(process);
        *self.address.lock().unwrap() = found.unwrap_or_else(|| panic!("{}", self.log()))?;
        Ok(())
    }

    /// Where the node listens.
    pub(super) fn address(&self) -> String {
        self.address.lock().unwrap().clone()
    }

    /// Kills the process.
    pub(super) fn kill(&self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            // It may have ended.
            let _ = process.kill();
            process.wait().unwrap();
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        let process = self.process.lock().unwrap();
        kill(Pid::from_raw(i32::try_from(process.as_ref().unwrap().id()).unwrap()), signal).unwrap();
    }

    /// Waits for the process to end, and returns its exit status.
    pub(super) fn wait(&self) -> Option<i32> {
        let mut process = self.process.lock().unwrap().take().unwrap();
        let status = poll(|| process.try_wait().unwrap());
        // One that goes on is not left behind.
        let _ = process.kill();
        let _ = process.wait();
        status.unwrap_or_else(|| panic!("it goes on: {}", self.log())).code()
    }

    /// Replaces the secret of the library, for the next start.
    pub(super) fn set_secret(&self, secret: &str) {
        fs::write(self.folder.join("secret"), secret).unwrap();
    }

    /// Whether this machine can move the clock of a node.
    pub(super) fn can_move_its_clock() -> bool {
        Path::new(CLOCK_LIBRARY).exists()
    }

    /// Moves the clock of the node by some seconds, from its next start on, where the machine can do that.
    pub(super) fn set_clock(&self, seconds: i64) {
        self.clock.store(seconds, Ordering::Relaxed);
    }

    pub(super) fn client(&self, principal: &str) -> Client<'_> {
        Client::new(self, principal)
    }

    /// The answer to the question whether the node is ready.
    pub(super) fn readiness(&self) -> (u16, String) {
        send(&self.address(), "GET /readyz", "", "").unwrap()
    }

    /// The metrics of the node, which a server with tokens shows to those who have the token for them.
    pub(super) fn metrics(&self) -> String {
        send(&self.address(), "GET /metrics", "Authorization: Bearer a-token-for-metrics-only\r\n", "").unwrap().1
    }

    /// Whether the node says that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        send(&self.address(), "GET /readyz", "", "").is_ok_and(|(status, _)| status == 200)
    }

    /// What the node said so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The directory of a principal's store.
    pub(super) fn store(&self, principal: &str) -> PathBuf {
        self.folder.join("store/principals").join(principal)
    }

    /// Runs a command of `toolcell-cluster` on the store of a principal, connected to the library.
    pub(super) fn connected(&self, principal: &str, words: &[&str]) -> CommandOutput {
        self.connected_with(principal, SECRET, words)
    }

    /// Runs a command of `toolcell-cluster` with a secret.
    pub(super) fn connected_with(&self, principal: &str, secret: &str, words: &[&str]) -> CommandOutput {
        let mut command = self.command(&self.program, &self.store(principal));
        command.env("TOOLCELL_SHARED", &self.url).env("TOOLCELL_SHARED_SECRET", secret);
        finish(command.args(words), b"")
    }

    /// Runs a command of `toolcell` on the store of a principal, which knows nothing of the library.
    pub(super) fn detached(&self, principal: &str, words: &[&str], input: &str) -> CommandOutput {
        self.detached_in(&self.store(principal), words, input)
    }

    /// Runs a command of `toolcell` on a store.
    pub(super) fn detached_in(&self, store: &Path, words: &[&str], input: &str) -> CommandOutput {
        finish(self.command(&binary("toolcell"), store).args(words), input.as_bytes())
    }

    /// The lines of a principal's audit log, after its chain was verified.
    #[track_caller]
    pub(super) fn verified_audit_lines(&self, principal: &str) -> Vec<Value> {
        let verified = self.detached(principal, &["audit", "verify", "--json"], "");
        assert_eq!((verified.status, &verified.json()["clean"]), (0, &Value::Bool(true)), "{}", verified.out);
        // Those that were rotated are numbered, and the last one is not.
        let entries =
            fs::read_dir(self.store(principal).join("logs")).into_iter().flatten().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
        files.sort();
        let text: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }

    /// What `node status` prints.
    pub(super) fn cluster_status(&self) -> String {
        let mut command = self.cluster_command(&self.folder.join("store"));
        command.args(["node", "status", "--shared", &self.url, "--secret"]).arg(self.folder.join("secret"));
        finish(&mut command, b"").out
    }

    /// A command of `toolcell-cluster` on a store.
    pub(super) fn cluster_command(&self, store: &Path) -> Command {
        self.command(&self.program, store)
    }

    fn command(&self, program: &Path, store: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["--lang", "en", "--no-project", "--dir"]).arg(store);
        command.arg("--config").arg(self.folder.join("policy.toml"));
        isolate(&mut command);
        command.env("TOOLCELL_SHARED_TIMEOUT_MS", self.answer_limit.as_millis().to_string());
        command.env("TOOLCELL_METRICS_TOKEN", "a-token-for-metrics-only");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The path of a binary, which is built beside the test binary.
pub(super) fn binary(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap().join(name);
    assert!(path.exists(), "{} is not there: cargo build --workspace --bins", path.display());
    path
}

/// Removes what a command would take from the environment of the tests.
pub(super) fn isolate(command: &mut Command) {
    for variable in
        ["LANG", "LOG", "MCP_TOKEN", "METRICS_TOKEN", "SHARED", "SHARED_SECRET", "SHARED_WIRE", "SHARED_BLOBS"]
    {
        command.env_remove(format!("TOOLCELL_{variable}"));
    }
    command.env_remove("PGPASSWORD").env_remove("SSL_CERT_FILE").env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
}

/// Runs a command to its end.
pub(super) fn finish(command: &mut Command, input: &[u8]) -> CommandOutput {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // A command that was refused does not read its input.
    let _ = std::io::copy(&mut Cursor::new(input), &mut process.stdin.take().unwrap());
    let output = process.wait_with_output().unwrap();
    CommandOutput {
        status: output.status.code().unwrap().try_into().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Repeats a question until it is answered with yes, and returns how long that took.
#[track_caller]
pub(super) fn wait_until(what: &str, mut ask: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    let seen = poll(|| ask().then(|| began.elapsed()));
    seen.unwrap_or_else(|| panic!("{what}: not within {} s", TIMEOUT.as_secs()))
}
