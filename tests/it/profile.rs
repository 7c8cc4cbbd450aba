//! Fuel profiles: they account for all fuel of a call, and are the same on every machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolcell_host::{CallProfile, CancelToken, FrameOrigin, ImageKind, Outcome, ProfileSlot, Report, Stack, Stop};

use crate::fixtures::sandbox::{SandboxFixture, files, read};

/// Profiles a call, and asserts that its report equals that of a call without profiling.
fn profiled(fixture: SandboxFixture<'_>, params: &str) -> (CallProfile, Report) {
    let slot = ProfileSlot::default();
    let facts = |mut report: Report| {
        report.usage.duration = Duration::ZERO;
        report
    };
    let prepared = fixture.prepare().unwrap();
    let plain = facts(fixture.call(&prepared, params));
    let mut fixture = fixture;
    fixture.run.profile = Some(&slot);
    let report = facts(fixture.call(&prepared, params));
    assert_eq!(report, plain, "a call is the same where it is profiled");
    let profile = slot.take().unwrap();
    assert_eq!(charged(&profile, |_| true) + profile.engine + profile.other_tools + profile.unattributed, profile.fuel);
    assert_eq!(profile.fuel, report.usage.fuel);
    (profile, report)
}

fn profile_of(source: &str) -> (CallProfile, Report) {
    profiled(SandboxFixture::new().script(source), "{}")
}

/// Sums the fuel of the stacks that match.
fn charged(profile: &CallProfile, is: impl Fn(&Stack) -> bool) -> u64 {
    profile.stacks.iter().filter(|stack| is(stack)).map(|stack| stack.fuel).sum()
}

/// Returns the fuel of functions of this name: their own, and including callees.
fn fuel_of(profile: &CallProfile, name: &str) -> (u64, u64) {
    let is_called = |frame: &toolcell_host::Frame| profile.functions[frame.function].name == name;
    let own = charged(profile, |stack| stack.frames.last().is_some_and(is_called));
    (own, charged(profile, |stack| stack.frames.iter().any(is_called)))
}

/// Returns the fuel of samples whose innermost line is this one.
fn fuel_of_line(profile: &CallProfile, line: u32) -> u64 {
    let is_of_tool = |frame: &&toolcell_host::Frame| profile.functions[frame.function].origin == FrameOrigin::Tool;
    charged(profile, |stack| stack.frames.iter().rfind(is_of_tool).is_some_and(|frame| frame.line == line))
}

/// Asserts that a part is this percentage of the whole, within a tolerance.
#[track_caller]
fn is_about(part: u64, whole: u64, percent: u64, give_or_take: u64) {
    let actual = part * 100 / whole;
    assert!(actual.abs_diff(percent) <= give_or_take, "{actual}% is not about {percent}%");
}

#[test]
fn what_is_profiled_returns_the_same_and_burns_the_same_on_all_images() {
    let tools = files("fixtures/tools", "js");
    for path in &tools {
        let case: serde_json::Value = serde_json::from_str(&read(path.with_extension("expected.json"))).unwrap();
        let params = case["params"].to_string();
        let on = |kind: ImageKind| profiled(SandboxFixture::new().file(path).on_image(kind).seed(7), &params);
        let first = on(ImageKind::Roomy);
        for kind in [ImageKind::Bounded, ImageKind::Interpreted] {
            assert_eq!(on(kind), first, "{} on {kind:?}", path.display());
        }
    }
    assert!(tools.len() >= 25, "{}", tools.len());
}

#[test]
fn functions_and_lines_are_told_by_what_they_burn() {
    let (profile, _) = profile_of(
        "function twice(n) {\n  let sum = 0, end = 2 * n;\n  for (let i = 0; i < end; i++) {\n    sum ^= i;\n  }\n  return sum;\n}\n\
         function once(n) {\n  let sum = 0, end = n;\n  for (let i = 0; i < end; i++) {\n    sum ^= i;\n  }\n  return sum;\n}\n\
         class Tool { static nothing() {} }\n\
         const execute = () => {\n  Tool.nothing();\n  return [twice(100_000), once(100_000)]\n}",
    );
    let fuel = profile.fuel;
    let (twice, once) = (fuel_of(&profile, "twice"), fuel_of(&profile, "once"));
    is_about(twice.0, fuel, 67, 2);
    is_about(once.0, fuel, 33, 2);
    assert_eq!((twice.0, once.0), (twice.1, once.1), "they call nothing");
    is_about(fuel_of(&profile, "execute").1, fuel, 100, 1);
    is_about(fuel_of(&profile, "execute").0, fuel, 0, 1);
    // The loop's lines account for its fuel, and the lines around them for none.
    is_about(fuel_of_line(&profile, 3) + fuel_of_line(&profile, 4), fuel, 67, 2);
    is_about(fuel_of_line(&profile, 10) + fuel_of_line(&profile, 11), fuel, 33, 2);
    assert!(fuel_of_line(&profile, 4) > fuel / 10 && fuel_of_line(&profile, 3) > fuel / 10);
    assert_eq!(fuel_of_line(&profile, 5) + fuel_of_line(&profile, 12), 0);
    let places: Vec<_> = ["twice", "once", "execute"]
        .map(|name| profile.functions.iter().find(|function| function.name == name).map(|found| found.line))
        .into();
    assert_eq!(places, [Some(1), Some(8), Some(16)]);
    assert!(profile.unattributed < fuel / 50, "{}", profile.unattributed);
}

