//! The sandbox is entered in one place, and every code path to a run passes admission.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::{Budget, CallContext, Draft, Params, Precheck, RunError, RunOptions, RunRecord, RunResult, RunTool};

use super::{ToolboxFixture, request};
use crate::fixtures::cli::toolcell_with_input;
use crate::fixtures::sandbox::{read, root};
use crate::fixtures::store::files_below;
use crate::mcp::server::binary;

/// Returns the sources that contain these words in their code, of crates that depend on the
/// sandbox.
fn sources_with(words: &str) -> Vec<PathBuf> {
    let files = files_below(&root().join("crates")).into_iter();
    let files = files.map(|file| file.strip_prefix(root()).unwrap().to_owned());
    let sources = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    sources.filter(|file| can_reach_the_sandbox(file) && code_of(file).contains(words)).collect()
}

fn can_reach_the_sandbox(file: &Path) -> bool {
    let folder: PathBuf = file.components().take(2).collect();
    let manifest = read(folder.join("Cargo.toml"));
    // The jail is a sandbox itself, like that of the host crate.
    folder != Path::new("crates/jail")
        && ["\ntoolcell-host =", "\ntoolcell-jail =", "\ntoolcell ="]
            .iter()
            .any(|dependency| manifest.contains(dependency))
}

/// Returns a source without its comments and unit tests.
fn code_of(file: &Path) -> String {
    let text = read(file);
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sandbox_is_entered_in_one_place() {
    // In-process calls and jailed calls start in the same place: a prepared script of `backend` holds
    // its sandbox, and only `execute` calls it.
    let of = |names: &[&str]| names.iter().map(|name| Path::new("crates/toolcell/src").join(name)).collect::<Vec<_>>();
    let both = of(&["execution/backend.rs", "execution/execute.rs"]);
    assert_eq!(sources_with("prepared.call("), both[1..]);
    assert_eq!(sources_with("backend.call("), both[..1]);
    for words in ["sandbox.call", "jail.call"] {
        assert!(sources_with(words).is_empty(), "{words}");
    }
    let prepared = sources_with(".prepare(").into_iter().filter(|source| !source.starts_with("crates/cluster"));
    // Statements of a database are prepared, too.
    assert_eq!(prepared.collect::<Vec<_>>(), both);
    assert_eq!(sources_with("Sandbox::new("), both[..1]);
    assert_eq!(sources_with("Jail::new("), both[..1]);
    assert_eq!(sources_with("SandboxBackend::new("), of(&["execution/runtime.rs"]));
    // These execute a call: a stored tool, a draft, a hook that is a stored tool (without grants), a
    // trial of a tool, an example's predicate on a result, and the comparison of two tools (only if
    // both run without approval). Only evaluation of a factory, to read its tool's declaration, is
    // separate.
    assert_eq!(
        sources_with(".execute("),
        of(&[
            "execution/start.rs",
            "operations/exec.rs",
            "operations/hook_tools.rs",
            "verification/equivalence/probe.rs",
            "verification/proof/predicate.rs",
            "verification/proof/trial.rs",
        ])
    );
    assert_eq!(sources_with(".execute_interpreted("), of(&["verification/proof/trial.rs"]));
    // A suspended run gets a new permit before it is resumed.
    assert_eq!(sources_with("prepared.call_suspendable("), both[1..]);
    assert_eq!(sources_with("backend.call_suspendable("), both[..1]);
    assert_eq!(sources_with("sandbox.resume("), both[1..]);
    assert_eq!(sources_with("backend.resume("), both[..1]);
    assert_eq!(sources_with(".execute_suspendable("), of(&["execution/start.rs"]));
    assert_eq!(sources_with(".resume_call("), of(&["execution/start.rs"]));
    // An admitted run starts in two places, and a tool that it calls in one.
    assert_eq!(sources_with(".call_admitted("), of(&["operations/run.rs"]));
    assert_eq!(sources_with(".call_admitted_suspendable("), of(&["operations/suspend.rs"]));
    assert_eq!(sources_with(".resume_admitted("), of(&["operations/suspend.rs"]));
    assert_eq!(sources_with("NestedCalls for"), of(&["operations/run/nested.rs"]));
    // Only a replay re-executes a run, and it has no outside access.
    assert_eq!(sources_with(".execute_uncached("), of(&["receipt/replay.rs"]));
    assert_eq!(sources_with(".evaluate("), of(&["execution/execute.rs", "operations/factory.rs"]));
    // Other calls have no capability, and only these host calls, which have no effect.
    assert_eq!(sources_with("CallAuthorization::Ungranted("), of(&["receipt/replay.rs"]));
    assert_eq!(sources_with("EffectFreeHostCalls for"), of(&["admission/permit.rs", "receipt/replay/host_calls.rs"]));
    // Admission yields a permit, which is created in one place.
    assert_eq!(sources_with("Ok(Permit {"), [PathBuf::from("crates/toolcell/src/admission/permit.rs")]);
}

#[test]
fn the_toolbox_is_a_facade() {
    // A part that took the toolbox would depend on every other part.
    let facade = [PathBuf::from("crates/toolcell/src/toolbox.rs")];
    assert_eq!(sources_with("impl Toolbox {"), facade);
    assert_eq!(sources_with("struct Toolbox {"), facade);
    assert!(sources_with("use crate::toolbox::").is_empty());
    // Only operations take all parts.
    let parts = sources_with("parts: &Parts").into_iter().chain(sources_with("parts: &'a Parts"));
    for file in parts.filter(|file| *file != facade[0]) {
        assert!(file.starts_with("crates/toolcell/src/operations"), "{}", file.display());
    }
}

/// A toolbox whose hook is a command in a policy file, so that other processes run it too.
struct PathFixture {
    host: ToolboxFixture,
    files: TempDir,
}

impl PathFixture {
    /// Creates a fixture with one hook, which records each call and prints this answer.
    fn answering(answer: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        let asked = files.path().join("asked");
        let script = format!("cat > /dev/null; echo asked >> {}; echo '{answer}'", asked.display());
        let policy = format!("[[hooks]]\nname = \"rules\"\ncommand = [\"/bin/sh\", \"-c\", {}]", json!(script));
        write(&files.path().join("user.toml"), &policy);
        let host = ToolboxFixture::with_policy(&policy);
        host.tool("tool", SOURCE);
        Self { host, files }
    }

    /// Counts the calls of the hook.
    fn asked(&self) -> usize {
        let asked = self.files.path().join("asked");
        if asked.exists() { read(asked).lines().count() } else { 0 }
    }

    /// Runs a command on the same store with the same policy file.
    fn command(&self, words: &[&str], input: &str) -> Result<(), String> {
        let config = self.files.path().join("user.toml");
        let own = ["--dir", self.host.path().to_str().unwrap(), "--config", config.to_str().unwrap()];
        let answer = toolcell_with_input(&[&own, words].concat(), input.as_bytes()).json();
        answer["error"]["code"].as_str().map_or(Ok(()), |code| Err(code.to_owned()))
    }

    /// Runs the tool through an MCP server on the same store with the same policy file.
    fn served(&self) -> Result<(), String> {
        let mut server = Command::new(binary());
        server.arg("--config").arg(self.files.path().join("user.toml")).arg("--dir").arg(self.host.path());
        let mut server = server.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "road", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "run_dynamic_tool", "arguments": { "tool_name": "tool" }, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut input = server.stdin.take().unwrap();
        writeln!(input, "{request}").unwrap();
        let mut answer = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut answer).unwrap();
        drop(input);
        assert!(server.wait().unwrap().success());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let error = &answer["result"]["_meta"]["toolcell/error"]["code"];
        error.as_str().map_or(Ok(()), |code| Err(code.to_owned()))
    }

    fn exec(&self, precheck: Precheck) -> Result<(), String> {
        let draft = Draft::from_bytes("tool", SOURCE.as_bytes()).unwrap();
        let toolbox = self.host.toolbox();
        let done = toolbox.exec(&draft, &Params::default(), &Budget::default(), &CallContext::default(), precheck);
        done.map(|_| ()).map_err(|error| error.code().to_string())
    }
}

