//! Host calls of granted capabilities: they work while the run lasts, and its record has them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcell::{CancelToken, EffectApprover, EffectDecision, Effects, HeldEffect, Outcome, RunOptions, RunRecord};

use super::loopback::LoopbackServer;
use super::{ToolboxFixture, refusal, returned_value};
use crate::fixtures::sandbox::read;

/// Creates a toolbox with a tool and these grants for it.
fn host(policy: &str, name: &str, code: &str, asks: &Value) -> ToolboxFixture {
    let host = ToolboxFixture::with_policy(&format!("[approval]\nmode = \"auto\"\n{policy}"));
    make(&host, name, code, asks);
    host
}

fn make(host: &ToolboxFixture, name: &str, code: &str, asks: &Value) {
    host.create(&json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks })).unwrap();
}

/// Returns the record of the last run.
fn last(host: &ToolboxFixture) -> RunRecord {
    host.record(host.audit_lines().last().unwrap()).unwrap()
}

/// Returns the recorded effects of the last run other than timers: kind, subject, progress, and
/// error code.
fn done(host: &ToolboxFixture) -> Vec<(String, String, Effects, Option<String>)> {
    let effects = last(host).done.map(|done| done.effects).unwrap_or_default();
    effects
        .into_iter()
        .filter(|effect| effect.kind != "timer")
        .map(|effect| (effect.kind, effect.about, effect.effects, effect.code))
        .collect()
}

#[test]
fn the_documents_own_network_example_runs_unchanged() {
    let server = LoopbackServer::with_handler(|arrived| match arrived.line.as_str() {
        "GET /data" => ("200 OK", json!({ "accept": arrived.header("accept") }).to_string()),
        "GET /slow" => {
            std::thread::sleep(Duration::from_secs(2));
            ("200 OK", "1".to_owned())
        }
        _ => ("404 Not Found", String::new()),
    });
    let policy = format!("{}[grants.tools.fetch_json]\ntimers = true", server.grant_for("fetch_json", ""));
    let host = host(&policy, "fetch_json", &read("fixtures/tools/fetch_json.js"), &json!(["net", "timers"]));
    let fetched = |path: &str, ms: u64| {
        returned_value(&host.run("fetch_json", &json!({ "url": server.url(path), "timeout_ms": ms })).unwrap())
    };
    assert_eq!(fetched("/data", 5000), json!({ "accept": "application/json" }));
    assert_eq!(done(&host), [("fetch".to_owned(), format!("GET {}", server.url("/data")), Effects::Committed, None)]);
    assert_eq!(fetched("/nothing", 5000), json!({ "error": "HTTP 404: Not Found" }));
    let began = Instant::now();
    let error = fetched("/slow", 50)["error"].as_str().unwrap().to_owned();
    assert!(error.to_lowercase().contains("abort") && began.elapsed() < Duration::from_secs(2), "{error}");
    assert_eq!(done(&host)[0].2, Effects::Started);
}

#[test]
fn a_request_that_is_not_granted_is_not_made() {
    let server = LoopbackServer::with_handler(|_| ("200 OK", "1".to_owned()));
    let code = "const execute = async ({ url }) => { try { return (await fetch(url, { method: 'DELETE' })).status } \
                catch (error) { return [error.name, error.code, error.effects, error.message] } }";
    let granted = server.grant_for("fetch_it", "").replace(", \"DELETE\"", "");
    let host = host(&granted, "fetch_it", code, &json!(["net"]));
    let answer = returned_value(&host.run("fetch_it", &json!({ "url": server.url("/x") })).unwrap());
    assert_eq!((&answer[0], &answer[1], &answer[2]), (&json!("TypeError"), &json!("net-not-granted"), &json!("none")));
    assert!(answer[3].as_str().unwrap().contains("DELETE"), "{answer}");
    assert_eq!(server.request_lines(), Vec::<String>::new());
    assert_eq!(done(&host)[0].3.as_deref(), Some("net-not-granted"));
}

