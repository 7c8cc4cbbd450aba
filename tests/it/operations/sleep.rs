//! Runs that sleep while they wait, and are woken at most once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use serde_json::{Value, json};
use toolcell::store::Sleeping;
use toolcell::{
    Asleep, Choice, Effects, Function, FunctionFailed, FunctionReply, Functions, Held, Planner, Ran, ResumeRun,
    RunError, RunOptions, RunRecord, RunState, Toolbox, WhenFull,
};

use super::loopback::Loopback;
use super::{Host, request, value};

mod chance;
mod killed;

const KV: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\ntools = [\"ask\", \"inner\"]\n[grants.default.kv]\nspace = \"notes\"\n";

/// Says the same of everything.
struct Say(Choice);

impl Planner for Say {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        vec![self.0; held.len()]
    }
}

pub(super) fn saying(choice: Choice) -> RunOptions {
    RunOptions { plan: Some(Arc::new(Say(choice))), ..RunOptions::default() }
}

/// One step at a time: what was decided happens, and the next step is decided later.
struct One(AtomicUsize);

impl Planner for One {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        let first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
        vec![if first { Choice::Do } else { Choice::Later }; held.len()]
    }
}

/// What deletes is decided later.
struct DeletesLater;

impl Planner for DeletesLater {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        held.iter().map(|held| if held.details.contains("delete") { Choice::Later } else { Choice::Do }).collect()
    }
}

fn host() -> Host {
    Host::under(KV)
}

fn make(host: &Host, name: &str, code: &str) {
    let asks = json!(["kv", "timers", "tools"]);
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// Runs a tool until it has ended or sleeps.
fn begin(host: &Host, name: &str, options: &RunOptions) -> Result<RunState, RunError> {
    host.toolbox().run_or_sleep(&request(&json!({ "tool_name": name, "parameters": {} })), options)
}

fn asleep(state: Result<RunState, RunError>) -> Asleep {
    match state.unwrap() {
        RunState::Asleep(asleep) => asleep,
        RunState::Ended(ran) => panic!("it ended: {:?}", ran.report.outcome),
    }
}

fn ended(state: Result<RunState, RunError>) -> Ran {
    match state.unwrap() {
        RunState::Ended(ran) => *ran,
        RunState::Asleep(asleep) => panic!("it sleeps: {asleep:?}"),
    }
}

fn wake(toolbox: &Toolbox, asleep: &Asleep, choice: Choice) -> Result<RunState, RunError> {
    toolbox.resume(&ResumeRun::of(asleep.run), &saying(choice))
}

fn code(state: Result<RunState, RunError>) -> &'static str {
    state.unwrap_err().code()
}

/// The outcomes of all runs, with what was tried.
fn outcomes(host: &Host) -> Vec<(String, String)> {
    let records = host.lines().into_iter().filter_map(|line| host.record(&line));
    records.map(|record: RunRecord| (record.action, record.outcome)).collect()
}

const NOTE: &str = "const execute = async () => { console.log('before'); const n = Math.random(); await kv.set('a', 1); console.log('after'); \
                    return [await kv.get('a'), n, Math.random()] }";

