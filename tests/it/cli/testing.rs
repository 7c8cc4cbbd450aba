//! The commands that test tools.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::json;
use toolcell::CancelToken;
use toolcell_cli::Streams;
use toolcell_testing::model;

use crate::fixtures::cli::{CliFixture, CommandOutput, assert_refused, toolcell};
use crate::fixtures::sandbox::root;

const MEAN: &str = "export const execute = ({ numbers }: { numbers: number[] }) => numbers.reduce((a, b) => a + b, 0) / numbers.length;\n";
pub(crate) const TESTS: &str = "[[case]]\nname = \"a mean\"\nparams = { numbers = [1, 2, 6] }\nreturns = 3\n\n\
    [[case]]\nname = \"of one\"\nparams = { numbers = [4] }\nwhere = { \"$\" = { at_least = 4 } }\n";

/// Creates a folder with a tool and its tests.
pub(crate) fn cli(tests: &str) -> CliFixture {
    let cli = CliFixture::new();
    cli.file("mean.ts", MEAN);
    cli.file("mean.test.toml", tests);
    cli
}

/// Runs a command; `.` stands for the folder of the fixture.
pub(crate) fn on(cli: &CliFixture, words: &[&str]) -> CommandOutput {
    let words: Vec<&str> = words.iter().map(|word| if *word == "." { "$" } else { *word }).collect();
    cli.run(&words)
}

/// Removes the path of the folder from a text.
pub(crate) fn without_folder(cli: &CliFixture, text: &str) -> String {
    text.replace(&format!("{}/", cli.folder.path().display()), "")
}

#[test]
fn the_tests_beside_a_tool_pass_or_say_what_differs() {
    let cli = cli(TESTS);
    let done = on(&cli, &["test", "."]);
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
    assert!(done.out.lines().last().unwrap().starts_with("2 passed, 0 failed ("), "{}", done.out);
    assert!(done.out.contains("most fuel:\n") && done.out.contains("  mean.ts\n"), "{}", done.out);

    cli.file("mean.test.toml", &TESTS.replace("returns = 3", "returns = { mean = 3 }"));
    let done = on(&cli, &["test", "."]);
    let file = format!("{}/mean.test.toml", cli.folder.path().display());
    let says = format!(
        "FAILED mean.ts: a mean ({file}:1:1)\n  it returns 3, expected {{\"mean\":3}}\n    - expected\n    + actual\n    - {{\n    -   \"mean\": 3\n    - }}\n    + 3\n"
    );
    assert_eq!((done.status, &*done.err), (1, ""));
    assert!(done.out.starts_with(&says), "{}", done.out);
    assert!(done.out.contains("\n1 passed, 1 failed ("), "{}", done.out);
}

#[test]
fn the_last_line_is_said_in_all_languages() {
    let mut cli = cli(TESTS);
    for (lang, begins) in [("en", "2 passed, 0 failed ("), ("ja", "成功 2、失敗 0（"), ("zh", "通过 2，失败 0（")]
    {
        cli.lang = lang;
        let done = on(&cli, &["test", "."]);
        assert!(done.status == 0 && done.out.lines().last().unwrap().starts_with(begins), "{}", done.out);
    }
}

#[test]
fn what_keeps_tests_from_running_is_all_told_with_its_place() {
    let cli = cli("[[case]]\nname = \"a\"\nreturns = 1\nfule = 2\n");
    cli.file("two.test.toml", "[[case]]\nname = \"a\"\nreturns = 1\n");
    let done = on(&cli, &["test", "."]);
    assert_eq!((done.status, &*done.out), (2, ""));
    let says = "error: mean.test.toml:4:1: a case has no `fule`, did you mean `fuel`?\n";
    assert!(without_folder(&cli, &done.err).contains(says), "{}", done.err);
    let says = "error: two.test.toml:1:1: there is no tool beside it: two.ts, .mts, .js or .mjs\nhint: ";
    assert!(without_folder(&cli, &done.err).contains(says), "{}", done.err);

    let done = on(&cli, &["--json", "test", ".", "--junit", "$report.xml"]);
    let answer = done.json();
    assert_eq!(done.status, 2);
    let xml = fs::read_to_string(cli.folder.path().join("report.xml")).unwrap();
    assert!(xml.contains("errors=\"2\"") && xml.contains("type=\"tool-missing\""), "{xml}");
    assert_eq!((&answer["problems"][0]["code"], &answer["problems"][0]["line"]), (&json!("test-invalid"), &json!(4)));
    assert_eq!(answer["problems"][1]["code"], "tool-missing");
}

