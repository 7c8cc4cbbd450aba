//! A recorded run is replayed with the same result, or the difference is reported.

use std::collections::BTreeSet;

use toolcell_host::{CancelToken, ImageKind, Outcome, Stop, Timers};

use super::*;
use crate::receipt::format::{RecordedOutcome as Came, TracedResult, TracedWait};

fn replayed(runtime: &Runtime, receipt: &Receipt) -> ReplayResult {
    replay(runtime, receipt, &ReplayOptions::default()).unwrap()
}

/// Returns the descriptions of the differences.
fn differences(receipt: &Receipt) -> Vec<String> {
    let differences = replayed(&runtime(), receipt).differences;
    differences.into_iter().map(|difference| format!("{}: {}", difference.about, difference.says)).collect()
}

fn waits(run: &mut ReceiptContents) -> &mut Vec<TracedWait> {
    match &mut run.journal {
        HostCallTrace::Waits(waits) => waits,
        HostCallTrace::Missing(why) => panic!("{why}"),
    }
}

#[test]
fn eight_operations_at_once_come_out_the_same_in_whatever_order_they_ended() {
    let runtime = runtime();
    let mut outcomes = BTreeSet::new();
    for chance in 0..100 {
        let clock = ticking();
        let clock = (chance % 2 == 0).then_some(&clock);
        let run =
            CallContext { seed: chance, wall_clock: clock, host_calls: &Shuffled(chance), ..CallContext::default() };
        let receipt = receipt(&runtime, PARALLEL, &run);
        let replayed = replayed(&runtime, &Receipt::parse(&receipt.to_text()).unwrap());
        assert_eq!(replayed.differences, [], "{chance}");
        let Outcome::Returned(Some(value)) = &replayed.outcome else { panic!("{:?}", replayed.outcome) };
        assert_eq!(receipt.document.run.result.outcome, Came::Returned(Some(value.to_string())));
        assert_eq!((replayed.fuel, replayed.load_fuel), {
            let result = &receipt.document.run.result;
            (result.fuel, result.load_fuel)
        });
        outcomes.insert(value.to_string());
    }
    assert!(outcomes.len() > 90, "{}", outcomes.len());
}

#[test]
fn the_interpreter_comes_to_the_same() {
    let clock = ticking();
    let run = CallContext { seed: 9, wall_clock: Some(&clock), host_calls: &Shuffled(11), ..CallContext::default() };
    let receipt = receipt(&runtime(), PARALLEL, &run);
    let interpreter =
        Runtime::new(&SandboxConfig { images: vec![ImageKind::Interpreted], slots: 1, jail: None }).unwrap();
    assert_eq!(replayed(&interpreter, &receipt).differences, []);
}

#[test]
fn whatever_a_tool_comes_to_it_comes_to_again() {
    let runtime = runtime();
    for source in [
        "const execute = () => undefined",
        "const execute = ({ n }) => { console.warn('w'); return [n, NaN, 1n] }",
        "function execute() { null.x }",
        "enum Kind { One = 1 }\nfunction execute(): Kind { throw new RangeError('no ' + Kind.One) }",
        "const at = Date.now(), chance = Math.random(); const execute = () => [at, chance, new Date().toISOString()]",
        "throw new Error('at ' + Date.now()); function execute() {}",
        "console.log('top'); const execute = () => 1",
        "const execute = () => new Promise(() => {})",
        "const execute = () => { for (;;) console.log('more') }",
        "const execute = () => 'x'.repeat(2_000_000)",
        "const execute = async () => { await new Promise((done) => setTimeout(done, 3)); return Date.now() }",
        "const execute = () => new Promise((done) => { let n = 0; const every = setInterval(() => { if (++n === 3) { clearInterval(every); done(n) } }, 1) })",
        "export default (pi) => ({ name: 'tool', description: 'd', parameters: {}, execute(id, params) { return [id, params] } })",
    ] {
        for real in [false, true] {
            let clock = ticking();
            let run = CallContext {
                seed: 3,
                wall_clock: real.then_some(&clock),
                host_calls: &Timers,
                ..CallContext::default()
            };
            let receipt = receipt(&runtime, source, &run);
            assert_eq!(replayed(&runtime, &receipt).differences, [], "{source} {real}");
        }
    }
}

