//! Run time of the tests of many tools, from reading the files to the last line of output.

use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolcell::CancelToken;
use toolcell_cli::Streams;

use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Number of tools.
const TOOLS: usize = 100;
/// Number of tests per tool.
const TESTS: usize = 10;

pub(crate) fn measure(table: &mut Table) {
    table.section("tests of tools");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    written(folder.path());
    let mut tested = Series::default();
    for _ in 0..5 {
        tested.time(1, || run(folder.path()));
    }
    let row = Row::new("1,000 tests of 100 tools: read, analysed, loaded, run, median", tested.median());
    table.row(row.target(Target::AtMost(Figure::Time(2.0))));
}

/// Writes copies of the fixtures that return a value, no two of them equal for a cache.
fn written(folder: &Path) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fixtures/tools");
    let mut tools: Vec<PathBuf> = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    tools.retain(|path| path.extension().is_some_and(|ending| ending == "js"));
    tools.sort();
    let expected = |path: &PathBuf| -> (String, Value) {
        let case: Value =
            serde_json::from_str(&fs::read_to_string(path.with_extension("expected.json")).unwrap()).unwrap();
        (case["params"].to_string(), case["expect"]["returned"].clone())
    };
    let tools: Vec<_> = tools.iter().map(|path| (path, expected(path))).filter(|(_, (_, it))| !it.is_null()).collect();
    for (number, (path, (params, returned))) in tools.iter().cycle().take(TOOLS).enumerate() {
        let source = fs::read_to_string(path).unwrap();
        fs::write(folder.join(format!("tool_{number}.js")), format!("{source}\n// {number}\n")).unwrap();
        let mut tests = String::new();
        for test in 0..TESTS {
            let (params, returned) = (toml(params), toml(&returned.to_string()));
            writeln!(tests, "[[case]]\nname = \"{test}\"\nparams_json = {params}\nreturns_json = {returned}\n")
                .unwrap();
        }
        fs::write(folder.join(format!("tool_{number}.test.toml")), tests).unwrap();
    }
}

/// Formats a TOML string; the escapes of JSON are a subset of TOML's.
fn toml(text: &str) -> String {
    Value::from(text).to_string()
}

fn run(folder: &Path) {
    let (mut input, mut output, mut errors) = (Cursor::new(Vec::new()), Vec::new(), Vec::new());
    let streams = Streams {
        input: &mut input,
        output: &mut output,
        errors: &mut errors,
        output_is_terminal: false,
        errors_are_terminal: false,
        input_is_terminal: false,
        color: toolcell_cli::ColorMode::default(),
    };
    let words = ["toolcell", "--lang", "en", "--no-project", "test", folder.to_str().unwrap()];
    let exit = toolcell_cli::run(words, streams, &CancelToken::new());
    let (output, errors) = (String::from_utf8(output).unwrap(), String::from_utf8(errors).unwrap());
    let all = format!("{} passed, 0 failed", TOOLS * TESTS);
    assert!(exit.status() == 0 && output.contains(&all), "{output}{errors}");
}
