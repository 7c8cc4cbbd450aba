//! Memory: of idle tools, of a call in progress, and leaks of many calls (none).
//!
//! The figures are those of the kernel for this process, from `/proc/self`.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use toolcell_host::{
    Budget, CallContext, Completion, Grant, HostCall, HostCallDriver, HostCalls, Json, Params, PrepareResult, Prepared,
    Remaining, Sandbox, SandboxOptions, ScriptSource, Timers, WaitResult,
};

use crate::engines::{Native, STRING_REVERSE, Sealed};
use crate::table::{Figure, Row, Table, Target};

/// Number of prepared tools.
const TOOLS: u32 = 1_000;

/// Number of concurrent calls.
const CALLS: u32 = 32;

/// Variation of the kernel's figure without a leak, in KiB: 2.6 bytes per call.
const NOISE_KIB: f64 = 256.0;

pub(crate) fn measure(table: &mut Table) {
    table.section("memory");
    idle_tools(table);
    calls_in_flight(table);
    leftovers(table);
}

/// Measures a thousand prepared tools.
fn idle_tools(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    let prepare =
        |number: u32| prepared(&sandbox, &format!("// {number}\n{}", STRING_REVERSE.source), &CallContext::default());
    let mut tools = Vec::with_capacity(TOOLS as usize + 1);
    tools.push(prepare(0));
    let before = Footprint::now();
    tools.extend((1..=TOOLS).map(prepare));
    let grown = Footprint::now().rss_kib - before.rss_kib;
    let largest = tools.iter().map(Prepared::held_bytes).max().unwrap();

    let most = Target::AtMost(Figure::Kib(200.0));
    table.row(Row::new("an idle tool, Prepared::size", Figure::Kib(kib(largest))).target(most));
    let row = Row::new("an idle tool, RSS of 1,000", Figure::Kib(grown / f64::from(TOOLS)));
    table.row(row.beside(Figure::Kib(native_contexts())).target(most));
}

/// Returns the KiB of a native context with a tool.
fn native_contexts() -> f64 {
    let first = Native::new(STRING_REVERSE.source);
    let before = Footprint::now();
    let contexts: Vec<Native> = (0..CALLS).map(|_| Native::new(STRING_REVERSE.source)).collect();
    let grown = Footprint::now().rss_kib - before.rss_kib;
    drop((first, contexts));
    grown / f64::from(CALLS)
}

/// Measures concurrent calls that all wait for the host.
fn calls_in_flight(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxOptions { slots: CALLS as usize, ..SandboxOptions::default() }).unwrap();
    let source = "const execute = () => new Promise((resolve) => setTimeout(resolve, 0));";
    let tool = prepared(&sandbox, source, &CallContext { host_calls: &Timers, ..CallContext::default() });
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

/// Makes a call that starts when all have been created, and continues when all are waiting.
fn call_held(sandbox: &Sandbox, tool: &Prepared, all: &Arc<Barrier>) {
    let params = Params::parse("{}").unwrap();
    all.wait();
    all.wait();
    let run = CallContext { host_calls: &HoldingHost(Arc::clone(all)), ..CallContext::default() };
    sandbox.call(tool, &params, &Budget::default(), &run).unwrap();
}

/// A host whose timers complete when every call has arrived, twice.
struct HoldingHost(Arc<Barrier>);

impl HostCalls for HoldingHost {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(HoldingDriver { all: Arc::clone(&self.0), begun: Vec::new() })
    }
}

struct HoldingDriver {
    all: Arc<Barrier>,
    begun: Vec<HostCall>,
}

impl HostCallDriver for HoldingDriver {
    fn submit(&mut self, started: Vec<HostCall>, _: &[u32]) {
        self.begun.extend(started);
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        let began = Instant::now();
        self.all.wait();
        self.all.wait();
        let ended =
            self.begun.drain(..).map(|operation| Completion { id: operation.id, result: Ok(Json::NULL.into()) });
        WaitResult::since(began, ended.collect())
    }
}

/// Measures the growth of memory over a hundred thousand calls, after a thousand warm-up calls.
fn leftovers(table: &mut Table) {
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
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

fn prepared(sandbox: &Sandbox, source: &str, run: &CallContext<'_>) -> Prepared {
    let script = ScriptSource { name: "tool.js", source };
    match sandbox.prepare(&script, &Budget::default(), run).unwrap() {
        PrepareResult::Ready(prepared) => prepared,
        PrepareResult::Failed(report) => unreachable!("the tool does not load: {:?}", report.outcome),
    }
}

/// The memory of this process.
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
