//! The commands about receipts: files, output, and exit statuses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use toolcell::CancelToken;

use crate::fixtures::cli::{CliFixture, CommandOutput, assert_output, assert_refused};

const POLICY: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\nclock = true\nrandom = true\n";
const DICE: &str = "const execute = async ({ sides }) => { await new Promise((done) => setTimeout(done, 2)); \
    return [Date.now() > 1e12, Math.floor(Math.random() * sides)] }\n";

/// Creates a CLI fixture with a tool that uses random numbers, and a policy that grants them.
fn cli() -> CliFixture {
    let cli = CliFixture::new();
    cli.file("policy.toml", POLICY);
    cli.file("dice.js", DICE);
    let asked = ["--capabilities", "timers,clock,random"];
    let done = on(&cli, &[&["create", "$dice.js", "--description", "Rolls dice"], &asked[..]].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    cli
}

/// Runs a command under the policy of the fixture.
fn on(cli: &CliFixture, words: &[&str]) -> CommandOutput {
    cli.run(&[&["--no-project", "--config", "$policy.toml"], words].concat())
}

/// Writes a receipt, and returns its text and the output of the command.
fn written(cli: &CliFixture, name: &str) -> (String, CommandOutput) {
    let done = on(cli, &["run", "dice", "sides=1000", "--receipt", &format!("${name}")]);
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
    (fs::read_to_string(cli.folder.path().join(name)).unwrap(), done)
}

/// Returns the files of the fixture's folder, except for the store.
fn files(cli: &CliFixture) -> Vec<String> {
    let names = fs::read_dir(cli.folder.path()).unwrap();
    let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "store");
    names.sort();
    names
}

#[test]
fn a_run_writes_a_receipt_that_replays_to_the_same() {
    let cli = cli();
    let (text, _) = written(&cli, "dice.receipt");
    assert_eq!(files(&cli), ["dice.js", "dice.receipt", "policy.toml"]);
    let mode = fs::metadata(cli.folder.path().join("dice.receipt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let output: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (fuel, key) = (&output["run"]["result"]["fuel"], output["signature"]["key"].as_str().unwrap());
    let reproduced = format!("reproduced: output and fuel ({fuel} units), signed by {}\n", &key[..16]);
    assert_output(&on(&cli, &["replay", "$dice.receipt"]), 0, &reproduced, "");
    assert_output(&on(&cli, &["replay", "$dice.receipt", "--image", "interpreted"]), 0, &reproduced, "");

    // Another store has another key, or none.
    let note = format!("note: signed by {}, which is not this store's key\n", &key[..16]);
    let elsewhere = CliFixture::new();
    let from_input = elsewhere.run_with(&["replay", "-"], text.as_bytes(), &CancelToken::new());
    assert_output(&from_input, 0, &reproduced, &note);
    assert_eq!(files(&elsewhere), [""; 0]);
    let answer = elsewhere.run_with(&["replay", "-", "--json"], text.as_bytes(), &CancelToken::new()).json();
    assert_eq!(answer["valueJson"], output["run"]["result"]["outcome"]["returned"]);
    assert_eq!((&answer["reproduced"], &answer["differences"]), (&json!(true), &json!([])));
    assert_eq!((&answer["fuel"], &answer["signedBy"]), (fuel, &json!(key)));
}

#[test]
fn what_is_said_is_said_in_all_languages() {
    let mut cli = cli();
    written(&cli, "dice.receipt");
    for (lang, begins) in [("en", "reproduced: "), ("ja", "再現しました: "), ("zh", "已重现：")] {
        cli.lang = lang;
        let done = on(&cli, &["replay", "$dice.receipt"]);
        assert!(done.status == 0 && done.out.starts_with(begins), "{}", done.out);
    }
}

#[test]
fn no_receipt_takes_the_place_of_a_file() {
    let cli = cli();
    cli.file("taken", "mine");
    let done = on(&cli, &["--json", "run", "dice", "sides=2", "--receipt", "$taken"]);
    assert_refused(&done, 4, "file-exists");
    assert_eq!(fs::read_to_string(cli.folder.path().join("taken")).unwrap(), "mine");
    let nowhere = on(&cli, &["--json", "run", "dice", "sides=2", "--receipt", "$none/receipt"]);
    assert_refused(&nowhere, 4, "file-not-found");
    let output = nowhere.out.clone() + &nowhere.err;
    assert!(output.contains("the folder does not exist"), "{output}");
    // The tool did not run, and no file was created.
    assert!(!on(&cli, &["audit", "--action", "run_dynamic_tool"]).out.contains("dice"));
    assert_refused(&on(&cli, &["--json", "run", "nobody", "--receipt", "$receipt"]), 4, "tool-not-found");
    assert_eq!(files(&cli), ["dice.js", "policy.toml", "taken"]);
    assert_eq!(on(&cli, &["run", "dice", "--receipt", "$receipt", "--explain"]).status, 2);
}

#[test]
fn a_receipt_that_was_changed_is_refused_with_the_place() {
    let cli = cli();
    let (text, _) = written(&cli, "dice.receipt");
    cli.file(
        "changed",
        &text.replace("sides\\\":1000", "sides\\\":1001").replace("sides\\\": 1000", "sides\\\": 1001"),
    );
    let done = on(&cli, &["replay", "$changed"]);
    let says = "error: the receipt was changed after it was signed: the parameters\n\
                hint: do not trust it, and request it again from the party that ran the tool\n";
    assert_output(&done, 6, "", says);
    assert_refused(&on(&cli, &["--json", "replay", "$changed"]), 6, "receipt-changed");

    cli.file("short", &text[..text.len() / 2]);
    assert_refused(&on(&cli, &["--json", "replay", "$short"]), 2, "receipt-invalid");
    assert_refused(&on(&cli, &["--json", "replay", "$none"]), 4, "file-not-found");
}

#[test]
fn a_run_that_its_time_ended_is_not_said_to_be_reproduced() {
    let cli = cli();
    cli.file("waits.js", "const execute = () => new Promise((done) => setTimeout(done, 100_000))\n");
    let words = ["create", "$waits.js", "--description", "Waits", "--capabilities", "timers"];
    assert_eq!(on(&cli, &words).status, 0);
    assert_eq!(on(&cli, &["run", "waits", "--timeout-ms", "20", "--receipt", "$waits.receipt"]).status, 5);
    let done = on(&cli, &["replay", "$waits.receipt"]);
    assert_eq!((done.status, &*done.out), (3, ""));
    assert!(done.err.contains("the run ended with `timeout`, which depends on timing"), "{}", done.err);
}
