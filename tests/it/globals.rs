//! The global environment of tools.

use crate::fixtures::sandbox::{SandboxFixture, eval};

/// Every name on the global object. A new one is a decision, which is made in the contract first.
const GLOBALS: &str = "AbortController AbortSignal AggregateError Array ArrayBuffer AsyncDisposableStack BigInt \
    BigInt64Array BigUint64Array Boolean Buffer DOMException DataView Date DisposableStack Error EvalError Event \
    EventTarget FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array \
    Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect \
    RegExp Set String SuppressedError Symbol SyntaxError TextDecoder TextEncoder TypeError URIError URL \
    URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa console \
    decodeURI decodeURIComponent encodeURI encodeURIComponent escape execute isFinite isNaN parseFloat parseInt \
    queueMicrotask structuredClone undefined unescape";

/// The globals that are not of ECMAScript.
const WEB_GLOBALS: &str = "AbortController AbortSignal Buffer DOMException Event EventTarget TextDecoder TextEncoder URL \
    URLSearchParams atob btoa console queueMicrotask structuredClone";

/// The globals of the grants, with the grants.
const GRANTED_GLOBALS: [(&str, &str); 15] = [
    ("Headers", "net"),
    ("ReadableStream", "net"),
    ("ReadableStreamDefaultController", "net"),
    ("ReadableStreamDefaultReader", "net"),
    ("Request", "net"),
    ("Response", "net"),
    ("clearInterval", "timers"),
    ("clearTimeout", "timers"),
    ("fetch", "net"),
    ("files", "files"),
    ("kv", "kv"),
    ("secret", "secrets"),
    ("setInterval", "timers"),
    ("setTimeout", "timers"),
    ("sleep", "timers"),
];