#[test]
fn what_nobody_decides_about_sleeps_and_goes_on_in_another_process() {
    let mut host = host();
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let about: Vec<&str> = asleep.held.iter().map(|held| held.about.as_str()).collect();
    assert_eq!((about, &asleep.tickets), (vec!["a"], &Vec::new()));
    let [sleeper] = &*host.toolbox().sleepers().unwrap() else { panic!("one sleeps") };
    assert_eq!((sleeper.run, &*sleeper.name, &*sleeper.caller), (asleep.run, "note", "host"));
    host.reopen();
    // Nothing has happened, and who decides nothing changes nothing.
    let again = ResumeRun::of(asleep.run);
    assert!(matches!(host.toolbox().resume(&again, &RunOptions::default()).unwrap(), RunState::Asleep(_)));
    host.reopen();
    let ran = ended(wake(host.toolbox(), &asleep, Choice::Do));
    let logs: Vec<&str> = ran.report.logs.iter().map(|log| log.text.as_str()).collect();
    assert_eq!(logs, ["before", "after"]);
    // What it returns is the same as without sleep.
    let awake = host.run_as(&json!({ "tool_name": "note", "parameters": {} }), &saying(Choice::Do)).unwrap();
    assert_eq!(value(&ran), value(&awake));
    assert_eq!(code(wake(host.toolbox(), &asleep, Choice::Do)), "run-not-asleep");
    let tried = outcomes(&host);
    let tried: Vec<(&str, &str)> = tried.iter().map(|(action, outcome)| (&**action, &**outcome)).collect();
    let [first, second] = [("run_dynamic_tool", "asleep"), ("resume", "asleep")];
    let rest = [("resume", "returned"), ("run_dynamic_tool", "returned"), ("resume", "refused")];
    assert_eq!(tried, [&[first, second][..], &rest].concat());
    let resumed = host.lines().into_iter().filter_map(|line| host.record(&line)).nth(2).unwrap();
    assert_eq!(resumed.resumes, Some(asleep.run.to_string()));
    let done: Vec<Effects> = resumed.done.unwrap().effects.iter().map(|effect| effect.effects).collect();
    assert_eq!(done, [Effects::Committed, Effects::Committed]);
}

#[test]
fn what_is_refused_after_sleep_does_not_happen() {
    let host = host();
    make(
        &host,
        "note",
        "const execute = async () => { try { await kv.set('a', 1) } catch (error) { return [error.code, error.effects] } }",
    );
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let ran = ended(wake(&host.another(), &asleep, Choice::Refuse));
    assert_eq!(value(&ran), json!(["effect-not-approved", "none"]));
}

#[test]
fn of_many_who_wake_a_run_one_does() {
    let host = host();
    make(&host, "count", "const execute = async () => kv.update('n', (n = 0) => n + 1)");
    for round in 1..=5 {
        // The update reads first, and only what it writes is held.
        let asleep = asleep(begin(&host, "count", &saying(Choice::Later)));
        let toolboxes: Vec<Toolbox> = (0..8).map(|_| host.another()).collect();
        let woke = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for toolbox in &toolboxes {
                scope.spawn(|| match wake(toolbox, &asleep, Choice::Do) {
                    Ok(state) => {
                        assert_eq!(value(&ended(Ok(state))), json!(round));
                        woke.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => assert_eq!(error.code(), "run-not-asleep"),
                });
            }
        });
        assert_eq!(woke.into_inner(), 1);
    }
}

#[test]
fn a_run_is_bound_to_what_it_was_run_with() {
    let mut host = host();
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let somebody_else = RunOptions { caller: "somebody else".to_owned(), ..saying(Choice::Do) };
    let request = ResumeRun::of(asleep.run);
    assert_eq!(code(host.toolbox().resume(&request, &somebody_else)), "asleep-principal");
    host.ruled(&KV.replace("\"notes\"", "\"others\""));
    assert_eq!(code(wake(host.toolbox(), &asleep, Choice::Do)), "asleep-grants-changed");
    host.ruled(KV);
    let answers = BTreeMap::from([("nothing".to_owned(), Ok(Value::Null))]);
    let answered = ResumeRun { run: asleep.run.to_string(), answers };
    assert_eq!(code(host.toolbox().resume(&answered, &saying(Choice::Do))), "ticket-unknown");
    for nothing in ["r_00c0ffee00c0ffee-1f", "nonsense", ""] {
        assert_eq!(
            code(
                host.toolbox()
                    .resume(&ResumeRun { run: nothing.to_owned(), ..ResumeRun::default() }, &saying(Choice::Do))
            ),
            "run-not-asleep"
        );
    }
    // Nothing of that woke it, and nothing of it was lost.
    ended(wake(host.toolbox(), &asleep, Choice::Do)).value().unwrap();
}

