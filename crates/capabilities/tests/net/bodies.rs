//! What comes back, and how much of it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use toolcell_capabilities::Effects;

use crate::world::{
    Names, Raw, Server, answer, failure, get, granting_with, head, local, net, post, read_head, start, text, value,
    whole,
};

/// 20 MiB of zeros, and a greeting, by the reference implementation of brotli.
const BROTLI_BOMB: &[u8] = &[
    0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f, 0xf0, 0x4f,
    0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x5f, 0xfe, 0xff, 0xff, 0xe0, 0x9f, 0x00, 0x88, 0xc3, 0x02, 0x00, 0xdd,
    0xfb, 0x1f,
];
const BROTLI_GREETING: &[u8] =
    &[0x8b, 0x05, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x62, 0x72, 0x6f, 0x74, 0x6c, 0x69, 0x03];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A connection that says some bytes and is closed.
async fn said(bytes: &'static [u8]) -> u16 {
    let raw = Raw::start().await;
    let port = raw.port;
    tokio::spawn(async move {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream.write_all(bytes).await.unwrap();
    });
    port
}

#[tokio::test]
async fn an_answer_has_what_the_server_says() {
    let server = Server::start(|seen| {
        let body = format!("{} {} {}", seen.method, seen.target, seen.body);
        head("x-two", "2", head("x-two", "1", answer(body)))
    });
    let server = server.await;
    let run = local(server.port, &["a.test"]);
    let url = format!("http://a.test:{}/p/a?q=1#part", server.port);
    let (response, body) = text(&run, post(&url, "sent")).await;
    assert_eq!(body, "POST /p/a?q=1 sent");
    assert_eq!((response.status, response.status_text.as_str(), response.redirected), (200, "OK", false));
    assert_eq!(response.url, format!("http://a.test:{}/p/a?q=1", server.port));
    let twos: Vec<_> = response.headers.iter().filter(|(name, _)| name == "x-two").map(|(_, value)| value).collect();
    assert_eq!(twos, ["1", "2"]);
}

#[tokio::test]
async fn a_server_chooses_its_words() {
    let port = said(b"HTTP/1.1 299 For you\r\nx-raw: \xe4\r\ncontent-length: 0\r\n\r\n").await;
    let (response, body) = text(&local(port, &["a.test"]), get(&format!("http://a.test:{port}/"))).await;
    assert_eq!((response.status, response.status_text.as_str(), body.as_str()), (299, "For you", ""));
    assert_eq!(value(&response, "x-raw"), Some("ä"));
}

#[tokio::test]
async fn an_answer_is_unpacked() {
    let server = Server::start(|seen| match seen.target.as_str() {
        "/gzip" => head("content-encoding", "gzip", answer(gzip(b"hello gzip"))),
        "/deflate" => head("content-encoding", "deflate", answer(deflate(b"hello deflate"))),
        _ => head("content-encoding", "br", answer(BROTLI_GREETING)),
    });
    let server = server.await;
    let run = local(server.port, &["a.test"]);
    for (path, expect) in [("gzip", "hello gzip"), ("deflate", "hello deflate"), ("br", "hello brotli")] {
        let (response, body) = text(&run, get(&format!("http://a.test:{}/{path}", server.port))).await;
        assert_eq!(body, expect);
        assert_eq!(value(&response, "content-encoding"), None);
    }
    let accepted = server.seen()[0].header("accept-encoding").unwrap().to_owned();
    assert!(["gzip", "br", "deflate"].iter().all(|coding| accepted.contains(coding)), "{accepted}");
}

#[tokio::test]
async fn a_bomb_is_held_at_the_limit() {
    let gzipped = gzip(&vec![0; 50 << 20]);
    assert!(gzipped.len() < 64 << 10);
    let server = Server::start(move |seen| match seen.target.as_str() {
        "/gzip" => head("content-encoding", "gzip", answer(gzipped.clone())),
        _ => head("content-encoding", "br", answer(BROTLI_BOMB)),
    });
    let server = server.await;
    let grant = granting_with("a.test", server.port, &json!({"response_bytes": 1_000_000}));
    let run = start(&net(Names::local(&["a.test"])), &[grant], &[]);
    for path in ["gzip", "br"] {
        let mut response = run.fetch(1, get(&format!("http://a.test:{}/{path}", server.port))).await.unwrap();
        let mut read = 0;
        let failure = loop {
            match response.body.read().await {
                Ok(piece) => read += piece.unwrap().len(),
                Err(failure) => break failure,
            }
        };
        assert!(read <= 1_000_000, "{read}");
        assert_eq!((&*failure.code, &*failure.name), ("net-response-too-large", "QuotaExceededError"));
        assert_eq!(failure.effects, Effects::Committed);
        assert_eq!(response.body.read().await, Err(failure));
    }
}

