//! The web and Node APIs, tested in the engine. The tests in `guest/js` compare their results with
//! Node.js; these tests cover what only the engine and the Rust side of the guest can show.

use crate::fixtures::sandbox::{SandboxFixture, eval};

fn thrown(expression: &str) -> String {
    SandboxFixture::new().script(format!("function execute() {{ return {expression}; }}")).throws()
}

/// Returns the `href` after a setter.
fn set(href: &str, part: &str, value: &str) -> String {
    eval(&format!("(() => {{ const u = new URL({href:?}); u.{part} = {value:?}; return u.href; }})()"))
}

#[test]
fn a_path_never_turns_into_a_host() {
    for (href, part, value, expect) in [
        ("non-spec:/", "pathname", "//p", "non-spec:/.//p"),
        ("non-spec:/x", "pathname", "/..//p", "non-spec:/.//p"),
        ("non-spec:/.//p", "pathname", "/x", "non-spec:/x"),
        ("non-spec:/.//p", "pathname", "//q/r", "non-spec:/.//q/r"),
        ("non-spec:/.//p", "pathname", "", "non-spec:/"),
        ("non-spec:/.//p", "host", "h", "non-spec://h//p"),
        ("non-spec:/.//p", "search", "q", "non-spec:/.//p?q"),
        ("non-spec://h//p", "host", "", "non-spec:////p"),
        ("web+demo:/.//not-a-host/", "pathname", "test/.//x", "web+demo:/test//x"),
        ("http://h/a", "pathname", "//p", "http://h//p"),
    ] {
        assert_eq!(set(href, part, value), format!("{expect:?}"), "{href} .{part} = {value}");
    }
    let again = "(() => { const u = new URL('non-spec:/'); u.pathname = '//p'; const v = new URL(u.href); \
        return [v.host, v.pathname, v.href === u.href] })()";
    assert_eq!(eval(again), r#"["","//p",true]"#);
}

#[test]
fn a_domain_in_ascii_is_taken_as_it_is() {
    for (expression, expect) in [
        ("new URL('https://xn--/').host", r#""xn--""#),
        ("new URL('http://a.b.c.XN--pokxncvks/XN--?XN--#xn--').href", r#""http://a.b.c.xn--pokxncvks/XN--?XN--#xn--""#),
        ("new URL('//xn--/x', 'https://h/').href", r#""https://xn--/x""#),
        ("new URL('/y', 'https://xn--/x').href", r#""https://xn--/y""#),
        ("URL.canParse('https://ü.xn--/')", "false"),
        ("URL.canParse('https://%C3%BC.xn--/')", "false"),
        ("new URL('https://ü.example/').host", r#""xn--tda.example""#),
        ("new URL('https://xn--r8jz45g.jp/').host", r#""xn--r8jz45g.jp""#),
    ] {
        assert_eq!(eval(expression), expect, "{expression}");
    }
    assert_eq!(set("https://a/", "host", "xn--:8"), r#""https://xn--:8/""#);
    assert_eq!(set("https://a/", "host", "ü.xn--"), r#""https://a/""#);
    assert_eq!(set("https://xn--/", "pathname", "/XN--a"), r#""https://xn--/XN--a""#);
    assert_eq!(set("https://xn--/", "host", "b"), r#""https://b/""#);
}

#[test]
fn urls_are_written_as_the_standard_writes_them() {
    for (expression, expect) in [
        ("new URL('///test', 'http://example.org/a').href", r#""http://test/""#),
        (r"new URL('//\\test', 'http://example.org/a').href", r#""http://test/""#),
        ("new URL('data:space    ?test').href", r#""data:space   %20?test""#),
        ("new URL('data:space    #test').pathname", r#""space   %20""#),
        ("new URL('http://h/a^b?c^d#e^f').href", r#""http://h/a%5Eb?c^d#e^f""#),
        ("new URL('blob:https://h/x').origin", r#""https://h""#),
        ("new URL('blob:ftp://h/x').origin", r#""null""#),
        ("new URL('blob:blob:https://h/').origin", r#""null""#),
    ] {
        assert_eq!(eval(expression), expect, "{expression}");
    }
}

#[test]
fn a_buffer_is_one_of_node() {
    for (expression, expect) in [
        ("Buffer.from('abc def01', 'hex').toString('hex')", r#""ab""#),
        ("Buffer.from('aGVsbG8', 'base64url').toString()", r#""hello""#),
        ("Buffer.from('hi€').toString('base64')", r#""aGnigqw=""#),
        ("Buffer.from('é€', 'ucs2').toString('utf16le')", r#""é€""#),
        ("Buffer.from([65, 200, 66]).toString('latin1')", r#""AÈB""#),
        ("Buffer.from([65, 200]).toString('ascii')", r#""AH""#),
        ("Buffer.alloc(10000, 'é', 'latin1').toString('latin1').length", "10000"),
        ("Buffer.from('a'.repeat(9999), 'ucs2').toString('ucs2').length", "9999"),
        (
            "[Buffer.from('abc').indexOf(''), Buffer.from('abc').includes(''), Buffer.from('abc').indexOf('b', 'ucs2')]",
            "[0,true,-1]",
        ),
        ("Buffer.from('abc').equals(Uint8Array.of(97, 98, 99))", "true"),
        ("(() => { const t = new Uint8Array(2); return [Buffer.from('abc').copy(t), t[1]] })()", "[2,98]"),
        (
            "String(Buffer.from([255, 255, 255, 255, 255, 255, 255, 255]).readBigUint64LE())",
            r#""18446744073709551615""#,
        ),
        ("(() => { const b = Buffer.alloc(8); b.writeBigUint64BE(2n ** 63n); return b[0] })()", "128"),
        (
            "(() => { const b = Buffer.alloc(8); b.writeDoubleLE(1.5); return [b.readDoubleLE(), b.readFloatBE(4)] })()",
            "[1.5,8.905391870630645e-41]",
        ),
        (
            "(() => { const b = Buffer.alloc(6); b.writeIntBE(-140737488355328, 0, 6); return [b.readIntBE(0, 6), b.readUIntLE(0, 6)] })()",
            "[-140737488355328,128]",
        ),
        ("Buffer.copyBytesFrom(Uint16Array.of(1, 258), 1).toString('hex')", r#""0201""#),
        (
            "[Buffer.isUtf8(Buffer.from('é')), Buffer.isAscii(Buffer.from('é')), Buffer.transcode(Buffer.from('€'), 'utf8', 'latin1').toString()]",
            r#"[true,false,"?"]"#,
        ),
        (
            "[Buffer.from('abcd').utf8Slice(1, 3), Buffer.alloc(3).hexWrite('0102'), Buffer.from('abc').base64Slice()]",
            r#"["bc",2,"YWJj"]"#,
        ),
        (
            "[Buffer.from('abc').map((x) => x + 1).toString(), Buffer.isBuffer(Buffer.from('abc').subarray(1)), Buffer.from('a') instanceof Uint8Array]",
            r#"["bcd",true,true]"#,
        ),
        (
            "[`${Buffer.from('abc')}`, JSON.stringify(Buffer.from('a')), Buffer.of(1, 2).length, Buffer('x').length]",
            r#"["abc","{\"type\":\"Buffer\",\"data\":[97]}",2,1]"#,
        ),
        ("Buffer.concat([Buffer.from('ab'), Uint8Array.of(99)]).lastIndexOf('c')", "2"),
        ("Buffer.alloc(7).fill('abc').toString()", r#""abcabca""#),
    ] {
        assert_eq!(eval(expression), expect, "{expression}");
    }
    for (expression, code) in [
        ("Buffer.alloc(4).readInt8('')", "ERR_INVALID_ARG_TYPE"),
        ("Buffer.alloc(4).readInt8(1.5)", "ERR_OUT_OF_RANGE"),
        ("Buffer.alloc(4).readUInt8(NaN)", "ERR_OUT_OF_RANGE"),
        ("Buffer.alloc(4).readUInt32LE(1)", "ERR_OUT_OF_RANGE"),
        ("Buffer.alloc(2).readUInt32LE(0)", "ERR_BUFFER_OUT_OF_BOUNDS"),
        ("Buffer.alloc(4).writeUInt8(256)", "ERR_OUT_OF_RANGE"),
        ("Buffer.from('a').toString(null)", "ERR_UNKNOWN_ENCODING"),
    ] {
        let caught = format!("(() => {{ try {{ {expression} }} catch (e) {{ return e.code }} }})()");
        assert_eq!(eval(&caught), format!("{code:?}"), "{expression}");
    }
    assert_eq!(
        thrown("Buffer.alloc(4).readInt8(4)"),
        "RangeError: The value of \"offset\" is out of range. It must be >= 0 and <= 3. Received 4"
    );
}

#[test]
fn an_event_keeps_its_target() {
    for (expression, expect) in [
        (
            "(() => { const t = new EventTarget(), e = new Event('x'); t.dispatchEvent(e); return [e.target === t, e.currentTarget, e.eventPhase] })()",
            "[true,null,0]",
        ),
        (
            "(() => { const c = new AbortController(), seen = []; c.signal.addEventListener('abort', (e) => seen.push(e.type, e.isTrusted), { once: true }); c.abort(); return seen })()",
            r#"["abort",true]"#,
        ),
    ] {
        assert_eq!(eval(expression), expect, "{expression}");
    }
    assert!(thrown("new Event()").starts_with("TypeError"));
    assert!(thrown("new EventTarget().addEventListener('x', () => {}, { signal: null })").starts_with("TypeError"));
}

#[test]
fn a_dom_exception_shows_its_attributes() {
    let shown = "['name', 'message', 'code'].map((key) => { \
        const d = Object.getOwnPropertyDescriptor(DOMException.prototype, key); \
        return d.enumerable && typeof d.get === 'function' && d.set === undefined })";
    assert_eq!(eval(shown), "[true,true,true]");
    let keys = "(() => { const keys = []; for (const key in new DOMException('m', 'AbortError')) keys.push(key); \
        return ['name', 'message', 'code', 'ABORT_ERR'].map((key) => keys.includes(key)) })()";
    assert_eq!(eval(keys), "[true,true,true,true]");
    assert!(thrown("new URLSearchParams(DOMException.prototype)").starts_with("TypeError"));
}

#[test]
fn a_call_has_as_many_arguments_as_the_documents_say() {
    let called = |count: u32| format!("String.fromCharCode.apply(null, new Array({count}).fill(97)).length");
    assert_eq!(eval(&called(65_000)), "65000");
    assert!(thrown(&called(70_000)).starts_with("RangeError"));
}

#[test]
fn the_iterator_put_on_search_params_is_honoured() {
    let own = "(() => { const p = new URLSearchParams('a=1'); p[Symbol.iterator] = function* () { yield ['b', '2'] }; \
        return String(new URLSearchParams(p)) })()";
    assert_eq!(eval(own), r#""b=2""#);
}

#[test]
fn the_label_of_a_count_tells_what_it_throws() {
    for method in ["count", "countReset", "time", "timeLog", "timeEnd"] {
        let call = format!("console.{method}({{ toString() {{ throw new RangeError('label') }} }})");
        assert_eq!(thrown(&call), "RangeError: label", "{method}");
    }
    let prototype = "(() => { const p = Object.getPrototypeOf(console); \
        return [Reflect.ownKeys(p).length, Object.getPrototypeOf(p) === Object.prototype] })()";
    assert_eq!(eval(prototype), "[0,true]");
}
