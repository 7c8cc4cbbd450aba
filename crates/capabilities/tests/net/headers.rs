//! What goes out with a request.

use std::process::Command;

use serde_json::json;
use toolcell_capabilities::{Effects, Request};

use crate::world::{Names, Server, answer, failure, get, granting, head, header, local, net, post, start, text, value};

#[tokio::test]
async fn a_tool_sets_its_own_headers_and_not_those_of_the_library() {
    let server = Server::start(|_| answer("")).await;
    let run = local(server.port, &["a.test"]);
    let mut request = post(&format!("http://a.test:{}/", server.port), "body");
    for (name, value) in [
        ("X-One", " 1 "),
        ("x-many", "a"),
        ("X-Many", "b"),
        ("Host", "evil.test"),
        ("Accept-Encoding", "zstd"),
        ("Content-Length", "1"),
        ("Connection", "x-one"),
        ("Transfer-Encoding", "chunked"),
        ("Upgrade", "x"),
        ("TE", "trailers"),
        ("Trailer", "x"),
        ("Expect", "100-continue"),
        ("Keep-Alive", "1"),
        ("Proxy-Authorization", "x"),
        ("Proxy-X", "x"),
        ("Cookie", "a=b"),
        ("Origin", "https://a.test"),
    ] {
        request = header(name, value, request);
    }
    text(&run, request).await;
    let seen = &server.seen()[0];
    assert_eq!((seen.header("x-one"), seen.header("cookie")), (Some("1"), Some("a=b")));
    assert_eq!(seen.headers.get_all("x-many").iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(seen.header("host"), Some(format!("a.test:{}", server.port).as_str()));
    assert_eq!((seen.header("content-length"), seen.body.as_str()), (Some("4"), "body"));
    assert!(!seen.header("accept-encoding").unwrap().contains("zstd"));
    let version = concat!("toolcell/", env!("CARGO_PKG_VERSION"));
    assert_eq!((seen.header("user-agent"), seen.header("referer")), (Some(version), None));
    for absent in ["connection", "transfer-encoding", "upgrade", "te", "trailer", "expect", "keep-alive", "proxy-x"] {
        assert_eq!(seen.header(absent), None, "{absent}");
    }
    text(&run, header("user-agent", "mine", get(&format!("http://a.test:{}/", server.port)))).await;
    assert_eq!(server.seen()[1].header("user-agent"), Some("mine"));
}

#[tokio::test]
async fn headers_that_cannot_be_sent_are_refused() {
    let server = Server::start(|_| answer("never")).await;
    let run = local(server.port, &["a.test"]);
    let long = "x".repeat(70_000);
    for (name, value) in [
        ("", "x"),
        ("x y", "x"),
        ("x:y", "x"),
        ("ü", "x"),
        (":authority", "evil.test"),
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\0b"),
        ("x", "€"),
        ("x", "\u{1}"),
        ("x", &long),
        ("X-HTTP-Method-Override", "DELETE"),
        ("x-original-url", "/admin"),
        // CGI and WSGI read `_` as `-`.
        ("X_HTTP_METHOD_OVERRIDE", "DELETE"),
        ("x-http_method-override", "DELETE"),
        ("X_Original_URL", "/admin"),
        ("X.Rewrite.URL", "/admin"),
        ("Content_Length", "1"),
        ("Transfer_Encoding", "chunked"),
        ("proxy_authorization", "x"),
        ("Idempotency_Key", "x"),
        ("If_Range", "x"),
        ("Accept_Encoding", "br"),
    ] {
        let failure = failure(&run, header(name, value, get(&format!("http://a.test:{}/", server.port)))).await;
        assert_eq!((&*failure.code, failure.effects), ("net-header", Effects::None), "{name} {failure}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_url_longer_than_the_limit_is_refused_before_it_is_parsed() {
    const LIMIT: usize = 32 << 10;
    let server = Server::start(|_| answer("here")).await;
    let run = local(server.port, &["a.test"]);
    let origin = format!("http://a.test:{}", server.port);
    let url = |len: usize| format!("{origin}/{}", "x".repeat(len - origin.len() - 1));
    assert_eq!(text(&run, get(&url(LIMIT))).await.1, "here");
    // The second is no URL, which is not looked at.
    for long in [url(LIMIT + 1), "x".repeat(LIMIT + 1)] {
        let refused = failure(&run, get(&long)).await;
        assert_eq!((&*refused.code, refused.effects), ("net-url", Effects::None));
        assert!(refused.message.ends_with("it has 32769 bytes, the limit is 32768"), "{refused}");
    }
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].target.len()), (1, LIMIT - origin.len()));
}

#[tokio::test]
async fn two_headers_that_servers_read_as_one_are_not_sent_together() {
    let server = Server::start(|_| answer("")).await;
    let run = local(server.port, &["a.test"]);
    let url = format!("http://a.test:{}/", server.port);
    let refused = failure(&run, header("X_User", "admin", header("x-user", "me", get(&url)))).await;
    assert_eq!((&*refused.code, refused.effects), ("net-header", Effects::None));
    assert!(refused.message.contains("`x-user` and `x_user`"), "{refused}");
    assert_eq!(server.connections(), 0);
    text(&run, header("x_user", "me", get(&url))).await;
    assert_eq!(server.seen()[0].header("x_user"), Some("me"));
}

