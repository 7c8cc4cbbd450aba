//! The commands that search tools, report their costs, and retire useless ones.

use serde_json::{Value, json};

use crate::fixtures::cli::{CliFixture, assert_output, assert_refused};

/// Creates a CLI fixture with four tools, one of them a copy of another under its own name.
fn cli() -> CliFixture {
    let cli = CliFixture::new();
    cli.tool("csv_to_json", "Converts tables to objects", &["--tags", "data", "--cost", "1200"]);
    cli.tool("kana", "ひらがなをカタカナに変換する", &[]);
    cli.file("same.js", "const execute = ({ n }) => { if (n < 0) throw new Error('no'); return n }");
    for name in ["first", "copy"] {
        let words = ["create", "$same.js", "--name", name, "--description", "Gives a number back"];
        assert_eq!(cli.run(&words).status, 0);
    }
    cli
}

fn id(cli: &CliFixture, tool: &str) -> String {
    cli.run(&["show", tool, "--json"]).json()["id"].as_str().unwrap()[..15].to_owned()
}

fn names(answer: &Value) -> String {
    let tools = answer["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn search_finds_tools_by_what_they_are_about() {
    let mut cli = cli();
    let csv = id(&cli, "csv_to_json");
    let table = format!(
        "name\tid\tcovered\tstatus\tdescription\ncsv_to_json\t{csv}\t100%\tunverified\tConverts tables to objects\n"
    );
    assert_output(&cli.run(&["search", "tables"]), 0, &table, "");
    let answer = cli.run(&["search", "カタカナ", "tables", "--json"]).json();
    assert_eq!(names(&answer).split(' ').count(), 2);
    let first = &answer["tools"][0];
    assert!(first["score"].as_f64().unwrap() > 0.0 && first["covered"].as_f64().unwrap() < 1.0, "{first}");
    assert!(first["usageCount"] == 0 && first.get("successor").is_none(), "{first}");
    assert_eq!(names(&cli.run(&["search", "カタカナ tables", "--limit", "1", "--json"]).json()).split(' ').count(), 1);
    // An empty result is not an error.
    assert_output(&cli.run(&["search", "weather"]), 0, "", "note: no tools found\n");
    assert_eq!(cli.run(&["search", "weather", "--json"]).json(), json!({"tools": []}));
    assert_eq!(cli.run(&["search", "\"", "NEAR(", "*"]).status, 0);
    assert_refused(&cli.run(&["search", "csv", "--limit", "0", "--json"]), 2, "filter-invalid");
    assert_eq!(cli.run(&["search"]).status, 2);
    let none = CliFixture::new().run(&["search", "csv"]);
    assert!(none.status == 0 && none.err.ends_with(" yet; `toolcell create` creates one\n"), "{}", none.err);
    (cli.lang, cli.terminal) = ("ja", true);
    let shown = cli.run(&["search", "変換"]).out;
    assert!(shown.starts_with("名前  ") && shown.contains("100%"), "{shown}");
}

#[test]
fn the_ledger_has_a_line_for_each_tool_and_one_for_all() {
    let cli = cli();
    for (n, words) in [("1", &["--tokens-saved", "900"][..]), ("2", &[]), ("-1", &["--tokens-saved", "900"])] {
        let n_is = format!("n={n}");
        let words = [&["run", "first", &n_is], words].concat();
        assert_eq!(cli.run(&words).status, u8::from(n == "-1"));
    }
    let answer = cli.run(&["ledger", "--json"]).json();
    assert_eq!(names(&answer), "csv_to_json kana first copy");
    let [csv, kana, first] = [0, 1, 2].map(|at| answer["tools"][at].clone());
    assert_eq!((&csv["cost"], &csv["tokensSaved"], &csv["balance"]), (&json!(1200), &Value::Null, &json!(-1200)));
    assert_eq!((&kana["cost"], &kana["balance"], &kana["micros"]), (&Value::Null, &Value::Null, &json!(0)));
    assert_eq!((&first["usageCount"], &first["failureCount"], &first["balance"]), (&json!(3), &json!(1), &json!(900)));
    assert!(first["micros"].as_u64().unwrap() > 0 && first["lastUsedAt"].is_string());
    let total = &answer["total"];
    assert_eq!((&total["usageCount"], &total["tokensSaved"]), (&json!(3), &json!(900)));
    assert_eq!((&total["cost"], &total["balance"]), (&json!(1200), &json!(-300)));
    let out = cli.run(&["ledger"]).out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "name\tstatus\truns\tfailed\ttime\tsaved\tcost\tbalance\tused");
    assert_eq!(lines[1], "csv_to_json\tunverified\t0\t0\t0.000000s\t-\t1200\t-1200\t-");
    assert!(lines[3].starts_with("first\tunverified\t3\t1\t0.") && lines[3].contains("s\t900\t-\t+900\t20"), "{out}");
    assert!(lines[5].starts_with("(total)\t\t3\t1\t0.") && lines[5].ends_with("s\t900\t1200\t-300\t"), "{out}");
    let none = CliFixture::new().run(&["ledger", "--json"]).json();
    assert_eq!((&none["tools"], &none["total"]["usageCount"]), (&json!([]), &json!(0)));
}

