//! Equal calls have equal results and take equal fuel, on every image and in every run.

use std::path::PathBuf;
use std::time::Duration;

use toolcell_host::{ImageKind, Interruption, Outcome, Report};

use crate::fixtures::cli::toolcell;
use crate::fixtures::sandbox::{SandboxFixture, files, read, returned, root, sandbox_without_ticker, stem};

/// Returns everything that must be equal: the report without its duration.
fn facts(mut report: Report) -> Report {
    report.usage.duration = Duration::ZERO;
    report
}

#[test]
fn result_and_fuel_are_equal_on_all_images_and_in_every_run() {
    let tools = files("fixtures/tools", "js");
    for path in &tools {
        let case: serde_json::Value = serde_json::from_str(&read(path.with_extension("expected.json"))).unwrap();
        let run = |kind: ImageKind| {
            facts(
                SandboxFixture::new()
                    .file(path)
                    .on_image(kind)
                    .seed(7)
                    .started_at(1_700_000_000_000)
                    .run(&case["params"]),
            )
        };
        let first = run(ImageKind::Roomy);
        for kind in [ImageKind::Roomy, ImageKind::Bounded, ImageKind::Interpreted] {
            assert_eq!(run(kind), first, "{} on {kind:?}", path.display());
        }
    }
    assert!(tools.len() >= 25, "{}", tools.len());
}

#[test]
fn epochs_and_slices_of_fuel_burn_the_same() {
    // Runs for several epochs, so that interruptions would show if they fell at different places.
    let busy =
        "const execute = () => { let n = 0; for (let i = 0; i < 3_000_000; i++) n = (n * 31 + i) % 65_537; return n }";
    for kind in [ImageKind::Roomy, ImageKind::Bounded] {
        let (epochs, slices) = (
            SandboxFixture::new().script(busy).on_image(kind),
            SandboxFixture::new().script(busy).on_image_without_ticker(kind),
        );
        assert_eq!(facts(slices.run_text("{}")), facts(epochs.run_text("{}")), "{kind:?}");
    }
    assert_eq!(sandbox_without_ticker(ImageKind::Roomy).interruption(), Interruption::FuelSlices);
    for path in files("fixtures/tools", "js") {
        let case: serde_json::Value = serde_json::from_str(&read(path.with_extension("expected.json"))).unwrap();
        let epochs = facts(SandboxFixture::new().file(&path).on_image(ImageKind::Roomy).run(&case["params"]));
        let slices =
            facts(SandboxFixture::new().file(&path).on_image_without_ticker(ImageKind::Roomy).run(&case["params"]));
        assert_eq!(slices, epochs, "{}", path.display());
    }
}

#[test]
fn recorded_figures_of_fuel_come_out_to_the_unit() {
    let folder = root().join("fixtures/tools");
    let done = toolcell(&["--json", "test", &*folder.to_string_lossy(), "--no-budgets"]).json();
    let mut compared = 0;
    for path in files("fixtures/tools", "js") {
        let (tool, recorded) = (stem(&path), read(path.with_extension("test.toml")));
        assert!(recorded.contains(&format!("model = \"{}\"", done["model"].as_str().unwrap())), "{tool}");
        let tests = done["tests"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|test| test["path"].as_str().unwrap().contains(&format!("/{tool}.test.toml")));
        for test in tests {
            let case =
                recorded.split("[[case]]").find(|case| case.contains(&format!("name = {}\n", test["name"]))).unwrap();
            let Some((_, figure)) = case.split_once("\nmeasured = ") else { continue };
            assert_eq!(figure.lines().next(), Some(&*test["fuel"].to_string()), "{tool}: {}", test["name"]);
            compared += 1;
        }
    }
    assert!(compared >= 25, "{compared}");
}

