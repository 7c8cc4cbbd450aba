use std::process::{Command, Stdio};
use std::time::Duration;

use toolcell_host::{Grant, Level, LogLine, NoOperations, Operation, Operations, Waited};

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

#[test]
fn what_a_call_has_left_is_never_more_than_its_budget() {
    struct Seen(std::sync::Mutex<Vec<(u64, usize)>>);
    impl Operations for Seen {
        fn grants(&self) -> Vec<Grant> {
            NoOperations.grants()
        }
        fn start(&self) -> Box<dyn OperationsOfCall + '_> {
            Box::new(OfCall(self))
        }
    }
    struct OfCall<'a>(&'a Seen);
    impl OperationsOfCall for OfCall<'_> {
        fn begin(&mut self, _: Vec<Operation>, _: &[u32]) {}
        fn wait(&mut self, left: &Left<'_>) -> Waited {
            self.0.0.lock().unwrap().push((left.fuel, left.memory));
            Waited::in_vain()
        }
    }
    let seen = Seen(std::sync::Mutex::default());
    let run = Run { operations: &seen, ..Run::default() };
    let greedy = Said::Waits { begun: None, fuel: u64::MAX, memory: usize::MAX };
    let modest = Said::Waits { begun: None, fuel: 7, memory: 9 };
    assert_eq!(made_of(&[greedy, modest, Said::Unknown], &run), "unknown");
    assert_eq!(*seen.0.lock().unwrap(), [(1000, small().memory), (7, 9)]);
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