#[test]
fn a_deprecated_tool_names_its_successor_wherever_it_is_seen() {
    let mut cli = cli();
    let (csv, kana) = (id(&cli, "csv_to_json"), id(&cli, "kana"));
    let done = format!("Deprecated the tool `kana` ({kana}) in favour of `csv_to_json`.\n");
    assert_output(&cli.run(&["deprecate", "kana", "--successor", "csv_to_json"]), 0, &done, "");
    let note = "note: the tool `kana` is deprecated; use `csv_to_json` instead\n";
    assert_output(&cli.run(&["run", "kana"]), 0, "kana\n", note);
    assert_eq!(cli.run(&["run", "kana", "--json"]).json()["deprecated"], json!({"successor": "csv_to_json"}));
    assert!(cli.run(&["run", "first", "n=1", "--json"]).json().get("deprecated").is_none());
    assert!(
        cli.run(&["run", "kana", "--text"])
            .out
            .ends_with("\n\nNote: the tool `kana` is deprecated; use `csv_to_json` instead\n")
    );
    let shown = cli.run(&["show", "kana"]).out;
    assert!(shown.contains("\nstatus    deprecated: use csv_to_json\n"), "{shown}");
    assert_eq!(cli.run(&["show", "kana", "--json"]).json()["successor"], "csv_to_json");
    let listed = cli.run(&["list", "--status", "deprecated"]).out;
    assert!(listed.contains(&format!("kana\t{kana}\tdeprecated: use csv_to_json\t")), "{listed}");
    assert_eq!(cli.run(&["list", "--status", "deprecated", "--json"]).json()["tools"][0]["successor"], "csv_to_json");
    assert_eq!(cli.run(&["search", "カタカナ", "--json"]).json()["tools"][0]["successor"], "csv_to_json");
    let answer = cli.run(&["deprecate", "first", "--successor", &csv, "--json"]).json();
    assert_eq!((&answer["before"], &answer["successor"]["name"]), (&json!("unverified"), &json!("csv_to_json")));

    for (words, code) in [
        (&["nobody"][..], "tool-not-found"),
        (&["copy", "--successor", "nobody"], "tool-not-found"),
        (&["copy", "--successor", "copy"], "successor-invalid"),
        (&["copy", "--successor", "kana"], "successor-invalid"),
        (&["csv_to_json", "--successor", "kana"], "successor-invalid"),
    ] {
        assert_refused(&cli.run(&[&["deprecate", "--json"], words].concat()), 4, code);
    }
    let error = "error: `copy` cannot be its own successor\nhint: name another active tool, or none; `toolcell \
        list` shows all tools\n";
    assert_output(&cli.run(&["deprecate", "copy", "--successor", "copy"]), 4, "", error);
    let last = cli.run(&["audit", "--limit", "1"]).out;
    assert!(last.contains("  status  copy ") && last.contains("failed: successor-invalid"), "{last}");
    cli.lang = "ja";
    let done = format!("ツール「kana」({kana})を非推奨にしました。\n");
    assert_output(&cli.run(&["deprecate", "kana"]), 0, &done, "");
    assert_output(&cli.run(&["run", "kana"]), 0, "kana\n", "補足: ツール「kana」は非推奨です\n");
}

