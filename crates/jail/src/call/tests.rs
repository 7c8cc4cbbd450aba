use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcell_host::{Grant, Level, LogLine, NoOperations, Operation, Operations, PartialSink, Waited};

use super::*;
use crate::worker::TICK;

/// A process that does nothing, and the other end of its pipe.
fn worker() -> (Worker, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let process = Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let pipe = Pipe::new(ours);
    pipe.look_up_every(TICK).unwrap();
    (Worker::of(process, pipe), theirs)
}

fn small() -> Budget {
    let (fuel, output, console, operations) = (1000, 100, 100, 2);
    Budget { fuel, output, console, operations, deadline: Duration::from_secs(20), ..Budget::default() }
}

fn report(outcome: Outcome) -> Report {
    Report { outcome, ..never_began(Stop::Stalled, Instant::now()) }
}

/// What a host makes of a worker that says this, in answer to a call.
fn made_of(said: &[Said], run: &Run<'_>) -> String {
    let (worker, theirs) = worker();
    let mut theirs = Pipe::new(theirs);
    for frame in said {
        theirs.say(frame, || Patient::Yes).unwrap();
    }
    let budget = small();
    let until = Until::new(Instant::now() + budget.deadline, None);
    let mut exchange = Exchange::new(worker, &budget, run, until, Instant::now());
    let made = match exchange.call(0, &Params::default(), Patience::Awake) {
        Ok(Some(Came::Ended(report))) => format!("{:?}", report.outcome),
        Ok(None) => "unknown".to_owned(),
        Ok(Some(_)) => "something else".to_owned(),
        Err(Lost::NoInstance(reason)) => reason,
        Err(Lost::Worker(Stop::WorkerDied { detail })) => detail,
        Err(Lost::Worker(stop)) => stop.to_string(),
    };
    drop(exchange.into_worker());
    drop(theirs);
    made
}

const MISFIT: &str = "it said what no worker says, and was ended";

#[test]
fn what_a_worker_says_within_the_budget_is_believed() {
    let fits = Outcome::Returned(Some(Json::NULL));
    assert_eq!(made_of(&[Said::Ended(Box::new(report(fits.clone())))], &Run::default()), format!("{fits:?}"));
    assert_eq!(made_of(&[Said::Unknown], &Run::default()), "unknown");
    assert_eq!(made_of(&[Said::NoInstance("full".to_owned())], &Run::default()), "full");
}

#[test]
fn a_worker_that_says_what_does_not_fit_is_ended() {
    let stalled = || report(Outcome::Stopped(Stop::Stalled));
    let mut burned = stalled();
    burned.usage.fuel = 1001;
    let mut logged = stalled();
    logged.logs.push(LogLine { level: Level::Log, text: "x".repeat(400) });
    let long = Json::parse(format!("\"{}\"", "x".repeat(100))).unwrap();
    let operation = |id| Operation { id, kind: "timer".to_owned(), payload: String::new(), bytes: None };
    let begun = Begun { started: (0..5).map(operation).collect(), cancelled: Vec::new() };
    let ready = Said::Ready { load_fuel: 1, manifest: Json::NULL, form: Form::Snapshot };
    for said in [
        Said::Ended(Box::new(burned)),
        Said::Ended(Box::new(logged)),
        Said::Ended(Box::new(report(Outcome::Returned(Some(long))))),
        Said::Asleep(vec![1, 2, 3]),
        Said::Looks,
        Said::Partial("x".repeat(101)),
        Said::Waits { begun: Some(begun), fuel: 1, memory: 1 },
        Said::Unable(String::new()),
        Said::OtherScript,
        ready,
    ] {
        let shown = format!("{said:?}");
        assert_eq!(made_of(&[said], &Run::default()), MISFIT, "{shown}");
    }
}

/// Notes what is begun and what a call has left, and ends everything at once, for so much fuel each time.
#[derive(Default)]
struct Seen {
    left: Mutex<Vec<(u64, usize)>>,
    begun: Mutex<usize>,
    costs: u64,
}

impl Operations for Seen {
    fn grants(&self) -> Vec<Grant> {
        NoOperations.grants()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(SeenOfCall(self))
    }
}

struct SeenOfCall<'a>(&'a Seen);

impl OperationsOfCall for SeenOfCall<'_> {
    fn begin(&mut self, started: Vec<Operation>, _: &[u32]) {
        *self.0.begun.lock().unwrap() += started.len();
    }

    fn wait(&mut self, left: &Left<'_>) -> Waited {
        self.0.left.lock().unwrap().push((left.fuel, left.memory));
        Waited { fuel: self.0.costs, ..Waited::in_vain() }
    }
}

fn waits(fuel: u64, memory: usize) -> Said {
    Said::Waits { begun: None, fuel, memory }
}

fn begins(started: impl IntoIterator<Item = u32>, cancelled: Vec<u32>) -> Said {
    let operation = |id| Operation { id, kind: "timer".to_owned(), payload: String::new(), bytes: None };
    let begun = Begun { started: started.into_iter().map(operation).collect(), cancelled };
    Said::Waits { begun: Some(begun), fuel: 1, memory: 1 }
}

/// A report of a call that burned so much fuel.
fn burned(fuel: u64, load_fuel: u64) -> Said {
    let mut burned = report(Outcome::Returned(Some(Json::NULL)));
    (burned.usage.fuel, burned.usage.load_fuel) = (fuel, load_fuel);
    Said::Ended(Box::new(burned))
}

