//! Run records: they contain every effect, up to a limit.
#![expect(clippy::disallowed_types, reason = "what is tested talks to a network, and this is it")]

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};
use toolcell::{BodyEnd, EffectLog, Effects, ReceivedBody, RunOptions, RunOutcome};

use super::loopback::LoopbackServer;
use super::suspend::with_decision;
use super::{ToolboxFixture, returned_value};

fn host(policy: &str, name: &str, code: &str, asks: &Value) -> ToolboxFixture {
    let host = ToolboxFixture::with_policy(&format!("[approval]\nmode = \"auto\"\n{policy}"));
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
    host
}

/// Returns the effects in the record of the last run.
fn done(host: &ToolboxFixture) -> EffectLog {
    host.record(host.audit_lines().last().unwrap()).unwrap().done.unwrap()
}

#[test]
fn timers_are_in_the_record() {
    let code = "const execute = async () => { const cleared = setTimeout(() => {}, 50_000); await sleep(3); clearTimeout(cleared); \
        setTimeout(() => {}, 40_000); await new Promise((done) => setTimeout(done, 1)); return 1 }";
    let host = host("[grants.default]\ntimers = true", "waits", code, &json!(["timers"]));
    let ran = host.run("waits", &json!({})).unwrap();
    assert_eq!(returned_value(&ran), 1);
    let done = done(&host);
    assert_eq!(ran.effect_log.as_ref(), Some(&done));
    let effect_rows: Vec<(&str, &str, Effects)> =
        done.effects.iter().map(|effect| (&*effect.kind, &*effect.about, effect.effects)).collect();
    // One timer was cleared, and one was pending when the run ended.
    let expect = [
        ("50000 ms", Effects::None),
        ("3 ms", Effects::Committed),
        ("40000 ms", Effects::None),
        ("1 ms", Effects::Committed),
    ];
    assert_eq!(effect_rows, expect.map(|(about, effects)| ("timer", about, effects)));
}

#[test]
fn timers_of_a_run_that_slept_are_in_both_records() {
    let code = "const execute = async () => { const waited = sleep(20_000).then(() => 'late'); await kv.set('k', 1); return Promise.race([waited, sleep(1)]) }";
    let policy = "[grants.default]\ntimers = true\n[grants.default.kv]\nspace = \"notes\"";
    let host = host(policy, "waits", code, &json!(["timers", "kv"]));
    let fields = json!({ "tool_name": "waits", "parameters": {} });
    let state = host
        .toolbox()
        .run_suspendable(&super::request(&fields), &with_decision(toolcell::EffectDecision::Defer))
        .unwrap();
    let RunOutcome::Suspended(suspended_run) = state else { panic!("{state:?}") };
    let kinds =
        |done: &EffectLog| done.effects.iter().map(|effect| (effect.kind.clone(), effect.effects)).collect::<Vec<_>>();
    let kept = |kind: &str, effects| (kind.to_owned(), effects);
    assert_eq!(kinds(&done(&host)), [kept("timer", Effects::None), kept("kv.commit", Effects::None)]);
    let woken = host
        .toolbox()
        .resume(&toolcell::ResumeRequest::new(suspended_run.run), &with_decision(toolcell::EffectDecision::Perform))
        .unwrap();
    assert!(matches!(woken, RunOutcome::Finished(_)), "{woken:?}");
    let timer = |effects| kept("timer", effects);
    assert_eq!(
        kinds(&done(&host)),
        [timer(Effects::None), kept("kv.commit", Effects::Committed), timer(Effects::Committed)]
    );
    let left: u64 = done(&host).effects[0].about.strip_suffix(" ms").unwrap().parse().unwrap();
    assert!((1..=20_000).contains(&left), "{left}");
}

/// Starts a server whose response announces `said` bytes and has `sent`, and returns its URL.
fn lying(declared: usize, sent: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            connection.read_exact(&mut byte).unwrap();
            asked.extend(byte);
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {declared}\r\n\r\n");
        connection.write_all(&[head.as_bytes(), &vec![b'x'; sent]].concat()).unwrap();
    });
    at.to_string()
}

