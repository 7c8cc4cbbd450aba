//! Whole processes: from the start of the binary to its first result, compared with the same tool
//! in a Node child process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::node;
use crate::table::{Figure, Row, Table, Target};

const TURNS: usize = 20;

pub(crate) fn measure(table: &mut Table) {
    table.section("a whole process, median of 20");
    let binary = target_folder().join("release/toolcell");
    if !binary.is_file() {
        table.note("toolcell exec: not built; `cargo build --release -p toolcell-cli` builds it");
        return;
    }
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/tools/string_reverse.js");
    let mut ours = Command::new(binary);
    ours.arg("exec").arg(tool).arg(STRING_REVERSE.params).arg("--json");
    let mut theirs = Command::new("node");
    let source = STRING_REVERSE.source;
    let params = STRING_REVERSE.params;
    theirs.arg("-e").arg(format!("{source}\nexecute({params}).then((value) => console.log(JSON.stringify(value)));"));

    let with_node = node::is_installed();
    let (mut sealed, mut native) = (Series::default(), Series::default());
    for _ in 0..TURNS {
        sealed.time(1, || run(&mut ours));
        if with_node {
            native.time(1, || run(&mut theirs));
        }
    }
    let row = Row::new("toolcell exec string_reverse.js", sealed.median());
    table.row(row.target(Target::AtMost(Figure::time(Duration::from_millis(10)))));
    stored(table);
    if with_node {
        table.row(Row::new("  node -e, a child process", sealed.median()).beside(native.median()));
    }
}

/// Measures a stored tool, including the record of its run.
fn stored(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let toolcell = |words: &[&str]| {
        let mut command = Command::new(target_folder().join("release/toolcell"));
        command.args(["--no-project", "--config", "/dev/null", "--dir"]).arg(folder.path()).args(words);
        command
    };
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/tools/string_reverse.js");
    let made = toolcell(&["create", &tool.to_string_lossy(), "--description", "Reverses a text"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut ran = Series::default();
    for _ in 0..TURNS {
        ran.time(1, || run(&mut toolcell(&["run", "string_reverse", STRING_REVERSE.params])));
    }
    let row = Row::new("toolcell run string_reverse, stored and recorded", ran.median());
    table.row(row.target(Target::AtMost(Figure::time(Duration::from_millis(20)))));
}

/// Runs a process, and asserts that it printed the result.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("dlroW olleH"), "{command:?} said: {text}");
}

/// Returns cargo's target folder; this program is in its `release/deps`.
pub(crate) fn target_folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().to_owned()
}
