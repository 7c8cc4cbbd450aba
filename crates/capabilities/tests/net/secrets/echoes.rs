//! Servers that say a secret again.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use data_encoding::{BASE32, BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use toolcell_capabilities::{Effects, NetSession, Response};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{EVERYWHERE, VALUE, grant};
use crate::world::{Names, Raw, Server, answer, get, granting, head, header, net, post, read_head, start, text, whole};

/// All ways in which the value is looked for.
fn encodings() -> Vec<String> {
    let bytes = VALUE.as_bytes();
    let component = "s3cr%20%22t%2F%25%2B%26%3D%3C%C3%B6%3E~'x";
    let json = Value::from(VALUE).to_string().trim_matches('"').to_owned();
    let mut all = vec![
        VALUE.to_owned(),
        HEXLOWER.encode(bytes),
        HEXUPPER.encode(bytes),
        component.to_owned(),
        component.to_lowercase(),
        component.replace("%20", "+").replace('\'', "%27").replace('~', "%7E"),
        bytes.iter().fold(String::new(), |all, byte| all + &format!("%{byte:02X}")),
        json.replace('/', "\\/"),
        json,
    ];
    for encoding in [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD] {
        all.extend((0..4).map(|front| encoding.encode(&[&b"user"[..front], bytes, b"!"].concat())));
    }
    all
}

/// Whether some text has the value in it, whichever way it is written. It is cut so that what is around does not matter.
fn tells(text: &str) -> bool {
    let mut written = encodings();
    for front in 0..3 {
        let padded = [&b"\0\0"[..front], VALUE.as_bytes()].concat();
        written.extend([BASE64_NOPAD, BASE64URL_NOPAD].map(|base64| base64.encode(&padded)[4..20].to_owned()));
    }
    written.iter().any(|written| text.to_lowercase().contains(&written.to_lowercase()))
}

fn run(port: u16) -> NetSession {
    start(&net(Names::local(&["a.test"])), &[granting("a.test", port)], &[grant(&["a.test"], EVERYWHERE)])
}

fn shown(response: &Response, body: &str) -> String {
    format!("{response:?} {:?} {} {body}", response.headers, response.url)
}

#[test]
fn what_is_looked_for_would_be_found() {
    assert!(encodings().iter().all(|written| tells(written)) && !tells("{{secret:TOKEN}}"));
}

#[tokio::test]
async fn a_value_that_a_server_repeats_is_a_placeholder_again() {
    let server = Server::start(|seen| {
        let mut all = answer(format!("<{}> {}", encodings().join("> <"), seen.target));
        for written in encodings().iter().filter(|written| written.is_ascii()) {
            all = head("x-echo", written, all);
        }
        let raw = hyper::header::HeaderValue::from_bytes(VALUE.as_bytes()).unwrap();
        all.headers_mut().append("x-echo", raw);
        all
    });
    let server = server.await;
    let run = run(server.port);
    let url = format!("http://a.test:{}/?k={{{{secret:TOKEN}}}}", server.port);
    let (response, body) = text(&run, header("x-key", "{{secret:TOKEN}}", get(&url))).await;
    assert!(!tells(&shown(&response, &body)), "{}", shown(&response, &body));
    assert_eq!(body.matches("{{secret:TOKEN}}").count(), encodings().len() + 1);
    let echoes = response.headers.iter().filter(|(name, _)| name == "x-echo");
    assert!(echoes.clone().count() > 20 && echoes.clone().all(|(_, value)| value.contains("{{secret:TOKEN}}")));
}

#[tokio::test]
async fn pieces_of_one_byte_make_no_difference() {
    let raw = Raw::start().await;
    let run = run(raw.port);
    let url = format!("http://a.test:{}/", raw.port);
    tokio::spawn(async move {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 s3cr%20%22t%2f%25%2b%26%3d%3c%c3%b6%3e~'x!\r\ntransfer-encoding: chunked\r\n\r\n")
            .await
            .unwrap();
        for byte in encodings().join(" | ").into_bytes() {
            stream.write_all(&[b'1', b'\r', b'\n', byte, b'\r', b'\n']).await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    });
    let mut response = run.fetch(1, header("x-key", "{{secret:TOKEN}}", get(&url))).await.unwrap();
    let body = String::from_utf8(whole(&mut response).await.unwrap()).unwrap();
    assert_eq!(response.status_text, "{{secret:TOKEN}}!");
    assert!(!tells(&shown(&response, &body)), "{body}");
    assert_eq!(body.split(" | ").filter(|part| part.contains("{{secret:TOKEN}}")).count(), encodings().len());
}

#[tokio::test]
async fn a_packed_value_is_found_too() {
    let server = Server::start(|_| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all([&"x".repeat(100_000), VALUE, "y"].concat().as_bytes()).unwrap();
        head("content-encoding", "gzip", answer(encoder.finish().unwrap()))
    });
    let server = server.await;
    let (_, body) = text(&run(server.port), get(&format!("http://a.test:{}/", server.port))).await;
    assert_eq!(body, ["x".repeat(100_000).as_str(), "{{secret:TOKEN}}y"].concat());
}

