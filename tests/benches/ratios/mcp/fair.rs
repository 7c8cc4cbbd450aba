//! Fairness: what one principal gets while another one has a hundred endless runs, or floods the
//! server with one operation.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use super::{BenchFolder, RESULT, creation, small_run};
use crate::client::{Connection, Era, HttpServerProcess, Message, serve_command};
use crate::engines::STRING_REVERSE;
use crate::measure::Series;
use crate::table::{Row, Table, Target};

const ENDLESS: usize = 100;
/// Number of turns with and without the load, and runs per turn.
const TURNS: usize = 5;
const RUNS: usize = 400;
/// Number of concurrent requests of a flood.
const FLOOD: usize = 64;
/// Number of lines of a source that a flood creates.
const LINES: usize = 400;
const TOKENS: [&str; 2] = ["the-token-of-the-first-one", "the-token-of-the-second-one"];

pub(super) fn measure(table: &mut Table, place: &BenchFolder) {
    table.section("the MCP server: a small run of one principal beside 100 endless ones of another, median of 2,000");
    let tokens = place.store("tokens.toml");
    fs::write(&tokens, format!("[principals.a]\ntoken = '{}'\n[principals.b]\ntoken = '{}'\n", TOKENS[0], TOKENS[1]))
        .unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = serve_command(&place.program, &place.store("fair"));
    command.arg("--tokens").arg(&tokens);
    let http = HttpServerProcess::start(command);
    let [mut first, mut second] = TOKENS.map(|token| http.connect(Some(token)));
    create(&mut first, "endless", "const execute = () => { for (let i = 0; i < 1e15; i++); };");
    create(&mut second, "string_reverse", STRING_REVERSE.source);

    let written = second.encode(&small_run(Era::Stateless));
    let run = |connection: &mut Connection| assert!(connection.exchange(&written).unwrap().body.contains(RESULT));
    let (mut beside, mut alone) = (Series::default(), Series::default());
    Series::default().time(RUNS, || run(&mut second));
    for _ in 0..TURNS {
        alone.time(RUNS, || run(&mut second));
        let crowd = endless(&http);
        beside.time(RUNS, || run(&mut second));
        drop(crowd);
        // The runs end once the server notices that their clients have gone.
        std::thread::sleep(Duration::from_secs(4));
    }
    let row = Row::new("median", beside.median()).beside(alone.median());
    table.row(row.target(Target::TimesWorse(2.0)));
    table.row(Row::new("p99", beside.p99()).beside(alone.p99()));
    floods(table, &http, &mut second);
}

/// Measures a small run of one principal while another one always has [`FLOOD`] requests of one
/// operation in flight.
fn floods(table: &mut Table, http: &HttpServerProcess, second: &mut Connection) {
    table.section("the MCP server: a small run of one principal beside a flood of another, 64 requests at any time, median of 2,000");
    let source = |number: u32| {
        let lines = (0..LINES).map(|line| format!("function f{line}(a) {{ return a + {number} }}\n"));
        lines.chain(["const execute = ({ text }) => f1(text)".to_owned()]).collect::<String>()
    };
    let long = "a.csv: 3 rows\n".repeat(500);
    let request = |verb: &str, number: u32| {
        let call = |operation: &str, arguments| Message::call(Era::Stateless, number.into(), operation, &arguments);
        match verb {
            "create_tool" => creation(&format!("t{number}"), &source(number)),
            "list_dynamic_tools" => call(verb, json!({"limit": 100})),
            "tool_reflection" => call(verb, json!({"task_description": "convert 40 files", "last_tool_result": long})),
            "run_dynamic_tool" => call(verb, json!({"tool_name": "string_reverse", "parameters": {"text": "x"}})),
            "delete_dynamic_tool" => call(verb, json!({"tool_name": format!("t{number}"), "confirm": true})),
            method => Message::request(
                Era::Stateless,
                number.into(),
                match method {
                    "resources/list" => "resources/list",
                    "prompts/list" => "prompts/list",
                    _ => "tools/list",
                },
                json!({}),
            ),
        }
    };
    let written = second.encode(&small_run(Era::Stateless));
    for verb in [
        "create_tool",
        "list_dynamic_tools",
        "tool_reflection",
        "run_dynamic_tool",
        "delete_dynamic_tool",
        "resources/list",
        "prompts/list",
        "tools/list",
    ] {
        let (over, number) = (AtomicBool::new(false), AtomicU32::new(0));
        let (mut beside, mut alone) = (Series::default(), Series::default());
        let mut run = || assert!(second.exchange(&written).unwrap().body.contains(RESULT));
        alone.time(RUNS, &mut run);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut crowd: Vec<Connection> = (0..FLOOD).map(|_| http.connect(Some(TOKENS[0]))).collect();
                let send = |connection: &mut Connection| {
                    let written = connection.encode(&request(verb, number.fetch_add(1, Ordering::Relaxed)));
                    connection.send(&written).unwrap();
                };
                crowd.iter_mut().for_each(send);
                while !over.load(Ordering::Relaxed) {
                    for connection in &mut crowd {
                        connection.read_reply().unwrap();
                        send(connection);
                    }
                }
                for connection in &mut crowd {
                    drop(connection.read_reply().unwrap());
                }
            });
            while number.load(Ordering::Relaxed) < 2 * u32::try_from(FLOOD).unwrap() {
                std::thread::sleep(Duration::from_millis(5));
            }
            beside.time(RUNS, &mut run);
            over.store(true, Ordering::Relaxed);
        });
        alone.time(RUNS, &mut run);
        let row = Row::new(format!("{verb}: median"), beside.median()).beside(alone.median());
        table.row(row.target(Target::TimesWorse(2.0)));
        table.row(Row::new("  p99", beside.p99()).beside(alone.p99()));
    }
}

fn create(connection: &mut Connection, name: &str, source: &str) {
    let answer = connection.ask(&creation(name, source)).unwrap();
    assert!(answer.body.contains(r#""isError":false"#), "{answer:?}");
}

/// Starts runs whose replies are never read, over open connections.
fn endless(http: &HttpServerProcess) -> Vec<Connection> {
    let begun = (0..ENDLESS).map(|number| {
        let mut connection = http.connect(Some(TOKENS[0]));
        let id = u64::try_from(number).unwrap();
        let arguments = json!({"tool_name": "endless", "parameters": {}, "timeout_ms": 600_000});
        let written = connection.encode(&Message::call(Era::Stateless, id, "run_dynamic_tool", &arguments));
        connection.send(&written).unwrap();
        connection
    });
    begun.collect()
}