#[tokio::test]
async fn what_changes_something_has_a_key_that_is_its_own() {
    let server = Server::start(|_| answer("")).await;
    let net = net(Names::local(&["a.test"]));
    let run = start(&net, &[granting("a.test", server.port)], &[]);
    let url = format!("http://a.test:{}/", server.port);
    for (id, method) in [(1, "POST"), (2, "PUT"), (3, "PATCH"), (4, "DELETE"), (1, "POST"), (5, "GET"), (6, "OPTIONS")]
    {
        run.fetch(id, Request { method: method.to_owned(), ..get(&url) }).await.unwrap();
    }
    run.fetch(7, header("idempotency-key", "mine", post(&url, ""))).await.unwrap();
    let keys: Vec<_> = server.seen().iter().map(|seen| seen.header("idempotency-key").map(str::to_owned)).collect();
    let first = keys[0].clone().unwrap();
    assert!(first.len() == 32 && first.bytes().all(|digit| digit.is_ascii_hexdigit()), "{first}");
    assert_eq!(keys[..4].iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!(keys[4..], [Some(first), None, None, Some("mine".to_owned())]);
}

#[tokio::test]
async fn no_cookie_is_kept() {
    let server = Server::start(|_| head("set-cookie", "a=b; Path=/", answer(""))).await;
    let run = local(server.port, &["a.test"]);
    for _ in 0..2 {
        let (response, _) = text(&run, get(&format!("http://a.test:{}/", server.port))).await;
        assert_eq!(value(&response, "set-cookie"), Some("a=b; Path=/"));
    }
    assert!(server.seen().iter().all(|seen| seen.header("cookie").is_none()));
}

#[tokio::test]
async fn no_proxy_of_the_environment_is_asked() {
    let proxy = Server::start(|_| answer("never")).await;
    let url = format!("http://127.0.0.1:{}", proxy.port);
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    // The environment belongs to a whole process, so another one makes the requests of another test.
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(["--exact", "bodies::an_answer_is_unpacked"]).envs(names.map(|name| (name, &url)));
    tests.env_remove("no_proxy").env_remove("NO_PROXY");
    let tests = tokio::task::spawn_blocking(move || tests.output().unwrap()).await.unwrap();
    let said = String::from_utf8(tests.stdout).unwrap();
    assert!(tests.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_method_is_one_that_can_be_granted() {
    let server = Server::start(|seen| answer(seen.method.clone())).await;
    let run = local(server.port, &["a.test"]);
    let url = format!("http://a.test:{}/", server.port);
    for (method, expect) in [("get", "GET"), ("Post", "POST"), ("delete", "DELETE"), ("PATCH", "PATCH")] {
        assert_eq!(text(&run, Request { method: method.to_owned(), ..get(&url) }).await.1, expect);
    }
    for method in ["CONNECT", "TRACE", "TRACK", "patch", "", "GET ", "GET\r\n", "PROPFIND"] {
        let failure = failure(&run, Request { method: method.to_owned(), ..get(&url) }).await;
        assert_eq!((&*failure.code, failure.effects), ("net-not-granted", Effects::None), "{method}");
    }
    let failure = failure(&run, Request { body: Some(Vec::new()), ..get(&url) }).await;
    assert_eq!((&*failure.code, server.seen().len()), ("net-body", 4));
}

#[tokio::test]
async fn what_is_not_granted_is_named_with_the_line_that_would_grant_it() {
    let net = net(Names::default());
    let grants = [
        json!({"host": "other.test", "methods": ["POST"]}),
        json!({"host": "*.a.test", "ports": [443, 8443], "path": "/v1"}),
    ];
    let run = start(&net, &grants, &[]);
    let second = "`GET, HEAD https://*.a.test:443,8443/v1`";
    for (method, url, expect) in [
        (
            "GET",
            "https://b.test/v1",
            "its host is not in `POST https://other.test`; the policy needs `host = \"b.test\"` in a `net` \
             grant"
                .to_owned(),
        ),
        (
            "GET",
            "http://x.a.test/v1",
            format!("its scheme is not in {second}; the policy needs `scheme = \"http\"` in"),
        ),
        (
            "GET",
            "https://x.a.test:444/v1",
            format!("its port is not in {second}; the policy needs `ports = [443, 8443, 444]` in"),
        ),
        (
            "GET",
            "https://x.a.test/v2?key=1",
            format!("its path is not in {second}; the policy needs `path = \"/v2\"` in"),
        ),
        (
            "PUT",
            "https://x.a.test/v1/x",
            format!("its method is not in {second}; the policy needs `methods = [\"GET\", \"HEAD\", \"PUT\"]`"),
        ),
    ] {
        let failure = failure(&run, Request { method: method.to_owned(), ..get(url) }).await;
        assert_eq!((&*failure.code, &*failure.name, failure.effects), ("net-not-granted", "TypeError", Effects::None));
        assert!(failure.message.contains(&expect), "{failure}\n{expect}");
        assert!(
            failure.message.starts_with(&format!("{method} http")) && !failure.message.contains("key=1"),
            "{failure}"
        );
    }
    let failure = failure(&start(&net, &[], &[]), get("https://a.test/")).await;
    assert!(
        failure.message.contains("there is no `net` grant") && failure.message.contains("host = \"a.test\""),
        "{failure}"
    );
}
