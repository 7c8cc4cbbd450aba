//! Where no request goes.

mod spellings;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolcell_capabilities::{Effects, Net};

use crate::world::{Everywhere, Names, Server, answer, failure, get, granting, granting_with, net, start, text};

/// All hosts by both schemes at a port, and no private address.
fn anything(net: &Net, port: u16) -> toolcell_capabilities::NetSession {
    let grant = |scheme: &str| json!({"host": "any", "scheme": scheme, "ports": [port], "calls": 1_000});
    start(net, &[grant("http"), grant("https")], &[])
}

/// Asserts that each request fails in this way and that a local server on the port gets no connection.
async fn refused(spellings: &[&str], code: &str) {
    let server = Server::start(|_| answer("never")).await;
    // Not every machine has IPv6; where it has none, no connection uses it.
    let six = TcpListener::bind(("::1", server.port)).await;
    let run = anything(&net(Everywhere), server.port);
    for spelling in spellings {
        let url = spelling.replace(":P", &format!(":{}", server.port)).replace(":0P", &format!(":0{}", server.port));
        let failure = failure(&run, get(&url)).await;
        assert_eq!(
            (&*failure.code, &*failure.name, failure.effects),
            (code, "TypeError", Effects::None),
            "{url} {failure}"
        );
    }
    assert_eq!(server.connections(), 0);
    if let Ok(six) = six {
        let came = tokio::select! { biased; came = six.accept() => came.is_ok(), () = std::future::ready(()) => false };
        assert!(!came);
    }
}

#[test]
fn there_are_enough_spellings() {
    let all = [spellings::ADDRESSES, spellings::NAMES, spellings::NOTHING].concat();
    assert!(all.len() >= 240, "{}", all.len());
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_asked() {
    refused(spellings::ADDRESSES, "net-address").await;
}

#[tokio::test]
async fn no_name_of_a_private_address_is_asked() {
    refused(spellings::NAMES, "net-address").await;
}

#[tokio::test]
async fn what_is_no_url_is_not_asked() {
    refused(spellings::NOTHING, "net-url").await;
}

#[tokio::test]
async fn the_same_spellings_arrive_where_the_address_is_granted() {
    let server = Server::start(|_| answer("here")).await;
    let run = start(&net(Everywhere), &[granting("127.0.0.1", server.port)], &[]);
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "127.1.", "[::ffff:127.0.0.1]"] {
        assert_eq!(text(&run, get(&format!("http://{host}:{}/", server.port))).await.1, "here", "{host}");
    }
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_looked_at_each_time() {
    let server = Server::start(|_| head_close()).await;
    let names = Names::default().with("a.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let grant = granting_with("a.test", server.port, &json!({"addresses": ["127.0.0.1"]}));
    let run = start(&net(names), &[grant], &[]);
    let url = format!("http://a.test:{}/", server.port);
    assert_eq!(text(&run, get(&url)).await.1, "here");
    let failure = failure(&run, get(&url)).await;
    assert_eq!((&*failure.code, failure.effects), ("net-address", Effects::None));
    assert!(failure.message.contains("`a.test` has the address 127.0.0.2, which is loopback"), "{failure}");
    assert!(failure.message.contains("addresses = [\"127.0.0.2\"]"), "{failure}");
    assert_eq!(server.connections(), 1);
}

/// An answer after which the client must connect again.
fn head_close() -> crate::world::Answer {
    crate::world::head("connection", "close", answer("here"))
}

#[tokio::test]
async fn a_name_with_one_address_that_is_not_granted_is_refused_whole() {
    let server = Server::start(|_| answer("never")).await;
    let grant = granting_with("a.test", server.port, &json!({"addresses": ["127.0.0.1"]}));
    for answers in [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["127.0.0.1", "::1"]] {
        let run = start(&net(Names::default().with("a.test", &[&answers])), std::slice::from_ref(&grant), &[]);
        let failure = failure(&run, get(&format!("http://a.test:{}/", server.port))).await;
        assert_eq!((&*failure.code, failure.effects), ("net-address", Effects::None));
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn an_address_is_granted_to_its_own_requests_alone() {
    let server = Server::start(|_| answer("here")).await;
    let grants: [Value; 2] = [
        granting_with("a.test", server.port, &json!({"path": "/inside"})),
        granting_with("a.test", server.port, &json!({"path": "/outside", "addresses": []})),
    ];
    let run = start(&net(Names::local(&["a.test"])), &grants, &[]);
    let url = format!("http://a.test:{}", server.port);
    assert_eq!(text(&run, get(&format!("{url}/inside"))).await.1, "here");
    // A connection to that place is open, and is not used.
    let failure = failure(&run, get(&format!("{url}/outside"))).await;
    assert_eq!((&*failure.code, server.seen().len()), ("net-address", 1));
}
