use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcell_host::{
    CallProfile, Frame, FrameOrigin, Grant, HostCall, HostCalls, Level, LogLine, NoHostCalls, PartialResultSink,
    ProfileSlot, ProfiledFunction, Stack, WaitResult,
};

use super::*;
use crate::worker::TICK;

/// A process that does nothing, and the other end of its channel.
fn worker() -> (Worker, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let process = Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let pipe = Channel::new(ours);
    pipe.set_poll_interval(TICK).unwrap();
    (Worker::from_parts(process, pipe), theirs)
}

fn small() -> Budget {
    let (fuel, output, console, operations) = (1000, 100, 100, 2);
    Budget { fuel, output, console, operations, deadline: Duration::from_secs(20), ..Budget::default() }
}

fn report(outcome: Outcome) -> Report {
    Report { outcome, ..Report::not_started(Stop::Stalled, Instant::now()) }
}

/// Describes how the host reacts to a worker that answers a call with these messages.
fn outcome_of(said: &[WorkerMessage], run: &CallContext<'_>) -> String {
    outcome_of_call(CallMode::Plain, said, run)
}

fn outcome_of_call(mode: CallMode, said: &[WorkerMessage], run: &CallContext<'_>) -> String {
    let (worker, theirs) = worker();
    let mut theirs = Channel::new(theirs);
    for frame in said {
        theirs.send(frame, || WaitMode::KeepWaiting).unwrap();
    }
    let budget = small();
    let until = CallDeadline::new(Instant::now() + budget.deadline, None);
    let mut exchange = WorkerSession::new(worker, &budget, run, until, Instant::now());
    let made = match exchange.call(0, &Params::default(), mode) {
        Ok(Some(CallReply::Finished(report))) => format!("{:?}", report.outcome),
        Ok(None) => "unknown".to_owned(),
        Ok(Some(_)) => "something else".to_owned(),
        Err(WorkerLost::NoInstance(reason) | WorkerLost::Bug(reason)) => reason,
        Err(WorkerLost::Worker(Stop::WorkerDied { detail })) => detail.to_string(),
        Err(WorkerLost::Worker(stop)) => stop.to_string(),
    };
    drop(exchange.into_worker());
    drop(theirs);
    made
}

const PROTOCOL_VIOLATION: &str = "it violated the protocol and was killed";

#[test]
fn what_a_worker_says_within_the_budget_is_believed() {
    let fits = Outcome::Returned(Some(Json::NULL));
    assert_eq!(
        outcome_of(&[WorkerMessage::Finished(Box::new(report(fits.clone())))], &CallContext::default()),
        format!("{fits:?}")
    );
    assert_eq!(outcome_of(&[WorkerMessage::UnknownScript], &CallContext::default()), "unknown");
    assert_eq!(outcome_of(&[WorkerMessage::NoInstance("full".to_owned())], &CallContext::default()), "full");
    assert_eq!(outcome_of(&[WorkerMessage::Bug("odd".to_owned())], &CallContext::default()), "odd");
}

