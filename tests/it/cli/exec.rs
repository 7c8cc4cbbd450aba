//! `exec` and `batch`, called through the library that the binary is built from.

use serde_json::{Value, json};
use toolcell::CancelToken;

use crate::fixtures::cli::{assert_refused, exec, toolcell, toolcell_with};
use crate::fixtures::sandbox::root;

fn fixture(name: &str) -> String {
    root().join("fixtures/tools").join(name).to_string_lossy().into_owned()
}

fn batch(lines: &[u8]) -> Vec<Value> {
    let done = toolcell_with(&["batch"], lines, &CancelToken::new());
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.err);
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn exec_runs_the_tools_of_the_documents() {
    let done = toolcell(&["exec", &fixture("string_reverse.js"), r#"{"text": "Hello World"}"#]);
    assert_eq!((done.status, &*done.out, &*done.err), (0, "dlroW olleH\n", ""));
    let done = toolcell(&["exec", &fixture("calculate_average.js"), r#"{"numbers": [1.5, 2.5, 5]}"#]);
    assert_eq!((done.status, &*done.out), (0, "3\n"));
    let done = toolcell(&["exec", &fixture("fetch_json.js"), r#"{"url": "https://api.example.com/data"}"#]);
    assert_eq!((done.status, &*done.out), (1, ""));
    assert!(done.err.contains("it needs the grant `timers`, which this call does not have"), "{}", done.err);
}

#[test]
fn parameters_of_a_source_are_given_as_pairs_too() {
    let echo = "const execute = (parameters) => JSON.stringify(parameters)";
    let check = |words: &[&str], expect: &str| {
        let done = exec(echo, words);
        assert_eq!((done.status, &*done.out, &*done.err), (0, &*format!("{expect}\n"), ""));
    };
    // A value is JSON if it can be, else text.
    check(&["text=a b=c", "times=3", "on:=true"], r#"{"text":"a b=c","times":3,"on":true}"#);
    check(&[r#"{"a": 1, "b": 2}"#, "b=3"], r#"{"a":1,"b":3}"#);
    check(&[], "{}");
    for words in [&["a:=[1", "--json"][..], &["a=1", "a=2", "--json"], &["=1", "--json"], &["{}", "{}", "--json"]] {
        assert_refused(&exec(echo, words), 2, "usage");
    }
}

#[test]
fn a_usage_error_is_json_where_json_is_asked_for() {
    let check = |words: &[&str], message: &str, hint: &str| {
        let done = toolcell(words);
        assert_refused(&done, 2, "usage");
        let error = &done.json()["error"];
        assert_eq!((&error["message"], &error["hint"]), (&json!(message), &json!(hint)), "{words:?}");
        assert_eq!(done.err, "");
    };
    let help = "for more information, try `--help`";
    check(&["run", "--json"], "the following required arguments were not provided: <TOOL>", help);
    check(&["nosuch", "--json"], "unrecognized subcommand 'nosuch'", help);
    let similar = format!("a similar argument exists: '--seed', {help}");
    check(&["--json", "run", "x", "--sed", "1"], "unexpected argument '--sed' found", &similar);
    // After `--`, words are parameters.
    let done = toolcell(&["nosuch", "--", "--json"]);
    assert!(done.status == 2 && done.out.is_empty() && done.err.starts_with("error: "), "{}", done.err);
    assert_eq!(toolcell(&["--json", "--version"]).status, 0);
}

#[test]
fn exec_prints_text_for_people_and_one_object_for_programs() {
    let done = exec("const execute = () => ({ a: [1, -0], b: 'x' })", &[]);
    assert_eq!(done.out, "{\n  \"a\": [\n    1,\n    -0\n  ],\n  \"b\": \"x\"\n}\n");
    assert_eq!(exec("const execute = () => undefined", &[]).out, "");
    let done = exec("const execute = () => { console.warn('w'); return NaN }", &[]);
    assert_eq!((&*done.out, &*done.err), ("null\n", "w\nwarning: /: NaN became null\n"));

    let done =
        exec("const execute = ({ a }) => { console.log(1); return [a] }", &["{\"a\": 1e400}", "--json", "--seed", "3"]);
    let answer = done.json();
    assert_eq!(answer["outcome"], "returned");
    assert_eq!(answer["valueJson"], "[null]");
    assert_eq!(answer["logs"], json!([{ "level": "log", "text": "1" }]));
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2);
    for number in ["fuel", "loadFuel", "memoryBytes", "durationMs"] {
        assert!(answer[number].as_f64().unwrap() > 0.0, "{number}");
    }
}

#[test]
fn exit_status_and_message_say_what_went_wrong() {
    for (source, words, status, expected) in [
        ("const execute = () => 1", &[][..], 0, ""),
        (
            "function execute() { null.x }",
            &[],
            1,
            "error: the tool failed: TypeError: cannot read property 'x' of null\n    at execute (stdin:1:27)\n",
        ),
        ("function execute( {", &[], 3, "error: syntax error: stdin: unexpected token"),
        ("const execute = () => new Promise(() => {})", &[], 1, "error: a promise never settles"),
        (
            "const execute = () => { for (;;); }",
            &["--fuel", "1000"],
            5,
            "error: out of fuel: the tool burned all of its 1000 units of fuel\nhint: raise it with --fuel",
        ),
        (
            "const execute = () => { for (;;); }",
            &["--timeout-ms", "20"],
            5,
            "error: execution timed out: the tool ran longer than 20 ms\nhint:",
        ),
        (
            "const execute = () => 'x'.repeat(99)",
            &["--output-bytes", "50"],
            5,
            "error: the output is too large: the result is longer than 50 bytes\nhint:",
        ),
        (
            "const execute = () => 1",
            &["--fuel", "0"],
            2,
            "error: fuel is 0, it must be 1 to 1000000000000000\nhint: choose a limit in that range",
        ),
        ("const execute = () => 1", &["--memory-mb", "99999"], 2, "error: memory_mb is 99999, it must be 8 to 1024"),
        (
            "const execute = () => 1",
            &["not json"],
            2,
            "error: `not json` is neither KEY=VALUE nor a JSON object\nhint: pass one JSON object",
        ),
        ("const execute = () => 1", &["[1]"], 2, "error: invalid parameters: expected an object"),
        (
            "const execute = () => 1",
            &["{\"a\": }"],
            2,
            "error: invalid parameters: expected a value at line 1, column 7",
        ),
        ("const execute = () => 1", &["@/no/such/file"], 4, "error: /no/such/file: no such file"),
        (
            "const execute = () => 1",
            &["-"],
            2,
            "error: the tool and its parameters cannot both come from standard input",
        ),
        ("", &[], 2, "error: the source is empty\nhint: write a tool"),
    ] {
        let done = exec(source, words);
        assert_eq!(done.status, status, "{source} {words:?}: {}", done.err);
        assert!(done.err.starts_with(expected), "{source} {words:?}: {}", done.err);
        let answer = exec(source, &[words, &["--json"]].concat()).json();
        assert_eq!(answer["outcome"] == "returned", status == 0, "{answer}");
    }
}

#[test]
fn input_that_is_no_source_is_refused() {
    assert!(exec(b"\x7fELF\x02\0\0\0", &[]).err.contains("binary file"));
    assert!(exec(b"const execute = () => '\xff'", &[]).err.contains("not UTF-8: line 1"));
    let large = exec(vec![b' '; 10 << 20], &[]);
    assert_eq!(large.status, 2);
    assert!(large.err.contains("the source is longer than 65536 bytes"), "{}", large.err);
    let missing = toolcell(&["exec", "no-such-file.js"]);
    assert_eq!(
        (missing.status, &*missing.err),
        (4, "error: no-such-file.js: no such file\nhint: use a readable file, or `-` for standard input\n")
    );
    assert_eq!(toolcell(&["exec", "/"]).status, 2);
    assert_eq!(toolcell(&["exec"]).status, 2);
    assert_eq!(toolcell(&["nonsense"]).status, 2);
    assert_eq!(toolcell(&["--help"]).status, 0);
}

#[test]
fn messages_come_in_japanese_and_chinese() {
    let endless = |lang| exec("const execute = () => { for (;;); }", &["--fuel", "1000", "--lang", lang]).err;
    let (ja, zh) = (endless("ja"), endless("zh"));
    assert!(ja.starts_with("エラー: 実行量の上限に達しました: "), "{ja}");
    assert!(zh.starts_with("错误：执行燃料已耗尽：") && zh.contains("\n提示："), "{zh}");
}

#[test]
fn a_tool_cannot_drive_the_terminal() {
    let done = exec("const execute = () => { console.log('\\x1b[2J\\u202e'); throw new Error('\\x1b]0;x\\x07') }", &[]);
    assert!(
        !done.err.contains('\u{1b}') && !done.err.contains('\u{7}') && !done.err.contains('\u{202e}'),
        "{:?}",
        done.err
    );
}

#[test]
fn an_interrupted_run_ends_with_130() {
    let cancel = CancelToken::new();
    cancel.cancel();
    let done = toolcell_with(&["exec", "-"], b"const execute = () => { for (;;); }", &cancel);
    assert_eq!(done.status, 130);
    assert!(done.err.starts_with("error: execution was cancelled"), "{}", done.err);
}

#[test]
fn batch_answers_every_line_and_goes_on() {
    let mut lines = Vec::new();
    for line in [
        r#"{"id": 1, "op": "run", "source": "const execute = ({ a }) => a * 2", "params": {"a": 21}}"#,
        r#"{"id": "two", "op": "run", "source": "const execute = (p) => p", "params_json": "{\"n\": 1e400, \"m\": 9007199254740993}"}"#,
        r"not json",
        r#"{"id": 4, "op": "run"}"#,
        r#"{"id": 5, "op": "fly"}"#,
        r#"{"id": 6, "op": "run", "source": "const execute = () => 1", "limits": {"fule": 1}}"#,
        r#"{"id": 7, "op": "run", "source": "const execute = () => { for (;;); }", "limits": {"fuel": 100000}}"#,
        r#"{"id": 8, "op": "run", "source": "function execute() { throw new RangeError('x') }", "lang": "js", "seed": 3, "analysis": "off"}"#,
        r#"{"id": 9, "op": "run", "source": "const execute = () => 1", "params": [1]}"#,
        r#"{"id": {"deep": [10]}, "op": "run", "source": "const execute = () => 1", "limits": {"fuel": 0}}"#,
        r#"{"op": "run", "source": "const execute = () => 1"}"#,
        r#"{"id": 12, "op": "run", "source": ""}"#,
        r#"{"id": 13, "op": "run", "source": "const execute = () => '\\u65e5'"}"#,
        r#"{"id": 14, "op": "analyze", "source": "1"}"#,
        "",
        "[]",
        "null",
        r#"{"id": 17, "op": "run", "source": "const execute = () => 1", "params": {}, "params_json": "{}"}"#,
    ] {
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    lines.extend_from_slice(b"\xff\xfe\n");
    lines.extend_from_slice(br#"{"id": "last", "op": "run", "source": "const execute = () => 'end'"}"#);
    let answers = batch(&lines);
    let summaries: Vec<String> = answers
        .iter()
        .map(|answer| {
            let what = answer.get("stop").or_else(|| answer.get("valueJson"));
            let what = what.or_else(|| answer["error"].get("code")).and_then(Value::as_str).unwrap_or("-");
            format!("{} {} {what}", answer["id"], answer["outcome"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        summaries,
        [
            "1 returned 42",
            r#""two" returned {"n":null,"m":9007199254740992}"#,
            "null refused request-invalid",
            "4 refused request-invalid",
            "5 refused request-invalid",
            "6 refused request-invalid",
            "7 stopped out-of-fuel",
            "8 threw tool-failed",
            "9 refused parameters-invalid",
            r#"{"deep":[10]} refused limit-invalid"#,
            "null returned 1",
            "12 refused source-invalid",
            r#"13 returned "日""#,
            "14 analyzed -",
            "null refused request-invalid",
            "null refused request-invalid",
            "17 refused request-invalid",
            "null refused request-invalid",
            r#""last" returned "end""#,
        ]
    );
}

#[test]
fn batch_repeats_a_run_to_the_unit() {
    let line = br#"{"id": 1, "op": "run", "source": "const execute = () => [Math.random(), 3]", "seed": 9}
"#;
    let answers = batch(&line.repeat(3));
    let facts: Vec<(&Value, &Value, &Value)> =
        answers.iter().map(|answer| (&answer["valueJson"], &answer["fuel"], &answer["loadFuel"])).collect();
    assert_eq!(facts[0], facts[1]);
    assert_eq!(facts[0], facts[2]);
}

#[test]
fn doctor_proves_that_it_works() {
    let findings = toolcell(&["doctor", "--json"]).json();
    assert_eq!(findings["works"], true);
    assert_eq!(findings["guest"], toolcell::GUEST_DIGEST);
    for image in ["roomy", "bounded", "interpreted"] {
        let done = toolcell(&["doctor", "--image", image]);
        assert_eq!(done.status, 0);
        assert!(done.out.contains(&format!("image          {image}")) && done.out.ends_with("works\n"), "{}", done.out);
    }
}

#[test]
fn a_draft_gets_what_the_user_grants_it() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let waits = file("waits.ts", "export const execute = async () => { await sleep(1); return 'waited' }");
    let missing = toolcell(&["exec", &waits]);
    assert_eq!(missing.status, 1, "{}", missing.err);
    assert!(missing.err.contains("`grants.drafts` in the policy would grant `timers`"), "{}", missing.err);
    assert!(missing.err.contains("hint: grant it with `--grant timers`"), "{}", missing.err);
    assert_eq!(toolcell(&["exec", &waits, "--grant", "timers"]).out, "waited\n");
    let policy = file("policy.toml", "[grants.drafts]\ntimers = true\n");
    assert_eq!(toolcell(&["exec", &waits, "--config", &policy]).out, "waited\n");
    // A grant of a capability leaves those of the policy as they are.
    assert_eq!(toolcell(&["exec", &waits, "--config", &policy, "--grant", "clock"]).out, "waited\n");
    let reads = file("reads.ts", "export const execute = async () => (await files.readText('in/waits.ts')).length");
    let folder = format!("files=in:{}", home.path().display());
    assert_eq!(toolcell(&["exec", &reads, "--grant", &folder]).out, "70\n");
    let writes = file("writes.ts", "export const execute = () => files.write('in/new', 'x')");
    let refused = toolcell(&["exec", &writes, "--grant", &folder]);
    assert_eq!((refused.status, home.path().join("new").exists()), (1, false), "{}", refused.err);
    let done = toolcell(&["exec", &writes, "--grant", &format!("{folder}:write")]);
    assert_eq!((done.status, home.path().join("new").exists()), (0, true), "{}", done.err);
    for (grant, says) in [
        ("network", "the capabilities are net, timers"),
        ("net", "name the host: `net=api.example.com`"),
        ("timers=yes", "write only `timers`"),
        ("files=in", "write `files=NAME:PATH`"),
    ] {
        let wrong = toolcell(&["exec", &waits, "--grant", grant]);
        assert_eq!(wrong.status, 2, "{}", wrong.err);
        assert!(wrong.err.contains(says), "{}", wrong.err);
    }
    let twice = toolcell(&["exec", &reads, "--grant", &folder, "--grant", "files=in:/tmp"]);
    assert!(twice.err.contains("two folders have it"), "{}", twice.err);
}
