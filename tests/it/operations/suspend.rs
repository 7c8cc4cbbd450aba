//! Suspended runs, which are resumed at most once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use serde_json::{Value, json};
use toolcell::store::SuspendedRow;
use toolcell::{
    CancelToken, EffectApprover, EffectDecision, Effects, FunctionFailure, FunctionReply, HeldEffect, HostFunction,
    HostFunctions, OnOverload, ResumeRequest, RunError, RunOptions, RunOutcome, RunRecord, RunResult, SuspendedRun,
    Toolbox,
};

use super::loopback::LoopbackServer;
use super::{ToolboxFixture, request, returned_value};

mod killed;
mod randomized;

const KV: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\ntools = [\"ask\", \"inner\"]\n[grants.default.kv]\nspace = \"notes\"\n";

/// An approver with a fixed decision on every effect.
struct FixedDecision(EffectDecision);

impl EffectApprover for FixedDecision {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        vec![self.0; held.len()]
    }
}

pub(super) fn with_decision(choice: EffectDecision) -> RunOptions {
    RunOptions { effect_approver: Some(Arc::new(FixedDecision(choice))), ..RunOptions::default() }
}

/// Performs the first effect and defers all later ones.
struct FirstOnly(AtomicUsize);

impl EffectApprover for FirstOnly {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        let first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
        vec![if first { EffectDecision::Perform } else { EffectDecision::Defer }; held.len()]
    }
}

/// Defers deletions.
struct DeletesLater;

impl EffectApprover for DeletesLater {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        held.iter()
            .map(|held| if held.details.contains("delete") { EffectDecision::Defer } else { EffectDecision::Perform })
            .collect()
    }
}

fn host() -> ToolboxFixture {
    ToolboxFixture::with_policy(KV)
}

fn make(host: &ToolboxFixture, name: &str, code: &str) {
    let asks = json!(["kv", "timers", "tools"]);
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// Runs a tool until it finishes or is suspended.
fn start(host: &ToolboxFixture, name: &str, options: &RunOptions) -> Result<RunOutcome, RunError> {
    host.toolbox().run_suspendable(&request(&json!({ "tool_name": name, "parameters": {} })), options)
}

fn suspended(state: Result<RunOutcome, RunError>) -> SuspendedRun {
    match state.unwrap() {
        RunOutcome::Suspended(suspended_run) => suspended_run,
        RunOutcome::Finished(ran) => panic!("it ended: {:?}", ran.report.outcome),
    }
}

fn finished(state: Result<RunOutcome, RunError>) -> RunResult {
    match state.unwrap() {
        RunOutcome::Finished(ran) => *ran,
        RunOutcome::Suspended(suspended_run) => panic!("it sleeps: {suspended_run:?}"),
    }
}

fn resume(toolbox: &Toolbox, suspended_run: &SuspendedRun, choice: EffectDecision) -> Result<RunOutcome, RunError> {
    toolbox.resume(&ResumeRequest::new(suspended_run.run), &with_decision(choice))
}

fn code(state: Result<RunOutcome, RunError>) -> &'static str {
    state.unwrap_err().code().as_str()
}

/// Returns the action and outcome of every attempt.
fn outcomes(host: &ToolboxFixture) -> Vec<(String, String)> {
    let records = host.audit_lines().into_iter().filter_map(|line| host.record(&line));
    records.map(|record: RunRecord| (record.action, record.outcome)).collect()
}

const NOTE: &str = "const execute = async () => { console.log('before'); const n = Math.random(); await kv.set('a', 1); console.log('after'); \
                    return [await kv.get('a'), n, Math.random()] }";

