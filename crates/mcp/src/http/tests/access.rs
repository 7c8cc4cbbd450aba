//! Access control.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::http::authenticate::Authenticator;
use crate::http::problem::Refusal;
use crate::http::{HealthHooks, HttpConfig, TokenScope, TokenStore, serve};
use crate::in_flight::CallTracker;

use super::harness::{
    ALICE, BOB, METRICS, TestHandler, TestServer, bearer, call, get, initialize, post, two_principals, who_request,
};

#[tokio::test]
async fn without_tokens_everybody_is_local() {
    let served = TestServer::new(HttpConfig::default()).await;
    assert_eq!(served.ask(&who_request()).await.text(), "local");
}

#[tokio::test]
async fn a_token_says_who_calls() {
    let served = TestServer::new(two_principals()).await;
    for (token, name) in [(ALICE, "alice"), (BOB, "bob")] {
        let reply = served.ask(&call(&bearer(token), "who", &serde_json::json!({}))).await;
        assert_eq!(reply.text(), name);
    }
    let lower = format!("authorization: bearer {ALICE}\r\n");
    assert_eq!(served.ask(&call(&lower, "who", &serde_json::json!({}))).await.text(), "alice");
}

#[test]
fn a_host_token_is_a_second_token_of_its_principal() {
    const HOST: &str = "host-0123456789abcdef";
    let parse = |text: &str| TokenStore::parse(text);
    let alice = format!("[principals.alice]\ntoken = '{ALICE}'\n");
    let config = HttpConfig {
        tokens: parse(&format!("{alice}host_token = '{HOST}'\n[principals.bob]\ntoken = '{BOB}'\n")).unwrap(),
        ..HttpConfig::default()
    };
    let members = Authenticator::new(&config);
    let scope_of = |token: &str| {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
        let found = members.authenticate(&headers, IpAddr::from(Ipv4Addr::LOCALHOST));
        found.ok().map(|(access, scope)| (access.principal().to_string(), scope))
    };
    assert_eq!(scope_of(ALICE), Some(("alice".to_owned(), TokenScope::Client)));
    assert_eq!(scope_of(HOST), Some(("alice".to_owned(), TokenScope::Host)));
    assert_eq!(scope_of(BOB), Some(("bob".to_owned(), TokenScope::Client)));
    assert_eq!(scope_of(&HOST[1..]), None);

    let code_of = |more: &str| parse(&format!("{alice}{more}")).unwrap_err().code();
    for (more, code) in [
        (format!("host_token = '{ALICE}'\n"), "token-twice"),
        (format!("host_token_blake3 = '{}'\n", blake3::hash(ALICE.as_bytes()).to_hex()), "token-twice"),
        (format!("[principals.bob]\ntoken = '{BOB}'\nhost_token = '{ALICE}'\n"), "token-twice"),
        (format!("host_token = '{HOST}'\n[principals.bob]\ntoken = '{HOST}'\n"), "token-twice"),
        (format!("host_token = '{HOST}'\n[metrics]\ntoken = '{HOST}'\n"), "token-twice"),
        (format!("host_token = '{HOST}'\nhost_token_blake3 = '{}'\n", "0".repeat(64)), "bearers-invalid"),
        ("host_token = 'short'\n".to_owned(), "token-short"),
        ("host_token = true\n".to_owned(), "bearers-invalid"),
        ("host_token_blake3 = 'x'\n".to_owned(), "token-invalid"),
    ] {
        assert_eq!(code_of(&more), code, "{more}");
    }
    assert_eq!(
        parse(&format!("[principals.alice]\nhost_token = '{HOST}'\n")).unwrap_err().code(),
        "bearers-invalid",
        "a principal without a token of its clients"
    );
}

