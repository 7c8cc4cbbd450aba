//! Concurrent calls: calls on many threads are isolated, and a full sandbox queues or refuses
//! calls.

use std::time::Duration;

use toolcell_host::{
    Budget, CallContext, CallError, CancelToken, OnOverload, Outcome, Params, PrepareResult, Sandbox, SandboxOptions,
    ScriptSource, Stop,
};

use crate::fixtures::sandbox::{SandboxFixture, returned};

#[test]
fn calls_from_many_threads_do_not_see_each_other() {
    let fixture = SandboxFixture::new()
        .script("let mine; function execute({ n }) { const before = mine; mine = n; return [before ?? null, mine] }");
    let prepared = fixture.prepare().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (fixture, prepared) = (&fixture, &prepared);
            scope.spawn(move || {
                for call in 0..50 {
                    let n = thread * 1000 + call;
                    assert_eq!(returned(&fixture.call(prepared, &format!(r#"{{"n": {n}}}"#))), format!("[null,{n}]"));
                }
            });
        }
    });
}

#[test]
fn a_full_sandbox_waits_or_says_so() {
    let sandbox = Sandbox::new(&SandboxOptions { slots: 1, ..SandboxOptions::default() }).unwrap();
    let budget = Budget { fuel: 1_000_000_000_000, ..Budget::default() };
    let script = ScriptSource {
        name: "t.js",
        source: "const execute = ({ ms }) => { const end = Date.now() + ms; while (Date.now() < end); return ms }",
    };
    let PrepareResult::Ready(prepared) = sandbox.prepare(&script, &budget, &CallContext::default()).unwrap() else {
        panic!("the script loads")
    };
    let call = |ms: u32, when_full| {
        let params = Params::parse(format!(r#"{{"ms": {ms}}}"#)).unwrap();
        sandbox.call(&prepared, &params, &budget, &CallContext { on_overload: when_full, ..CallContext::default() })
    };
    let (refused, waited) = std::thread::scope(|scope| {
        let busy = scope.spawn(|| call(300, OnOverload::Wait).unwrap());
        // The first call may not have started yet, so retry.
        let refused = (0..100_000).find_map(|_| call(0, OnOverload::Refuse).err());
        let waited = call(1, OnOverload::Wait).unwrap();
        assert!(matches!(busy.join().unwrap().outcome, Outcome::Returned(_)));
        (refused, waited)
    });
    assert!(matches!(refused, Some(CallError::Busy { slots: 1 })), "{refused:?}");
    assert_eq!(returned(&waited), "1");
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_was_cancelled_and_not_refused() {
    let sandbox = Sandbox::new(&SandboxOptions { slots: 1, ..SandboxOptions::default() }).unwrap();
    let budget = Budget { fuel: 1_000_000_000_000, deadline: Duration::from_mins(1), ..Budget::default() };
    let script = ScriptSource { name: "t.js", source: "const execute = ({ ends }) => { while (!ends); }" };
    let PrepareResult::Ready(prepared) = sandbox.prepare(&script, &budget, &CallContext::default()).unwrap() else {
        panic!("the script loads")
    };
    let call = |params: &str, when_full, cancel: &CancelToken| {
        let params = Params::parse(params).unwrap();
        sandbox.call(
            &prepared,
            &params,
            &budget,
            &CallContext { on_overload: when_full, cancel: Some(cancel), ..CallContext::default() },
        )
    };
    let (endless, cancelled) = (CancelToken::new(), CancelToken::new());
    cancelled.cancel();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| call("{}", OnOverload::Wait, &endless).unwrap());
        // The first call may not have started yet, so retry.
        while call(r#"{"ends": true}"#, OnOverload::Refuse, &CancelToken::new()).is_ok() {}
        let waited = call("{}", OnOverload::Wait, &cancelled).unwrap();
        let loaded = sandbox
            .prepare(&script, &budget, &CallContext { cancel: Some(&cancelled), ..CallContext::default() })
            .unwrap();
        endless.cancel();
        let PrepareResult::Failed(loaded) = loaded else { panic!("there was a slot") };
        for report in [busy.join().unwrap(), waited, loaded] {
            assert!(matches!(report.outcome, Outcome::Stopped(Stop::Cancelled)), "{report:?}");
        }
    });
}

#[test]
fn a_sandbox_without_slots_is_refused() {
    let error = Sandbox::new(&SandboxOptions { slots: 0, ..SandboxOptions::default() }).err().unwrap();
    assert_eq!(error.code(), "limit-invalid");
}

#[test]
fn a_thousand_prepared_tools_take_at_most_200_kib_each() {
    let sizes: Vec<usize> = (0..20)
        .map(|n| {
            SandboxFixture::new().script(format!(
                "const k = {n}; function execute({{ text }}) {{ return text.split('').reverse().join('') + k }}"
            ))
        })
        .map(|fixture| fixture.prepare().unwrap().held_bytes())
        .collect();
    let largest = sizes.iter().max().unwrap();
    assert!(*largest <= 200 << 10, "{largest} bytes");
}

#[test]
fn five_thousand_calls_leave_no_thread_and_no_file_behind() {
    let fixture = SandboxFixture::new().script("const execute = ({ n }) => n * 2");
    let prepared = fixture.prepare().unwrap();
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
    let run = || assert_eq!(returned(&fixture.call(&prepared, r#"{"n": 21}"#)), "42");
    run();
    let files = count("fd");
    for _ in 0..5000 {
        run();
    }
    // Concurrent tests of this process open and close files too; a leak would be thousands.
    assert!(count("fd") < files + 100, "{files} {}", count("fd"));
    assert!(count("task") < 200);
}
