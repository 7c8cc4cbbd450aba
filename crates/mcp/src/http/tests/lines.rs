//! Unusual uses of connections.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::http::{HttpConfig, Timeouts};

use super::harness::{SHORT, TestServer, call, call_in, get, in_session, open_session, who_request};

const POST: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";

fn quick(times: Timeouts) -> HttpConfig {
    HttpConfig { timeouts: times, ..HttpConfig::default() }
}

#[tokio::test]
async fn requests_of_one_connection_are_answered_in_order() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    let big = call("", "big", &json!({ "size": 100_000 }));
    client.send(&[who_request(), big, get("/healthz"), who_request()].concat()).await;
    assert_eq!(client.reply().await.text(), "local");
    assert_eq!(client.reply().await.text().len(), 100_000);
    assert_eq!(client.reply().await.body, "ok\n");
    assert_eq!(client.reply().await.text(), "local");
}

#[tokio::test]
async fn a_connection_that_rests_in_the_middle_of_a_request_goes_on_with_it() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    let (first, second) = (get("/healthz"), who_request());
    for cut in (1..second.len()).step_by(23) {
        // The beginning of the second request arrives with the first one; the rest follows after
        // the first response.
        client.send(&format!("{first}{}", &second[..cut])).await;
        assert_eq!(client.reply().await.body, "ok\n", "{cut}");
        client.send(&second[cut..]).await;
        assert_eq!(client.reply().await.text(), "local", "{cut}");
    }
    // A rest that never arrives is given up, like any other head.
    let served = TestServer::new(quick(Timeouts { head: SHORT, ..Timeouts::default() })).await;
    let mut client = served.client().await;
    client.send(&format!("{first}{}", &second[..9])).await;
    assert_eq!(client.reply().await.body, "ok\n");
    assert!(client.is_ended().await);
}

#[tokio::test]
async fn a_head_that_does_not_end_is_given_up() {
    let served = TestServer::new(quick(Timeouts { head: SHORT, ..Timeouts::default() })).await;
    let mut client = served.client().await;
    // An earlier response does not change that.
    client.send(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    client.send("GET /healthz HTTP/1.1\r\nHost:").await;
    assert!(client.is_ended().await);
}

#[tokio::test]
async fn a_connection_that_is_about_nothing_is_given_up() {
    let served =
        TestServer::new(quick(Timeouts { idle: SHORT, head: SHORT, body: SHORT, ..Timeouts::default() })).await;
    assert!(served.client().await.is_ended().await);
    let mut client = served.client().await;
    client.send(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    assert!(client.is_ended().await);
}

#[tokio::test]
async fn a_run_is_no_idle_time() {
    let mut served =
        TestServer::new(quick(Timeouts { idle: SHORT, head: SHORT, body: SHORT, ..Timeouts::default() })).await;
    let mut client = served.client().await;
    client.send(&call("", "wait", &json!({}))).await;
    assert_eq!(served.next_event().await, "began");
    // An idle connection ends within the time that this one would, if it counted as idle.
    assert!(served.client().await.is_ended().await);
    served.release.notify_one();
    assert_eq!(client.reply().await.text(), "released");
}

#[tokio::test]
async fn header_bombs_are_refused() {
    let served = TestServer::new(HttpConfig::default()).await;
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "a: b\r\n".repeat(200));
    let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\na: {}\r\n\r\n", "b".repeat(60_000));
    for bomb in [many, long] {
        let mut client = served.client().await;
        client.send(&bomb).await;
        assert_eq!(client.reply().await.status, 431);
        assert!(client.is_ended().await);
    }
    let uri = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(70_000));
    assert!(matches!(served.ask(&uri).await.status, 414 | 431));
    let mut endless = served.client().await;
    endless.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n").await;
    let line = "a: b\r\n".repeat(1000);
    while endless.stream.write_all(line.as_bytes()).await.is_ok() {}
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_request_that_can_be_read_in_two_ways_smuggles_nothing() {
    let served = TestServer::new(HttpConfig::default()).await;
    for (headers, body) in [
        ("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
        ("Content-Length: +3\r\n", "abc"),
        ("Content-Length: 3, 4\r\n", "abcd"),
        ("Transfer-Encoding: gzip\r\n", "abc"),
        ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        ("a: b\r\n folded\r\n", ""),
        ("a\r: b\r\n", ""),
        ("a: b\0c\r\n", ""),
    ] {
        let mut client = served.client().await;
        client.send(&format!("{POST}{headers}\r\n{body}{}", get("/healthz"))).await;
        assert_eq!(client.reply().await.status, 400, "{headers:?}");
        assert!(client.is_ended().await, "{headers:?}");
    }
    let old =
        format!("POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{}", get("/"));
    assert_eq!(served.ask(&old).await.status, 400);
}

#[tokio::test]
async fn what_follows_a_chunked_body_is_no_request() {
    let served = TestServer::new(HttpConfig::default()).await;
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
    ] {
        let mut client = served.client().await;
        client.send(&format!("{POST}{headers}\r\n0\r\n\r\n{}", get("/healthz"))).await;
        let reply = client.reply().await;
        assert_eq!((reply.status, reply.headers["connection"].as_str()), (406, "close"), "{headers:?}");
        assert!(client.is_ended().await, "{headers:?}");
    }
    for chunk in ["x\r\n", "ffffffffffffffffff\r\n", "-1\r\n", "1\r\nab\r\n0\r\n\r\n"] {
        let mut client = served.client().await;
        client.send(&format!("{POST}Transfer-Encoding: chunked\r\n\r\n{chunk}{}", get("/healthz"))).await;
        assert_eq!(client.reply().await.code(), "body-broken", "{chunk:?}");
        assert!(client.is_ended().await, "{chunk:?}");
    }
}

#[tokio::test]
async fn a_client_that_writes_no_more_still_gets_its_answer() {
    let mut served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    client.send(&who_request()).await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.reply().await.text(), "local");
    assert!(client.is_ended().await);
    let session = open_session(&served, "").await;
    for request in [call("", "wait", &json!({})), call_in(&session, "", "wait")] {
        let mut client = served.client().await;
        client.send(&request).await;
        client.stream.shutdown().await.unwrap();
        assert_eq!(served.next_event().await, "began");
        served.release.notify_one();
        assert_eq!(served.next_event().await, "released");
        assert_eq!(client.reply().await.text(), "released");
        assert!(client.is_ended().await);
    }
}

