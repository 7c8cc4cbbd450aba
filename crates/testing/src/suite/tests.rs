use std::fs;

use tempfile::TempDir;
use toolcell_i18n::{Lang, Localize as _};

use super::*;
use crate::budget::model;

/// Creates a folder with a tool in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mean.ts"), "export const execute = ({ n }: { n: number }) => n").unwrap();
    folder
}

/// Returns `LINE:COLUMN code message` for each problem of a file with this text.
fn problems(text: &str) -> Vec<String> {
    let folder = folder();
    let path = folder.path().join("mean.test.toml");
    fs::write(&path, text).unwrap();
    let describe = |problem: SuiteProblem| {
        assert!(*problem.path == *path && problem.hint != "", "{problem:?}");
        let FilePosition { line, column } = problem.place;
        format!("{line}:{column} {} {}", problem.code, problem.message)
    };
    Suite::read(&path).err().unwrap_or_default().into_iter().map(describe).collect()
}

/// Returns a case with these lines.
fn case(lines: &str) -> String {
    format!("[[case]]\nname = \"a\"\n{lines}\n")
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_column() {
    for (text, says) in [
        // Malformed files.
        ("", "1:1 test-invalid this file has no tests"),
        ("[[case]]\nname = \"a\"\nreturns = ", "3:11 test-invalid "),
        (
            "tols = \"a\"\n[[case]]\nname = \"a\"\nreturns = 1",
            "1:1 test-invalid a file has no `tols`, did you mean `tool`?",
        ),
        (&case("returns = 1\nfule = 3"), "4:1 test-invalid a case has no `fule`, did you mean `fuel`?"),
        (
            &case("returns = 1\n[budget]\nmodle = \"x\""),
            "5:1 test-invalid a budget has no `modle`, did you mean `model`?",
        ),
        (&case("throws = { nam = \"x\" }"), "3:12 test-invalid a throws has no `nam`, did you mean `name`?"),
        (&(case("returns = 1") + &case("returns = 2")), "4:1 test-invalid there is already a test `a`, in line 1"),
        ("[[case]]\nreturns = 1", "1:1 test-invalid a test has no name"),
        ("[[case]]\nname = 1\nreturns = 1", "2:8 test-invalid `name` must be a string, not integer"),
        (&case("returns = 1\nnow = 3"), "4:7 test-invalid `now` must be a time since 1970, `integer` is not"),
        ("[[case]]\nreturns = 1\n[[case]]\nname = \"a\"\nreturns = 1", "1:1 test-invalid a test has no name"),
        (&case(""), "1:1 test-invalid it has no expected outcome"),
        (&case("returns_json = '{'"), "3:16 test-invalid `returns_json` is not valid JSON: "),
        (&case("returns = 2026-01-31"), "3:11 test-invalid JSON has no dates"),
        (&case("returns = nan"), "3:11 test-invalid JSON cannot represent nan"),
        (&case("returns = 1\nparams = 1"), "4:10 test-invalid invalid parameters: expected an object"),
        (&case("returns = 1\nparams = {}\nparams_json = '{}'"), "5:1 test-invalid the parameters are given twice"),
        (
            &case("returns = 1\nparams_file = \"no.json\""),
            "4:15 test-invalid the parameters no.json: there is no such file",
        ),
        (&case("returns = 1\nseed = -1"), "4:8 test-invalid `seed` must be a whole number"),
        (&case("returns = 1\nnow = \"soon\""), "4:7 test-invalid `now` must be a time since 1970, `soon` is not"),
        (&case("returns = 1\ngrants = [\"nett\"]"), "4:11 test-invalid there is no grant `nett`"),
        (&case("returns = 1\nmemory = \"much\""), "4:10 test-invalid `much` is not a size"),
        (&case("returns = 1\ntime = \"soon\""), "4:8 test-invalid `soon` is not a duration"),
        (&case("receipt = \"no.receipt\""), "3:11 test-invalid the receipt no.receipt: there is no such file"),
        (
            &case("returns = 1\ngrants = [\"net\"]\n[[case.answers]]\nkind = \"fetch\"\nreturns = 1"),
            "7:1 test-invalid `returns` is not allowed in this answer",
        ),
        (
            &case("returns = 1\ngrants = [\"kv\"]\n[[case.answers]]\nkind = \"kv.get\"\nrequest = 1"),
            "5:1 test-invalid `request` must be a table",
        ),
        (
            &case("returns = 1\ngrants = [\"kv\"]\n[[case.answers]]\nkind = \"kv.get\"\nurl = \"x\""),
            "7:1 test-invalid an answer to `kv.get` has no `url`",
        ),
        (
            &case("returns = 1\ngrants = [\"net\"]\n[[case.answers]]\nkind = \"fetch\"\nstatus = 99"),
            "7:10 test-invalid a status must be 200 to 599",
        ),
        (&case("returns = 1\n[[case.answers]]\nurl = \"x\""), "4:1 test-invalid an answer has no `kind`"),
        // Impossible expectations.
        (&case("returns = 1\nthrows = \"Error\""), "4:1 test-impossible `returns` and `throws` exclude each other"),
        (
            &case("stops = \"timeout\"\nwhere = { \"$\" = 1 }\ntime = \"1 s\""),
            "3:1 test-impossible `where` and `stops` exclude each other",
        ),
        (&case("returns = 1\nfuel = 0"), "4:8 test-impossible `fuel` is 0, which no call can meet"),
        (
            &case("returns = 1\nmemory = \"1 MiB\""),
            "4:10 test-impossible memory_bytes is 1048576, it must be 8388608 to",
        ),
        (&case("returns = 1\nmemory = \"0 B\""), "4:10 test-impossible memory_bytes is 0, it must be"),
        (&case("returns = 1\ntime = \"0 s\""), "4:8 test-impossible timeout_ms is 0, it must be 1 to 600000"),
        (&case("returns = 1\ntime = \"2 h\""), "4:8 test-impossible timeout_ms is 7200000, it must be"),
        (
            &case("where = { \"$.a\" = { at_least = 3, at_most = 2 } }"),
            "3:19 test-impossible no number is at least 3 and at most 2",
        ),
        (&case("where = { \"a..\" = 1 }"), "3:19 test-impossible `a..` is not a valid JSON path"),
        (&case("stops = \"fuel-exhausted\""), "3:9 test-impossible there is no stop code `fuel-exhausted`"),
        (
            &case("stops = \"out-of-fuel\""),
            "1:1 test-impossible it is expected to stop with `out-of-fuel`, but has no `fuel`",
        ),
        (&case("stops = \"timeout\""), "1:1 test-impossible it is expected to stop with `timeout`, but has no `time`"),
        (&case("refused = \"evil\""), "3:11 test-impossible there is no rule or error `evil`"),
        (&case("returns = 1\nmeasured = 5"), "4:12 test-impossible `measured` belongs to a budget"),
        (
            &case("returns = 1\n[[case.answers]]\nkind = \"fetch\"\nurl = \"https://a.example/\""),
            "4:8 test-impossible `fetch` needs the grant `net`",
        ),
    ] {
        let problems = problems(text);
        assert!(problems.len() == 1 && problems[0].starts_with(says), "{text}\n{problems:#?}\nexpected: {says}");
    }
}

#[test]
fn what_is_wrong_with_an_answer_is_named_with_its_line_and_column() {
    for (text, says) in [
        (
            &case("returns = 1\n[[case.answers]]\nkind = \"fetched\""),
            "5:8 test-invalid there is no operation `fetched`",
        ),
        (
            &case("returns = 1\ngrants = [\"net\"]\n[[case.answers]]\nkind = \"fetch\"\nheaders = 3"),
            "7:11 test-invalid `headers` must be a table",
        ),
        (
            &case("returns = 1\ngrants = [\"net\"]\n[[case.answers]]\nkind = \"fetch\"\nbody = \"\"\njson = {}"),
            "7:1 test-invalid an answer cannot have both `json` and `body`",
        ),
        (
            &case("returns = 1\ngrants = [\"kv\"]\n[[case.answers]]\nkind = \"kv.get\"\nreturns = 1\nfails = {}"),
            "7:1 test-invalid an answer cannot have both `fails` and `returns`",
        ),
    ] {
        let problems = problems(text);
        assert!(problems.len() == 1 && problems[0].starts_with(says), "{text}\n{problems:#?}\nexpected: {says}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_in_order() {
    let text = "tols = 1\n[[case]]\nname = \"a\"\nfuel = 0\n[[case]]\nname = \"a\"\nreturns = 1\nthrows = \"E\"\n";
    let lines: Vec<String> =
        problems(text).iter().map(|problem| problem.split(' ').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(lines, ["1:1", "2:1", "4:8", "5:1", "8:1"]);
}

#[test]
fn a_problem_is_told_in_the_language_of_its_reader() {
    let folder = folder();
    let path = folder.path().join("mean.test.toml");
    fs::write(&path, case("returns = 1\nfule = 3")).unwrap();
    let problems = Suite::read(&path).unwrap_err();
    for (lang, says, hint) in [
        (Lang::En, "a case has no `fule`, did you mean `fuel`?", "the keys are name, "),
        (Lang::Ja, "テストに `fule` というキーはありません。`fuel` ではありませんか?", "キーは name, "),
        (Lang::Zh, "测试没有 `fule`，是否指 `fuel`？", "可用的键为 name, "),
    ] {
        assert_eq!(problems[0].localize().to_text(lang), format!("{}:4:1: {says}", path.display()));
        assert!(problems[0].hint.to_text(lang).starts_with(hint), "{}", problems[0].hint.to_text(lang));
    }
}

#[test]
fn a_budget_says_under_which_model_it_was_counted() {
    let with = |budget: &str| format!("{budget}\n{}", case("returns = 1\nfuel = 10\nmeasured = 5"));
    let here = model();
    for (budget, says) in [
        (
            String::new(),
            format!("5:8 budget-model-missing the budgets do not name their model: add [budget] model = \"{here}\""),
        ),
        (
            "[budget]\nmodel = \"0123456789abcdef wasmtime-1.0.0\"".to_owned(),
            format!(
                "2:9 budget-model-mismatch the budgets were measured with the model `0123456789abcdef \
                 wasmtime-1.0.0`, this build uses `{here}`"
            ),
        ),
    ] {
        assert_eq!(problems(&with(&budget)), [says]);
    }
    assert!(problems(&with(&format!("[budget]\nmodel = \"{here}\""))).is_empty());
    assert_eq!(
        problems(&format!("[budget]\nmodel = \"{here}\"\n{}", case("returns = 1\nfuel = 10\nmeasured = 11"))),
        ["7:12 test-impossible `measured` is 11, which is more than the budget of 10"]
    );
}

#[test]
fn a_tool_that_is_not_there_is_named() {
    let folder = folder();
    let path = folder.path().join("other.test.toml");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        Suite::read(&path)
            .unwrap_err()
            .into_iter()
            .map(|problem| (problem.code, problem.to_string()))
            .collect::<Vec<_>>()
    };
    let shown = path.display();
    let beside = read(&case("returns = 1"));
    assert_eq!(
        beside,
        [("tool-missing", format!("{shown}:1:1: there is no tool beside it: other.ts, .mts, .js or .mjs"))]
    );
    let named = read(&("tool = \"none.ts\"\n".to_owned() + &case("returns = 1")));
    assert_eq!(named[0].0, "tool-missing");
    assert!(
        named[0].1.starts_with(&format!("{shown}:1:8: the tool "))
            && named[0].1.ends_with("none.ts cannot be read: there is no such file")
    );
    for ending in ["js", "ts"] {
        fs::write(folder.path().join(format!("other.{ending}")), "const execute = () => 1").unwrap();
    }
    assert!(read(&case("returns = 1"))[0].1.ends_with("there is more than one tool named other beside it"));
    assert!(
        Suite::read(&folder.path().join("no.test.toml")).unwrap_err()[0].to_string().ends_with("there is no such file")
    );
}

#[test]
fn what_links_lead_to_again_is_found_once() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("inner")).unwrap();
    for name in ["a.test.toml", "inner/b.test.toml"] {
        fs::write(at(name), "").unwrap();
    }
    for (to, link) in [("..", "inner/up"), (".", "again"), ("inner", "other"), ("a.test.toml", "c.test.toml")] {
        std::os::unix::fs::symlink(to, at(link)).unwrap();
    }
    let named = [folder.path().to_owned(), at("a.test.toml"), at("inner/../a.test.toml"), at("other")];
    // A symlink to a file is a separate file, because the tool beside it may differ.
    assert_eq!(find_suites(&named).unwrap(), ["a.test.toml", "c.test.toml", "inner/b.test.toml"].map(at));
}

#[test]
fn what_is_no_plain_file_is_not_waited_for() {
    let folder = folder();
    let path = folder.path().join("a.test.toml");
    let _listening = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert_eq!(Suite::read(&path).unwrap_err()[0].message, "the file cannot be read: it is not a regular file");
    let path = folder.path().join("mean.test.toml");
    for (tool, says) in [("/dev/zero", "it is not a regular file"), (".", "it is a folder")] {
        fs::write(&path, format!("tool = \"{tool}\"\n{}", case("returns = 1"))).unwrap();
        let problems = Suite::read(&path).unwrap_err();
        assert!(problems[0].place.line == 1 && problems[0].to_string().ends_with(says), "{problems:?}");
    }
}

#[test]
fn a_whole_file_is_read() {
    let folder = folder();
    let path = folder.path().join("all.test.toml");
    fs::write(folder.path().join("p.json"), "{\"n\": 1e400}").unwrap();
    let text = format!(
        "tool = \"mean.ts\"\n[budget]\nmodel = \"{}\"\nload_fuel = 9\nmemory = \"32 MiB\"\ntime = \"3 \
         s\"\n[[case]]\nname = \"a\"\nparams_file = \"p.json\"\n\
         where = {{ \"$.a\" = 1, \"$.b\" = {{ type = \"string\" }} }}\nseed = 7\nnow = 2026-01-31T00:00:00Z\ngrants = \
         [\"kv\"]\n\
         secrets = [\"KEY\"]\ntime = \"250 ms\"\nfuel = 12\nmeasured = 10\nlogs = [\"x\"]\n\
         [[case.answers]]\nkind = \"kv.get\"\nrequest = {{ key = \"k\" }}\nreturns_json = 'null'\n",
        model()
    );
    fs::write(&path, text).unwrap();
    let suite = Suite::read(&path).unwrap();
    let case = &suite.cases[0];
    assert_eq!((suite.draft.name(), suite.load_fuel.unwrap().limit), ("mean.ts", 9));
    assert_eq!((case.params.as_str(), case.seed, case.started_at.as_secs()), ("{\"n\": 1e400}", 7, 1_769_817_600));
    assert_eq!((case.limits.memory, case.limits.time.unwrap().as_millis()), (Some(32 << 20), 250));
    assert_eq!(case.grants.iter().map(toolcell::Grant::name).collect::<Vec<_>>(), ["kv", "secrets"]);
    assert_eq!((case.mocks[0].kind.as_str(), &case.mocks[0].request), ("kv.get", &serde_json::json!({ "key": "k" })));
    assert_eq!((case.fuel.unwrap().limit, case.fuel.unwrap().measured), (12, Some(10)));
    assert_eq!(find_suites(&[folder.path().to_owned()]).unwrap(), [path]);
}
