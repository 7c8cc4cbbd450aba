//! What is left to one principal while another has a hundred runs that never end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::json;

use super::{Place, RESULT, creation, small_run};
use crate::client::{Connection, Era, Http, Message, toolcell};
use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::table::{Row, Table, Target};

const ENDLESS: usize = 100;
/// Turns with and without them, and runs in each.
const TURNS: usize = 5;
const RUNS: usize = 400;
const TOKENS: [&str; 2] = ["the-token-of-the-first-one", "the-token-of-the-second-one"];

pub(super) fn measure(table: &mut Table, place: &Place) {
    table.section("the MCP server: a small run of one principal beside 100 endless ones of another, median of 2,000");
    let tokens = place.store("tokens.toml");
    fs::write(&tokens, format!("[principals.a]\ntoken = '{}'\n[principals.b]\ntoken = '{}'\n", TOKENS[0], TOKENS[1]))
        .unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = toolcell(&place.program, &place.store("fair"));
    command.arg("--tokens").arg(&tokens);
    let http = Http::start(command);
    let [mut first, mut second] = TOKENS.map(|token| http.connect(Some(token)));
    create(&mut first, "endless", "const execute = () => { for (let i = 0; i < 1e15; i++); };");
    create(&mut second, "string_reverse", STRING_REVERSE.source);

    let written = second.written(&small_run(Era::Stateless));
    let run = |connection: &mut Connection| assert!(connection.exchange(&written).unwrap().body.contains(RESULT));
    let (mut beside, mut alone) = (Series::default(), Series::default());
    Series::default().time(RUNS, || run(&mut second));
    for _ in 0..TURNS {
        alone.time(RUNS, || run(&mut second));
        let crowd = endless(&http);
        beside.time(RUNS, || run(&mut second));
        drop(crowd);
        // They are ended when it is noticed that nobody waits for them.
        std::thread::sleep(Duration::from_secs(4));
    }
    let row = Row::new("median", beside.median()).beside(alone.median());
    table.row(row.target(Target::TimesWorse(2.0)));
    table.row(Row::new("p99", beside.p99()).beside(alone.p99()));
}

fn create(connection: &mut Connection, name: &str, source: &str) {
    let answer = connection.ask(&creation(name, source)).unwrap();
    assert!(answer.body.contains(r#""isError":false"#), "{answer:?}");
}

/// Runs that nobody waits for, but whose connections are open.
fn endless(http: &Http) -> Vec<Connection> {
    let begun = (0..ENDLESS).map(|number| {
        let mut connection = http.connect(Some(TOKENS[0]));
        let id = u64::try_from(number).unwrap();
        let arguments = json!({"tool_name": "endless", "parameters": {}, "timeout_ms": 600_000});
        let written = connection.written(&Message::call(Era::Stateless, id, "run_dynamic_tool", &arguments));
        connection.send(&written).unwrap();
        connection
    });
    begun.collect()
}
