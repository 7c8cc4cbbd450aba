//! Small calls: the latency of a whole call, its tail, and the throughput of two threads.

use std::thread;
use std::time::{Duration, Instant};

use toolcell_host::{Budget, Sandbox};

use crate::engines::{CALCULATE_AVERAGE, EMPTY, Native, STRING_REVERSE, Sample, Sealed};
use crate::measure::Series;
use crate::node::Peer;
use crate::table::{Figure, Row, Table, Target};

/// Number of turns in which the engines alternate, and calls per engine and turn.
const TURNS: usize = 20;
const SEALED_CALLS: usize = 1_000;
const NATIVE_CALLS: usize = 200;
const PEER_CALLS: usize = 20;

/// Number of concurrent threads, of their turns, and the length of a turn.
const THREADS: usize = 2;
const RUSHES: usize = 5;
const RUSH: Duration = Duration::from_millis(600);

pub(crate) fn measure(table: &mut Table, sandbox: &Sandbox, peers: &mut [Peer]) {
    table.section("a call from nothing, median of 20,000");
    let times = take_turns(sandbox, &STRING_REVERSE, peers);
    let ours = times.sealed.median();
    table.row(Row::new("string_reverse", ours).target(Target::AtMost(Figure::Time(25e-6))));
    let native = Row::new("  native QuickJS from nothing", ours).beside(times.native.median());
    table.row(native.target(Target::TimesBetter(5.0)));
    table.row(Row::new("  native QuickJS, context kept", ours).beside(times.warm.median()));
    for (peer, series) in peers.iter().zip(&times.peers) {
        table.row(Row::new(format!("  {}", peer.name()), ours).beside(series.median()));
    }
    let tail = Row::new("  its p99, beside its median", times.sealed.p99()).beside(ours);
    table.row(tail.target(Target::TimesWorse(5.0)));
    table.row(Row::new("  its p99, beside native's p99", times.sealed.p99()).beside(times.native.p99()));

    for sample in [CALCULATE_AVERAGE, EMPTY] {
        let times = take_turns(sandbox, &sample, &mut []);
        table.row(Row::new(sample.name, times.sealed.median()).beside(times.native.median()));
    }
    let (ours, theirs) = prepare(sandbox, &STRING_REVERSE);
    table.row(Row::new("preparing string_reverse, once", ours).beside(theirs));

    table.section("calls from nothing on two threads");
    let (ours, theirs) = rush(sandbox);
    let row = Row::new("string_reverse", ours).beside(theirs);
    table.row(row.target(Target::AtLeast(Figure::Rate(60_000.0))));
}

struct Times {
    sealed: Series,
    native: Series,
    warm: Series,
    peers: Vec<Series>,
}

/// Measures calls in the sandbox, natively and in the peers, in turns.
fn take_turns(sandbox: &Sandbox, sample: &Sample, peers: &mut [Peer]) -> Times {
    let sealed = Sealed::new(sandbox, sample.source, Budget::default());
    let warm = Native::new(sample.source);
    assert_eq!(sealed.call(sample.params).as_deref(), sample.result, "{}", sample.name);
    assert_eq!(warm.call(sample.params).as_deref(), sample.result, "{}", sample.name);
    for peer in &mut *peers {
        peer.call(sample, PEER_CALLS);
    }

    let mut times = Times {
        sealed: Series::default(),
        native: Series::default(),
        warm: Series::default(),
        peers: peers.iter().map(|_| Series::default()).collect(),
    };
    for _ in 0..TURNS {
        times.sealed.time(SEALED_CALLS, || sealed.call(sample.params));
        times.native.time(NATIVE_CALLS, || Native::new(sample.source).call(sample.params));
        times.warm.time(NATIVE_CALLS, || warm.call(sample.params));
        for (peer, series) in peers.iter_mut().zip(&mut times.peers) {
            series.extend(peer.call(sample, PEER_CALLS));
        }
    }
    times
}

/// Measures preparing a tool, and evaluating it in a new native context.
fn prepare(sandbox: &Sandbox, sample: &Sample) -> (Figure, Figure) {
    let (mut sealed, mut native) = (Series::default(), Series::default());
    for _ in 0..TURNS {
        sealed.time(10, || Sealed::new(sandbox, sample.source, Budget::default()));
        native.time(10, || Native::new(sample.source));
    }
    (sealed.median(), native.median())
}

/// Measures calls per second on two threads, in the sandbox and natively; the median of some turns.
fn rush(sandbox: &Sandbox) -> (Figure, Figure) {
    let sample = &STRING_REVERSE;
    let sealed = Sealed::new(sandbox, sample.source, Budget::default());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUSHES {
        ours.push(rate(|| sealed.call(sample.params)));
        theirs.push(rate(|| Native::new(sample.source).call(sample.params)));
    }
    ours.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    (Figure::Rate(ours[RUSHES / 2]), Figure::Rate(theirs[RUSHES / 2]))
}

/// Returns the total calls per second of some threads.
fn rate(call: impl Fn() -> Option<String> + Sync) -> f64 {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| calls_a_second(&call))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn calls_a_second(call: impl Fn() -> Option<String>) -> f64 {
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed() < RUSH {
        call();
        calls += 1;
    }
    f64::from(calls) / started.elapsed().as_secs_f64()
}