#[test]
fn what_nobody_decides_about_sleeps_and_goes_on_in_another_process() {
    let mut host = host();
    make(&host, "note", NOTE);
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let about: Vec<&str> = suspended_run.held.iter().map(|held| held.about.as_str()).collect();
    assert_eq!((about, &suspended_run.tickets), (vec!["a"], &Vec::new()));
    let [sleeper] = &*host.toolbox().suspended_runs().unwrap() else { panic!("one sleeps") };
    assert_eq!((sleeper.run, &*sleeper.name, &*sleeper.caller), (suspended_run.run, "note", "host"));
    host.reopen();
    // Nothing has been performed, and deferring again changes nothing.
    let again = ResumeRequest::new(suspended_run.run);
    assert!(matches!(host.toolbox().resume(&again, &RunOptions::default()).unwrap(), RunOutcome::Suspended(_)));
    host.reopen();
    let ran = finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform));
    let logs: Vec<&str> = ran.report.logs.iter().map(|log| log.text.as_str()).collect();
    assert_eq!(logs, ["before", "after"]);
    // The result is the same as without suspension.
    let awake = host
        .run_with(&json!({ "tool_name": "note", "parameters": {} }), &with_decision(EffectDecision::Perform))
        .unwrap();
    assert_eq!(returned_value(&ran), returned_value(&awake));
    assert_eq!(code(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)), "run-not-asleep");
    let tried = outcomes(&host);
    let tried: Vec<(&str, &str)> = tried.iter().map(|(action, outcome)| (&**action, &**outcome)).collect();
    let [first, second] = [("run_dynamic_tool", "suspended"), ("resume", "suspended")];
    let rest = [("resume", "returned"), ("run_dynamic_tool", "returned"), ("resume", "refused")];
    assert_eq!(tried, [&[first, second][..], &rest].concat());
    let resumed = host.audit_lines().into_iter().filter_map(|line| host.record(&line)).nth(2).unwrap();
    assert_eq!(resumed.resumes, Some(suspended_run.run.to_string()));
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
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let ran = finished(resume(&host.second_toolbox(), &suspended_run, EffectDecision::Refuse));
    assert_eq!(returned_value(&ran), json!(["effect-not-approved", "none"]));
}

#[test]
fn of_many_who_wake_a_run_one_does() {
    let host = host();
    make(&host, "count", "const execute = async () => kv.update('n', (n = 0) => n + 1)");
    for round in 1..=5 {
        // `update` reads first, and only its write is held.
        let suspended_run = suspended(start(&host, "count", &with_decision(EffectDecision::Defer)));
        let toolboxes: Vec<Toolbox> = (0..8).map(|_| host.second_toolbox()).collect();
        let woke = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for toolbox in &toolboxes {
                scope.spawn(|| match resume(toolbox, &suspended_run, EffectDecision::Perform) {
                    Ok(state) => {
                        assert_eq!(returned_value(&finished(Ok(state))), json!(round));
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
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let somebody_else = RunOptions { caller: "somebody else".to_owned(), ..with_decision(EffectDecision::Perform) };
    let request = ResumeRequest::new(suspended_run.run);
    assert_eq!(code(host.toolbox().resume(&request, &somebody_else)), "asleep-principal");
    host.set_policy(&KV.replace("\"notes\"", "\"others\""));
    assert_eq!(code(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)), "asleep-grants-changed");
    host.set_policy(KV);
    let answers = BTreeMap::from([("nothing".to_owned(), Ok(Value::Null))]);
    let answered = ResumeRequest { run: suspended_run.run.to_string(), answers };
    assert_eq!(code(host.toolbox().resume(&answered, &with_decision(EffectDecision::Perform))), "ticket-unknown");
    for nothing in ["r_00c0ffee00c0ffee-1f", "nonsense", ""] {
        assert_eq!(
            code(host.toolbox().resume(
                &ResumeRequest { run: nothing.to_owned(), ..ResumeRequest::default() },
                &with_decision(EffectDecision::Perform)
            )),
            "run-not-asleep"
        );
    }
    // None of these attempts resumed the run, and it is intact.
    finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)).value().unwrap();
}

#[test]
fn whoever_changes_a_run_where_it_sleeps_has_nothing_that_wakes() {
    let host = host();
    make(&host, "note", NOTE);
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let whole = host.store().suspended().find(suspended_run.run).unwrap().unwrap();
    let check = |changed: &SuspendedRow| {
        host.store().suspended().save(changed).unwrap();
        assert_eq!(
            code(
                host.toolbox().resume(&ResumeRequest::new(suspended_run.run), &with_decision(EffectDecision::Perform))
            ),
            "integrity"
        );
    };
    for at in (0..whole.blob.len()).step_by(whole.blob.len() / 40) {
        let mut changed = whole.clone();
        changed.blob[at] ^= 1;
        check(&changed);
    }
    check(&SuspendedRow { blob: Vec::new(), ..whole.clone() });
    check(&SuspendedRow { blob: whole.blob[..whole.blob.len() - 1].to_vec(), ..whole.clone() });
    check(&SuspendedRow { binding: whole.binding.replace("notes", "other"), ..whole.clone() });
    check(&SuspendedRow { caller: "somebody else".to_owned(), ..whole.clone() });
    host.store().suspended().save(&whole).unwrap();
    finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)).value().unwrap();
}