#[test]
fn a_profile_that_does_not_add_up_or_that_nobody_asked_for_ends_the_worker() {
    let frame = |function| Frame { function, line: 1, column: 1 };
    let function =
        |name: &str| ProfiledFunction { name: name.to_owned(), origin: FrameOrigin::Tool, line: 1, column: 1 };
    let profile = CallProfile {
        fuel: 100,
        engine: 20,
        other_tools: 0,
        unattributed: 30,
        samples: 1,
        functions: vec![function("execute")],
        stacks: vec![Stack { frames: vec![frame(0)], fuel: 50 }],
    };
    let check = |mode, profile: &CallProfile| {
        let slot = ProfileSlot::default();
        let run = CallContext { profile: Some(&slot), ..CallContext::default() };
        let said = [WorkerMessage::Profile(Box::new(profile.clone())), burned(100, 0)];
        let outcome = outcome_of_call(mode, &said, &run);
        (outcome != PROTOCOL_VIOLATION, slot.take())
    };
    assert_eq!(check(CallMode::Profiled, &profile), (true, Some(profile.clone())));
    for mode in [CallMode::Plain, CallMode::Suspendable] {
        assert_eq!(check(mode, &profile), (false, None));
    }
    let stack = |frames, fuel| Stack { frames, fuel };
    for lie in [
        CallProfile { fuel: 101, ..profile.clone() },
        CallProfile { engine: 21, ..profile.clone() },
        CallProfile { engine: u64::MAX, unattributed: 51, ..profile.clone() },
        CallProfile { stacks: vec![stack(vec![frame(1)], 50)], ..profile.clone() },
        CallProfile { stacks: vec![stack(vec![frame(0); 1 << 10], 50)], ..profile.clone() },
        CallProfile { functions: vec![function("execute"); 1 << 13], ..profile.clone() },
    ] {
        assert_eq!(check(CallMode::Profiled, &lie), (false, None), "{lie:?}");
    }
    // A call ends with a report, and has one profile.
    let slot = ProfileSlot::default();
    let run = CallContext { profile: Some(&slot), ..CallContext::default() };
    let one = || WorkerMessage::Profile(Box::new(profile.clone()));
    for said in [vec![one(), one(), burned(100, 0)], vec![one(), WorkerMessage::UnknownScript]] {
        assert_eq!(outcome_of_call(CallMode::Profiled, &said, &run), PROTOCOL_VIOLATION);
    }
}

#[test]
fn a_worker_that_says_what_does_not_fit_is_ended() {
    let stalled = || report(Outcome::Stopped(Stop::Stalled));
    let mut burned = stalled();
    burned.usage.fuel = 1001;
    let mut logged = stalled();
    logged.logs.push(LogLine { level: Level::Log, text: "x".repeat(400) });
    let long = Json::parse(format!("\"{}\"", "x".repeat(100))).unwrap();
    let operation = |id| HostCall { id, kind: "timer".to_owned(), payload: String::new(), bytes: None };
    let begun = StartedCalls { started: (0..5).map(operation).collect(), cancelled: Vec::new() };
    let ready = WorkerMessage::Ready { load_fuel: 1, manifest: Json::NULL, load_mode: LoadMode::Snapshot };
    for said in [
        WorkerMessage::Finished(Box::new(burned)),
        WorkerMessage::Finished(Box::new(logged)),
        WorkerMessage::Finished(Box::new(report(Outcome::Returned(Some(long))))),
        WorkerMessage::Suspended(vec![1, 2, 3]),
        WorkerMessage::ReadClock,
        WorkerMessage::Partial("x".repeat(101)),
        WorkerMessage::Waiting { calls: Some(begun), fuel: 1, memory: 1 },
        WorkerMessage::StartFailed(String::new()),
        WorkerMessage::ScriptMismatch,
        ready,
    ] {
        let shown = format!("{said:?}");
        assert_eq!(outcome_of(&[said], &CallContext::default()), PROTOCOL_VIOLATION, "{shown}");
    }
}

/// Records started host calls and remaining resources. Each wait ends at once and burns `costs`
/// units of fuel.
#[derive(Default)]
struct RecordingHostCalls {
    remaining: Mutex<Vec<(u64, usize)>>,
    started: Mutex<usize>,
    costs: u64,
}

impl HostCalls for RecordingHostCalls {
    fn grants(&self) -> Vec<Grant> {
        NoHostCalls.grants()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(RecordingDriver(self))
    }
}

struct RecordingDriver<'a>(&'a RecordingHostCalls);

impl HostCallDriver for RecordingDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, _: &[u32]) {
        *self.0.started.lock().unwrap() += started.len();
    }

    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult {
        self.0.remaining.lock().unwrap().push((left.fuel, left.memory));
        WaitResult { fuel: self.0.costs, ..WaitResult::nothing_pending() }
    }
}

