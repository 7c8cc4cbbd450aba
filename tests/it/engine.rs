//! The engine conforms to the language where QuickJS-ng did not, or conforms only with our patches
//! (`docs/architecture/engine.md`).

use toolcell_host::{ImageKind, Outcome, Report};

use crate::fixtures::sandbox::{SandboxFixture, eval, files, returned};
use crate::hostile::HostileFixture;

/// Runs a fixture on each image: it must meet its fate and take the same fuel on all of them.
fn holds(name: &str) {
    let path = crate::fixtures::sandbox::root().join(format!("fixtures/engine/{name}.js"));
    let mut fuel = None;
    for kind in ImageKind::ALL {
        let mut fixture = HostileFixture::read(&path);
        // Fuel limits the run: the deadline is one that no busy machine reaches.
        fixture.sandbox = fixture.sandbox.on_image(kind).fuel(2_000_000_000).timeout(60_000);
        let report = fixture.sandbox.run_text(&fixture.params);
        let burned = (report.usage.fuel, report.usage.load_fuel);
        assert!(fixture.matches(&fate_of(&report)), "{name} on {kind:?}: {}", fate_of(&report));
        assert_eq!(*fuel.get_or_insert(burned), burned, "{name} on {kind:?}");
    }
}

fn fate_of(report: &Report) -> String {
    match &report.outcome {
        Outcome::Returned(value) => format!("returned({})", value.as_ref().map_or("undefined", |value| value.as_str())),
        other => format!("{other:?}"),
    }
}

macro_rules! fixtures {
    ($($test:ident: $name:literal,)*) => {
        const FIXTURES: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                holds($name);
            }
        )*
    };
}

fixtures! {
    holes_of_arrays_are_holes: "array-holes",
    holes_do_not_show_what_was_freed: "array-holes-freed-blocks",
    big_integers_wrap_as_the_language_says: "bigint-as-n",
    iterator_helpers_can_be_chained: "iterator-helpers",
    a_long_text_is_escaped_for_a_pattern: "regexp-escape",
    for_await_waits_for_what_it_closes: "for-await-closing",
    for_await_waits_for_what_it_closes_when_its_body_throws: "for-await-throwing",
    big_integers_compare_with_numbers_by_value: "bigint-compare",
    each_new_takes_one_list_of_arguments: "new-new",
    strings_spread_into_objects: "spread-string",
    a_private_setter_is_found_in_its_objects: "setter-brand",
    typed_arrays_assignments_and_stacks_follow_the_language: "typed-arrays-assignments-stacks",
    from_async_makes_ordinary_elements: "array-from-async",
    handlers_of_a_disposable_stack_are_called_without_arguments: "disposable-stack-poisoned-then",
    disposable_stacks_dispose_in_order: "disposable-stacks",
    copies_are_the_same_in_parts_and_in_chunks: "copies",
    numbers_of_json_are_the_same_numbers: "json-numbers",
    json_does_not_go_through_array_prototype: "json-poisoned-array-prototype",
}

#[test]
fn every_engine_fixture_has_a_test() {
    let paths = files("fixtures/engine", "js");
    assert_eq!(paths.len(), FIXTURES.len());
    for path in paths {
        assert!(FIXTURES.contains(&crate::fixtures::sandbox::stem(&path).as_str()), "{}", path.display());
    }
}

