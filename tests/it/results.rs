//! Results reach the host unchanged, or with a warning that names what changed.

use toolcell_host::{Outcome, Report, Stop, ValueSide};

use crate::fixtures::sandbox::{SandboxFixture, eval, returned};

fn run(expression: &str) -> Report {
    SandboxFixture::new().script(format!("function execute() {{ return ({expression}); }}")).run_text("{}")
}

/// Returns the value, and the path of each warning.
fn converted(expression: &str) -> (String, Vec<String>) {
    let report = run(expression);
    let paths = report.warnings.iter().map(|warning| warning.path.clone()).collect();
    (returned(&report), paths)
}

#[test]
fn what_json_holds_is_kept_exactly() {
    for (expression, expect) in [
        ("undefined", ""),
        ("null", "null"),
        ("-0", "-0"),
        (
            "[0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, 5e-324, 2 ** 53]",
            "[0.30000000000000004,1e+21,1e-7,123456789012345680000,5e-324,9007199254740992]",
        ),
        ("'a\\u0000\\u001f\"\\\\\\u2028'", "\"a\\u0000\\u001f\\\"\\\\\u{2028}\""),
        ("'\\ud800'", r#""\ud800""#),
        ("{ '\\udc00': 1, 'a\\u0000b': 2 }", r#"{"\udc00":1,"a\u0000b":2}"#),
        ("JSON.parse('{\"__proto__\": 1}')", r#"{"__proto__":1}"#),
        ("{ b: 1, a: 2, 1: 3 }", r#"{"1":3,"b":1,"a":2}"#),
        ("{ a: undefined, b: [] , c: {} }", r#"{"b":[],"c":{}}"#),
        ("new Date(0)", r#""1970-01-01T00:00:00.000Z""#),
        ("[new Number(1), new String('x'), new Boolean(false)]", r#"[1,"x",false]"#),
        ("Object.create(null, { x: { value: 1, enumerable: true } })", r#"{"x":1}"#),
        ("new (class { a = 1; #b = 2; get c() { return 3 } })()", r#"{"a":1}"#),
        ("{ toJSON(key) { return [key] } }", r#"[""]"#),
        ("Buffer.from('hi')", r#"{"type":"Buffer","data":[104,105]}"#),
        ("new URL('http://a/b')", r#""http://a/b""#),
    ] {
        let (value, warnings) = converted(expression);
        assert_eq!(value, expect, "{expression}");
        assert_eq!(warnings, Vec::<String>::new(), "{expression}");
    }
}

#[test]
fn what_json_cannot_hold_is_converted_with_its_path() {
    for (expression, expect, paths) in [
        ("NaN", "null", vec![""]),
        ("{ a: [1, Infinity, -Infinity] }", r#"{"a":[1,null,null]}"#, vec!["/a/1", "/a/2"]),
        ("{ 'x/y~': 10n ** 20n }", r#"{"x/y~":"100000000000000000000"}"#, vec!["/x~1y~0"]),
        ("{ f() {}, s: Symbol('x'), n: 1 }", r#"{"n":1}"#, vec!["/f", "/s"]),
        ("[undefined, () => {}]", "[null,null]", vec!["/0", "/1"]),
        ("() => {}", "", vec![""]),
        ("new Map([['a', new Set([1])]])", r#"[["a",[1]]]"#, vec!["", "/0/1"]),
        ("{ e: new RangeError('x') }", r#"{"e":{"name":"RangeError","message":"x"}}"#, vec!["/e"]),
        ("[new Uint8Array([1, 2]), new Float64Array([NaN]).buffer.byteLength]", "[[1,2],8]", vec!["/0"]),
        ("{ p: Promise.resolve(1) }", r#"{"p":null}"#, vec!["/p"]),
        ("[/a/g]", r#"["/a/g"]"#, vec!["/0"]),
    ] {
        assert_eq!(
            converted(expression),
            (expect.to_owned(), paths.into_iter().map(str::to_owned).collect()),
            "{expression}"
        );
    }
}

#[test]
fn a_cycle_is_refused_with_the_path_to_it() {
    let thrown =
        SandboxFixture::new().script("function execute() { const a = { b: [] }; a.b.push(a); return a; }").throws();
    assert_eq!(thrown, "TypeError: the result contains a cycle: /b/0 is the result itself");
    assert_eq!(eval("(() => { const shared = { x: 1 }; return [shared, shared]; })()"), r#"[{"x":1},{"x":1}]"#);
}

#[test]
fn nesting_beyond_512_levels_is_refused() {
    let nested = |levels: u32| {
        SandboxFixture::new().script(format!(
            "function execute() {{ let a = 1; for (let i = 0; i < {levels}; i++) a = [a]; return a; }}"
        ))
    };
    assert_eq!(nested(512).returns().len(), 512 * 2 + 1);
    for levels in [513, 100_000] {
        assert!(nested(levels).throws().starts_with("RangeError: the result is nested deeper than 512"));
    }
}

#[test]
fn the_output_limit_counts_bytes_of_json() {
    let mut fixture = SandboxFixture::new().script("const execute = ({ n }) => 'x'.repeat(n)");
    fixture.budget.output = 100;
    let prepared = fixture.prepare().unwrap();
    assert_eq!(returned(&fixture.call(&prepared, r#"{"n": 98}"#)).len(), 100);
    let report = fixture.call(&prepared, r#"{"n": 99}"#);
    assert_eq!(report.outcome, Outcome::Stopped(Stop::OutputTooLarge { limit: 100 }));
}

#[test]
fn thenables_are_awaited_and_promises_need_no_then() {
    assert_eq!(eval("{ then(resolve) { resolve(7) } }"), "7");
    let poisoned = SandboxFixture::new().script("Promise.prototype.then = null; async function execute() { return 7 }");
    assert_eq!(poisoned.returns(), "7");
}

#[test]
fn numbers_that_javascript_cannot_hold_are_told_on_the_way_in() {
    let report = SandboxFixture::new()
        .script("const execute = (params) => params")
        .run_text(r#"{"a": 9007199254740993, "b": [1e400], "c": -0, "d": 0.1}"#);
    assert_eq!(returned(&report), r#"{"a":9007199254740992,"b":[null],"c":-0,"d":0.1}"#);
    let places: Vec<(ValueSide, &str)> =
        report.warnings.iter().map(|warning| (warning.place, &*warning.path)).collect();
    assert_eq!(places, [(ValueSide::Params, "/a"), (ValueSide::Params, "/b/0"), (ValueSide::Result, "/b/0")]);
}

#[test]
fn parameters_arrive_as_they_are_written() {
    for params in [
        r#"{"__proto__":{"x":1},"constructor":"a","then":1}"#,
        "{\"\\ud800\":\"\\udc00\",\"\\u0000\":\"\\u0000\"}",
        r#"{"日本":"😀"}"#,
        r#"{"a":{"b":[1,2.5,-3e-7,true,false,null]}}"#,
        "{}",
    ] {
        let report = SandboxFixture::new().script("const execute = (params) => params").run_text(params);
        assert_eq!(returned(&report), params);
    }
    assert_eq!(eval("({}).x"), "");
}
