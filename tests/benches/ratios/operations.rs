//! The operations in a warm process: a complete run, and the cost of hooks.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use toolcell::hook::{CommandHook, HookPhase};
use toolcell::policy::{HookProtocol, Layer};
use toolcell::store::{Durability, Settings, Store};
use toolcell::{
    Budget, CallContext, CreateTool, Draft, EffectApprover, EffectDecision, HeldEffect, Hooks, Params, Policy,
    PolicyFile, Precheck, ResumeRequest, RunOptions, RunOutcome, RunTool, SandboxConfig, Toolbox, ToolboxConfig,
};

use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const RUNS: usize = 5_000;
/// Number of runs that are suspended and resumed.
const SLEEPS: usize = 300;
/// Number of runs with a command hook.
const COMMANDS: usize = 200;
/// A hook that allows everything.
const HOOK: [&str; 3] = ["sh", "-c", "cat >/dev/null; echo '{\"permissionDecision\": \"allow\"}'"];

pub(crate) fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    table.section("the operations, on a store on this disk");
    let toolbox = toolbox(&folder.path().join("plain"), Hooks::default());
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
    hooks(table, folder.path());
    suspend(table, &folder.path().join("sleeping"));
}

/// An approver with a fixed decision.
struct FixedDecision(EffectDecision);

impl EffectApprover for FixedDecision {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        vec![self.0; held.len()]
    }
}

/// Measures a suspended run: its size in the store, and the time to resume it.
fn suspend(table: &mut Table, path: &Path) {
    let rules = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"bench\"";
    let rules = PolicyFile::parse(Layer::User, rules, Path::new("toolcell.toml")).unwrap();
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    let config = ToolboxConfig { policy: Policy::from_layers([rules]).unwrap(), ..ToolboxConfig::default() };
    let toolbox = Toolbox::with_store(Store::open(path, &settings).unwrap(), config).unwrap();
    // After 200 host calls the tool waits for a decision, and finishes once it is made.
    let code = "const execute = async () => { for (let i = 0; i < 200; i++) await kv.get('n'); \
                try { await kv.set('n', 1) } catch {} return 1 }";
    let (name, description, capabilities) = ("waits".to_owned(), "Waits".to_owned(), serde_json::json!(["kv"]));
    let code = code.to_owned();
    toolbox.create(&CreateTool { name, description, code, capabilities, ..CreateTool::default() }).unwrap();
    let saying =
        |choice| RunOptions { effect_approver: Some(Arc::new(FixedDecision(choice))), ..RunOptions::default() };
    let (later, refuse) = (saying(EffectDecision::Defer), saying(EffectDecision::Refuse));
    let (mut resumed, mut bytes) = (Series::default(), 0);
    for _ in 0..SLEEPS {
        let request = RunTool::new("waits", Params::default());
        let suspended_run = match toolbox.run_suspendable(&request, &later).unwrap() {
            RunOutcome::Suspended(suspended_run) => suspended_run,
            RunOutcome::Finished(ran) => return table.note(format!("a run did not sleep: {:?}", ran.report.outcome)),
        };
        bytes = suspended_run.bytes;
        let wake = ResumeRequest::new(suspended_run.run);
        resumed.time(1, || assert!(matches!(toolbox.resume(&wake, &refuse), Ok(RunOutcome::Finished(_)))));
    }
    let row = Row::new("resume a run that slept, recorded, to its end, median", resumed.median());
    table.row(row.target(Target::AtMost(Figure::Time(0.5e-3))));
    table.row(Row::new("  p99", resumed.p99()));
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let kib = bytes as f64 / 1024.0;
    let row = Row::new("  what it takes of the store after 200 calls of the host", Figure::Kib(kib));
    table.row(row.target(Target::AtMost(Figure::Kib(24.0))));
}

/// Measures what a command hook adds to the run time of its command.
fn hooks(table: &mut Table, folder: &Path) {
    let mut hooks = Hooks::default();
    let (name, command) = ("allow".to_owned(), HOOK.map(str::to_owned).to_vec());
    let (timeout, folder_of_hook) = (Duration::from_secs(5), folder.to_owned());
    hooks
        .add_command(CommandHook {
            name,
            command,
            protocol: HookProtocol::Toolcell,
            when: HookPhase::Before,
            timeout,
            tools: Vec::new(),
            folder: folder_of_hook,
            env: Vec::new(),
        })
        .unwrap();
    let through = toolbox(&folder.join("hooked"), hooks);
    let plain = toolbox(&folder.join("unhooked"), Hooks::default());
    let (mut with, mut without) = (Series::default(), Series::default());
    for _ in 0..COMMANDS {
        with.time(1, || run(&through));
        without.time(1, || (spawned(), run(&plain)));
    }
    let row = Row::new("run through a command hook, median, beside the command and a run", with.median());
    table.row(row.beside(without.median()));
    let added = with.median().minus(without.median());
    table.row(Row::new("  what the hook adds to the command", added).target(Target::AtMost(Figure::Time(1e-3))));
}

/// Runs the hook's command alone.
fn spawned() {
    let mut command = Command::new(HOOK[0]);
    command.args(&HOOK[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(command.output().unwrap().status.success());
}

fn toolbox(path: &Path, hooks: Hooks) -> Toolbox {
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    let store = Store::open(path, &settings).unwrap();
    let toolbox = Toolbox::with_store(store, ToolboxConfig { hooks, ..ToolboxConfig::default() }).unwrap();
    let (name, description) = ("string_reverse".to_owned(), "Reverses a text".to_owned());
    let code = STRING_REVERSE.source.to_owned();
    let parameters = serde_json::json!({"text": {"type": "string", "description": "The text", "required": true}});
    toolbox.create(&CreateTool { name, description, code, parameters, ..CreateTool::default() }).unwrap();
    toolbox
}

fn run(toolbox: &Toolbox) {
    let request = RunTool::new("string_reverse", Params::parse(STRING_REVERSE.params).unwrap());
    let ran = toolbox.run(&request, &RunOptions::default()).unwrap();
    assert!(ran.value().is_ok());
}

fn call(toolbox: &Toolbox) {
    let draft = Draft::from_bytes("string_reverse.js", STRING_REVERSE.source.as_bytes()).unwrap();
    let params = Params::parse(STRING_REVERSE.params).unwrap();
    toolbox.exec(&draft, &params, &Budget::default(), &CallContext::default(), Precheck::Critical).unwrap();
}

/// Returns the total runs per second of all threads.
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
