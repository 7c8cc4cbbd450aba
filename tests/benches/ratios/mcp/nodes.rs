//! Nodes of a shared library beside a single machine, and beside each other.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{BenchFolder, RESULT, creation, small_run};
use crate::client::process::POLICY;
use crate::client::{Connection, Era, HttpServerProcess, Message, serve_command};
use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Number of turns in which the servers alternate, and runs per server and turn.
const TURNS: usize = 20;
const RUNS: usize = 250;
/// Number of concurrent connections, the time for which they run, and how often.
const CONNECTIONS: usize = 48;
const RUSH: Duration = Duration::from_secs(2);
const RUSHES: usize = 5;
/// Number of tools that run for the first time on another node, and how long that node has to hear of one.
const FRESH_TOOLS: usize = 30;
const HEARD: Duration = Duration::from_millis(600);
/// Number of runs of another tool before.
const WARM_UPS: usize = 20;
/// How long nodes take to hear of each other.
const ACQUAINTED: Duration = Duration::from_secs(7);

pub(super) fn measure(table: &mut Table, place: &BenchFolder) {
    table.section("nodes of a shared library: a small run, recorded, over HTTP, median");
    let program = place.program.with_file_name("toolcell-cluster");
    if !program.is_file() || std::env::var_os("TOOLCELL_SHARED").is_none() {
        table.note(
            "nodes: build toolcell-cluster, set TOOLCELL_SHARED to the URL of an empty database, and TOOLCELL_SHARED_SECRET; \
             with TOOLCELL_SHARED_WIRE, hand-over is measured, too",
        );
        return;
    }
    let start = |name: &str, words: &[&str]| {
        let mut command = Command::new(&program);
        command.env("TOOLCELL_LANG", "en").env("TOOLCELL_LOG", "error,rmcp=off").env_remove("TOOLCELL_MCP_TOKEN");
        command.args(["node", "--drain", "0", "--no-project", "--config", POLICY, "--dir"]).arg(place.store(name));
        command.args(words);
        HttpServerProcess::start(command)
    };
    let single = HttpServerProcess::start(serve_command(&place.program, &place.stocked("beside_nodes")));
    let nodes = ["a", "b", "c"].map(|name| start(name, &[]));
    let mut first = nodes[0].connect(None);
    let created = first.ask(&creation("string_reverse", STRING_REVERSE.source)).unwrap();
    assert!(created.body.contains(r#""isError":false"#), "{created:?}");
    thread::sleep(HEARD);

    let [here, alone] = in_turns([&nodes[0], &single]);
    let beside = Row::new("on a node, beside a single machine", here.median()).beside(alone.median());
    table.row(beside.target(Target::TimesWorse(1.3)));
    fresh(table, &mut first, &nodes[1]);
    let (mut one, mut three) = (Series::default(), Series::default());
    for _ in 0..RUSHES {
        one.extend([rush(&nodes[..1])]);
        three.extend([rush(&nodes)]);
    }
    let row = Row::new(format!("3 nodes, {CONNECTIONS} connections, beside 1: time of a run"), three.median());
    table.row(row.beside(one.median()).target(Target::TimesWorse(1.0 / 0.9)));
    drop(first);
    drop(nodes);

    if std::env::var_os("TOOLCELL_SHARED_WIRE").is_some() {
        let nodes = ["a", "b"].map(|name| start(name, &["--hand-over"]));
        thread::sleep(ACQUAINTED);
        let mut times = in_turns([&nodes[0], &nodes[1]]).map(|series| series.median());
        times.sort_by(|one, other| one.value().total_cmp(&other.value()));
        let row = Row::new("handed over, beside the node that runs it", times[1]).beside(times[0]);
        table.row(row);
        let more = Row::new("  of that, the hand-over", times[1].minus(times[0]));
        table.row(more.target(Target::AtMost(Figure::Time(600e-6))));
    }
}

/// Measures two servers in turns. The first turn is the warm-up.
fn in_turns(servers: [&HttpServerProcess; 2]) -> [Series; 2] {
    let mut connections = servers.map(|server| server.connect(None));
    let mut series = [(); 2].map(|()| Series::default());
    for turn in 0..=TURNS {
        for (connection, series) in connections.iter_mut().zip(&mut series) {
            let written = connection.encode(&small_run(Era::Stateless));
            let mut warm_up = Series::default();
            let into = if turn == 0 { &mut warm_up } else { series };
            into.time(RUNS, || assert!(connection.exchange(&written).unwrap().body.contains(RESULT)));
        }
    }
    series
}

/// Measures the first run of tools on a node that did not create them, beside the second.
fn fresh(table: &mut Table, creator: &mut Connection, node: &HttpServerProcess) {
    let mut other = node.connect(None);
    let known = other.encode(&small_run(Era::Stateless));
    let (mut first, mut second) = (Series::default(), Series::default());
    for number in 0..FRESH_TOOLS {
        let name = format!("fresh_{number}");
        let source = format!("{}\n// {number}\n", STRING_REVERSE.source);
        assert!(creator.ask(&creation(&name, &source)).unwrap().body.contains(r#""isError":false"#));
        thread::sleep(HEARD);
        let run = other.encode(&Message::run(Era::Stateless, 7, &name, &json!({"text": "Hello World"})));
        // A server that was idle is slower for a moment, whatever it runs.
        for _ in 0..WARM_UPS {
            assert!(other.exchange(&known).unwrap().body.contains(RESULT));
        }
        for series in [&mut first, &mut second] {
            series.time(1, || assert!(other.exchange(&run).unwrap().body.contains(RESULT)));
        }
    }
    table.row(
        Row::new("the first run of a tool on another node, beside its second", first.median()).beside(second.median()),
    );
    let more = Row::new("  more than the second", first.median().minus(second.median()));
    table.row(more.target(Target::AtMost(Figure::Time(600e-6))));
}

/// Lets connections to some nodes make runs, and returns the time by the number of runs.
fn rush(nodes: &[HttpServerProcess]) -> Duration {
    let started = Instant::now();
    let runs: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|at| {
                let node = &nodes[at % nodes.len()];
                scope.spawn(move || {
                    let mut connection = node.connect(None);
                    let written = connection.encode(&small_run(Era::Stateless));
                    let mut runs = 0;
                    while started.elapsed() < RUSH {
                        assert!(connection.exchange(&written).unwrap().body.contains(RESULT));
                        runs += 1;
                    }
                    runs
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    started.elapsed() / runs
}
