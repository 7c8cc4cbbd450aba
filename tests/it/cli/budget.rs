//! Fuel budgets: enforced to the unit, measured again, and learned from runs.

use std::fs;

use serde_json::json;
use toolcell_testing::model;

use crate::cli::testing::{TESTS, cli, on, without_folder};
use crate::fixtures::cli::{CliFixture, toolcell, toolcell_with_input};
use crate::fixtures::sandbox::{files, root};

/// Returns the fuel that the first test case of a file takes.
fn fuel(cli: &CliFixture) -> u64 {
    on(cli, &["--json", "test", ".", "--no-budgets"]).json()["tests"][0]["fuel"].as_u64().unwrap()
}

#[test]
fn a_budget_is_held_to_the_unit() {
    let cli = cli(TESTS);
    let takes = fuel(&cli);
    let budget = |limit: u64| {
        let text = TESTS.replace("returns = 3", &format!("returns = 3\nfuel = {limit}"));
        cli.file("mean.test.toml", &format!("[budget]\nmodel = \"{}\"\n\n{text}", model()));
        on(&cli, &["test", "."])
    };
    assert_eq!(budget(takes).status, 0);
    let done = budget(takes - 1);
    let says = format!("  it took {takes} units of fuel, the budget is {}: 0.0 % over it\n", takes - 1);
    assert!(done.status == 1 && done.out.contains(&says), "{}", done.out);
    assert_eq!(on(&cli, &["test", ".", "--no-budgets"]).status, 0);

    let loads = on(&cli, &["--json", "test", ".", "--no-budgets"]).json()["tests"][0]["loadFuel"].as_u64().unwrap();
    let loading = |limit: u64| {
        cli.file("mean.test.toml", &format!("[budget]\nmodel = \"{}\"\nload_fuel = {limit}\n\n{TESTS}", model()));
        on(&cli, &["test", "."])
    };
    assert_eq!(loading(loads).status, 0);
    let done = loading(loads - 1);
    let says = format!("  loading the tool took {loads} units of fuel, the budget is {}: ", loads - 1);
    assert!(done.status == 1 && done.out.contains(&says), "{}", done.out);
    assert_eq!(done.out.matches("FAILED").count(), 1, "{}", done.out);
}

#[test]
fn a_budget_of_another_model_is_refused_and_measured_anew() {
    let cli = cli(TESTS);
    let takes = fuel(&cli);
    let text = TESTS.replace("returns = 3", "returns = 3\nfuel = 1200\nmeasured = 1000");
    cli.file("mean.test.toml", &format!("[budget]\nmodel = \"0123456789abcdef wasmtime-48.0.0\"\n\n{text}"));
    let done = on(&cli, &["test", "."]);
    assert_eq!(done.status, 2);
    let err = without_folder(&cli, &done.err);
    let says = format!(
        "error: mean.test.toml:2:9: the budgets were measured with the model `0123456789abcdef wasmtime-48.0.0`, this build uses `{}`\nhint: measure it again: toolcell budget rebase mean.test.toml\n",
        model()
    );
    assert_eq!(err, says);
    assert_eq!(on(&cli, &["--json", "test", "."]).json()["problems"][0]["code"], "budget-model-mismatch");
    let before = fs::read_to_string(cli.folder.path().join("mean.test.toml")).unwrap();
    assert_eq!(on(&cli, &["budget", "rebase", ".", "--dry-run"]).status, 0);
    assert_eq!(fs::read_to_string(cli.folder.path().join("mean.test.toml")).unwrap(), before);
    let done = on(&cli, &["budget", "rebase", "."]);
    assert!(
        done.status == 0 && done.out.ends_with(&format!("{}: rewritten 1 / 1\n", model())),
        "{}{}",
        done.out,
        done.err
    );
    let after = fs::read_to_string(cli.folder.path().join("mean.test.toml")).unwrap();
    assert!(after.contains(&format!("fuel = {}\nmeasured = {takes}\n", (takes * 12).div_ceil(10))), "{after}");
    assert_eq!(on(&cli, &["test", ".", "--max-regression", "0%"]).status, 0);

    cli.file("mean.test.toml", &before.replace("returns = 3", "returns = 4"));
    let done = on(&cli, &["budget", "rebase", "."]);
    assert!(done.status == 1 && done.out.contains("it returns 3, expected 4"), "{}", done.out);
    assert!(done.out.ends_with("rewritten 0 / 1\n"), "{}", done.out);
}

