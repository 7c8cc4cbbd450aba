//! Principals over HTTP: authentication, separate stores, and shares of the machine.

use serde_json::{Value, json};

use super::BEGINS;
use super::raw_client::RawClient;
use super::raw_http::WebServer;
use super::server::{BinaryFixture, poll};

pub(super) fn client_of(web: &WebServer, name: &str) -> RawClient {
    web.client_with_token(&BinaryFixture::token(name))
}

fn bearer(name: &str) -> String {
    format!("Authorization: Bearer {}\r\n", BinaryFixture::token(name))
}

#[test]
fn metrics_are_shown_to_their_own_token_and_to_no_tenant() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    client_of(&web, "alice").stateless(json!({})).create_tool("one", "const execute = () => 1");
    let code = |headers: &str| {
        let (status, body) = web.get("/metrics", headers);
        (status, serde_json::from_str(&body).map_or(Value::Null, |problem: Value| problem["code"].clone()))
    };
    assert_eq!(code(&bearer("alice")), (403, json!("metrics-forbidden")));
    assert_eq!(code(""), (401, json!("unauthorized")));
    assert_eq!(code(&bearer("mallory")), (401, json!("unauthorized")));
    let (status, page) = web.get("/metrics", &bearer("metrics"));
    assert!(status == 200 && page.contains("toolcell_requests_total"), "{status} {page}");
    // The metrics token is not valid for other endpoints.
    let mut peer = client_of(&web, "metrics");
    peer.send_request("tools/list", json!({}));
    assert_eq!(peer.http_error().0, 401);
}

#[test]
fn the_token_of_metrics_comes_from_the_environment_as_well() {
    let home = BinaryFixture::new("");
    let web = home.start_http_with_env(&[], &[("TOOLCELL_METRICS_TOKEN", "metrics-metrics-metrics")]);
    web.client().stateless(json!({})).call("list_dynamic_tools", json!({})).done();
    assert_eq!(web.get("/metrics", "").0, 401);
    assert_eq!(web.get("/metrics", "Authorization: Bearer metrics-metrics-metrics\r\n").0, 200);
    let response = |words: &[&str], token: &str| {
        let output =
            home.run_with_env(&[&["mcp", "--http", "0"], words].concat(), &[("TOOLCELL_METRICS_TOKEN", token)]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, errors) = response(&[], "short");
    assert!(
        status == Some(2) && errors.contains("TOOLCELL_METRICS_TOKEN") && errors.contains("the minimum is 16"),
        "{errors}"
    );
    let tokens = home.write_tokens(&["alice"], "");
    let (status, errors) = response(&["--tokens", &tokens], "metrics-metrics-metrics");
    assert!(status == Some(2) && errors.contains("[metrics]"), "{errors}");
}

#[test]
fn each_principal_has_a_store_of_its_own() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let (mut alice, mut bob) =
        (client_of(&web, "alice").in_session(json!({})), client_of(&web, "bob").stateless(json!({})));
    let id = alice.create_tool("secret", "const execute = () => 'hers'")["id"].as_str().unwrap().to_owned();
    alice.run("secret", json!({})).returns(&json!("hers"));
    assert_eq!(bob.call("list_dynamic_tools", json!({})).response()["total"], 0);
    bob.run("secret", json!({})).fails("tool-not-found");
    bob.call("run_dynamic_tool", json!({ "tool_id": id })).fails("tool-not-found");
    let uri = format!("toolcell://tools/{id}/source");
    assert_eq!(bob.request("resources/read", json!({ "uri": uri })).is_refused_with(-32_602), "resource-not-found");
    bob.create_tool("secret", "const execute = () => 'his'");
    alice.run("secret", json!({})).returns(&json!("hers"));
    let names = |lines: Vec<Value>| lines.iter().filter(|line| line["action"] == "create_tool").count();
    assert_eq!(
        [
            names(home.principal_audit_lines("alice")),
            names(home.principal_audit_lines("bob")),
            home.audit_lines().len()
        ],
        [1, 1, 0]
    );
}

#[test]
fn a_session_is_nobody_elses() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let mut alice = client_of(&web, "alice").in_session(json!({}));
    let mut bob = client_of(&web, "bob").in_session(json!({}));
    let hers = alice.session().clone();
    let his = std::mem::replace(bob.session(), hers);
    bob.send_request("tools/list", json!({}));
    let (status, problem) = bob.http_error();
    assert_eq!((status, &problem["code"]), (404, &json!("session-unknown")), "{problem}");
    alice.request("tools/list", json!({})).result();
    *bob.session() = his;
    bob.request("tools/list", json!({})).result();
}

