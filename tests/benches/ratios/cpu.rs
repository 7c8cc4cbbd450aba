//! CPU-bound JavaScript: the same source in the sandbox with fuel and deadline active, and in
//! native QuickJS.

use std::time::Duration;

use toolcell_host::{Budget, Sandbox};

use crate::engines::{Native, Sealed};
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Number of measured runs of each program in each engine, after one warm-up run.
const TURNS: usize = 7;

/// Limits on the slowdown: of the geometric mean, and of any program.
const MEAN: f64 = 2.2;
const WORST: f64 = 2.8;

/// A program and its amount of work.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) params: &'static str,
}

macro_rules! program {
    ($name:literal, $scale:literal) => {
        Program {
            name: $name,
            source: include_str!(concat!("../cpu/", $name, ".js")),
            params: concat!("{\"scale\":", $scale, "}"),
        }
    };
}

const COUNT: u32 = 10;

pub(crate) const PROGRAMS: [Program; COUNT as usize] = [
    program!("fib", 7),
    program!("sieve", 5),
    program!("json", 4),
    program!("regexp", 15),
    program!("sort", 24),
    program!("strings", 9),
    program!("map", 3),
    program!("objects", 6),
    program!("closures", 10),
    program!("maths", 7),
];

pub(crate) fn measure(table: &mut Table, sandbox: &Sandbox) {
    table.section("busy JavaScript, beside native QuickJS with the context kept, median of 7");
    let root = 1.0 / f64::from(COUNT);
    let (mut ours, mut theirs) = (1.0, 1.0);
    for program in &PROGRAMS {
        let (sealed, native) = take_turns(sandbox, program);
        ours *= seconds(sealed).powf(root);
        theirs *= seconds(native).powf(root);
        table.row(Row::new(program.name, sealed).beside(native).target(Target::TimesWorse(WORST)));
    }
    let mean = Row::new("geometric mean", Figure::Time(ours)).beside(Figure::Time(theirs));
    table.row(mean.target(Target::TimesWorse(MEAN)));
}

fn seconds(figure: Figure) -> f64 {
    if let Figure::Time(seconds) = figure { seconds } else { f64::NAN }
}

/// Measures a program in the sandbox and natively.
fn take_turns(sandbox: &Sandbox, program: &Program) -> (Figure, Figure) {
    let sealed = Sealed::new(sandbox, program.source, budget());
    let native = Native::new(program.source);
    let results = (sealed.call(program.params), native.call(program.params));
    assert_eq!(results.0, results.1, "{} computes the same", program.name);

    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for _ in 0..TURNS {
        ours.time(1, || sealed.call(program.params));
        theirs.time(1, || native.call(program.params));
    }
    (ours.median(), theirs.median())
}

/// Returns limits that are active but never reached.
pub(crate) fn budget() -> Budget {
    Budget { fuel: 1_000_000_000_000_000, deadline: Duration::from_mins(10), memory: 512 << 20, ..Budget::default() }
}