#[test]
fn what_goes_otherwise_is_named_from_its_first_wait_on() {
    let run = CallContext { seed: 1, host_calls: &Shuffled(2), ..CallContext::default() };
    let receipt = receipt(&runtime(), PARALLEL, &run);
    let differs = |change: fn(&mut ReceiptContents)| differences(&with(&receipt, change));
    // The tool gets no more answers, so its outcome differs too.
    let first = |change: fn(&mut ReceiptContents)| {
        let all = differs(change);
        assert!(
            all[1].starts_with("outcome: it is stopped: the tool waits for a promise that nothing can settle"),
            "{all:?}"
        );
        all[0].clone()
    };
    assert_eq!(
        first(|run| waits(run)[0].started[2].kind = "kv.list".to_owned()),
        "journal: wait 1: operation 3 is a `kv.get` of `{\"key\":\"b\"}`, the receipt has operation 3, a `kv.list`"
    );
    assert_eq!(
        first(|run| waits(run)[0].started[3].payload = "0".repeat(64)),
        "journal: wait 1: operation 4, a `kv.get`, has the payload `{\"key\":\"c\"}`, in the receipt it has another"
    );
    assert_eq!(
        first(|run| waits(run)[0].started[3].bytes = Some("0".repeat(64))),
        "journal: wait 1: operation 4, a `kv.get`, sends other data than in the receipt"
    );
    assert_eq!(
        first(|run| drop(waits(run)[0].started.pop())),
        "journal: wait 1: the tool starts operation 9, a `kv.get`, which is not in the receipt"
    );
    assert_eq!(
        first(|run| {
            let again = waits(run)[0].started[0].clone();
            waits(run)[0].started.push(again);
        }),
        "journal: wait 1: the tool does not start operation 1, a `timer`, which is in the receipt"
    );
    assert_eq!(
        first(|run| waits(run)[0].cancelled.push(7)),
        "journal: wait 1: the tool cancels the operations [], in the receipt [7]"
    );
    assert_eq!(
        first(|run| drop(waits(run).pop())),
        format!(
            "journal: wait {0}: the receipt has {1} waits, but the tool waits again",
            count(&receipt),
            count(&receipt) - 1
        )
    );
    let more = differs(|run| waits(run).push(TracedWait::default()));
    let waited = count(&receipt);
    assert_eq!(more, [format!("journal: the tool waits {waited} times, in the receipt it waits {} times", waited + 1)]);
}

fn count(receipt: &Receipt) -> usize {
    waits(&mut receipt.document.run.clone()).len()
}

#[test]
fn another_answer_of_the_host_comes_to_another_outcome() {
    let source = "const execute = async () => (await kv.get('k'))[0] % 10 < 20";
    let run = CallContext { host_calls: &Shuffled(2), ..CallContext::default() };
    let receipt = receipt(&runtime(), source, &run);
    let changed = with(&receipt, |run| {
        let TracedResult::Value { json, .. } = &mut waits(run)[0].ended[0].result else { panic!("it has an answer") };
        *json = r#"{"value": ["x"], "version": 1}"#.to_owned();
    });
    let all = differences(&changed);
    assert_eq!(all[0], "outcome: it returns false, in the receipt it returns true");
    assert!(all[1].starts_with("fuel: the fuel of the call is "), "{all:?}");
}

#[test]
fn everything_that_came_of_a_run_is_compared() {
    let source = "const execute = ({ n }) => { console.log('a'); console.log('b'); return [n, NaN, Date.now()] }";
    let clock = ticking();
    let run = CallContext { wall_clock: Some(&clock), ..CallContext::default() };
    let receipt = receipt(&runtime(), source, &run);
    let (fuel, load) = (receipt.document.run.result.fuel, receipt.document.run.result.load_fuel);
    let differs = |change: fn(&mut ReceiptContents)| differences(&with(&receipt, change)).join("; ");
    assert_eq!(differs(|_| ()), "");
    assert_eq!(
        differs(|run| run.result.fuel += 1),
        format!("fuel: the fuel of the call is {fuel} units, in the receipt it is {}", fuel + 1)
    );
    assert_eq!(
        differs(|run| run.result.load_fuel -= 1),
        format!("load-fuel: the fuel of loading the script is {load} units, in the receipt it is {}", load - 1)
    );
    assert_eq!(differs(|run| drop(run.result.logs.remove(1))), "logs: the logs differ from line 2 on");
    assert_eq!(differs(|run| run.result.warnings.clear()), "warnings: the warnings differ from line 1 on");
    assert_eq!(
        differs(|run| run.result.outcome = Came::Returned(None)),
        "outcome: it returns [3,null,1700000000000], in the receipt it returns nothing"
    );
    let looks = differs(|run| run.readings.as_mut().unwrap()[0].times += 1);
    assert_eq!(looks, "clock: the clock readings differ from reading 1 on");
}

#[test]
fn another_guest_or_engine_is_refused_by_name_or_noted() {
    let receipt = receipt(&runtime(), "const execute = () => 1", &CallContext::default());
    let old = with(&receipt, |run| {
        run.guest = "0123456789abcdef".repeat(4);
        run.engine = "47.0.1".to_owned();
    });
    let runtime = runtime();
    let error = replay(&runtime, &old, &ReplayOptions::default()).unwrap_err();
    let here = &toolcell_host::GUEST_DIGEST[..16];
    assert_eq!(error.to_string(), format!("the run used the guest 0123456789abcdef, this toolcell has {here}"));
    assert_eq!(error.code(), "receipt-guest");
    let engine = with(&receipt, |run| run.engine = "47.0.1".to_owned());
    let error = replay(&runtime, &engine, &ReplayOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("the run used the engine 47.0.1, this toolcell has 48."), "{error}");
    assert_eq!(error.code(), "receipt-engine");
    let options = ReplayOptions { version_policy: VersionPolicy::Note, cancel: None };
    let replayed = replay(&runtime, &old, &options).unwrap();
    assert!(replayed.is_reproduced());
    assert_eq!(replayed.notes.len(), 2, "{:?}", replayed.notes);
}

