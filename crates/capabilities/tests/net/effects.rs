//! What a failure says of the effects, beside what really reached the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolcell_capabilities::{Effects, OperationError};

use crate::world::{Names, Raw, failure, get, granting, local, net, post, read_head, start, whole};

/// When a server goes wrong, and how.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Silent,
    Deaf,
    HalfAHead,
    NoHttp,
    HalfABody,
    HalfAChunk,
    Reset,
}

async fn play(mut stream: TcpStream, fault: Fault, reached: &AtomicUsize) {
    if matches!(fault, Fault::Silent) {
        return;
    }
    let head = read_head(&mut stream).await.unwrap();
    assert!(head.starts_with("POST"), "{head}");
    // A connection that is closed over unread bytes is reset.
    if !matches!(fault, Fault::Reset) {
        stream.read_exact(&mut [0; 4]).await.unwrap();
    }
    reached.fetch_add(1, Ordering::SeqCst);
    let said: &[u8] = match fault {
        Fault::Silent | Fault::Deaf => b"",
        Fault::HalfAHead => b"HTTP/1.1 200 O",
        Fault::NoHttp => b"220 mail.example ESMTP\r\n\r\n",
        Fault::HalfABody | Fault::Reset => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun",
        Fault::HalfAChunk => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\nff\r\nx",
    };
    stream.write_all(said).await.unwrap();
    if matches!(fault, Fault::Reset) {
        // The client reads the head before the reset throws it away; it ends this.
        std::future::pending::<()>().await;
    }
}

/// What happens to a request of a server with a fault, and how many requests reached it.
async fn injected(fault: Fault) -> (OperationError, usize) {
    let raw = Raw::start().await;
    let run = local(raw.port, &["a.test"]);
    let reached = Arc::new(AtomicUsize::new(0));
    let counted = reached.clone();
    let url = format!("http://a.test:{}/", raw.port);
    let server = tokio::spawn(async move {
        let stream = raw.accept().await;
        play(stream, fault, &counted).await;
    });
    let failure = match run.fetch(1, post(&url, "body")).await {
        Err(failure) => failure,
        Ok(mut response) => {
            if matches!(fault, Fault::Reset) {
                server.abort();
                server.await.unwrap_err();
            }
            whole(&mut response).await.unwrap_err()
        }
    };
    (failure, reached.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_failure_tells_the_truth_about_each_phase() {
    for (fault, effects, truth) in [
        (Fault::Silent, Effects::Started, 0),
        (Fault::Deaf, Effects::Started, 1),
        (Fault::HalfAHead, Effects::Started, 1),
        (Fault::NoHttp, Effects::Started, 1),
        (Fault::HalfABody, Effects::Committed, 1),
        (Fault::HalfAChunk, Effects::Committed, 1),
        (Fault::Reset, Effects::Committed, 1),
    ] {
        let (failure, reached) = injected(fault).await;
        assert_eq!((&*failure.code, &*failure.name), ("net-broken", "TypeError"), "{fault:?}");
        assert_eq!((failure.effects, reached), (effects, truth), "{fault:?} {failure}");
        assert_eq!(failure.message.contains("connection reset"), matches!(fault, Fault::Reset), "{fault:?} {failure}");
    }
}

#[tokio::test]
async fn an_answer_that_is_all_head_is_given_up() {
    let raw = Raw::start().await;
    let run = local(raw.port, &["a.test"]);
    let url = format!("http://a.test:{}/", raw.port);
    let server = tokio::spawn(async move {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        while stream.write_all(b"x-more: of the same, for ever and ever\r\n").await.is_ok() {}
    });
    let failure = failure(&run, get(&url)).await;
    assert_eq!((&*failure.code, failure.effects), ("net-broken", Effects::Started));
    assert!(failure.message.contains("its response header is too large"), "{failure}");
    server.await.unwrap();
}

#[tokio::test]
async fn nothing_happens_where_nobody_listens() {
    let raw = Raw::start().await;
    let run = local(raw.port, &["a.test"]);
    let url = format!("http://a.test:{}/", raw.port);
    drop(raw);
    let failure = failure(&run, post(&url, "body")).await;
    assert_eq!((&*failure.code, failure.effects), ("net-unreachable", Effects::None));
    assert!(failure.message.contains("connection refused"), "{failure}");
}

#[tokio::test]
async fn nothing_happens_at_a_host_without_an_address() {
    let net = net(Names::default().with("empty.test", &[&[]]));
    let run = start(&net, &[granting("none.test", 80), granting("empty.test", 80)], &[]);
    for host in ["none.test", "empty.test"] {
        let failure = failure(&run, get(&format!("http://{host}/"))).await;
        assert_eq!((&*failure.code, failure.effects), ("net-unreachable", Effects::None));
        assert!(failure.message.starts_with(&format!("http://{host} was not found")), "{failure}");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_ends_at_the_server() {
    let raw = Raw::start().await;
    let run = local(raw.port, &["a.test"]);
    let url = format!("http://a.test:{}/", raw.port);
    let arrived = async {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream
    };
    // The head of the answer never comes.
    let mut stream = tokio::select! {
        stream = arrived => stream,
        _ = run.fetch(1, get(&url)) => unreachable!("there was no answer"),
    };
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_body_that_is_not_wanted_any_more_ends_at_the_server() {
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
    assert!(response.body.read().await.unwrap().is_some());
    drop(response);
    server.await.unwrap();
}

#[tokio::test]
async fn a_failure_after_a_redirect_is_one_after_something_was_done() {
    let raw = Raw::start().await;
    let gone = Raw::start().await;
    let hosts = [granting("a.test", raw.port), granting("b.test", gone.port)];
    let run = start(&net(Names::local(&["a.test", "b.test"])), &hosts, &[]);
    let (url, elsewhere) = (format!("http://a.test:{}/", raw.port), format!("http://b.test:{}/", gone.port));
    drop(gone);
    let server = async {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let (failure, _stream) = tokio::join!(failure(&run, get(&url)), server);
    assert_eq!((&*failure.code, failure.effects), ("net-unreachable", Effects::Committed));
}
