//! Cost of the jail: the same call in this process and in a worker, alternating, and the start of a
//! worker.

use std::time::{Duration, Instant};

use toolcell_host::{Budget, CallContext, Outcome, Params, PrepareResult, Sandbox, SandboxOptions, ScriptSource};
use toolcell_jail::{Jail, JailedScript, Landlock, Program};

use crate::engines::{STRING_REVERSE, Sample, Sealed};
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const TURNS: usize = 20;
const CALLS: usize = 500;
/// Limit on the time that the jail adds to a call.
const MOST: Duration = Duration::from_micros(60);

pub(crate) fn measure(table: &mut Table, sandbox: &Sandbox) {
    table.section("a call in the jail, median of 10,000");
    let config = SandboxOptions { slots: 1, ..SandboxOptions::default() };
    let jail = match Jail::new(&config, Program::This) {
        Ok(jail) => jail,
        Err(error) => return table.note(format!("there is no jail here: {error}")),
    };
    let sample = &STRING_REVERSE;
    let (here, there) = (Sealed::new(sandbox, sample.source, Budget::default()), prepare(&jail, sample));
    let (mut sealed, mut jailed) = (Series::default(), Series::default());
    for _ in 0..TURNS {
        sealed.time(CALLS, || assert_eq!(here.call(sample.params).as_deref(), sample.result));
        jailed.time(CALLS, || assert_eq!(call(&jail, &there, sample).as_deref(), sample.result));
    }
    let (ours, plain) = (jailed.median(), sealed.median());
    table.row(Row::new("string_reverse, beside the same without", ours).beside(plain));
    table.row(Row::new("  what the jail adds", ours.minus(plain)).target(Target::AtMost(Figure::time(MOST))));
    table.row(Row::new("  its p99, beside that without", jailed.p99()).beside(sealed.p99()));

    let mut starts = Series::default();
    starts.extend((0..TURNS).map(|_| {
        let began = Instant::now();
        let started = Jail::new(&config, Program::This).map(drop);
        assert!(started.is_ok());
        began.elapsed()
    }));
    table.row(Row::new("a worker, from its start until it is locked in, and its end", starts.median()));
    if jail.confinement().landlock != Landlock::Full {
        table.note("this kernel does not know all of Landlock; with it, a start takes a little longer");
    }
}

fn prepare(jail: &Jail, sample: &Sample) -> JailedScript {
    let script = ScriptSource { name: "tool.js", source: sample.source };
    match jail.prepare(&script, &Budget::default(), &CallContext::default()).unwrap() {
        PrepareResult::Ready(prepared) => prepared,
        PrepareResult::Failed(report) => unreachable!("the tool does not load: {:?}", report.outcome),
    }
}

fn call(jail: &Jail, prepared: &JailedScript, sample: &Sample) -> Option<String> {
    let params = Params::parse(sample.params).unwrap();
    match jail.call(prepared, &params, &Budget::default(), &CallContext::default()).unwrap().outcome {
        Outcome::Returned(value) => value.map(toolcell_host::Json::into_string),
        other => unreachable!("the tool does not return: {other:?}"),
    }
}
