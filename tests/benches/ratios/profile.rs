//! What a profile costs: the same call with it and without.

use toolcell_host::{Budget, ProfileSlot, Run, Sandbox};

use crate::cpu::{PROGRAMS, budget};
use crate::engines::Sealed;
use crate::measure::Series;
use crate::table::{Row, Table, Target};

/// How often each program runs with a profile and without, and how often a loop does: the shorter the noisier.
const TURNS: usize = 7;
const TURNS_OF_LOOPS: usize = 31;

/// The most that a profile may cost.
const TIMES: f64 = 3.0;

/// Runs that last for some 0.1 ms, 0.3 ms, 1 ms, 3 ms and 30 ms. Of those of 3 ms on a busy machine, the plain ones may fit between two
/// turns of the scheduler, and the ones with a profile not: then that row compares what was interrupted with what was not.
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
    let value = tool.run(params, &Run { profile: Some(&slot), ..Run::default() });
    assert!(slot.take().is_some_and(|profile| profile.fuel > 0));
    value
}