#[test]
fn requests_are_made_side_by_side() {
    // Each response waits until all eight requests have arrived.
    let there = Arc::new(std::sync::Barrier::new(8));
    let all = Arc::clone(&there);
    let server = LoopbackServer::with_handler(move |arrived| {
        all.wait();
        ("200 OK", format!("\"{}\"", arrived.line))
    });
    let code = "const execute = async ({ url }) => Promise.all([...Array(8).keys()].map(async (n) => (await fetch(url + n)).json()))";
    let host = host(&server.grant_for("gather", ""), "gather", code, &json!(["net"]));
    let answer = returned_value(&host.run("gather", &json!({ "url": server.url("/") })).unwrap());
    assert_eq!(answer, json!((0..8).map(|n| format!("GET /{n}")).collect::<Vec<_>>()));
}

#[test]
fn what_is_under_way_ends_with_the_run() {
    let server = LoopbackServer::with_handler(|_| {
        std::thread::sleep(Duration::from_secs(20));
        ("200 OK", "1".to_owned())
    });
    let code = "const execute = async ({ url }) => { fetch(url).catch(() => {}); return 1 }";
    let waits = "const execute = async ({ url }) => (await fetch(url)).status";
    let host = host(&(server.grant_for("leave", "") + &server.grant_for("wait", "")), "leave", code, &json!(["net"]));
    make(&host, "wait", waits, &json!(["net"]));
    let began = Instant::now();
    assert_eq!(returned_value(&host.run("leave", &json!({ "url": server.url("/") })).unwrap()), json!(1));
    let fields = json!({ "tool_name": "wait", "parameters": { "url": server.url("/") }, "timeout_ms": 100 });
    let ran = host.run_with(&fields, &RunOptions::default()).unwrap();
    assert_eq!(ran.value().unwrap_err().code(), "timeout");
    let cancel = CancelToken::new();
    let options = RunOptions { cancel: Some(cancel.clone()), ..RunOptions::default() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            cancel.cancel();
        });
        let fields = json!({ "tool_name": "wait", "parameters": { "url": server.url("/") } });
        assert_eq!(host.run_with(&fields, &options).unwrap().value().unwrap_err().code(), "cancelled");
    });
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(done(&host)[0].2, Effects::Started);
}

#[test]
fn a_space_keeps_what_tools_put_into_it() {
    let policy = "[grants.default.kv]\nspace = \"notes\"\nbytes = 100";
    let code = "const execute = async ({ n }) => kv.update('count', (count = 0) => count + n)";
    let mut host = host(policy, "count", code, &json!(["kv"]));
    for expect in [2, 4] {
        assert_eq!(returned_value(&host.run("count", &json!({ "n": 2 })).unwrap()), json!(expect));
    }
    host.reopen();
    assert_eq!(returned_value(&host.run("count", &json!({ "n": 1 })).unwrap()), json!(5));
    let about: Vec<(String, String)> = done(&host).into_iter().map(|(kind, about, ..)| (kind, about)).collect();
    assert_eq!(about, [("kv.get".into(), "count".into()), ("kv.commit".into(), "count".into())]);
    let full = "const execute = async () => { try { await kv.set('big', 'x'.repeat(200)) } catch (error) { return [error.code, error.effects] } }";
    make(&host, "fill", full, &json!(["kv"]));
    assert_eq!(returned_value(&host.run("fill", &json!({})).unwrap()), json!(["kv-quota", "none"]));
    // A read grant does not allow writing.
    host.set_policy(&format!("[approval]\nmode = \"auto\"\n{policy}\naccess = \"read\""));
    assert_eq!(host.run("count", &json!({ "n": 1 })).unwrap().value().unwrap_err().code(), "tool-failed");
}

#[test]
fn tools_that_count_side_by_side_lose_nothing() {
    let policy = "[grants.default.kv]\nspace = \"notes\"";
    let code = "const execute = async () => { for (let i = 0; i < 5; i++) await kv.update('count', (count = 0) => count + 1); }";
    let host = host(policy, "count", code, &json!(["kv"]));
    make(&host, "read", "const execute = async () => kv.get('count')", &json!(["kv"]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drop(host.run("count", &json!({})).unwrap().value().unwrap().cloned()));
        }
    });
    assert_eq!(returned_value(&host.run("read", &json!({})).unwrap()), json!(20));
}

