//! The extension `toolcell/host`: methods for the program that started the server.

use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::server::BinaryFixture;

const RULES: &str = "[external_tools]\ndefault = 'ask'\n[[external_tools.rules]]\ntools = ['bash']\n\
                     args = { command = ['rm *'] }\ndecision = 'deny'\nreason = 'use the trash'\n";
const WAITS: &str = "const execute = ({ ms }) => { setTimeout(() => {}, ms) }";
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

fn host() -> Value {
    json!({ "extensions": { "toolcell/host": {} } })
}

/// Checks with a client of each revision.
fn for_each_revision(check: impl Fn(&BinaryFixture, RawClient)) {
    let home = BinaryFixture::new(RULES);
    check(&home, home.start_stdio(&[]).in_session(host()));
    let home = BinaryFixture::new(RULES);
    check(&home, home.start_stdio(&[]).stateless(host()));
}

/// Returns the audit lines of an action.
fn audit_lines(home: &BinaryFixture, action: &str) -> Vec<Value> {
    let log = home.stdout_of(&["audit", "--action", action, "--json"]);
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_host_asks_about_its_own_tools() {
    for_each_revision(|home, mut peer| {
        let mut decide = |call: Value| peer.request("toolcell/decide", call).result();
        let told = decide(json!({
            "toolName": "Bash", "toolArgs": { "command": "rm x" }, "sessionId": "s", "agentId": "a", "toolCallId": "c",
        }));
        assert_eq!(told["permissionDecision"], "deny");
        assert_eq!(told["permissionDecisionReason"], "use the trash");
        assert!(told["decidedBy"].as_str().unwrap().starts_with("policy user "), "{told}");
        assert_eq!(decide(json!({ "toolName": "read" }))["permissionDecision"], "ask");
        let lines = audit_lines(home, "decide");
        assert_eq!(lines.len(), 2);
        let with_claims = |line: &&Value| {
            line["details"]["caller"].as_str().is_some_and(|caller| caller.ends_with(" session=s agent=a call=c"))
        };
        assert_eq!(lines.iter().filter(with_claims).count(), 1, "{lines:?}");
        peer.request("toolcell/decide", json!({ "toolNames": "x" })).is_refused_with(INVALID_PARAMS);
        assert_eq!(audit_lines(home, "decide").len(), 3);
    });
}

#[test]
fn a_host_with_its_own_dialogue_shows_a_tool_and_approves_what_was_shown() {
    for_each_revision(|home, mut peer| {
        peer.create_tool("waits", WAITS);
        let call = json!({ "tool": "waits", "parameters": { "ms": 1 } });
        let told = peer.request("toolcell/explain", call.clone()).result();
        assert_eq!((&told["admitted"], &told["asks"], &told["error"]), (&json!(true), &json!(true), &Value::Null));
        let shown = peer.request("toolcell/approval", json!({ "tool": "waits" })).result();
        assert_eq!((&shown["name"], &shown["source"]), (&json!("waits"), &json!(WAITS)));
        assert_eq!(shown["missing"], json!(["timers"]));
        let facts = shown["facts"].to_string();
        assert!(facts.contains("waits") && facts.contains("timers"), "{facts}");
        let digest = shown["digest"].clone();
        let other = json!({ "tool": "waits", "digest": "0".repeat(64) });
        peer.request("toolcell/approve", other).is_refused_with(INVALID_PARAMS);
        let approved = peer.request("toolcell/approve", json!({ "tool": "waits", "digest": digest })).result();
        assert_eq!((&approved["name"], &approved["grants"]), (&json!("waits"), &json!({})));
        let told = peer.request("toolcell/explain", call).result();
        assert_eq!((&told["admitted"], &told["asks"]), (&json!(true), &json!(false)));
        assert_eq!(audit_lines(home, "approve").len(), 1);

        let told = peer.request("toolcell/explain", json!({ "tool": "no-such" })).result();
        assert_eq!((&told["admitted"], &told["error"]["code"]), (&json!(false), &json!("tool-not-found")));
        peer.request("toolcell/approval", json!({ "tool": "no-such" })).is_refused_with(INVALID_PARAMS);
        peer.request("toolcell/explain", json!({ "tool": "waits", "params": {} })).is_refused_with(INVALID_PARAMS);
    });
}

#[test]
fn nobody_else_has_these_methods() {
    let home = BinaryFixture::new(RULES);
    let decide = |mut peer: RawClient| {
        peer.request("toolcell/decide", json!({ "toolName": "bash" })).is_refused_with(METHOD_NOT_FOUND);
        peer.request("toolcell/approve", json!({ "tool": "x", "digest": "y" })).is_refused_with(METHOD_NOT_FOUND);
        peer.request("toolcell/functions", json!({ "functions": [] })).is_refused_with(METHOD_NOT_FOUND);
    };
    decide(home.start_stdio(&[]).in_session(json!({})));
    decide(home.start_stdio(&[]).stateless(json!({})));
    let web = home.start_http(&[]);
    decide(web.client().in_session(host()));
    decide(web.client().stateless(host()));
}

#[test]
fn over_http_a_host_token_allows_them() {
    let home = BinaryFixture::new(RULES);
    let host_token = BinaryFixture::token("alice-host");
    let tokens = home.write_tokens(&["alice"], &format!("host_token = '{host_token}'"));
    let web = home.start_http(&["--tokens", &tokens]);
    let mut model = web.client_with_token(&BinaryFixture::token("alice")).in_session(host());
    model.create_tool("waits", WAITS);
    let approve = json!({ "tool": "waits", "digest": "0".repeat(64) });
    model.request("toolcell/approve", approve.clone()).is_refused_with(METHOD_NOT_FOUND);
    // A client with the other token of the principal cannot use the session of a host.
    let mut other = web.client_with_token(&host_token).in_session(host());
    let session = std::mem::replace(model.session(), other.session().clone());
    model.send_request("toolcell/approve", approve.clone());
    assert_eq!(model.http_error().1["code"], "session-unknown");
    *model.session() = session;
    other.request("toolcell/approval", json!({ "tool": "waits" })).result();
    let mut undeclared = web.client_with_token(&host_token).in_session(json!({}));
    undeclared.request("toolcell/approve", approve.clone()).is_refused_with(METHOD_NOT_FOUND);

    for mut peer in
        [web.client_with_token(&host_token).in_session(host()), web.client_with_token(&host_token).stateless(host())]
    {
        let told =
            peer.request("toolcell/decide", json!({ "toolName": "bash", "toolArgs": { "command": "rm x" } })).result();
        assert_eq!(
            (&told["permissionDecision"], &told["permissionDecisionReason"]),
            (&json!("deny"), &json!("use the trash"))
        );
        assert_eq!(told["decidedBy"], "policy user (path on the server):6");
        let told = peer.request("toolcell/explain", json!({ "tool": "waits", "parameters": { "ms": 1 } })).result();
        assert!(!told.to_string().contains(home.path("").to_str().unwrap()), "{told}");
        let shown = peer.request("toolcell/approval", json!({ "tool": "waits" })).result();
        assert_eq!(shown["source"], json!(WAITS));
        peer.request("toolcell/approve", approve.clone()).is_refused_with(INVALID_PARAMS);
        let digest = &shown["digest"];
        let approved = peer.request("toolcell/approve", json!({ "tool": "waits", "digest": digest })).result();
        assert_eq!(approved["name"], "waits");
        peer.request("toolcell/functions", json!({ "functions": [] })).is_refused_with(INVALID_PARAMS);
    }
    let mut lines = home.principal_audit_lines("alice");
    lines.retain(|line| line["action"] == "approve");
    assert_eq!(lines.len(), 2);
    let by = lines[0]["details"].to_string();
    assert!(by.contains("host alice "), "who approved: {by}");
}

#[test]
fn over_http_an_answer_names_no_path_of_the_server_but_keeps_what_is_executed() {
    let ask = |hook: &str, method: &str, params: Value| {
        let home = BinaryFixture::new(&format!("[[hooks]]\nname = 'h'\ncommand = {hook}\n"));
        let host_token = BinaryFixture::token("alice-host");
        let tokens = home.write_tokens(&["alice"], &format!("host_token = '{host_token}'"));
        let web = home.start_http(&["--tokens", &tokens]);
        let mut peer = web.client_with_token(&host_token).in_session(host());
        peer.create_tool("waits", WAITS);
        peer.request(method, params).result()
    };
    let call = json!({ "toolName": "bash", "toolArgs": { "command": "ls" } });
    let rewrites = r#"['sh', '-c', 'echo "{\"modifiedArgs\": {\"command\": \"ls $PWD/x\"}}"']"#;
    let told = ask(rewrites, "toolcell/decide", call.clone());
    let command = told["modifiedArgs"]["command"].as_str().unwrap();
    assert!(command.starts_with("ls /") && command.ends_with("/x"), "{told}");
    let is_hidden = |told: &Value| {
        let text = told.to_string();
        text.contains("(path on the server)") && !text.contains("/opt")
    };
    let told = ask("['/opt/no/such']", "toolcell/decide", call);
    assert_eq!(told["permissionDecision"], "deny");
    assert!(is_hidden(&told), "{told}");
    let told = ask("['/opt/no/such']", "toolcell/explain", json!({ "tool": "waits", "parameters": { "ms": 1 } }));
    assert!(is_hidden(&told), "{told}");
}

const LENT: &str = "[approval]\nmode = 'auto'\n[grants.default]\ntools = ['double', 'slow', 'absent']\n";

/// Lends `double`, which only reads, and `slow`.
fn lend(peer: &mut RawClient, slow_ms: u64) {
    let n = json!({ "n": { "type": "number", "description": "a number", "required": true } });
    let double = json!({ "name": "double", "parameters": n, "result": { "type": "number" }, "readOnly": true });
    let functions = json!([double, { "name": "slow", "timeoutMs": slow_ms }]);
    let answer = peer.request("toolcell/functions", json!({ "functions": functions })).result();
    assert_eq!(answer["functions"], json!(["double", "slow"]));
}

fn is_lent_call(message: &Value) -> bool {
    message["method"] == "toolcell/call"
}

fn respond(peer: &mut RawClient, call: &Value, answer: Value) {
    let mut message = json!({ "jsonrpc": "2.0", "id": call["id"] });
    message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    peer.write_raw(format!("{message}\n").as_bytes());
}

#[test]
fn a_tool_calls_what_the_host_lends() {
    let home = BinaryFixture::new(LENT);
    // A server of the stateless revision must not ask anything.
    let none = json!({ "functions": [] });
    home.start_stdio(&[]).stateless(host()).request("toolcell/functions", none).is_refused_with(INVALID_PARAMS);
    {
        let mut peer = home.start_stdio(&[]).in_session(host());
        lend(&mut peer, 60_000);
        let code = "const execute = async ({ name, params }) => { try { return await tools.call(name, params) } \
                    catch ({ code, message, effects }) { return [code, message, effects] } }";
        let tool = json!({ "name": "calls", "description": "Calls", "code": code, "capabilities": ["tools"], "replace": true });
        peer.call("create_tool", tool).done();
        let call = |name: &str, params: Value| json!({ "parameters": { "name": name, "params": params } });

        let run = peer.send_run("calls", call("double", json!({ "n": 21 })));
        let asked = peer.wait_for_message(is_lent_call);
        assert_eq!((&asked["params"]["name"], &asked["params"]["parameters"]), (&json!("double"), &json!({ "n": 21 })));
        assert_eq!(asked["params"]["caller"]["client"], "peer", "{asked}");
        respond(&mut peer, &asked, json!({ "result": { "value": 42 } }));
        peer.wait_for_reply(run).returns(&json!(42));

        // What the host answers is checked, and what it fails with is told.
        for (answer, expected) in [
            (json!({ "result": { "value": "42" } }), "function-result"),
            (json!({ "result": {} }), "function-result"),
            (json!({ "error": { "code": -32000, "message": "no money" } }), "no money"),
            (json!({ "error": { "code": -32601, "message": "method not found" } }), "method not found"),
        ] {
            let run = peer.send_run("calls", call("double", json!({ "n": 1 })));
            let asked = peer.wait_for_message(is_lent_call);
            respond(&mut peer, &asked, answer);
            let told = peer.wait_for_reply(run).text();
            assert!(told.contains(expected), "{told}");
        }
        // The host never hears of a call that is wrong, or of a function that it does not lend.
        for (name, params, code) in [
            ("double", json!({}), "parameters-missing"),
            ("absent", json!({}), "tool-not-found"),
            ("other", json!({}), "tools-not-granted"),
        ] {
            let told = peer.run("calls", call(name, params)["parameters"].clone()).text();
            assert!(told.contains(code), "{told}");
        }
        assert_eq!(peer.count(is_lent_call), 0);
        assert_eq!(peer.request("toolcell/functions", json!({ "functions": [] })).result()["functions"], json!([]));
        let told = peer.run("calls", call("double", json!({ "n": 1 }))["parameters"].clone()).text();
        assert!(told.contains("tool-not-found"), "{told}");
        for wrong in [
            json!({ "functions": [{ "name": "a b" }] }),
            json!({ "functions": [{ "name": "a" }, { "name": "A" }] }),
            json!({ "functions": [{ "name": "a", "parameters": { "n": { "type": "nothing" } } }] }),
            json!({ "functions": [{ "name": "a", "timeoutMs": 0 }] }),
            json!({ "functions": [{ "name": "a", "does": "b" }] }),
            json!({ "functions": (0..200).map(|n| json!({ "name": format!("f{n}") })).collect::<Vec<_>>() }),
        ] {
            peer.request("toolcell/functions", wrong).is_refused_with(INVALID_PARAMS);
        }
    }
}

#[test]
fn a_call_that_is_not_answered_is_cancelled_at_its_limit_and_with_its_run() {
    let home = BinaryFixture::new(LENT);
    let code = "const execute = async () => { try { return await tools.call('slow') } catch ({ message }) { return message } }";
    let create = |peer: &mut RawClient| {
        let tool = json!({ "name": "waits", "description": "Waits", "code": code, "capabilities": ["tools"], "replace": true });
        peer.call("create_tool", tool).done();
    };
    let is_cancelled = |message: &Value| message["method"] == "notifications/cancelled";

    let mut peer = home.start_stdio(&[]).in_session(host());
    create(&mut peer);
    lend(&mut peer, 50);
    let run = peer.send_run("waits", json!({}));
    let asked = peer.wait_for_message(is_lent_call);
    assert_eq!(peer.wait_for_message(is_cancelled)["params"]["requestId"], asked["id"]);
    let told = peer.wait_for_reply(run).text();
    assert!(told.contains("there was no answer within 50 ms"), "{told}");
    // An answer that comes too late changes nothing.
    respond(&mut peer, &asked, json!({ "result": { "value": 1 } }));

    lend(&mut peer, 60_000);
    let run = peer.send_run("waits", json!({}));
    let asked = peer.wait_for_message(is_lent_call);
    peer.notify("notifications/cancelled", json!({ "requestId": run }));
    assert_eq!(peer.wait_for_message(is_cancelled)["params"]["requestId"], asked["id"]);
    let run = peer.send_run("waits", json!({ "timeout_ms": 100 }));
    let asked = peer.wait_for_message(is_lent_call);
    assert_eq!(peer.wait_for_message(is_cancelled)["params"]["requestId"], asked["id"]);
    peer.wait_for_reply(run).fails("timeout");
    // The host goes away in the middle of a call: the run ends, and is recorded.
    peer.send_run("waits", json!({}));
    peer.wait_for_message(is_lent_call);
    peer.close_stdin();
    peer.drain();
    let lines = audit_lines(&home, "run_dynamic_tool");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn a_hook_after_a_run_sees_who_called() {
    let home = BinaryFixture::new("[[hooks]]\nname = 'sees'\ncommand = ['./sees.sh']\nwhen = ['after']\n");
    let script = home.path("sees.sh");
    std::fs::write(&script, "#!/bin/sh\ncat > \"$(dirname \"$0\")/seen\"\necho {}\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    let params = json!({
        "name": "run_dynamic_tool", "arguments": { "tool_name": "one" },
        "_meta": { "toolcell/caller": { "session": "s-1", "agent": "a-1", "call": "c-1" } },
    });
    peer.request("tools/call", params).returns(&json!(1));
    let event: Value = serde_json::from_str(&std::fs::read_to_string(home.path("seen")).unwrap()).unwrap();
    let seen = (&event["sessionId"], &event["agentId"], &event["toolCallId"]);
    assert_eq!(seen, (&json!("s-1"), &json!("a-1"), &json!("c-1")), "{event}");
}