#[tokio::test]
async fn a_missing_and_a_wrong_token_differ_in_the_challenge_only() {
    let served = TestServer::new(two_principals()).await;
    let missing = served.ask(&who_request()).await;
    assert_eq!((missing.status, missing.code().as_str()), (401, "unauthorized"));
    assert_eq!(missing.headers["www-authenticate"], "Bearer realm=\"toolcell\"");
    let twice = bearer(ALICE) + &bearer(ALICE);
    for headers in [bearer("nobody-0123456789"), bearer(&ALICE[1..]), format!("Authorization: Bearer  {BOB}x\r\n")] {
        let wrong = served.ask(&call(&headers, "who", &serde_json::json!({}))).await;
        assert_eq!((wrong.status, &wrong.body), (401, &missing.body));
        assert_eq!(wrong.headers["www-authenticate"], "Bearer realm=\"toolcell\", error=\"invalid_token\"");
    }
    for headers in [twice, format!("Authorization: Basic {ALICE}\r\n"), "Authorization: Bearer \r\n".to_owned()] {
        let none = served.ask(&call(&headers, "who", &serde_json::json!({}))).await;
        assert_eq!((none.status, &none.body), (401, &missing.body));
        assert_eq!(none.headers["www-authenticate"], missing.headers["www-authenticate"]);
    }
    assert_eq!(served.ask(&get(&format!("/mcp?token={ALICE}"))).await.status, 401);
}

#[tokio::test]
async fn many_wrong_tokens_are_told_to_wait_and_a_right_one_is_let_in() {
    let served = TestServer::new(two_principals()).await;
    let mut client = served.client().await;
    for attempt in 0.. {
        client.send(&call(&bearer("guess-0123456789"), "who", &serde_json::json!({}))).await;
        let reply = client.reply().await;
        if reply.status == 401 {
            continue;
        }
        assert!(attempt >= 30);
        assert_eq!((reply.status, reply.code().as_str()), (429, "too-many-attempts"));
        assert!(matches!(reply.headers["retry-after"].as_str(), "1" | "2"));
        break;
    }
    assert_eq!(served.ask(&call(&bearer(ALICE), "who", &serde_json::json!({}))).await.text(), "alice");
}

#[tokio::test]
async fn wrong_tokens_of_many_addresses_are_remembered_up_to_a_bound() {
    let members = Authenticator::new(&two_principals());
    let wrong = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Bearer guess-0123456789"))]);
    let mut waits = 0;
    for address in 0..20_000_u32 {
        let peer = IpAddr::from(Ipv4Addr::from(0x0a00_0000 + address));
        waits += usize::from(matches!(members.authenticate(&wrong, peer), Err(Refusal::TooManyAttempts { .. })));
    }
    assert!(members.tracked_addresses() <= 4096, "{}", members.tracked_addresses());
    // Further addresses are counted together, and have to wait.
    assert!(waits > 10_000, "{waits}");
    let right = HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {ALICE}").parse().unwrap())]);
    assert!(members.authenticate(&right, IpAddr::from([10, 200, 0, 1])).is_ok());
}

#[tokio::test]
async fn a_principal_has_its_pace() {
    let text = format!(
        "[principals.alice]\ntoken = '{ALICE}'\nrequests_per_minute = 2\n[principals.bob]\ntoken_blake3 = '{}'",
        blake3::hash(BOB.as_bytes())
    );
    let bearers = TokenStore::parse(&text).unwrap();
    let served = TestServer::new(HttpConfig {
        tokens: bearers,
        requests_per_minute: NonZeroU32::new(3),
        ..HttpConfig::default()
    })
    .await;
    for (token, allowed) in [(ALICE, 2), (BOB, 3)] {
        let ask = call(&bearer(token), "who", &serde_json::json!({}));
        for _ in 0..allowed {
            assert_eq!(served.ask(&ask).await.status, 200);
        }
        let reply = served.ask(&ask).await;
        assert_eq!((reply.status, reply.code().as_str()), (429, "rate-limited"));
        assert_eq!(reply.json()["detail"], format!("more than {allowed} requests in a minute"));
        let wait: u32 = reply.headers["retry-after"].parse().unwrap();
        assert!((1..=60 / allowed).contains(&wait));
    }
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn nobody_listens_for_everybody_elsewhere() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = TestServer::new(HttpConfig::default()).await;
    let desk: TestHandler = served.handler();
    let error = serve(listener, desk, &HttpConfig::default(), &CallTracker::default(), async {}).await.unwrap_err();
    assert_eq!(error.code(), "http-open");
    for (config, code) in [
        (HttpConfig { allowed_hosts: vec!["a b".to_owned()], ..HttpConfig::default() }, "host-invalid"),
        (HttpConfig { allowed_origins: vec!["localhost".to_owned()], ..HttpConfig::default() }, "origin-invalid"),
    ] {
        assert_eq!(config.check("127.0.0.1:1".parse().unwrap()).unwrap_err().code(), code);
    }
    two_principals().check("0.0.0.0:1".parse().unwrap()).unwrap();
    let origins = ["https://app.example.com:443", "http://localhost:*", "null"].map(str::to_owned).to_vec();
    let config = HttpConfig {
        allowed_origins: origins,
        allowed_hosts: vec!["example.com:8443".to_owned()],
        ..HttpConfig::default()
    };
    config.check("[::1]:1".parse().unwrap()).unwrap();
}

