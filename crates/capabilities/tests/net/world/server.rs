//! Servers: one that answers, and one that does what it likes with a connection.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// An answer of a server.
pub(crate) type Answer = hyper::Response<Full<Bytes>>;

/// A request as it reached a server.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: String,
    pub(crate) version: hyper::Version,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A server by HTTP/1.1, or by what TLS agrees on.
pub(crate) struct Server {
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(None, answer).await
    }

    pub(crate) async fn by_tls(
        acceptor: TlsAcceptor,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::listen(Some(acceptor), answer).await
    }

    async fn listen(tls: Option<TlsAcceptor>, answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let server = Self { port, connections: connections.clone(), seen: seen.clone() };
        let answer: Arc<dyn Fn(&Seen) -> Answer + Send + Sync> = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                let (tls, answer, seen) = (tls.clone(), answer.clone(), seen.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, false, answer, seen).await,
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else { return };
                            let two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                            serve(stream, two, answer, seen).await;
                        }
                    }
                });
            }
        });
        server
    }

    /// How many connections were made to it.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests that reached it.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    two: bool,
    answer: Arc<dyn Fn(&Seen) -> Answer + Send + Sync>,
    seen: Arc<Mutex<Vec<Seen>>>,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (answer, seen) = (answer.clone(), seen.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let one = Seen {
                method: head.method.to_string(),
                target: head.uri.path_and_query().unwrap().to_string(),
                headers: head.headers,
                body: String::from_utf8_lossy(&body).into_owned(),
                version: head.version,
            };
            let answer = answer(&one);
            seen.lock().unwrap().push(one);
            Ok::<_, Infallible>(answer)
        }
    });
    // A client may leave whenever it likes.
    let _gone = if two {
        http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
    } else {
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
    };
}

/// A server that a test plays itself, one connection at a time.
pub(crate) struct Raw {
    pub(crate) port: u16,
    pub(crate) listener: TcpListener,
}

impl Raw {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        Self { port: listener.local_addr().unwrap().port(), listener }
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        let (stream, _) = self.listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }
}

/// The head of a request, if a whole one comes.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.ok()?;
        head.push(byte);
    }
    String::from_utf8(head).ok()
}

/// An answer with a body.
pub(crate) fn answer(body: impl Into<Bytes>) -> Answer {
    hyper::Response::new(Full::new(body.into()))
}

/// An answer with a header.
pub(crate) fn head(name: &'static str, value: &str, answer: Answer) -> Answer {
    let mut answer = answer;
    answer.headers_mut().append(name, value.parse().unwrap());
    answer
}

/// An answer that leads elsewhere.
pub(crate) fn lead(status: u16, location: &str) -> Answer {
    let mut answer = head("location", location, answer("elsewhere"));
    *answer.status_mut() = status.try_into().unwrap();
    answer
}
