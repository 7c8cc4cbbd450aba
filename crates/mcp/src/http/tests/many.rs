//! More connections than anybody uses.

use crate::http::HttpConfig;

use super::harness::{Client, SHORT, Served, alone, get, initialize, initialized, memory, who};

#[test]
fn a_thousand_idle_connections_cost_little() {
    alone("many::a_thousand_idle_connections_cost_little", 4096, || a_thousand(who(), 25_000));
}

#[test]
fn a_thousand_idle_connections_with_sessions_cost_little() {
    alone("many::a_thousand_idle_connections_with_sessions_cost_little", 4096, || a_thousand(initialize(""), 90_000));
}

/// What that many cost, with their clients, which are in this process as well.
async fn a_thousand(begin: String, most: i64) {
    let served = Served::new(HttpConfig { sessions: 1000, ..HttpConfig::default() }).await;
    assert_eq!(served.ask(&who()).await.status, 200);
    let before = memory();
    let mut clients = Vec::new();
    for _ in 0..1000 {
        let mut client = served.client().await;
        client.say(&begin).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 200);
        if reply.headers.contains_key("mcp-session-id") {
            client.say(&initialized(&reply.session(), "")).await;
            assert_eq!(client.reply().await.status, 202);
        }
        clients.push(client);
    }
    let more = memory() - before;
    assert!(more < most, "{more} KiB");
    for client in &mut clients {
        client.say(&get("/healthz")).await;
        assert_eq!(client.reply().await.status, 200);
    }
}

#[tokio::test]
async fn whoever_comes_when_all_places_are_taken_waits() {
    let served = Served::new(HttpConfig { connections: 1, ..HttpConfig::default() }).await;
    let mut first = served.client().await;
    first.say(&get("/healthz")).await;
    assert_eq!(first.reply().await.status, 200);
    let mut second = served.client().await;
    second.say(&get("/healthz")).await;
    let waits = tokio::time::timeout(SHORT, second.head()).await;
    assert!(waits.is_err());
    drop(first);
    assert_eq!(second.head().await.status, 200);
}

#[test]
fn a_server_without_files_goes_on_when_it_has_some_again() {
    alone("many::a_server_without_files_goes_on_when_it_has_some_again", 40, starved);
}

async fn starved() {
    let served = Served::new(HttpConfig::default()).await;
    let mut client = served.client().await;
    client.say(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    let mut files = Vec::new();
    while let Ok(pair) = tokio::net::UnixStream::pair() {
        files.push(pair);
    }
    // The last, one by one.
    let mut last = Vec::new();
    while let Ok(socket) = tokio::net::UnixDatagram::unbound() {
        last.push(socket);
    }
    // The kernel makes connections that nobody can accept.
    let mut waiting = Client::over(socket.connect(served.address).await.unwrap());
    waiting.say(&get("/healthz")).await;
    // Who is connected is served all the same.
    client.say(&get("/healthz")).await;
    assert_eq!(client.reply().await.status, 200);
    drop((files, last));
    assert_eq!(waiting.reply().await.status, 200);
}
