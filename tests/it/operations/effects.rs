//! What an error says of the effects of a call is what is found afterwards: `none` where nothing changed, `committed` where it did, and
//! `started` where it may have.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcell::gate::GateCall;
use toolcell::{Effects, Function, FunctionFailed, FunctionReply, Functions, Gates, Revision};
use toolcell_tool::SpaceName;

use super::{Host, value};

/// Grants everything that these tests ask for.
const POLICY: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntools = [\"inner\", \"innermost\", \"order\", \"look\"]\n\
    [grants.default.kv]\nspace = \"notes\"\nvalue_bytes = 100\n";

/// A host that lends these functions.
fn host(functions: Functions) -> Host {
    let mut host = Host::under(POLICY);
    host.lends(functions);
    host
}

fn make(host: &Host, name: &str, code: &str) {
    let asks = json!({ "kv": true, "tools": ["inner", "innermost", "order", "look"] });
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// A tool that calls another one, and says what that failed with.
fn calling(name: &str) -> String {
    format!(
        "const execute = async (params) => {{ try {{ await tools.call('{name}', params); return 'done' }} catch (error) {{ return [error.code, error.effects] }} }}"
    )
}

/// Compares what is said with what is there.
#[track_caller]
fn check(answer: &Value, code: &str, effects: Effects, changed: bool) {
    assert_eq!(answer, &json!([code, effects]), "changed: {changed}");
    match effects {
        Effects::None => assert!(!changed, "nothing was to happen, and something did: {answer}"),
        Effects::Committed => assert!(changed, "it was to happen, and did not: {answer}"),
        Effects::Started => {}
    }
}

/// What orders were taken, and when a function fails to take one.
#[derive(Clone, Default)]
struct Backend(Arc<Mutex<Vec<Value>>>);

impl Backend {
    /// A function that takes an order, and fails where it is told to.
    fn function(&self, name: &str) -> Function {
        let backend = self.clone();
        let declared = json!({ "fails": { "type": "string", "description": "where" } });
        let function = Function::slow(name, &declared, &json!({ "type": "number" }), move |params| {
            let fails = params["fails"].as_str().unwrap_or_default();
            let failed = |effects| Err(FunctionFailed { message: "no".to_owned(), effects });
            match fails {
                "before" => return failed(Effects::None),
                "panics before" => panic!("the host is broken"),
                "later" => return Ok(FunctionReply::Later("ticket".to_owned())),
                _ => backend.0.lock().unwrap().push(params.clone()),
            }
            match fails {
                "after" => failed(Effects::Committed),
                "between" => failed(Effects::Started),
                "panics after" => panic!("the host is broken"),
                "lies" => Ok(FunctionReply::Now(json!("much"))),
                "later after" => Ok(FunctionReply::Later("ticket".to_owned())),
                _ => Ok(FunctionReply::Now(json!(1))),
            }
        });
        function.unwrap()
    }

    /// Whether an order was taken since somebody asked last.
    fn changed(&self) -> bool {
        !std::mem::take(&mut *self.0.lock().unwrap()).is_empty()
    }
}

#[test]
fn what_an_error_says_of_a_function_of_the_host_is_true() {
    for quick in [true, false] {
        let backend = Backend::default();
        let order = backend.function("order");
        let host = host(Functions::default().with(if quick { order.quick() } else { order }).unwrap());
        make(&host, "outer", &calling("order"));
        let ask = |params: Value| value(&host.run("outer", &params).unwrap());
        for (fails, code, effects) in [
            ("before", "function-failed", Effects::None),
            ("panics before", "bug", Effects::Started),
            ("later", "function-later", Effects::Started),
            ("between", "function-failed", Effects::Started),
            ("after", "function-failed", Effects::Committed),
            ("panics after", "bug", Effects::Started),
            ("lies", "function-result", Effects::Committed),
            ("later after", "function-later", Effects::Started),
        ] {
            let answer = ask(json!({ "fails": fails }));
            check(&answer, code, effects, backend.changed());
        }
        check(&ask(json!({ "fails": [] })), "parameters-invalid", Effects::None, backend.changed());
        assert_eq!((ask(json!({})), backend.changed()), (json!("done"), true));
    }
}

/// Whether the key was written since somebody asked last.
fn written(host: &Host) -> bool {
    let space = SpaceName::parse("notes").unwrap();
    let there = host.store().space_get(&space, "k", super::now()).unwrap().is_some();
    host.store().space_clear(&space).unwrap();
    there
}

#[test]
fn what_an_error_says_of_a_tool_that_was_called_is_true() {
    let innermost = "const execute = async ({ key, fails }) => { \
        await (key ? kv.set(key, 1) : kv.get('k')); if (fails) throw new Error('no') }";
    let stale = "await kv.commit({ check: [{ key: 'k', version: 7 }], set: [{ key: 'k', value: 1 }] })";
    for (does, code, effects) in [
        ("", "tool-failed", Effects::None),
        ("await kv.get('k')", "tool-failed", Effects::None),
        ("await kv.list()", "tool-failed", Effects::None),
        (stale, "tool-failed", Effects::None),
        ("await kv.set('k', 'x'.repeat(200))", "tool-failed", Effects::None),
        ("await kv.set('k', 1)", "tool-failed", Effects::Committed),
        ("await kv.set('k', 1); await kv.set('k', 'x'.repeat(200))", "tool-failed", Effects::Committed),
        ("await kv.set('k', 1); return 'x'.repeat(2 << 20)", "output-too-large", Effects::Committed),
        ("return 'x'.repeat(2 << 20)", "output-too-large", Effects::None),
        ("await kv.set('k', 1); await new Promise(() => {})", "stalled", Effects::Committed),
        ("await tools.call('look', {})", "tool-failed", Effects::None),
        ("await tools.call('order', {})", "tool-failed", Effects::Committed),
        ("await tools.call('order', { fails: 'before' })", "tool-failed", Effects::None),
        ("await tools.call('order', { fails: 'after' })", "tool-failed", Effects::Committed),
        ("await tools.call('order', { fails: 'panics after' })", "tool-failed", Effects::Started),
        ("await tools.call('innermost', { key: 'k' })", "tool-failed", Effects::Committed),
        ("await tools.call('innermost', {})", "tool-failed", Effects::None),
        ("await tools.call('innermost', { key: 'k', fails: true })", "tool-failed", Effects::Committed),
        ("await tools.call('innermost', { fails: true })", "tool-failed", Effects::None),
    ] {
        let backend = Backend::default();
        let look = Function::new("look", &json!({}), &json!({}), |_| Ok(json!(1))).unwrap().reading();
        let host = host(Functions::default().with(backend.function("order")).unwrap().with(look).unwrap());
        make(&host, "innermost", innermost);
        make(&host, "inner", &format!("const execute = async () => {{ {does}; throw new Error('no') }}"));
        make(&host, "outer", &calling("inner"));
        let answer = value(&host.run("outer", &json!({})).unwrap());
        let changed = written(&host) | backend.changed();
        check(&answer, code, effects, changed);
    }
}

#[test]
fn a_tool_that_was_not_run_has_changed_nothing() {
    let host = host(Functions::default());
    let declared = json!({ "n": { "type": "number", "description": "a number", "required": true } });
    let code = "const execute = async () => { await kv.set('k', 1); throw new Error('no') }";
    let fields = json!({ "name": "inner", "description": "a tool", "code": code, "parameters": declared, "capabilities": ["kv"] });
    host.create(&fields).unwrap();
    make(&host, "outer", &calling("inner"));
    make(&host, "astray", &calling("innermost"));
    make(&host, "denied", &calling("elsewhere"));
    for (name, params, code, effects) in [
        ("outer", json!({}), "parameters-missing", Effects::None),
        ("astray", json!({}), "tool-not-found", Effects::None),
        ("denied", json!({}), "tools-not-granted", Effects::None),
        ("outer", json!({ "n": 1 }), "tool-failed", Effects::Committed),
    ] {
        let answer = value(&host.run(name, &params).unwrap());
        check(&answer, code, effects, written(&host));
    }
}

#[test]
fn what_a_gate_keeps_back_has_happened_all_the_same() {
    for (does, effects) in [("kv.set('k', 1)", Effects::Committed), ("kv.get('k')", Effects::None)] {
        let mut gates = Gates::default();
        gates.after("rules", |call: &GateCall, _| {
            assert!(call.tool_name != "inner", "the gate is broken");
            Revision::keep()
        });
        let host = Host::with(POLICY, gates);
        make(&host, "inner", &format!("const execute = () => {does}"));
        make(&host, "outer", &calling("inner"));
        let error = host.run("inner", &json!({})).unwrap_err();
        check(&json!([error.code(), error.effects()]), "result-withheld", effects, written(&host));
        let answer = value(&host.run("outer", &json!({})).unwrap());
        check(&answer, "result-withheld", effects, written(&host));
    }
}

#[test]
fn how_far_a_run_changed_the_world_is_told_of_each_that_took_place() {
    for (does, effects) in [
        ("", Effects::None),
        ("await kv.get('k')", Effects::None),
        ("await kv.set('k', 1)", Effects::Committed),
        ("await tools.call('innermost')", Effects::Committed),
        ("kv.set('k', 1); for (;;);", Effects::None),
    ] {
        let host = host(Functions::default());
        make(&host, "innermost", "const execute = () => kv.set('k', 1)");
        make(&host, "inner", &format!("const execute = async () => {{ {does} }}"));
        let limits = toolcell::Wanted { fuel: Some(50_000_000), ..toolcell::Wanted::default() };
        let options = toolcell::RunOptions { limits, ..toolcell::RunOptions::default() };
        let ran = host.run_as(&json!({ "tool_name": "inner", "parameters": {} }), &options).unwrap();
        assert_eq!((ran.effects, written(&host)), (effects, effects == Effects::Committed), "{does}");
    }
}
