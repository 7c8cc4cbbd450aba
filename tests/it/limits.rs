//! Each limit stops a call with its own reason, exactly at the limit.

use std::time::Duration;

use toolcell_host::{
    Budget, CallContext, CallError, CancelToken, FuelScope, ImageKind, Outcome, Params, PartialResultSink,
    SandboxOptions, Stop, Timers,
};
use toolcell_jail::{Jail, Program};

use crate::fixtures::sandbox::{SandboxFixture, eval, returned, sandbox};
use crate::mcp::server::binary;

const FOREVER: &str = "const execute = () => { for (;;); }";

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    assert_eq!(SandboxFixture::new().script(FOREVER).fuel(1_000_000).stops(), Stop::OutOfFuel { limit: 1_000_000 });
    let at_load = SandboxFixture::new().script("for (;;); function execute() {}").fuel(1_000_000);
    assert_eq!(at_load.stops(), Stop::OutOfFuel { limit: 1_000_000 });
}

#[test]
fn a_call_with_much_memory_has_it_in_huge_pages() {
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        return;
    }
    let at_once = SandboxFixture::new()
        .on_image(ImageKind::Roomy)
        .script("const execute = () => new Uint8Array(32 << 20).fill(1).length");
    assert_eq!(at_once.returns(), "33554432");
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    assert!(smaps.lines().any(|line| line.starts_with("VmFlags:") && line.contains(" hg")), "{smaps}");
}

#[test]
fn fuel_that_was_measured_is_enough_and_less_is_not() {
    let fixture = SandboxFixture::new()
        .script("const execute = () => { let n = 0; for (let i = 0; i < 100_000; i++) n += i; return n }");
    let report = fixture.run_text("{}");
    let needed = report.usage.fuel;
    assert!(report.usage.load_fuel < needed);
    let prepared = fixture.prepare().unwrap();
    let exact = SandboxFixture::new().script(FOREVER).fuel(needed);
    assert_eq!(returned(&exact.call(&prepared, "{}")), "4999950000");
    // Fuel is checked at loops and calls, so the last few instructions may exceed it.
    let short = SandboxFixture::new().script(FOREVER).fuel(needed - 1000);
    assert_eq!(short.call(&prepared, "{}").outcome, Outcome::Stopped(Stop::OutOfFuel { limit: needed - 1000 }));
}

#[test]
fn the_deadline_ends_what_fuel_would_let_go_on() {
    let fixture = SandboxFixture::new().script(FOREVER).fuel(1_000_000_000_000).timeout(50);
    assert_eq!(fixture.stops(), Stop::Deadline { limit: Duration::from_millis(50) });
}

#[test]
fn the_deadline_ends_every_loop_of_the_engine_with_epochs_and_without() {
    for source in [
        FOREVER,
        // Loops inside of the engine, which execute no instruction of the tool.
        "const execute = () => { const a = new Array(4_000_000).fill(1); for (;;) a.indexOf(2) }",
        "const execute = () => { const a = 'x'.repeat(8_000_000); for (;;) a.lastIndexOf('xy') }",
        "const execute = () => { const a = new Uint8Array(16 << 20); for (;;) a.fill(1).copyWithin(1, 0) }",
        "const execute = () => { let a = 3n; for (;;) a = a * a }",
        "const execute = () => /^(a+)+$/.test('a'.repeat(40) + 'b')",
    ] {
        let ended = |fixture: SandboxFixture<'_>| {
            let mut fixture = fixture.script(source).fuel(1_000_000_000_000_000).timeout(50);
            fixture.budget.memory = 256 << 20;
            assert_eq!(fixture.stops(), Stop::Deadline { limit: Duration::from_millis(50) }, "{source}");
        };
        ended(SandboxFixture::new());
        ended(SandboxFixture::new().on_image_without_ticker(ImageKind::Roomy));
        ended(SandboxFixture::new().on_image(ImageKind::Interpreted));
    }
}

#[test]
fn a_call_that_is_cancelled_while_it_is_busy_ends_with_epochs_and_without() {
    for fixture in [
        SandboxFixture::new(),
        SandboxFixture::new().on_image_without_ticker(ImageKind::Roomy),
        SandboxFixture::new().on_image(ImageKind::Interpreted),
    ] {
        let token = CancelToken::new();
        // Cancelled by a progress callback, when the call is known to be running.
        let cancelling = token.clone();
        let sink: PartialResultSink = std::sync::Arc::new(move |_: &str| cancelling.cancel());
        let source = "export default () => ({ name: 'a', description: 'd', parameters: {}, \
            execute(id, params, onUpdate) { onUpdate(1); for (;;) ; } })";
        let mut fixture = fixture.script(source).fuel(1_000_000_000_000_000).cancelled_by(&token);
        fixture.run.partial_sink = Some(&sink);
        assert_eq!(fixture.stops(), Stop::Cancelled);
    }
}

