//! Memory of a thousand idle clients.

use super::{BenchFolder, RESULT, small_run};
use crate::client::{Connection, Era, HttpServerProcess, StdioKind, rss_kib, serve_command};
use crate::table::{Figure, Row, Table, Target};

const CLIENTS: usize = 1_000;
const TARGET: Target = Target::AtMost(Figure::Kib(60.0 * 1024.0));

pub(super) fn measure(table: &mut Table, place: &BenchFolder) {
    table.section("the MCP server: what is resident of it");
    let store = place.stocked("crowd");
    let mut lines = place.lines(&store, StdioKind::Pipes);
    assert!(lines.ask(&small_run(Era::Stateless)).contains(RESULT));
    table.row(Row::new("over stdio, after one run", Figure::Kib(rss_kib(lines.pid()))));
    for era in [Era::Stateless, Era::Session] {
        let http = HttpServerProcess::start(serve_command(&place.program, &store));
        let first = client(&http, era);
        let before = rss_kib(http.pid());
        let crowd: Vec<Connection> = (0..CLIENTS).map(|_| client(&http, era)).collect();
        let during = rss_kib(http.pid());
        table.row(Row::new(format!("1,000 idle connections, {}", era.revision()), Figure::Kib(during)).target(TARGET));
        table.row(Row::new("  before them", Figure::Kib(before)));
        drop((first, crowd));
    }
}

/// Connects a client that has run a tool; in a session, it also listens for notifications.
fn client(http: &HttpServerProcess, era: Era) -> Connection {
    let mut connection = http.connect(None);
    if era == Era::Session {
        connection.start_session();
    }
    assert!(connection.ask(&small_run(era)).unwrap().body.contains(RESULT));
    if era == Era::Session {
        connection.send_session_request("GET").unwrap();
        assert_eq!(connection.read_head().unwrap().status, 200);
    }
    connection
}
