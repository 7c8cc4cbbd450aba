//! Tools that call tools, and host functions.

use serde_json::{Value, json};
use toolcell::{Effects, FunctionFailure, FunctionReply, HostFunction, HostFunctions, Outcome, RunOptions, Stop};

use super::{ToolboxFixture, returned_value};

const AUTO: &str = "[approval]\nmode = \"auto\"\n";

fn host(policy: &str) -> ToolboxFixture {
    ToolboxFixture::with_policy(&format!("{AUTO}{policy}"))
}

fn make(host: &ToolboxFixture, name: &str, code: &str, asks: &Value) {
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// Returns a tool that tries an expression and returns its value, or the name, code and effects of
/// its error.
fn trying(what: &str) -> String {
    format!(
        "const execute = async (params) => {{ try {{ return await ({what}) }} catch (error) {{ return [error.name, error.code, error.effects, error.message] }} }}"
    )
}

#[test]
fn a_tool_composes_three_others() {
    let host = host("[grants.tools.report]\ntools = [\"sum\", \"count\", \"show\"]");
    make(&host, "sum", "const execute = ({ numbers }) => numbers.reduce((a, b) => a + b, 0)", &json!([]));
    make(&host, "count", "const execute = ({ numbers }) => numbers.length", &json!([]));
    make(&host, "show", "const execute = ({ mean }) => `the mean is ${mean.toFixed(2)}`", &json!([]));
    let code = "const execute = async ({ numbers }) => { \
        const [sum, count] = await Promise.all([tools.call('sum', { numbers }), tools.call('count', { numbers })]); \
        return tools.call('show', { mean: sum / count }) }";
    make(&host, "report", code, &json!({ "tools": ["sum", "count", "show"] }));
    let ran = host.run("report", &json!({ "numbers": [1, 2, 4] })).unwrap();
    assert_eq!(returned_value(&ran), json!("the mean is 2.33"));
    // Each call has its own record, and the first run's fuel includes all of them.
    let records: Vec<_> = host.audit_lines().iter().filter_map(|line| host.record(line)).collect();
    let callers: Vec<(&str, &str)> =
        records.iter().map(|record| (record.name.as_str(), record.caller.as_str())).collect();
    assert_eq!(
        callers,
        [("sum", "tool report"), ("count", "tool report"), ("show", "tool report"), ("report", "host")]
    );
    let used = |at: usize| records[at].used.as_ref().unwrap();
    let others: u64 = (0..3).map(|at| used(at).fuel + used(at).load_fuel).sum();
    assert!(used(3).fuel > others, "{} {others}", used(3).fuel);
    // A repeated run uses exactly the same fuel.
    assert_eq!(host.run("report", &json!({ "numbers": [1, 2, 4] })).unwrap().report.usage.fuel, ran.report.usage.fuel);
}

#[test]
fn what_is_called_has_no_grant_that_its_caller_lacks() {
    let host = host(
        "[grants.default]\ntools = [\"wait\"]\n[grants.tools.wait]\ntimers = true\n[grants.tools.may]\ntimers = true\n",
    );
    make(&host, "wait", "const execute = () => typeof setTimeout", &json!(["timers"]));
    make(&host, "may", "const execute = () => tools.call('wait')", &json!({ "tools": ["wait"], "timers": true }));
    make(&host, "may_not", "const execute = () => tools.call('wait')", &json!({ "tools": ["wait"] }));
    assert_eq!(returned_value(&host.run("wait", &json!({})).unwrap()), json!("function"));
    assert_eq!(returned_value(&host.run("may", &json!({})).unwrap()), json!("function"));
    assert_eq!(returned_value(&host.run("may_not", &json!({})).unwrap()), json!("undefined"));
}

#[test]
fn a_call_that_cannot_be_says_why_and_that_nothing_happened() {
    let host = host("[grants.default]\ntools = [\"strict\", \"gone\", \"fails\", \"itself\"]");
    let declared = json!({ "n": { "type": "number", "description": "a number", "required": true } });
    host.create(&json!({ "name": "strict", "description": "a tool", "code": "const execute = ({ n }) => n", "parameters": declared })).unwrap();
    make(&host, "fails", "const execute = () => { throw new RangeError('too far') }", &json!([]));
    let asks = json!({ "tools": ["strict", "gone", "fails", "itself"] });
    for (name, what, expect) in [
        ("a", "tools.call('strict', {})", json!(["NotAllowedError", "parameters-missing", "none"])),
        ("b", "tools.call('gone')", json!(["NotAllowedError", "tool-not-found", "none"])),
        ("c", "tools.call('other')", json!(["NotAllowedError", "tools-not-granted", "none"])),
        ("d", "tools.call('fails')", json!(["RangeError", "tool-failed", "none"])),
    ] {
        make(&host, name, &trying(what), &asks);
        let answer = returned_value(&host.run(name, &json!({})).unwrap());
        assert_eq!(json!([answer[0], answer[1], answer[2]]), expect, "{what}: {answer}");
    }
}

#[test]
fn a_tool_that_calls_itself_for_ever_ends() {
    let host = host("[grants.default]\ntools = [\"itself\"]");
    make(&host, "itself", &trying("tools.call('itself', params)"), &json!({ "tools": ["itself"] }));
    let answer = returned_value(&host.run("itself", &json!({})).unwrap());
    assert_eq!((&answer[1], &answer[2]), (&json!("tools-too-deep"), &json!("none")));
    // Five runs were in the chain, and each has a record.
    assert_eq!(host.audit_lines().iter().filter(|line| host.record(line).is_some()).count(), 5);
}

#[test]
fn fuel_time_and_slots_are_shared() {
    let host = host("[grants.default]\ntools = [\"endless\"]").with_slots(1);
    make(&host, "endless", "const execute = () => { for (;;) ; }", &json!([]));
    make(&host, "calls", "const execute = () => tools.call('endless')", &json!({ "tools": ["endless"] }));
    let options = |fuel: u64| {
        let limits = toolcell::LimitOverrides { fuel: Some(fuel), ..toolcell::LimitOverrides::default() };
        RunOptions { limits, ..RunOptions::default() }
    };
    let fields = json!({ "tool_name": "calls", "parameters": {} });
    let report = host.run_with(&fields, &options(50_000_000)).unwrap().report;
    assert_eq!(report.outcome, Outcome::Stopped(Stop::OutOfFuel { limit: 50_000_000 }));
    let fields = json!({ "tool_name": "calls", "parameters": {}, "timeout_ms": 200 });
    assert_eq!(host.run_with(&fields, &RunOptions::default()).unwrap().value().unwrap_err().code(), "timeout");
}

#[test]
fn a_function_of_the_host_is_held_to_what_it_declares() {
    let (sku, number) =
        (json!({ "sku": { "type": "string", "description": "which", "required": true } }), json!({ "type": "number" }));
    let price_of = |params: &Value| match params["sku"].as_str().unwrap_or_default() {
        "tea" => Ok(json!(2.5)),
        "lie" => Ok(json!("much")),
        "panic" => panic!("the host is broken"),
        _ => Err(FunctionFailure { message: "there is no such thing".to_owned(), effects: Effects::None }),
    };
    let blocking = HostFunction::new("price", &sku, &number, price_of).unwrap().read_only();
    // An event loop replies from a thread of its own.
    let later = blocking.clone().with_async_implementation(move |params, responder| {
        let params = params.clone();
        std::thread::spawn(move || responder.respond(move || price_of(&params).map(FunctionReply::Immediate)));
    });
    for price in [blocking.clone().inline(), blocking, later] {
        is_held_to_what_it_declares(price);
    }
}

fn is_held_to_what_it_declares(price: HostFunction) {
    let functions = HostFunctions::default().with(price).unwrap();
    let mut host = host("[grants.default]\ntools = [\"price\"]");
    host.set_functions(functions.clone());
    make(&host, "ask", &trying("tools.call('price', params)"), &json!({ "tools": ["price"] }));
    let ask = |params: Value| returned_value(&host.run("ask", &params).unwrap());
    assert_eq!(ask(json!({ "sku": "tea" })), json!(2.5));
    for (params, expect) in [
        (json!({ "sku": "x" }), json!(["Error", "function-failed", "none"])),
        // The function only reads.
        (json!({ "sku": "lie" }), json!(["Error", "function-result", "none"])),
        (json!({ "sku": "panic" }), json!(["Error", "bug", "none"])),
        (json!({ "sku": [] }), json!(["TypeError", "parameters-invalid", "none"])),
        (json!({}), json!(["TypeError", "parameters-missing", "none"])),
    ] {
        let answer = ask(params.clone());
        assert_eq!(json!([answer[0], answer[1], answer[2]]), expect, "{params}: {answer}");
    }
    let twice = HostFunction::new("Price", &json!({}), &json!({}), |_| Ok(Value::Null)).unwrap();
    assert_eq!(functions.with(twice).err().unwrap().to_string(), "two functions are named `Price`");
}

#[test]
fn a_function_that_is_started_and_never_replies_fails() {
    let nothing = HostFunction::new("ask", &json!({}), &json!({}), |_| Ok(Value::Null)).unwrap();
    let dropped = nothing.clone().with_async_implementation(|_, responder| drop(responder));
    let panics = nothing.with_async_implementation(|_, _responder| panic!("the host is broken"));
    for function in [dropped, panics] {
        let mut host = host("[grants.default]\ntools = [\"ask\"]");
        host.set_functions(HostFunctions::default().with(function).unwrap());
        make(&host, "run", &trying("tools.call('ask', {})"), &json!({ "tools": ["ask"] }));
        let value = returned_value(&host.run("run", &json!({})).unwrap());
        assert_eq!(value, json!(["Error", "function-failed", "started", "`ask`: the host is gone"]));
    }
}

#[test]
fn functions_that_are_called_at_once_may_reply_in_any_order() {
    let replies = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let waiting = std::sync::Arc::clone(&replies);
    // All are answered, last first, once all have begun.
    let gather = HostFunction::new("gather", &json!({ "n": { "type": "number" } }), &json!({}), |_| Ok(Value::Null));
    let gather = gather.unwrap().with_async_implementation(move |params, responder| {
        let mut waiting = waiting.lock().unwrap();
        waiting.push((params["n"].clone(), responder));
        if waiting.len() == 60 {
            for (n, responder) in waiting.drain(..).rev() {
                responder.respond(move || Ok(FunctionReply::Immediate(n)));
            }
        }
    });
    let mut host = host("[grants.default]\ntools = [\"gather\"]");
    host.set_functions(HostFunctions::default().with(gather).unwrap());
    let code = "const execute = async () => {
        const all = await Promise.all(Array.from({ length: 60 }, (_, n) => tools.call('gather', { n })))
        return all.every((n, at) => n === at)
    }";
    make(&host, "all", code, &json!({ "tools": ["gather"] }));
    assert_eq!(returned_value(&host.run("all", &json!({})).unwrap()), json!(true));
    assert!(replies.lock().unwrap().is_empty());
}

