//! What a profile costs: the same call with it and without.

use toolcell_host::{Budget, ProfileSlot, Run, Sandbox};

use crate::cpu::{PROGRAMS, budget};
use crate::engines::Sealed;
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const TURNS: usize = 7;

/// The most that a profile may cost.
const TIMES: f64 = 3.0;

/// Runs that last for about 1, 10 and 100 milliseconds.
const LOOP: &str =
    "function execute({ scale }) { let sum = 0; for (let i = 0; i < scale; i++) sum = (sum * 31 + i) | 0; return sum }";
const LENGTHS: [u32; 3] = [5_000, 50_000, 500_000];

pub(crate) fn measure(table: &mut Table, sandbox: &Sandbox) {
    table.section("a profile, beside the plain run, median of 7");
    for program in &PROGRAMS {
        row(table, program.name, sandbox, program.source, program.params, budget());
    }
    for length in LENGTHS {
        let params = format!("{{\"scale\":{length}}}");
        row(table, &format!("a loop of {length} turns"), sandbox, LOOP, &params, Budget::default());
    }
}

fn row(table: &mut Table, name: &str, sandbox: &Sandbox, source: &str, params: &str, budget: Budget) {
    let tool = Sealed::new(sandbox, source, budget);
    // The image for profiles is loaded once.
    assert_eq!(profiled(&tool, params), tool.call(params), "{name} computes the same");
    let (mut with, mut plain) = (Series::default(), Series::default());
    for _ in 0..TURNS {
        with.time(1, || profiled(&tool, params));
        plain.time(1, || tool.call(params));
    }
    let row = Row::new(name, with.median()).beside(plain.median());
    // Of what takes no time nobody waits for the profile.
    let is_long = matches!(plain.median(), Figure::Time(seconds) if seconds > 5e-3);
    table.row(if is_long { row.target(Target::TimesWorse(TIMES)) } else { row });
}

fn profiled(tool: &Sealed<'_>, params: &str) -> Option<String> {
    let slot = ProfileSlot::default();
    let value = tool.run(params, &Run { profile: Some(&slot), ..Run::default() });
    assert!(slot.take().is_some_and(|profile| profile.fuel > 0));
    value
}