/// Returns a host function that completes later, and counts its calls per job.
fn slow(called: &Arc<Mutex<BTreeMap<i64, u32>>>) -> HostFunctions {
    let called = Arc::clone(called);
    let (n, number) =
        (json!({ "n": { "type": "number", "description": "which", "required": true } }), json!({ "type": "number" }));
    let ask = HostFunction::new_deferrable("ask", &n, &number, move |params| {
        let n = params["n"].as_i64().unwrap();
        *called.lock().unwrap().entry(n).or_default() += 1;
        Ok(FunctionReply::Deferred(format!("job {n}")))
    });
    HostFunctions::default().with(ask.unwrap().read_only()).unwrap()
}

#[test]
fn a_function_that_answers_later_is_called_once_and_heard_later() {
    let mut host = host();
    let called = Arc::default();
    host.set_functions(slow(&called));
    make(
        &host,
        "asks",
        "const execute = async () => { try { return await Promise.all([1, 2].map((n) => tools.call('ask', { n }))) } \
                         catch (error) { return [error.code, error.effects] } }",
    );
    let suspended_run = suspended(start(&host, "asks", &RunOptions::default()));
    let tickets: Vec<&str> = suspended_run.tickets.iter().map(|ticket| ticket.ticket.as_str()).collect();
    assert_eq!(tickets, ["job 1", "job 2"]);
    let answer = |host: &ToolboxFixture, job: &str, answer: Result<Value, FunctionFailure>| {
        let request =
            ResumeRequest { run: suspended_run.run.to_string(), answers: BTreeMap::from([(job.to_owned(), answer)]) };
        host.toolbox().resume(&request, &RunOptions::default())
    };
    host.reopen();
    assert_eq!(suspended(answer(&host, "job 2", Ok(json!(20)))).tickets[0].ticket, "job 1");
    host.reopen();
    assert_eq!(returned_value(&finished(answer(&host, "job 1", Ok(json!(10))))), json!([10, 20]));
    assert_eq!(*called.lock().unwrap(), BTreeMap::from([(1, 1), (2, 1)]));
    // A result that violates the declaration, and an error.
    let failed = FunctionFailure { message: "gone".to_owned(), effects: Effects::None };
    for (returned, expect) in [
        (Ok(json!("many")), json!(["function-result", "committed"])),
        (Err(failed), json!(["function-failed", "none"])),
    ] {
        let run = suspended(start(&host, "asks", &RunOptions::default())).run.to_string();
        let request = ResumeRequest { run, answers: BTreeMap::from([("job 1".to_owned(), returned)]) };
        assert_eq!(returned_value(&finished(host.toolbox().resume(&request, &RunOptions::default()))), expect);
    }
    // Without suspension, the call fails at once.
    assert_eq!(returned_value(&host.run("asks", &json!({})).unwrap()), json!(["function-later", "started"]));
}

