//! The commands that suggest and verify tools: text output, JSON output, and exit statuses.

use serde_json::{Value, json};
use toolcell::CancelToken;

use crate::fixtures::cli::{CliFixture, assert_output, assert_refused};

/// A tool that throws on an empty list, which its examples do not cover.
const FIRST: &str = r#"{"name": "first", "description": "The first of some numbers, with a digit behind the point",
    "code": "const execute = ({ items }) => items[0].toFixed(1)",
    "parameters": {"items": {"type": "array", "items": {"type": "number"}, "description": "numbers", "required": true}},
    "examples": [{"parameters": {"items": [1, 2]}, "result": "1.0"}]}"#;

#[test]
fn what_reflect_proposes_goes_into_create_and_passes_with_an_example_of_the_task() {
    let mut cli = CliFixture::new();
    cli.lang = "en";
    let task = "Convert CSV to JSON";
    let proposed = cli.run(&["reflect", task, "--proposal"]);
    assert_eq!((proposed.status, &*proposed.err), (0, ""));
    let name = proposed.json()["name"].as_str().unwrap().to_owned();
    assert_eq!(name, "csv_to_json");
    let create = |words: &[&str]| {
        let created = cli.run_with(&[&["create", "-"], words].concat(), proposed.out.as_bytes(), &CancelToken::new());
        assert_eq!((created.status, &*created.err), (0, ""), "{}", created.out);
    };
    create(&[]);
    let done = cli.run(&["verify", &name]);
    let why = "(3 of 3 match, but all came with the template: add an example of your task)";
    assert!(done.out.contains(why), "{}", done.out);
    assert_eq!(cli.run(&["show", &name, "--json"]).json()["verificationStatus"], "unverified");
    let example = r#"{"parameters": {"text": "id,city\n1,Oslo"}, "result": "[{\"id\":\"1\",\"city\":\"Oslo\"}]"}"#;
    create(&["--replace", "--example", example]);
    let done = cli.run(&["verify", &name]);
    assert!(
        done.out.starts_with(&format!("Verification of the tool `{name}`: passed\n\n- examples: passed (")),
        "{}",
        done.out
    );
    assert_eq!((done.status, &*done.err), (0, ""));
    let shown = cli.run(&["show", &name, "--json"]).json();
    assert_eq!((&shown["verificationStatus"], &shown["proof"]["verdict"]), (&json!("passed"), &json!("passed")));
    assert_eq!(shown["proof"].get("receipts"), None);
    let again = cli.run(&["reflect", task, "--json"]).json();
    assert_eq!((&again["decision"], &again["tools"][0]), (&json!("reuse"), &shown["id"]));
    let skeleton = cli.run(&["reflect", "Convert the legacy classes to hooks", "--proposal"]);
    assert_eq!(skeleton.json()["code"].as_str().unwrap().matches("not written yet").count(), 1);
    assert!(skeleton.err.starts_with("note: this is a skeleton: "), "{}", skeleton.err);
    let none = cli.run(&["reflect", "Thank Bob for the flowers", "--proposal"]);
    assert_eq!((none.status, &*none.out), (4, ""));
    assert!(none.err.starts_with("note: no tool is recommended: "), "{}", none.err);
}

#[test]
fn verify_shows_the_input_that_speaks_against_a_tool() {
    let mut cli = CliFixture::new();
    cli.file("first.json", FIRST);
    assert_eq!(cli.run(&["create", "$first.json"]).status, 0);
    let end = "- challenger: failed (it throws TypeError: cannot read property 'toFixed' of undefined)\n\n\
               counterexample: it throws TypeError: cannot read property 'toFixed' of undefined (1:32)\n\
               parameters: {\"items\":[]}\n";
    let done = cli.run(&["verify", "first"]);
    assert_eq!(done.status, 1);
    assert!(done.out.contains(end.split('\n').next().unwrap()), "{}", done.out);
    assert!(done.out.contains("parameters: {\"items\":[]}"), "{}", done.out);
    cli.lang = "ja";
    let done = cli.run(&["verify", "first"]);
    assert!(done.out.starts_with("ツール「first」の検証: 不合格\n"), "{}", done.out);
    let check = "\n- プロパティテスト: 不合格 (TypeError: cannot read property 'toFixed' of undefined を送出します)\n";
    assert!(done.out.contains(check), "{}", done.out);
    cli.lang = "zh";
    let done = cli.run(&["verify", "first"]);
    assert!(done.out.starts_with("工具「first」的验证：未通过\n"), "{}", done.out);
    let check = "\n- 属性测试：未通过 (抛出 TypeError: cannot read property 'toFixed' of undefined)\n";
    assert!(done.out.contains(check), "{}", done.out);
    let found = cli.run(&["verify", "first", "--json"]).json();
    assert_eq!(found["counterexample"]["parameters"], json!({ "items": [] }));
    assert_eq!((&found["counterexample"]["kind"], &found["verdict"]), (&json!("threw"), &json!("failed")));
}

#[test]
fn verify_all_tells_of_each_tool_and_its_status_is_the_worst() {
    let cli = CliFixture::with_mean();
    cli.file("first.json", FIRST);
    assert_eq!(cli.run(&["create", "$first.json"]).status, 0);
    let done = cli.run(&["verify", "--all"]);
    assert_eq!(done.status, 1);
    let lines: Vec<Vec<&str>> = done.out.lines().map(|line| line.split('\t').collect()).collect();
    let rows: Vec<(&str, &str)> = lines.iter().skip(1).map(|line| (line[0], line[1])).collect();
    assert_eq!(rows, [("first", "failed"), ("mean", "failed")], "{}", done.out);
    let tools = cli.run(&["verify", "--all", "--json"]).json();
    let verdicts: Vec<&Value> = tools["tools"].as_array().unwrap().iter().map(|tool| &tool["verdict"]).collect();
    assert_eq!(verdicts, [&json!("failed"), &json!("failed")]);
    assert_eq!(cli.run(&["verify"]).status, 2);
    assert_refused(&cli.run(&["--json", "verify", "no_such_tool"]), 4, "tool-not-found");
}

