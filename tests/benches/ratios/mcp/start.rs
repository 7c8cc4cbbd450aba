//! Time from the start of a server to its first reply.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{BenchFolder, creation};
use crate::client::{Era, Message, StdioKind};
use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const TURNS: usize = 20;
/// Number of tools in the large store.
const TOOLS: usize = 1_000;
const TARGET: Target = Target::AtMost(Figure::Time(30e-3));

pub(super) fn measure(table: &mut Table, place: &BenchFolder) {
    table.section("the MCP server: from its start to its first answer over stdio, median of 20");
    let (small, large) = (place.store("empty"), place.store("large"));
    first_answer(place, &small, Era::Stateless);
    stock(place, &large);
    let starts = [
        ("`initialize` and `tools/list`, an empty store", &small, Era::Session),
        ("  a store of 1,000 tools", &large, Era::Session),
        ("a stateless `tools/list`, an empty store", &small, Era::Stateless),
        ("  a store of 1,000 tools", &large, Era::Stateless),
    ];
    let mut series = starts.map(|_| Series::default());
    for _ in 0..TURNS {
        for ((_, store, era), series) in starts.iter().zip(&mut series) {
            series.extend([first_answer(place, store, *era)]);
        }
    }
    for ((name, ..), series) in starts.iter().zip(&series) {
        table.row(Row::new(*name, series.median()).target(TARGET));
    }
}

fn stock(place: &BenchFolder, store: &Path) {
    let mut lines = place.lines(store, StdioKind::Pipes);
    for number in 0..TOOLS {
        let source = format!("const execute = ({{ text }}) => `${{text}} {number}`;");
        let answer = lines.ask(&creation(&format!("tool_{number}"), &source));
        assert!(answer.contains(r#""isError":false"#), "{answer}");
    }
}

fn first_answer(place: &BenchFolder, store: &Path, era: Era) -> Duration {
    let started = std::time::Instant::now();
    let mut lines = place.lines(store, StdioKind::Pipes);
    if era == Era::Session {
        lines.start_session();
    }
    assert!(lines.ask(&list(era)).contains("run_dynamic_tool"));
    started.elapsed()
}

fn list(era: Era) -> Message {
    Message::request(era, 3, "tools/list", json!({}))
}
