//! Custom tools of oh-my-pi and extensions of pi, in a cell: `adopt`, builders of schemas, results, `pi` and `ctx`.

use std::fs;

use serde_json::{Value, json};

use crate::cli::policy::PolicyFixture;
use crate::fixtures::cli::{CliFixture, CommandOutput};
use crate::fixtures::sandbox::{SandboxFixture, returned};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/custom_tools");

/// What each tool of the folder gives: arguments, and its text, or what its failure says.
const RUNS: [(&str, &str, Result<&str, &str>); 17] = [
    ("zod_greeting", r#"{"name": "Ada"}"#, Ok("Hello, Ada!")),
    ("zod_greeting", r#"{"name": "Ada", "style": "loud", "times": 2}"#, Ok("HELLO, ADA! HELLO, ADA!")),
    ("zod_greeting", r#"{"name": "Ada", "times": 9}"#, Err("/times is 9, the maximum is 3")),
    ("zod_import", r#"{"from": 1, "to": 3}"#, Ok("1..3")),
    ("zod_import", r#"{"from": 5, "to": 3}"#, Err("from is greater than to")),
    ("arktype_sum", r#"{"numbers": [1, 2]}"#, Ok("sum: 3")),
    ("typebox_area", r#"{"width": 2, "height": 3}"#, Ok("6 m²")),
    ("typebox_import", r#"{"text": "abc", "upper": true}"#, Ok("CBA")),
    ("json_schema", r#"{"words": ["a", "b"]}"#, Ok("a b")),
    ("twice", r#"{"n": 4}"#, Ok("8")),
    ("square", r#"{"n": 4}"#, Ok("16")),
    ("promised", "{}", Ok("promised")),
    ("reports_error", r#"{"dividend": 1, "divisor": 0}"#, Err("the tool failed: Error: cannot divide by zero")),
    ("throws", r#"{"message": "oh"}"#, Err("the tool failed: Error: oh")),
    ("progress", r#"{"n": 2}"#, Ok("2 steps, idle")),
    ("picture", "{}", Ok("one pixel\n[image/gif, 42 bytes]")),
    ("extension", r#"{"text": "hi"}"#, Ok("hi false string")),
];

fn adopted(done: &CommandOutput) -> Value {
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}{}", done.out, done.err))
}

#[test]
fn a_folder_is_adopted_and_each_tool_gives_what_it_gives_in_its_host() {
    let place = CliFixture::new();
    let done = place.run(&["adopt", FOLDER]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    assert!(done.out.ends_with("15 created, 0 unchanged, 0 failed\n"), "{}", done.out);
    assert!(done.err.contains("`repository` needs approval before its first run: it asks for `tools`"), "{}", done.err);
    for (tool, params, expected) in RUNS {
        let done = place.run(&["run", tool, params]);
        match expected {
            Ok(text) => {
                assert_eq!((done.status, done.out.as_str()), (0, format!("{text}\n").as_str()), "{tool}: {}", done.err);
            }
            Err(says) => {
                assert!(done.status != 0 && done.err.contains(says), "{tool} {params}: {}{}", done.out, done.err);
            }
        }
    }
    let shown = place.run(&["show", "zod_greeting", "--json"]).json();
    assert_eq!(shown["description"], "Greets a person");
    let parameters = shown["parameters"].as_array().unwrap();
    let described: Vec<_> = parameters.iter().map(|one| (one["name"].as_str().unwrap(), &one["required"])).collect();
    assert_eq!(described, [("name", &json!(true)), ("style", &json!(false)), ("times", &json!(false))]);
    // The value is whole for programs.
    let ran = place.run(&["run", "typebox_area", r#"{"width": 2, "height": 3}"#, "--json"]).json();
    assert_eq!(ran["value"], json!({"content": [{"type": "text", "text": "6 m²"}], "details": {"area": 6}}));
    let again = place.run(&["adopt", FOLDER]);
    assert!(again.out.ends_with("0 created, 15 unchanged, 0 failed\n"), "{}", again.out);
}

#[test]
fn what_is_wrong_with_a_file_or_a_tool_is_told_beside_it_and_stops_no_other() {
    let place = CliFixture::new();
    place.run(&["create", "-", "--name", "taken", "--description", "Is here first"]);
    let folder = tempfile::tempdir().unwrap();
    let factory = |name: &str| {
        format!(
            "export default (pi) => ({{ name: {name:?}, description: 'd', parameters: pi.zod.object({{}}), execute: () => 1 }})"
        )
    };
    let tools = "export default (pi) => ['good', 'not a name', 'good', ''].map((name) => ({ name, description: 'd', execute: () => 1 }))";
    fs::create_dir_all(folder.path().join("folder")).unwrap();
    fs::create_dir_all(folder.path().join("empty")).unwrap();
    for (name, source) in [
        ("a_broken.ts", "export default (pi) => ({"),
        ("b_spins.ts", "for (;;); export default (pi) => ({})"),
        ("c_exits.ts", "export default (pi) => { process.exit(1); return { name: 'x', execute: () => 1 } }"),
        ("d_imports.ts", "import { x } from './x'; export default (pi) => ({ name: 'x', execute: () => x })"),
        ("e_throws.ts", "export default (pi) => { throw new Error('no such key'); return { execute() {} } }"),
        ("f_plain.ts", "export const execute = () => 1"),
        ("g_hears.ts", "export default (pi) => { pi.on('session_start', () => {}); pi.registerTool({}) }"),
        ("h_types.d.ts", "export type X = 1"),
        ("i_notes.md", "# Notes"),
        ("j_tools.js", tools),
        ("k_last.js", &factory("last")),
        (
            "l_many.js",
            "export default (pi) => Array.from({ length: 257 }, (_, i) => ({ name: 'n' + i, description: 'd', execute: () => 1 }))",
        ),
        ("folder/index.ts", &factory("inner")),
        ("folder/other.ts", "this is no tool"),
    ] {
        fs::write(folder.path().join(name), source).unwrap();
    }
    let done = place.run(&["adopt", folder.path().to_str().unwrap(), "--json"]);
    assert_eq!(done.status, 3, "{}{}", done.out, done.err);
    let report = adopted(&done);
    let found: Vec<(String, Value)> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let name = file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            let tools = file["tools"].as_array().unwrap().iter();
            let outcomes: Vec<Value> = tools
                .map(|tool| json!([tool["name"], tool["error"].get("code").unwrap_or(&tool["outcome"])]))
                .collect();
            (name, file["error"].get("code").cloned().unwrap_or_else(|| outcomes.into()))
        })
        .collect();
    let expected = [
        ("a_broken.ts", json!("syntax-error")),
        ("b_spins.ts", json!("tool-failed")),
        ("c_exits.ts", json!("tool-failed")),
        ("d_imports.ts", json!("critical-risk")),
        ("e_throws.ts", json!("tool-failed")),
        ("f_plain.ts", json!("tool-missing")),
        ("index.ts", json!([["inner", "created"]])),
        ("g_hears.ts", json!("tool-failed")),
        ("j_tools.js", json!("tool-failed")),
        ("k_last.js", json!([["last", "created"]])),
        ("l_many.js", json!("tool-limit-reached")),
    ];
    for ((name, outcome), (expected_name, expected)) in found.iter().zip(&expected) {
        assert_eq!((name.as_str(), outcome), (*expected_name, expected), "{report}");
    }
    assert_eq!((found.len(), &report["created"], &report["failed"]), (expected.len(), &json!(2), &json!(9)));
    let text = place.run(&["adopt", folder.path().to_str().unwrap()]).err;
    assert!(
        text.contains("g_hears.ts: loading the file failed: TypeError: pi.on is not available: a cell has no session"),
        "{text}"
    );

    // Without the one that has no name, the others of a file are stored.
    fs::write(folder.path().join("j_tools.js"), tools.replace(", ''", "")).unwrap();
    let some = place.run(&["adopt", folder.path().join("j_tools.js").to_str().unwrap(), "--json"]);
    let outcomes: Vec<Value> = adopted(&some)["files"][0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| json!([tool["name"], tool["error"].get("code").unwrap_or(&tool["outcome"])]))
        .collect();
    assert_eq!(json!(outcomes), json!([["good", "created"], ["not a name", "name-invalid"], ["good", "unchanged"]]));
    let missing = place.run(&["adopt", "no-such.ts"]);
    assert!(missing.status == 4 && missing.err.starts_with("error: no-such.ts: no such file\n"), "{}", missing.err);
    assert_eq!(place.run(&["adopt", folder.path().join("empty").to_str().unwrap()]).status, 4);
}

#[test]
fn a_name_that_is_taken_is_replaced_only_where_that_is_asked_for() {
    let place = CliFixture::new();
    let file = |source: &str| place.file("tool.ts", source);
    let source = "export default (pi) => ({ name: 'number', description: 'd', execute: () => 1 })";
    assert_eq!(place.run(&["adopt", &file(source)]).status, 0);
    let newer = source.replace("=> 1", "=> 2");
    let refused = place.run(&["adopt", &file(&newer)]);
    assert!(refused.status == 4 && refused.err.contains("the tool `number` exists already"), "{}", refused.err);
    assert_eq!(place.run(&["run", "number"]).out, "1\n");
    assert_eq!(place.run(&["adopt", &file(&newer), "--replace"]).status, 0);
    assert_eq!(place.run(&["run", "number"]).out, "2\n");
}

#[test]
fn a_context_has_what_is_harmless_and_says_why_the_rest_is_not_there() {
    let with = |body: &str| {
        let source = format!(
            "export default (pi) => ({{ name: 'x', description: 'd', async execute(id, params, update, ctx, signal) {{ {body} }} }})"
        );
        SandboxFixture::new().script(source)
    };
    let given = with(
        "return [ctx.isIdle(), ctx.hasQueuedMessages(), ctx.cwd, pi.cwd, ctx.hasUI, pi.hasUI, signal.aborted, typeof pi.logger.info]",
    );
    assert_eq!(returned(&given.run_text("{}")), r#"[true,false,"/","/",false,false,false,"function"]"#);
    // A dialogue without a person ends like that of a host without a terminal.
    let asks = with(
        "pi.ui.setStatus('x', 'y'); return [await pi.ui.confirm('a', 'b'), await ctx.ui.select('a', ['b']), await pi.ui.input('a')]",
    );
    assert_eq!(returned(&asks.run_text("{}")), "[false,null,null]");
    for (body, reason) in [
        ("return pi.exec('git')", "pi.exec is not available: a cell has no processes"),
        ("return ctx.model", "ctx.model is not available: a cell has no model"),
        ("return ctx.sessionManager", "ctx.sessionManager is not available: a cell has no session"),
        ("return pi.pi", "pi.pi is not available: a cell has no host to reach into"),
        ("pi.registerTool({})", "pi.registerTool registers tools only while the factory runs"),
        ("ctx.abort()", "the tool ended its run with ctx.abort()"),
        ("try { ctx.abort() } catch {} return 1", "the tool ended its run with ctx.abort()"),
    ] {
        let text = with(body).throws();
        assert!(text.contains(reason), "{body}: {text}");
    }
}

#[test]
fn schemas_work_however_often_they_are_used() {
    let source = "import { z } from 'zod'; import { type } from 'arktype';
        export default (pi) => ({ name: 'x', description: 'd', execute: () => {
            const person = z.object({ name: z.string().trim(), age: z.number().optional() });
            const results = [];
            for (let i = 0; i < 10; i++) results.push(person({ name: ' Ada ' }).name, person.allows({ name: 1 }), type('string')(i) === i);
            return [results.length, ...results.slice(-3)];
        } })";
    let script = toolcell::analyze(source, toolcell::Language::TypeScript, None).unwrap().script.unwrap();
    assert_eq!(SandboxFixture::new().script(script.code()).returns(), r#"[30,"Ada",false,false]"#);
}

#[test]
fn a_command_of_a_tool_needs_a_grant_and_a_host_that_lends_it() {
    let place = PolicyFixture::new("[approval]\nmode = 'auto'\n[grants.tools.repository]\ntools = ['pi_exec']\n", "");
    assert_eq!(place.on(&["adopt", &format!("{FOLDER}/repository.ts")]).status, 0);
    let done = place.on(&["run", "repository"]);
    assert!(done.status == 1 && done.err.contains("pi_exec"), "{}{}", done.out, done.err);
}