#[test]
fn functions_of_the_engine_have_their_names_and_are_charged_to_the_line_that_calls_them() {
    let (profile, _) = profile_of(
        "const numbers = Array.from({ length: 3000 }, (_, i) => (i * 7919) % 3001);\n\
         function execute() {\n  const text = JSON.stringify(numbers);\n  const read = JSON.parse(text);\n\
         \n  read.sort((a, b) => a - b);\n  return /x+y/.test('x'.repeat(300));\n}",
    );
    for name in ["stringify", "parse", "sort", "test"] {
        assert!(fuel_of(&profile, name).1 > 0, "{name}");
        let function = profile.functions.iter().find(|function| function.name == name).unwrap();
        assert_eq!((function.origin, function.line, function.column), (FrameOrigin::Engine, 0, 0), "{name}");
    }
    for (line, name) in [(3, "stringify"), (4, "parse"), (7, "test")] {
        assert!(fuel_of_line(&profile, line) >= fuel_of(&profile, name).1, "{name}");
    }
    let (own, total) = fuel_of(&profile, "sort");
    assert!(total > own && own > 0, "the function that compares is called by it: {own} of {total}");
}

#[test]
fn a_function_that_calls_itself_is_counted_once_a_stack() {
    let (profile, _) =
        profile_of("const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);\nconst execute = () => fib(20);");
    let (own, total) = fuel_of(&profile, "fib");
    assert_eq!(own, total);
    is_about(total, profile.fuel, 99, 1);
}

#[test]
fn of_a_deep_stack_both_ends_are_kept() {
    let (profile, report) =
        profile_of("const down = (n) => n === 0 ? 0 : 1 + down(n - 1);\nconst execute = () => down(3000);");
    assert!(matches!(report.outcome, Outcome::Returned(_)), "{report:?}");
    let deepest = profile.stacks.iter().max_by_key(|stack| stack.frames.len()).unwrap();
    let names: Vec<&str> = deepest.frames.iter().map(|frame| &*profile.functions[frame.function].name).collect();
    assert_eq!(names.len(), 192 + 64 + 1);
    assert_eq!((names[64], names[65]), ("(deeper calls)", "down"));
    assert!(names.contains(&"execute"));
    is_about(fuel_of(&profile, "execute").1, profile.fuel, 99, 1);
}

#[test]
fn functions_that_wait_are_told_where_they_go_on() {
    let (profile, report) = profile_of(
        "async function slow(n) {\n  let sum = 0;\n  for (let i = 0; i < n; i++) {\n    await null;\n    sum += i;\n  }\n  return sum;\n}\n\
         function* numbers(n) {\n  for (let i = 0; i < n; i++) {\n    yield i;\n  }\n}\n\
         async function execute() {\n  let sum = 0;\n  for (const n of numbers(500)) sum += n;\n  return sum + await slow(500);\n}",
    );
    assert!(matches!(&report.outcome, Outcome::Returned(Some(sum)) if sum.as_str() == "249500"), "{report:?}");
    for (name, lines) in [("slow", 3..=5), ("numbers", 10..=11)] {
        let own = fuel_of(&profile, name).0;
        assert!(own > 0, "{name}");
        let of_lines: u64 = lines.map(|line| fuel_of_line(&profile, line)).sum();
        assert!(of_lines * 10 >= own * 9, "{name}: {of_lines} of {own}");
    }
}

#[test]
fn a_run_that_fails_or_is_stopped_is_told_as_well() {
    let (profile, report) = profile_of(
        "function fails() {\n  for (let i = 0; i < 10_000; i++);\n  throw new Error('no');\n}\nconst execute = () => fails();",
    );
    assert!(matches!(report.outcome, Outcome::Threw(_)), "{report:?}");
    is_about(fuel_of(&profile, "fails").1, profile.fuel, 95, 5);

    let endless = "const execute = () => {\n  for (let i = 0;; i++);\n};";
    for fuel in [1_000, 30_000, 1_000_003] {
        let (profile, report) = profiled(SandboxFixture::new().script(endless).fuel(fuel + 2_000_000), "{}");
        assert!(matches!(report.outcome, Outcome::Stopped(Stop::OutOfFuel { .. })), "{report:?}");
        assert_eq!(profile.fuel, fuel + 2_000_000);
        is_about(fuel_of_line(&profile, 2), profile.fuel, 99, 1);
    }
}

