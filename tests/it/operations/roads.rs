//! There is one way into the sandbox, and every road leads over it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::{Budget, Draft, Params, Precheck, Ran, Run, RunError, RunOptions, RunRecord, RunTool};

use super::{Host, request};
use crate::command_line::toolcell_with_input;
use crate::mcp::home::binary;
use crate::shelf::files_below;
use crate::world::{read, root};

/// The sources that have these words in their code, of the crates that can reach the sandbox.
fn sources_with(words: &str) -> Vec<PathBuf> {
    let files = files_below(&root().join("crates")).into_iter();
    let files = files.map(|file| file.strip_prefix(root()).unwrap().to_owned());
    let sources = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    sources.filter(|file| can_reach_the_sandbox(file) && code_of(file).contains(words)).collect()
}

fn can_reach_the_sandbox(file: &Path) -> bool {
    let folder: PathBuf = file.components().take(2).collect();
    let manifest = read(folder.join("Cargo.toml"));
    // A jail is a sandbox, as that of the host crate is one.
    folder != Path::new("crates/jail")
        && ["\ntoolcell-host =", "\ntoolcell-jail =", "\ntoolcell ="]
            .iter()
            .any(|dependency| manifest.contains(dependency))
}

/// A source without its comments and its tests.
fn code_of(file: &Path) -> String {
    let text = read(file);
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sandbox_is_entered_in_one_place() {
    // Here or in a jail, it is the same place: `cells` chooses, and only `cell` has cells called.
    let cell = ["cell.rs", "cells.rs"].map(|name| Path::new("crates/toolcell/src").join(name));
    assert_eq!(sources_with("sandbox.call("), cell);
    assert_eq!(sources_with("jail.call("), cell[1..]);
    assert_eq!(sources_with(".prepare("), cell);
    assert_eq!(sources_with("Sandbox::new("), cell[1..]);
    assert_eq!(sources_with("Jail::new("), cell[1..]);
    assert_eq!(sources_with("Cells::new("), [PathBuf::from("crates/toolcell/src/toolbox.rs")]);
    // Who enters it: a stored tool, a draft, a trial of a tool, what an example says of a
    // result, two tools that are compared (where both would run without anybody being asked). Who only evaluates: a factory, to be told what its tool takes.
    let of = |names: &[&str]| names.iter().map(|name| Path::new("crates/toolcell/src").join(name)).collect::<Vec<_>>();
    assert_eq!(sources_with("self.enter("), of(&["alike/probe.rs", "exec.rs", "proof/predicate.rs", "run/enter.rs"]));
    // A run may sleep; whoever wakes it had a permit for it again.
    assert_eq!(sources_with("sandbox.call_or_sleep("), cell);
    assert_eq!(sources_with("sandbox.wake("), cell);
    assert_eq!(sources_with("self.enter_or_sleep("), of(&["run/enter.rs"]));
    assert_eq!(sources_with("self.wake("), of(&["run/enter.rs"]));
    assert_eq!(sources_with("toolbox.enter"), of(&["proof/trial.rs"]));
    // Who runs again what ran before: a replay, which reaches nothing.
    assert_eq!(sources_with("self.enter_again("), of(&["receipt/replay.rs"]));
    assert_eq!(sources_with("self.evaluate("), of(&["cell.rs", "create.rs"]));
    // What admits is a permit, and it is made in one place.
    assert_eq!(sources_with("Ok(Permit {"), [PathBuf::from("crates/toolcell/src/permit.rs")]);
}

/// A host whose gates are commands of a policy file, so that whoever reads the file has them as well.
struct Place {
    host: Host,
    files: TempDir,
}

impl Place {
    /// Its one gate notes that it was asked, and prints this answer.
    fn answering(answer: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        let asked = files.path().join("asked");
        let script = format!("cat > /dev/null; echo asked >> {}; echo '{answer}'", asked.display());
        let policy = format!("[[gates]]\nname = \"rules\"\ncommand = [\"/bin/sh\", \"-c\", {}]", json!(script));
        write(&files.path().join("user.toml"), &policy);
        let host = Host::under(&policy);
        host.tool("tool", SOURCE);
        Self { host, files }
    }

    /// How often the gate was asked.
    fn asked(&self) -> usize {
        let asked = self.files.path().join("asked");
        if asked.exists() { read(asked).lines().count() } else { 0 }
    }

    /// Runs a command on the same store under the same file.
    fn command(&self, words: &[&str], input: &str) -> Result<(), String> {
        let config = self.files.path().join("user.toml");
        let own = ["--dir", self.host.path().to_str().unwrap(), "--config", config.to_str().unwrap()];
        let answer = toolcell_with_input(&[&own, words].concat(), input.as_bytes()).json();
        answer["error"]["code"].as_str().map_or(Ok(()), |code| Err(code.to_owned()))
    }

    /// Runs the tool through a server on the same store under the same file.
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
        let done = toolbox.exec(&draft, &Params::default(), &Budget::default(), &Run::default(), precheck);
        done.map(|_| ()).map_err(|error| error.code().to_owned())
    }
}

#[expect(clippy::disallowed_methods, reason = "the file is the test's own")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

const SOURCE: &str = "const execute = () => 1";

/// A way to make something run: the code of what was refused, or nothing where it ran.
type Road = fn(&Place) -> Result<(), String>;

/// The ways there are. A new surface adds its own here: what a gate denies has to be denied on it as well.
const ROADS: [(&str, Road); 12] = [
    ("run", |place| came_of(place.host.run("tool", &json!({})))),
    ("run by identifier", |place| {
        let id = place.host.list(&json!({})).tools[0].id;
        came_of(place.host.run_as(&json!({ "tool_id": id, "parameters": {} }), &RunOptions::default()))
    }),
    ("run_async", |place| {
        let run = place.host.toolbox().run_async(called(), RunOptions::default());
        came_of(runtime().block_on(run))
    }),
    ("start", |place| {
        let run = async { place.host.toolbox().start(called(), RunOptions::default()).ended().await };
        came_of(runtime().block_on(run))
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

fn came_of(ran: Result<Ran, RunError>) -> Result<(), String> {
    ran.map(|_| ()).map_err(|error| error.code().to_owned())
}

fn called() -> RunTool {
    request(&json!({ "tool_name": "tool", "parameters": {} }))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// What came of a road where the gate answers so, how often the gate was asked, and the one record that it left.
fn walked(road: &str, go: Road, answer: &str) -> (Result<(), String>, usize, RunRecord) {
    let place = Place::answering(answer);
    let came = go(&place);
    let lines = place.host.lines();
    let runs: Vec<_> = lines.iter().filter(|line| line.details.contains_key("run")).collect();
    let [line] = &*runs else { panic!("{road} leaves {} lines", runs.len()) };
    assert_eq!(line.error, came.clone().err(), "{road}");
    (came, place.asked(), place.host.record(line).unwrap())
}

#[test]
fn every_road_is_denied_once_and_recorded_once() {
    for (road, go) in ROADS {
        let (came, asked, record) = walked(road, go, r#"{"permissionDecision": "deny"}"#);
        assert_eq!((came, asked), (Err("permission-denied".to_owned()), 1), "{road}");
        assert_eq!((&*record.outcome, record.used), ("refused", None), "{road}");
    }
}

#[test]
fn every_road_is_open_where_the_gate_does_not_object() {
    for (road, go) in ROADS {
        let (came, asked, record) = walked(road, go, "{}");
        assert_eq!((came, asked, &*record.outcome), (Ok(()), 1, "returned"), "{road}");
        assert!(record.used.is_some_and(|used| used.fuel > 0), "{road}");
    }
}