#[test]
fn nobody_waits_for_a_function_that_takes_longer_than_the_run_may() {
    let slow = HostFunction::new("slow", &json!({}), &json!({}), |_| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        Ok(Value::Null)
    });
    let slow = slow.unwrap();
    let kept = std::sync::Mutex::new(Vec::new());
    let silent = slow.clone().with_async_implementation(move |_, responder| kept.lock().unwrap().push(responder));
    for function in [slow, silent] {
        is_not_waited_for(function);
    }
}

fn is_not_waited_for(slow: HostFunction) {
    let mut host = host("[grants.default]\ntools = [\"slow\"]");
    host.set_functions(HostFunctions::default().with(slow).unwrap());
    make(&host, "ask", "const execute = () => tools.call('slow', {})", &json!({ "tools": ["slow"] }));
    let fields = json!({ "tool_name": "ask", "parameters": {}, "timeout_ms": 100 });
    let began = std::time::Instant::now();
    let ran = host.run_with(&fields, &RunOptions::default()).unwrap();
    assert_eq!(ran.value().unwrap_err().code(), "timeout");
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    assert_eq!(ran.effect_log.unwrap().effects[0].effects, Effects::Started);
}

#[test]
fn caps_do_not_multiply_with_nested_calls() {
    let server = super::loopback::LoopbackServer::with_handler(|_| ("200 OK", "1".to_owned()));
    let folder = tempfile::tempdir().unwrap();
    let files = format!(
        "[[grants.default.files]]\nname = \"out\"\npath = {:?}\naccess = \"write\"\nbytes = 1000\n",
        folder.path()
    );
    let net = server.grant_for("get", "calls = 2") + &server.grant_for("many", "");
    let host = host(&format!("{files}{net}[grants.tools.many]\ntools = [\"get\", \"many\"]\n"));
    let get = "const execute = async ({ url, n }) => { let done = 0; for (const what of [() => fetch(url), () => fetch(url), \
        () => files.write(`out/${n}`, 'x'.repeat(300))]) { try { await what(); done += 1 } catch {} } return done }";
    make(&host, "get", get, &json!(["net", "files"]));
    let many = "const execute = async ({ url }) => { let all = 0; for (let n = 0; n < 10; n++) all += await \
        tools.call('get', { url, n }); return all }";
    make(&host, "many", many, &json!({ "tools": ["get", "many"], "net": true, "files": true }));
    // Two requests and three files, for ten calls.
    let ran = |tool: &str| returned_value(&host.run(tool, &json!({ "url": server.url("/"), "n": 0 })).unwrap());
    assert_eq!((ran("many"), server.request_lines().len()), (json!(5), 2));
    // Another run has its own allowance.
    assert_eq!((ran("get"), server.request_lines().len()), (json!(3), 4));
}