#[test]
fn nobody_comes_in_without_a_token_of_the_file() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let wrong = BinaryFixture::token("mallory");
    let prefix = &BinaryFixture::token("alice")[1..];
    for mut peer in [
        web.client(),
        web.client_with_token(&wrong),
        web.client_with_token(prefix),
        web.client_with_headers("Authorization: Basic YTpi\r\n"),
    ] {
        peer.send_request("tools/list", json!({}));
        let (status, problem) = peer.http_error();
        assert_eq!((status, &problem["code"]), (401, &json!("unauthorized")), "{problem}");
        assert!(!problem.to_string().contains(&wrong) && !problem.to_string().contains(prefix));
    }
    assert_eq!(web.get("/metrics", "").0, 401);
    for page in ["/healthz", "/readyz"] {
        assert_eq!(web.get(page, "").0, 200, "{page}");
    }
}

#[test]
fn the_file_of_tokens_is_read_through_no_grant() {
    let granting = |home: &BinaryFixture, folder: &str| {
        let (folder, policy) = (home.path(folder), home.path("policy.toml"));
        let policy_text = format!(
            "[approval]\nmode = 'auto'\n[[grants.tools.read.files]]\nname = 'conf'\npath = '{}'\naccess = 'read'\n",
            folder.display()
        );
        std::fs::write(policy, policy_text).unwrap();
    };
    let home = BinaryFixture::new("");
    std::fs::create_dir(home.path("granted")).unwrap();
    let tokens = home.write_tokens(&["alice"], "");
    std::fs::create_dir(home.path("conf")).unwrap();
    std::fs::rename(&tokens, home.path("conf/tokens.toml")).unwrap();
    let tokens = home.path("conf/tokens.toml").to_str().unwrap().to_owned();
    granting(&home, "conf");
    let output = home.run(&["mcp", "--http", "127.0.0.1:0", "--tokens", &tokens]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && errors.contains("the token file"), "{errors}");
    // Other names of the token file are denied as well.
    granting(&home, "granted");
    std::fs::hard_link(&tokens, home.path("granted/notes.txt")).unwrap();
    std::os::unix::fs::symlink(&tokens, home.path("granted/link.txt")).unwrap();
    std::fs::write(home.path("granted/open.txt"), "open").unwrap();
    let web = home.start_http(&["--tokens", &tokens]);
    let mut peer = client_of(&web, "alice").stateless(json!({}));
    let source = "const execute = async ({ name }) => files.readText('conf/' + name)";
    let draft = json!({ "name": "read", "description": "Reads", "code": source, "capabilities": ["files"] });
    peer.call("create_tool", draft).done();
    peer.run("read", json!({ "name": "open.txt" })).returns(&json!("open"));
    for name in ["notes.txt", "link.txt"] {
        let reply = peer.run("read", json!({ "name": name }));
        let response = reply.message.to_string();
        assert!(
            response.contains("\"isError\":true") && !response.contains(&BinaryFixture::token("alice")),
            "{name}: {response}"
        );
    }
}

#[test]
fn a_body_of_100_mb_is_refused_and_the_server_goes_on() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&[]);
    let head = |how: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{how}\r\n\r\n",
            web.address
        )
    };
    // One request only announces the length and then waits; the others send the whole body.
    let response = head("Content-Length: 100000000");
    let sent = [response.as_bytes(), &b"x".repeat(100_000_000)].concat();
    let chunk = [&b"100000\r\n"[..], &b"x".repeat(1 << 20), b"\r\n"].concat();
    let chunked = [head("Transfer-Encoding: chunked").as_bytes(), &chunk.repeat(96)].concat();
    for request in [response.into_bytes(), sent, chunked] {
        let (status, body) = web.send_raw(request);
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &problem["code"]), (413, &json!("body-too-large")), "{problem}");
    }
    web.client().stateless(json!({})).call("list_dynamic_tools", json!({})).done();
}

