//! Sessions and their owners.

use serde_json::json;

use crate::http::{HttpConfig, Timeouts};

use super::harness::{ALICE, BOB, SHORT, TestServer, bearer, call, call_in, in_session, open_session, two_principals};

fn delete(session: &str, headers: &str) -> String {
    format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\n", in_session(session, headers))
}

fn listen(session: &str, headers: &str) -> String {
    let headers = in_session(session, headers);
    format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{headers}\r\n")
}

#[tokio::test]
async fn a_session_is_known_to_who_made_it_and_to_nobody_else() {
    let served = TestServer::new(two_principals()).await;
    let (alice, bob) = (bearer(ALICE), bearer(BOB));
    let session = open_session(&served, &alice).await;
    assert_eq!(served.ask(&call_in(&session, &alice, "who")).await.text(), "alice");
    let unknown = served.ask(&call_in("none", &bob, "who")).await;
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "session-unknown"));
    for request in [call_in(&session, &bob, "who"), delete(&session, &bob), listen(&session, &bob)] {
        let reply = served.ask(&request).await;
        assert_eq!((reply.status, &reply.body), (404, &unknown.body));
    }
    assert_eq!(served.ask(&delete(&session, &bob)).await.body, served.ask(&delete("none", &bob)).await.body);
    assert_eq!(served.ask(&call_in(&session, &alice, "who")).await.text(), "alice");
}

#[tokio::test]
async fn a_session_ends_when_it_is_deleted() {
    let served = TestServer::new(HttpConfig::default()).await;
    let session = open_session(&served, "").await;
    assert_eq!(served.ask(&delete(&session, "")).await.status, 202);
    for request in [call_in(&session, "", "who"), delete(&session, ""), listen(&session, "")] {
        assert_eq!(served.ask(&request).await.code(), "session-unknown");
    }
}

#[tokio::test]
async fn a_session_ends_when_it_is_not_used() {
    let times = Timeouts { session_idle: SHORT, ..Timeouts::default() };
    let served = TestServer::new(HttpConfig { timeouts: times, ..HttpConfig::default() }).await;
    let session = open_session(&served, "").await;
    let mut client = served.client().await;
    client.send(&listen(&session, "")).await;
    // Its streams end with it.
    assert_eq!(client.reply().await.status, 200);
    let ended = loop {
        let reply = served.ask(&call_in(&session, "", "who")).await;
        if reply.status != 500 {
            break reply;
        }
    };
    assert_eq!((ended.status, ended.code().as_str()), (404, "session-unknown"));
}

#[tokio::test]
async fn the_session_that_was_used_least_recently_makes_room() {
    let served = TestServer::new(HttpConfig { max_sessions: 3, ..two_principals() }).await;
    let (alice, bob) = (bearer(ALICE), bearer(BOB));
    let other = open_session(&served, &bob).await;
    let (first, second) = (open_session(&served, &alice).await, open_session(&served, &alice).await);
    assert_eq!(served.ask(&call_in(&first, &alice, "who")).await.text(), "alice");
    let third = open_session(&served, &alice).await;
    assert_eq!(served.ask(&call_in(&second, &alice, "who")).await.code(), "session-unknown");
    for session in [&first, &third] {
        assert_eq!(served.ask(&call_in(session, &alice, "who")).await.text(), "alice");
    }
    assert_eq!(served.ask(&call_in(&other, &bob, "who")).await.text(), "bob");
}

#[tokio::test]
async fn who_only_listens_takes_no_place() {
    let served = TestServer::new(HttpConfig { max_requests: 1, ..HttpConfig::default() }).await;
    let session = open_session(&served, "").await;
    let mut client = served.client().await;
    client.send(&listen(&session, "")).await;
    assert_eq!(client.head().await.status, 200);
    assert_eq!(served.ask(&call("", "who", &json!({}))).await.text(), "local");
    // `rmcp` refuses a header that claims this for another request.
    let lie = call("", "who", &json!({})).replace("Mcp-Method: tools/call", "Mcp-Method: subscriptions/listen");
    assert_eq!(served.ask(&lie).await.status, 400);
}

#[tokio::test]
async fn plain_answers_are_small() {
    let served = TestServer::new(HttpConfig::default()).await;
    let session = open_session(&served, "").await;
    // In sessions `rmcp` responds with a stream that starts with an event for resumption.
    for (request, kind, most) in [
        (call("", "who", &json!({})), "application/json", 230),
        (call_in(&session, "", "who"), "text/event-stream", 310),
    ] {
        let reply = served.ask(&request).await;
        assert_eq!((reply.text().as_str(), reply.headers["content-type"].as_str()), ("local", kind));
        let head: usize = reply.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        assert!(head + reply.body.len() < most, "{reply:?}");
    }
}
