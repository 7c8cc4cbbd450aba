//! Round trips of a small run, over every transport.

use std::thread;
use std::time::{Duration, Instant};

use super::{BenchFolder, RESULT, small_run};
use crate::client::{Connection, Era, HttpServerProcess, Message, StdioClient, StdioKind, serve_command};
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Number of turns in which the transports alternate, and runs per transport and turn.
const TURNS: usize = 20;
const RUNS: usize = 250;
/// Number of concurrent connections, and the time for which they run.
const CONNECTIONS: usize = 32;
const RUSH: Duration = Duration::from_secs(3);

const STDIO: Target = Target::AtMost(Figure::Time(400e-6));
const HTTP: Target = Target::AtMost(Figure::Time(800e-6));
const RATE: Target = Target::AtLeast(Figure::Rate(4_000.0));

pub(super) fn measure(table: &mut Table, place: &BenchFolder) {
    table.section("the MCP server: a small run, recorded, as its client sees it, median of 5,000");
    let store = place.stocked("trips");
    let http = HttpServerProcess::start(serve_command(&place.program, &store));
    let mut ways = [
        Trip::over_lines("over stdio, pipes, 2026-07-28", place.lines(&store, StdioKind::Pipes), Era::Stateless),
        Trip::over_lines("over stdio, pipes, 2025-11-25", place.lines(&store, StdioKind::Pipes), Era::Session),
        Trip::over_lines("over stdio, sockets, 2026-07-28", place.lines(&store, StdioKind::Sockets), Era::Stateless),
        Trip::over_http("over HTTP, kept alive, 2026-07-28", http.connect(None), Era::Stateless),
        Trip::over_http("over HTTP, kept alive, 2025-11-25", http.connect(None), Era::Session),
    ];
    let (mut healthy, mut health) = (Series::default(), http.connect(None));
    for _ in 0..=TURNS {
        for trip in &mut ways {
            trip.take();
        }
        healthy.time(RUNS, || health.exchange(HEALTH).unwrap().status);
    }
    for trip in &ways {
        let median = Row::new(trip.name, trip.series.median());
        table.row(median.target(if trip.is_http() { HTTP } else { STDIO }));
        table.row(Row::new("  p99", trip.series.p99()));
    }
    table.row(Row::new("  of that, HTTP itself (`GET /healthz`)", healthy.median()));
    drop(ways);
    for era in [Era::Stateless, Era::Session] {
        let row = Row::new(format!("over {CONNECTIONS} connections at once, {}", era.revision()), rate(&http, era));
        table.row(row.target(RATE));
    }
}

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A transport and its times.
struct Trip {
    name: &'static str,
    peer: Peer,
    message: Message,
    series: Series,
    warm: bool,
}

enum Peer {
    Lines(StdioClient),
    /// An HTTP connection, with the encoded request.
    Http(Connection, Vec<u8>),
}

impl Trip {
    fn over_lines(name: &'static str, mut lines: StdioClient, era: Era) -> Self {
        if era == Era::Session {
            lines.start_session();
        }
        Self::new(name, Peer::Lines(lines), era)
    }

    fn over_http(name: &'static str, mut connection: Connection, era: Era) -> Self {
        if era == Era::Session {
            connection.start_session();
        }
        let written = connection.encode(&small_run(era));
        Self::new(name, Peer::Http(connection, written), era)
    }

    fn new(name: &'static str, peer: Peer, era: Era) -> Self {
        Self { name, peer, message: small_run(era), series: Series::default(), warm: false }
    }

    fn is_http(&self) -> bool {
        matches!(self.peer, Peer::Http(..))
    }

    /// Measures a turn. The first one is the warm-up.
    fn take(&mut self) {
        let mut series = Series::default();
        let into = if self.warm { &mut self.series } else { &mut series };
        self.warm = true;
        match &mut self.peer {
            Peer::Lines(lines) => into.time(RUNS, || assert!(lines.ask(&self.message).contains(RESULT))),
            Peer::Http(connection, written) => {
                into.time(RUNS, || assert!(connection.exchange(written).unwrap().body.contains(RESULT)));
            }
        }
    }
}

/// Returns the total runs per second of some connections.
fn rate(http: &HttpServerProcess, era: Era) -> Figure {
    let started = Instant::now();
    let runs: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(|| runs_until(http, era, started + RUSH))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    Figure::Rate(f64::from(runs) / started.elapsed().as_secs_f64())
}

fn runs_until(http: &HttpServerProcess, era: Era, end: Instant) -> u32 {
    let mut connection = http.connect(None);
    if era == Era::Session {
        connection.start_session();
    }
    let written = connection.encode(&small_run(era));
    let mut runs = 0;
    while Instant::now() < end {
        assert!(connection.exchange(&written).unwrap().body.contains(RESULT));
        runs += 1;
    }
    runs
}