#[test]
fn a_tool_that_passes_only_without_the_analysis_is_named_with_its_finding() {
    let cli = CliFixture::new();
    cli.file("evil.js", "// looks fine\nconst execute = () => eval(\"1\")\n");
    cli.file("evil.test.toml", "[[case]]\nname = \"a\"\nreturns = 1\n\n[[case]]\nname = \"b\"\nreturns = 1\n");
    let done = on(&cli, &["test", "."]);
    let err = without_folder(&cli, &done.err);
    assert_eq!(done.status, 2, "{}{}", done.out, done.err);
    assert!(
        err.starts_with("error: evil.test.toml:1:1: the analysis refuses the tool (eval-usage): evil.js:2:23: "),
        "{err}"
    );
    assert_eq!(err.lines().count(), 2, "{err}");
    cli.file("evil.test.toml", "[[case]]\nname = \"a\"\nrefused = \"eval-usage\"\n");
    assert_eq!(on(&cli, &["test", "."]).status, 0);
}

#[test]
fn where_there_are_no_tests_that_is_said() {
    let cli = CliFixture::new();
    cli.file("mean.ts", MEAN);
    assert_eq!(on(&cli, &["test", "."]).status, 4);
    assert_eq!(on(&cli, &["test", "$none"]).status, 4);
    assert_eq!(on(&cli, &["test"]).status, 2);
    assert_eq!(on(&cli, &["test", ".", "--max-regression", "much"]).status, 2);
    assert_refused(&on(&cli, &["--json", "test", "-"]), 4, "file-not-found");
}

#[test]
fn a_word_that_is_in_no_name_is_told() {
    let cli = cli(TESTS);
    assert_refused(&on(&cli, &["--json", "test", ".", "--filter", "meen"]), 4, "test-not-found");
}

#[test]
fn what_failed_is_said_also_where_its_report_cannot_be_written() {
    let cli = cli(&TESTS.replace("returns = 3", "returns = 4"));
    let done = on(&cli, &["test", ".", "--junit", "$there/is/none.xml"]);
    assert!(done.status == 4 && done.out.contains("1 passed, 1 failed"), "{}", done.out);
    assert!(done.err.contains("cannot be written: the folder does not exist"), "{}", done.err);
}

#[test]
fn tests_are_chosen_by_a_word_and_ended_with_the_first_failure() {
    let cli = cli(&TESTS.replace("returns = 3", "returns = 4"));
    let done = on(&cli, &["test", ".", "--filter", "of one"]);
    assert!(done.status == 0 && done.out.contains("1 passed, 0 failed"), "{}", done.out);
    let done = on(&cli, &["test", ".", "--filter", "mean.ts"]);
    assert!(done.status == 1 && done.out.contains("1 passed, 1 failed"), "{}", done.out);
    let done = on(&cli, &["test", ".", "--fail-fast", "--jobs", "1"]);
    assert!(
        done.status == 1 && done.out.contains("0 passed, 1 failed (") && done.out.contains(", 1 not run"),
        "{}",
        done.out
    );
}