#[test]
fn what_cannot_be_reflected_on_is_refused_by_what_is_wrong() {
    let cli = CliFixture::new();
    let reflect = |words: &[&str]| cli.run(&[&["reflect"], words].concat());
    assert_refused(&reflect(&["--json", "x", "--failed-attempts", "-1"]), 2, "request-invalid");
    assert_refused(&reflect(&["--json", "x", "--failed-attempts", "many"]), 2, "request-invalid");
    assert_refused(&reflect(&["--json", " "]), 2, "request-invalid");
    assert_refused(&reflect(&["--json", "-", "--history", "-"]), 2, "usage");
    cli.file("long.txt", &"a".repeat((128 << 20) + 1));
    let done = reflect(&["@$long.txt"]);
    assert!(
        done.err.ends_with("is longer than 134217728 bytes\nhint: shorten the input to the relevant part\n"),
        "{}",
        done.err
    );
    assert_eq!(done.status, 2);
    let done = reflect(&["x", "--history", "no such file"]);
    assert_eq!(done.status, 4, "{}", done.err);
    cli.file("history.jsonl", "{\"name\": \"a\"}\nnonsense\n");
    let done = reflect(&["x", "--history", "$history.jsonl"]);
    assert!(done.err.starts_with("error: the history is not a list of operations: line 2: "), "{}", done.err);
    cli.file(
        "history.jsonl",
        "{\"name\": \"a\", \"arguments\": {\"n\": 1}}\n{\"name\": \"a\", \"arguments\": {\"n\": 2}}\n",
    );
    let done = reflect(&["x", "--history", "$history.jsonl", "--json"]).json();
    assert_eq!((&done["trigger"], &done["recommend"]), (&json!("repetition"), &json!(true)));
    let lines = ["a", "b", "c"].map(|name| format!("\"grep TODO src/{name}.ts\"\n")).concat();
    cli.file("history.jsonl", &lines);
    let done = reflect(&["Go on with the next one", "--history", "$history.jsonl", "--json"]).json();
    assert_eq!((&done["trigger"], &done["recommend"]), (&json!("repetition"), &json!(true)));
}

#[test]
fn a_batch_reflects_as_the_command_does() {
    let cli = CliFixture::new();
    let lines = [
        json!({ "id": 1, "op": "reflect", "task_description": "Convert the CSV files to JSON", "last_tool_result": "done" }),
        json!({ "id": 2, "op": "reflect", "task_description": "Thank Bob", "last_tool_result": "", "lang": "ja" }),
        json!({ "id": 3, "op": "reflect", "task_description": "Thank Bob" }),
        json!({ "id": 4, "op": "reflect", "task_description": "Thank Bob", "last_tool_result": "", "failed_attempts": 1.5 }),
        json!({ "id": 5, "op": "reflect", "task_description": "x", "last_tool_result": "", "history": [{ "nam": 1 }] }),
    ];
    let input = lines.map(|line| line.to_string()).join("\n");
    let done = cli.run_with(&["batch"], input.as_bytes(), &CancelToken::new());
    assert_output(&done, 0, &done.out, "");
    let answers: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcomes: Vec<&str> = answers.iter().map(|answer| answer["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["reflected", "reflected", "refused", "refused", "refused"]);
    let first = &answers[0];
    assert_eq!((&first["id"], &first["recommend"], &first["decision"]), (&json!(1), &json!(true), &json!("create")));
    assert_eq!((&first["trigger"], &first["reusable"]), (&json!("transformation"), &json!(true)));
    assert!(first["score"].as_f64().unwrap() > 0.5 && !first["evidence"].as_array().unwrap().is_empty());
    assert!(first["text"].as_str().unwrap().contains("create_tool({"), "{first}");
    assert!(answers[1]["text"].as_str().unwrap().contains("## 推奨: 直接実行を継続"), "{}", answers[1]);
    let code = |at: usize| answers[at]["error"]["code"].as_str().unwrap();
    assert_eq!([code(2), code(3), code(4)], ["request-invalid"; 3]);
}

#[test]
fn create_tells_which_tool_does_the_same() {
    let cli = CliFixture::new();
    let words = |name: &str, code: &str, parameter: &str| {
        json!({ "name": name, "description": "Doubles a number", "code": code,
            "parameters": { parameter: { "type": "number", "description": "a number", "required": true } } })
        .to_string()
    };
    cli.file("one.json", &words("double", "const execute = ({ n }) => 2 * n", "n"));
    cli.file("two.json", &words("add_to_itself", "const execute = (p) => p.value + p.value", "value"));
    assert_eq!(cli.run(&["create", "$one.json"]).status, 0);
    let done = cli.run(&["create", "$two.json"]);
    assert!(done.err.starts_with("note: `double` (dt_"), "{}", done.err);
    assert!(done.err.contains(") returns the same results for "), "{}", done.err);
    let proposed = cli.run(&["retire", "--dry-run", "--json"]).json();
    assert!(proposed.to_string().contains("duplicate"), "{proposed}");
}