#[tokio::test]
async fn a_header_whose_name_is_the_value_is_left_out() {
    let raw = Raw::start().await;
    let secret = (json!({"name": "TOKEN", "hosts": ["a.test"]}), "Top-Secret-1");
    let run = start(&net(Names::local(&["a.test"])), &[granting("a.test", raw.port)], &[secret]);
    let url = format!("http://a.test:{}/", raw.port);
    tokio::spawn(async move {
        let mut stream = raw.accept().await;
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nx-Top-Secret-1: a\r\nx: b\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let (response, _) = text(&run, get(&url)).await;
    let names: Vec<_> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "content-length"]);
}

/// Further ways, which are found in a view of the text alone.
fn disguises() -> Vec<String> {
    let bytes = VALUE.as_bytes();
    let hex = |between: &str, prefix: &str| {
        bytes.iter().map(|byte| format!("{prefix}{byte:02x}")).collect::<Vec<_>>().join(between)
    };
    // `quote` of Python keeps the slash.
    let quoted = "s3cr%20%22t/%25%2B%26%3D%3C%C3%B6%3E~%27x";
    let again = |text: &str| text.replace('%', "%25");
    let base64 = BASE64.encode(bytes);
    let broken: Vec<&str> = base64.as_bytes().chunks(8).map(|line| str::from_utf8(line).unwrap()).collect();
    let decimal: Vec<String> = bytes.iter().map(ToString::to_string).collect();
    let each = |write: &dyn Fn(u16) -> String| VALUE.encode_utf16().map(write).collect::<Vec<_>>().concat();
    let entities = each(&|unit| format!("&#{unit};"));
    let named = VALUE
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#x27;");
    vec![
        quoted.to_owned(),
        again(quoted),
        again(&again(quoted)),
        quoted.replace("%20", "+"),
        entities,
        named,
        hex("", "\\x"),
        hex(" ", ""),
        hex(":", "").to_uppercase(),
        hex(", ", "0x"),
        each(&|unit| format!("\\u{unit:04x}")),
        each(&|unit| format!("%u{unit:04x}")),
        BASE32.encode(bytes),
        BASE32.encode(&[b"user:", bytes].concat()).to_lowercase(),
        broken.join("\n"),
        broken.join("\\r\\n"),
        base64.replace('/', "\\/").replace('+', "%2B"),
        format!("[{}]", decimal.join(", ")),
        decimal.join(","),
        VALUE.chars().rev().collect(),
    ]
}