#[test]
fn what_a_call_has_left_is_within_its_budget_and_only_becomes_less() {
    let check = |said: &[Said], expect: &str, left: &[(u64, usize)]| {
        let seen = Seen { costs: 100, ..Seen::default() };
        let run = Run { operations: &seen, ..Run::default() };
        assert_eq!(made_of(said, &run), expect, "{said:?}");
        assert_eq!(*seen.left.lock().unwrap(), left, "{said:?}");
    };
    let memory = small().memory;
    check(
        &[waits(900, memory), waits(800, 9), waits(7, 9), Said::Unknown],
        "unknown",
        &[(900, memory), (800, 9), (7, 9)],
    );
    check(&[waits(1001, 9)], MISFIT, &[]);
    check(&[waits(u64::MAX, 9)], MISFIT, &[]);
    check(&[waits(9, memory + 1)], MISFIT, &[]);
    // What other tools burned for this one is gone as well.
    check(&[waits(900, 9), waits(801, 9)], MISFIT, &[(900, 9)]);
    check(&[waits(50, 9), waits(1, 9)], MISFIT, &[(50, 9)]);
}

#[test]
fn a_report_burned_at_least_what_was_gone_before() {
    let fits = format!("{:?}", Outcome::Returned(Some(Json::NULL)));
    let check = |said: &[Said], expect: &str| {
        let seen = Seen { costs: 100, ..Seen::default() };
        assert_eq!(made_of(said, &Run { operations: &seen, ..Run::default() }), expect, "{said:?}");
    };
    check(&[waits(900, 9), burned(200, 0)], &fits);
    check(&[waits(900, 9), burned(100, 100)], &fits);
    check(&[waits(900, 9), burned(199, 0)], MISFIT);
    check(&[burned(1001, 0)], MISFIT);
}

#[test]
fn operations_are_counted_and_not_their_numbers() {
    let check = |said: Vec<Said>, expect: &str, begun: usize| {
        let seen = Seen::default();
        let run = Run { operations: &seen, ..Run::default() };
        let said: Vec<Said> = said.into_iter().chain([Said::Unknown]).collect();
        assert_eq!(made_of(&said, &run), expect);
        assert_eq!(*seen.begun.lock().unwrap(), begun);
    };
    // Two at once are the limit, and twice that is the most that a guest can have told of.
    check(vec![begins(1..=4, vec![])], "unknown", 4);
    check(vec![begins(1..=5, vec![])], MISFIT, 0);
    check(vec![begins(std::iter::repeat_n(1, 2_000), vec![])], MISFIT, 0);
    check(vec![begins([1, 1], vec![])], MISFIT, 0);
    check(vec![begins([1], vec![]), begins([1], vec![])], MISFIT, 1);
    check(vec![begins([2], vec![]), begins([1], vec![])], MISFIT, 1);
    // What is cancelled at once has been begun as well.
    check(vec![begins(1..=5, (1..=5).collect())], MISFIT, 0);
    check(vec![begins([1, 2], vec![]), begins([3, 4], vec![1, 2]), begins([5, 6], vec![3, 4])], "unknown", 6);
    check(vec![begins([1], vec![1; MAX_CANCELLED + 1])], MISFIT, 0);
}

#[test]
fn a_partial_result_that_is_no_json_ends_the_worker() {
    for (partial, expect) in [("[1]", "unknown"), ("[1", MISFIT), ("", MISFIT), ("undefined", MISFIT)] {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let taking = Arc::clone(&taken);
        let sink: PartialSink = Arc::new(move |json: &str| taking.lock().unwrap().push(json.to_owned()));
        let run = Run { partial: Some(&sink), ..Run::default() };
        assert_eq!(made_of(&[Said::Partial(partial.to_owned()), Said::Unknown], &run), expect, "{partial}");
        let expect: &[&str] = if expect == MISFIT { &[] } else { &[partial] };
        assert_eq!(*taken.lock().unwrap(), expect);
    }
}

#[test]
fn a_script_that_burned_more_than_it_may_to_load_ends_the_worker() {
    let (worker, theirs) = worker();
    let mut theirs = Pipe::new(theirs);
    let ready = Said::Ready { load_fuel: small().fuel + 1, manifest: Json::NULL, form: Form::Snapshot };
    theirs.say(&ready, || Patient::Yes).unwrap();
    let (budget, run) = (small(), Run::default());
    let until = Until::new(Instant::now() + budget.deadline, None);
    let mut exchange = Exchange::new(worker, &budget, &run, until, Instant::now());
    let prepared = exchange.prepare(0, Source { name: "a.js", source: "" }, &budget);
    assert!(matches!(prepared, Err(Lost::Worker(Stop::WorkerDied { detail })) if detail == MISFIT));
}

#[test]
fn a_script_that_is_loaded_waits_for_nothing() {
    let (worker, theirs) = worker();
    let mut theirs = Pipe::new(theirs);
    theirs.say(&Said::Waits { begun: None, fuel: 1, memory: 1 }, || Patient::Yes).unwrap();
    let (budget, run) = (small(), Run::default());
    let until = Until::new(Instant::now() + budget.deadline, None);
    let mut exchange = Exchange::new(worker, &budget, &run, until, Instant::now());
    let prepared = exchange.prepare(0, Source { name: "a.js", source: "" }, &budget);
    assert!(matches!(prepared, Err(Lost::Worker(Stop::WorkerDied { detail })) if detail == MISFIT));
}

#[test]
fn a_worker_that_lets_go_of_its_pipe_is_ended() {
    let (worker, theirs) = worker();
    let (budget, run) = (small(), Run::default());
    let until = Until::new(Instant::now() + budget.deadline, None);
    let mut exchange = Exchange::new(worker, &budget, &run, until, Instant::now());
    drop(theirs);
    let Err(Lost::Worker(stop)) = exchange.call(0, &Params::default(), Patience::Awake) else { panic!("it is gone") };
    assert_eq!(stop, Stop::WorkerDied { detail: "it closed its pipe, and was ended".to_owned() });
}