#[test]
fn limits_are_hit_at_the_same_place_on_all_images() {
    for source in [
        "const execute = () => { for (let i = 0;; i++) if (i % 1000 === 0) console.log(i) }",
        "const execute = () => { const a = []; for (;;) a.push('x'.repeat(10_000) + a.length) }",
        "function execute() { let depth = 0; const f = () => { depth++; f() }; try { f() } catch { return depth } }",
    ] {
        let run = |kind: ImageKind| {
            let mut fixture = SandboxFixture::new().script(source).on_image(kind).fuel(50_000_000);
            fixture.budget.memory = 16 << 20;
            facts(fixture.run_text("{}"))
        };
        let first = run(ImageKind::Roomy);
        assert_eq!(run(ImageKind::Bounded), first, "{source}");
        assert_eq!(run(ImageKind::Interpreted), first, "{source}");
    }
}

#[test]
fn the_clock_starts_at_the_runs_time_and_moves_on_with_fuel() {
    let source =
        "function execute() { const a = Date.now(); for (let i = 0; i < 1_000_000; i++); return [a, Date.now() - a] }";
    let fixture = SandboxFixture::new().script(source).started_at(1_234_567_890_123);
    let first = fixture.returns();
    let (start, spent) = first.trim_matches(['[', ']']).split_once(',').unwrap();
    assert_eq!(start, "1234567890123");
    assert!((1..1000).contains(&spent.parse::<u32>().unwrap()), "{spent}");
    assert_eq!(fixture.returns(), first);
    assert_eq!(SandboxFixture::new().script("const execute = () => new Date().getTimezoneOffset()").returns(), "0");
}

#[test]
fn random_numbers_come_from_the_seed() {
    let fixture =
        |seed| SandboxFixture::new().script("const execute = () => [Math.random(), Math.random()]").seed(seed);
    let first = fixture(1).returns();
    assert_eq!(fixture(1).returns(), first);
    assert_ne!(fixture(2).returns(), first);
    let (a, b) = first.trim_matches(['[', ']']).split_once(',').unwrap();
    assert_ne!(a, b);
}

#[test]
fn time_and_chance_at_the_top_level_belong_to_each_run() {
    for (source, snapshot) in [
        ("const at = Date.now(); const execute = () => at", false),
        ("const at = Math.random(); const execute = () => at", false),
        ("const at = 5; const execute = () => at", true),
    ] {
        let fixture = SandboxFixture::new().script(source).seed(1).started_at(1000);
        let prepared = fixture.prepare().unwrap();
        assert_eq!(prepared.is_snapshot(), snapshot, "{source}");
        let later = SandboxFixture::new().seed(2).started_at(2000);
        let (first, second) = (returned(&fixture.call(&prepared, "{}")), returned(&later.call(&prepared, "{}")));
        assert_eq!(first == second, snapshot, "{source}: {first} {second}");
        assert_eq!(returned(&fixture.call(&prepared, "{}")), first);
    }
}

#[test]
fn not_a_number_has_one_bit_pattern() {
    let bits = SandboxFixture::new().script(
        "function execute() { const view = new DataView(new ArrayBuffer(8)); return [0 / 0, Infinity - Infinity, Math.sqrt(-1), \
         parseFloat('x'), -NaN, Math.fround(NaN)].map((n) => { view.setFloat64(0, n); return view.getBigUint64(0).toString(16) }) }",
    );
    assert_eq!(bits.returns(), format!("[{}]", [r#""7ff8000000000000""#; 6].join(",")));
}

#[test]
fn attacks_burn_the_same_fuel_on_all_images() {
    // Only attacks with a small budget: the interpreter is 30 times slower.
    let small: Vec<PathBuf> = files("fixtures/hostile", "js")
        .into_iter()
        .filter(|path| read(path).starts_with("// expect: returned") && !read(path).contains("\n// params"))
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("escape-"))
        .collect();
    assert!(small.len() >= 10);
    for path in small {
        let run = |kind: ImageKind| facts(SandboxFixture::new().file(&path).on_image(kind).run_text("{}"));
        let first = run(ImageKind::Roomy);
        assert!(!matches!(first.outcome, Outcome::Stopped(_)), "{}: {first:?}", path.display());
        assert_eq!(run(ImageKind::Interpreted), first, "{}", path.display());
    }
}
