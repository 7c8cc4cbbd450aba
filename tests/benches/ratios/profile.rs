//! Cost of profiling: the same call with and without a profile.

use toolcell_host::{Budget, CallContext, ProfileSlot, Sandbox};

use crate::cpu::{PROGRAMS, budget};
use crate::engines::Sealed;
use crate::measure::Series;
use crate::table::{Row, Table, Target};

/// Number of runs of each program with and without a profile, and of each loop; short loops are
/// noisier.
const TURNS: usize = 7;
const TURNS_OF_LOOPS: usize = 31;

/// Limit on the slowdown of a profiled call.
const TIMES: f64 = 3.0;

/// Loops that take about 0.1 ms, 0.3 ms, 1 ms, 3 ms and 30 ms. On a busy machine, a plain run of 3
/// ms may fit between two scheduler ticks while a profiled one does not; that row then compares an
/// interrupted run with an uninterrupted one.
const LOOP: &str =
    "function execute({ scale }) { let sum = 0; for (let i = 0; i < scale; i++) sum = (sum * 31 + i) | 0; return sum }";
const LENGTHS: [u32; 5] = [2_000, 5_000, 15_000, 50_000, 500_000];

pub(crate) fn measure(table: &mut Table, sandbox: &Sandbox) {
    table.section("a profile, beside the plain run, median of 7, of loops of 31");
    for program in &PROGRAMS {
        let tool = Sealed::new(sandbox, program.source, budget());
        row(table, program.name, &tool, program.params, TURNS);
    }
    let tool = Sealed::new(sandbox, LOOP, Budget::default());
    for length in LENGTHS {
        let params = format!("{{\"scale\":{length}}}");
        row(table, &format!("a loop of {length} turns"), &tool, &params, TURNS_OF_LOOPS);
    }
}

fn row(table: &mut Table, name: &str, tool: &Sealed<'_>, params: &str, turns: usize) {
    // The image for profiles is loaded once.
    assert_eq!(profiled(tool, params), tool.call(params), "{name} computes the same");
    let (mut with, mut plain) = (Series::default(), Series::default());
    for _ in 0..turns {
        with.time(1, || profiled(tool, params));
        plain.time(1, || tool.call(params));
    }
    let row = Row::new(name, with.median()).beside(plain.median());
    table.row(row.target(Target::TimesWorse(TIMES)));
}

fn profiled(tool: &Sealed<'_>, params: &str) -> Option<String> {
    let slot = ProfileSlot::default();
    let value = tool.run(params, &CallContext { profile: Some(&slot), ..CallContext::default() });
    assert!(slot.take().is_some_and(|profile| profile.fuel > 0));
    value
}