#[test]
fn a_function_of_one_run_answers_later() {
    let mut host = host();
    make(&host, "asks", "const execute = () => tools.call('ask', { n: 1 })");
    let options = RunOptions { functions: slow(&Arc::default()), ..RunOptions::default() };
    let suspended_run = suspended(start(&host, "asks", &options));
    host.reopen();
    let answers = BTreeMap::from([("job 1".to_owned(), Ok(json!(10)))]);
    let request = ResumeRequest { run: suspended_run.run.to_string(), answers };
    assert_eq!(returned_value(&finished(host.toolbox().resume(&request, &options))), json!(10));
}

#[test]
fn an_answer_without_its_function_leaves_the_run_suspended() {
    let host = host();
    make(&host, "asks", "const execute = () => tools.call('ask', { n: 1 })");
    let options = RunOptions { functions: slow(&Arc::default()), ..RunOptions::default() };
    let suspended_run = suspended(start(&host, "asks", &options));
    let answers = BTreeMap::from([("job 1".to_owned(), Ok(json!(10)))]);
    let request = ResumeRequest { run: suspended_run.run.to_string(), answers };
    assert_eq!(code(host.toolbox().resume(&request, &RunOptions::default())), "tool-not-found");
    assert_eq!(returned_value(&finished(host.toolbox().resume(&request, &options))), json!(10));
}

/// Cancels the run, and approves all the same.
struct Late(CancelToken);

impl EffectApprover for Late {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        self.0.cancel();
        vec![EffectDecision::Perform; held.len()]
    }
}

#[test]
fn an_approval_after_a_cancellation_does_not_count_and_a_resumed_run_is_not_lost() {
    for host in [host(), host().in_jail()] {
        make(&host, "note", NOTE);
        let late = || {
            let cancel = CancelToken::new();
            let approver = Some(Arc::new(Late(cancel.clone())) as Arc<dyn EffectApprover>);
            RunOptions { effect_approver: approver, cancel: Some(cancel), ..RunOptions::default() }
        };
        let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
        let ran = finished(host.toolbox().resume(&ResumeRequest::new(suspended_run.run), &late()));
        assert_eq!((ran.value().unwrap_err().code().as_str(), ran.effects), ("cancelled", Effects::None));
        // Also one that is cancelled before it continues.
        let options = late();
        options.cancel.iter().for_each(CancelToken::cancel);
        let _ = host.toolbox().resume(&ResumeRequest::new(suspended_run.run), &options);
        finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)).value().unwrap();
    }
}

#[test]
fn what_is_in_flight_is_waited_for_and_not_made_again() {
    let server = LoopbackServer::with_handler(|arrived| {
        std::thread::sleep(std::time::Duration::from_millis(30));
        ("200 OK", format!("\"{}\"", arrived.line))
    });
    let mut host = ToolboxFixture::with_policy(&(KV.to_owned() + &server.grant_for("both", "")));
    let code = "const execute = async ({ url }) => { const get = async (path) => (await fetch(url + path)).json(); \
                const [first] = await Promise.all([get('first'), kv.set('a', 1)]); return [first, await get('second')] }";
    let fields = json!({ "name": "both", "description": "a tool", "code": code, "capabilities": ["net", "kv"] });
    host.create(&fields).unwrap();
    let asked = request(&json!({ "tool_name": "both", "parameters": { "url": server.url("/") } }));
    let suspended_run = suspended(host.toolbox().run_suspendable(&asked, &with_decision(EffectDecision::Defer)));
    assert_eq!(server.request_lines(), ["GET /first"]);
    host.reopen();
    assert_eq!(
        returned_value(&finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform))),
        json!(["GET /first", "GET /second"])
    );
    assert_eq!(server.request_lines(), ["GET /first", "GET /second"]);
}

