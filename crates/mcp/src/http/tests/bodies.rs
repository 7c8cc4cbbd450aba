//! Limits of request bodies.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::http::{HttpConfig, Timeouts};

use super::harness::{
    ALICE, BOB, PATIENCE, RawClient, SHORT, TestServer, bearer, call, get, initialize, memory, most_memory, post,
    run_isolated, two_principals, who_request,
};

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
                    Content-Type: application/json\r\n";
const HUGE: usize = 100_000_000;

#[tokio::test]
async fn a_body_that_says_it_is_too_long_is_refused_at_once() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    client.send(&format!("{HEAD}Content-Length: {HUGE}\r\nExpect: 100-continue\r\n\r\n")).await;
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (413, "body-too-large"));
    assert_eq!(reply.json()["detail"], "the body is 100000000 bytes, the limit is 4194304 bytes");
    assert_eq!(reply.headers["connection"], "close");
}

#[test]
fn a_hundred_megabytes_take_no_memory_and_the_client_reads_why() {
    run_isolated("bodies::a_hundred_megabytes_take_no_memory_and_the_client_reads_why", 1000, a_hundred_megabytes);
}

async fn a_hundred_megabytes() {
    let times = Timeouts { linger: PATIENCE, ..Timeouts::default() };
    let served = TestServer::new(HttpConfig { timeouts: times, ..HttpConfig::default() }).await;
    let before = memory();
    for chunked in [false, true] {
        let client = served.client().await;
        let (reading, mut writing) = client.stream.into_split();
        let sent = tokio::spawn(async move {
            let part = vec![b'x'; 100_000];
            let head =
                if chunked { "Transfer-Encoding: chunked".to_owned() } else { format!("Content-Length: {HUGE}") };
            writing.write_all(format!("{HEAD}{head}\r\n\r\n").as_bytes()).await?;
            for _ in 0..HUGE / part.len() {
                if chunked {
                    writing.write_all(b"186a0\r\n").await?;
                }
                writing.write_all(&part).await?;
                if chunked {
                    writing.write_all(b"\r\n").await?;
                }
            }
            Ok::<_, std::io::Error>(writing)
        });
        // A client that reads only after it has written everything gets the time to do so.
        let writing = sent.await.unwrap().unwrap();
        let mut client = served.client().await;
        client.stream = reading.reunite(writing).unwrap();
        let reply = client.reply().await;
        assert_eq!((reply.status, reply.code().as_str()), (413, "body-too-large"), "{chunked}");
        assert!(client.is_ended().await);
    }
    let more = memory() - before;
    assert!(more < 20_000, "{more} KiB");
}

#[tokio::test]
async fn a_body_of_many_frames_is_read_to_its_end() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    let request = who_request();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let head = head.replace(&format!("Content-Length: {}", body.len()), "Transfer-Encoding: chunked");
    client.send(&format!("{head}\r\n\r\n")).await;
    for byte in body.as_bytes() {
        client.stream.write_all(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n']).await.unwrap();
    }
    client.send("0\r\n\r\n").await;
    assert_eq!(client.reply().await.text(), "local");
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_given_up() {
    let times = Timeouts { body: SHORT, ..Timeouts::default() };
    let served = TestServer::new(HttpConfig { timeouts: times, ..HttpConfig::default() }).await;
    let mut client = served.client().await;
    client.send(&format!("{HEAD}Content-Length: 10\r\n\r\n{{")).await;
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (408, "body-timeout"));
    assert!(client.is_ended().await);
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_body_that_breaks_off_ends_its_connection_only() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    client.send(&format!("{HEAD}Content-Length: 10\r\n\r\n{{")).await;
    client.stream.shutdown().await.unwrap();
    let _ = client.is_ended().await;
    assert_eq!(served.ask(&who_request()).await.text(), "local");
}

