use serde_json::json;

use super::*;
use crate::mocks::MockReply;

const MEAN: &str = "const execute = ({ numbers }) => numbers.reduce((a, b) => a + b, 0) / numbers.length";

/// Returns the message of a failing test.
fn wrong(call: CallTest) -> String {
    call.try_check().unwrap_err()
}

#[test]
fn a_sentence_that_is_true_passes_and_tells_what_it_took() {
    let checked =
        source("mean.js", MEAN).given(json!({ "numbers": [1, 2, 6] })).returns(3).within(fuel(1 << 40)).check();
    assert!(checked.fuel() > 0 && checked.memory() > 0);
    assert_eq!(checked.value(), Some(json!(3)));
    assert!(matches!(checked.outcome(), Some(Outcome::Returned(Some(_)))));
}

#[test]
fn what_is_not_true_is_said_in_values() {
    let mean = || source("mean.js", MEAN).given(json!({ "numbers": [1, 2] }));
    for (call, says) in vec![
        (mean().returns(2), "mean.js: it returns 1.5, expected 2\n- expected\n+ actual\n- 2\n+ 1.5\n"),
        (mean().throws("TypeError", ""), "mean.js: it returns 1.5; expected it to throw TypeError"),
        (mean().stops("timeout"), "mean.js: it returns 1.5; expected it to stop with `timeout`"),
        (mean().returns(1.5).within(fuel(1)), "units of fuel, the budget is 1: "),
        (mean().returns(1.5).logs(["x"]), "mean.js: its log lines differ from the expected ones: 0 lines, expected 1"),
        (
            mean().returns(1.5).asks_for(["fetch GET https://a.example/"]),
            "its host calls differ from the expected \
                                                                          ones",
        ),
        (mean().returns_where("$", at_least(2.0)), "mean.js: `$` is 1.5, which is not at least 2"),
        (mean(), "mean.js: it has no expected outcome"),
        (mean().returns(1).returns(2), "one call has two expected outcomes"),
        (mean().returns(1.5).within(fuel(0)), "a budget of 0"),
        (mean().returns(1.5).within(memory(1)), "mean.js: memory_bytes is 1, it must be 8388608 to 1073741824"),
        (
            mean().returns(1.5).within(fuel(9_000_000).counted_under("0123 wasmtime-1.0.0")),
            "mean.js: budget-model-mismatch: the budget was measured with the model `0123 wasmtime-1.0.0`, this build \
             uses `",
        ),
        (source("mean.js", MEAN).given(json!([])).returns(1), "mean.js: invalid parameters: "),
        (tool("no/such.ts").given(json!({})).returns(1), "no/such.ts: No such file"),
        (
            source("e.js", "const execute = () => eval('1')").given(json!({})).returns(1),
            "the analysis refuses the tool",
        ),
    ] {
        let message = wrong(call);
        assert!(message.contains(says), "{message}\nexpected: {says}");
        assert!(!message.contains("Some(") && !message.contains("Number("), "{message}");
    }
}

#[test]
fn every_kind_of_end_can_be_expected() {
    let run = |text: &str| source("t.js", text).given(json!({}));
    run("const execute = () => undefined").returns_nothing().check();
    run("const execute = () => { throw new RangeError('too far') }").throws("RangeError", "far").check();
    run("const execute = () => { for (;;); }").stops("out-of-fuel").within(fuel(100_000)).check();
    run("const execute = () => new Promise(() => {})").stops("stalled").check();
    run("const execute = () => eval('1')").refused("eval-usage").check();
    run("const execute = ( =>").refused("syntax-error").check();
    run("const execute = () => ({ a: [1, 2] })")
        .returns_where("$.a[*]", at_most(2.0))
        .returns_where("$.a[0]", is(1))
        .check();
    run("const execute = () => { console.log('a'); console.warn('b'); return 1 }").returns(1).logs(["a", "b"]).check();
    let dice = "const execute = () => Math.random()";
    let first = run(dice).seeded(7).returns_where("$", at_most(1.0)).check();
    run(dice).seeded(7).returns(first.value().unwrap()).within(fuel(first.fuel())).check();
    run("const execute = () => new Date().getFullYear()")
        .started_at(Duration::from_hours(24 * 366))
        .returns(1971)
        .check();
}

#[test]
fn the_host_answers_what_the_test_says_and_nothing_else() {
    let text = "export async function execute({ url }) {
        const answer = await fetch(url);
        if (!answer.ok) return answer.status;
        const { prices } = await answer.json();
        return await tools.call('mean', { numbers: prices });
    }";
    let url = "https://shop.example/prices.json";
    let call = || source("report.ts", text).given(json!({ "url": url })).granted(Grant::Tools);
    let prices = || fetch(url).with(json!({ "prices": [1, 2] }));
    call()
        .answering(prices())
        .answering(tool_call("mean").with(1.5))
        .returns(1.5)
        .asks_for(["fetch GET https://shop.example/prices.json", "tools.call mean"])
        .check();
    call().answering(fetch(url).status(503)).returns(503).check();
    call()
        .answering(fetch(url).fails("NetworkError", "no route", "net-failed"))
        .throws("NetworkError", "no route")
        .check();
    for (call, says) in [
        (
            call().answering(prices()).throws("NotFoundError", ""),
            "the tool requests tools.call mean, but this test \
                                                                  has no answer",
        ),
        (
            call().answering(fetch("https://other.example/")).throws("NotFoundError", ""),
            "the tool requests fetch GET https://shop",
        ),
        (
            call().answering(fetch(url).status(404)).answering(tool_call("mean")).returns(404),
            "the answer to tools.call {\"name\":\"mean\"} was not used",
        ),
    ] {
        let message = wrong(call);
        assert!(message.contains(says), "{message}\nexpected: {says}");
    }
}

#[test]
fn keys_and_files_are_answered_as_well() {
    let text = "export async function execute() {
        const last = await kv.get('last');
        await kv.set('last', last + 1);
        return [last, await files.readText('notes/a.txt')];
    }";
    let mut file = host_call("files.read", json!({ "path": "notes/a.txt" }));
    file.reply = MockReply::Value(Value::Null, Some(b"hello".to_vec()));
    source("t.ts", text)
        .given(json!({}))
        .answering(host_call("kv.get", json!({ "key": "last" })).with(json!({ "value": 41, "version": 1 })))
        .answering(host_call("kv.commit", json!({ "checks": [] })).with(json!({ "committed": true })))
        .answering(file)
        .returns(json!([41, "hello"]))
        .asks_for(["kv.get last", "kv.commit last", "files.read notes/a.txt"])
        .check();
}

#[test]
fn timers_are_due_at_once_and_the_clock_moves_on() {
    let text = "export async function execute() {
        const began = Date.now();
        await sleep(3_600_000);
        return Math.round((Date.now() - began) / 1000);
    }";
    source("t.ts", text).given(json!({})).granted(Grant::Timers).returns(3600).check();
}

crate::cases! {
    source("mean.js", MEAN);
    a_table_makes_tests: { "numbers": [1, 3] } => returns(2);
    each_can_say_more: { "numbers": [4] } => returns(4) within(fuel(1 << 40)) logs([]);
}
