//! The commands that create, run, list, show and delete tools: text output, JSON output, and exit
//! statuses.

use std::fs;

use serde_json::{Value, json};
use toolcell::CancelToken;
use unicode_width::UnicodeWidthStr as _;

use crate::fixtures::cli::{CliFixture, MEAN, PARAMETERS, assert_output, assert_refused};
use crate::fixtures::sandbox::root;

#[test]
fn create_says_what_it_made_in_the_words_of_the_contract() {
    let mut cli = CliFixture::new();
    cli.file("mean.js", MEAN);
    let words = ["create", "$mean.js", "--description", "平均値を計算します", "--parameters", PARAMETERS];
    cli.lang = "ja";
    let done = cli.run(&words);
    let id = cli.run(&["show", "mean", "--json"]).json()["id"].as_str().unwrap()[..15].to_owned();
    assert_eq!((done.status, &*done.err), (0, ""));
    let head = format!("ツール「mean」を作成しました。\n\nツールID: {id}\n安全性スコア: 1.00\n品質スコア: ");
    assert!(done.out.starts_with(&head), "{}", done.out);
    let tail = format!(
        "検証状態: unverified\n\n説明:\n平均値を計算します\n\nパラメータ:\n- numbers (array): what to take the mean of\n\
         - unit (string): what it is in\n\n使用方法:\nrun_dynamic_tool({{ tool_id: \"{id}\", parameters: {{ /* ... */ }} \
         }})\n"
    );
    assert!(done.out.ends_with(&tail), "{}", done.out);
}