#[tokio::test]
async fn an_endless_body_is_held_at_the_limit() {
    let raw = Raw::start().await;
    let run = local(raw.port, &["a.test"]);
    let url = format!("http://a.test:{}/", raw.port);
    let server = tokio::spawn(async move {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(&vec![b'x'; 65_536]).await.is_ok() {}
    });
    let mut response = run.fetch(1, get(&url)).await.unwrap();
    let failure = whole(&mut response).await.unwrap_err();
    assert_eq!((&*failure.code, failure.effects), ("net-response-too-large", Effects::Committed));
    assert!(failure.message.contains("10485760 bytes"), "{failure}");
    // The connection ends with the failure, not with the answer.
    server.await.unwrap();
}

#[tokio::test]
async fn a_body_may_be_as_long_as_the_limit() {
    let server = Server::start(|_| answer(vec![b'x'; 200_000])).await;
    let url = format!("http://a.test:{}/", server.port);
    for (limit, fits) in [(200_000, true), (199_999, false)] {
        let grant = granting_with("a.test", server.port, &json!({"response_bytes": limit}));
        let run = start(&net(Names::local(&["a.test"])), &[grant], &[]);
        let mut response = run.fetch(1, get(&url)).await.unwrap();
        assert_eq!(whole(&mut response).await.map(|body| body.len()).ok(), fits.then_some(200_000));
    }
}

#[tokio::test]
async fn a_body_that_is_shorter_than_its_head_says_has_broken_off() {
    let port = said(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort").await;
    let mut response = local(port, &["a.test"]).fetch(1, get(&format!("http://a.test:{port}/"))).await.unwrap();
    let failure = whole(&mut response).await.unwrap_err();
    assert_eq!((&*failure.code, failure.effects), ("net-broken", Effects::Committed));
    assert_eq!(response.body.read().await, Err(failure));
}

#[tokio::test]
async fn what_follows_the_length_of_a_body_is_none_of_it() {
    let port = said(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nshortHTTP/1.1 200 OK\r\n\r\n").await;
    let (_, body) = text(&local(port, &["a.test"]), get(&format!("http://a.test:{port}/"))).await;
    assert_eq!(body, "short");
}

#[tokio::test]
async fn damaged_compression_is_no_end() {
    let server = Server::start(|seen| {
        let whole = gzip(&(0..=255).cycle().take(10_000).collect::<Vec<u8>>());
        let body = if seen.target == "/cut" { whole[..whole.len() / 2].to_vec() } else { b"no gzip at all".to_vec() };
        head("content-encoding", "gzip", answer(body))
    });
    let server = server.await;
    let run = local(server.port, &["a.test"]);
    for path in ["cut", "none"] {
        let mut response = run.fetch(1, get(&format!("http://a.test:{}/{path}", server.port))).await.unwrap();
        let failure = whole(&mut response).await.unwrap_err();
        assert_eq!((&*failure.code, failure.effects), ("net-broken", Effects::Committed), "{path} {failure}");
        assert!(failure.message.contains("its compressed data is corrupt"), "{failure}");
    }
}

#[tokio::test]
async fn an_answer_without_a_body_has_an_empty_one() {
    let server = Server::start(|seen| {
        let mut answer = head("content-encoding", "gzip", answer(""));
        *answer.status_mut() = seen.target[1..].parse().unwrap();
        answer
    });
    let server = server.await;
    let run = local(server.port, &["a.test"]);
    for (method, status) in [("HEAD", 200), ("GET", 204), ("GET", 304), ("DELETE", 205)] {
        let url = format!("http://a.test:{}/{status}", server.port);
        let (response, body) = text(&run, toolcell_capabilities::Request { method: method.into(), ..get(&url) }).await;
        assert_eq!((response.status, body.as_str()), (status, ""));
    }
}

#[tokio::test]
async fn a_body_that_is_sent_has_a_limit() {
    let server = Server::start(|seen| answer(seen.body.len().to_string())).await;
    let url = format!("http://a.test:{}/", server.port);
    let grant = granting_with("a.test", server.port, &json!({"request_bytes": 5}));
    let run = start(&net(Names::local(&["a.test"])), &[grant], &[]);
    assert_eq!(text(&run, post(&url, "12345")).await.1, "5");
    let failure = failure(&run, post(&url, "123456")).await;
    assert_eq!((&*failure.code, &*failure.name), ("net-request-too-large", "QuotaExceededError"));
    assert_eq!((failure.effects, server.seen().len()), (Effects::None, 1));
}
