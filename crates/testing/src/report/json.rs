//! A JSON report for programs.

use serde::Serialize;

use crate::budget::model;
use crate::expect::CaseFailure;
use crate::outcome::{CaseResult, TestReport};
use crate::problem::{FilePosition, SuiteProblem};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportBody<'a> {
    passed: usize,
    failed: usize,
    not_run: usize,
    /// The fuel model: the guest and the engine that count the fuel.
    model: String,
    duration_ms: u128,
    problems: &'a [SuiteProblem],
    tests: Vec<TestBody<'a>>,
    most_fuel: Vec<ToolFuel<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestBody<'a> {
    path: std::borrow::Cow<'a, str>,
    #[serde(flatten)]
    place: FilePosition,
    tool: &'a str,
    name: &'a str,
    passed: bool,
    failures: &'a [CaseFailure],
    fuel: u64,
    load_fuel: u64,
    memory_bytes: usize,
    micros: u128,
}

#[derive(Serialize)]
struct ToolFuel<'a> {
    tool: &'a str,
    fuel: u64,
}

/// Formats the report as one line of JSON.
#[must_use]
pub fn json(tested: &TestReport) -> String {
    let body = ReportBody {
        passed: tested.passed_count(),
        failed: tested.failed_count(),
        not_run: tested.not_run,
        model: model(),
        duration_ms: tested.elapsed.as_millis(),
        problems: &tested.problems,
        tests: tested.results.iter().map(case_body).collect(),
        most_fuel: tested.most_expensive(5).into_iter().map(|(tool, fuel)| ToolFuel { tool, fuel }).collect(),
    };
    // Serialising strings and numbers cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn case_body(done: &CaseResult) -> TestBody<'_> {
    TestBody {
        path: done.path.to_string_lossy(),
        place: done.place,
        tool: &done.tool,
        name: &done.name,
        passed: done.has_passed(),
        failures: &done.failures,
        fuel: done.fuel,
        load_fuel: done.load_fuel,
        memory_bytes: done.memory,
        micros: done.elapsed.as_micros(),
    }
}