#[test]
fn the_type_declarations_have_the_globals_that_there_are() {
    let declared = toolcell::TYPE_DECLARATIONS.lines().filter_map(|line| {
        let rest = line.strip_prefix("declare ")?.split_once(' ')?.1;
        rest.split(|char: char| !char.is_alphanumeric()).next()
    });
    let mut declared: Vec<&str> = declared.collect();
    declared.sort_unstable();
    for (name, grant) in GRANTED_GLOBALS.into_iter().chain([("servers", "servers"), ("tools", "tools")]) {
        let thrown = SandboxFixture::new().script(format!("function execute() {{ return {name}; }}")).throws();
        assert!(thrown.contains(&format!("it needs the grant `{grant}`")), "{name}: {thrown}");
    }
    for name in WEB_GLOBALS.split_whitespace() {
        assert!(GLOBALS.split_whitespace().any(|global| global == name), "{name}");
        assert_ne!(eval(&format!("typeof {name}")), r#""undefined""#, "{name}");
    }
    let granted = GRANTED_GLOBALS.iter().map(|(name, _)| *name).chain(["servers", "tools"]);
    let mut expected: Vec<&str> = WEB_GLOBALS.split_whitespace().chain(granted).collect();
    expected.sort_unstable();
    assert_eq!(declared, expected);
}

#[test]
fn the_global_object_has_these_names_and_no_other() {
    let names = SandboxFixture::new()
        .script("function execute() { return Object.getOwnPropertyNames(this).sort().join(' '); }")
        .returns();
    let expected: Vec<&str> = GLOBALS.split_whitespace().collect();
    assert_eq!(names.trim_matches('"').split(' ').collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_not_available_does_not_exist() {
    for name in [
        "require",
        "process",
        "global",
        "globalThis",
        "self",
        "window",
        "__dirname",
        "__filename",
        "module",
        "exports",
        "eval",
        "Javy",
        "__javy_console",
        "SharedArrayBuffer",
        "Atomics",
        "WebAssembly",
        "std",
        "os",
        "bjson",
        "performance",
        "navigator",
        "gc",
        "print",
        "setTimeout",
        "setInterval",
        "clearTimeout",
        "setImmediate",
        "fetch",
        "Request",
        "Response",
        "Headers",
        "ReadableStream",
        "ReadableStreamDefaultController",
        "ReadableStreamDefaultReader",
        "Blob",
        "FormData",
        "XMLHttpRequest",
        "WebSocket",
        "sleep",
        "kv",
        "files",
        "secret",
        "tools",
        "Deno",
        "Bun",
        "__toolcell_native",
    ] {
        assert_eq!(eval(&format!("typeof {name}")), r#""undefined""#, "{name}");
    }
}

#[test]
fn the_use_of_what_is_missing_says_why() {
    for (expression, reason) in [
        ("fetch('https://example.com')", "it needs the grant `net`"),
        ("new ReadableStream()", "it needs the grant `net`"),
        ("setTimeout(() => {}, 1)", "it needs the grant `timers`"),
        ("sleep(1)", "it needs the grant `timers`"),
        ("kv.get('a')", "it needs the grant `kv`"),
        ("files.list('a')", "it needs the grant `files`"),
        ("secret('A')", "it needs the grant `secrets`"),
        ("tools.call('a')", "it needs the grant `tools`"),
        ("require('fs')", "modules are not available"),
        ("process.env", "a cell has no process"),
        ("globalThis.x", "a cell hands out no global object"),
        ("eval('1')", "code from strings is not available"),
    ] {
        let thrown = SandboxFixture::new().script(format!("function execute() {{ return {expression}; }}")).throws();
        assert!(thrown.starts_with("ReferenceError: ") && thrown.contains(reason), "{expression}: {thrown}");
        // Also if the tool catches the error and returns its message.
        let caught = eval(&format!("(() => {{ try {{ {expression} }} catch (e) {{ return e.message }} }})()"));
        assert!(caught.contains(reason), "{expression}: {caught}");
    }
}

#[test]
fn code_from_strings_is_refused_by_every_road() {
    for road in [
        "Function('return 1')",
        "new Function('return 1')",
        "(() => {}).constructor('return 1')",
        "(async () => {}).constructor('return 1')",
        "(function* () {}).constructor('return 1')",
        "(async function* () {}).constructor('return 1')",
        "Object.getPrototypeOf(async () => {}).constructor('return 1')",
        "Reflect.construct(Function, ['return 1'])",
        "Reflect.construct(Object, ['return 1'], Function).constructor.constructor('return 1')",
        "new (class extends Function {})('return 1')",
        "class {}.constructor('return 1')",
        "[].map.constructor('return 1')",
        "Function.prototype.constructor('return 1')",
        "Function.constructor('return 1')",
        "Function.bind(null, 'return 1')()",
        "Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).constructor('return 1')",
        "new Proxy(Function, {})('return 1')",
        "URL.constructor('return 1')",
        "console.log.constructor('return 1')",
    ] {
        let thrown = SandboxFixture::new().script(format!("function execute() {{ return {road}; }}")).throws();
        assert!(thrown.contains("code from strings is not available"), "{road}: {thrown}");
    }
    assert_eq!(eval("(() => {}) instanceof Function && execute.constructor === Function"), "true");
}

#[test]
fn modules_are_not_loaded() {
    for name in ["fs", "node:fs", "std", "os", "qjs:os", "./x.js", "https://example.com/x.js", "data:text/javascript,1"]
    {
        let thrown =
            SandboxFixture::new().script(format!("async function execute() {{ return import('{name}'); }}")).throws();
        assert!(thrown.contains("modules are not available"), "{name}: {thrown}");
        let report = SandboxFixture::new()
            .script(format!("import x from '{name}'; export const execute = () => x"))
            .run_text("{}");
        assert!(format!("{:?}", report.outcome).contains("modules are not available"), "{name}: {report:?}");
    }
    // The internal module of the engine may be importable by name, but it exports nothing.
    let names =
        "async function execute() { return import('toolcell:prelude').then(Object.getOwnPropertyNames, () => []); }";
    assert_eq!(SandboxFixture::new().script(names).returns(), "[]");
}

#[test]
fn the_web_apis_work() {
    for (expression, expect) in [
        ("Buffer.from('héllo').toString('base64')", r#""aMOpbGxv""#),
        ("Buffer.from('deadbeef', 'hex').readUInt32BE(0)", "3735928559"),
        (
            "new URL('../c?x=1#y', 'https://user:pw@例え.jp:8080/a/b').href",
            r#""https://user:pw@xn--r8jz45g.jp:8080/c?x=1#y""#,
        ),
        ("[...new URLSearchParams('a=1&b=2&a=3').getAll('a')]", r#"["1","3"]"#),
        ("new TextDecoder().decode(new TextEncoder().encode('日本😀'))", r#""日本😀""#),
        ("structuredClone({ d: new Date(0), m: new Map([[1, 2]]) }).m.get(1)", "2"),
        ("atob(btoa('hello'))", r#""hello""#),
        (
            "(() => { const c = new AbortController(); c.abort(); return [c.signal.aborted, c.signal.reason.name] })()",
            r#"[true,"AbortError"]"#,
        ),
        ("[1, 2, 3].at(-1) + Object.groupBy([1, 2], (n) => n % 2 ? 'odd' : 'even').odd[0]", "4"),
        (r"[...'a1b22'.matchAll(/(?<letter>\p{L})(?<digits>\d+)/gu)].map((m) => m.groups.digits)", r#"["1","22"]"#),
    ] {
        assert_eq!(eval(expression), expect, "{expression}");
    }
    let order = SandboxFixture::new().script(
        "async function execute() { const seen = []; queueMicrotask(() => seen.push('micro')); seen.push('sync'); \
         await null; return seen; }",
    );
    assert_eq!(order.returns(), r#"["sync","micro"]"#);
}

#[test]
fn the_console_is_captured() {
    let report = SandboxFixture::new()
        .script("function execute() { console.log('%s is %d', 'x', 1, { a: [1] }); console.error(new Map([[1, 2]])); console.log(); }")
        .run_text("{}");
    let lines: Vec<(&str, &str)> = report
        .logs
        .iter()
        .map(|log| (if log.level == toolcell_host::Level::Error { "error" } else { "log" }, log.text.as_str()))
        .collect();
    assert_eq!(lines, [("log", "x is 1 { a: [ 1 ] }"), ("error", "Map(1) { 1 => 2 }"), ("log", "")]);
    assert!(report.usage.console > 20);
}

#[test]
fn nothing_of_one_call_is_seen_by_the_next() {
    let fixture = SandboxFixture::new().script(
        "let calls = 0; function execute() { calls++; Object.prototype.left = 1; this.behind = 1; Array.prototype.push = null; \
         return [calls, typeof behind]; }",
    );
    let prepared = fixture.prepare().unwrap();
    for _ in 0..3 {
        assert_eq!(crate::fixtures::sandbox::returned(&fixture.call(&prepared, "{}")), r#"[1,"number"]"#);
    }
    assert_eq!(eval("[({}).left, typeof behind, [].push(1)]"), r#"[null,"undefined",1]"#);
}

#[test]
fn every_shape_of_a_tool_is_found() {
    for source in [
        "function execute({ n }) { return n + 1 }",
        "async function execute({ n }) { return n + 1 }",
        "const execute = async ({ n }) => n + 1",
        "var execute = function ({ n }) { return n + 1 }",
        "export function execute({ n }) { return n + 1 }",
        "export const execute = ({ n }) => n + 1",
        "const f = ({ n }) => n + 1; export { f as execute }",
        "export default function execute({ n }) { return n + 1 }",
        "export default async ({ n }) => n + 1",
        "export default { step: 1, execute({ n }) { return n + this.step } }",
        "export default (pi) => ({ name: 'inc', description: 'd', parameters: {}, async execute(id, { n }) { return n + 1 } })",
        "export default async function (pi) { return [{ name: 'inc', execute: (id, { n }) => n + 1 }] }",
        "const k = await Promise.resolve(1); export const execute = ({ n }) => n + k",
        "const text = `\nexport const no = 1\n`; function execute({ n }) { return n + 1 }",
    ] {
        let report = SandboxFixture::new().script(source).run_text(r#"{"n": 41}"#);
        assert_eq!(crate::fixtures::sandbox::returned(&report), "42", "{source}");
    }
}

#[test]
fn a_script_without_a_tool_says_what_to_write() {
    for source in ["let x = 1", "export const x = 1", "export default 5", "const execute = 5"] {
        let thrown = SandboxFixture::new().script(source).throws();
        assert!(thrown.contains("no tool found: declare `function execute(params)`"), "{source}: {thrown}");
    }
    let several = "export default (pi) => [{ name: 'a', execute: () => 1 }, { name: 'b', execute: () => 2 }]";
    assert!(SandboxFixture::new().script(several).throws().contains("name one of: a, b"));
    let mut named = SandboxFixture::new().script(several);
    named.run.tool = Some("b");
    assert_eq!(named.returns(), "2");
    assert_eq!(
        SandboxFixture::new().script(several).prepare().unwrap().manifest().as_str(),
        r#"{"shape":"factory","tools":[{"name":"a"},{"name":"b"}]}"#
    );
}
