//! Shutdown.

use std::time::Duration;

use serde_json::json;

use crate::http::{HttpConfig, Timeouts};

use super::harness::{SHORT, TestServer, call, call_in, get, in_session, open_session};

#[tokio::test]
async fn what_runs_is_finished_and_its_answer_written() {
    let mut served = TestServer::new(HttpConfig::default()).await;
    let session = open_session(&served, "").await;
    let mut idle = served.client().await;
    idle.send(&get("/healthz")).await;
    assert_eq!(idle.reply().await.status, 200);
    let mut fresh = served.client().await;
    let mut listening = served.client().await;
    let headers = in_session(&session, "Accept: text/event-stream\r\n");
    listening.send(&format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await;
    assert_eq!(listening.head().await.status, 200);
    let (mut new, mut old) = (served.client().await, served.client().await);
    new.send(&call("", "wait", &json!({}))).await;
    old.send(&call_in(&session, "", "wait")).await;
    assert_eq!([served.next_event().await, served.next_event().await], ["began", "began"]);
    served.shut_down();
    assert!(idle.is_ended().await && fresh.is_ended().await);
    assert!(served.calls.is_closing());
    // Running calls are not disturbed; new connections are refused.
    assert!(tokio::net::TcpStream::connect(served.address).await.is_err());
    served.release.notify_waiters();
    assert_eq!([served.next_event().await, served.next_event().await], ["released", "released"]);
    assert_eq!(new.reply().await.text(), "released");
    assert_eq!(old.reply().await.text(), "released");
    // The streams of sessions end with a final chunk.
    listening.read_until("0\r\n\r\n").await;
    served.wait_until_stopped().await;
}

#[tokio::test]
async fn what_does_not_end_within_the_grace_is_stopped_and_says_so() {
    let mut served = TestServer::new(HttpConfig { shutdown_grace: SHORT, ..HttpConfig::default() }).await;
    let session = open_session(&served, "").await;
    let (mut new, mut old) = (served.client().await, served.client().await);
    new.send(&call("", "stubborn", &json!({}))).await;
    old.send(&call_in(&session, "", "stubborn")).await;
    assert_eq!([served.next_event().await, served.next_event().await], ["began", "began"]);
    served.shut_down();
    assert_eq!(new.reply().await.text(), "stopped");
    assert_eq!(old.reply().await.text(), "stopped");
    served.wait_until_stopped().await;
}

#[tokio::test]
async fn nobody_delays_the_end_by_not_reading_or_not_writing() {
    let times = Timeouts { write: Duration::from_millis(500), ..Timeouts::default() };
    let mut served =
        TestServer::new(HttpConfig { shutdown_grace: SHORT, timeouts: times, ..HttpConfig::default() }).await;
    let mut reader = served.client().await;
    reader.send(&call("", "big", &json!({ "size": 30_000_000 }))).await;
    assert_eq!(reader.head().await.status, 200);
    let mut writer = served.client().await;
    writer.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx").await;
    let mut head = served.client().await;
    head.send("GET /healthz HTTP/1.1\r\n").await;
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
    served.shut_down();
    served.wait_until_stopped().await;
}

#[tokio::test]
async fn a_server_that_is_about_to_end_is_not_ready() {
    let served = TestServer::new(HttpConfig::default()).await;
    assert_eq!(served.ask(&get("/readyz")).await.status, 200);
    served.calls.close(Duration::ZERO).await;
    let reply = served.ask(&get("/readyz")).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "closing"));
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_server_that_drains_answers_and_ends_each_connection() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut idle = served.client().await;
    idle.send(&get("/healthz")).await;
    let reply = idle.reply().await;
    assert_eq!((reply.status, reply.headers.get("connection")), (200, None));
    served.calls.drain();
    let reply = served.ask(&get("/readyz")).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "closing"));
    // An old connection carries one more call, and so does a new one.
    for mut client in [idle, served.client().await] {
        client.send(&call("", "big", &json!({ "size": 10 }))).await;
        let reply = client.reply().await;
        assert_eq!((reply.status, reply.headers["connection"].as_str()), (200, "close"));
        assert!(client.is_ended().await);
    }
    served.wait_until_stopped().await;
}