#[test]
fn an_integer_of_the_parameters_is_as_cheap_as_one_of_the_source() {
    let loops = "let sum = 0; for (let i = 0; i < n; i++) sum = (sum + i) | 0; return sum";
    let fuel = |source: &str| SandboxFixture::new().script(source).run_text(r#"{"n": 20000}"#).usage.fuel;
    let given = fuel(&format!("function execute({{ n }}) {{ {loops} }}"));
    let written = fuel(&format!("function execute() {{ const n = 20000; {loops} }}"));
    assert!(given < written + written / 50, "{given} against {written}");
}

#[test]
fn a_tool_is_found_by_its_name_however_it_is_declared() {
    for source in [
        "function execute() { return 'found' }",
        "async function execute() { return 'found' }",
        "const execute = () => 'found'",
        "let execute = () => 'found'",
        "var execute = () => 'found'",
        "this.execute = () => 'found'",
        "'use strict'; const execute = () => 'found'",
        "let execute; execute = () => 'found'",
        "var execute = () => 'first'; execute = () => 'found'",
        "function execute() { return 'first' } var execute = () => 'found'",
        "const execute = () => 'found'; { const execute = () => 'inner' }",
        "const execute = () => 'found'; function other(execute) { return execute }",
        "Object.defineProperty(this, 'execute', { get: () => () => 'found' })",
        "Object.prototype.default = () => 'inherited'; const execute = () => 'found'",
        "const typeof_ = 1; const execute = () => 'found'; Object.prototype.toString = () => 'poisoned'",
    ] {
        assert_eq!(SandboxFixture::new().script(source).returns(), r#""found""#, "{source}");
    }
    for source in ["class execute {}", "const execute = class {}"] {
        assert!(SandboxFixture::new().script(source).throws().contains("constructor"), "{source}");
    }
    for source in ["{ const execute = () => 1 }", "const execute = 5", "(function () { function execute() {} })()"] {
        assert!(SandboxFixture::new().script(source).throws().contains("no tool found"), "{source}");
    }
    let source = "Object.defineProperty(this, 'execute', { get() { throw new RangeError('mine') } })";
    assert_eq!(SandboxFixture::new().script(source).throws(), "RangeError: mine");
}

#[test]
fn a_small_script_loads_for_little_fuel() {
    let prepared = SandboxFixture::new().script("const execute = () => 1").prepare().unwrap();
    // A second compilation cost 114,000 more, and a manifest 47,000.
    assert!(prepared.load_fuel() < 60_000, "{}", prepared.load_fuel());
}

#[test]
fn the_manifest_is_no_part_of_a_call() {
    let source = |body: &str| format!("const at = Date.now(); export default {{ description: 'd', {body} }}");
    let described = source("get parameters() { console.log('asked'); return {} }, execute: () => at");
    let sandbox = SandboxFixture::new().script(described);
    let prepared = sandbox.prepare().unwrap();
    assert!(!prepared.is_snapshot());
    assert_eq!(prepared.manifest().as_str(), r#"{"shape":"object","tools":[{"description":"d","parameters":{}}]}"#);
    let report = sandbox.call(&prepared, "{}");
    assert_eq!((report.usage.load_fuel, returned(&report).as_str()), (prepared.load_fuel(), "0"));
    let plain = SandboxFixture::new().script("const execute = () => 1").prepare().unwrap();
    assert_eq!(plain.manifest().as_str(), r#"{"shape":"function","tools":[{}]}"#);
}

/// Modifications of the prototypes of arrays and objects that record the values they are given.
const POISONS: &[&str] = &[
    "Object.defineProperty(Array.prototype, '0', { get() { return 1 } })",
    "Object.defineProperty(Array.prototype, '0', { get() { return 1 }, set(v) { seen.push(v) } })",
    "Object.defineProperty(Array.prototype, '0', { value: 1, writable: false })",
    "Object.defineProperty(Array.prototype, '1', { set(v) { seen.push(v) } })",
    "Array.prototype.toJSON = function () { seen.push(this); return 'poisoned' }",
    "Object.prototype.toJSON = function () { seen.push(this); return 'poisoned' }",
    "Object.defineProperty(Object.prototype, 'tools', { set(v) { seen.push(v) } })",
    "Object.defineProperty(Object.prototype, 'shape', { get() { return 'x' }, set(v) { seen.push(v) } })",
    "Object.defineProperty(Object.prototype, 'execute', { set(v) { seen.push(v) } })",
    "Array.prototype.push = function (v) { seen.push(v) }; Array.prototype.map = null",
    "JSON.stringify = (v) => { seen.push(v) }; Object.defineProperty = null; Object.setPrototypeOf = null",
];

#[test]
fn a_poisoned_prototype_neither_stops_loading_nor_sees_the_manifest() {
    for poison in POISONS {
        // `seen` records without using the modified prototypes.
        let head = format!("const seen = {{ n: 0, push() {{ this.n++ }} }}; {poison};");
        let sandbox = SandboxFixture::new().script(format!("{head} function execute() {{ return 'ok ' + seen.n }}"));
        assert_eq!(sandbox.returns(), r#""ok 0""#, "{poison}");
        let prepared = sandbox.prepare().unwrap();
        assert_eq!(prepared.manifest().as_str(), r#"{"shape":"function","tools":[{}]}"#, "{poison}");

        let object = format!("{head} export default {{ description: 'd', execute: () => 'ok ' + seen.n }}");
        let sandbox = SandboxFixture::new().script(object);
        assert_eq!(sandbox.returns(), r#""ok 0""#, "{poison}");
        let manifest = sandbox.prepare().unwrap().manifest().as_str().to_owned();
        assert_eq!(manifest, r#"{"shape":"object","tools":[{"description":"d"}]}"#, "{poison}");

        let tools = "[{ name: 'a', execute: () => seen.n }, { name: 'b', execute: () => seen.n }]";
        let mut sandbox = SandboxFixture::new().script(format!("{head} export default (pi) => {tools}"));
        sandbox.run.tool = Some("b");
        assert_eq!(sandbox.returns(), "0", "{poison}");
        let manifest = sandbox.prepare().unwrap().manifest().as_str().to_owned();
        assert_eq!(manifest, r#"{"shape":"factory","tools":[{"name":"a"},{"name":"b"}]}"#, "{poison}");
    }
}

#[test]
fn a_syntax_error_at_a_character_of_several_bytes_is_told() {
    for (source, line, column) in [
        ("function execute(){ return /\u{2028}/ }", 1, 29),
        ("function execute(){ return /\u{2029}/ }", 1, 29),
        ("function execute(){\n return /a\u{2028}/ }", 2, 11),
        ("const execute = () => 漢漢 漢", 1, 26),
        ("const execute = () => 1 € 2", 1, 25),
        ("const execute = () => 😀", 1, 23),
        ("😀", 1, 1),
        ("\u{2028}€", 1, 2),
    ] {
        let report = SandboxFixture::new().script(source).fuel(50_000_000).run_text("{}");
        let Outcome::Threw(thrown) = report.outcome else { panic!("{source:?}: {:?}", report.outcome) };
        assert_eq!(thrown.name, "SyntaxError", "{source:?}");
        assert_eq!((thrown.line, thrown.column), (Some(line), Some(column)), "{source:?}: {}", thrown.message);
    }
}

#[test]
fn a_well_known_hash_of_64_bits_comes_out_right() {
    assert_eq!(eval("String(BigInt.asUintN(64, -1n))"), r#""18446744073709551615""#);
}
