//! Errors that a tool throws reach the host with the author's line and column, and without frames
//! of the guest.

use toolcell_host::{Outcome, Thrown};

use crate::fixtures::sandbox::SandboxFixture;

fn thrown(source: &str) -> Thrown {
    match SandboxFixture::new().script(source).run_text("{}").outcome {
        Outcome::Threw(thrown) => thrown,
        other => panic!("expected it to throw: {other:?}"),
    }
}

fn check(source: &str, name: &str, message: &str, line: u32, column: u32) {
    let thrown = thrown(source);
    let place = (thrown.line.unwrap_or(0), thrown.column.unwrap_or(0));
    assert_eq!((&*thrown.name, &*thrown.message, place), (name, message, (line, column)), "{source}");
}

#[test]
fn a_thrown_error_names_its_line_and_column() {
    check("function execute() {\n  throw new TypeError('no');\n}", "TypeError", "no", 2, 13);
    check(
        "const execute = async () => {\n  await null;\n  null.x;\n}",
        "TypeError",
        "cannot read property 'x' of null",
        3,
        8,
    );
    check("function execute() {\n  const あ = '日本'; throw Error('x')\n}", "Error", "x", 2, 25);
    check(
        "function execute() {\n  const a = 1;\n  return missing + a;\n}",
        "ReferenceError",
        "missing is not defined",
        3,
        10,
    );
    check(
        "class MyError extends Error { name = 'MyError' }\nconst execute = () => {\n  throw new MyError('m') }",
        "MyError",
        "m",
        3,
        13,
    );
    check("export const execute = () => {\n\n throw new Error('in a module') }", "Error", "in a module", 3, 12);
}

#[test]
fn a_syntax_error_names_its_line_and_column() {
    for (source, line, column) in [
        ("function execute() {\n  return 1 +;\n}", 2, 13),
        ("export const execute = () => {\n  let x = ;\n}", 2, 11),
        ("export const x = 1\nexport const execute = async (x) => x +* 2", 2, 40),
        ("const 日本 = '語' const execute = 1", 1, 16),
        ("function execute() {", 1, 20),
        ("function execute() { let a = 1; let a = 2 }", 1, 37),
    ] {
        let error = thrown(source);
        let place = (&*error.name, error.line, error.column);
        assert_eq!(place, ("SyntaxError", Some(line), Some(column)), "{source}: {}", error.message);
    }
}

#[test]
fn an_error_at_the_top_level_is_the_tools_own() {
    check("const a = 1;\nthrow new RangeError('at load');", "RangeError", "at load", 2, 11);
}

#[test]
fn stacks_show_the_authors_frames_and_no_others() {
    let error = thrown("function inner() { throw new Error('x') }\nfunction execute() {\n  [1].map(() => inner()) }");
    assert_eq!(
        error.stack,
        "    at inner (tool.js:1:30)\n    at tool.js:3:17\n    at map (native)\n    at execute (tool.js:3:7)\n"
    );
    let error = thrown("export default { execute() { new URL('nonsense') } }");
    assert!(!error.stack.contains("toolcell:"), "{}", error.stack);
    assert_eq!(error.stack, "    at execute (tool.js:1:34)\n");
}

#[test]
fn anything_can_be_thrown() {
    for (value, name, message) in [
        ("'text'", "Error", "text"),
        ("undefined", "Error", "undefined"),
        ("null", "Error", "null"),
        ("42", "Error", "42"),
        ("10n", "Error", "10"),
        ("Symbol('s')", "Error", "Symbol(s)"),
        ("{ code: 5 }", "Error", "{\"code\":5}"),
        ("{ name: 'N', message: 'M' }", "N", "M"),
        ("() => {}", "Error", ""),
        ("new Proxy({}, { get() { throw 1 } })", "Error", ""),
        ("Object.create(null)", "Error", "{}"),
        ("{ get message() { throw 1 }, get name() { throw 2 }, toJSON() { throw 3 } }", "Error", ""),
        ("'\\ud800'", "Error", "\u{fffd}"),
    ] {
        let thrown = thrown(&format!("function execute() {{ throw ({value}); }}"));
        assert_eq!((&*thrown.name, &*thrown.message), (name, message), "{value}");
    }
}

#[test]
fn a_throw_that_is_no_error_keeps_the_name_of_its_class() {
    for (declared, value, name, message) in [
        ("class Foo {}", "new Foo()", "Foo", "{}"),
        ("class Foo { status = 404 }", "new Foo()", "Foo", "{\"status\":404}"),
        ("class Foo { name = 'bob' }", "new Foo()", "Foo", "{\"name\":\"bob\"}"),
        ("class Foo {} class Bar extends Foo { message = 'm' }", "new Bar()", "Bar", "m"),
        ("function Old(message) { this.message = message }", "new Old('m')", "Old", "m"),
        ("", "new Map()", "Map", "{}"),
        ("class Foo { get name() { throw 1 } get message() { throw 2 } toJSON() { throw 3 } }", "new Foo()", "Foo", ""),
        ("class Foo { static get name() { throw 1 } }", "new Foo()", "Error", "{}"),
        ("", "{ get constructor() { throw 1 } }", "Error", ""),
    ] {
        let thrown = thrown(&format!("{declared}\nfunction execute() {{ throw ({value}); }}"));
        assert_eq!((&*thrown.name, &*thrown.message), (name, message), "{declared} {value}");
    }
}

#[test]
fn texts_of_errors_are_cut() {
    let error = thrown("function execute() { throw new Error('x'.repeat(20_000_000)) }");
    assert!(error.message.len() < 17_000 && error.message.contains("bytes more"), "{}", error.message.len());
}

#[test]
fn a_rejection_is_thrown() {
    check("function execute() {\n  return Promise.reject(new Error('late')) }", "Error", "late", 2, 29);
}
