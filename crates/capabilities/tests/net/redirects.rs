//! Answers that lead elsewhere.

use serde_json::json;
use toolcell_capabilities::{Effects, Redirect, Request};

use crate::world::{
    Names, Server, answer, failure, get, granting, granting_with, header, lead, local, net, post, start, text, value,
};

/// A server that leads from `/STATUS` to a place.
async fn leading(place: &'static str) -> Server {
    Server::start(move |seen| match seen.target[1..].parse() {
        Ok(status) => lead(status, place),
        Err(_) => answer(format!("{} {}", seen.method, seen.body)),
    })
    .await
}

#[tokio::test]
async fn redirects_are_followed_as_fetch_does() {
    let server = leading("/end?x#part").await;
    let run = local(server.port, &["a.test"]);
    for (method, status, expect) in [
        ("GET", 301, "GET "),
        ("HEAD", 302, ""),
        ("POST", 301, "GET "),
        ("POST", 302, "GET "),
        ("POST", 303, "GET "),
        ("POST", 307, "POST body"),
        ("POST", 308, "POST body"),
        ("PUT", 301, "PUT body"),
        ("PUT", 303, "GET "),
        ("DELETE", 302, "DELETE body"),
        ("DELETE", 303, "GET "),
    ] {
        let url = format!("http://a.test:{}/{status}", server.port);
        let body = (!matches!(method, "GET" | "HEAD")).then(|| b"body".to_vec());
        let request = header("content-type", "text/x", Request { method: method.to_owned(), body, ..get(&url) });
        let (response, body) = text(&run, request).await;
        assert_eq!((response.redirected, body.as_str()), (true, expect), "{method} {status}");
        assert_eq!(response.url, format!("http://a.test:{}/end?x", server.port));
        let seen = server.seen();
        let [first, second] = &seen[seen.len() - 2..] else { unreachable!() };
        let same = first.method == second.method;
        assert_eq!(second.header("content-type"), same.then_some("text/x"), "{method} {status}");
        assert_eq!(second.header("idempotency-key"), first.header("idempotency-key").filter(|_| same));
        assert_eq!(second.header("referer"), None);
    }
}

#[test]
fn what_is_done_with_a_redirect_is_said_as_fetch_says_it() {
    let all = [Redirect::Follow, Redirect::Error, Redirect::Manual];
    assert_eq!(json!(all), json!(["follow", "error", "manual"]));
    assert_eq!(serde_json::from_value::<[Redirect; 3]>(json!(all)).unwrap(), all);
}

#[tokio::test]
async fn a_tool_can_look_at_a_redirect_or_refuse_it() {
    let server = leading("/end").await;
    let run = local(server.port, &["a.test"]);
    let request = |redirect| Request { redirect, ..get(&format!("http://a.test:{}/302", server.port)) };
    let (response, body) = text(&run, request(Redirect::Manual)).await;
    assert_eq!((response.status, response.redirected, body.as_str()), (302, false, "elsewhere"));
    assert_eq!(value(&response, "location"), Some("/end"));
    let failure = failure(&run, request(Redirect::Error)).await;
    assert_eq!((&*failure.code, &*failure.name, failure.effects), ("net-redirect", "TypeError", Effects::Committed));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn an_answer_that_leads_nowhere_is_an_answer() {
    let server = Server::start(|_| {
        let mut answer = answer("here");
        *answer.status_mut() = 302.try_into().unwrap();
        answer
    });
    let server = server.await;
    let (response, body) =
        text(&local(server.port, &["a.test"]), get(&format!("http://a.test:{}/", server.port))).await;
    assert_eq!((response.status, response.redirected, body.as_str()), (302, false, "here"));
}

#[tokio::test]
async fn redirects_lead_to_no_place_that_is_not_granted() {
    for (place, code) in [
        ("http://127.0.0.1:1/", "net-not-granted"),
        ("http://b.test/", "net-not-granted"),
        ("http://169.254.169.254/latest", "net-address"),
        ("http://2852039166/latest", "net-address"),
        ("http://[::1]/", "net-address"),
        ("http://inside.test/", "net-address"),
        ("//inside.test/x", "net-address"),
        ("https://inside.test/", "net-not-granted"),
        ("file:///etc/passwd", "net-redirect"),
        ("data:,x", "net-redirect"),
        ("http://user:word@inside.test/", "net-redirect"),
        ("http://[::1", "net-redirect"),
    ] {
        let server = leading(place).await;
        let names = Names::local(&["a.test", "inside.test"]);
        let grants = [
            granting("a.test", server.port),
            json!({"host": "inside.test", "scheme": "http"}),
            json!({"host": "169.254.169.254", "scheme": "http"}),
            json!({"host": "::1", "scheme": "http"}),
        ];
        let run = start(&net(names), &grants, &[]);
        let failure = failure(&run, get(&format!("http://a.test:{}/302", server.port))).await;
        assert_eq!((&*failure.code, failure.effects), (code, Effects::Committed), "{place} {failure}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_needs_the_grant_of_its_method_and_path() {
    let server = leading("/admin").await;
    let grant = granting_with("a.test", server.port, &json!({"path": "/307"}));
    let run = start(&net(Names::local(&["a.test"])), &[grant], &[]);
    let refused = failure(&run, post(&format!("http://a.test:{}/307", server.port), "x")).await;
    assert_eq!((&*refused.code, refused.effects), ("net-not-granted", Effects::Committed));
    assert!(refused.message.contains("path = \"/admin\""), "{refused}");
    let grant = granting_with("a.test", server.port, &json!({"methods": ["POST"]}));
    let run = start(&net(Names::local(&["a.test"])), &[grant], &[]);
    let refused = failure(&run, post(&format!("http://a.test:{}/303", server.port), "x")).await;
    assert!(refused.message.contains("methods = [\"POST\", \"GET\"]"), "{refused}");
}

#[tokio::test]
async fn a_loop_ends() {
    let server = leading("/302").await;
    let failure = failure(&local(server.port, &["a.test"]), get(&format!("http://a.test:{}/302", server.port))).await;
    assert_eq!((&*failure.code, failure.effects), ("net-redirect", Effects::Committed));
    assert!(failure.message.contains("more than 20 times"), "{failure}");
    assert_eq!(server.seen().len(), 21);
}

#[tokio::test]
async fn credentials_stay_at_their_origin() {
    let end = Server::start(|_| answer("end")).await;
    let port = end.port;
    let server = Server::start(move |seen| match seen.target.as_str() {
        "/other" => lead(307, &format!("http://b.test:{port}/")),
        "/same" => lead(307, "/end"),
        _ => answer("end"),
    });
    let server = server.await;
    let grants = [granting("a.test", server.port), granting("b.test", end.port)];
    let run = start(&net(Names::local(&["a.test", "b.test"])), &grants, &[]);
    let request = |path: &str| {
        let request = get(&format!("http://a.test:{}/{path}", server.port));
        header("x-mine", "1", header("cookie", "a=b", header("authorization", "Bearer x", request)))
    };
    text(&run, request("same")).await;
    assert_eq!(server.seen()[1].header("authorization"), Some("Bearer x"));
    text(&run, request("other")).await;
    let seen = &end.seen()[0];
    assert_eq!((seen.header("authorization"), seen.header("cookie"), seen.header("x-mine")), (None, None, Some("1")));
}
