//! Tests of tools (`*.test.toml`), for the test runners of the host's language.
//!
//! Invariant: a test has the result that `toolcell test` gives it, with the same fuel.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use toolcell::CancelToken;
use toolcell_error::ErrorCode;
use toolcell_testing::{
    BudgetPolicy, Percent, Suite, SuiteProblem, TestOptions, TestReport, find_suites, report, run_suites,
};

use crate::failure::Failure;
use crate::session::Session;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FindTestsParams {
    /// Test files, and folders with test files.
    paths: Vec<PathBuf>,
    #[serde(default)]
    no_budgets: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RunTestParams {
    path: PathBuf,
    /// The name of the case.
    name: String,
    #[serde(default)]
    no_budgets: bool,
    /// The percentage of fuel over what was measured at which a case fails, such as `5%`.
    #[serde(default)]
    max_regression: Option<String>,
}

fn read_suite(path: &Path, no_budgets: bool) -> Result<Suite, Vec<SuiteProblem>> {
    if no_budgets { Suite::read_without_budgets(path) } else { Suite::read(path) }
}

impl Session {
    /// Finds tests, and runs none: `tests` of all valid files, and the `problems` of the others.
    pub(crate) fn find_tests(request: &FindTestsParams) -> Result<Value, Failure> {
        let files = find_suites(&request.paths).map_err(|(path, error)| {
            Failure::refused(
                ErrorCode::FileUnreadable,
                format!("{}: {error}", path.display()),
                "name a test file, or a folder with test files",
            )
        })?;
        let (mut tests, mut problems) = (Vec::new(), Vec::new());
        for path in files {
            match read_suite(&path, request.no_budgets) {
                Ok(suite) => tests.extend(suite.cases.iter().map(|case| {
                    let (path, place) = (path.to_string_lossy(), case.place);
                    json!({ "path": path, "name": case.name, "line": place.line, "column": place.column })
                })),
                Err(wrong) => problems.extend(wrong),
            }
        }
        Ok(json!({ "tests": tests, "problems": problems }))
    }

    /// Runs a test: the JSON of `toolcell test --json`.
    pub(crate) fn run_test(&self, request: &RunTestParams, cancel: &CancelToken) -> Result<Value, Failure> {
        let budgets = match &request.max_regression {
            Some(_) if request.no_budgets => {
                return Err(Failure::request("`noBudgets` and `maxRegression` exclude each other"));
            }
            _ if request.no_budgets => BudgetPolicy::Ignored,
            Some(most) => BudgetPolicy::Regression(most.parse::<Percent>().map_err(Failure::request)?),
            None => BudgetPolicy::Enforced,
        };
        let tested = match read_suite(&request.path, request.no_budgets) {
            Ok(mut suite) => {
                suite.cases.retain(|case| case.name == request.name);
                if suite.cases.is_empty() {
                    let (path, name) = (request.path.display(), &request.name);
                    let message = format!("{path} has no test `{}` any more", name.escape_debug());
                    return Err(Failure::refused(ErrorCode::TestNotFound, message, "collect the tests again"));
                }
                let options = TestOptions { jobs: 1, budgets, cancel: Some(cancel.clone()), ..TestOptions::default() };
                run_suites(&[suite], &self.toolbox, &options)
            }
            Err(problems) => TestReport { problems, ..TestReport::default() },
        };
        if tested.is_cancelled {
            return Err(Failure::cancelled());
        }
        serde_json::from_str(&report::json(&tested)).map_err(|error| Failure::request(error.to_string()))
    }
}
