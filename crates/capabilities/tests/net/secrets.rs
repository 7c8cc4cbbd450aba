//! Secrets that go out, and do not come back.

mod echoes;

use data_encoding::BASE64;
use serde_json::{Value, json};
use toolcell_capabilities::{Effects, NetSession, NetSessionConfig, Redirect, Request, Secret};

use crate::world::{Names, Server, answer, failure, get, granting, head, header, lead, net, post, run, start, text};

/// With characters in it that each way to write it treats in its own way.
pub(crate) const VALUE: &str = "s3cr \"t/%+&=<\u{f6}>~'x";

fn grant(hosts: &[&str], into: &[&str]) -> (Value, &'static str) {
    (json!({"name": "TOKEN", "hosts": hosts, "into": into}), VALUE)
}

const EVERYWHERE: &[&str] = &["header", "query", "body"];

#[tokio::test]
async fn a_value_stands_where_its_placeholder_stood() {
    let server = Server::start(|_| answer("")).await;
    let secret = (json!({"name": "PLAIN", "hosts": ["a.test"]}), "Plain-Value");
    let run = start(
        &net(Names::local(&["a.test"])),
        &[granting("a.test", server.port)],
        &[grant(&["a.test"], EVERYWHERE), secret],
    );
    let url = format!("http://a.test:{}/", server.port);
    let encoded = "s3cr%20%22t%2F%25%2B%26%3D%3C%C3%B6%3E~%27x";

    text(&run, header("authorization", "Bearer {{secret:PLAIN}}, {{secret:PLAIN}}", get(&url))).await;
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer Plain-Value, Plain-Value"));
    text(&run, header("x-key", "{{secret:TOKEN}}", get(&url))).await;
    assert_eq!(server.seen()[1].headers["x-key"].as_bytes(), VALUE.as_bytes());

    // A user and a password are packed before they are handed over.
    let packed = BASE64.encode(b"user:{{secret:PLAIN}}");
    text(&run, header("authorization", &format!("basic {packed}"), get(&url))).await;
    let sent = format!("Basic {}", BASE64.encode(b"user:Plain-Value"));
    assert_eq!(server.seen()[2].header("authorization"), Some(sent.as_str()));

    for query in
        ["?k={{secret:TOKEN}}&b=%20", "?k=%7B%7Bsecret%3ATOKEN%7D%7D&b=%20", "?k=%7b%7bsecret:TOKEN%7d%7d&b=%20"]
    {
        let (response, _) = text(&run, get(&format!("{url}{query}#part"))).await;
        assert_eq!(server.seen().last().unwrap().target, format!("/?k={encoded}&b=%20"));
        // The tool gets the URL that it asked for.
        assert_eq!(response.url, format!("{url}{query}"));
    }
    for (kind, body, expect) in [
        ("application/json", r#"{"k":"{{secret:TOKEN}}"}"#, format!("{{\"k\":{}}}", Value::from(VALUE))),
        ("application/problem+json; charset=utf-8", r#""{{secret:TOKEN}}""#, Value::from(VALUE).to_string()),
        (
            "application/x-www-form-urlencoded;charset=UTF-8",
            "a=1&k=%7B%7Bsecret%3ATOKEN%7D%7D",
            format!("a=1&k={encoded}"),
        ),
        ("application/x-www-form-urlencoded", "k={{secret:TOKEN}}", format!("k={encoded}")),
        (
            "text/plain",
            "<{{secret:TOKEN}}> %7B%7Bsecret%3ATOKEN%7D%7D",
            format!("<{VALUE}> %7B%7Bsecret%3ATOKEN%7D%7D"),
        ),
        ("x", "{{secret:1}} {{secret:}} {{secret}} {{{{", "{{secret:1}} {{secret:}} {{secret}} {{{{".to_owned()),
    ] {
        text(&run, header("content-type", kind, post(&url, body))).await;
        let seen = server.seen();
        assert_eq!(seen.last().unwrap().body, expect, "{kind}");
        assert_eq!(seen.last().unwrap().header("content-length"), Some(expect.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_secret_goes_nowhere_that_its_grant_does_not_name() {
    let server = Server::start(|_| answer("never")).await;
    let url = format!("http://a.test:{}/", server.port);
    let placed = "{{secret:TOKEN}}";
    let in_header = header("x-key", placed, get(&url));
    let in_query = get(&format!("{url}?k=%7B%7Bsecret%3ATOKEN%7D%7D"));
    let in_body = post(&url, placed);
    let (hosts, header_only) = (&["a.test"][..], &["header"][..]);
    let cases: [(_, Request, _, &str); 12] = [
        (
            grant(hosts, &["query", "body"]),
            in_header.clone(),
            "secret-misplaced",
            "`into = [\"header\", \"query\", \"body\"]`",
        ),
        (grant(hosts, header_only), in_query.clone(), "secret-misplaced", "`into = [\"header\", \"query\"]`"),
        (grant(hosts, header_only), in_body.clone(), "secret-misplaced", "may not be in the body"),
        (grant(&["*.a.test"], EVERYWHERE), in_header, "secret-not-granted", "`\"a.test\"` in the `hosts`"),
        (grant(&["b.test"], EVERYWHERE), in_query, "secret-not-granted", "may not be sent to `a.test`"),
        (grant(&["b.test"], EVERYWHERE), in_body, "secret-not-granted", "may not be sent to `a.test`"),
        (
            grant(hosts, EVERYWHERE),
            header("authorization", "Basic e3tzZWNyZXQ6T1RIRVJ9fQ==", get(&url)),
            "secret-not-granted",
            "`OTHER` is not granted",
        ),
        (
            grant(hosts, EVERYWHERE),
            header("x", "{{secret:token}}", get(&url)),
            "secret-not-granted",
            "`token` is not granted",
        ),
        (grant(hosts, EVERYWHERE), get(&format!("{url}{placed}")), "secret-misplaced", "in the path"),
        (grant(hosts, EVERYWHERE), get(&format!("{url}%7B%7Bsecret%3ATOKEN%7D%7D")), "secret-misplaced", "in the path"),
        (grant(hosts, EVERYWHERE), get(&format!("{url}#{placed}")), "secret-misplaced", "in the fragment"),
        (grant(hosts, EVERYWHERE), get(&format!("http://{placed}@a.test/")), "net-url", "a user name or a password"),
    ];
    for (secret, request, code, expect) in cases {
        let run = start(&net(Names::local(&["a.test"])), &[granting("a.test", server.port)], &[secret]);
        let failure = failure(&run, request).await;
        assert_eq!((&*failure.code, &*failure.name, failure.effects), (code, "TypeError", Effects::None), "{failure}");
        assert!(failure.message.contains(expect), "{failure}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_placeholder_from_a_server_is_only_text() {
    let server = Server::start(|seen| match seen.target.as_str() {
        "/to" => lead(302, "/end?k={{secret:TOKEN}}&l=%7B%7Bsecret%3ATOKEN%7D%7D"),
        _ => answer("{{secret:TOKEN}}"),
    });
    let server = server.await;
    let grants = [granting("a.test", server.port)];
    let run = start(&net(Names::local(&["a.test"])), &grants, &[grant(&["a.test"], EVERYWHERE)]);
    let (_, body) = text(&run, get(&format!("http://a.test:{}/to", server.port))).await;
    assert_eq!(body, "{{secret:TOKEN}}");
    assert_eq!(server.seen()[1].target, "/end?k={{secret:TOKEN}}&l=%7B%7Bsecret%3ATOKEN%7D%7D");
}

#[tokio::test]
async fn a_request_that_carried_a_secret_is_not_followed_to_another_origin() {
    let end = Server::start(|_| answer("never")).await;
    let port = end.port;
    let server = Server::start(move |seen| match seen.target.split('?').next().unwrap() {
        "/same" => lead(307, "/out"),
        "/see" => lead(303, "/out"),
        "/broken" => lead(302, "http://[::1"),
        _ => lead(307, &format!("http://b.test:{port}/?k=what-nobody-recognises")),
    });
    let server = server.await;
    let grants = [granting("a.test", server.port), granting("b.test", end.port)];
    // Also where the other host may have the secret: the redirecting server chooses what arrives.
    let run = start(&net(Names::local(&["a.test", "b.test"])), &grants, &[grant(&["a.test", "b.test"], EVERYWHERE)]);
    let url = |path: &str| format!("http://a.test:{}{path}", server.port);
    let placed = "{{secret:TOKEN}}";
    let packed = BASE64.encode(b"user:{{secret:TOKEN}}");
    for (request, status) in [
        (header("x-key", placed, get(&url("/out"))), 307),
        (header("authorization", &format!("Basic {packed}"), get(&url("/out"))), 307),
        (get(&url(&format!("/out?k={placed}"))), 307),
        (post(&url("/out"), placed), 307),
        // The second request of the chain carries none, and leads away from an origin that has it.
        (post(&url("/see"), placed), 307),
        (header("x-key", placed, get(&url("/same"))), 307),
        (header("x-key", placed, get(&url("/broken"))), 302),
    ] {
        for redirect in [Redirect::Follow, Redirect::Manual] {
            if redirect == Redirect::Manual && !request.url.contains("/out") {
                continue;
            }
            let (response, _) = text(&run, Request { redirect, ..request.clone() }).await;
            assert_eq!(response.status, status, "{request:?}");
            assert!(response.headers.iter().all(|(name, value)| name != "location" && !value.contains("b.test")));
        }
        let refused = failure(&run, Request { redirect: Redirect::Error, ..request }).await;
        assert_eq!((&*refused.code, refused.effects), ("net-redirect", Effects::Committed));
    }
    assert_eq!(end.connections(), 0);
    // One that carried none is followed.
    assert_eq!(text(&run, header("x-plain", "1", get(&url("/out")))).await.1, "never");
    // So is one to the same origin, with the secret.
    let same = Server::start(|seen| if seen.target == "/end" { answer("end") } else { lead(307, "/end") }).await;
    let run =
        start(&net(Names::local(&["a.test"])), &[granting("a.test", same.port)], &[grant(&["a.test"], EVERYWHERE)]);
    let request = header("x-key", placed, get(&format!("http://a.test:{}/", same.port)));
    assert_eq!(text(&run, request).await.1, "end");
    assert_eq!(same.seen()[1].headers["x-key"].as_bytes(), VALUE.as_bytes());
}

#[tokio::test]
async fn a_url_to_which_a_server_leads_is_shown_without_values() {
    let server = Server::start(|seen| match seen.target.strip_prefix("/to?k=") {
        Some(value) => lead(302, &format!("/end?session={value}&k=1")),
        None => answer(""),
    });
    let server = server.await;
    let grants = [granting("a.test", server.port)];
    let run = start(&net(Names::local(&["a.test"])), &grants, &[grant(&["a.test"], EVERYWHERE)]);
    let url = format!("http://a.test:{}", server.port);
    let (response, _) = text(&run, get(&format!("{url}/to?k={{{{secret:TOKEN}}}}"))).await;
    assert_eq!(response.url, format!("{url}/end?session={{{{secret:TOKEN}}}}&k=1"));
    assert!(server.seen()[1].target.starts_with("/end?session=s3cr%20%22t"), "{:?}", server.seen());
}

#[tokio::test]
async fn a_server_cannot_lead_a_value_to_another_host() {
    let end = Server::start(|_| answer("never")).await;
    let port = end.port;
    let server = Server::start(move |seen| {
        let value = "Top-Secret-1";
        lead(
            302,
            &match seen.target.as_str() {
                "/query" => format!("http://b.test:{port}/?k={value}"),
                "/base64" => {
                    format!("http://b.test:{port}/{}", data_encoding::BASE64URL_NOPAD.encode(value.as_bytes()))
                }
                "/twice" => format!("http://b.test:{port}/%2554op%252dSecret-1"),
                _ => format!("http://{value}.b.test:{port}/"),
            },
        )
    });
    let server = server.await;
    let secret = (json!({"name": "TOKEN", "hosts": ["a.test"]}), "Top-Secret-1");
    let grants = [granting("a.test", server.port), granting("b.test", port), granting("*.b.test", port)];
    let run = start(&net(Names::local(&["a.test", "b.test"])), &grants, &[secret]);
    for path in ["query", "base64", "twice", "host"] {
        let url = format!("http://a.test:{}/{path}", server.port);
        // A server that was sent it may remember it: one that was led away without carrying it is searched.
        let failure = failure(&run, get(&url)).await;
        assert_eq!((&*failure.code, failure.effects), ("secret-not-granted", Effects::Committed));
        assert!(!failure.message.to_lowercase().contains("top-secret-1"), "{failure}");
        let (response, _) = text(&run, header("x-key", "{{secret:TOKEN}}", get(&url))).await;
        assert_eq!((response.status, crate::world::value(&response, "location")), (302, None));
    }
    assert_eq!(end.connections(), 0);
}

/// A run of another tool, of which one may send the secret to a host.
fn other(port: u16, hosts: &[&str]) -> NetSession {
    let (grant, value) = grant(hosts, &["header"]);
    let secret = (serde_json::from_value(grant).unwrap(), Secret::parse(value.to_owned()).unwrap());
    let grants = ["a.test", "b.test"].map(|host| serde_json::from_value(granting(host, port)).unwrap()).to_vec();
    let run = NetSessionConfig { grants, other_secrets: vec![secret], ..run("other") };
    net(Names::local(&["a.test", "b.test"])).start(run)
}

#[tokio::test]
async fn answers_are_searched_for_the_secrets_that_other_tools_send_to_their_host() {
    let server = Server::start(|_| answer(format!("<{VALUE}>"))).await;
    let url = |host: &str| format!("http://{host}:{}/", server.port);
    let run = other(server.port, &["a.test"]);
    assert_eq!(text(&run, get(&url("a.test"))).await.1, "<{{secret:TOKEN}}>");
    assert_eq!(text(&run, get(&url("b.test"))).await.1, format!("<{VALUE}>"));
    assert_eq!(text(&other(server.port, &["any"]), get(&url("b.test"))).await.1, "<{{secret:TOKEN}}>");
    // It is not its own.
    let refused = failure(&run, header("x-key", "{{secret:TOKEN}}", get(&url("a.test")))).await;
    assert_eq!(&*refused.code, "secret-not-granted");
}

#[tokio::test]
async fn no_part_of_an_answer_is_asked_for_where_a_secret_is_held() {
    let server = Server::start(|seen| {
        let bytes = VALUE.as_bytes();
        let mut part = answer(bytes[..5].to_vec());
        match seen.target.as_str() {
            "/part" => *part.status_mut() = 206.try_into().unwrap(),
            "/range" => part = head("content-range", "bytes 0-4/22", part),
            _ => {}
        }
        part
    });
    let server = server.await;
    let held =
        start(&net(Names::local(&["a.test"])), &[granting("a.test", server.port)], &[grant(&["a.test"], EVERYWHERE)]);
    let url = |host: &str, path: &str| format!("http://{host}:{}{path}", server.port);
    let others = other(server.port, &["a.test"]);
    for run in [&held, &others] {
        for (name, value) in [("Range", "bytes=0-4"), ("if-range", "\"x\""), ("rAnGe", "bytes=5-")] {
            let refused = failure(run, header(name, value, get(&url("a.test", "/")))).await;
            assert_eq!((&*refused.code, refused.effects), ("net-range", Effects::None), "{refused}");
        }
        assert_eq!(server.connections(), 0);
    }
    for run in [&held, &others] {
        for path in ["/part", "/range"] {
            let refused = failure(run, get(&url("a.test", path))).await;
            assert_eq!((&*refused.code, refused.effects), ("net-range", Effects::Committed), "{refused}");
        }
    }
    // Elsewhere it is a request like another.
    let (response, body) = text(&others, header("range", "bytes=0-4", get(&url("b.test", "/part")))).await;
    assert_eq!((response.status, body.len()), (206, 5));
}