#[expect(clippy::disallowed_methods, reason = "the file is the test's own")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

const SOURCE: &str = "const execute = () => 1";

/// A way to run a tool: `Ok` if it ran, else the error code.
type ExecutionPath = fn(&PathFixture) -> Result<(), String>;

/// All ways to run a tool. A new surface must be added here: what a hook denies must be denied
/// there too.
const EXECUTION_PATHS: [(&str, ExecutionPath); 12] = [
    ("run", |place| to_result(place.host.run("tool", &json!({})))),
    ("run by identifier", |place| {
        let id = place.host.list(&json!({})).tools[0].id;
        to_result(place.host.run_with(&json!({ "tool_id": id, "parameters": {} }), &RunOptions::default()))
    }),
    ("run_async", |place| {
        let run = place.host.toolbox().run_async(run_request(), RunOptions::default());
        to_result(runtime().block_on(run))
    }),
    ("start", |place| {
        let run = async { place.host.toolbox().start(run_request(), RunOptions::default()).wait().await };
        to_result(runtime().block_on(run))
    }),
    ("exec", |place| place.exec(Precheck::Critical)),
    ("exec without analysis", |place| place.exec(Precheck::Off)),
    ("toolcell run", |place| place.command(&["--json", "run", "tool", "{}"], "")),
    ("toolcell exec", |place| place.command(&["--json", "exec", "-"], SOURCE)),
    ("toolcell exec without analysis", |place| place.command(&["--json", "exec", "-", "--no-analysis"], SOURCE)),
    ("toolcell batch", |place| {
        place.command(&["batch"], &json!({ "id": 1, "op": "run", "source": SOURCE, "params": {} }).to_string())
    }),
    ("toolcell batch without analysis", |place| {
        let request = json!({ "id": 1, "op": "run", "source": SOURCE, "params": {}, "analysis": "off" });
        place.command(&["batch"], &request.to_string())
    }),
    ("toolcell mcp", |place| place.served()),
];