#[test]
fn a_regression_by_a_tenth_in_a_fixture_fails_its_tests() {
    let cli = CliFixture::new();
    let fixture =
        |ending: &str| fs::read_to_string(root().join(format!("fixtures/tools/group_anagrams.{ending}"))).unwrap();
    let source = fixture("js");
    cli.file("group_anagrams.js", &source);
    cli.file("group_anagrams.test.toml", &fixture("test.toml"));
    assert_eq!(on(&cli, &["test", ".", "--max-regression", "5%"]).status, 0);
    let before = fuel(&cli);

    // The number of loop iterations that cost a tenth of the tool's fuel.
    let planted = |turns: u64| {
        let work =
            format!("\nfunction planted() {{ let n = 0; for (let i = 0; i < {turns}; i++) n += i; return n; }}\n");
        assert_eq!(source.matches("function execute(").count(), 1);
        let (head, body) = source.split_once("function execute(").unwrap();
        let (signature, rest) = body.split_once(") {\n").unwrap();
        cli.file("group_anagrams.js", &format!("{head}function execute({signature}) {{ planted();\n{rest}{work}"));
        fuel(&cli)
    };
    let (none, some) = (planted(0), planted(1_000));
    let turns = (before + before / 10).saturating_sub(none) * 1_000 / (some - none);
    let regressed = planted(turns + 1);
    let percent = (regressed - before) * 100 / before;
    assert!((10..13).contains(&percent), "{before} {regressed}");
    let done = on(&cli, &["test", ".", "--max-regression", "5%"]);
    let says = format!("  it took {regressed} units of fuel, 1");
    assert!(done.status == 1 && done.out.contains(&says), "{}", done.out);
    assert!(done.out.contains("the limit is 5 %"), "{}", done.out);
    let answer = on(&cli, &["--json", "test", ".", "--max-regression", "20%"]).json();
    let codes = |code: &str| answer["tests"][0]["failures"].to_string().contains(code);
    assert!(!codes("\"fuel-regressed\""), "{answer}");
}

#[test]
fn the_good_tools_keep_to_their_budgets() {
    let folder = root().join("fixtures/tools");
    let words = [folder.to_str().unwrap(), "--max-regression", "5%"];
    let done = toolcell(&[&["test"], &words[..]].concat());
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
    for tool in files("fixtures/tools", "js") {
        let text = fs::read_to_string(tool.with_extension("test.toml")).unwrap_or_default();
        let (cases, budgets) = (text.matches("[[case]]").count(), text.matches("\nmeasured = ").count());
        assert!(cases > 0 && cases == budgets, "{}: {cases} tests, {budgets} budgets", tool.display());
    }
}

#[test]
fn limits_are_learned_from_runs_on_standard_input() {
    let runs: String = (0..30)
        .map(|n| json!({ "outcome": "returned", "fuel": 9_000 + n, "memoryBytes": 4_000_000, "durationMs": 1.5 }))
        .map(|run| run.to_string() + "\n")
        .collect();
    let done = toolcell_with_input(&["--json", "budget", "learn", "--runs", "-"], runs.as_bytes());
    assert_eq!((done.status, &done.json()["learned"]["runs"]), (0, &json!(30)), "{}", done.err);
}

#[test]
fn limits_are_learned_from_the_runs_of_a_tool() {
    let cli = CliFixture::with_mean();
    let few = on(&cli, &["budget", "learn", "mean"]);
    assert_eq!(few.status, 2);
    assert!(few.err.contains("there are 0 usable runs, a limit needs at least 30"), "{}", few.err);
    for number in 0..30 {
        assert_eq!(on(&cli, &["run", "mean", &format!("numbers=[{number}, 2]"), "--approval", "auto"]).status, 0);
    }
    let done = on(&cli, &["--json", "budget", "learn", "mean"]);
    let learned = &done.json()["learned"];
    let (limit, largest) = (learned["fuel"]["limit"].as_u64().unwrap(), learned["fuel"]["largest"].as_u64().unwrap());
    assert_eq!((&learned["runs"], &learned["fuel"]["method"]), (&json!(30), &json!("log-normal")));
    assert!(limit > largest && limit < 2 * largest && learned["fuel"]["stopsDoubling"] == true, "{learned}");
    let text = on(&cli, &["budget", "learn", "mean"]).out;
    assert!(text.contains(&format!("fuel = {limit}  # median ")), "{text}");
    assert_eq!(on(&cli, &["budget", "learn", "nobody"]).status, 4);

    let run = "{\"outcome\": \"returned\", \"fuel\": 1000, \"memoryBytes\": 6291456, \"durationMs\": 1.5}\n";
    cli.file("runs.jsonl", &(run.repeat(30) + "{\"outcome\": \"stopped\", \"fuel\": 9}\n"));
    let done = on(&cli, &["--json", "budget", "learn", "--runs", "$runs.jsonl"]);
    assert_eq!((&done.json()["learned"]["fuel"]["limit"], &done.json()["passedOver"]), (&json!(1100), &json!(1)));
    cli.file("runs.jsonl", "nothing\n");
    let done = on(&cli, &["budget", "learn", "--runs", "$runs.jsonl"]);
    assert!(done.status == 2 && done.err.contains("runs.jsonl:1: not a run: "), "{}", done.err);
}