fn waits(fuel: u64, memory: usize) -> WorkerMessage {
    WorkerMessage::Waiting { calls: None, fuel, memory }
}

fn begins(started: impl IntoIterator<Item = u32>, cancelled: Vec<u32>) -> WorkerMessage {
    let operation = |id| HostCall { id, kind: "timer".to_owned(), payload: String::new(), bytes: None };
    let begun = StartedCalls { started: started.into_iter().map(operation).collect(), cancelled };
    WorkerMessage::Waiting { calls: Some(begun), fuel: 1, memory: 1 }
}

/// The report of a call that burned this much fuel.
fn burned(fuel: u64, load_fuel: u64) -> WorkerMessage {
    let mut burned = report(Outcome::Returned(Some(Json::NULL)));
    (burned.usage.fuel, burned.usage.load_fuel) = (fuel, load_fuel);
    WorkerMessage::Finished(Box::new(burned))
}

#[test]
fn what_a_call_has_left_is_within_its_budget_and_only_becomes_less() {
    let check = |said: &[WorkerMessage], expect: &str, left: &[(u64, usize)]| {
        let seen = RecordingHostCalls { costs: 100, ..RecordingHostCalls::default() };
        let run = CallContext { host_calls: &seen, ..CallContext::default() };
        assert_eq!(outcome_of(said, &run), expect, "{said:?}");
        assert_eq!(*seen.remaining.lock().unwrap(), left, "{said:?}");
    };
    let memory = small().memory;
    check(
        &[waits(900, memory), waits(800, 9), waits(7, 9), WorkerMessage::UnknownScript],
        "unknown",
        &[(900, memory), (800, 9), (7, 9)],
    );
    check(&[waits(1001, 9)], PROTOCOL_VIOLATION, &[]);
    check(&[waits(u64::MAX, 9)], PROTOCOL_VIOLATION, &[]);
    check(&[waits(9, memory + 1)], PROTOCOL_VIOLATION, &[]);
    // Fuel that other tools burned on behalf of this one is gone as well.
    check(&[waits(900, 9), waits(801, 9)], PROTOCOL_VIOLATION, &[(900, 9)]);
    check(&[waits(50, 9), waits(1, 9)], PROTOCOL_VIOLATION, &[(50, 9)]);
}

#[test]
fn a_report_burned_at_least_what_was_gone_before() {
    let fits = format!("{:?}", Outcome::Returned(Some(Json::NULL)));
    let check = |said: &[WorkerMessage], expect: &str| {
        let seen = RecordingHostCalls { costs: 100, ..RecordingHostCalls::default() };
        assert_eq!(outcome_of(said, &CallContext { host_calls: &seen, ..CallContext::default() }), expect, "{said:?}");
    };
    check(&[waits(900, 9), burned(200, 0)], &fits);
    check(&[waits(900, 9), burned(100, 100)], &fits);
    check(&[waits(900, 9), burned(199, 0)], PROTOCOL_VIOLATION);
    check(&[burned(1001, 0)], PROTOCOL_VIOLATION);
}

#[test]
fn operations_are_counted_and_not_their_numbers() {
    let check = |said: Vec<WorkerMessage>, expect: &str, begun: usize| {
        let seen = RecordingHostCalls::default();
        let run = CallContext { host_calls: &seen, ..CallContext::default() };
        let said: Vec<WorkerMessage> = said.into_iter().chain([WorkerMessage::UnknownScript]).collect();
        assert_eq!(outcome_of(&said, &run), expect);
        assert_eq!(*seen.started.lock().unwrap(), begun);
    };
    // The limit is two at once, and a guest may announce at most twice as many.
    check(vec![begins(1..=4, vec![])], "unknown", 4);
    check(vec![begins(1..=5, vec![])], PROTOCOL_VIOLATION, 0);
    check(vec![begins(std::iter::repeat_n(1, 2_000), vec![])], PROTOCOL_VIOLATION, 0);
    check(vec![begins([1, 1], vec![])], PROTOCOL_VIOLATION, 0);
    check(vec![begins([1], vec![]), begins([1], vec![])], PROTOCOL_VIOLATION, 1);
    check(vec![begins([2], vec![]), begins([1], vec![])], PROTOCOL_VIOLATION, 1);
    // Calls that are cancelled in the same message were started all the same.
    check(vec![begins(1..=5, (1..=5).collect())], PROTOCOL_VIOLATION, 0);
    check(vec![begins([1, 2], vec![]), begins([3, 4], vec![1, 2]), begins([5, 6], vec![3, 4])], "unknown", 6);
    check(vec![begins([1], vec![1; MAX_CANCELLED + 1])], PROTOCOL_VIOLATION, 0);
}