#[test]
fn retire_proposes_and_waits_for_a_word() {
    let mut cli = cli();
    for _ in 0..5 {
        assert_eq!(cli.run(&["run", "copy", "n=-1"]).status, 1);
    }
    assert_eq!(cli.run(&["run", "first", "n=1"]).status, 0);
    assert_eq!(cli.run(&["deprecate", "kana", "--successor", "csv_to_json"]).status, 0);
    let [copy, kana] = ["copy", "kana"].map(|tool| id(&cli, tool));
    let expected = format!(
        "name\tid\tstatus\tsuccessor\twhy\n\
         copy\t{copy}\tunverified\tfirst\t5 of 5 runs failed; it duplicates `first`\n\
         kana\t{kana}\tdeprecated\tcsv_to_json\t`csv_to_json` superseded it\n"
    );
    let hint = "hint: `toolcell retire --confirm` marks them as deprecated; they still run\n";
    assert_output(&cli.run(&["retire", "--dry-run"]), 0, &expected, hint);
    let answer = cli.run(&["retire", "--dry-run", "--json"]).json();
    let reasons = &answer["tools"][0]["reasons"];
    assert_eq!((&answer["dryRun"], names(&answer).as_str()), (&json!(true), "copy kana"));
    assert_eq!((&reasons[0]["reason"], &reasons[0]["failures"]), (&json!("failing"), &json!(5)));
    assert_eq!((&reasons[1]["reason"], &reasons[1]["of"]), (&json!("duplicate"), &json!("first")));
    assert_eq!(answer["tools"][0]["successor"]["name"], "first");

    let unconfirmed = "error: 1 tools were not retired\nhint: review them with --dry-run, then pass --confirm\n";
    assert_output(&cli.run(&["retire"]), 2, "", unconfirmed);
    assert_refused(&cli.run(&["retire", "--json"]), 2, "confirm-required");
    assert_eq!(cli.run(&["retire", "--dry-run", "--confirm"]).status, 2);
    assert_eq!(cli.run(&["retire", "--unused", "yesterday"]).status, 2);
    let done = cli.run(&["retire", "--confirm"]);
    let gone = "hint: `kana` is superseded: delete it with `toolcell delete kana`\n";
    assert_output(&done, 0, &format!("Deprecated the tool `copy` ({copy}) in favour of `first`.\n"), gone);
    assert_eq!(cli.run(&["list", "--status", "deprecated", "--sort", "name", "--json"]).json()["total"], 2);
    assert_eq!(cli.run(&["run", "copy", "n=1"]).err, "note: the tool `copy` is deprecated; use `first` instead\n");

    // Nothing is left to confirm.
    for tool in ["kana", "copy"] {
        assert_eq!(cli.run(&["delete", tool, "--confirm"]).status, 0);
    }
    assert_output(&cli.run(&["retire"]), 0, "", "note: nothing to retire\n");
    let json = json!({"dryRun": false, "tools": []});
    assert_eq!(cli.run(&["retire", "--json"]).json(), json);
    cli.lang = "ja";
    let unused = cli.run(&["retire", "--dry-run", "--unused", "0s"]);
    assert!(unused.out.contains("から使用されていない"), "{}", unused.out);
}

#[test]
fn what_nobody_used_for_a_while_is_listed() {
    let cli = cli();
    assert_eq!(cli.run(&["run", "kana"]).status, 0);
    let unused = |age: &str| names(&cli.run(&["list", "--unused", age, "--sort", "name", "--json"]).json());
    for age in ["30d", "12h", "2w"] {
        assert_eq!(unused(age), "", "{age}");
    }
    assert_eq!(unused("0s"), "copy csv_to_json first kana");
    assert_eq!(cli.run(&["list", "--unused", "-1d"]).status, 2);
    assert_refused(&cli.run(&["list", "--unused", "400000d", "--json"]), 2, "filter-invalid");
}