#[test]
fn memory_that_was_refused_is_reported_even_if_the_tool_swallows_it() {
    let mut fixture = SandboxFixture::new().script(
        "function execute() { try { const a = []; for (;;) a.push(new Uint8Array(1 << 20)); } catch { return 'fine'; } }",
    );
    fixture.budget.memory = 16 << 20;
    let report = fixture.run_text("{}");
    assert_eq!(report.outcome, Outcome::Stopped(Stop::OutOfMemory { limit: 16 << 20 }));
    assert!(report.usage.memory <= 16 << 20);
}

#[test]
fn garbage_in_cycles_is_collected() {
    let mut fixture = SandboxFixture::new().script(
        "function execute() { for (let i = 0; i < 200; i++) { const a = { data: new Uint8Array(1 << 20) }; a.self = a; } return 'done' }",
    );
    fixture.budget.memory = 32 << 20;
    assert_eq!(fixture.returns(), r#""done""#);
}

#[test]
fn recursion_of_5000_frames_works_and_endless_recursion_is_a_range_error() {
    let depth = "function down(n) { return n === 0 ? 0 : 1 + down(n - 1) }";
    assert_eq!(SandboxFixture::new().script(format!("{depth} const execute = () => down(5000)")).returns(), "5000");
    let endless = SandboxFixture::new().script(
        "function execute() { let depth = 0; const down = () => { depth++; down(); }; \
         try { down(); } catch (error) { return [error.name, error instanceof RangeError, depth > 5000]; } }",
    );
    assert_eq!(endless.returns(), r#"["RangeError",true,true]"#);
}

#[test]
fn the_console_is_bounded_and_what_was_written_is_kept() {
    let mut fixture = SandboxFixture::new().script("function execute() { for (;;) console.log('0123456789'); }");
    fixture.budget.console = 1000;
    let report = fixture.run_text("{}");
    assert_eq!(report.outcome, Outcome::Stopped(Stop::ConsoleTooLarge { limit: 1000 }));
    let written: usize = report.logs.iter().map(|log| log.text.len()).sum();
    assert!((900..=1000).contains(&written), "{written}");
    let mut empty = SandboxFixture::new().script("function execute() { for (;;) console.log(); }");
    empty.budget.console = 1000;
    assert_eq!(empty.stops(), Stop::ConsoleTooLarge { limit: 1000 });
}

#[test]
fn pending_operations_are_bounded() {
    let mut fixture = SandboxFixture::new()
        .script(
            "function execute() { for (let i = 0; i < 9; i++) { try { setTimeout(() => {}, 1) } catch {} } return 1 }",
        )
        .operations(&Timers);
    fixture.budget.operations = 8;
    assert_eq!(fixture.stops(), Stop::TooManyOperations { limit: 8 });
    fixture.budget.operations = 9;
    assert_eq!(fixture.returns(), "1");
}

#[test]
fn a_promise_that_nothing_can_settle_is_stalled_at_once() {
    let fixture = SandboxFixture::new().script("const execute = () => new Promise(() => {})").timeout(600_000);
    assert_eq!(fixture.stops(), Stop::Stalled);
    let at_load = SandboxFixture::new().script("await new Promise(() => {}); export const execute = () => 1");
    assert_eq!(at_load.stops(), Stop::Stalled);
}

#[test]
fn a_call_is_cancelled_from_another_thread() {
    let token = CancelToken::new();
    let canceller = token.clone();
    let fixture = SandboxFixture::new().script(FOREVER).fuel(1_000_000_000_000).cancelled_by(&token);
    let prepared = fixture.prepare().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The call below may not have started yet: a token that is cancelled early also ends
            // it.
            canceller.cancel();
        });
        assert_eq!(fixture.call(&prepared, "{}").outcome, Outcome::Stopped(Stop::Cancelled));
    });
    assert_eq!(eval("1 + 1"), "2");
}