#[test]
fn whoever_changes_a_run_where_it_sleeps_has_nothing_that_wakes() {
    let host = host();
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let whole = host.store().sleeping(asleep.run).unwrap().unwrap();
    let check = |changed: &Sleeping| {
        host.store().put_to_sleep(changed).unwrap();
        assert_eq!(code(host.toolbox().resume(&ResumeRun::of(asleep.run), &saying(Choice::Do))), "integrity");
    };
    for at in (0..whole.blob.len()).step_by(whole.blob.len() / 40) {
        let mut changed = whole.clone();
        changed.blob[at] ^= 1;
        check(&changed);
    }
    check(&Sleeping { blob: Vec::new(), ..whole.clone() });
    check(&Sleeping { blob: whole.blob[..whole.blob.len() - 1].to_vec(), ..whole.clone() });
    check(&Sleeping { bound: whole.bound.replace("notes", "other"), ..whole.clone() });
    check(&Sleeping { caller: "somebody else".to_owned(), ..whole.clone() });
    host.store().put_to_sleep(&whole).unwrap();
    ended(wake(host.toolbox(), &asleep, Choice::Do)).value().unwrap();
}

/// A function that answers later, and how often it was called for each of its jobs.
fn slow(called: &Arc<Mutex<BTreeMap<i64, u32>>>) -> Functions {
    let called = Arc::clone(called);
    let (n, number) =
        (json!({ "n": { "type": "number", "description": "which", "required": true } }), json!({ "type": "number" }));
    let ask = Function::slow("ask", &n, &number, move |params| {
        let n = params["n"].as_i64().unwrap();
        *called.lock().unwrap().entry(n).or_default() += 1;
        Ok(FunctionReply::Later(format!("job {n}")))
    });
    Functions::default().with(ask.unwrap().reading()).unwrap()
}

#[test]
fn a_function_that_answers_later_is_called_once_and_heard_later() {
    let mut host = host();
    let called = Arc::default();
    host.lends(slow(&called));
    make(
        &host,
        "asks",
        "const execute = async () => { try { return await Promise.all([1, 2].map((n) => tools.call('ask', { n }))) } \
                         catch (error) { return [error.code, error.effects] } }",
    );
    let asleep_now = asleep(begin(&host, "asks", &RunOptions::default()));
    let tickets: Vec<&str> = asleep_now.tickets.iter().map(|ticket| ticket.ticket.as_str()).collect();
    assert_eq!(tickets, ["job 1", "job 2"]);
    let answer = |host: &Host, job: &str, answer: Result<Value, FunctionFailed>| {
        let request =
            ResumeRun { run: asleep_now.run.to_string(), answers: BTreeMap::from([(job.to_owned(), answer)]) };
        host.toolbox().resume(&request, &RunOptions::default())
    };
    host.reopen();
    assert_eq!(asleep(answer(&host, "job 2", Ok(json!(20)))).tickets[0].ticket, "job 1");
    host.reopen();
    assert_eq!(value(&ended(answer(&host, "job 1", Ok(json!(10))))), json!([10, 20]));
    assert_eq!(*called.lock().unwrap(), BTreeMap::from([(1, 1), (2, 1)]));
    // What it does not declare, and what failed.
    let failed = FunctionFailed { message: "gone".to_owned(), effects: Effects::None };
    for (said, expect) in [
        (Ok(json!("many")), json!(["function-result", "committed"])),
        (Err(failed), json!(["function-failed", "none"])),
    ] {
        let run = asleep(begin(&host, "asks", &RunOptions::default())).run.to_string();
        let request = ResumeRun { run, answers: BTreeMap::from([("job 1".to_owned(), said)]) };
        assert_eq!(value(&ended(host.toolbox().resume(&request, &RunOptions::default()))), expect);
    }
    // Who does not sleep is told at once.
    assert_eq!(value(&host.run("asks", &json!({})).unwrap()), json!(["function-later", "started"]));
}

