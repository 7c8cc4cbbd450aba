//! How a server ends.

use std::time::Duration;

use serde_json::json;

use crate::http::{HttpConfig, Times};

use super::harness::{SHORT, Served, begun, call, call_in, get, in_session};

#[tokio::test]
async fn what_runs_is_finished_and_its_answer_written() {
    let mut served = Served::new(HttpConfig::default()).await;
    let session = begun(&served, "").await;
    let mut idle = served.client().await;
    idle.say(&get("/healthz")).await;
    assert_eq!(idle.reply().await.status, 200);
    let mut fresh = served.client().await;
    let mut listening = served.client().await;
    let headers = in_session(&session, "Accept: text/event-stream\r\n");
    listening.say(&format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await;
    assert_eq!(listening.head().await.status, 200);
    let (mut new, mut old) = (served.client().await, served.client().await);
    new.say(&call("", "wait", &json!({}))).await;
    old.say(&call_in(&session, "", "wait")).await;
    assert_eq!([served.hears().await, served.hears().await], ["began", "began"]);
    served.shut_down();
    assert!(idle.is_ended().await && fresh.is_ended().await);
    assert!(served.calls.is_closing());
    // What runs is not disturbed; who comes now is not let in.
    assert!(tokio::net::TcpStream::connect(served.address).await.is_err());
    served.release.notify_waiters();
    assert_eq!([served.hears().await, served.hears().await], ["released", "released"]);
    assert_eq!(new.reply().await.text(), "released");
    assert_eq!(old.reply().await.text(), "released");
    // The streams of sessions end in form.
    listening.until("0\r\n\r\n").await;
    served.ended().await;
}

#[tokio::test]
async fn what_does_not_end_within_the_grace_is_stopped_and_says_so() {
    let mut served = Served::new(HttpConfig { grace: SHORT, ..HttpConfig::default() }).await;
    let session = begun(&served, "").await;
    let (mut new, mut old) = (served.client().await, served.client().await);
    new.say(&call("", "stubborn", &json!({}))).await;
    old.say(&call_in(&session, "", "stubborn")).await;
    assert_eq!([served.hears().await, served.hears().await], ["began", "began"]);
    served.shut_down();
    assert_eq!(new.reply().await.text(), "stopped");
    assert_eq!(old.reply().await.text(), "stopped");
    served.ended().await;
}

#[tokio::test]
async fn nobody_delays_the_end_by_not_reading_or_not_writing() {
    let times = Times { write: Duration::from_millis(500), ..Times::default() };
    let mut served = Served::new(HttpConfig { grace: SHORT, times, ..HttpConfig::default() }).await;
    let mut reader = served.client().await;
    reader.say(&call("", "big", &json!({ "size": 30_000_000 }))).await;
    assert_eq!(reader.head().await.status, 200);
    let mut writer = served.client().await;
    writer.say("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx").await;
    let mut head = served.client().await;
    head.say("GET /healthz HTTP/1.1\r\n").await;
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
    served.shut_down();
    served.ended().await;
}

#[tokio::test]
async fn a_server_that_is_about_to_end_is_not_ready() {
    let served = Served::new(HttpConfig::default()).await;
    assert_eq!(served.ask(&get("/readyz")).await.status, 200);
    served.calls.close(Duration::ZERO).await;
    let reply = served.ask(&get("/readyz")).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "closing"));
    assert_eq!(served.ask(&get("/healthz")).await.status, 200);
}
