//! A `JUnit` XML report for CI servers.
//!
//! Invariant: each test file is a suite, and each of its tests a case. A problem becomes an error,
//! a mismatch a failure.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::outcome::{CaseResult, TestReport};

/// Formats the report as `JUnit` XML.
///
/// # Errors
/// The message of the XML serialiser.
pub fn junit(tested: &TestReport) -> Result<String, String> {
    let mut report = Report::new("toolcell");
    report.set_time(tested.elapsed);
    let mut paths: Vec<String> = tested.results.iter().map(|done| done.path.display().to_string()).collect();
    paths.extend(tested.problems.iter().map(|problem| problem.path.display().to_string()));
    paths.sort();
    paths.dedup();
    for path in paths {
        let mut suite = TestSuite::new(path.as_str());
        for problem in tested.problems.iter().filter(|problem| problem.path.display().to_string() == path) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(problem.to_string()).set_type(problem.code).set_description(problem.hint.to_string());
            suite.add_test_case(TestCase::new(problem.code, status));
        }
        for done in tested.results.iter().filter(|done| done.path.display().to_string() == path) {
            suite.add_test_case(junit_case(done));
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| error.to_string())
}

fn junit_case(done: &CaseResult) -> TestCase {
    let status = match done.failures.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let all = done.failures.iter().map(|failure| match &failure.diff {
                Some(diff) => format!("{}\n{diff}", failure.message),
                None => failure.message.to_string(),
            });
            let all: Vec<String> = all.collect();
            status.set_message(first.message.to_string()).set_type(first.code).set_description(all.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(done.name.as_str(), status);
    case.set_classname(done.tool.as_str()).set_time(done.elapsed);
    case.extra.insert("file".into(), done.path.display().to_string().into());
    case.extra.insert("line".into(), done.place.line.to_string().into());
    case
}
