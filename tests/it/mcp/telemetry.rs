//! Metrics, traces and logs of a server.

use serde_json::json;

use super::server::{BinaryFixture, TIMEOUT};
use crate::fixtures::collector::{Exported, start_collector};

/// The client's trace identifier.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

#[test]
fn traces_go_where_the_environment_says_and_belong_to_the_trace_of_the_client() {
    let home = BinaryFixture::new("");
    let (address, collected) = start_collector();
    let set = [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_SERVICE_NAME", "mine")];
    let mut peer = home.start_stdio_with_env(&[], &set).stateless(json!({}));
    let traceparent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let arguments = json!({ "tool_name": "nobody", "parameters": { "secret": "sesame" } });
    let params = json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": { "traceparent": traceparent } });
    peer.request("tools/call", params).fails("tool-not-found");
    peer.close_stdin();
    let Exported { head, body } = collected.recv_timeout(TIMEOUT).unwrap();
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