#[tokio::test]
async fn another_name_of_the_host_is_answered_by_nothing() {
    let hosts = vec!["tools.example.com:8443".to_owned()];
    let served = TestServer::new(HttpConfig { allowed_hosts: hosts, ..HttpConfig::default() }).await;
    let ask = |host: &str, path: &str| format!("GET {path} HTTP/1.1\r\n{host}\r\n");
    for path in ["/healthz", "/readyz", "/metrics", "/mcp", "/", "/x"] {
        for host in ["evil.example", "localhost.evil.example", "user@localhost", "tools.example.com", "127.0.0.2"] {
            let reply = served.ask(&ask(&format!("Host: {host}\r\n"), path)).await;
            assert!(matches!(reply.code().as_str(), "host-refused" | "host-missing"), "{host} {path}");
        }
        for method in ["POST", "PUT", "TRACE"] {
            let reply = served.ask(&format!("{method} {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n")).await;
            assert_eq!((reply.code().as_str(), reply.headers.get("allow")), ("host-refused", None), "{method} {path}");
        }
        for none in ["", "Host: localhost\r\nHost: localhost\r\n"] {
            assert_eq!(served.ask(&ask(none, path)).await.code(), "host-missing");
        }
    }
    let target = "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(served.ask(target).await.code(), "host-refused");
    assert_eq!(served.ask(&target.replace("evil.example", "localhost")).await.status, 200);
    for host in ["localhost:1234", "LOCALHOST", "127.0.0.1:80", "[::1]:80", "tools.example.com:8443"] {
        assert_eq!(served.ask(&ask(&format!("Host: {host}\r\n"), "/healthz")).await.status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let origins = vec!["https://app.example.com:443".to_owned()];
    let served = TestServer::new(HttpConfig { allowed_origins: origins, ..HttpConfig::default() }).await;
    for origin in ["https://evil.example", "http://app.example.com", "null", "x"] {
        let reply = served.ask(&initialize(&format!("Origin: {origin}\r\n"))).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "origin-refused"), "{origin}");
    }
    assert_eq!(served.ask(&initialize("Origin: https://app.example.com\r\n")).await.status, 200);
    let served = TestServer::new(HttpConfig::default()).await;
    assert_eq!(served.ask(&initialize("Origin: http://localhost\r\n")).await.code(), "origin-refused");
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_ask_and_reads_every_answer() {
    let origins = vec!["https://app.example.com:443".to_owned()];
    let served = TestServer::new(HttpConfig { allowed_origins: origins, ..two_principals() }).await;
    let origin = "Origin: https://app.example.com\r\n";
    let preflight =
        format!("OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\n{origin}Access-Control-Request-Method: POST\r\n\r\n");
    let reply = served.ask(&preflight).await;
    assert_eq!((reply.status, reply.headers["cache-control"].as_str()), (204, "no-store"));
    assert!(!reply.headers.contains_key("content-length") && !reply.headers.contains_key("content-type"), "{reply:?}");
    assert_eq!(reply.headers["access-control-allow-origin"], "https://app.example.com");
    let refused = served.ask(&initialize(origin)).await;
    assert_eq!((refused.status, refused.code().as_str()), (401, "unauthorized"));
    assert_eq!((refused.headers["vary"].as_str(), refused.json()["status"].as_u64()), ("origin", Some(401)));
    assert_eq!(refused.headers["access-control-allow-origin"], "https://app.example.com");
    let elsewhere = served.ask(&preflight.replace("app.example.com", "evil.example.com")).await;
    assert_eq!((elsewhere.status, elsewhere.headers.contains_key("vary")), (401, false));
}

#[tokio::test]
async fn how_the_server_is_can_be_asked() {
    let probes = HealthHooks::default()
        .with_ready(|| Err("the store is read-only".to_owned()))
        .with_metrics(|| "a 1\n".to_owned());
    let served = TestServer::new(HttpConfig { health: probes, ..two_principals() }).await;
    assert_eq!(served.ask(&get("/healthz")).await.body, "ok\n");
    let reply = served.ask(&get("/readyz")).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "not-ready"));
    assert_eq!(reply.json()["detail"], "the server is not ready: the store is read-only");
    assert_eq!(served.ask(&get("/metrics")).await.status, 401);
    let metrics = |token: &str| format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{}\r\n", bearer(token));
    let reply = served.ask(&metrics(BOB)).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "metrics-forbidden"));
    let reply = served.ask(&metrics(METRICS)).await;
    assert_eq!(
        (reply.body.as_str(), reply.headers["content-type"].as_str()),
        ("a 1\n", "text/plain; version=0.0.4; charset=utf-8")
    );
    assert!(served.ask(&get("/")).await.body.contains("/mcp"));
    assert_eq!(served.ask(&get("/nothing")).await.code(), "not-found");
    let reply = served.ask("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(
        (reply.status, reply.code().as_str(), reply.headers["allow"].as_str()),
        (405, "method-not-allowed", "GET, HEAD")
    );
    let mut client = served.client().await;
    client.send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let head = client.head().await;
    assert_eq!((head.status, head.headers["content-length"].as_str()), (200, "3"));
    client.send(&get("/healthz")).await;
    assert_eq!(client.reply().await.body, "ok\n");
}