#[test]
fn a_folder_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.txt"), "one\ntwo\n").unwrap();
    let path = folder.path().to_str().unwrap();
    let policy = format!("[[grants.tools.lines.files]]\nname = \"work\"\npath = \"{path}\"\naccess = \"write\"");
    let code = "const execute = async () => { const text = await files.readText('work/in.txt'); \
                await files.write('work/out/lines.json', JSON.stringify(text.trim().split('\\n'))).catch(async (error) => { \
                  if (error.code !== 'files-missing') throw error; await files.mkdir('work/out'); \
                  await files.write('work/out/lines.json', JSON.stringify(text.trim().split('\\n'))) }); \
                return files.list('work') }";
    let mut host = host(&policy, "lines", code, &json!(["files"]));
    let listed = returned_value(&host.run("lines", &json!({})).unwrap());
    assert_eq!(listed, json!([{ "name": "in.txt", "kind": "file" }, { "name": "out", "kind": "folder" }]));
    assert_eq!(std::fs::read_to_string(folder.path().join("out/lines.json")).unwrap(), r#"["one","two"]"#);
    // If a granted folder is missing, the run does not start.
    let gone = policy.replace(path, &format!("{path}/gone"));
    host.set_policy(&format!("[approval]\nmode = \"auto\"\n{gone}"));
    let (code, message) = refusal(host.run("lines", &json!({})));
    assert!(code == "files-missing" && message.contains("gone"), "{code}: {message}");
}

#[test]
fn a_secret_reaches_the_server_and_nobody_else() {
    const VALUE: &str = "s3cr3t-0123456789-value";
    let server = LoopbackServer::with_handler(|arrived| ("200 OK", json!({ "you sent": arrived.head }).to_string()));
    let code = "const execute = async ({ url }) => { const answer = await fetch(url, { headers: { Authorization: 'Bearer ' + secret('TOKEN') } }); \
                const text = await answer.text(); console.log(text); return text }";
    let grant = server.grant_for("call_api", "")
        + "[[grants.tools.call_api.secrets]]\nname = \"TOKEN\"\nhosts = [\"127.0.0.1\"]";
    let mut host = host(&grant, "call_api", code, &json!(["net", "secrets"]));
    let run = |host: &ToolboxFixture| host.run("call_api", &json!({ "url": server.url("/") }));
    let (code, message) = refusal(run(&host));
    assert!(code == "secret-missing" && message.contains("TOKEN"), "{code}: {message}");
    host.set_secret("TOKEN", VALUE);
    let ran = run(&host).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some(&*format!("Bearer {VALUE}")));
    let text = returned_value(&ran).as_str().unwrap().to_owned();
    assert!(text.contains("Bearer {{secret:TOKEN}}") && !text.contains(VALUE), "{text}");
    assert!(!format!("{ran:?}").contains(VALUE));
    // No file of the store contains the secret.
    let mut files = 0;
    walk(host.path(), &mut |bytes| {
        files += 1;
        assert!(!bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()));
    });
    assert!(files > 5);
}

fn walk(folder: &std::path::Path, look: &mut impl FnMut(&[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, look) } else { look(&std::fs::read(path).unwrap()) }
    }
}

/// Approves effects on this subject, and records what it was asked.
struct ChoosingApprover {
    about: &'static str,
    asked: Mutex<Vec<HeldEffect>>,
}

impl EffectApprover for ChoosingApprover {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        self.asked.lock().unwrap().extend_from_slice(held);
        // A deferred effect is not performed in a run that cannot be suspended.
        let choice = |held: &HeldEffect| {
            if held.about.contains(self.about) { EffectDecision::Perform } else { EffectDecision::Defer }
        };
        held.iter().map(choice).collect()
    }
}