#[test]
fn what_time_or_somebody_ended_cannot_be_repeated() {
    let runtime = runtime();
    let endless = "const execute = () => new Promise((done) => setTimeout(done, 100_000))";
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let run = CallContext { host_calls: &Timers, cancel: Some(&cancelled), ..CallContext::default() };
    let receipt = receipt(&runtime, endless, &run);
    let error = replay(&runtime, &receipt, &ReplayOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the run ended with `cancelled`, which depends on timing");
    assert_eq!(error.code(), "receipt-not-repeatable");
    let timeout = with(&receipt, |run| {
        run.result.outcome = Came::Stopped { code: "timeout".to_owned(), message: String::new() };
    });
    assert_eq!(replay(&runtime, &timeout, &ReplayOptions::default()).unwrap_err().code(), "receipt-not-repeatable");
    // A replay can be cancelled too.
    let able = with(&receipt, |run| run.result.outcome = Came::Returned(None));
    let options = ReplayOptions { cancel: Some(cancelled), ..ReplayOptions::default() };
    assert_eq!(replay(&runtime, &able, &options).unwrap().outcome, Outcome::Stopped(Stop::Cancelled));
}

#[test]
fn a_source_that_is_not_that_of_the_tool_does_not_run() {
    let receipt = receipt(&runtime(), "const execute = () => 1", &CallContext::default());
    let sly = with(&receipt, |run| run.tool.source = "const execute = () => 2".to_owned());
    let error = replay(&runtime(), &sly, &ReplayOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("the source in the receipt is not that of {}", receipt.tool()));
    assert_eq!(error.code(), "receipt-changed");
}

#[test]
fn a_journal_that_grows_too_large_is_left_out_and_the_run_goes_on() {
    let runtime = runtime();
    let run = CallContext { host_calls: &Shuffled(4), ..CallContext::default() };
    let whole = receipt_within(&runtime, PARALLEL, &run, 1 << 20);
    let large = receipt_within(&runtime, PARALLEL, &run, 1000);
    assert_eq!((whole.has_trace(), large.has_trace()), (true, false));
    assert_eq!(whole.document.run.result, large.document.run.result);
    let large = Receipt::parse(&large.to_text()).unwrap();
    let error = replay(&runtime, &large, &ReplayOptions::default()).unwrap_err();
    assert_eq!(error.code(), "receipt-too-large");
}

/// Answers each request with the attached bytes, followed by more.
#[derive(Default)]
struct Echo(Vec<HostCall>);

impl HostCalls for Echo {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Net, Grant::Secrets { names: vec!["TOKEN".to_owned()] }]
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(Self::default())
    }
}

impl HostCallDriver for Echo {
    fn submit(&mut self, started: Vec<HostCall>, _: &[u32]) {
        self.0.extend(started);
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        let ended = self.0.drain(..).map(|operation| {
            let (json, bytes) = if operation.kind == "fetch" {
                let head = json!({ "status": 201, "statusText": "Created", "url": "https://api.example.com/", "redirected": false,
                    "headers": ["content-type", "text/plain"], "done": false });
                (head, operation.bytes.unwrap_or_default())
            } else {
                (json!({ "done": true }), vec![0xff, 0, b'!'])
            };
            let json = Json::parse(json.to_string()).unwrap();
            Completion { id: operation.id, result: Ok(OperationOutput { json, bytes: Some(bytes) }) }
        });
        WaitResult { completions: ended.collect(), ..WaitResult::default() }
    }
}

#[test]
fn bytes_are_kept_and_no_secret_is_where_the_tool_saw_none() {
    let source = "const execute = async () => {
      const headers = { authorization: secret('TOKEN') };
      const response = await fetch('https://api.example.com/', { method: 'POST', headers, body: 'sent' });
      return [response.status, [...new Uint8Array(await response.arrayBuffer())], headers];
    }";
    let receipt = receipt(&runtime(), source, &CallContext { host_calls: &Echo::default(), ..CallContext::default() });
    let returned = r#"[201,[115,101,110,116,255,0,33],{"authorization":"{{secret:TOKEN}}"}]"#;
    assert_eq!(receipt.document.run.result.outcome, Came::Returned(Some(returned.to_owned())));
    let text = receipt.to_text();
    assert!(text.contains(r#""bytes": "/wAh""#) && text.contains(r#""names": ["#), "{text}");
    assert_eq!(differences(&Receipt::parse(&text).unwrap()), [""; 0]);
    // The sent bytes are not in the receipt, but their hash is.
    let other = with(&receipt, |run| waits(run)[0].started[0].bytes = Some(blake3::hash(b"else").to_hex().to_string()));
    assert_eq!(differences(&other)[0], "journal: wait 1: operation 1, a `fetch`, sends other data than in the receipt");
}