/// Signals that it was asked, and then blocks the run.
struct Slow(Barrier);

impl EffectApprover for Slow {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        self.0.wait();
        self.0.wait();
        vec![EffectDecision::Perform; held.len()]
    }
}

#[test]
fn a_run_for_which_there_is_no_room_sleeps_on() {
    let host = host().with_slots(1);
    make(&host, "note", NOTE);
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let slow = Arc::new(Slow(Barrier::new(2)));
    let plan = Some(Arc::clone(&slow) as Arc<dyn EffectApprover>);
    std::thread::scope(|scope| {
        scope.spawn(|| finished(start(&host, "note", &RunOptions { effect_approver: plan, ..RunOptions::default() })));
        slow.0.wait();
        let impatient = RunOptions { on_overload: OnOverload::Refuse, ..with_decision(EffectDecision::Perform) };
        assert_eq!(code(host.toolbox().resume(&ResumeRequest::new(suspended_run.run), &impatient)), "busy");
        slow.0.wait();
    });
    finished(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)).value().unwrap();
}

#[test]
fn a_run_is_collected_that_nobody_wakes() {
    let host = host();
    make(&host, "note", NOTE);
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    let later = super::now() + jiff::ToSpan::hours(1);
    let collected = toolcell::collect(host.store(), later, later).unwrap();
    assert_eq!(collected.suspended, 1);
    assert_eq!(code(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)), "run-not-asleep");
}

#[test]
fn a_tool_in_quarantine_does_not_wake() {
    let host = host();
    make(&host, "note", NOTE);
    let suspended_run = suspended(start(&host, "note", &with_decision(EffectDecision::Defer)));
    host.store().catalog().set_status(suspended_run.tool, toolcell::Status::Quarantined).unwrap();
    assert_eq!(code(resume(host.toolbox(), &suspended_run, EffectDecision::Perform)), "permission-denied");
    assert_eq!(host.toolbox().suspended_runs().unwrap().len(), 1);
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
    let returned = returned_value(&finished(start(&host, "outer", &with_decision(EffectDecision::Defer))));
    assert!(returned.as_str().unwrap().contains("not approved"), "{returned}");
    assert_eq!(host.toolbox().suspended_runs().unwrap(), []);
}

#[test]
fn timers_go_on_while_a_run_sleeps() {
    let host = host();
    let code = "const execute = async () => { const late = sleep(20).then(() => 'late'); const set = kv.set('a', 1).then(() => 'set'); \
                return [await Promise.race([late, set]), await late, await set] }";
    make(&host, "race", code);
    let suspended_run = suspended(start(&host, "race", &with_decision(EffectDecision::Defer)));
    let woken = returned_value(&finished(resume(&host.second_toolbox(), &suspended_run, EffectDecision::Perform)));
    assert_eq!((&woken[1], &woken[2]), (&json!("late"), &json!("set")));
}

#[test]
fn fuel_is_the_same_however_often_it_sleeps() {
    let host = host();
    let code = "const execute = async () => { let text = ''; for (let i = 0; i < 5; i++) { await kv.set('k' + i, text); text += 'x'.repeat(1000) } return text.length }";
    make(&host, "steps", code);
    let awake = finished(start(&host, "steps", &with_decision(EffectDecision::Perform)));
    let first = suspended(start(&host, "steps", &with_decision(EffectDecision::Defer)));
    let mut slept = 1;
    let ran = loop {
        let options =
            RunOptions { effect_approver: Some(Arc::new(FirstOnly(AtomicUsize::new(0)))), ..RunOptions::default() };
        match host.second_toolbox().resume(&ResumeRequest::new(first.run), &options).unwrap() {
            RunOutcome::Suspended(again) => assert_eq!(again.run, first.run),
            RunOutcome::Finished(ran) => break ran,
        }
        slept += 1;
    };
    assert_eq!(slept, 5);
    assert_eq!(returned_value(&ran), returned_value(&awake));
    let (ours, theirs) = (ran.report.usage, awake.report.usage);
    assert_eq!((ours.fuel, ours.load_fuel, ours.memory), (theirs.fuel, theirs.load_fuel, theirs.memory));
}

