//! Metrics, traces and logs of a server.
#![expect(clippy::disallowed_types, reason = "the collector is a server on this machine")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use super::server::{BinaryFixture, TIMEOUT};

/// The client's trace identifier.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Starts a trace collector on this machine, and returns its address and the requests it receives.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, sent) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let request = received(stream);
            if tell.send(request).is_err() {
                return;
            }
        }
    });
    (address, sent)
}

/// Reads and answers a request, and returns its head and body.
fn received(stream: TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(content_length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = content_length.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    (head, body)
}

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

#[test]
fn traces_go_where_the_environment_says_and_belong_to_the_trace_of_the_client() {
    let home = BinaryFixture::new("");
    let (address, collected) = collector();
    let set = [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_SERVICE_NAME", "mine")];
    let mut peer = home.start_stdio_with_env(&[], &set).stateless(json!({}));
    let traceparent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let arguments = json!({ "tool_name": "nobody", "parameters": { "secret": "sesame" } });
    let params = json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": { "traceparent": traceparent } });
    peer.request("tools/call", params).fails("tool-not-found");
    peer.close_stdin();
    let (head, body) = collected.recv_timeout(TIMEOUT).unwrap();
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let trace: Vec<u8> =
        (0..TRACE.len()).step_by(2).map(|at| u8::from_str_radix(&TRACE[at..at + 2], 16).unwrap()).collect();
    for part in [&trace[..], b"tools/call run_dynamic_tool", b"tool-not-found", b"mine", b"2026-07-28"] {
        assert!(has(&body, part), "{part:?} is not in {body:?}");
    }
    assert!(!has(&body, b"sesame") && !has(&body, b"nobody"), "what a tool is given is in a trace");
}

#[test]
fn calls_are_counted_by_operation_and_code() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&[]);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("twice", "const execute = ({ n }) => 2 * n");
    peer.run("twice", json!({ "n": 2 })).returns(&json!(4));
    peer.run("nobody", json!({})).fails("tool-not-found");
    let (status, page) = web.get("/metrics", "");
    assert_eq!(status, 200);
    for line in [
        r#"toolcell_requests_total{operation="run_dynamic_tool",outcome="ok"} 1"#,
        r#"toolcell_requests_total{operation="run_dynamic_tool",outcome="tool-not-found"} 1"#,
        r#"toolcell_request_seconds_count{operation="run_dynamic_tool"} 2"#,
    ] {
        assert!(page.contains(line), "{line} is not in {page}");
    }
}