#[test]
fn limits_out_of_range_are_refused_by_name() {
    let prepared = SandboxFixture::new().script("const execute = () => 1").prepare().unwrap();
    let standard = Budget::default();
    for (budget, name) in [
        (Budget { fuel: 0, ..standard }, "fuel is 0, it must be 1 to 1000000000000000"),
        (Budget { fuel: u64::MAX, ..standard }, "fuel is 18446744073709551615"),
        (Budget { deadline: Duration::ZERO, ..standard }, "timeout_ms is 0"),
        (Budget { deadline: Duration::from_secs(601), ..standard }, "timeout_ms is 601000, it must be 1 to 600000"),
        (Budget { memory: 0, ..standard }, "memory_bytes is 0"),
        (Budget { memory: 2 << 30, ..standard }, "memory_bytes is 2147483648"),
        (Budget { output: 0, ..standard }, "output_bytes is 0"),
        (Budget { console: 0, ..standard }, "console_bytes is 0"),
        (Budget { operations: 0, ..standard }, "operations is 0"),
    ] {
        let error =
            sandbox().call(&prepared, &Params::parse("{}").unwrap(), &budget, &CallContext::default()).unwrap_err();
        assert!(matches!(error, CallError::LimitInvalid { .. }));
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

#[test]
fn the_manifest_of_a_factory_is_bounded_here_and_in_a_jail() {
    const LIMIT: usize = 256 << 10;
    let rest = r#"{"shape":"factory","tools":[{"name":"a","description":""}]}"#.len();
    let describing = |bytes: usize| {
        let source = "export default (pi) => ({ name: 'a', description: 'd'.repeat(COUNT), execute: () => 1 })";
        SandboxFixture::new().script(source.replace("COUNT", &(bytes - rest).to_string()))
    };
    assert_eq!(describing(LIMIT).prepare().unwrap().manifest().as_str().len(), LIMIT);
    assert_eq!(describing(LIMIT + 1).stops(), Stop::OutputTooLarge { limit: LIMIT });
    let jail = Jail::new(&SandboxOptions { slots: 1, ..SandboxOptions::default() }, Program::Other(binary())).unwrap();
    assert_eq!(returned(&describing(LIMIT).run_in(&jail, "{}")), "1");
    let ended = describing(LIMIT + 1).run_in(&jail, "{}").outcome;
    assert_eq!(ended, Outcome::Stopped(Stop::OutputTooLarge { limit: LIMIT }));
}

/// A tool whose loading takes about as much fuel as its call.
const TWICE: &str = "let n = 0; for (let i = 0; i < 300_000; i++) n += i; \
    const execute = () => { for (let i = 0; i < 300_000; i++) n += i; return n }";

#[test]
fn one_limit_of_fuel_covers_loading_and_the_call_where_it_is_said() {
    for source in [TWICE.to_owned(), format!("const at = Date.now(); {TWICE}")] {
        let mut fixture = SandboxFixture::new().script(&*source);
        let prepared = fixture.prepare().unwrap();
        let usage = fixture.call(&prepared, "{}").usage;
        let both = usage.load_fuel + usage.fuel;
        for (covers, fuel, enough) in [
            (FuelScope::Call, usage.fuel.max(usage.load_fuel), true),
            (FuelScope::LoadingAndCall, both, true),
            // Fuel is checked at loops and calls, so the last few instructions may exceed it.
            (FuelScope::LoadingAndCall, both - 1000, false),
            (FuelScope::LoadingAndCall, usage.load_fuel, false),
        ] {
            (fixture.budget.fuel, fixture.run.fuel_scope) = (fuel, covers);
            let report = fixture.call(&prepared, "{}");
            if enough {
                assert_eq!((report.usage.fuel, report.usage.load_fuel), (usage.fuel, usage.load_fuel), "{covers:?}");
                returned(&report);
            } else {
                assert_eq!(report.outcome, Outcome::Stopped(Stop::OutOfFuel { limit: fuel }), "{covers:?}");
                assert_eq!(report.usage.load_fuel, usage.load_fuel);
                assert!(report.usage.fuel + report.usage.load_fuel <= fuel, "{:?}", report.usage);
            }
        }
    }
}

#[test]
fn what_loading_took_counts_under_any_budget() {
    let fixture =
        SandboxFixture::new().script("let n = 0; for (let i = 0; i < 100_000; i++) n += i; const execute = () => n");
    let prepared = fixture.prepare().unwrap();
    assert!(prepared.is_snapshot());
    let small = SandboxFixture::new().fuel(prepared.load_fuel() - 1);
    assert!(matches!(small.call(&prepared, "{}").outcome, Outcome::Stopped(Stop::OutOfFuel { .. })));
}