#[test]
fn what_is_in_flight_is_waited_for_and_not_made_again() {
    let server = Loopback::answering(|arrived| {
        std::thread::sleep(std::time::Duration::from_millis(30));
        ("200 OK", format!("\"{}\"", arrived.line))
    });
    let mut host = Host::under(&(KV.to_owned() + &server.granted_to("both", "")));
    let code = "const execute = async ({ url }) => { const get = async (path) => (await fetch(url + path)).json(); \
                const [first] = await Promise.all([get('first'), kv.set('a', 1)]); return [first, await get('second')] }";
    let fields = json!({ "name": "both", "description": "a tool", "code": code, "capabilities": ["net", "kv"] });
    host.create(&fields).unwrap();
    let asked = request(&json!({ "tool_name": "both", "parameters": { "url": server.url("/") } }));
    let asleep = asleep(host.toolbox().run_or_sleep(&asked, &saying(Choice::Later)));
    assert_eq!(server.lines(), ["GET /first"]);
    host.reopen();
    assert_eq!(value(&ended(wake(host.toolbox(), &asleep, Choice::Do))), json!(["GET /first", "GET /second"]));
    assert_eq!(server.lines(), ["GET /first", "GET /second"]);
}

/// Says that it was asked, and then keeps the run waiting.
struct Slow(Barrier);

impl Planner for Slow {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        self.0.wait();
        self.0.wait();
        vec![Choice::Do; held.len()]
    }
}

#[test]
fn a_run_for_which_there_is_no_room_sleeps_on() {
    let host = host().slots(1);
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let slow = Arc::new(Slow(Barrier::new(2)));
    let plan = Some(Arc::clone(&slow) as Arc<dyn Planner>);
    std::thread::scope(|scope| {
        scope.spawn(|| ended(begin(&host, "note", &RunOptions { plan, ..RunOptions::default() })));
        slow.0.wait();
        let impatient = RunOptions { when_full: WhenFull::Refuse, ..saying(Choice::Do) };
        assert_eq!(code(host.toolbox().resume(&ResumeRun::of(asleep.run), &impatient)), "busy");
        slow.0.wait();
    });
    ended(wake(host.toolbox(), &asleep, Choice::Do)).value().unwrap();
}

#[test]
fn a_run_is_collected_that_nobody_wakes() {
    let host = host();
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    let later = super::now() + jiff::ToSpan::hours(1);
    let collected = toolcell::collect(host.store(), later, later).unwrap();
    assert_eq!(collected.sleeping, 1);
    assert_eq!(code(wake(host.toolbox(), &asleep, Choice::Do)), "run-not-asleep");
}

#[test]
fn a_tool_in_quarantine_does_not_wake() {
    let host = host();
    make(&host, "note", NOTE);
    let asleep = asleep(begin(&host, "note", &saying(Choice::Later)));
    host.store().set_status(asleep.tool, toolcell::Status::Quarantined).unwrap();
    assert_eq!(code(wake(host.toolbox(), &asleep, Choice::Do)), "permission-denied");
    assert_eq!(host.toolbox().sleepers().unwrap().len(), 1);
}

#[test]
fn tools_that_are_called_do_not_sleep() {
    let host = host();
    make(&host, "inner", "const execute = () => kv.set('a', 1)");
    make(
        &host,
        "outer",
        "const execute = async () => { try { await tools.call('inner') } catch (error) { return error.message } }",
    );
    let said = value(&ended(begin(&host, "outer", &saying(Choice::Later))));
    assert!(said.as_str().unwrap().contains("not approved"), "{said}");
    assert_eq!(host.toolbox().sleepers().unwrap(), []);
}

#[test]
fn timers_go_on_while_a_run_sleeps() {
    let host = host();
    let code = "const execute = async () => { const late = sleep(20).then(() => 'late'); const set = kv.set('a', 1).then(() => 'set'); \
                return [await Promise.race([late, set]), await late, await set] }";
    make(&host, "race", code);
    let asleep = asleep(begin(&host, "race", &saying(Choice::Later)));
    let woken = value(&ended(wake(&host.another(), &asleep, Choice::Do)));
    assert_eq!((&woken[1], &woken[2]), (&json!("late"), &json!("set")));
}