fn to_result(ran: Result<RunResult, RunError>) -> Result<(), String> {
    ran.map(|_| ()).map_err(|error| error.code().to_string())
}

fn run_request() -> RunTool {
    request(&json!({ "tool_name": "tool", "parameters": {} }))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// Runs a tool this way with a hook that gives this answer; returns the result, the number of hook
/// calls, and the single new record.
fn take_path(road: &str, go: ExecutionPath, answer: &str) -> (Result<(), String>, usize, RunRecord) {
    let place = PathFixture::answering(answer);
    let result = go(&place);
    let lines = place.host.audit_lines();
    let runs: Vec<_> = lines.iter().filter(|line| line.details.contains_key("run")).collect();
    let [line] = &*runs else { panic!("{road} leaves {} lines", runs.len()) };
    assert_eq!(line.error, result.clone().err(), "{road}");
    (result, place.asked(), place.host.record(line).unwrap())
}

#[test]
fn every_road_is_denied_once_and_recorded_once() {
    for (road, go) in EXECUTION_PATHS {
        let (result, asked, record) = take_path(road, go, r#"{"permissionDecision": "deny"}"#);
        assert_eq!((result, asked), (Err("permission-denied".to_owned()), 1), "{road}");
        assert_eq!((&*record.outcome, record.used), ("refused", None), "{road}");
    }
}

#[test]
fn every_road_is_open_where_the_hook_does_not_object() {
    for (road, go) in EXECUTION_PATHS {
        let (result, asked, record) = take_path(road, go, "{}");
        assert_eq!((result, asked, &*record.outcome), (Ok(()), 1, "returned"), "{road}");
        assert!(record.used.is_some_and(|used| used.fuel > 0), "{road}");
    }
}
