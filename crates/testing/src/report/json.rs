//! One object for programs.

use serde::Serialize;

use crate::budget::model;
use crate::expect::Failure;
use crate::outcome::{Done, Tested};
use crate::problem::{Place, Problem};

#[derive(Serialize)]
struct Body<'a> {
    passed: usize,
    failed: usize,
    not_run: usize,
    /// Which guest and engine the fuel is counted under.
    model: String,
    duration_ms: u128,
    problems: &'a [Problem],
    tests: Vec<TestBody<'a>>,
    most_fuel: Vec<Dear<'a>>,
}

#[derive(Serialize)]
struct TestBody<'a> {
    path: std::borrow::Cow<'a, str>,
    #[serde(flatten)]
    place: Place,
    tool: &'a str,
    name: &'a str,
    passed: bool,
    failures: &'a [Failure],
    fuel: u64,
    load_fuel: u64,
    memory_bytes: usize,
    micros: u128,
}

#[derive(Serialize)]
struct Dear<'a> {
    tool: &'a str,
    fuel: u64,
}

/// All of it, in one line of JSON.
#[must_use]
pub fn json(tested: &Tested) -> String {
    let body = Body {
        passed: tested.passed(),
        failed: tested.failed(),
        not_run: tested.not_run,
        model: model(),
        duration_ms: tested.took.as_millis(),
        problems: &tested.problems,
        tests: tested.done.iter().map(test).collect(),
        most_fuel: tested.dearest(5).into_iter().map(|(tool, fuel)| Dear { tool, fuel }).collect(),
    };
    // Text and numbers: there is nothing in it that cannot be written.
    serde_json::to_string(&body).unwrap_or_default()
}

fn test(done: &Done) -> TestBody<'_> {
    TestBody {
        path: done.path.to_string_lossy(),
        place: done.place,
        tool: &done.tool,
        name: &done.name,
        passed: done.passed(),
        failures: &done.failures,
        fuel: done.fuel,
        load_fuel: done.load_fuel,
        memory_bytes: done.memory,
        micros: done.took.as_micros(),
    }
}