#[tokio::test]
async fn a_client_that_vanishes_cancels_what_it_asked_for() {
    let times = Timeouts { half_closed: SHORT, orphaned_request: SHORT, ..Timeouts::default() };
    let mut served = TestServer::new(quick(times)).await;
    let session = open_session(&served, "").await;
    for request in [
        call("", "wait", &json!({})),
        call("", "announce", &json!({})),
        call_in(&session, "", "wait"),
        call_in(&session, "", "announce"),
    ] {
        let mut client = served.client().await;
        client.send(&request).await;
        assert_eq!(served.next_event().await, "began");
        drop(client);
        assert_eq!(served.next_event().await, "cancelled");
    }
    // Leaving before the stream starts is no different from leaving afterwards.
    let mut client = served.client().await;
    client.send(&call_in(&session, "", "announce")).await;
    client.read_until("progress").await;
    assert_eq!(served.next_event().await, "began");
    drop(client);
    assert_eq!(served.next_event().await, "cancelled");
}

#[tokio::test]
async fn a_client_that_comes_back_hears_the_rest() {
    let times = Timeouts { half_closed: SHORT, orphaned_request: Duration::from_secs(1), ..Timeouts::default() };
    let mut served = TestServer::new(quick(times)).await;
    let (session, other) = (open_session(&served, "").await, open_session(&served, "").await);
    let mut client = served.client().await;
    client.send(&call_in(&session, "", "announce")).await;
    client.read_until("progress").await;
    assert_eq!(served.next_event().await, "began");
    drop(client);
    let mut client = served.client().await;
    let headers = in_session(&session, "Accept: text/event-stream\r\nLast-Event-ID: 1/0\r\n");
    client.send(&format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await;
    assert_eq!(client.head().await.status, 200);
    // An abandoned request is cancelled later than this one would have been.
    let mut left = served.client().await;
    left.send(&call_in(&other, "", "wait")).await;
    assert_eq!(served.next_event().await, "began");
    drop(left);
    assert_eq!(served.next_event().await, "cancelled");
    served.release.notify_one();
    assert_eq!(served.next_event().await, "released");
    client.read_until("released").await;
}