#[test]
fn a_partial_result_that_is_no_json_ends_the_worker() {
    for (partial, expect) in
        [("[1]", "unknown"), ("[1", PROTOCOL_VIOLATION), ("", PROTOCOL_VIOLATION), ("undefined", PROTOCOL_VIOLATION)]
    {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let taking = Arc::clone(&taken);
        let sink: PartialResultSink = Arc::new(move |json: &str| taking.lock().unwrap().push(json.to_owned()));
        let run = CallContext { partial_sink: Some(&sink), ..CallContext::default() };
        assert_eq!(
            outcome_of(&[WorkerMessage::Partial(partial.to_owned()), WorkerMessage::UnknownScript], &run),
            expect,
            "{partial}"
        );
        let expect: &[&str] = if expect == PROTOCOL_VIOLATION { &[] } else { &[partial] };
        assert_eq!(*taken.lock().unwrap(), expect);
    }
}

#[test]
fn a_script_that_burned_more_than_it_may_to_load_ends_the_worker() {
    let (worker, theirs) = worker();
    let mut theirs = Channel::new(theirs);
    let ready =
        WorkerMessage::Ready { load_fuel: small().fuel + 1, manifest: Json::NULL, load_mode: LoadMode::Snapshot };
    theirs.send(&ready, || WaitMode::KeepWaiting).unwrap();
    let (budget, run) = (small(), CallContext::default());
    let until = CallDeadline::new(Instant::now() + budget.deadline, None);
    let mut exchange = WorkerSession::new(worker, &budget, &run, until, Instant::now());
    let prepared = exchange.prepare(0, ScriptFrame { name: "a.js", source: "" }, &budget);
    assert!(matches!(prepared, Err(WorkerLost::Worker(Stop::WorkerDied { detail })) if detail == PROTOCOL_VIOLATION));
}

#[test]
fn a_script_that_is_loaded_waits_for_nothing() {
    let (worker, theirs) = worker();
    let mut theirs = Channel::new(theirs);
    theirs.send(&WorkerMessage::Waiting { calls: None, fuel: 1, memory: 1 }, || WaitMode::KeepWaiting).unwrap();
    let (budget, run) = (small(), CallContext::default());
    let until = CallDeadline::new(Instant::now() + budget.deadline, None);
    let mut exchange = WorkerSession::new(worker, &budget, &run, until, Instant::now());
    let prepared = exchange.prepare(0, ScriptFrame { name: "a.js", source: "" }, &budget);
    assert!(matches!(prepared, Err(WorkerLost::Worker(Stop::WorkerDied { detail })) if detail == PROTOCOL_VIOLATION));
}

#[test]
fn a_worker_that_lets_go_of_its_pipe_is_ended() {
    let (worker, theirs) = worker();
    let (budget, run) = (small(), CallContext::default());
    let until = CallDeadline::new(Instant::now() + budget.deadline, None);
    let mut exchange = WorkerSession::new(worker, &budget, &run, until, Instant::now());
    drop(theirs);
    let Err(WorkerLost::Worker(stop)) = exchange.call(0, &Params::default(), CallMode::Plain) else {
        panic!("it is gone")
    };
    assert!(matches!(stop, Stop::WorkerDied { detail } if detail == "it closed its pipe and was killed"));
}