#[tokio::test]
async fn all_bodies_together_take_no_more_room_than_there_is() {
    let served = TestServer::new(HttpConfig { max_total_body_bytes: 1000, ..HttpConfig::default() }).await;
    let mut first = served.client().await;
    first.send(&format!("{HEAD}Content-Length: 900\r\n\r\n{}", "x".repeat(899))).await;
    let second = post("", &"y".repeat(200));
    let reply = loop {
        // Until the server has read the first client's bytes.
        let reply = served.ask(&second).await;
        if reply.status != 400 {
            break reply;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((reply.status, reply.code().as_str(), reply.headers["retry-after"].as_str()), (503, "overloaded", "1"));
    first.send("x").await;
    assert_eq!(first.reply().await.code(), "body-invalid");
    assert_eq!(served.ask(&second).await.code(), "body-invalid");
}

/// A request head with a body of this length, and the body without its last byte.
fn unfinished(headers: &str, length: usize) -> String {
    format!("{HEAD}{headers}Content-Length: {length}\r\n\r\n{}", "x".repeat(length - 1))
}

/// Opens connections with unfinished bodies for a principal until one is refused, and returns all
/// of them.
async fn flood(served: &TestServer, token: &str, length: usize) -> Vec<RawClient> {
    let mut clients = Vec::new();
    loop {
        let mut client = served.client().await;
        client.send(&unfinished(&bearer(token), length)).await;
        let refused = tokio::time::timeout(SHORT, client.head()).await;
        clients.push(client);
        if let Ok(refused) = refused {
            assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (503, "1"));
            return clients;
        }
    }
}

#[tokio::test]
async fn unfinished_bodies_of_one_principal_leave_room_for_those_of_another() {
    let served = TestServer::new(HttpConfig { max_total_body_bytes: 100_000, ..two_principals() }).await;
    let clients = flood(&served, ALICE, 10_000).await;
    assert_eq!(clients.len(), 6);
    let text = "y".repeat(20_000);
    let reply = served.ask(&call(&bearer(BOB), "who", &json!({ "text": text }))).await;
    assert_eq!(reply.text(), "bob");
    // The memory of abandoned bodies is free again.
    drop(clients);
    let long = call(&bearer(ALICE), "who", &json!({ "text": "y".repeat(40_000) }));
    let reply = loop {
        let reply = served.ask(&long).await;
        if reply.status != 503 {
            break reply;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(reply.text(), "alice");
}

/// A call with an array of this many items.
fn listed(headers: &str, tool: &str, item: &str, items: usize) -> String {
    let request = call("", tool, &json!({ "x": "@" }));
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let list = format!("[{}]", vec![item; items].join(","));
    let version = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ";
    post(&format!("{version}{tool}\r\n{headers}"), &body.replace("\"@\"", &list))
}

#[test]
fn a_body_with_too_many_values_is_refused_before_it_takes_memory() {
    run_isolated("bodies::a_body_with_too_many_values_is_refused_before_it_takes_memory", 1000, too_many_values);
}

async fn too_many_values() {
    let served = TestServer::new(HttpConfig::default()).await;
    assert_eq!(served.ask(&listed("", "who", "1000", 200_000)).await.status, 200);
    let bodies = [("0", 2_000_000), (r#"{"":0}"#, 500_000), (r#"[""]"#, 700_000)];
    let bodies = bodies.map(|(item, items)| listed("", "who", item, items));
    let before = most_memory();
    for body in bodies {
        let reply = served.ask(&body).await;
        assert_eq!((reply.status, reply.code().as_str()), (413, "message-too-large"));
        let said = reply.json();
        assert_eq!((&said["id"], &said["error"]["code"]), (&json!(1), &json!(-32_600)), "{said}");
        assert_eq!(said["error"]["data"]["code"], "message-too-large", "{said}");
        assert!(said["detail"].as_str().unwrap().ends_with("the limit is 256000"), "{said}");
    }
    let more = most_memory() - before;
    assert!(more < 30_000, "{more} KiB");
}

#[tokio::test]
async fn values_of_one_principal_leave_memory_for_those_of_another() {
    // An array of a hundred objects: about 400 values.
    let values = 1_000_000;
    let mut served = TestServer::new(HttpConfig { max_total_value_bytes: values, ..two_principals() }).await;
    let wait = listed(&bearer(ALICE), "wait", r#"{"":0}"#, 100);
    let mut waiting = Vec::new();
    let refused = loop {
        let mut client = served.client().await;
        client.send(&wait).await;
        tokio::select! {
            said = served.next_event() => assert_eq!(said, "began"),
            refused = client.head() => break refused,
        }
        waiting.push(client);
    };
    assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (503, "1"));
    assert!((2..10).contains(&waiting.len()), "{}", waiting.len());
    assert_eq!(served.ask(&listed(&bearer(BOB), "who", r#"{"":0}"#, 100)).await.text(), "bob");
    served.release.notify_waiters();
    for mut client in waiting {
        assert_eq!(client.reply().await.text(), "released");
    }
    assert_eq!(served.ask(&listed(&bearer(ALICE), "who", r#"{"":0}"#, 100)).await.text(), "alice");
}

#[tokio::test]
async fn no_body_is_read_before_the_token_of_its_request_is_known() {
    let served = TestServer::new(HttpConfig { max_total_body_bytes: 1, ..two_principals() }).await;
    for headers in [String::new(), bearer("mallory-0123456789")] {
        let mut client = served.client().await;
        // The body neither fits the pool nor ends.
        client.send(&unfinished(&headers, 1_000)).await;
        assert_eq!(client.reply().await.status, 401);
    }
    let mut client = served.client().await;
    client.send(&unfinished(&bearer(ALICE), 1_000)).await;
    assert_eq!(client.reply().await.code(), "overloaded");
}

#[tokio::test]
async fn a_body_that_comes_in_drops_is_given_up_long_before_its_time_is_over() {
    let times = Timeouts { body_rate_slack: SHORT, body: 100 * PATIENCE, ..Timeouts::default() };
    let rate = NonZeroU32::new(1_000).unwrap();
    let served = TestServer::new(HttpConfig { timeouts: times, min_body_rate: rate, ..HttpConfig::default() }).await;
    let mut client = served.client().await;
    client.send(&format!("{HEAD}Content-Length: 1000000\r\n\r\n")).await;
    for _ in 0..4 {
        // If the server has given up already, the write fails.
        let _ = client.stream.write_all(b"x").await;
        tokio::time::sleep(SHORT / 8).await;
    }
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (408, "body-timeout"));
    assert_eq!(reply.json()["detail"], "the body arrived slower than 1000 bytes per second");
    assert!(client.is_ended().await);
    // A body that keeps its rate may take longer than the slack.
    let mut client = served.client().await;
    let request = who_request();
    let (head, body) = request.split_at(request.len() - 400);
    client.send(head).await;
    for part in body.as_bytes().chunks(40) {
        client.send(std::str::from_utf8(part).unwrap()).await;
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(client.reply().await.text(), "local");
}

#[tokio::test]
async fn requests_of_one_principal_leave_places_for_those_of_another() {
    let mut served = TestServer::new(HttpConfig { max_requests: 8, ..two_principals() }).await;
    let wait = call(&bearer(ALICE), "wait", &json!({}));
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let mut client = served.client().await;
        client.send(&wait).await;
        assert_eq!(served.next_event().await, "began");
        waiting.push(client);
    }
    let reply = served.ask(&wait).await;
    assert_eq!((reply.status, reply.code().as_str(), reply.headers["retry-after"].as_str()), (503, "overloaded", "1"));
    assert_eq!(served.ask(&call(&bearer(BOB), "who", &json!({}))).await.text(), "bob");
    served.release.notify_waiters();
    for mut client in waiting {
        assert_eq!(client.reply().await.text(), "released");
    }
}

#[tokio::test]
async fn connections_without_a_token_take_no_place_of_those_with_one() {
    let served = TestServer::new(HttpConfig { max_connections: 16, ..two_principals() }).await;
    let mut known = served.client().await;
    let ask = call(&bearer(ALICE), "who", &json!({}));
    known.send(&ask).await;
    assert_eq!(known.reply().await.text(), "alice");
    let mut flood = Vec::new();
    for _ in 0..100 {
        let mut client = served.client().await;
        client.send("GET /healthz HTTP/1.1\r\n").await;
        flood.push(client);
    }
    assert_eq!(served.ask(&call(&bearer(BOB), "who", &json!({}))).await.text(), "bob");
    known.send(&ask).await;
    assert_eq!(known.reply().await.text(), "alice");
    assert!(flood[0].is_ended().await);
}

#[tokio::test]
async fn a_session_does_not_begin_with_more_than_it_may_keep() {
    let served = TestServer::new(HttpConfig::default()).await;
    let long = initialize("").replace("\"test\"", &format!("\"{}\"", "x".repeat(100_000)));
    let (head, body) = long.split_once("\r\n\r\n").unwrap();
    let reply = served.ask(&post("", body)).await;
    assert_eq!((reply.status, reply.code().as_str()), (413, "body-too-large"), "{head}");
    assert_eq!(served.ask(&initialize("")).await.status, 200);
}

#[tokio::test]
async fn what_is_under_way_is_bounded_and_health_is_not_part_of_it() {
    let mut served = TestServer::new(HttpConfig { max_requests: 1, ..HttpConfig::default() }).await;
    let mut first = served.client().await;
    first.send(&call("", "wait", &json!({}))).await;
    assert_eq!(served.next_event().await, "began");
    let mut second = served.client().await;
    second.send(&who_request()).await;
    let reply = second.reply().await;
    assert_eq!((reply.status, reply.code().as_str(), reply.headers["retry-after"].as_str()), (503, "overloaded", "1"));
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(served.ask(&get(path)).await.status, 200);
    }
    served.release.notify_one();
    assert_eq!(first.reply().await.text(), "released");
    second.send(&who_request()).await;
    assert_eq!(second.reply().await.text(), "local");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_given_up() {
    let times = Timeouts { write: SHORT, ..Timeouts::default() };
    let served = TestServer::new(HttpConfig { timeouts: times, max_connections: 1, ..HttpConfig::default() }).await;
    let mut client = served.client().await;
    client.send(&call("", "big", &json!({ "size": 30_000_000 }))).await;
    assert_eq!(client.head().await.status, 200);
    // There is room for another connection once that one is closed.
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_long_answer_is_written_to_who_reads_it_and_writes_no_more() {
    let times = Timeouts { half_closed: SHORT, idle: SHORT, ..Timeouts::default() };
    let served = TestServer::new(HttpConfig { timeouts: times, max_connections: 1, ..HttpConfig::default() }).await;
    let mut client = served.client().await;
    client.send(&call("", "big", &json!({ "size": 30_000_000 }))).await;
    client.stream.shutdown().await.unwrap();
    let late = tokio::time::timeout(2 * SHORT, served.ask(&get("/healthz"))).await;
    assert!(late.is_err());
    assert_eq!(client.reply().await.text().len(), 30_000_000);
    assert!(client.is_ended().await);
}