#[test]
fn of_a_plan_exactly_that_happens_which_was_chosen() {
    let server = LoopbackServer::with_handler(|arrived| ("200 OK", format!("\"{}\"", arrived.line)));
    let policy = server.grant_for("order", "") + "[grants.tools.order.kv]\nspace = \"orders\"";
    let code = "const execute = async ({ url }) => { \
        const prices = await (await fetch(url + 'prices')).json(); \
        const all = await Promise.allSettled([ \
          fetch(url + 'tea', { method: 'POST', body: 'tea' }), fetch(url + 'coffee', { method: 'POST', body: 'coffee' }), kv.set('last', 'tea')]); \
        return [prices, all.map(({ status, reason }) => reason ? [reason.code, reason.effects] : status)] }";
    let host = host(&policy, "order", code, &json!(["net", "kv"]));
    let planner = Arc::new(ChoosingApprover { about: "tea", asked: Mutex::default() });
    let options =
        RunOptions { effect_approver: Some(Arc::clone(&planner) as Arc<dyn EffectApprover>), ..RunOptions::default() };
    let fields = json!({ "tool_name": "order", "parameters": { "url": server.url("/") } });
    let answer = returned_value(&host.run_with(&fields, &options).unwrap());
    let refused = json!(["effect-not-approved", "none"]);
    assert_eq!(answer, json!(["GET /prices", ["fulfilled", refused, refused]]));
    assert_eq!(server.request_lines(), ["GET /prices", "POST /tea"]);
    let asked = planner.asked.lock().unwrap().clone();
    let about: Vec<&str> = asked.iter().map(|held| held.kind.as_str()).collect();
    assert_eq!(about, ["fetch", "fetch", "kv.commit"]);
    // Equal effects have the same digest in another run, and different effects have different ones.
    host.run_with(&fields, &options).unwrap().value().unwrap();
    let again = planner.asked.lock().unwrap()[3..].to_vec();
    assert_eq!(again, asked);
    assert_ne!(asked[0].digest, asked[1].digest);
    let effects: Vec<Effects> = done(&host).into_iter().map(|(_, _, effects, _)| effects).collect();
    assert_eq!(effects, [Effects::Committed, Effects::Committed, Effects::None, Effects::None]);
}

#[test]
fn time_that_somebody_takes_to_decide_is_not_the_tools() {
    struct Slow;
    impl EffectApprover for Slow {
        fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
            std::thread::sleep(Duration::from_millis(400));
            vec![EffectDecision::Perform; held.len()]
        }
    }
    let host =
        host("[grants.default.kv]\nspace = \"a\"", "put", "const execute = () => kv.set('a', 1)", &json!(["kv"]));
    let options = RunOptions { effect_approver: Some(Arc::new(Slow)), ..RunOptions::default() };
    let fields = json!({ "tool_name": "put", "parameters": {}, "timeout_ms": 300 });
    assert!(matches!(host.run_with(&fields, &options).unwrap().report.outcome, Outcome::Returned(_)));
}

#[test]
fn a_tool_without_the_secret_does_not_read_it_back() {
    let kept = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&kept);
    let server = LoopbackServer::with_handler(move |arrived| {
        let mut kept = own.lock().unwrap();
        if arrived.line.starts_with("PUT") {
            *kept = arrived.header("x-key").unwrap().to_owned();
        }
        ("200 OK", kept.clone())
    });
    let secret = "[[grants.tools.put.secrets]]\nname = \"TOK\"\nhosts = [\"127.0.0.1\"]\n";
    let policy = format!("{}{}{secret}", server.grant_for("put", ""), server.grant_for("get", ""));
    let put = "const execute = async ({ url }) => (await fetch(url, { method: 'PUT', headers: { 'x-key': secret('TOK') } })).status";
    let mut host = host(&policy, "put", put, &json!(["net", "secrets"]));
    host.set_secret("TOK", "correct horse battery");
    let get = "const execute = async ({ url, range }) => { try { return await (await fetch(url, range ? { headers: { range } } : {})).text() } \
               catch (error) { return error.code } }";
    make(&host, "get", get, &json!(["net"]));
    let url = server.url("/");
    assert_eq!(returned_value(&host.run("put", &json!({ "url": url })).unwrap()), 200);
    assert_eq!(*kept.lock().unwrap(), "correct horse battery");
    assert_eq!(returned_value(&host.run("get", &json!({ "url": url })).unwrap()), "{{secret:TOK}}");
    assert_eq!(returned_value(&host.run("get", &json!({ "url": url, "range": "bytes=0-4" })).unwrap()), "net-range");
}