#[test]
fn programs_get_json_junit_and_annotations() {
    let cli = cli(&TESTS.replace("returns = 3", "returns = 4"));
    let done = on(&cli, &["--json", "test", ".", "--junit", "$report.xml", "--github"]);
    let answer = done.json();
    assert_eq!((done.status, &answer["passed"], &answer["failed"]), (1, &json!(1), &json!(1)));
    assert_eq!(
        (&answer["model"], &answer["tests"][0]["failures"][0]["code"]),
        (&json!(model()), &json!("returns-differ"))
    );
    assert!(answer["tests"][1]["fuel"].as_u64().unwrap() > 0 && answer["mostFuel"][0]["tool"] == "mean.ts");

    let folder = cli.folder.path().display().to_string();
    let says = format!(
        "::error file={folder}/mean.test.toml,line=1,col=1,title=mean.ts%3A a mean::it returns 3, expected 4%0A"
    );
    assert!(done.err.starts_with(&says) && done.err.lines().count() == 1, "{}", done.err);

    let xml = fs::read_to_string(cli.folder.path().join("report.xml")).unwrap();
    for part in [
        "<testsuites name=\"toolcell\" tests=\"2\" skipped=\"0\" failures=\"1\" errors=\"0\"",
        "<testcase name=\"a mean\" classname=\"mean.ts\"",
        "<failure message=\"it returns 3, expected 4\" type=\"returns-differ\">",
        "line=\"6\"",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
}

#[test]
fn on_github_nothing_that_a_tool_says_is_a_command_of_the_runner() {
    let tests = TESTS.replace("returns = 3", "returns = \"x\\n::error::said\\n##[error]said\"");
    let tests = tests.replace("name = \"a mean\"", "name = \"a mean\\n::add-mask::said\"");
    let cli = cli(&tests);
    let done = on(&cli, &["test", ".", "--github"]);
    let lines: Vec<&str> = done.out.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").unwrap();
    let end = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    assert!(lines[1..end].iter().any(|line| line.contains("said")), "{}", done.out);
    assert!(lines[end + 1..].iter().all(|line| line.starts_with("::error file=")), "{}", done.out);
    assert_eq!((lines.len() - end - 1, done.status), (1, 1), "{}", done.out);
    // What is wrong with a file of tests may quote it.
    cli.file("mean.test.toml", "'##[error]said' = 1\n");
    let done = on(&cli, &["test", ".", "--github"]);
    assert!(
        done.status == 2 && done.err.is_empty() && done.out.contains("\n::error file="),
        "{}{}",
        done.out,
        done.err
    );
}

#[test]
fn an_update_is_shown_and_written_only_if_somebody_says_so() {
    let tests = TESTS.replace("returns = 3", "returns = 4 # the mean");
    let cli = cli(&tests);
    let text = || fs::read_to_string(cli.folder.path().join("mean.test.toml")).unwrap();
    let done = on(&cli, &["test", ".", "--update"]);
    assert_eq!(done.status, 2);
    assert!(done.out.contains("-returns = 4 # the mean\n+returns = 3 # the mean\n"), "{}", done.out);
    assert_eq!(text(), tests);
    assert_eq!(on(&cli, &["test", ".", "--update", "--yes"]).status, 0);
    assert_eq!(text(), TESTS.replace("returns = 3", "returns = 3 # the mean"));
    assert_eq!(on(&cli, &["test", "."]).status, 0);
    assert_eq!(on(&cli, &["test", ".", "--yes"]).status, 2);
}

#[test]
fn a_recorded_run_comes_out_the_same_or_says_what_does_not() {
    let cli = CliFixture::with_mean();
    let done = on(&cli, &["run", "mean", "numbers=[1, 2]", "--receipt", "$mean.receipt", "--approval", "auto"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let tests = |lines: &str| {
        cli.file("mean.test.toml", &format!("[[case]]\nname = \"as recorded\"\nreceipt = \"mean.receipt\"\n{lines}"))
    };
    tests("");
    assert_eq!(on(&cli, &["test", "."]).status, 0);
    tests("returns = 1.5\n");
    assert_eq!(on(&cli, &["test", "."]).status, 0);
    tests("returns = 2\n");
    let done = on(&cli, &["test", "."]);
    assert!(done.status == 1 && done.out.contains("it returns 1.5, expected 2"), "{}", done.out);
    tests("params = { numbers = [3] }\n");
    let done = on(&cli, &["test", "."]);
    assert!(
        done.status == 2 && done.err.contains("mean.test.toml:4:1: a recorded run has its own `params`"),
        "{}",
        done.err
    );
    tests("");
    cli.file("mean.js", "const execute = () => 1\n");
    let done = on(&cli, &["test", "."]);
    assert!(done.status == 1 && done.out.contains("is of another source than mean.js"), "{}", done.out);
}

/// A stream that sends what is written to a channel.
struct LineSender(Sender<String>);

impl Write for LineSender {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads until the output contains these words.
fn wait_for_line(output_lines: &Receiver<String>, words: &str) -> String {
    let mut text = String::new();
    while !text.contains(words) {
        text += &output_lines
            .recv_timeout(Duration::from_mins(1))
            .unwrap_or_else(|_| panic!("nobody said {words}: {text}"));
    }
    text
}

#[test]
fn tests_that_are_watched_run_again_when_a_file_changes() {
    let cli = cli(TESTS);
    let (sender, output_lines) = channel();
    let cancel = CancelToken::new();
    let folder = cli.folder.path().to_str().unwrap().to_owned();
    let watching = std::thread::spawn({
        let cancel = cancel.clone();
        move || {
            let (mut input, mut output, mut errors) =
                (Cursor::new(Vec::new()), LineSender(sender.clone()), LineSender(sender));
            let streams = Streams {
                input: &mut input,
                output: &mut output,
                errors: &mut errors,
                output_is_terminal: false,
                errors_are_terminal: false,
                input_is_terminal: false,
                color: toolcell_cli::ColorMode::default(),
            };
            toolcell_cli::run(["toolcell", "--lang", "en", "test", &folder, "--watch"], streams, &cancel).status()
        }
    });
    wait_for_line(&output_lines, "2 passed, 0 failed");
    cli.file("mean.ts", &MEAN.replace("a + b", "a - b"));
    assert!(wait_for_line(&output_lines, "failed (").contains("it returns -3, expected 3"));
    cli.file("mean.test.toml", "[[case]]\nnam = 1\n");
    wait_for_line(&output_lines, "did you mean `name`?");
    cli.file("mean.ts", MEAN);
    cli.file("mean.test.toml", TESTS);
    wait_for_line(&output_lines, "2 passed, 0 failed");
    cancel.cancel();
    assert_eq!(watching.join().unwrap(), 130);
}

#[test]
fn what_is_broken_off_is_said_by_the_exit_status() {
    let cli = CliFixture::new();
    cli.file("forever.js", "const execute = () => { for (;;); }\n");
    cli.file("forever.test.toml", "[[case]]\nname = \"a\"\nstops = \"timeout\"\ntime = \"600 s\"\n");
    let cancel = CancelToken::new();
    cancel.cancel();
    let done = cli.run_with(&["test", "$"], b"", &cancel);
    assert_eq!(done.status, 130, "{}", done.out);
}

#[test]
fn the_example_project_passes_with_the_command_as_well() {
    let folder = root().join("crates/testing/examples/project/tools");
    assert!(Path::new(&folder).is_dir());
    let done = toolcell(&["test", folder.to_str().unwrap()]);
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
}
