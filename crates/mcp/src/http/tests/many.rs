//! Large numbers of connections.

use crate::http::HttpConfig;

use super::harness::{RawClient, SHORT, TestServer, get, initialize, initialized, memory, run_isolated, who_request};

#[test]
fn a_thousand_idle_connections_cost_little() {
    run_isolated("many::a_thousand_idle_connections_cost_little", 4096, || a_thousand(who_request(), 25_000));
}

#[test]
fn a_thousand_idle_connections_with_sessions_cost_little() {
    run_isolated("many::a_thousand_idle_connections_with_sessions_cost_little", 4096, || {
        a_thousand(initialize(""), 90_000)
    });
}

/// Measures the memory of a thousand connections, their clients in the same process included.
async fn a_thousand(begin: String, most: i64) {
    let served = TestServer::new(HttpConfig { max_sessions: 1000, ..HttpConfig::default() }).await;
    assert_eq!(served.ask(&who_request()).await.status, 200);
    let before = memory();
    let mut clients = Vec::new();
    for _ in 0..1000 {
        let mut client = served.client().await;
        client.send(&begin).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 200);
        if reply.headers.contains_key("mcp-session-id") {
            client.send(&initialized(&reply.session(), "")).await;
            assert_eq!(client.reply().await.status, 202);
        }
        clients.push(client);
    }
    let more = memory() - before;
    assert!(more < most, "{more} KiB");
    for client in &mut clients {
        client.send(&get("/healthz")).await;
        assert_eq!(client.reply().await.status, 200);
    }
}

#[tokio::test]
async fn whoever_comes_when_all_places_are_taken_waits() {
    let served = TestServer::new(HttpConfig { max_connections: 1, ..HttpConfig::default() }).await;
    let mut first = served.client().await;
    first.send(&get("/healthz")).await;
    assert_eq!(first.reply().await.status, 200);
    let mut second = served.client().await;
    second.send(&get("/healthz")).await;
    let waits = tokio::time::timeout(SHORT, second.head()).await;
    assert!(waits.is_err());
    drop(first);
    assert_eq!(second.head().await.status, 200);
}

#[test]
fn a_server_without_files_goes_on_when_it_has_some_again() {
    run_isolated("many::a_server_without_files_goes_on_when_it_has_some_again", 40, starved);
}

async fn starved() {
    let served = TestServer::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    client.send(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    let mut files = Vec::new();
    while let Ok(pair) = tokio::net::UnixStream::pair() {
        files.push(pair);
    }
    // The last descriptors, one by one.
    let mut last = Vec::new();
    while let Ok(socket) = tokio::net::UnixDatagram::unbound() {
        last.push(socket);
    }
    // The kernel completes connections that the server cannot accept.
    let mut waiting = RawClient::over(socket.connect(served.address).await.unwrap());
    waiting.send(&get("/healthz")).await;
    // An open connection is still served.
    client.send(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    drop((files, last));
    assert_eq!(waiting.reply().await.status, 200);
}