#[test]
fn create_takes_a_source_a_request_and_standard_input() {
    let cli = CliFixture::new();
    cli.file("mean.ts", MEAN);
    let beside = json!({"description": "Takes a mean", "tags": ["math"], "capabilities": ["net"],
        "examples": [{"parameters": {"numbers": [1]}}], "parameters": serde_json::from_str::<Value>(PARAMETERS).unwrap()});
    cli.file("mean.json", &beside.to_string());
    let created = cli.run(&["create", "$mean.ts", "--json"]).json();
    assert_eq!((&created["name"], &created["version"]), (&json!("mean"), &json!(1)));
    assert_eq!(
        (&created["parameters"][0]["name"], &created["parameters"][0]["required"]),
        (&json!("numbers"), &json!(true))
    );
    assert_eq!(created["needsApproval"], "it asks for `net`");
    let shown = cli.run(&["show", "mean", "--json"]).json();
    assert_eq!((&shown["tags"], &shown["examples"]), (&json!(["math"]), &json!([{"parameters": {"numbers": [1]}}])));

    // Options override the file, and a new version names the one it replaces.
    let words =
        ["create", "$mean.ts", "--replace", "--capabilities", "", "--tags", "a,b", "--generated-from", "a task"];
    let done = cli.run(
        &[&words[..], &["--example", "{\"parameters\": {\"numbers\": [2]}}", "--parameters", "@$p.json"]].concat(),
    );
    assert_eq!((done.status, done.err.contains("p.json: no such file")), (4, true), "{}", done.err);
    cli.file("p.json", r#"{"n": {"type": "string", "enum": ["a", "b"], "default": "a"}}"#);
    cli.file("example.json", r#"{"parameters": {"numbers": [2]}}"#);
    let done = cli.run(&[&words[..], &["--example", "@$example.json", "--parameters", "@$p.json"]].concat());
    let old = &created["id"].as_str().unwrap()[..15];
    let note = format!("note: the new version replaces {old}: undo with `toolcell rollback mean 1`\n");
    assert_output(&done, 0, &done.out, &note);
    let shown = cli.run(&["show", "mean", "--json"]).json();
    assert_eq!((&shown["tags"], &shown["generatedFrom"]), (&json!(["a", "b"]), &json!("a task")));
    assert_eq!(shown["examples"], json!([{"parameters": {"numbers": [2]}}]));
    let parameter = json!({"name": "n", "type": "string", "description": "", "required": false, "default": "a", "enum": ["a", "b"]});
    assert_eq!(shown["parameters"], json!([parameter]));

    let request = json!({"name": "twice", "description": "Doubles", "code": "const execute = ({ n }) => 2 * n"});
    cli.file("twice.json", &request.to_string());
    assert_eq!(cli.run(&["create", "$twice.json"]).status, 0);
    let stdin = |words: &[&str], input: &str| {
        cli.run_with(&[&["create", "-", "--json"], words].concat(), input.as_bytes(), &CancelToken::new())
    };
    let named = stdin(&["--name", "thrice"], &format!("\n {request}"));
    assert_eq!(named.json()["identicalTo"][0]["name"], "twice");
    // A source may also begin with a brace.
    let block = stdin(&["--name", "block", "--description", "d"], "{ let a }\nfunction execute() {}");
    assert_eq!(block.status, 0, "{}", block.out);
    assert_refused(&stdin(&[], r#"{"name": "x", "description": "d", "cod": ""}"#), 2, "request-invalid");
    assert_refused(&stdin(&["--description", "d"], "const execute = () => 1"), 2, "name-required");
    assert_refused(&stdin(&["--parameters", "-"], ""), 2, "usage");
}

#[test]
fn create_says_why_it_made_nothing() {
    let cli = CliFixture::with_mean();
    let undescribed = "error: the request is invalid: `description` is required\nhint: describe the tool with \
        --description, or with `description` in the .json file beside the source\n";
    assert_output(&cli.run(&["create", "$mean.js", "--name", "other"]), 2, "", undescribed);
    let source = |source: &str, words: &[&str]| {
        let words = [&["create", "-", "--name", "x", "--description", "d", "--json"], words].concat();
        cli.run_with(&words, source.as_bytes(), &CancelToken::new())
    };
    let done = source("const execute = ({ s }) => eval(s)", &[]);
    assert_refused(&done, 3, "critical-risk");
    assert_eq!((&done.json()["error"]["line"], &done.json()["error"]["column"]), (&json!(1), &json!(28)));
    assert_refused(&source("function execute( {", &[]), 3, "syntax-error");
    assert_refused(&source("const x = 1", &[]), 3, "tool-missing");
    assert_refused(&source(" ", &[]), 2, "request-invalid");
    assert_refused(&source("\0", &[]), 2, "source-invalid");
    let good = "const execute = () => 1";
    assert_refused(&source(good, &["--parameters", "{\"n\": {\"type\": \"odd\"}}"]), 2, "parameters-invalid");
    assert_refused(&source(good, &["--parameters", "{n: 1}"]), 2, "usage");
    assert_refused(&source(good, &["--example", "]"]), 2, "usage");
    assert_refused(&source(good, &["--example", "@/no/such/file"]), 4, "file-not-found");
    assert_refused(&source(good, &["--returns", "@/no/such/file"]), 4, "file-not-found");
    assert_refused(&source(good, &["--capabilities", "teleport"]), 2, "capabilities-invalid");
    assert_refused(&cli.run(&["create", "/no/such/file", "--json"]), 4, "file-not-found");
    cli.file("2x.js", good);
    assert_refused(&cli.run(&["create", "$2x.js", "--description", "d", "--json"]), 2, "name-invalid");
    cli.file("odd.js", good);
    cli.file("odd.json", "{ \"description\": 3 }");
    let done = cli.run(&["create", "$odd.js"]);
    assert_eq!((done.status, done.err.contains("odd.json: ")), (2, true), "{}", done.err);
    cli.file("odd.json", "{ \"description\": \"d\", \"parameterz\": {} }");
    let done = cli.run(&["create", "$odd.js"]);
    let says = "odd.json: the field `parameterz` is unknown; the fields are name, description, parameters, ";
    assert_eq!((done.status, done.err.contains(says)), (2, true), "{}", done.err);
    cli.file("empty.js", " \n");
    assert_refused(&cli.run(&["create", "$empty.js", "--description", "d", "--json"]), 2, "source-invalid");

    let id = cli.run(&["show", "mean", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let hint = "hint: choose another name, or replace the tool with --replace: its old version stays in its history\n";
    let taken = format!("error: the tool `mean` exists already: `mean` refers to {}\n{hint}", &id[..15]);
    assert_output(&cli.run(&["create", "$mean.js", "--name", "Mean", "--description", "d"]), 4, "", &taken);
}

#[test]
fn run_prints_the_result_and_nothing_else_on_standard_output() {
    let cli = CliFixture::with_mean();
    let mean = |words: &[&str]| cli.run(&[&["run", "mean"], words].concat());
    assert_output(&mean(&[r#"{"numbers": [1, 2, 4.5]}"#]), 0, "2.5\n", "");
    assert_output(&mean(&["numbers=[1,2]"]), 0, "1.5\n", "");
    // A parameter that is declared as text is not parsed as JSON. Single parameters override the
    // JSON object.
    assert_output(&mean(&[r#"{"numbers": [4], "unit": "m"}"#, "unit=10"]), 0, "410\n", "");
    assert_output(&mean(&["numbers=[1]", "unit:=\"s\""]), 0, "1s\n", "");
    cli.file("params.json", "{\"numbers\": [3]}");
    assert_output(&mean(&["@$params.json"]), 0, "3\n", "");
    let stdin = cli.run_with(&["run", "mean", "-"], b"{\"numbers\": [7]}", &CancelToken::new());
    assert_output(&stdin, 0, "7\n", "");
    let id = cli.run(&["show", "mean", "--json"]).json()["id"].as_str().unwrap().to_owned();
    assert_output(&cli.run(&["run", &id[..11], "numbers=[8]"]), 0, "8\n", "");

    let text = mean(&["numbers=[1,2]", "--text"]).out;
    assert!(text.starts_with("Ran the tool `mean`.\n\nTime: ") && text.ends_with("ms\n\nResult:\n1.5\n"), "{text}");
    let answer = mean(&["numbers=[1,2]", "--json"]).json();
    assert_eq!((&answer["tool"], &answer["name"]), (&json!(id), &json!("mean")));
    assert_eq!(
        (&answer["outcome"], &answer["value"], &answer["valueJson"]),
        (&json!("returned"), &json!(1.5), &json!("1.5"))
    );
    assert_eq!((&answer["context"], &answer["suppressed"]), (&json!([]), &json!(false)));
    assert_eq!(answer["record"].as_str().unwrap().len(), 64);
    assert!(answer["fuel"].as_u64().unwrap() > 0);
}

#[test]
fn run_says_why_a_tool_did_not_run_or_failed() {
    let cli = CliFixture::with_mean();
    let missing = "error: required parameters are missing: `numbers`\nhint: call the tool again with these parameters \
        added\n";
    assert_output(&cli.run(&["run", "mean"]), 2, "", missing);
    let nearly = "error: tool not found: there is no tool `meen`; did you mean `mean`?\nhint: `toolcell list` shows \
                  all \
        tools\n";
    assert_output(&cli.run(&["run", "meen"]), 4, "", nearly);
    let run = |words: &[&str]| cli.run(&[&["run", "mean", "--json"], words].concat());
    assert_refused(&run(&["nubers=[]", "numbers=[]"]), 2, "parameters-invalid");
    assert_refused(&run(&["[1]"]), 2, "parameters-invalid");
    assert_refused(&run(&["{}", "{}"]), 2, "usage");
    assert_refused(&run(&["numbers:=[1"]), 2, "usage");
    assert_refused(&run(&["=1"]), 2, "usage");
    assert_refused(&run(&["unit=1", "unit=2"]), 2, "usage");
    assert_refused(&run(&["numbers=[1]", "--timeout-ms", "0"]), 2, "limit-invalid");
    assert_eq!(run(&["numbers=[1]", "--fuel", "1000"]).json()["stop"], "out-of-fuel");
    assert_eq!(run(&["numbers=[1]", "--fuel", "1000"]).status, 5);
    let failed = cli.run(&["run", "mean", "numbers:=[]", "unit:=null"]);
    assert_eq!(failed.status, 2, "{}", failed.err);

    cli.file("bad.js", "function execute() { console.log('hm\\u001b[31m'); null.x }");
    assert_eq!(cli.run(&["create", "$bad.js", "--description", "Throws"]).status, 0);
    let done = cli.run(&["run", "bad"]);
    let thrown = "hm\\u{1b}[31m\nerror: the tool failed: TypeError: cannot read property 'x' of null\n    at execute \
                  (bad:1:56)\n";
    assert_output(&done, 1, "", thrown);
    assert_eq!(cli.run(&["run", "bad", "--json"]).json()["error"]["code"], "tool-failed");

    let cancel = CancelToken::new();
    cancel.cancel();
    assert_eq!(cli.run_with(&["run", "mean", "numbers=[1]"], b"", &cancel).status, 130);
    let last = cli.run(&["audit", "--limit", "1"]).out;
    assert!(last.contains("  run_dynamic_tool  mean ") && last.contains("failed: cancelled"), "{last}");
    assert_eq!(CliFixture::new().run(&["run", "mean"]).status, 4);
}

#[test]
fn what_nobody_approved_does_not_run_where_nobody_can_be_asked() {
    let cli = CliFixture::new();
    let fixture = root().join("fixtures/tools/fetch_json.js").to_string_lossy().into_owned();
    let done = cli.run(&["create", &fixture, "--name", "fetch", "--description", "Fetches"]);
    let id = cli.run(&["show", "fetch", "--json"]).json()["id"].as_str().unwrap()[..15].to_owned();
    let hint = format!(
        "hint: review it with `toolcell show {id}`; `toolcell grant {id} net=HOST timers` grants what it lacks, and \
         approves it\n"
    );
    let why = "it asks for `net`, `timers`";
    let note = format!("note: the tool needs approval before its first run: {why}\n{hint}");
    assert_output(&done, 0, &done.out, &note);
    let done = cli.run(&["run", "fetch", "url=https://example.com/"]);
    let denied = format!("`fetch` ({id}) is not approved, and is granted nothing of what it requests: {why}");
    assert_output(&done, 3, "", &format!("error: permission denied: {denied}\n{hint}"));
    assert_refused(&cli.run(&["run", "fetch", "--json"]), 3, "permission-denied");

    let done = cli.run(&["run", "fetch", "--explain"]);
    assert!(done.out.starts_with("stage\tverdict\trule\treason\ntool\tfound\tfetch\t"), "{}", done.out);
    assert!(done.out.ends_with("\tit asks for `net`, `timers`\nthe call would need approval first\n"), "{}", done.out);
    let answer = cli.run(&["run", "fetch", "--explain", "--json"]).json();
    let verdicts: Vec<&str> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[verdicts.len() - 3..], ["withhold", "withhold", "ask"]);
    assert_eq!((&answer["admitted"], &answer["asks"], &answer["error"]), (&json!(true), &json!(true), &Value::Null));
    let answer = cli.run(&["run", "nothing", "--explain", "--json"]);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (4, &json!("tool-not-found")));
}

#[test]
fn list_is_a_table_for_people_and_tabs_or_json_for_programs() {
    let cli = CliFixture::new();
    let none = cli.run(&["list"]);
    assert!(none.status == 0 && none.err.ends_with(" yet; `toolcell create` creates one\n"), "{}", none.err);
    assert_eq!(cli.run(&["list", "--json"]).json(), json!({"tools": [], "total": 0, "more": 0, "next": null}));
    let one = cli.tool("one", "The first", &["--tags", "math,初"]);
    let two = cli.tool("two", "The\nsecond", &[]);
    assert_eq!(cli.run(&["run", "one"]).status, 0);
    let done = cli.run(&["list", "--sort", "name"]);
    let used = cli.run(&["show", "one", "--json"]).json()["lastUsedAt"].as_str().unwrap().to_owned();
    let [one, two] = [one, two].map(|created| created["id"].as_str().unwrap()[..15].to_owned());
    let confidence = |name: &str| cli.run(&["show", name, "--json"]).json()["confidenceScore"].as_f64().unwrap();
    let expected = format!(
        "name\tid\tstatus\tsafety\tconfidence\truns\tused\ttags\tdescription\n\
         one\t{one}\tunverified\t1.00\t{:.2}\t1\t{used}\tmath,初\tThe first\n\
         two\t{two}\tunverified\t1.00\t{:.2}\t0\t-\t\tThe second\n",
        confidence("one"),
        confidence("two")
    );
    assert_output(&done, 0, &expected, "");
    let answer = cli.run(&["list", "--json", "--sort", "usage", "--limit", "1"]).json();
    assert_eq!((&answer["tools"][0]["name"], &answer["total"], &answer["more"]), (&json!("one"), &json!(2), &json!(1)));
    let next = answer["next"].as_str().unwrap().to_owned();
    let rest = cli.run(&["list", "--json", "--sort", "usage", "--cursor", &next]).json();
    assert_eq!((&rest["tools"][0]["name"], &rest["next"]), (&json!("two"), &Value::Null));
    let done = cli.run(&["list", "--limit", "1"]);
    assert!(done.err.starts_with("note: 1 more: continue with `--cursor created."), "{}", done.err);
    assert_eq!(cli.run(&["list", "--all"]).out.lines().count(), 3);
    for (words, expect) in [
        (&["--name", "ON"][..], "one"),
        (&["--tag", "初", "--tag", "none"], "one"),
        (&["--status", "unverified", "--sort", "name"], "one two"),
        (&["--min-safety", "0.5", "--sort", "name"], "one two"),
        (&["--status", "passed"], ""),
    ] {
        let answer = cli.run(&[&["list", "--json"], words].concat()).json();
        let names: Vec<&str> =
            answer["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), expect, "{words:?}");
    }
    assert_refused(&cli.run(&["list", "--limit", "0", "--json"]), 2, "filter-invalid");
    assert_refused(&cli.run(&["list", "--status", "odd", "--json"]), 2, "filter-invalid");
    assert_refused(&cli.run(&["list", "--cursor", "x", "--json"]), 2, "cursor-invalid");
    assert_output(
        &cli.run(&["list", "--name", "zzz"]),
        0,
        cli.run(&["list", "--name", "zzz"]).out.as_str(),
        "note: no tools found\n",
    );
}

#[test]
fn japanese_is_aligned_on_a_terminal_and_control_characters_do_not_reach_it() {
    let mut cli = CliFixture::new();
    cli.tool("kana", "ひらがなをカタカナに変換します", &["--tags", "変換"]);
    cli.tool("plain", "Turns one\u{1b}[31m thing into another, and says how it did that at some length", &[]);
    (cli.lang, cli.terminal) = ("ja", true);
    let done = cli.run(&["list"]);
    assert!(!done.out.contains('\u{1b}') && done.out.starts_with("名前"), "{}", done.out);
    // All identifiers start in the same column. Wide characters count as two columns.
    let columns: Vec<usize> = done
        .out
        .lines()
        .map(|line| {
            let at = line.find(" dt_").map_or_else(|| line.find("ID").unwrap(), |at| at + 1);
            line[..at].chars().map(|char| if char.is_ascii() { 1 } else { 2 }).sum()
        })
        .collect();
    assert_eq!(columns.len(), 3);
    assert!(columns.iter().all(|column| *column == columns[0]), "{}", done.out);
    let text = cli.run(&["list", "--text"]).out;
    assert!(
        text.starts_with("# 登録済み動的ツール (2件)\n\n## plain\n- ID: dt_") && !text.contains('\u{1b}'),
        "{text}"
    );
    let shown = cli.run(&["show", "plain"]).out;
    assert!(
        shown.contains("Turns one\\u{1b}[31m thing") && !shown.contains('\u{1b}'.to_string().as_str())
            || shown.contains("\u{1b}[1m"),
        "{shown}"
    );
}

#[test]
fn show_tells_all_that_is_known_of_a_tool() {
    let cli = CliFixture::with_mean();
    cli.run(&["run", "mean", "numbers=[1]"]);
    cli.file(
        "new.js",
        "const execute = ({ n }) => {\n  if (n.unit == 0) { while (true) { n.go() } }\n  return \
                         fetch('https://api.example.com/v1/' + n)\n}",
    );
    let replaced = cli.run(&["create", "$new.js", "--name", "mean", "--description", "Fetches", "--replace"]);
    assert_eq!(replaced.status, 0, "{}", replaced.err);
    let out = cli.run(&["show", "mean"]).out;
    for part in [
        "requests  net\nuses      net (api.example.com)\n",
        "approval  missing: it ",
        "net         withheld  net is not granted by any rule (built-in)\n",
        "no runs yet\n",
        "\nversion  event     id ",
        "\n      2  replaced  dt_",
        "high: reaches the network: `fetch`\n --> mean:3:10\n  |\n3 |   return fetch('https://api.example.com/v1/' + \
         n)\n  |          ^^^^^\n",
        "\n1 | const execute = ({ n }) => {\n2 |   if (n.unit",
    ] {
        assert!(out.contains(part), "{part:?} is not in\n{out}");
    }
    let old = cli.run(&["show", "mean", "--version", "1"]).out;
    assert!(
        old.contains("  (deleted, or not the current version of its name)\n")
            && old.contains("\n1 runs, 1 succeeded; last run "),
        "{old}"
    );
    assert!(
        old.contains("approval  not needed\n") && old.contains("\nparameter  type    default     description\n"),
        "{old}"
    );
    assert_output(&cli.run(&["show", "mean", "--version", "1", "--source"]), 0, MEAN, "");
    let answer = cli.run(&["show", "mean", "--version", "1", "--json"]).json();
    assert_eq!((&answer["current"], &answer["approval"]["state"]), (&json!(false), &json!("free")));
    assert_eq!((&answer["usage"]["runs"], &answer["source"]), (&json!(1), &json!(MEAN)));
    let id = answer["id"].as_str().unwrap();
    assert_eq!(cli.run(&["show", &id[..15], "--json"]).json()["id"], id);
    let answer = cli.run(&["show", "mean", "--json"]).json();
    assert_eq!(answer["capabilities"]["inferred"], json!({"net": {"named": ["api.example.com"], "unknown": false}}));
    assert_eq!(
        (&answer["findings"][0]["endColumn"], &answer["history"][1]["event"]),
        (&answer["findings"][0]["endColumn"], &json!("replaced"))
    );
    assert_refused(&cli.run(&["show", "mean", "--version", "9", "--json"]), 4, "version-not-found");
    assert_refused(&cli.run(&["show", "meen", "--version", "1", "--json"]), 4, "tool-not-found");
    assert_refused(&cli.run(&["show", "nothing", "--json"]), 4, "tool-not-found");
}

#[test]
fn a_name_is_deleted_given_back_and_rolled_back() {
    let mut cli = CliFixture::with_mean();
    let id = cli.run(&["show", "mean", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let short = &id[..15];
    let unconfirmed = "error: to delete, say confirm: true\nhint: pass --confirm; the deletion can be undone until garbage \
                       collection\n";
    assert_output(&cli.run(&["delete", "mean"]), 2, "", unconfirmed);
    assert_refused(&cli.run(&["delete", "mean", "--json"]), 2, "confirm-required");
    assert_eq!(cli.run(&["run", "mean", "numbers=[1]"]).status, 0);
    let hint = "hint: `toolcell undelete mean` restores it, until `toolcell gc` collects it\n";
    assert_output(&cli.run(&["delete", short, "--confirm"]), 0, &format!("Deleted the tool `mean` ({short}).\n"), hint);
    let gone = "error: tool not found: there is no tool `mean`; `mean` was deleted: restore it with `toolcell \
        undelete mean`\nhint: `toolcell list` shows all tools\n";
    assert_output(&cli.run(&["delete", "mean", "--confirm"]), 4, "", gone);
    assert_output(&cli.run(&["undelete", "mean"]), 0, &format!("Restored the tool `mean` ({short}).\n"), "");
    assert_refused(&cli.run(&["undelete", "mean", "--json"]), 4, "not-deleted");
    cli.file("mean.js", "const execute = () => 'new'");
    assert_eq!(cli.run(&["create", "$mean.js", "--description", "d", "--replace"]).status, 0);
    assert_eq!(cli.run(&["run", "mean"]).out, "new\n");
    let answer = cli.run(&["rollback", "mean", "1", "--json"]).json();
    assert_eq!(answer, json!({"id": id, "name": "mean", "version": 5}));
    assert_eq!(cli.run(&["run", "mean", "numbers=[1]"]).out, "1\n");
    assert_refused(&cli.run(&["rollback", "mean", "77", "--json"]), 4, "version-not-found");
    assert_refused(&cli.run(&["rollback", "2x", "1", "--json"]), 2, "name-invalid");
    let answer = cli.run(&["delete", "mean", "--confirm", "--json"]).json();
    assert_eq!(answer, json!({"id": id, "name": "mean", "version": 6}));
    cli.lang = "ja";
    assert_eq!(cli.run(&["undelete", short]).out, format!("ツール「mean」({short})を元に戻しました。\n"));
    assert_eq!(cli.run(&["delete", "mean", "--confirm"]).out, format!("ツール「mean」({short})を削除しました。\n"));
    assert_eq!(cli.run(&["delete", "mean"]).status, 4);
    cli.lang = "zh";
    assert_eq!(cli.run(&["undelete", short]).out, format!("已恢复工具「mean」（{short}）。\n"));
    assert_eq!(cli.run(&["rollback", "mean", "1"]).out, format!("已将工具「mean」回退到版本 1（{short}）。\n"));
    assert_eq!(cli.run(&["delete", "mean", "--confirm"]).out, format!("已删除工具「mean」（{short}）。\n"));
}

#[test]
fn an_error_of_the_command_line_names_no_operation() {
    let mut cli = CliFixture::with_mean();
    cli.file("request.json", r#"{"name": "x", "description": "x", "code": 3}"#);
    cli.file("history.json", r#"[{"nam": 1}]"#);
    let failing: [&[&str]; 17] = [
        &["delete", "mean"],
        &["delete", "nobody", "--confirm"],
        &["undelete", "mean"],
        &["rollback", "mean", "9"],
        &["create", "$request.json"],
        &["create", "$mean.js"],
        &["create", "$mean.js", "--description", "Takes a mean"],
        &["create", "$mean.js", "--name", "2x", "--description", "Takes a mean"],
        &["run", "mean"],
        &["run", "mean", "numbers=x"],
        &["run", "nobody"],
        &["show", "nobody"],
        &["list", "--cursor", "x"],
        &["list", "--min-safety", "7"],
        &["search", "mean", "--limit", "0"],
        &["deprecate", "mean", "--successor", "mean"],
        &["reflect", "Sort a table", "--history", "$history.json"],
    ];
    let words = [
        "create_tool",
        "run_dynamic_tool",
        "list_dynamic_tools",
        "delete_dynamic_tool",
        "tool_reflection",
        "replace: true",
        "cursor:",
        "`tool_id`",
        "`tool_name`",
        "`task_description`",
    ];
    for lang in ["en", "ja", "zh"] {
        cli.lang = lang;
        for command in failing {
            let done = cli.run(command);
            assert!(done.status != 0 && done.out.is_empty(), "{command:?} {}", done.out);
            assert!(!words.iter().any(|word| done.err.contains(word)), "{command:?} {}", done.err);
        }
    }
}

#[test]
fn labels_notes_and_hints_are_in_the_language_of_the_reader() {
    let mut cli = CliFixture::with_mean();
    for (lang, note, hint, receipt, runs, status, approval) in [
        (
            "ja",
            "補足: ツールが見つかりません\n",
            "\nヒント: --confirm を付けてください。削除はガベージコレクションまで取り消せます\n",
            "\nヒント: 別のファイルを指定してください。レシートは上書きされません\n",
            "\nまだ実行されていません\n",
            "検証状態",
            ["承認", "不要"],
        ),
        (
            "zh",
            "备注：未找到工具\n",
            "\n提示：请加上 --confirm；在垃圾回收之前可以撤销删除\n",
            "\n提示：请指定其他文件：回执不会被覆盖\n",
            "\n尚未运行\n",
            "验证状态",
            ["批准", "不需要"],
        ),
    ] {
        cli.lang = lang;
        let none = cli.run(&["list", "--name", "zzz"]);
        assert_eq!((none.status, &*none.err), (0, note));
        let unconfirmed = cli.run(&["delete", "mean"]);
        assert!(unconfirmed.err.ends_with(hint), "{}", unconfirmed.err);
        let taken = cli.run(&["run", "mean", "numbers=[1]", "--receipt", "$mean.js"]);
        assert!(taken.err.ends_with(receipt), "{}", taken.err);
        let shown = cli.run(&["show", "mean"]).out;
        assert!(shown.contains(runs), "{shown}");
        // Values start in the same column, whatever the width of their labels.
        let column = |label: &str, value: &str| {
            let line = shown.lines().find(|line| line.starts_with(label)).unwrap();
            line[..line.rfind(value).unwrap()].width()
        };
        assert_eq!(column(status, "unverified"), column(approval[0], approval[1]), "{shown}");
    }
}

#[test]
fn nothing_is_made_by_looking_for_it() {
    let cli = CliFixture::new();
    for words in
        [&["run", "x"][..], &["show", "x"], &["delete", "x", "--confirm"], &["undelete", "x"], &["rollback", "x", "1"]]
    {
        let done = cli.run(words);
        assert!(
            done.status == 4 && done.err.contains("is not a store: there is no such directory"),
            "{words:?}: {}",
            done.err
        );
    }
    assert_eq!(cli.run(&["list"]).status, 0);
    assert_eq!(fs::read_dir(cli.folder.path()).unwrap().count(), 0);
}
