//! Run time of reflection, search and verification.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcell::reflection::{PastOperation, ReflectionInput, Thresholds, reflect};
use toolcell::store::{Durability, Settings, Store};
use toolcell::{CreateTool, ReflectOnTask, Toolbox, ToolboxConfig, VerifyOptions, read_request};
use toolcell_bridge::{Definition, search};
use toolcell_tool::{ServerName, ServerToolName};

use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Tasks of each kind, in three languages.
const TASKS: [&str; 6] = [
    "Convert the CSV exports of the branches to JSON and check that each record has a date. Two of them are large.",
    "複数のCSVファイルをJSONに変換し、日付の形式が正しいかどうかを確認してください。",
    "把各分店导出的CSV文件转换成JSON，并核对每条记录的日期格式。",
    "Fix the typo in the third line of the README; no need to convert anything again.",
    "READMEの三行目の誤字を直してください。変換は不要です。",
    "请修改说明文件第三行的错字，不需要再转换。",
];
/// Number of operations in a history.
const HISTORY: usize = 200;
/// Number of tools in the search index.
const TOOLS: usize = 10_000;
/// Number of tools of a server that are searched.
const SERVER_TOOLS: usize = 3_000;

pub(crate) fn measure(table: &mut Table) {
    table.section("reflection and proof");
    let history: Vec<PastOperation> = (0..HISTORY).map(operation).collect();
    let mut reflected = Series::default();
    for _ in 0..200 {
        for task in TASKS {
            let occasion = ReflectionInput {
                task,
                last_result: "done",
                failed_attempts: 0,
                history: &history,
                existing_tools: &[],
            };
            reflected.time(1, || reflect(&occasion, &Thresholds::default()));
        }
    }
    let row = Row::new("reflect on a task, history of 200 operations, median", reflected.median());
    table.row(row.target(Target::AtMost(Figure::Time(1e-3))));
    table.row(Row::new("  p99", reflected.p99()));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let settings = Settings { durability: Durability::Unsynced, tool_limit: None, ..Settings::default() };
    let store = Store::open(folder.path(), &settings).unwrap();
    let toolbox = Toolbox::with_store(store, ToolboxConfig::default()).unwrap();
    proof(table, &toolbox);
    searched(table, &toolbox);
    servers_searched(table);
}

fn operation(number: usize) -> PastOperation {
    let arguments = json!({ "path": format!("{number}.csv"), "lines": [number, 2], "options": { "strict": true } });
    PastOperation { name: format!("operation_{}", number % 40), arguments, ..PastOperation::default() }
}

fn proof(table: &mut Table, toolbox: &Toolbox) {
    toolbox
        .create(&CreateTool {
            name: "slugify".to_owned(),
            description: "Makes a slug of a title".to_owned(),
            code: "const execute = ({ title }: { title: string }) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-')"
                .to_owned(),
            parameters: json!({ "title": { "type": "string", "description": "a title", "required": true } }),
            examples: vec![json!({ "parameters": { "title": "Hello World" }, "result": "hello-world" })],
            returns: Some(json!({ "type": "string" })),
            ..CreateTool::default()
        })
        .unwrap();
    let mut verified = Series::default();
    for _ in 0..20 {
        verified.time(1, || toolbox.verify("slugify", &VerifyOptions::default()).unwrap());
    }
    table.row(Row::new("prove a small tool, 256 inputs, median", verified.median()));
}

/// Measures searches among tools that are each about two of a hundred subjects.
fn searched(table: &mut Table, toolbox: &Toolbox) {
    let words: Vec<String> = (0..100).map(|number| format!("thing{number}")).collect();
    for number in 0..TOOLS {
        let (one, other) = (&words[number % 100], &words[number / 100]);
        let code = format!("const execute = () => {number}");
        let description = format!("Converts the {one} of a report to the {other} of a table, number {number}");
        let name = format!("tool_{number}");
        toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() }).unwrap();
    }
    let mut filled = Series::default();
    filled.time(1, || toolbox.search("thing1", 10).unwrap());
    table.row(Row::new("index 10,000 tools, once", filled.median()));
    let mut searched = Series::default();
    let queries: BTreeSet<String> =
        (0..40).map(|number| format!("convert the thing{number} of my report to a thing{}", number + 1)).collect();
    for query in &queries {
        searched.time(1, || toolbox.search(query, 8).unwrap());
    }
    let row = Row::new("search 10,000 tools, p99", searched.p99());
    table.row(row.target(Target::AtMost(Figure::Time(10e-3))));
    let mut reflected = Series::default();
    for task in TASKS {
        let request = json!({ "task_description": task, "last_tool_result": "" }).to_string();
        let request: ReflectOnTask = read_request(&request).unwrap();
        reflected.time(1, || toolbox.reflect(&request).unwrap());
    }
    table.row(Row::new("tool_reflection with 10,000 tools, recorded, median", reflected.median()));
}

/// Measures searches among the tools of a server.
fn servers_searched(table: &mut Table) {
    let server = ServerName::parse("things").unwrap();
    let tools: Vec<(ServerToolName, Arc<Definition>)> = (0..SERVER_TOOLS)
        .map(|number| {
            let (one, other) = (number % 100, number / 100);
            let name = format!("convert_thing{one}_to_thing{other}");
            let description = format!("Converts the thing{one} of a report. The thing{other} is that of a table.");
            let input = json!({ "type": "object", "properties": { "report": { "type": "string" } } });
            let definition = Definition::new(name, description, input, None, Value::Null);
            (definition.code_name().unwrap(), Arc::new(definition))
        })
        .collect();
    let find = |query: &str| search(tools.iter().map(|(name, tool)| (&server, name, tool)), query, 20);
    let mut first = Series::default();
    first.time(1, || find("thing1"));
    let row = Row::new("first search among 3,000 tools of a server", first.median());
    table.row(row.target(Target::AtMost(Figure::Time(20e-3))));
    let mut searched = Series::default();
    for number in 0..200 {
        let query = format!("change the thing{} of my reports into a thing{}", number % 100, number % 30);
        searched.time(1, || find(&query));
    }
    let row = Row::new("  each further one, p99", searched.p99());
    table.row(row.target(Target::AtMost(Figure::Time(20e-3))));
}
