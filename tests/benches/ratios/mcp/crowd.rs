//! What a thousand clients take that do nothing just now.

use super::{Place, RESULT, small_run};
use crate::client::{Connection, Era, Http, Way, rss_kib, toolcell};
use crate::table::{Figure, Row, Table, Target};

const CLIENTS: usize = 1_000;
const TARGET: Target = Target::AtMost(Figure::Kib(60.0 * 1024.0));

pub(super) fn measure(table: &mut Table, place: &Place) {
    table.section("the MCP server: what is resident of it");
    let store = place.stocked("crowd");
    let mut lines = place.lines(&store, Way::Pipes);
    assert!(lines.ask(&small_run(Era::Stateless)).contains(RESULT));
    table.row(Row::new("over stdio, after one run", Figure::Kib(rss_kib(lines.pid()))));
    for era in [Era::Stateless, Era::Session] {
        let http = Http::start(toolcell(&place.program, &store));
        let first = client(&http, era);
        let before = rss_kib(http.pid());
        let crowd: Vec<Connection> = (0..CLIENTS).map(|_| client(&http, era)).collect();
        let during = rss_kib(http.pid());
        table.row(Row::new(format!("1,000 idle connections, {}", era.revision()), Figure::Kib(during)).target(TARGET));
        table.row(Row::new("  before them", Figure::Kib(before)));
        drop((first, crowd));
    }
}

/// One that has run a tool; in a session, one that listens for notices besides.
fn client(http: &Http, era: Era) -> Connection {
    let mut connection = http.connect(None);
    if era == Era::Session {
        connection.begin();
    }
    assert!(connection.ask(&small_run(era)).unwrap().body.contains(RESULT));
    if era == Era::Session {
        connection.of_session("GET").unwrap();
        assert_eq!(connection.head().unwrap().status, 200);
    }
    connection
}
