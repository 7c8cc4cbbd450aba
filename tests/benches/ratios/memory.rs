//! What stays in memory: idle tools, a call that is being made, and what many calls leave behind (nothing).
//!
//! The figures of this process are the kernel's, from `/proc/self`.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use toolcell_host::{
    Budget, Ended, Grant, Json, Left, Loaded, Operation, Operations, OperationsOfCall, Params, Prepared, Run, Sandbox,
    SandboxConfig, Script, Timers, Waited,
};

use crate::engines::{Native, STRING_REVERSE, Sealed};
use crate::table::{Figure, Row, Table, Target};

/// Tools that are kept.
const TOOLS: u32 = 1_000;

/// Calls that are made at once.
const CALLS: u32 = 32;

/// What the kernel's figure may differ by without any call having kept a thing: 2.6 bytes a call.
const NOISE_KIB: f64 = 256.0;

pub(crate) fn measure(table: &mut Table) {
    table.section("memory");
    idle_tools(table);
    calls_in_flight(table);
    leftovers(table);
}

/// A thousand tools, prepared and kept.
fn idle_tools(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxConfig::default()).unwrap();
    let prepare = |number: u32| prepared(&sandbox, &format!("// {number}\n{}", STRING_REVERSE.source), &Run::default());
    let mut tools = Vec::with_capacity(TOOLS as usize + 1);
    tools.push(prepare(0));
    let before = Footprint::now();
    tools.extend((1..=TOOLS).map(prepare));
    let grown = Footprint::now().rss_kib - before.rss_kib;
    let largest = tools.iter().map(Prepared::size).max().unwrap();

    let most = Target::AtMost(Figure::Kib(200.0));
    table.row(Row::new("an idle tool, Prepared::size", Figure::Kib(kib(largest))).target(most));
    let row = Row::new("an idle tool, RSS of 1,000", Figure::Kib(grown / f64::from(TOOLS)));
    table.row(row.beside(Figure::Kib(native_contexts())).target(most));
}

/// KiB that a native context with a tool in it takes.
fn native_contexts() -> f64 {
    let first = Native::new(STRING_REVERSE.source);
    let before = Footprint::now();
    let contexts: Vec<Native> = (0..CALLS).map(|_| Native::new(STRING_REVERSE.source)).collect();
    let grown = Footprint::now().rss_kib - before.rss_kib;
    drop((first, contexts));
    grown / f64::from(CALLS)
}

/// Many calls at once, all of which wait for the host.
fn calls_in_flight(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxConfig { slots: CALLS as usize, ..SandboxConfig::default() }).unwrap();
    let source = "const execute = () => new Promise((resolve) => setTimeout(resolve, 0));";
    let tool = prepared(&sandbox, source, &Run { operations: &Timers, ..Run::default() });
    let all = Arc::new(Barrier::new(CALLS as usize + 1));
    let grown = thread::scope(|scope| {
        for _ in 0..CALLS {
            scope.spawn(|| call_held(&sandbox, &tool, &all));
        }
        all.wait();
        let before = Footprint::now();
        all.wait();
        all.wait();
        let during = Footprint::now();
        all.wait();
        during.rss_kib - before.rss_kib
    });
    let row = Row::new("a call being made, RSS of 32", Figure::Kib(grown / f64::from(CALLS)));
    table.row(row.target(Target::AtMost(Figure::Kib(1024.0))));
}

/// A call that begins when all have been started, and goes on when all are waiting.
fn call_held(sandbox: &Sandbox, tool: &Prepared, all: &Arc<Barrier>) {
    let params = Params::parse("{}").unwrap();
    all.wait();
    all.wait();
    let run = Run { operations: &Held(Arc::clone(all)), ..Run::default() };
    sandbox.call(tool, &params, &Budget::default(), &run).unwrap();
}

/// Timers that are over when everybody has come, twice.
struct Held(Arc<Barrier>);

impl Operations for Held {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Holding { all: Arc::clone(&self.0), begun: Vec::new() })
    }
}

struct Holding {
    all: Arc<Barrier>,
    begun: Vec<Operation>,
}

impl OperationsOfCall for Holding {
    fn begin(&mut self, started: Vec<Operation>, _: &[u32]) {
        self.begun.extend(started);
    }

    fn wait(&mut self, _: &Left<'_>) -> Waited {
        let began = Instant::now();
        self.all.wait();
        self.all.wait();
        let ended = self.begun.drain(..).map(|operation| Ended { id: operation.id, result: Ok(Json::NULL.into()) });
        Waited::since(began, ended.collect())
    }
}

/// What a hundred thousand calls leave behind, after the first thousand.
fn leftovers(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxConfig::default()).unwrap();
    let tool = Sealed::new(&sandbox, STRING_REVERSE.source, Budget::default());
    let call = |calls: u32| (0..calls).for_each(|_| drop(tool.call(STRING_REVERSE.params)));
    call(1_000);
    let before = Footprint::now();
    call(99_000);
    let after = Footprint::now();

    let grown = Row::new("left by 99,000 calls, RSS", Figure::Kib(after.rss_kib - before.rss_kib));
    table.row(grown.target(Target::AtMost(Figure::Kib(NOISE_KIB))));
    let none = Target::AtMost(Figure::Count(0.0));
    table.row(Row::new("  threads", Figure::Count(after.threads - before.threads)).target(none));
    table.row(Row::new("  file descriptors", Figure::Count(after.descriptors - before.descriptors)).target(none));
}

fn prepared(sandbox: &Sandbox, source: &str, run: &Run<'_>) -> Prepared {
    let script = Script { name: "tool.js", source };
    match sandbox.prepare(&script, &Budget::default(), run).unwrap() {
        Loaded::Ready(prepared) => prepared,
        Loaded::Ended(report) => unreachable!("the tool does not load: {:?}", report.outcome),
    }
}

/// What this process has.
pub(crate) struct Footprint {
    pub(crate) rss_kib: f64,
    threads: f64,
    descriptors: f64,
}

impl Footprint {
    pub(crate) fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let field = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim_start_matches(':').trim_end_matches("kB").trim().parse().unwrap()
        };
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        let descriptors = f64::from(u32::try_from(descriptors).unwrap());
        Self { rss_kib: field("VmRSS"), threads: field("Threads"), descriptors }
    }
}

fn kib(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap()) / 1024.0
}