#[tokio::test]
async fn what_the_library_refuses_in_words_has_a_code() {
    let served = TestServer::new(HttpConfig::default()).await;
    let plain = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n";
    for (request, status, code) in [
        (format!("{plain}\r\n{{}}"), 406, "not-acceptable"),
        (format!("{plain}Accept: application/json, text/event-stream\r\n\r\n{{}}"), 415, "content-type"),
        (post("", "not json"), 400, "body-invalid"),
        (post("", r#"{"jsonrpc":"2.0","id":1,"method":7}"#), 400, "body-invalid"),
        (post("", "{}"), 400, "body-invalid"),
        (post("Mcp-Session-Id: x\r\n", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), 404, "session-unknown"),
        (post("", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), 400, "request-invalid"),
        ("PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".to_owned(), 405, "method-not-allowed"),
    ] {
        let reply = served.ask(&request).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{request}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_answered_with_a_parse_error() {
    let served = TestServer::new(HttpConfig::default()).await;
    for (body, code, id) in [
        ("not json", -32_700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud83d"}}"#, -32_700, json!(7)),
        (r#"{"jsonrpc":"2.0","id":"x","method":7}"#, -32_600, json!("x")),
        ("[]", -32_600, Value::Null),
    ] {
        let reply = served.ask(&post("", body)).await;
        let error = reply.json();
        assert_eq!((reply.status, &error["error"]["code"], &error["id"]), (400, &json!(code), &id), "{error}");
        assert_eq!((&error["jsonrpc"], &error["code"]), (&json!("2.0"), &json!("body-invalid")), "{error}");
    }
}

fn refused(text: &str) -> (&'static str, String) {
    let error = TokenStore::parse(text).unwrap_err();
    (error.code().as_str(), error.to_string())
}

#[test]
fn tokens_that_protect_nothing_are_refused_and_never_shown() {
    let token = "t0ken-t0ken-t0ken";
    for (text, code, message) in [
        ("", "bearers-invalid", "no principal is configured, so no client could connect"),
        ("x = 1", "bearers-invalid", "`x` is not a known key; the keys are `principals`, `operators` and `metrics`"),
        ("principals = 't0ken-t0ken-t0ken'", "bearers-invalid", "`principals` is not a table"),
        (
            "[principals]\na = 't0ken-t0ken-t0ken'",
            "bearers-invalid",
            "`principals.a` is not a table with `token` or `token_blake3`",
        ),
        ("[principals.a]\ntoken = 't0ken-t0ken-t0ken", "bearers-invalid", "line 2 is not valid TOML"),
        ("[principals.a]\ntoken = 'short'", "token-short", "the token of `a` is 5 bytes, the minimum is 16"),
        (
            "[principals.a]\ntoken_blake3 = 't0ken-t0ken-t0ken'",
            "token-invalid",
            "the `token_blake3` of `a` is not 64 hex digits",
        ),
        (
            "metrics = 't0ken-t0ken-t0ken'\n[principals.a]\ntoken = 'other-other-other'",
            "bearers-invalid",
            "`metrics` is not a table with one of `token` and `token_blake3`",
        ),
        (
            "[metrics]\ntoken = 'short'\n[principals.a]\ntoken = 'other-other-other'",
            "token-short",
            "the token of `metrics` is 5 bytes, the minimum is 16",
        ),
        (
            "[metrics]\nx = 't0ken-t0ken-t0ken'\n[principals.a]\ntoken = 'other-other-other'",
            "bearers-invalid",
            "`metrics.x` is not a known key; the keys are `token` and `token_blake3`",
        ),
        (
            "[principals.a]\nconcurrent = 't0ken-t0ken-t0ken'",
            "bearers-invalid",
            "`principals.a.concurrent` is not a number",
        ),
    ] {
        let (found, said) = refused(text);
        assert!(!said.contains(token), "{said}");
        if !said.contains("table with one of") {
            assert_eq!((found, said.as_str()), (code, message));
        }
    }
    let (code, _) = refused(&format!("[principals.a]\ntoken = '{token} x'"));
    assert_eq!(code, "token-invalid");
    let hash = blake3::hash(token.as_bytes());
    let (code, said) = refused(&format!("[principals.a]\ntoken = '{token}'\n[principals.b]\ntoken_blake3 = '{hash}'"));
    assert_eq!((code, said.as_str()), ("token-twice", "`a` and `b` have the same token"));
    let (code, said) = refused(&format!("[principals.a]\ntoken = '{token}'\n[metrics]\ntoken_blake3 = '{hash}'"));
    assert_eq!((code, said.as_str()), ("token-twice", "`a` and `metrics` have the same token"));
    let operator = format!("[operators.a]\ntoken_blake3 = '{hash}'\nprincipals = ['a']\n");
    let (code, said) = refused(&format!("[principals.a]\ntoken = '{token}'\n{operator}"));
    assert_eq!((code, said.as_str()), ("token-twice", "`a` and `operators.a` have the same token"));
    let (code, _) = refused(&format!("[principals.'../x']\ntoken = '{token}'"));
    assert_eq!(code, "principal-invalid");
    let single = TokenStore::single(token).unwrap();
    assert!(!format!("{single:?}").contains(token) && !format!("{single:?}").contains(&*hash.to_hex()));
}

#[test]
fn shares_are_read() {
    let text = "[principals.a]\ntoken = '0123456789abcdef'\nrequests_per_minute = 60\nconcurrent = 2";
    let bearers = TokenStore::parse(text).unwrap();
    let (principal, share) = bearers.principals().next().unwrap();
    assert_eq!(
        (principal.as_str(), share.requests_per_minute, share.concurrent_runs),
        ("a", NonZeroU32::new(60), NonZeroU32::new(2))
    );
}
