//! The network API that tools see.

use toolcell_host::{Effects, Grant, HostCall};

use super::mock_host::{MockHostCalls, MockResult, failure, json, piece};
use crate::fixtures::sandbox::{SandboxFixture, files, read, returned};

const NET: &[Grant] = &[Grant::Net];

/// Returns the head of a response with this status. `done` tells whether the body is complete.
fn response(status: u16, done: bool) -> String {
    format!(
        r#"{{"status": {status}, "statusText": "So", "url": "https://api.example.com/data", "redirected": false,
            "headers": ["content-type", "application/json", "x", "1"], "done": {done}}}"#
    )
}

/// Answers requests with the body `{"n":1}` in one chunk, and short timers.
fn whole(operation: &HostCall) -> Option<MockResult> {
    match operation.kind.as_str() {
        "fetch" => Some(piece(&response(200, true), br#"{"n":1}"#)),
        "timer" if operation.payload == r#"{"ms":5000}"# => None,
        _ => Some(json("null")),
    }
}

/// Answers requests with a body of three chunks.
fn in_pieces(operation: &HostCall) -> Option<MockResult> {
    Some(match operation.kind.as_str() {
        "fetch" => piece(&response(200, false), b"{\"n\""),
        "fetch.read" if operation.id == 2 => piece(r#"{"done": false}"#, b":"),
        "fetch.read" => piece(r#"{"done": true}"#, b"2}"),
        _ => json("null"),
    })
}

/// Answers requests with the first chunk of a body, and never sends another one.
fn endless(operation: &HostCall) -> Option<MockResult> {
    (operation.kind == "fetch").then(|| piece(&response(200, false), b"x"))
}

#[test]
fn the_documents_own_example_of_a_request_runs_unchanged() {
    let path = files("fixtures/tools", "js").into_iter().find(|path| path.ends_with("fetch_json.js")).unwrap();
    let run = |answer: &(dyn Fn(&HostCall) -> Option<MockResult> + Sync), params: &str| {
        let telling = MockHostCalls::new(&[Grant::Net, Grant::Timers], answer);
        let report = SandboxFixture::new().file(&path).operations(&telling).run_text(params);
        (returned(&report), telling.requested())
    };
    let params = r#"{"url": "https://api.example.com/data"}"#;
    let (value, asked) = run(&whole, params);
    assert_eq!(value, r#"{"n":1}"#);
    let request = r#"fetch {"url":"https://api.example.com/data","method":"GET","headers":[["accept","application/json"]],"redirect":"follow"}"#;
    assert_eq!(asked, [r#"timer {"ms":5000}"#, request]);
    assert_eq!(run(&in_pieces, params).0, r#"{"error":"This operation was aborted"}"#);
    let not_found = |operation: &HostCall| {
        if operation.kind == "timer" { None } else { Some(piece(&response(404, true), b"")) }
    };
    assert_eq!(run(&not_found, params).0, r#"{"error":"HTTP 404: So"}"#);
    let never = |operation: &HostCall| (operation.kind == "timer").then(|| json("null"));
    assert_eq!(run(&never, params).0, r#"{"error":"This operation was aborted"}"#);
    let broken = |operation: &HostCall| (operation.kind == "fetch").then(|| failure("TypeError", Effects::None));
    assert_eq!(run(&broken, params).0, r#"{"error":"it did not work out"}"#);
    assert!(read("fixtures/tools/fetch_json.js").contains("await fetch(url, {"));
}

#[test]
fn a_request_is_sent_and_its_answer_read() {
    let telling = MockHostCalls::new(NET, &whole);
    for (body, expect) in [
        (
            "const r = await fetch('https://h'); return [r.status, r.ok, r.statusText, r.url, r.redirected, r.headers.get('X'), await r.json(), r.bodyUsed]",
            r#"[200,true,"So","https://api.example.com/data",false,"1",{"n":1},true]"#,
        ),
        ("return (await fetch('https://h')).text()", r#""{\"n\":1}""#),
        ("return [...await (await fetch('https://h')).bytes()].length", "7"),
        ("return (await (await fetch('https://h')).arrayBuffer()).byteLength", "7"),
        (
            "const r = await fetch('https://h'); const c = r.clone(); return [await r.text(), await c.json()]",
            r#"["{\"n\":1}",{"n":1}]"#,
        ),
        (
            "const seen = []; for await (const piece of (await fetch('https://h')).body) seen.push(piece.length); return seen",
            "[7]",
        ),
        (
            "const all = await Promise.all([1, 2, 3].map((n) => fetch('https://h/' + n))); return all.map((r) => r.status)",
            "[200,200,200]",
        ),
        (
            "return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104, 105])); c.close() } })).text()",
            r#""hi""#,
        ),
        (
            "return [typeof Request, typeof Headers, [...new Headers({ B: '1', a: '2' })]]",
            r#"["function","function",[["a","2"],["b","1"]]]"#,
        ),
    ] {
        assert_eq!(telling.returns_body(body), expect, "{body}");
    }
    telling.requested();
    telling.returns_body(
        "await fetch('https://h/p?q=1', { method: 'put', body: new URLSearchParams({ a: 'b c' }), redirect: 'error' })",
    );
    telling
        .returns_body("await fetch(new Request('https://h', { method: 'PATCH', body: new Uint8Array([104, 105]) }))");
    telling.returns_body("await fetch('https://h', { method: 'POST', body: new ReadableStream({ n: 0, pull(c) { this.n++ < 2 ? c.enqueue(new Uint8Array([111])) : c.close() } }) })");
    assert_eq!(
        telling.requested(),
        [
            r#"fetch {"url":"https://h/p?q=1","method":"PUT","headers":[["content-type","application/x-www-form-urlencoded;charset=UTF-8"]],"redirect":"error"} a=b+c"#,
            r#"fetch {"url":"https://h/","method":"PATCH","headers":[],"redirect":"follow"} hi"#,
            r#"fetch {"url":"https://h/","method":"POST","headers":[],"redirect":"follow"} oo"#,
        ]
    );
}

#[test]
fn streams_behave_in_the_cell_as_the_standard_says() {
    let telling = MockHostCalls::new(NET, &whole);
    let stream = "let c; const s = new ReadableStream({ start(x) { c = x } }";
    for (body, expect) in [
        (
            "const [a, b] = new ReadableStream({ cancel() { throw new RangeError('c') } }).tee(); \
             return (await Promise.allSettled([a.cancel(), b.cancel()])).map((r) => r.status + ' ' + r.reason?.name)"
                .to_owned(),
            r#"["rejected RangeError","rejected RangeError"]"#,
        ),
        (
            format!(
                "{stream}); const two = s.tee(); c.error(new RangeError('e')); \
                 return Promise.all(two.map((x) => x.getReader().read().catch((e) => e.name)))"
            ),
            r#"["RangeError","RangeError"]"#,
        ),
        (
            format!(
                "let two; {stream}, {{ size() {{ two = s.tee(); return 1 }} }}); c.enqueue('a'); c.close(); \
                 const all = async (x) => {{ const seen = []; for await (const v of x) seen.push(v); return seen }}; \
                 return [s.locked, await all(two[0]), await all(two[1])]"
            ),
            r#"[true,["a"],["a"]]"#,
        ),
        (
            "return [5, { mode: 'x' }, { mode: { toString() { throw new RangeError() } } }].map((o) => { \
             try { new ReadableStream().getReader(o) } catch (e) { return e.name } })"
                .to_owned(),
            r#"["TypeError","TypeError","RangeError"]"#,
        ),
        (
            format!(
                "{stream}, {{ size: (x) => x, highWaterMark: 0 }}); [0.1, 0.2, 0.3].forEach((n) => c.enqueue(n)); \
                 const r = s.getReader(), seen = []; \
                 for (let i = 0; i < 3; i++) {{ await r.read(); seen.push(c.desiredSize) }} return seen"
            ),
            "[-0.5000000000000001,-0.3000000000000001,-1.1102230246251565e-16]",
        ),
        ("return new ReadableStream().values().return.length".to_owned(), "1"),
        (
            format!(
                "{stream}); c.enqueue(1); c.enqueue(2); c.close(); const i = s.values(), log = []; \
                 await Promise.all([i.next().then((v) => log.push(v.value)), i.return('r').then((v) => log.push(v.value))]); \
                 return log"
            ),
            r#"[1,"r"]"#,
        ),
        (
            "const log = []; const s = new ReadableStream({ pull(c) { c.enqueue(1) }, async cancel() { await null; log.push('cancelled') } }); \
             for await (const x of s) break; return [s.locked, log]"
                .to_owned(),
            r#"[false,["cancelled"]]"#,
        ),
    ] {
        assert_eq!(telling.returns_body(&body), expect, "{body}");
    }
}

#[test]
fn a_request_checks_its_options_and_shows_them() {
    let telling = MockHostCalls::new(NET, &whole);
    let refused = "return [...['mode', 'credentials', 'cache', 'referrerPolicy', 'duplex', 'window'].map((n) => ({ [n]: 'x' })), \
        { referrer: 'http://:80' }].map((o) => { try { new Request('https://h', o); return 'taken' } catch (e) { return e.name } })";
    assert_eq!(telling.returns_body(refused), format!("[{}]", [r#""TypeError""#; 7].join(",")));
    let shown = "const r = new Request('https://h'); \
        return [r.referrer, r.mode, r.credentials, r.cache, r.integrity, r.keepalive, r.duplex, r.destination]";
    assert_eq!(telling.returns_body(shown), r#"["about:client","cors","same-origin","default","",false,"half",""]"#);
    assert_eq!(telling.requested(), [""; 0]);
}

#[test]
fn what_is_requested_is_parsed_more_strictly_than_by_the_class_url() {
    let telling = MockHostCalls::new(NET, &whole);
    let body = "return Promise.all([fetch('https://xn--/').catch((e) => e.name), \
        (async () => new Request('https://xn--/'))().catch((e) => e.name), new URL('https://xn--/').host])";
    assert_eq!(telling.returns_body(body), r#"["TypeError","TypeError","xn--"]"#);
    assert_eq!(telling.requested(), [""; 0]);
}

#[test]
fn a_body_is_asked_for_piece_by_piece_and_given_up_where_nobody_reads_on() {
    let telling = MockHostCalls::new(NET, &in_pieces);
    assert_eq!(telling.returns_body("return (await fetch('https://h')).json()"), r#"{"n":2}"#);
    assert_eq!(telling.requested()[1..], [r#"fetch.read {"fetch":1}"#, r#"fetch.read {"fetch":1}"#]);
    let telling = MockHostCalls::new(NET, &endless);
    let until = "for await (const piece of (await fetch('https://h')).body) break; await fetch('https://h/2')";
    telling.returns_body(until);
    assert_eq!(telling.requested()[1..2], [telling_line("https://h/2")]);
    assert_eq!(telling.returns_body("return (await fetch('https://h')).status"), "200");
}

/// Returns the host call of a plain request.
fn telling_line(url: &str) -> String {
    format!(r#"fetch {{"url":"{url}","method":"GET","headers":[],"redirect":"follow"}}"#)
}

#[test]
fn the_host_is_told_of_what_nobody_waits_for() {
    let timers = |operation: &HostCall| (operation.kind == "timer").then(|| json("null"));
    let telling = MockHostCalls::new(NET, &timers);
    let caught = "try { await fetch('https://h', { signal: AbortSignal.timeout(5) }) } catch (e) { await fetch('https://h/2', { signal: AbortSignal.timeout(6) }).catch(() => {}); return [e.name, e instanceof DOMException] }";
    assert_eq!(telling.returns_body(caught), r#"["TimeoutError",true]"#);
    let asked = telling.requested();
    assert_eq!(asked[..2], [r#"timer {"ms":5}"#.to_owned(), telling_line("https://h/")]);
    assert!(asked.contains(&"-2".to_owned()), "{asked:?}");

    let slow = |operation: &HostCall| if operation.kind == "timer" { Some(json("null")) } else { endless(operation) };
    let telling = MockHostCalls::new(NET, &slow);
    let caught = "const signal = AbortSignal.timeout(5); const r = await fetch('https://h', { signal }); \
        try { await r.text() } catch (e) { await fetch('https://h/2'); return e === signal.reason }";
    assert_eq!(telling.returns_body(caught), "true");
}

#[test]
fn a_thousand_timeouts_are_one_operation() {
    let telling = MockHostCalls::new(NET, &whole);
    let body = "let n = 0; for (let i = 0; i < 1000; i++) n += (await fetch('https://h', { signal: AbortSignal.timeout(5000) })).status; return n";
    assert_eq!(telling.returns_body(body), "200000");
    assert_eq!(telling.requested().iter().filter(|line| line.starts_with("timer")).count(), 1);
}

#[test]
fn a_failure_says_what_happened_and_where_it_was_asked_for() {
    let broken = |operation: &HostCall| {
        Some(match operation.kind.as_str() {
            "fetch" if operation.payload.contains("read") => piece(&response(200, false), b"x"),
            "fetch" => failure("TypeError", Effects::None),
            _ => failure("TimeoutError", Effects::Started),
        })
    };
    let telling = MockHostCalls::new(NET, &broken);
    let seen = |call: &str| {
        telling.returns_body(&format!(
            "try {{ {call} }} catch (e) {{ return [e.name, e.message, e.code, e.effects, e instanceof TypeError] }}"
        ))
    };
    assert_eq!(seen("await fetch('https://h')"), r#"["TypeError","it did not work out","out-of-order","none",true]"#);
    assert_eq!(
        seen("await (await fetch('https://read')).text()"),
        r#"["TimeoutError","it did not work out","out-of-order","started",false]"#
    );

    for (script, line) in [
        ("async function execute() {\n  const url = 'https://h'\n  return await fetch(url)\n}", 3),
        ("const load = (url) =>\n  fetch(url)\nasync function execute() {\n  return await load('https://h')\n}", 2),
        ("async function execute() {\n  const r = await fetch('https://read')\n\n  return r.text()\n}", 4),
        (
            "async function execute() {\n  const r = await fetch('https://read')\n\n  return r.body.getReader().read().then(() => r.body.getReader())\n}",
            4,
        ),
        ("async function execute() {\n\n  return await fetch('no url')\n}", 3),
    ] {
        let report = SandboxFixture::new().script(script).operations(&telling).run_text("{}");
        let toolcell_host::Outcome::Threw(thrown) = report.outcome else { panic!("{script}: {:?}", report.outcome) };
        assert_eq!(thrown.line, Some(line), "{script}: {thrown:?}");
    }
}

#[test]
fn an_answer_of_the_wrong_shape_is_an_error_of_the_tool() {
    for answer in [
        "null",
        "[]",
        "{}",
        r#"{"status": "200"}"#,
        &response(20, true),
        &response(200, true).replace("[\"content-type\", ", "[5, "),
        &response(200, true).replace("\"x\", \"1\"", "\"x\""),
    ] {
        let reply = |_: &HostCall| Some(json(answer));
        let telling = MockHostCalls::new(NET, &reply);
        let seen =
            telling.returns_body("try { await fetch('https://h') } catch (e) { return [e.name, e.code, e.effects] }");
        assert_eq!(seen, r#"["TypeError","answer-malformed","started"]"#, "{answer}");
    }
}