#[tokio::test]
async fn a_value_in_disguise_is_a_placeholder_again_however_it_is_cut() {
    let raw = Raw::start().await;
    let run = run(raw.port);
    let url = format!("http://a.test:{}/", raw.port);
    let mut all = disguises();
    let wide = |bytes: fn(u16) -> [u8; 2]| VALUE.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let mut sent: Vec<Vec<u8>> = all.drain(..).map(String::into_bytes).collect();
    sent.extend([wide(u16::to_le_bytes), wide(u16::to_be_bytes)]);
    for (size, sent) in [1_usize, 7, 64, 1_000].into_iter().flat_map(|size| sent.iter().map(move |sent| (size, sent))) {
        let text = [b"<<".as_slice(), sent, b">>"].concat();
        let server = async {
            let mut stream = raw.accept().await;
            read_head(&mut stream).await.unwrap();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
            stream.write_all(head.as_bytes()).await.unwrap();
            for piece in text.chunks(size) {
                stream.write_all(piece).await.unwrap();
                stream.flush().await.unwrap();
            }
        };
        let fetched = async {
            let mut response = run.fetch(1, header("x-key", "{{secret:TOKEN}}", get(&url))).await.unwrap();
            whole(&mut response).await.unwrap()
        };
        let (body, ()) = tokio::join!(fetched, server);
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(body.starts_with("<<") && body.ends_with(">>"), "{body}");
        assert!(
            body.contains("{{secret:TOKEN}}") && body.len() < 40,
            "{} became {body}",
            String::from_utf8_lossy(sent)
        );
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn what_stays_packed_is_refused_where_a_secret_is_held() {
    let server = Server::start(|seen| {
        let once = gzipped(VALUE.as_bytes());
        match seen.target.as_str() {
            "/x-gzip" => head("content-encoding", "X-GZip", answer(once)),
            "/identity" => head("content-encoding", "identity", head("content-encoding", "gzip", answer(once))),
            "/twice" => head("content-encoding", "gzip, gzip", answer(gzipped(&once))),
            // The library unpacks by the first, and drops the second.
            "/two-headers" => {
                head("content-encoding", "gzip", head("content-encoding", "gzip", answer(gzipped(&once))))
            }
            "/zstd" => head("content-encoding", "zstd", answer(once)),
            "/br" => head("content-encoding", "br", answer(once)),
            _ => head("content-encoding", "gzip", answer(once[..once.len() - 4].to_vec())),
        }
    });
    let server = server.await;
    let run = run(server.port);
    let url = |path: &str| format!("http://a.test:{}{path}", server.port);
    for path in ["/x-gzip", "/identity"] {
        let (response, body) = text(&run, get(&url(path))).await;
        assert_eq!(body, "{{secret:TOKEN}}", "{path}");
        assert!(response.headers.iter().all(|(name, _)| name != "content-encoding" && name != "content-length"));
    }
    for path in ["/twice", "/two-headers", "/zstd", "/br"] {
        let refused = run.fetch(1, get(&url(path))).await.unwrap_err();
        assert_eq!((&*refused.code, refused.effects), ("net-coding", Effects::Committed), "{path} {refused}");
    }
    let mut cut = run.fetch(1, get(&url("/cut"))).await.unwrap();
    let broken = whole(&mut cut).await.unwrap_err();
    assert_eq!((&*broken.code, broken.effects), ("net-broken", Effects::Committed));
    assert!(server.seen().iter().all(|seen| seen.header("accept-encoding") == Some("gzip, deflate")));
}

#[tokio::test]
async fn a_bomb_ends_at_the_limit_where_a_secret_is_held() {
    let server = Server::start(|_| head("content-encoding", "gzip", answer(gzipped(&vec![b'x'; 64 << 20])))).await;
    let grant_of_host = crate::world::granting_with("a.test", server.port, &json!({"response_bytes": 1_000_000}));
    let run = start(&net(Names::local(&["a.test"])), &[grant_of_host], &[grant(&["a.test"], EVERYWHERE)]);
    let mut response = run.fetch(1, get(&format!("http://a.test:{}/", server.port))).await.unwrap();
    assert_eq!(whole(&mut response).await.unwrap_err().code, "net-response-too-large");
}

/// Writes down all that is traced, at every level and by everybody.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<String>>);

impl Visit for Trace {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Trace {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn nothing_that_is_traced_or_shown_has_a_value_in_it() {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let server = Server::start(|seen| answer(seen.body.clone())).await;
    let run = run(server.port);
    let url = format!("http://a.test:{}/?k={{{{secret:TOKEN}}}}", server.port);
    let request = header("authorization", "Bearer {{secret:TOKEN}}", post(&url, "{{secret:TOKEN}}"));
    let (response, body) = text(&run, request.clone()).await;
    // The connection is closed in the face of the second one, so that there is an error to be shown.
    let raw = Raw::start().await;
    let broken =
        start(&net(Names::local(&["a.test"])), &[granting("a.test", raw.port)], &[grant(&["a.test"], EVERYWHERE)]);
    let url = url.replace(&server.port.to_string(), &raw.port.to_string());
    let server = async { read_head(&mut raw.accept().await).await.unwrap() };
    let (failure, head) = tokio::join!(broken.fetch(1, toolcell_capabilities::Request { url, ..request }), server);
    let failure = failure.unwrap_err();
    assert!(tells(&head), "{head}");
    tracing::info!(?run, ?failure, shown = shown(&response, &body), "the end");
    let traced = trace.0.lock().unwrap().clone();
    assert!(traced.contains("the end") && traced.contains("net-broken"), "{traced}");
    assert!(!tells(&traced), "{traced}");
}
