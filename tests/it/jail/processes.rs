//! Worker processes as the operating system sees them, and their end if the host is killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use nix::sys::signal::{SIGINT, SIGKILL, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::kill;
use crate::mcp::server::{binary, poll};

/// Returns the fields of `/proc/PID/status`.
pub(super) fn status(process: u32) -> BTreeMap<String, String> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    text.lines().filter_map(line).collect()
}

/// Returns the number of threads.
pub(super) fn threads(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/task")).unwrap().count()
}

/// Returns the number of open descriptors, or `None` without the permission to see them.
pub(super) fn descriptors(process: u32) -> Option<usize> {
    fs::read_dir(format!("/proc/{process}/fd")).ok().map(Iterator::count)
}

/// Returns whether the process is running. A zombie is not.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

pub(super) fn wait_for_its_end(process: u32) {
    assert!(poll(|| (!runs(process)).then_some(())).is_some(), "{process} runs on");
}

/// Returns the running children of a process.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let of_parent = |process: &u32| {
        let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        text.lines().any(|line| line == format!("PPid:\t{parent}")) && runs(*process)
    };
    processes.filter(of_parent).collect()
}

#[test]
fn a_terminal_that_interrupts_the_host_cancels_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("endless.js");
    fs::write(&tool, "const execute = () => { for (;;) ; }").unwrap();
    let mut host = Command::new(binary());
    host.arg("--dir").arg(folder.path()).args(["exec", "--jail", "--json", "--fuel", "1000000000000000"]).arg(&tool);
    let host = host.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert!(poll(|| (!children(host.id()).is_empty()).then_some(())).is_some());
    // A terminal sends the signal to the whole process group.
    let group = Pid::from_raw(i32::try_from(host.id()).unwrap());
    killpg(group, SIGINT).unwrap();
    let done = host.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn a_host_that_is_killed_leaves_no_worker_and_calls_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new(binary());
    host.arg("--dir").arg(folder.path()).args(["batch", "--jail"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut host = host.spawn().unwrap();
    let (mut asks, mut answers) = (host.stdin.take().unwrap(), BufReader::new(host.stdout.take().unwrap()));
    let mut call = |n: u32| {
        let source = "const execute = ({ n }) => n + 1";
        writeln!(asks, "{}", json!({ "id": n, "op": "run", "source": source, "params": { "n": n } })).unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["value"], json!(n + 1), "{line}");
    };
    call(0);
    let state = |host: u32| (children(host), descriptors(host), threads(host));
    let before = state(host.id());
    (1..=100).for_each(&mut call);
    assert_eq!(state(host.id()), before);
    let [worker] = before.0[..] else { panic!("one worker for one call at a time: {before:?}") };
    kill(host.id(), SIGKILL);
    host.wait().unwrap();
    wait_for_its_end(worker);
}