#[test]
fn a_limit_of_fuel_holds_over_all_parts_of_a_run() {
    let host = host();
    make(&host, "burns", "const execute = async () => { await kv.set('a', 1); for (;;) ; }");
    let limits = toolcell::LimitOverrides { fuel: Some(20_000_000), ..toolcell::LimitOverrides::default() };
    let suspended_run =
        suspended(start(&host, "burns", &RunOptions { limits, ..with_decision(EffectDecision::Defer) }));
    let ran = finished(resume(&host.second_toolbox(), &suspended_run, EffectDecision::Perform));
    assert_eq!(ran.report.outcome, toolcell::Outcome::Stopped(toolcell::Stop::OutOfFuel { limit: 20_000_000 }));
    // Loading the script counts towards the same limit.
    assert_eq!(ran.report.usage.fuel + ran.report.usage.load_fuel, 20_000_000);
}

#[test]
fn what_holds_too_much_does_not_sleep_and_says_so() {
    let host = host();
    // Random numbers do not compress.
    let holds = "const execute = async () => { const noise = new Uint32Array(1 << 19).map(() => Math.random() * 2 ** 32); await kv.set('a', 1); return noise[0] }";
    make(&host, "holds", holds);
    let error = start(&host, "holds", &with_decision(EffectDecision::Defer)).unwrap_err();
    assert_eq!((error.code().as_str(), error.effects()), ("too-large-to-sleep", Effects::None));
    assert_eq!(outcomes(&host), [("run_dynamic_tool".to_owned(), "stopped".to_owned())]);
    assert_eq!(host.toolbox().suspended_runs().unwrap(), []);
}

#[test]
fn after_two_hundred_calls_a_run_sleeps_in_24_kib() {
    let mut host = host();
    let price = HostFunction::new("ask", &json!({}), &json!({ "type": "number" }), |_| Ok(json!(2.5)));
    host.set_functions(HostFunctions::default().with(price.unwrap().inline().read_only()).unwrap());
    let code = "const execute = async () => { let sum = 0; for (let i = 0; i < 50; i++) { \
                  await kv.set('n', i); sum += await kv.get('n'); sum += (await kv.list()).keys.length; sum += await tools.call('ask') } \
                await kv.delete('n'); return sum }";
    make(&host, "long", code);
    let options = RunOptions { effect_approver: Some(Arc::new(DeletesLater)), ..RunOptions::default() };
    let suspended_run = suspended(start(&host, "long", &options));
    let record = host.record(host.audit_lines().last().unwrap()).unwrap();
    assert_eq!(record.done.unwrap().effects.len(), 201);
    assert!(suspended_run.bytes <= 24 << 10, "{} bytes", suspended_run.bytes);
    assert_eq!(
        returned_value(&finished(resume(&host.second_toolbox(), &suspended_run, EffectDecision::Perform))),
        json!(49 * 25 + 50 + 125)
    );
}

#[test]
fn updates_leave_nothing_in_memory_that_would_be_stored_with_a_suspended_run() {
    let host = host();
    let code = "const execute = async () => { for (let i = 0; i < 100; i++) await kv.update('n', (n = 0) => n + 1); \
                const n = await kv.get('n'); await kv.delete('n'); return n }";
    make(&host, "counts", code);
    let options = RunOptions { effect_approver: Some(Arc::new(DeletesLater)), ..RunOptions::default() };
    let suspended_run = suspended(start(&host, "counts", &options));
    assert!(suspended_run.bytes <= 24 << 10, "{} bytes", suspended_run.bytes);
    assert_eq!(
        returned_value(&finished(resume(&host.second_toolbox(), &suspended_run, EffectDecision::Perform))),
        json!(100)
    );
}
