//! The effects in an error are true: `none` if nothing changed, `committed` if the change happened,
//! and `started` if it may have happened.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcell::hook::HookEvent;
use toolcell::{Effects, FunctionFailure, FunctionReply, Hooks, HostFunction, HostFunctions, Revision};
use toolcell_tool::SpaceName;

use super::{ToolboxFixture, returned_value};

/// A policy that grants what these tests request.
const POLICY: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntools = [\"inner\", \"innermost\", \"order\", \"look\"]\n\
    [grants.default.kv]\nspace = \"notes\"\nvalue_bytes = 100\n";

/// Creates a toolbox with these host functions.
fn host(functions: HostFunctions) -> ToolboxFixture {
    let mut host = ToolboxFixture::with_policy(POLICY);
    host.set_functions(functions);
    host
}

fn make(host: &ToolboxFixture, name: &str, code: &str) {
    let asks = json!({ "kv": true, "tools": ["inner", "innermost", "order", "look"] });
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// Returns a tool that calls another one, and returns its error.
fn calling(name: &str) -> String {
    format!(
        "const execute = async (params) => {{ try {{ await tools.call('{name}', params); return 'done' }} catch (error) {{ return [error.code, error.effects] }} }}"
    )
}

/// Compares the reported effects with the actual ones.
#[track_caller]
fn check(answer: &Value, code: &str, effects: Effects, changed: bool) {
    assert_eq!(answer, &json!([code, effects]), "changed: {changed}");
    match effects {
        Effects::None => assert!(!changed, "nothing was to happen, and something did: {answer}"),
        Effects::Committed => assert!(changed, "it was to happen, and did not: {answer}"),
        Effects::Started => {}
    }
}

/// The orders taken, and when the functions fail.
#[derive(Clone, Default)]
struct FakeBackend(Arc<Mutex<Vec<Value>>>);

impl FakeBackend {
    /// Returns a host function that takes an order, and fails as told.
    fn function(&self, name: &str) -> HostFunction {
        let backend = self.clone();
        let declared = json!({ "fails": { "type": "string", "description": "where" } });
        let function = HostFunction::new_deferrable(name, &declared, &json!({ "type": "number" }), move |params| {
            let fails = params["fails"].as_str().unwrap_or_default();
            let failed = |effects| Err(FunctionFailure { message: "no".to_owned(), effects });
            match fails {
                "before" => return failed(Effects::None),
                "panics before" => panic!("the host is broken"),
                "later" => return Ok(FunctionReply::Deferred("ticket".to_owned())),
                _ => backend.0.lock().unwrap().push(params.clone()),
            }
            match fails {
                "after" => failed(Effects::Committed),
                "between" => failed(Effects::Started),
                "panics after" => panic!("the host is broken"),
                "lies" => Ok(FunctionReply::Immediate(json!("much"))),
                "later after" => Ok(FunctionReply::Deferred("ticket".to_owned())),
                _ => Ok(FunctionReply::Immediate(json!(1))),
            }
        });
        function.unwrap()
    }

    /// Whether an order was taken since the last check.
    fn changed(&self) -> bool {
        !std::mem::take(&mut *self.0.lock().unwrap()).is_empty()
    }
}

#[test]
fn what_an_error_says_of_a_function_of_the_host_is_true() {
    for quick in [true, false] {
        let backend = FakeBackend::default();
        let order = backend.function("order");
        let host = host(HostFunctions::default().with(if quick { order.inline() } else { order }).unwrap());
        make(&host, "outer", &calling("order"));
        let ask = |params: Value| returned_value(&host.run("outer", &params).unwrap());
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

/// Whether the key was written since the last check.
fn written(host: &ToolboxFixture) -> bool {
    let space = SpaceName::parse("notes").unwrap();
    let there = host.store().kv(&space).get("k", super::now()).unwrap().is_some();
    host.store().kv(&space).clear().unwrap();
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
        let backend = FakeBackend::default();
        let look = HostFunction::new("look", &json!({}), &json!({}), |_| Ok(json!(1))).unwrap().read_only();
        let host = host(HostFunctions::default().with(backend.function("order")).unwrap().with(look).unwrap());
        make(&host, "innermost", innermost);
        make(&host, "inner", &format!("const execute = async () => {{ {does}; throw new Error('no') }}"));
        make(&host, "outer", &calling("inner"));
        let answer = returned_value(&host.run("outer", &json!({})).unwrap());
        let changed = written(&host) | backend.changed();
        check(&answer, code, effects, changed);
    }
}

#[test]
fn a_tool_that_was_not_run_has_changed_nothing() {
    let host = host(HostFunctions::default());
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
        let answer = returned_value(&host.run(name, &params).unwrap());
        check(&answer, code, effects, written(&host));
    }
}

#[test]
fn what_a_hook_keeps_back_has_happened_all_the_same() {
    for (does, effects) in [("kv.set('k', 1)", Effects::Committed), ("kv.get('k')", Effects::None)] {
        let mut hooks = Hooks::default();
        hooks.after("rules", |call: &HookEvent, _| {
            assert!(call.tool_name != "inner", "the hook is broken");
            Revision::unchanged()
        });
        let host = ToolboxFixture::with_hooks(POLICY, hooks);
        make(&host, "inner", &format!("const execute = () => {does}"));
        make(&host, "outer", &calling("inner"));
        let error = host.run("inner", &json!({})).unwrap_err();
        check(&json!([error.code(), error.effects()]), "result-withheld", effects, written(&host));
        let answer = returned_value(&host.run("outer", &json!({})).unwrap());
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
        let host = host(HostFunctions::default());
        make(&host, "innermost", "const execute = () => kv.set('k', 1)");
        make(&host, "inner", &format!("const execute = async () => {{ {does} }}"));
        let limits = toolcell::LimitOverrides { fuel: Some(50_000_000), ..toolcell::LimitOverrides::default() };
        let options = toolcell::RunOptions { limits, ..toolcell::RunOptions::default() };
        let ran = host.run_with(&json!({ "tool_name": "inner", "parameters": {} }), &options).unwrap();
        assert_eq!((ran.effects, written(&host)), (effects, effects == Effects::Committed), "{does}");
    }
}
