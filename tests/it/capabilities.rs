//! Host functions: a granted capability exists and works through host calls; nothing else exists.
#![expect(clippy::unnecessary_wraps, reason = "who answers does so in the form of who may fail, or not answer")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolcell_host::{
    CancelToken, ClockReading, Completion, Effects, Grant, HostCall, HostCallDriver, HostCalls, Json, OperationError,
    Outcome, PartialResultSink, Remaining, Stop, Timers, WaitResult, WallClock,
};

use crate::fixtures::sandbox::{NO_HOST_CALLS, SandboxFixture, returned};

mod mock_host;
mod net;
mod secrets_and_tools;
mod storage;

#[test]
fn a_granted_timer_exists_and_fires() {
    // The clock of the timer and the one of `Date` are rounded separately.
    let source = "async function execute() { const before = Date.now(); await new Promise((done) => setTimeout(done, 20, 'x')); \
        return Date.now() - before >= 19; }";
    assert_eq!(SandboxFixture::new().script(source).operations(&Timers).returns(), "true");
    assert!(
        SandboxFixture::new()
            .script(source)
            .operations(&NO_HOST_CALLS)
            .throws()
            .contains("it needs the grant `timers`")
    );
}

#[test]
fn timers_fire_in_the_order_of_their_times() {
    let fixture = SandboxFixture::new().operations(&Timers).script(
        "function execute() { const seen = []; return new Promise((done) => { \
           setTimeout(() => { seen.push('c'); done(seen) }, 30); setTimeout((x) => seen.push(x), 1, 'a'); \
           const never = setTimeout(() => seen.push('never'), 5); clearTimeout(never); \
           let n = 0; const every = setInterval(() => { seen.push('b'); if (++n === 2) clearInterval(every) }, 4); }) }",
    );
    assert_eq!(fixture.returns(), r#"["a","b","b","c"]"#);
}

#[test]
fn an_abort_signal_follows_a_timer() {
    let fixture = SandboxFixture::new().operations(&Timers).script(
        "async function execute() { const controller = new AbortController(); const timer = setTimeout(() => controller.abort(), 5); \
         try { await new Promise((_, fail) => controller.signal.addEventListener('abort', () => fail(controller.signal.reason))); } \
         catch (error) { return error.name; } finally { clearTimeout(timer); } }",
    );
    assert_eq!(fixture.returns(), r#""AbortError""#);
}

#[test]
fn the_deadline_and_a_cancellation_end_a_wait() {
    let source = "const execute = () => new Promise((done) => setTimeout(done, 100_000))";
    let fixture = SandboxFixture::new().script(source).operations(&Timers).timeout(50);
    assert_eq!(fixture.stops(), Stop::Deadline { limit: Duration::from_millis(50) });

    let token = CancelToken::new();
    let fixture = SandboxFixture::new().script(source).operations(&Timers).cancelled_by(&token);
    let prepared = fixture.prepare().unwrap();
    std::thread::scope(|scope| {
        let canceller = token.clone();
        scope.spawn(move || canceller.cancel());
        assert_eq!(fixture.call(&prepared, "{}").outcome, Outcome::Stopped(Stop::Cancelled));
    });
}

/// Completes all timers at once, the last one first; those with an odd number fail.
struct Backwards;

#[derive(Default)]
struct BackwardsCall(Vec<HostCall>);

impl HostCalls for Backwards {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers]
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(BackwardsCall::default())
    }
}

impl HostCallDriver for BackwardsCall {
    fn submit(&mut self, started: Vec<HostCall>, _: &[u32]) {
        self.0.extend(started);
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        let began = Instant::now();
        let ended = self.0.drain(..).rev().map(|operation| Completion {
            id: operation.id,
            result: if operation.id % 2 == 0 {
                Ok(Json::NULL.into())
            } else {
                let (name, code) = ("Odd".to_owned(), "odd".into());
                Err(OperationError { name, message: operation.payload, code, effects: Effects::None })
            },
        });
        WaitResult::since(began, ended.collect())
    }
}

#[test]
fn results_are_seen_in_the_order_in_which_the_host_gives_them() {
    let fixture = SandboxFixture::new().operations(&Backwards).script(
        "function execute() { const seen = []; return new Promise((done) => { for (let i = 1; i <= 4; i++) \
           setTimeout(() => { seen.push(i); if (seen.length === 2) done(seen) }, i) }) }",
    );
    assert_eq!(fixture.returns(), "[4,2]");
}

#[test]
fn partial_results_stream_while_the_tool_runs() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let writer = Arc::clone(&seen);
    let sink: PartialResultSink = Arc::new(move |json: &str| writer.lock().unwrap().push(json.to_owned()));
    let mut fixture = SandboxFixture::new().script(
        "export default (pi) => ({ name: 'slow', execute(id, params, onUpdate) { for (let i = 0; i < 3; i++) onUpdate({ i }); return id } })",
    );
    fixture.run.partial_sink = Some(&sink);
    fixture.run.call_id = "call-7";
    assert_eq!(fixture.returns(), r#""call-7""#);
    assert_eq!(*seen.lock().unwrap(), [r#"{"i":0}"#, r#"{"i":1}"#, r#"{"i":2}"#]);
}

#[test]
fn a_real_clock_is_read_anew_and_does_not_go_back() {
    let clock_readings = Mutex::new([1_000_400, 1_002_900, 1_000_000, 5_000_000].into_iter());
    let clock: WallClock =
        Arc::new(move || Duration::from_micros(clock_readings.lock().unwrap().next().unwrap_or(9_000_000)));
    let mut fixture = SandboxFixture::new()
        .script("const execute = () => [Date.now(), Date.now(), Date.now(), new Date().getTime(), Date.now()]");
    fixture.run.wall_clock = Some(&clock);
    let report = fixture.run_text("{}");
    assert_eq!(returned(&report), "[1000,1002,1002,5000,9000]");
    let observed: Vec<(u128, u64)> =
        report.readings.iter().map(|ClockReading { at, times }| (at.as_millis(), *times)).collect();
    assert_eq!(observed, [(1000, 1), (1002, 2), (5000, 1), (9000, 1)]);
}

#[test]
fn a_clock_that_is_read_at_the_top_level_is_read_in_each_call() {
    let clock: WallClock = Arc::new(|| Duration::from_secs(7));
    let mut fixture = SandboxFixture::new().script("const at = Date.now(); const execute = () => at");
    fixture.run.wall_clock = Some(&clock);
    let prepared = fixture.prepare().unwrap();
    assert!(!prepared.is_snapshot());
    let report = fixture.call(&prepared, "{}");
    assert_eq!((returned(&report).as_str(), report.readings.len()), ("7000", 1));
}
