//! Node peers, if Node is installed: scripts in `../node` call tools and report the time of each
//! call.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::engines::Sample;
use crate::process::target_folder;
use crate::table::Table;

/// The package to compare with, and its version.
const EMSCRIPTEN: &str = "quickjs-emscripten@0.32.0";

/// A process that calls tools on request.
pub(crate) struct Peer {
    name: &'static str,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    microseconds: Vec<f64>,
    result: Option<String>,
}

impl Peer {
    fn start(name: &'static str, script: &str, argument: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/node").join(script);
        let mut command = Command::new("node");
        command.arg(script).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { name, child, requests, answers }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Makes whole calls, and returns the time of each.
    pub(crate) fn call(&mut self, sample: &Sample, calls: usize) -> Vec<Duration> {
        let request = serde_json::json!({ "source": sample.source, "params": sample.params, "calls": calls });
        writeln!(self.requests.as_mut().unwrap(), "{request}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Answer = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer.result.as_deref(), sample.result, "{}: {}", self.name, sample.name);
        answer.microseconds.into_iter().map(|time| Duration::from_secs_f64(time / 1e6)).collect()
    }
}

impl Drop for Peer {
    /// The process exits when its standard input closes.
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}

/// Whether `node` is installed.
pub(crate) fn is_installed() -> bool {
    succeeds(Command::new("node").arg("--version"))
}

/// Starts the available peers, and notes why others are not.
pub(crate) fn peers(table: &mut Table) -> Vec<Peer> {
    if !is_installed() {
        table.note("node: not installed, so nothing is compared with it");
        return Vec::new();
    }
    let folder = target_folder().join("bench-node");
    let mut peers = vec![Peer::start("Node vm, fresh context", "vm.mjs", &folder)];
    if install_emscripten(&folder) {
        peers.push(Peer::start("quickjs-emscripten, fresh context", "emscripten.mjs", &folder));
    } else {
        table.note(format!("{EMSCRIPTEN}: not installed, and npm could not do it"));
    }
    peers
}

fn install_emscripten(folder: &Path) -> bool {
    if folder.join("node_modules/quickjs-emscripten").is_dir() {
        return true;
    }
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(folder).arg(EMSCRIPTEN);
    npm.args([
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--fetch-retries=0",
        "--fetch-timeout=20000",
    ]);
    std::fs::create_dir_all(folder).is_ok() && succeeds(&mut npm)
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