#[test]
fn fuel_is_the_same_however_often_it_sleeps() {
    let host = host();
    let code = "const execute = async () => { let text = ''; for (let i = 0; i < 5; i++) { await kv.set('k' + i, text); text += 'x'.repeat(1000) } return text.length }";
    make(&host, "steps", code);
    let awake = ended(begin(&host, "steps", &saying(Choice::Do)));
    let first = asleep(begin(&host, "steps", &saying(Choice::Later)));
    let mut slept = 1;
    let ran = loop {
        let options = RunOptions { plan: Some(Arc::new(One(AtomicUsize::new(0)))), ..RunOptions::default() };
        match host.another().resume(&ResumeRun::of(first.run), &options).unwrap() {
            RunState::Asleep(again) => assert_eq!(again.run, first.run),
            RunState::Ended(ran) => break ran,
        }
        slept += 1;
    };
    assert_eq!(slept, 5);
    assert_eq!(value(&ran), value(&awake));
    let (ours, theirs) = (ran.report.usage, awake.report.usage);
    assert_eq!((ours.fuel, ours.load_fuel, ours.memory), (theirs.fuel, theirs.load_fuel, theirs.memory));
}

#[test]
fn a_limit_of_fuel_holds_over_all_parts_of_a_run() {
    let host = host();
    make(&host, "burns", "const execute = async () => { await kv.set('a', 1); for (;;) ; }");
    let limits = toolcell::Wanted { fuel: Some(20_000_000), ..toolcell::Wanted::default() };
    let asleep = asleep(begin(&host, "burns", &RunOptions { limits, ..saying(Choice::Later) }));
    let ran = ended(wake(&host.another(), &asleep, Choice::Do));
    assert_eq!(ran.report.outcome, toolcell::Outcome::Stopped(toolcell::Stop::OutOfFuel { limit: 20_000_000 }));
    // Loading the script is paid from the same limit.
    assert_eq!(ran.report.usage.fuel + ran.report.usage.load_fuel, 20_000_000);
}

#[test]
fn what_holds_too_much_does_not_sleep_and_says_so() {
    let host = host();
    // Numbers by chance do not get smaller.
    let holds = "const execute = async () => { const noise = new Uint32Array(1 << 19).map(() => Math.random() * 2 ** 32); await kv.set('a', 1); return noise[0] }";
    make(&host, "holds", holds);
    let error = begin(&host, "holds", &saying(Choice::Later)).unwrap_err();
    assert_eq!((error.code(), error.effects()), ("too-large-to-sleep", Effects::None));
    assert_eq!(outcomes(&host), [("run_dynamic_tool".to_owned(), "stopped".to_owned())]);
    assert_eq!(host.toolbox().sleepers().unwrap(), []);
}

#[test]
fn after_two_hundred_calls_a_run_sleeps_in_24_kib() {
    let mut host = host();
    let price = Function::new("ask", &json!({}), &json!({ "type": "number" }), |_| Ok(json!(2.5)));
    host.lends(Functions::default().with(price.unwrap().quick().reading()).unwrap());
    let code = "const execute = async () => { let sum = 0; for (let i = 0; i < 50; i++) { \
                  await kv.set('n', i); sum += await kv.get('n'); sum += (await kv.list()).keys.length; sum += await tools.call('ask') } \
                await kv.delete('n'); return sum }";
    make(&host, "long", code);
    let options = RunOptions { plan: Some(Arc::new(DeletesLater)), ..RunOptions::default() };
    let asleep = asleep(begin(&host, "long", &options));
    let record = host.record(host.lines().last().unwrap()).unwrap();
    assert_eq!(record.done.unwrap().effects.len(), 201);
    assert!(asleep.bytes <= 24 << 10, "{} bytes", asleep.bytes);
    assert_eq!(value(&ended(wake(&host.another(), &asleep, Choice::Do))), json!(49 * 25 + 50 + 125));
}

#[test]
fn updates_leave_nothing_in_memory_that_would_be_kept_asleep() {
    let host = host();
    let code = "const execute = async () => { for (let i = 0; i < 100; i++) await kv.update('n', (n = 0) => n + 1); \
                const n = await kv.get('n'); await kv.delete('n'); return n }";
    make(&host, "counts", code);
    let options = RunOptions { plan: Some(Arc::new(DeletesLater)), ..RunOptions::default() };
    let asleep = asleep(begin(&host, "counts", &options));
    assert!(asleep.bytes <= 24 << 10, "{} bytes", asleep.bytes);
    assert_eq!(value(&ended(wake(&host.another(), &asleep, Choice::Do))), json!(100));
}
