//! What the operations take from a warm process: a run with all that belongs to it, and what gates add.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use toolcell::gate::{GateCommand, When};
use toolcell::store::{Durability, Settings, Store};
use toolcell::{
    Budget, CreateTool, Draft, Gates, Params, Precheck, Run, RunOptions, RunTool, SandboxConfig, Toolbox, ToolboxConfig,
};

use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const RUNS: usize = 5_000;
/// How many runs go through a command.
const COMMANDS: usize = 200;
/// A gate that allows everything.
const GATE: [&str; 3] = ["sh", "-c", "cat >/dev/null; echo '{\"permissionDecision\": \"allow\"}'"];

pub(crate) fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    table.section("the operations, on a store on this disk");
    let toolbox = toolbox(&folder.path().join("plain"), Gates::default());
    let alone = Toolbox::new(&SandboxConfig::default()).unwrap();
    let (mut ran, mut called) = (Series::default(), Series::default());
    for _ in 0..50 {
        ran.time(RUNS / 50, || run(&toolbox));
        called.time(RUNS / 50, || call(&alone));
    }
    let row = Row::new("run a stored tool, recorded, median, beside the call alone", ran.median());
    table.row(row.beside(called.median()).target(Target::AtMost(Figure::Time(80e-6))));
    table.row(Row::new("  p99", ran.p99()).beside(called.p99()));
    for threads in [1, 2] {
        let row = Row::new(format!("runs a second, {threads} threads"), rate(&toolbox, threads));
        table.row(if threads == 2 { row.target(Target::AtLeast(Figure::Rate(20_000.0))) } else { row });
    }
    gates(table, folder.path());
}

/// What a command costs as a gate beyond what it costs.
fn gates(table: &mut Table, folder: &Path) {
    let mut gates = Gates::default();
    let (name, command) = ("allow".to_owned(), GATE.map(str::to_owned).to_vec());
    let (timeout, folder_of_gate) = (Duration::from_secs(5), folder.to_owned());
    gates
        .command(GateCommand { name, command, when: When::Before, timeout, tools: Vec::new(), folder: folder_of_gate })
        .unwrap();
    let through = toolbox(&folder.join("gated"), gates);
    let plain = toolbox(&folder.join("ungated"), Gates::default());
    let (mut with, mut without) = (Series::default(), Series::default());
    for _ in 0..COMMANDS {
        with.time(1, || run(&through));
        without.time(1, || (spawned(), run(&plain)));
    }
    let row = Row::new("run through a command gate, median, beside the command and a run", with.median());
    table.row(row.beside(without.median()));
    let added = with.median().minus(without.median());
    table.row(Row::new("  what the gate adds to the command", added).target(Target::AtMost(Figure::Time(1e-3))));
}

/// The gate's command by itself.
fn spawned() {
    let mut command = Command::new(GATE[0]);
    command.args(&GATE[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(command.output().unwrap().status.success());
}

fn toolbox(path: &Path, gates: Gates) -> Toolbox {
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    let store = Store::open(path, &settings).unwrap();
    let toolbox = Toolbox::with_store(store, ToolboxConfig { gates, ..ToolboxConfig::default() }).unwrap();
    let (name, description) = ("string_reverse".to_owned(), "Reverses a text".to_owned());
    let code = STRING_REVERSE.source.to_owned();
    let parameters = serde_json::json!({"text": {"type": "string", "description": "The text", "required": true}});
    toolbox.create(&CreateTool { name, description, code, parameters, ..CreateTool::default() }).unwrap();
    toolbox
}

fn run(toolbox: &Toolbox) {
    let request = RunTool::of("string_reverse", Params::parse(STRING_REVERSE.params).unwrap());
    let ran = toolbox.run(&request, &RunOptions::default()).unwrap();
    assert!(ran.value().is_ok());
}

fn call(toolbox: &Toolbox) {
    let draft = Draft::from_bytes("string_reverse.js", STRING_REVERSE.source.as_bytes()).unwrap();
    let params = Params::parse(STRING_REVERSE.params).unwrap();
    toolbox.exec(&draft, &params, &Budget::default(), &Run::default(), Precheck::Critical).unwrap();
}

/// How many runs all threads make together in a second.
fn rate(toolbox: &Toolbox, threads: usize) -> Figure {
    let barrier = Barrier::new(threads + 1);
    let started = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                barrier.wait();
                (0..RUNS).for_each(|_| run(toolbox));
            });
        }
        barrier.wait();
        Instant::now()
    });
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let runs = (threads * RUNS) as f64;
    Figure::Rate(runs / started.elapsed().as_secs_f64())
}
