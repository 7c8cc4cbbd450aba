//! Secrets, calls of other tools and time as tools see them, and the absence of everything that was
//! not granted.

use toolcell_host::{Effects, Grant, HostCall, Outcome, Timers};

use super::mock_host::{MockHostCalls, MockResult, failure, json};
use crate::fixtures::sandbox::{SandboxFixture, eval};

fn secrets(names: &[&str]) -> Grant {
    Grant::Secrets { names: names.iter().map(|name| (*name).to_owned()).collect() }
}

/// Never answers.
fn silent(_: &HostCall) -> Option<MockResult> {
    None
}

#[test]
fn a_secret_is_a_text_that_stands_for_it() {
    let telling = MockHostCalls::new(&[secrets(&["TOKEN", "OTHER"])], &silent);
    assert_eq!(
        telling.returns_body("return ['Bearer ' + secret('TOKEN'), secret('OTHER')]"),
        r#"["Bearer {{secret:TOKEN}}","{{secret:OTHER}}"]"#
    );
    let fixture =
        SandboxFixture::new().script("function execute() {\n\n  return secret('KEY')\n}").operations(&telling);
    let exception = fixture.throws();
    assert_eq!(exception, "Error: it needs the grant `secrets` of KEY, which this call does not have");
    let Outcome::Threw(thrown) = fixture.run_text("{}").outcome else { panic!("it threw before") };
    assert_eq!(thrown.line, Some(3));
    assert!(telling.requested().is_empty());
}

#[test]
fn a_tool_calls_another() {
    let reply = |operation: &HostCall| {
        Some(if operation.payload.contains("bad") { failure("Error", Effects::Committed) } else { json("[1]") })
    };
    let telling = MockHostCalls::new(&[Grant::Tools], &reply);
    assert_eq!(telling.returns_body("return tools.call('sum', { of: [1, 2] })"), "[1]");
    assert_eq!(telling.requested(), [r#"tools.call {"name":"sum","params":{"of":[1,2]}}"#]);
    let caught = telling
        .returns_body("try { await tools.call('bad') } catch (e) { return [e.name, e.message, e.code, e.effects] }");
    assert_eq!(caught, r#"["Error","it did not work out","out-of-order","committed"]"#);
    let fixture = SandboxFixture::new()
        .script("async function execute() {\n  await tools.call('good')\n  await tools.call('bad')\n}")
        .operations(&telling);
    let Outcome::Threw(thrown) = fixture.run_text("{}").outcome else { panic!("it threw before") };
    assert_eq!((thrown.line, thrown.column), (Some(3), Some(15)));
    assert!(
        thrown.stack.contains("at execute (tool.js:3:15)") && !thrown.stack.contains("toolcell:prelude"),
        "{thrown:?}"
    );
}

#[test]
fn a_tool_sleeps_until_its_time_or_its_signal() {
    let source = "async function execute() { const before = Date.now(); await sleep(15); const c = new AbortController(); setTimeout(() => c.abort('up'), 1); \
        const why = await sleep(100_000, { signal: c.signal }).catch((reason) => reason); return [Date.now() - before >= 15, why]; }";
    assert_eq!(SandboxFixture::new().script(source).operations(&Timers).returns(), r#"[true,"up"]"#);
    let timeout = "async function execute() { const s = AbortSignal.timeout(5); await new Promise((done) => { s.onabort = done }); return s.reason.name }";
    assert_eq!(SandboxFixture::new().script(timeout).operations(&Timers).returns(), r#""TimeoutError""#);
}

#[test]
fn what_is_not_granted_does_not_exist() {
    let of_grant: [(Grant, &[&str]); 7] = [
        (Grant::Timers, &["setTimeout", "setInterval", "clearTimeout", "clearInterval", "sleep"]),
        (Grant::Net, &["fetch", "Headers", "Request", "Response", "ReadableStream", "ReadableStreamDefaultReader"]),
        (Grant::Kv, &["kv"]),
        (Grant::Files, &["files"]),
        (secrets(&["A"]), &["secret"]),
        (Grant::Tools, &["tools"]),
        (Grant::Servers { names: vec!["github".to_owned()] }, &["servers"]),
    ];
    let all: Vec<&str> = of_grant.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let there = format!(
        "[{}].filter(([, type]) => type !== 'undefined').map(([name]) => name).join(' ')",
        all.iter().map(|name| format!("['{name}', typeof {name}]")).collect::<Vec<_>>().join(",")
    );
    assert_eq!(eval(&there), r#""""#);
    for (grant, names) in &of_grant {
        let telling = MockHostCalls::new(std::slice::from_ref(grant), &silent);
        assert_eq!(telling.returns_body(&format!("return {there}")), format!(r#""{}""#, names.join(" ")), "{grant:?}");
    }
    for (grant, names) in &of_grant {
        for name in *names {
            let thrown = SandboxFixture::new().script(format!("function execute() {{ return {name} }}")).throws();
            let reason = format!(
                "ReferenceError: {name} is not defined: it needs the grant `{}`, which this call does not have",
                grant.name()
            );
            assert_eq!(thrown, reason);
        }
    }
    let thrown = SandboxFixture::new().script("function execute() { AbortSignal.timeout(1) }").throws();
    assert_eq!(
        thrown,
        "NotSupportedError: AbortSignal.timeout is not available: it needs the grant `net` or `timers`, which this call does not have"
    );
}

/// Returns the fuel of loading and of calling a script, and the memory of its prepared form in
/// bytes.
fn costs(grants: &[Grant], script: &str) -> (u64, u64, usize) {
    let answer = |operation: &HostCall| Some(json(if operation.kind == "fetch" { "[]" } else { "null" }));
    let telling = MockHostCalls::new(grants, &answer);
    let fixture = SandboxFixture::new().script(script).operations(&telling);
    let prepared = fixture.prepare().unwrap();
    let report = fixture.call(&prepared, "{}");
    assert!(matches!(report.outcome, Outcome::Returned(_)), "{report:?}");
    (prepared.load_fuel(), report.usage.fuel, prepared.held_bytes())
}

#[test]
fn a_tool_pays_for_what_it_is_granted_and_for_nothing_else() {
    const EMPTY: &str = "const execute = () => 1";
    let (load, call, size) = costs(&[], EMPTY);
    assert!(load < 155_000 && call < 8_000 && size < 6 << 10, "{load} {call} {size}");
    for (grant, most) in [
        (Grant::Kv, 60_000),
        (Grant::Files, 60_000),
        (Grant::Tools, 30_000),
        (Grant::Timers, 150_000),
        (Grant::Net, 1_200_000),
    ] {
        let (granted_load, granted_call, granted_size) = costs(std::slice::from_ref(&grant), EMPTY);
        assert!(granted_load < load + most && granted_call < call + 200, "{grant:?}: {granted_load} {granted_call}");
        assert!(granted_size < 52 << 10, "{grant:?}: {granted_size}");
    }
    let many = |count: usize, call: &str| {
        let script = format!("async function execute() {{ for (let i = 0; i < {count}; i++) await {call} }}");
        costs(&[Grant::Kv, Grant::Timers, Grant::Net], &script).1
    };
    for (call, most) in [("kv.get('k')", 50_000), ("sleep(1)", 30_000)] {
        let each = (many(120, call) - many(20, call)) / 100;
        assert!(each < most, "{call}: {each}");
    }
}