#[test]
fn a_page_of_elsewhere_does_not_come_in() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&["--allow-host", "tools.example.com", "--allow-origin", "https://app.example.com:443"]);
    let page =
        |host: &str| web.send_raw(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).0;
    for (host, status) in [
        (web.address.as_str(), 200),
        ("localhost", 200),
        ("tools.example.com", 200),
        ("evil.example.com", 403),
        ("127.0.0.1.evil.example.com", 403),
        ("tools.example.com.evil.com", 403),
        ("169.254.169.254", 403),
    ] {
        assert_eq!(page(host), status, "{host}");
    }
    for origin in ["https://evil.example.com", "http://127.0.0.1.evil.com", "null"] {
        let mut peer = web.client_with_headers(&format!("Origin: {origin}\r\n"));
        peer.send_request("tools/list", json!({}));
        let (status, problem) = peer.http_error();
        assert_eq!((status, &problem["code"]), (403, &json!("origin-refused")), "{origin}: {problem}");
    }
    for origin in ["https://app.example.com:443", "https://app.example.com", &format!("http://{}", web.address)] {
        let mut peer = web.client_with_headers(&format!("Origin: {origin}\r\n")).stateless(json!({}));
        peer.request("tools/list", json!({})).result();
    }
}

#[test]
fn a_server_says_how_it_is() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&[]);
    assert_eq!(web.get("/healthz", ""), (200, "ok\n".to_owned()));
    assert_eq!(web.get("/readyz", ""), (200, "ready\n".to_owned()));
    assert_eq!(web.get("/nothing", "").0, 404);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    for _ in 0..3 {
        peer.run("one", json!({})).returns(&json!(1));
    }
    peer.run("two", json!({})).fails("tool-not-found");
    let (_, metrics) = web.get("/metrics", "");
    let counts = |operation: &str, outcome: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with("toolcell_requests_total{"));
        let like =
            lines.filter(|line| line.contains(&format!("\"{operation}\"")) && line.contains(&format!("\"{outcome}\"")));
        like.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    assert_eq!(counts("create_tool", "ok"), 1, "{metrics}");
    assert_eq!(counts("run_dynamic_tool", "ok"), 3, "{metrics}");
    assert_eq!(counts("run_dynamic_tool", "tool-not-found"), 1, "{metrics}");
    assert_eq!(web.metric("toolcell_requests_under_way"), 0);
}

/// The cost in time is measured by a benchmark.
#[test]
fn a_hundred_endless_runs_of_one_principal_hold_up_nobody_else() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "concurrent = 2");
    let web = home.start_http(&["--tokens", &tokens]);
    let (mut alice, mut bob) =
        (client_of(&web, "alice").stateless(json!({})), client_of(&web, "bob").stateless(json!({})));
    alice.create_tool("begins", BEGINS);
    bob.create_tool("small", "const execute = ({ n }) => n + 1");
    let arguments = json!({ "tool_name": "begins", "timeout_ms": 600_000 });
    let began =
        |message: &Value| message["method"] == "notifications/progress" && message["params"]["message"] == "began";
    let runs: Vec<u64> = (0..100)
        .map(|n| {
            let meta = json!({ "progressToken": n });
            let params = json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": meta });
            alice.send_request("tools/call", params)
        })
        .collect();
    for _ in 0..2 {
        alice.wait_for_message(began);
    }
    let bearer = bearer("metrics");
    let under_way = || {
        let (_, metrics) = web.get("/metrics", &bearer);
        metrics.lines().find_map(|line| line.strip_prefix("toolcell_requests_under_way ")?.parse::<u64>().ok()).unwrap()
    };
    assert!(poll(|| (under_way() == 100).then_some(())).is_some(), "{}", under_way());
    for n in 0..30 {
        bob.run("small", json!({ "n": n })).returns(&json!(n + 1));
    }
    // None of Alice's runs has ended, and at most two have started.
    assert_eq!(under_way(), 100);
    let ended =
        home.principal_audit_lines("alice").into_iter().filter(|line| line["action"] == "run_dynamic_tool").count();
    assert_eq!((ended, alice.count(began)), (0, 0));
    // Disconnecting makes room, and runs that never started are recorded too.
    for run in &runs {
        alice.disconnect(*run);
    }
    let cancelled =
        || home.principal_audit_lines("alice").into_iter().filter(|line| line["error"] == "cancelled").count();
    assert!(poll(|| (cancelled() == 100).then_some(())).is_some(), "{}", cancelled());
}

#[test]
fn more_runs_than_may_wait_are_refused_and_recorded() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&["--share", "1"]);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("begins", BEGINS);
    let runs: Vec<u64> = (0..257).map(|_| peer.send_run("begins", json!({ "timeout_ms": 600_000 }))).collect();
    let under_way = || web.metric("toolcell_requests_under_way");
    assert!(poll(|| (under_way() == 257).then_some(())).is_some(), "{}", under_way());
    peer.run("begins", json!({})).fails("busy");
    home.wait_for_failure("begins", "busy");
    for run in runs {
        peer.disconnect(run);
    }
    assert!(poll(|| (under_way() == 0).then_some(())).is_some(), "{}", under_way());
}
