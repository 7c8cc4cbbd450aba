//! The test runner: loads each tool once and runs cases in parallel.
//!
//! Invariant: the result of a case does not depend on the cases before or beside it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use toolcell::{
    CallContext, CancelToken, ExecError, Outcome, Precheck, Receipt, ReplayOptions, Report, Stop, Toolbox,
    VersionPolicy,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message};

use crate::budget::{BudgetPolicy, FuelPhase};
use crate::case::Case;
use crate::expect::{CaseFailure, ExpectedOutcome, check_host_calls, check_logs};
use crate::mocks::MockHost;
use crate::outcome::{CaseResult, TestReport};
use crate::problem::{FilePosition, SuiteProblem};
use crate::suite::Suite;

/// Options of a test run.
#[derive(Debug, Clone, Default)]
pub struct TestOptions {
    /// The number of parallel jobs; 0 means one per core.
    pub jobs: usize,
    /// Whether to stop after the first failure.
    pub fail_fast: bool,
    /// Run only cases whose name, or whose tool's file name, contains this text.
    pub filter: Option<String>,
    /// The way in which budgets are enforced.
    pub budgets: BudgetPolicy,
    /// Cancels the run from another thread.
    pub cancel: Option<CancelToken>,
}

impl TestOptions {
    fn is_selected(&self, suite: &Suite, case: &Case) -> bool {
        let Some(word) = &self.filter else { return true };
        suite.tool_name().contains(word.as_str()) || case.name.contains(word.as_str())
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

/// Runs the tests of these suites.
#[must_use]
pub fn run_suites(suites: &[Suite], toolbox: &Toolbox, options: &TestOptions) -> TestReport {
    let began = Instant::now();
    let mut wanted = Vec::new();
    for (number, suite) in suites.iter().enumerate() {
        let cases = suite.cases.iter().enumerate().filter(|(_, case)| options.is_selected(suite, case));
        wanted.extend(cases.map(|(case, _)| (number, case)));
    }
    let all = wanted.len();
    // The first case of each file loads its tool, so that no two threads load the same tool.
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for at in wanted {
        let seen = first.last().is_some_and(|(suite, _)| *suite == at.0);
        if seen { rest.push(at) } else { first.push(at) }
    }
    let ending = AtomicBool::new(false);
    let (mut done, mut problems) = (Vec::new(), Vec::new());
    for part in [first, rest] {
        for (at, result) in run_parallel(&part, suites, toolbox, options, &ending) {
            match result {
                Ok(one) => done.push(one),
                Err(problem) => problems.push((at, problem)),
            }
        }
    }
    done.sort_by_key(|one| one.index);
    check_load_budgets(suites, &mut done, options);
    let cancelled = options.is_cancelled();
    // One problem per tool is enough.
    problems.sort_by_key(|(at, _)| *at);
    problems.dedup_by_key(|(at, _)| at.0);
    let problems: Vec<SuiteProblem> = problems.into_iter().map(|(_, problem)| problem).collect();
    let not_run = if problems.is_empty() { all - done.len() } else { 0 };
    TestReport { results: done, problems, not_run, is_cancelled: cancelled, elapsed: began.elapsed() }
}

/// Checks the budgets for loading tools. The fuel depends on the granted capabilities, so the most
/// expensive load counts.
fn check_load_budgets(suites: &[Suite], done: &mut [CaseResult], options: &TestOptions) {
    for (number, suite) in suites.iter().enumerate() {
        let Some(budget) = suite.load_fuel else { continue };
        let loaded = done.iter_mut().filter(|one| one.index.0 == number && one.outcome.is_some());
        if let Some(dearest) = loaded.max_by_key(|one| one.load_fuel) {
            dearest.failures.extend(budget.check(FuelPhase::Load, dearest.load_fuel, options.budgets));
        }
    }
}

/// The index of a case, and its result or the problem that prevented it from running.
type IndexedResult = ((usize, usize), Result<CaseResult, SuiteProblem>);

fn run_parallel(
    cases: &[(usize, usize)],
    suites: &[Suite],
    toolbox: &Toolbox,
    options: &TestOptions,
    ending: &AtomicBool,
) -> Vec<IndexedResult> {
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = if options.jobs == 0 { cores() } else { options.jobs }.min(cases.len());
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(cases.len())));
    let work = || {
        while !ending.load(Ordering::Relaxed) && !options.is_cancelled() {
            let Some(&at) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let suite = &suites[at.0];
            let one = run_case(suite, at, toolbox, options);
            if matches!(&one, Ok(CaseResult { outcome: Some(Outcome::Stopped(Stop::Cancelled)), .. })) {
                return;
            }
            if options.fail_fast && one.as_ref().is_ok_and(|done| !done.has_passed()) {
                ending.store(true, Ordering::Relaxed);
            }
            let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results.push((at, one));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs {
            let thread = thread::Builder::new().name("toolcell-test".to_owned());
            // If the machine provides no more threads, the existing ones run the rest, at least
            // this one.
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The result of a call, before its fuel budget is checked.
struct CaseRun {
    outcome: Option<Outcome>,
    failures: Vec<CaseFailure>,
    fuel: u64,
    load_fuel: u64,
    memory: usize,
}

fn run_case(
    suite: &Suite,
    at: (usize, usize),
    toolbox: &Toolbox,
    options: &TestOptions,
) -> Result<CaseResult, SuiteProblem> {
    let began = Instant::now();
    let case = &suite.cases[at.1];
    let CaseRun { outcome, mut failures, fuel, load_fuel, memory } = match &case.receipt {
        Some(receipt) => replay_receipt(suite, case, receipt, toolbox, options),
        None => call_tool(suite, case, toolbox, options)?,
    };
    let limit_is_expected =
        matches!(&case.expectation, Some(ExpectedOutcome::Stops(code)) if code == ErrorCode::OutOfFuel.as_str());
    if outcome.is_some() {
        let budget = case.fuel.filter(|_| !limit_is_expected);
        failures.extend(budget.and_then(|budget| budget.check(FuelPhase::Call, fuel, options.budgets)));
    }
    Ok(CaseResult {
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
        elapsed: began.elapsed(),
    })
}

fn call_tool(suite: &Suite, case: &Case, toolbox: &Toolbox, options: &TestOptions) -> Result<CaseRun, SuiteProblem> {
    let host = MockHost::new(&case.grants, &case.mocks);
    let run = CallContext {
        tool: case.tool.as_deref(),
        seed: case.seed,
        started_at: case.started_at,
        host_calls: &host,
        cancel: options.cancel.as_ref(),
        ..CallContext::default()
    };
    let report = toolbox.exec(&suite.draft, &case.params, &case.budget(), &run, Precheck::Critical);
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let failures = explain_not_run(suite, case, &error)?;
            return Ok(CaseRun { outcome: None, failures, fuel: 0, load_fuel: 0, memory: 0 });
        }
    };
    let (seen, unused) = host.into_observed();
    let Report { outcome, logs, usage, .. } = report;
    let mut failures: Vec<CaseFailure> = seen
        .unmatched
        .iter()
        .map(|call| {
            let message = message!("the tool requests {call}, but this test has no answer left for it", call);
            CaseFailure::new("answer-missing", message)
        })
        .collect();
    failures.extend(case.expectation.as_ref().map(|expected| expected.check(&outcome)).unwrap_or_default());
    if case.expectation.is_none() {
        let actual = crate::expect::describe_outcome(&outcome);
        failures.push(CaseFailure::new("outcome-differs", message!("{actual}; no outcome is expected yet", actual)));
    }
    if let Some(expected) = &case.logs {
        let logs: Vec<String> = logs.into_iter().map(|line| line.text).collect();
        failures.extend(check_logs(expected, &logs));
    }
    if let Some(expected) = &case.effects {
        failures.extend(check_host_calls(expected, &seen.calls));
    }
    let unused = unused.iter().map(|call| message!("the answer to {call} was not used", call));
    failures.extend(unused.map(|message| CaseFailure::new("answer-unused", message)));
    Ok(CaseRun { outcome: Some(outcome), failures, fuel: usage.fuel, load_fuel: usage.load_fuel, memory: usage.memory })
}

/// Interprets an error that prevented a tool from running: the case may expect it, or it is a
/// problem.
fn explain_not_run(suite: &Suite, case: &Case, error: &ExecError) -> Result<Vec<CaseFailure>, SuiteProblem> {
    let rules: Vec<&str> = match error {
        ExecError::Refused(findings) => findings.iter().map(|finding| finding.rule.name()).collect(),
        ExecError::Source(_) => Vec::new(),
        error => return Ok(vec![CaseFailure::new("not-run", message!("it was not run: {error}", error))]),
    };
    let (line, column) = error.position().unwrap_or((1, 1));
    let path = suite.tool.display();
    let message = match rules.first() {
        Some(rule) => message!(
            "the analysis refuses the tool ({rule}): {path}:{line}:{column}: {error}",
            rule,
            path,
            line,
            column,
            error,
        ),
        None => message!(
            "the tool does not load ({code}): {path}:{line}:{column}: {error}",
            code = error.code(),
            path,
            line,
            column,
            error,
        ),
    };
    match &case.expectation {
        Some(ExpectedOutcome::Refused(word)) if rules.contains(&word.as_str()) || error.code() == word.as_str() => {
            Ok(Vec::new())
        }
        Some(ExpectedOutcome::Refused(word)) => {
            let message = message!("{message}; expected it to be refused with `{word}`", message, word);
            Ok(vec![CaseFailure::new("not-refused", message)])
        }
        _ => Err(SuiteProblem {
            code: "tool-refused",
            path: suite.path.as_path().into(),
            place: suite.tool_place.max(FilePosition::START),
            message,
            hint: message!(
                "{hint}; a test does not run a refused tool; to expect this, set `refused = \"{rule}\"`",
                hint = error.hint(),
                rule = rules.first().copied().unwrap_or(error.code().as_str()),
            ),
        }),
    }
}

/// Replays a receipt. A receipt of another source is a failure.
fn replay_receipt(suite: &Suite, case: &Case, receipt: &Receipt, toolbox: &Toolbox, options: &TestOptions) -> CaseRun {
    let not_done = |reason: Message| {
        let failures = vec![CaseFailure::new("not-run", reason)];
        CaseRun { outcome: None, failures, fuel: 0, load_fuel: 0, memory: 0 }
    };
    if receipt.source() != suite.draft.source() {
        let tool = suite.tool_name();
        return not_done(message!(
            "the receipt is of another source than {tool}: record it again with `toolcell run … --receipt`",
            tool,
        ));
    }
    let again = ReplayOptions { version_policy: VersionPolicy::Note, cancel: options.cancel.clone() };
    match toolbox.replay(receipt, &again) {
        Ok(replayed) => {
            // A different fuel model counts different fuel for the same run.
            let counts = |about: &str| replayed.notes.is_empty() || !matches!(about, "fuel" | "load-fuel");
            let differences = replayed.differences.iter().filter(|difference| counts(difference.about));
            let failures = differences.map(|one| {
                let message = message!("{about}: {difference}", about = one.about, difference = one.says);
                CaseFailure::new("replay-differs", message)
            });
            let mut failures: Vec<CaseFailure> = failures.collect();
            failures.extend(case.expectation.iter().flat_map(|expected| expected.check(&replayed.outcome)));
            let (fuel, load_fuel) = (replayed.fuel, replayed.load_fuel);
            CaseRun { outcome: Some(replayed.outcome), failures, fuel, load_fuel, memory: 0 }
        }
        Err(error) => not_done(message!("the receipt cannot be replayed: {error}", error)),
    }
}
