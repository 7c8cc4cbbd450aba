//! How long after its deadline, or after its cancellation, a call returns.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use toolcell_host::{
    Budget, CallContext, CancelToken, ImageKind, Outcome, Params, PrepareResult, Report, Sandbox, SandboxOptions,
    ScriptSource, Stop,
};

use crate::table::{Figure, Row, Table, Target};

/// Number of stopped calls per case.
const TURNS: usize = 3;

const DEADLINE: Duration = Duration::from_millis(200);

pub(crate) fn measure(table: &mut Table) {
    table.section("stopped by a deadline of 200 ms, or cancelled: the latest of all such fixtures, 3 times each");
    let attacks = attacks();
    for kind in ImageKind::ALL {
        let images = SandboxOptions { images: vec![kind], ..SandboxOptions::default() };
        let Ok(sandbox) = Sandbox::new(&images) else {
            table.note(format!("the {} image does not work here", kind.name()));
            continue;
        };
        for (what, ends) in [("late", latest as fn(&Sandbox, &str) -> Duration), ("cancelled", latest_cancelled)] {
            let latest = attacks.iter().map(|source| ends(&sandbox, source)).max().unwrap();
            let row = Row::new(format!("{what}, {}", kind.name()), Figure::time(latest));
            // The promise is about native code.
            table.row(if kind == ImageKind::Interpreted {
                row
            } else {
                row.target(Target::AtMost(Figure::Time(3e-3)))
            });
        }
    }
}

/// Returns the hostile fixtures that only the deadline stops.
fn attacks() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/hostile");
    let sources = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    sources.filter(|source| source.starts_with("// expect: stopped(timeout)\n")).collect()
}

/// Prepares a script and calls it.
fn run_stopped(sandbox: &Sandbox, source: &str, budget: &Budget, run: &CallContext<'_>) -> Report {
    let script = ScriptSource { name: "attack.js", source };
    match sandbox.prepare(&script, budget, run).unwrap() {
        PrepareResult::Failed(report) => report,
        PrepareResult::Ready(prepared) => sandbox.call(&prepared, &Params::default(), budget, run).unwrap(),
    }
}

/// Returns the largest delay of some calls after the deadline.
fn latest(sandbox: &Sandbox, source: &str) -> Duration {
    let budget = Budget { deadline: DEADLINE, fuel: 1_000_000_000_000, ..Budget::default() };
    let times = (0..TURNS).map(|_| {
        let report = run_stopped(sandbox, source, &budget, &CallContext::default());
        assert_eq!(report.outcome, Outcome::Stopped(Stop::Deadline { limit: DEADLINE }), "{source}");
        report.usage.duration.saturating_sub(DEADLINE)
    });
    times.max().unwrap()
}

/// Returns the largest delay of some busy calls after their cancellation.
fn latest_cancelled(sandbox: &Sandbox, source: &str) -> Duration {
    let budget = Budget { fuel: 1_000_000_000_000_000, ..Budget::default() };
    let times = (0..TURNS).map(|_| {
        let token = CancelToken::new();
        let run = CallContext { cancel: Some(&token), ..CallContext::default() };
        let (report, cancelled) = thread::scope(|scope| {
            let cancelling = scope.spawn(|| {
                thread::sleep(DEADLINE / 4);
                let now = Instant::now();
                token.cancel();
                now
            });
            (run_stopped(sandbox, source, &budget, &run), cancelling.join().unwrap())
        });
        let late = cancelled.elapsed();
        assert_eq!(report.outcome, Outcome::Stopped(Stop::Cancelled), "{source}");
        late
    });
    times.max().unwrap()
}
