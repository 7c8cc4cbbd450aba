use std::fs;

use tempfile::TempDir;
use toolcell::{SandboxConfig, Toolbox};

use super::*;
use crate::budget::BudgetPolicy;
use crate::run::{TestOptions, run_suites};

/// A tool and its tests in a folder, with the results.
struct UpdateFixture {
    _folder: TempDir,
    suite: Suite,
    tested: TestReport,
}

fn bench(
    text: &str,
    reader: fn(&std::path::Path) -> Result<Suite, Vec<crate::SuiteProblem>>,
    budgets: BudgetPolicy,
) -> UpdateFixture {
    let folder = tempfile::tempdir().unwrap();
    let source = "const execute = ({ n }) => { if (n < 0) throw new RangeError('below zero'); return n === 0 ? { a: null } : n === 1 ? undefined : { n, text: \"it's\" } }";
    fs::write(folder.path().join("t.js"), source).unwrap();
    let path = folder.path().join("t.test.toml");
    fs::write(&path, text).unwrap();
    let suite = reader(&path).unwrap();
    let toolbox = Toolbox::new(&SandboxConfig::default()).unwrap();
    let options = TestOptions { budgets, ..TestOptions::default() };
    let tested = run_suites(std::slice::from_ref(&suite), &toolbox, &options);
    UpdateFixture { _folder: folder, suite, tested }
}

impl UpdateFixture {
    fn updated(&self) -> (String, usize) {
        let (files, left) = update(std::slice::from_ref(&self.suite), &self.tested);
        (files.first().map(|file| file.after.clone()).unwrap_or_default(), left)
    }
}

#[test]
fn what_a_tool_does_becomes_what_is_expected_and_comments_stay() {
    let text = "# why\n[[case]]\nname = \"two\" # two\nparams = { n = 2 }\nreturns = 3 # or so\n\n\
        [[case]]\nname = \"none\"\nparams = { n = 0 }\n\n[[case]]\nname = \"nothing\"\nparams = { n = 1 }\nreturns = 1\n\n\
        [[case]]\nname = \"throws\"\nparams = { n = -1 }\nreturns_json = '1'\n\n\
        [[case]]\nname = \"right\"\nparams = { n = 5 }\nwhere = { \"$.n\" = 5 }\n";
    let (after, left) = bench(text, Suite::read_unfinished, BudgetPolicy::Enforced).updated();
    let expected = "# why\n[[case]]\nname = \"two\" # two\nparams = { n = 2 }\nreturns = { n = 2, text = \"it's\" } # or so\n\n\
        [[case]]\nname = \"none\"\nparams = { n = 0 }\nreturns_json = '{\"a\":null}'\n\n\
        [[case]]\nname = \"nothing\"\nparams = { n = 1 }\nreturns_json = \"undefined\"\n\n\
        [[case]]\nname = \"throws\"\nparams = { n = -1 }\nthrows = { name = \"RangeError\", message = \"below zero\" }\n\n\
        [[case]]\nname = \"right\"\nparams = { n = 5 }\nwhere = { \"$.n\" = 5 }\n";
    assert_eq!((after.as_str(), left), (expected, 0));
    let again = bench(&after, Suite::read, BudgetPolicy::Enforced);
    assert_eq!((again.tested.passed_count(), again.updated()), (5, (String::new(), 0)));
}

#[test]
fn what_is_meant_is_left_to_its_author() {
    let text = "[[case]]\nname = \"a\"\nparams = { n = 2 }\nwhere = { \"$.n\" = 5 }\n";
    let bench = bench(text, Suite::read_unfinished, BudgetPolicy::Enforced);
    assert_eq!(bench.updated(), (String::new(), 1));
}

#[test]
fn a_file_with_a_table_of_budgets_gets_them() {
    let text = "[budget]\n\n[[case]]\nname = \"a\"\nparams = { n = 2 }\nwhere = { \"$.n\" = 2 }\n";
    let (after, _) = bench(text, Suite::read_unfinished, BudgetPolicy::Enforced).updated();
    let again = bench(&after, Suite::read, BudgetPolicy::Regression("0%".parse().unwrap()));
    assert!(again.tested.is_success(), "{after}\n{:#?}", again.tested);
    let budget = again.suite.cases[0].fuel.unwrap();
    assert_eq!(budget.measured, Some(again.tested.results[0].fuel));
    assert_eq!(budget.limit, FuelBudget::new(again.tested.results[0].fuel).limit);
    assert!(after.starts_with(&format!("[budget]\nmodel = \"{}\"\nload_fuel = ", model())), "{after}");
}

#[test]
fn a_budget_of_another_model_is_measured_anew_in_proportion() {
    let text = "[budget]\nmodel = \"0 wasmtime-1\" # then\n\n[[case]]\nname = \"a\"\nparams = { n = 2 }\nwhere = { \"$.n\" = 2 }\n\
        fuel = 3_000 # half as much again\nmeasured = 2000\n";
    let bench_of = |text: &str| bench(text, Suite::read_outdated, BudgetPolicy::Ignored);
    let first = bench_of(text);
    let files = rebase(std::slice::from_ref(&first.suite), &first.tested);
    let (after, fuel) = (&files[0].after, first.tested.results[0].fuel);
    assert!(after.contains(&format!("model = \"{}\" # then\n", model())), "{after}");
    assert!(
        after.contains(&format!("fuel = {} # half as much again\nmeasured = {fuel}\n", (fuel * 3).div_ceil(2))),
        "{after}"
    );
    assert!(files[0].diff().contains("-measured = 2000\n+fuel = "), "{}", files[0].diff());
    let again = bench_of(after);
    assert_eq!(rebase(std::slice::from_ref(&again.suite), &again.tested), []);

    let failing = bench_of(&text.replace("\"$.n\" = 2", "\"$.n\" = 3"));
    assert_eq!(rebase(std::slice::from_ref(&failing.suite), &failing.tested), []);
}