#[test]
fn the_deadline_and_a_token_end_what_is_profiled() {
    let endless = "const execute = () => { for (;;); }";
    for kind in ImageKind::ALL {
        let prepared = SandboxFixture::new().script(endless).on_image(kind).prepare().unwrap();
        let ends = |fixture: SandboxFixture<'_>| {
            let slot = ProfileSlot::default();
            let mut fixture = fixture.on_image(kind).fuel(250_000_000_000);
            fixture.run.profile = Some(&slot);
            let outcome = fixture.call(&prepared, "{}").outcome;
            (outcome, slot.take().unwrap().samples)
        };
        let (outcome, _) = ends(SandboxFixture::new().timeout(50));
        assert_eq!(outcome, Outcome::Stopped(Stop::Deadline { limit: Duration::from_millis(50) }), "{kind:?}");

        let looks = Arc::new(AtomicU64::new(0));
        let token = CancelToken::with_poll(move || looks.fetch_add(1, Ordering::Relaxed) >= 20);
        let (outcome, samples) = ends(SandboxFixture::new().cancelled_by(&token));
        assert_eq!(outcome, Outcome::Stopped(Stop::Cancelled), "{kind:?}");
        // A sample is taken about every half a million units of fuel.
        assert!((1_000..=3_000).contains(&samples), "{kind:?}: {samples}");
    }
}

#[test]
fn samples_are_further_apart_the_longer_a_run_lasts() {
    let source =
        "const execute = ({ turns }) => { let s = 0; for (let i = 0; i < turns; i++) s = (s * 31 + i) | 0; return s }";
    // Samples are taken by fuel, so a guest that needs less fuel for the loop yields fewer.
    for (turns, samples) in
        [(0, 20..=100), (50, 100..=160), (500, 200..=300), (5_000, 700..=1_200), (500_000, 8_000..=16_000)]
    {
        let (profile, _) = profiled(SandboxFixture::new().script(source), &format!("{{\"turns\":{turns}}}"));
        assert!(samples.contains(&profile.samples), "{turns} turns: {} samples in {}", profile.samples, profile.fuel);
        assert!(profile.unattributed <= profile.fuel / 20, "{turns} turns: {}", profile.unattributed);
    }
}

#[test]
fn of_a_call_that_cannot_even_begin_nothing_is_charged() {
    let fixture = SandboxFixture::new()
        .script("const table = Array.from({ length: 1e5 }, (_, i) => i); const execute = () => table.length");
    let prepared = fixture.prepare().unwrap();
    let slot = ProfileSlot::default();
    let mut poor = SandboxFixture::new().fuel(1_000);
    poor.run.profile = Some(&slot);
    let report = poor.call(&prepared, "{}");
    assert_eq!(report.outcome, Outcome::Stopped(Stop::OutOfFuel { limit: 1_000 }));
    let profile = slot.take().unwrap();
    assert_eq!((profile.fuel, profile.samples, profile.stacks.len()), (0, 0, 0));
}

#[test]
fn profiles_that_are_taken_at_the_same_time_do_not_disturb_each_other() {
    let source =
        "const execute = () => { let s = 0; for (let i = 0; i < 200_000; i++) s = (s * 31 + i) | 0; return s }";
    let alone = profile_of(source);
    std::thread::scope(|scope| {
        let taken: Vec<_> = (0..4).map(|_| scope.spawn(|| profile_of(source))).collect();
        for profile in taken {
            assert_eq!(profile.join().unwrap(), alone);
        }
    });
}

#[test]
fn a_tool_cannot_deceive_the_profile_by_its_names() {
    let (profile, _) = profile_of(
        "const many = 'x'.repeat(1000);\n\
         const tool = { [many]: function () { for (let i = 0; i < 5000; i++); }, ['a;b\\n'](n) { for (let i = 0; i < n; i++); } };\n\
         Object.defineProperty(tool[many], 'name', { get() { for (;;); } });\n\
         const odd = () => { for (let i = 0; i < 5000; i++); };\n\
         Object.defineProperty(odd, 'name', { value: { toString() { for (;;); } } });\n\
         const execute = () => { tool[many](); tool['a;b\\n'](5000); odd(); return 1 }",
    );
    assert!(profile.functions.iter().all(|function| function.name.len() <= 200), "{:?}", profile.functions);
    assert!(fuel_of(&profile, "a;b\n").0 > 0, "{:?}", profile.functions);
}

#[test]
fn a_tool_cannot_make_its_profile_large() {
    let (profile, _) = profile_of(
        "const execute = () => {\n  const numbers = Array.from({ length: 40 }, (_, i) => (i * 7919) % 211);\n\
           for (let i = 0; i < 20_000; i++) {\n    Object.defineProperty(numbers.toSorted, 'name', { value: 'n' + i });\n    numbers.toSorted();\n  }\n}",
    );
    assert_eq!(profile.functions.len(), 4096 + 1);
    assert!(fuel_of(&profile, "(others)").0 > 0);
}
