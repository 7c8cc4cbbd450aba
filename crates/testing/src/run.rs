//! Runs tests: each tool is loaded once, and its cases run beside those of all others.
//!
//! Invariant: what comes of a case does not depend on which ran before it or beside it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use toolcell::{
    CancelToken, ExecError, OtherVersion, Outcome, Precheck, Receipt, ReplayOptions, Report, Run, Stop, Toolbox,
};

use crate::answers::Host;
use crate::budget::{Budgets, Burned};
use crate::case::Case;
use crate::expect::{Expectation, Failure, lines};
use crate::outcome::{Done, Tested};
use crate::problem::{Place, Problem};
use crate::suite::Suite;

/// How tests are run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// How many at once; 0 stands for as many as the machine has cores.
    pub jobs: usize,
    /// Whether the first failure ends it.
    pub fail_fast: bool,
    /// Run only those with this in the name of their tool or their own.
    pub filter: Option<String>,
    /// What budgets are for.
    pub budgets: Budgets,
    /// Ends it from another thread.
    pub cancel: Option<CancelToken>,
}

impl RunOptions {
    fn wants(&self, suite: &Suite, case: &Case) -> bool {
        let Some(word) = &self.filter else { return true };
        suite.tool_name().contains(word.as_str()) || case.name.contains(word.as_str())
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

/// Runs the tests of files.
#[must_use]
pub fn run(suites: &[Suite], toolbox: &Toolbox, options: &RunOptions) -> Tested {
    let began = Instant::now();
    let mut wanted = Vec::new();
    for (number, suite) in suites.iter().enumerate() {
        let cases = suite.cases.iter().enumerate().filter(|(_, case)| options.wants(suite, case));
        wanted.extend(cases.map(|(case, _)| (number, case)));
    }
    let all = wanted.len();
    // The first case of each file loads its tool, so that no two threads load the same one.
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for at in wanted {
        let seen = first.last().is_some_and(|(suite, _)| *suite == at.0);
        if seen { rest.push(at) } else { first.push(at) }
    }
    let ending = AtomicBool::new(false);
    let (mut done, mut problems) = (Vec::new(), Vec::new());
    for part in [first, rest] {
        for (at, came) in side_by_side(&part, suites, toolbox, options, &ending) {
            match came {
                Ok(one) => done.push(one),
                Err(problem) => problems.push((at, problem)),
            }
        }
    }
    done.sort_by_key(|one| one.index);
    hold_loading(suites, &mut done, options);
    let cancelled = options.is_cancelled();
    // One word about a tool is enough.
    problems.sort_by_key(|(at, _)| *at);
    problems.dedup_by_key(|(at, _)| at.0);
    let problems: Vec<Problem> = problems.into_iter().map(|(_, problem)| problem).collect();
    let not_run = if problems.is_empty() { all - done.len() } else { 0 };
    Tested { done, problems, not_run, cancelled, took: began.elapsed() }
}

/// Holds tools to what loading them may take. What a tool is granted makes a difference there, so the dearest time counts.
fn hold_loading(suites: &[Suite], done: &mut [Done], options: &RunOptions) {
    for (number, suite) in suites.iter().enumerate() {
        let Some(budget) = suite.load_fuel else { continue };
        let loaded = done.iter_mut().filter(|one| one.index.0 == number && one.outcome.is_some());
        if let Some(dearest) = loaded.max_by_key(|one| one.load_fuel) {
            dearest.failures.extend(budget.judge(Burned::Loading, dearest.load_fuel, options.budgets));
        }
    }
}

/// What came of a case: a result, or why there is none.
type Came = ((usize, usize), Result<Done, Problem>);

fn side_by_side(
    cases: &[(usize, usize)],
    suites: &[Suite],
    toolbox: &Toolbox,
    options: &RunOptions,
    ending: &AtomicBool,
) -> Vec<Came> {
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = if options.jobs == 0 { cores() } else { options.jobs }.min(cases.len());
    let (next, came) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(cases.len())));
    let work = || {
        while !ending.load(Ordering::Relaxed) && !options.is_cancelled() {
            let Some(&at) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let suite = &suites[at.0];
            let one = tested(suite, at, toolbox, options);
            if matches!(&one, Ok(Done { outcome: Some(Outcome::Stopped(Stop::Cancelled)), .. })) {
                return;
            }
            if options.fail_fast && one.as_ref().is_ok_and(|done| !done.passed()) {
                ending.store(true, Ordering::Relaxed);
            }
            let mut came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            came.push((at, one));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs {
            let thread = thread::Builder::new().name("toolcell-test".to_owned());
            // A machine that gives no more threads runs the rest on those that there are, this one at least.
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    came.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a case left behind.
struct Left {
    outcome: Option<Outcome>,
    failures: Vec<Failure>,
    fuel: u64,
    load_fuel: u64,
    memory: usize,
}

fn tested(suite: &Suite, at: (usize, usize), toolbox: &Toolbox, options: &RunOptions) -> Result<Done, Problem> {
    let began = Instant::now();
    let case = &suite.cases[at.1];
    let Left { outcome, mut failures, fuel, load_fuel, memory } = match &case.receipt {
        Some(receipt) => replayed(suite, case, receipt, toolbox, options),
        None => called(suite, case, toolbox, options)?,
    };
    let limit_is_expected = matches!(&case.expectation, Some(Expectation::Stops(code)) if code == "out-of-fuel");
    if outcome.is_some() {
        let budget = case.fuel.filter(|_| !limit_is_expected);
        failures.extend(budget.and_then(|budget| budget.judge(Burned::Calling, fuel, options.budgets)));
    }
    Ok(Done {
        path: suite.path.clone(),
        place: case.place,
        index: at,
        tool: suite.tool_name().to_owned(),
        name: case.name.clone(),
        failures,
        outcome,
        fuel,
        load_fuel,
        memory,
        took: began.elapsed(),
    })
}

fn called(suite: &Suite, case: &Case, toolbox: &Toolbox, options: &RunOptions) -> Result<Left, Problem> {
    let host = Host::new(&case.grants, &case.answers);
    let run = Run {
        tool: case.call.as_deref(),
        seed: case.seed,
        started_at: case.started_at,
        operations: &host,
        cancel: options.cancel.as_ref(),
        ..Run::default()
    };
    let report = toolbox.exec(&suite.draft, &case.params, &case.budget(), &run, Precheck::Critical);
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let failures = not_run(suite, case, &error)?;
            return Ok(Left { outcome: None, failures, fuel: 0, load_fuel: 0, memory: 0 });
        }
    };
    let (seen, unused) = host.into_seen();
    let Report { outcome, logs, usage, .. } = report;
    let mut failures: Vec<Failure> = seen
        .unanswered
        .iter()
        .map(|told| {
            Failure::new(
                "answer-missing",
                format!("the tool asks for {told}, and no answer of this test is left for that"),
            )
        })
        .collect();
    failures.extend(case.expectation.as_ref().map(|expected| expected.judge(&outcome)).unwrap_or_default());
    if case.expectation.is_none() {
        failures.push(Failure::new(
            "outcome-differs",
            format!("{}; nothing is expected yet", crate::expect::told(&outcome)),
        ));
    }
    if let Some(expected) = &case.logs {
        let logs: Vec<String> = logs.into_iter().map(|line| line.text).collect();
        failures.extend(lines("logs-differ", "what it writes is", expected, &logs));
    }
    if let Some(expected) = &case.effects {
        failures.extend(lines("effects-differ", "what it asks for is", expected, &seen.asked));
    }
    let unused = unused.iter().map(|told| format!("nothing asks for the answer to {told}"));
    failures.extend(unused.map(|message| Failure::new("answer-unused", message)));
    Ok(Left { outcome: Some(outcome), failures, fuel: usage.fuel, load_fuel: usage.load_fuel, memory: usage.memory })
}

/// What it means that a tool was not run: the case may expect it, or nobody can.
fn not_run(suite: &Suite, case: &Case, error: &ExecError) -> Result<Vec<Failure>, Problem> {
    let rules: Vec<&str> = match error {
        ExecError::Refused(findings) => findings.iter().map(|finding| finding.rule.name()).collect(),
        ExecError::Source(_) => Vec::new(),
        error => return Ok(vec![Failure::new("not-run", format!("it was not run: {error}"))]),
    };
    let (line, column) = error.place().unwrap_or((1, 1));
    let path = suite.tool.display();
    let said = match rules.first() {
        Some(rule) => format!("the analysis refuses the tool ({rule}): {path}:{line}:{column}: {error}"),
        None => format!("the tool does not load ({}): {path}:{line}:{column}: {error}", error.code()),
    };
    match &case.expectation {
        Some(Expectation::Refused(word)) if rules.contains(&word.as_str()) || error.code() == word => Ok(Vec::new()),
        Some(Expectation::Refused(word)) => {
            Ok(vec![Failure::new("not-refused", format!("{said}; it was to be refused with `{word}`"))])
        }
        _ => Err(Problem {
            code: "tool-refused",
            path: suite.path.clone(),
            place: suite.tool_place.max(Place::BEGINNING),
            message: said,
            hint: format!(
                "{}; a test runs no tool that the analysis refuses. `refused = \"{}\"` expects it",
                error.hint(),
                rules.first().copied().unwrap_or(error.code())
            ),
        }),
    }
}

/// Does a recorded run again. It is one of this tool, or it says nothing about it.
fn replayed(suite: &Suite, case: &Case, receipt: &Receipt, toolbox: &Toolbox, options: &RunOptions) -> Left {
    let not_done = |reason: String| {
        let failures = vec![Failure::new("not-run", reason)];
        Left { outcome: None, failures, fuel: 0, load_fuel: 0, memory: 0 }
    };
    if receipt.source() != suite.draft.source() {
        let tool = suite.tool_name();
        return not_done(format!(
            "the recorded run is of another source than {tool}: record it anew with `toolcell run … --receipt`"
        ));
    }
    let again = ReplayOptions { other_version: OtherVersion::Note, cancel: options.cancel.clone() };
    match toolbox.replay(receipt, &again) {
        Ok(replayed) => {
            // Another guest counts other fuel for the same run.
            let counts = |about: &str| replayed.notes.is_empty() || !matches!(about, "fuel" | "load-fuel");
            let differences = replayed.differences.iter().filter(|difference| counts(difference.about));
            let failures =
                differences.map(|one| Failure::new("replay-differs", format!("{}: {}", one.about, one.says)));
            let mut failures: Vec<Failure> = failures.collect();
            failures.extend(case.expectation.iter().flat_map(|expected| expected.judge(&replayed.outcome)));
            let (fuel, load_fuel) = (replayed.fuel, replayed.load_fuel);
            Left { outcome: Some(replayed.outcome), failures, fuel, load_fuel, memory: 0 }
        }
        Err(error) => not_done(format!("the recorded run cannot be done again: {error}")),
    }
}