#[test]
fn what_was_read_of_an_answer_is_with_its_request() {
    let server = LoopbackServer::with_handler(|arrived| {
        ("200 OK", "x".repeat(arrived.line.split('/').nth(1).unwrap().parse().unwrap()))
    });
    let broken = lying(100_000, 70_000);
    let (_, port) = broken.rsplit_once(':').unwrap();
    let policy = server.grant_for("reads", "")
        + &format!(
            "[[grants.tools.reads.net]]\nhost = \"127.0.0.1\"\nscheme = \"http\"\nports = [{port}]\naddresses = [\"127.0.0.1\"]"
        );
    let code = "const execute = async ({ url, how }) => { const answer = await fetch(url); \
        if (how === 'leave') return answer.status; \
        if (how === 'cancel') { const reader = answer.body.getReader(); const first = await reader.read(); await reader.cancel(); return first.value.length } \
        try { return (await answer.text()).length } catch (error) { return [error.code, error.effects] } }";
    let host = host(&policy, "reads", code, &json!(["net"]));
    let run = |url: &str, how: &str| {
        let answer = returned_value(&host.run("reads", &json!({ "url": url, "how": how })).unwrap());
        let done = done(&host);
        // Reading a body is part of its request, in however many pieces.
        assert_eq!((done.effects.len(), done.more, done.effects[0].effects), (1, 0, Effects::Committed), "{done:?}");
        (answer, done.effects[0].received.clone().unwrap())
    };
    let (length, small) = run(&server.url("/10"), "text");
    assert_eq!((length, small), (json!(10), ReceivedBody { pieces: 1, bytes: 10, end: BodyEnd::Whole, code: None }));
    let (_, none) = run(&server.url("/0"), "text");
    assert_eq!(none, ReceivedBody { pieces: 0, bytes: 0, end: BodyEnd::Whole, code: None });
    let (length, large) = run(&server.url("/3000000"), "text");
    assert_eq!((length, large.bytes, large.end), (json!(3_000_000), 3_000_000, BodyEnd::Whole));
    assert!(large.pieces > 1, "{large:?}");
    for how in ["leave", "cancel"] {
        let (_, left) = run(&server.url("/3000000"), how);
        assert!(left.end == BodyEnd::Cancelled && left.bytes < 3_000_000, "{left:?}");
    }
    let (error, failed) = run(&format!("http://{broken}/"), "text");
    assert_eq!(error[0], "net-broken");
    assert_eq!((failed.end, failed.bytes, failed.code.as_deref()), (BodyEnd::Failed, 70_000, Some("net-broken")));
}

#[test]
fn of_more_operations_than_there_is_room_for_none_is_missing() {
    let code = "const execute = async () => { for (let n = 0; n < 300; n++) { await sleep(1); await kv.get('k') } \
        const made = await kv.commit({ check: [{ key: 'k', version: 7 }], set: [{ key: 'k', value: 1 }] }); \
        await kv.set('k', 2); await kv.set('', 3).catch(() => {}); return made }";
    let policy = "[grants.default]\ntimers = true\n[grants.default.kv]\nspace = \"notes\"";
    let host = host(policy, "many", code, &json!(["timers", "kv"]));
    let ran = host.run_with(&json!({ "tool_name": "many", "parameters": {} }), &RunOptions::default()).unwrap();
    ran.value().unwrap();
    let done = done(&host);
    assert_eq!((done.effects.len(), done.more), (256, 603 - 256));
    let of = |kind: &str| done.effects.iter().filter(|effect| effect.kind == kind).count();
    assert_eq!((of("timer"), of("kv.get")), (64, 192));
    let rest = serde_json::to_value(&done.rest).unwrap();
    // Of three commits one failed its check, one was performed, and one was empty.
    let expect = json!({ "timer": { "committed": 236 }, "kv.get": { "committed": 108 }, "kv.commit": { "none": 2, "committed": 1 } });
    assert_eq!(rest, expect);
}
