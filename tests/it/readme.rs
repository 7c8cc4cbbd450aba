//! The commands of README.md come out as it says.

use std::fmt::Write as _;
use std::process::Command;

use crate::world::{read, root};

/// A block of commands: what is typed, and what is said to that.
fn block(section: &str) -> Vec<(String, String)> {
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

/// Whether what was said is what is expected, where `…` stands for anything.
fn is(said: &str, expected: &str) -> bool {
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
    assert!(is("a\nb\n", "a\nb\n") && is("a\nb\n", "a\n…\n") && is("abc\n", "a…c\n"));
    assert!(!is("a\nb\n", "a\n") && !is("xa\n", "a\n") && !is("abd\n", "a…c\n"));
}

/// Runs a block in one shell, and compares what each command says on both streams.
fn runs(section: &str) {
    let commands = block(section);
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("fixtures")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let mut script = String::from("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    for (at, (command, _)) in commands.iter().enumerate() {
        writeln!(script, "{{ {command}\n}} > said.{at}.out 2> said.{at}.err").unwrap();
    }
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_clerk")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(&script).current_dir(folder.path()).env("PATH", path);
    shell.env("TMPDIR", folder.path()).env("TOOLCELL_LANG", "en").output().unwrap();
    for (at, (command, expected)) in commands.iter().enumerate() {
        let said = |stream: &str| std::fs::read_to_string(folder.path().join(format!("said.{at}.{stream}"))).unwrap();
        let said = said("out") + &said("err");
        assert!(is(&said, expected), "$ {command}\n{said}\nexpected:\n{expected}");
    }
}

#[test]
fn what_a_tool_does_outside_of_its_cell() {
    runs("What a tool does outside of its cell");
}

#[test]
fn testing_tools() {
    runs("Testing tools");
}

#[test]
fn defence_in_depth() {
    runs("Defence in depth");
}

#[test]
fn receipts() {
    runs("Receipts");
}

#[test]
fn where_the_fuel_goes() {
    runs("Where the fuel goes");
}

#[test]
fn on_a_locked_down_runner() {
    runs("On a locked-down runner");
}
