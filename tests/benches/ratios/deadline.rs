//! How long after its deadline a call that has to be stopped comes back.

use std::fs;
use std::path::Path;
use std::time::Duration;

use toolcell_host::{Budget, Kind, Loaded, Outcome, Params, Run, Sandbox, SandboxConfig, Script, Stop};

use crate::table::{Figure, Row, Table, Target};

/// How often each is stopped.
const TURNS: usize = 3;

const DEADLINE: Duration = Duration::from_millis(200);

pub(crate) fn measure(table: &mut Table) {
    table.section("stopped by a deadline of 200 ms: the latest of all such fixtures, 3 times each");
    let attacks = attacks();
    for kind in Kind::ALL {
        let images = SandboxConfig { images: vec![kind], ..SandboxConfig::default() };
        let Ok(sandbox) = Sandbox::new(&images) else {
            table.note(format!("the {} image does not work here", kind.name()));
            continue;
        };
        let latest = attacks.iter().map(|source| latest(&sandbox, source)).max().unwrap();
        let row = Row::new(format!("late, {}", kind.name()), Figure::time(latest));
        // What was promised is native code's.
        table.row(if kind == Kind::Interpreted { row } else { row.target(Target::AtMost(Figure::Time(20e-3))) });
    }
}

/// The hostile fixtures whose fate it is to be stopped by the deadline.
fn attacks() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/hostile");
    let sources = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    sources.filter(|source| source.starts_with("// expect: stopped(timeout)\n")).collect()
}

/// The latest of some calls, beyond the deadline.
fn latest(sandbox: &Sandbox, source: &str) -> Duration {
    let budget = Budget { deadline: DEADLINE, fuel: 1_000_000_000_000, ..Budget::default() };
    let script = Script { name: "attack.js", source };
    let times = (0..TURNS).map(|_| {
        let report = match sandbox.prepare(&script, &budget, &Run::default()).unwrap() {
            Loaded::Ended(report) => report,
            Loaded::Ready(prepared) => {
                let params = Params::parse("{}").unwrap();
                sandbox.call(&prepared, &params, &budget, &Run::default()).unwrap()
            }
        };
        assert_eq!(report.outcome, Outcome::Stopped(Stop::Deadline { limit: DEADLINE }), "{source}");
        report.usage.duration.saturating_sub(DEADLINE)
    });
    times.max().unwrap()
}
