//! Runs the commands of README.md and compares their output.
#![expect(clippy::disallowed_types, reason = "a free port is found by listening on one")]

use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::world::{read, root};

/// Returns the commands of a section, each with its expected output.
fn blocks(section: &str) -> Vec<(String, String)> {
    let text = read("README.md");
    let section = text.split_once(&format!("\n## {section}\n")).unwrap().1;
    let block = section.split_once("```console\n").unwrap().1.split_once("```").unwrap().0;
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else {
            let said = &mut commands.last_mut().unwrap().1;
            said.push_str(line);
            said.push('\n');
        }
    }
    commands
}

/// Whether the output matches; `…` stands for any text.
fn is_match(said: &str, expected: &str) -> bool {
    let mut rest = said;
    for (at, part) in expected.split('…').enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(found) if at > 0 => rest = &rest[found + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || expected.ends_with("…\n") || expected.ends_with('…')
}

#[test]
fn what_stands_for_anything_is_told_from_what_does_not() {
    assert!(is_match("a\nb\n", "a\nb\n") && is_match("a\nb\n", "a\n…\n") && is_match("abc\n", "a…c\n"));
    assert!(!is_match("a\nb\n", "a\n") && !is_match("xa\n", "a\n") && !is_match("abd\n", "a…c\n"));
}

/// The port in README.md, which each run replaces with a free one.
const README_PORT: &str = "8765";

/// Timeout of all commands of a block together.
const BLOCK_TIMEOUT: Duration = Duration::from_mins(4);

/// Panics with the names of the programs that this machine lacks.
fn check_requirements() {
    for program in ["bash", "python3"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(found.is_ok_and(|status| status.success()), "the commands of README.md need `{program}`: install it");
    }
}

/// Returns a TCP port that was free a moment ago.
fn free_port() -> String {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port().to_string()
}

/// A shell in its own process group, which is killed when dropped.
struct Shell {
    group: Pid,
    ended: Receiver<()>,
}

impl Shell {
    fn spawn(command: &mut Command) -> Self {
        let mut child = command.process_group(0).stdin(Stdio::null()).spawn().unwrap();
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let (sender, ended) = channel();
        std::thread::spawn(move || {
            let _ = child.wait();
            let _ = sender.send(());
        });
        Self { group, ended }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Fails if the whole group has exited.
        let _ = killpg(self.group, Signal::SIGKILL);
    }
}

/// Runs the commands of a section in one shell, and compares the output of each on both streams.
fn run_section(section: &str) {
    check_requirements();
    let port = free_port();
    let commands: Vec<(String, String)> = blocks(section)
        .into_iter()
        .map(|(command, expected)| (command.replace(README_PORT, &port), expected.replace(README_PORT, &port)))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("fixtures")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let policy = folder.path().join("fixtures/network/toolcell/toolcell.toml");
    std::fs::write(&policy, std::fs::read_to_string(&policy).unwrap().replace(README_PORT, &port)).unwrap();
    let mut script = String::from("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    for (at, (command, _)) in commands.iter().enumerate() {
        writeln!(script, "{{ {command}\n}} > said.{at}.out 2> said.{at}.err").unwrap();
    }
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_clerk")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg("-c").arg(&script).current_dir(folder.path()).env("PATH", path);
    command.env("TMPDIR", folder.path()).env("TOOLCELL_LANG", "en");
    let shell = Shell::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let timed_out = shell.ended.recv_timeout(BLOCK_TIMEOUT).is_err();
    for (at, (command, expected)) in commands.iter().enumerate() {
        let Ok(out) = std::fs::read_to_string(folder.path().join(format!("said.{at}.out"))) else {
            panic!("$ {command}\nwas not reached within {BLOCK_TIMEOUT:?}");
        };
        let said = out + &std::fs::read_to_string(folder.path().join(format!("said.{at}.err"))).unwrap();
        assert!(is_match(&said, expected), "$ {command}\n{said}\nexpected:\n{expected}");
    }
    assert!(!timed_out, "the last command did not end within {BLOCK_TIMEOUT:?}");
}

#[test]
fn what_a_tool_does_outside_of_its_cell() {
    run_section("What a tool does outside of its cell");
}

#[test]
fn testing_tools() {
    run_section("Testing tools");
}

#[test]
fn defence_in_depth() {
    run_section("Defence in depth");
}

#[test]
fn receipts() {
    run_section("Receipts");
}

#[test]
fn where_the_fuel_goes() {
    run_section("Where the fuel goes");
}

#[test]
fn on_a_locked_down_runner() {
    run_section("On a locked-down runner");
}
