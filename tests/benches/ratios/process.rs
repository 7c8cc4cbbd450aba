//! Whole processes: from the start of the binary to its first result, beside the same tool in a Node child process.

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
    if with_node {
        table.row(Row::new("  node -e, a child process", sealed.median()).beside(native.median()));
    }
}

/// Runs a process to its end, which must have printed the result.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("dlroW olleH"), "{command:?} said: {text}");
}

/// The folder that cargo builds into: this program is in `release/deps` of it.
pub(crate) fn target_folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().to_owned()
}
