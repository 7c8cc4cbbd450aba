//! Nodes whose library is in other engines: messages over NATS, objects in S3, and NATS alone.

use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;
use toolcell_error::ErrorCode;

use super::client::{Client, NO_ANSWER};
use super::nats_server::{NatsKind, NatsServer, RawClient};
use super::node::{AUTO, Node, returns, wait_until};
use super::note;
use super::postgres_server::{PostgresServer, ServerKind};
use super::s3_server::{S3Server, StoreKind};
use crate::fixtures::collector::start_collector;

/// Starts nodes with further arguments and variables.
fn start_nodes<const N: usize>(
    folder: &tempfile::TempDir,
    url: &str,
    words: &[&str],
    variables: &[(&'static str, &str)],
) -> [Node; N] {
    let nodes = std::array::from_fn(|number| {
        let node = Node::new(&folder.path().join(number.to_string()), AUTO, url, words);
        variables.iter().fold(node, |node, (name, value)| node.with_variable(name, value))
    });
    nodes.iter().for_each(Node::start);
    nodes
}

fn wait_for_tool(client: &Client<'_>, name: &str) -> Duration {
    wait_until("the tool is seen", || client.run(name, &json!({})).is_ok())
}

#[test]
fn nodes_are_told_over_nats_and_have_their_objects_in_s3() {
    let (Some(postgres), Some(nats), Some(store)) =
        (PostgresServer::start(ServerKind::Fast), NatsServer::start(NatsKind::Core), S3Server::start(StoreKind::Http))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut variables = S3Server::environment().to_vec();
    let (wire, blobs) = (nats.url(), store.url());
    variables.extend([("TOOLCELL_SHARED_WIRE", wire.as_str()), ("TOOLCELL_SHARED_BLOBS", &blobs)]);
    let nodes: [Node; 2] = start_nodes(&folder, &postgres.url(), &[], &variables);
    let [one, two] = [0, 1].map(|at| nodes[at].client("alice"));
    assert_eq!((one.create("one", &returns(1)), two.run("one", &json!({}))), (Ok(1), Ok(json!(1))));
    // No object is in the database, and a node has two connections.
    assert_eq!(postgres.query("SELECT count(*) FROM toolcell.blob"), "0");
    assert!(!postgres.query("SELECT entry FROM toolcell.history WHERE key = 'objects'").is_empty());
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolcell'";
    assert_eq!(postgres.query(connections), "4");

    // Without the messages, nodes look by themselves, and say so.
    nats.kill(0);
    assert_eq!(one.create("unheard", &returns(2)), Ok(1));
    note(&format!("without NATS, a change was seen after {:?}", wait_for_tool(&two, "unheard")));
    let tells = |says: &str, gauge: u8| {
        let gauge = format!("toolcell_shared_wire_connected {gauge}\n");
        wait_until(says, || {
            let (status, text) = nodes[0].readiness();
            status == 200 && text.contains(says) && nodes[0].metrics().contains(&gauge)
        });
    };
    tells("the server of messages (--wire) cannot be reached", 0);
    nats.start_again(0);
    tells("ready\n", 1);

    // Without the objects, runs go on, and what needs one is refused.
    store.stop();
    let refused = one.create("refused", &returns(3)).unwrap_err();
    assert_eq!(refused.code, "shared-unreachable", "{}", refused.text);
    assert_eq!(two.run("one", &json!({})), Ok(json!(1)));
    let failed = r#"toolcell_shared_requests_total{operation="put",outcome="shared-unreachable"} "#;
    assert!(nodes[0].metrics().contains(failed), "{}", nodes[0].metrics());
    store.go_on();
    wait_until("the object store is used again", || one.create("later", &returns(4)).is_ok());
    wait_for_tool(&two, "later");

    // A node that looks for the objects elsewhere says so.
    let elsewhere = Node::new(&folder.path().join("elsewhere"), AUTO, &postgres.url(), &[]);
    assert_eq!(elsewhere.try_start(), Err(Some(6)), "{}", elsewhere.log());
    assert!(elsewhere.log().contains("the objects are in s3://cells"), "{}", elsewhere.log());

    // An object that is lost or altered stops a node that does not have it, and no other.
    let source = blake3::hash(returns(4).as_bytes());
    let late = |name: &str| {
        let node = Node::new(&folder.path().join(name), AUTO, &postgres.url(), &[]);
        let node = variables.iter().fold(node, |node, (name, value)| node.with_variable(name, value));
        node.start();
        let answer = node.client("alice").names();
        answer.map_err(|refused| (refused.code, refused.text))
    };
    store.alter(source, b"const execute = () => 5");
    let (code, text) = late("altered").unwrap_err();
    assert!(code == ErrorCode::SharedInvalid.as_str() && text.contains("was altered"), "{code}: {text}");
    store.delete(source);
    let (code, text) = late("lost").unwrap_err();
    assert!(code == ErrorCode::SharedInvalid.as_str() && text.contains("is lost"), "{code}: {text}");
    assert_eq!(two.run("later", &json!({})), Ok(json!(4)));
}

#[test]
fn a_call_runs_on_the_node_that_has_its_tool_in_memory() {
    let (Some(postgres), Some(nats)) = (PostgresServer::start(ServerKind::Fast), NatsServer::start(NatsKind::Core))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let wire = nats.url();
    let nodes: [Node; 3] = start_nodes(&folder, &postgres.url(), &["--hand-over"], &[("TOOLCELL_SHARED_WIRE", &wire)]);
    let clients = [0, 1, 2].map(|at| nodes[at].client("alice"));
    let tools: Vec<String> = (0..12).map(|number| format!("tool{number}")).collect();
    for (number, tool) in tools.iter().enumerate() {
        assert_eq!(clients[0].create(tool, &returns(number as u64)), Ok(1));
    }
    assert_eq!(clients[0].create_counter(), Ok(1));
    for client in &clients {
        wait_until("the tools are seen", || client.names().is_ok_and(|names| names.len() == 13));
    }
    // How often each node ran each tool.
    let runs = |node: &Node| -> Vec<usize> {
        let lines = node.verified_audit_lines("alice");
        let count = |tool: &String| {
            let ran = lines.iter().filter(|line| line["action"] == "run_dynamic_tool" && line["toolName"] == **tool);
            ran.count()
        };
        tools.iter().map(count).collect()
    };
    // The nodes hear of each other within some seconds. A node that has twice its part of the calls gets no more of them.
    let placed = wait_until("the calls of a tool run on one node", || {
        let before = nodes.each_ref().map(runs);
        for (number, tool) in tools.iter().enumerate() {
            for client in &clients {
                assert_eq!(client.run(tool, &json!({})), Ok(json!(number)));
            }
        }
        let after = nodes.each_ref().map(runs);
        let is_placed = |tool: &usize| (0..3).filter(|node| after[*node][*tool] > before[*node][*tool]).count() == 1;
        let places = (0..3).filter(|node| after[*node] != before[*node]).count();
        (0..tools.len()).filter(is_placed).count() >= 10 && places > 1
    });
    note(&format!("calls were handed over after {placed:?}"));
    let before = nodes.each_ref().map(runs);
    let value = clients[0].run("count", &json!({})).unwrap().as_u64().unwrap();
    assert_eq!(clients[0].run("tool0", &json!({})), Ok(json!(0)));
    let at = nodes.each_ref().map(runs).iter().zip(&before).position(|(after, before)| after != before).unwrap();

    // Each call runs once, whichever node it reaches, also if many come at once.
    let values = thread::scope(|scope| {
        let calls: Vec<_> = (0..30)
            .map(|call| {
                scope.spawn({
                    let client = &clients[call % 3];
                    move || client.run("count", &json!({}))
                })
            })
            .collect();
        let mut values: Vec<u64> =
            calls.into_iter().map(|call| call.join().unwrap().unwrap().as_u64().unwrap()).collect();
        values.sort_unstable();
        values
    });
    assert_eq!(values, (value + 1..=value + 30).collect::<Vec<_>>());

    // A failure is told as it is on the node itself.
    assert_eq!(clients[0].create("fails", "const execute = () => { throw new Error('no') }"), Ok(1));
    for client in &clients {
        wait_until("the tool fails as it should", || {
            client.run("fails", &json!({})).is_err_and(|error| error.code == "tool-failed" && error.text.contains("no"))
        });
    }
    let time = |client: &Client<'_>| {
        let mut times: Vec<Duration> = (0..40)
            .map(|_| {
                let began = Instant::now();
                client.run("tool0", &json!({})).unwrap();
                began.elapsed()
            })
            .collect();
        times.sort();
        times[20]
    };
    let (here, handed) = (time(&clients[at]), time(&clients[(at + 1) % 3]));
    note(&format!("a call took {here:?}, and {handed:?} on another node (p50)"));

    // The node dies. Others run its calls.
    nodes[at].kill();
    let others = [&clients[(at + 1) % 3], &clients[(at + 2) % 3]];
    for client in others {
        wait_until("the call runs elsewhere", || match client.run("count", &json!({})) {
            Ok(_) => true,
            Err(error) => {
                assert!(["shared-unknown", NO_ANSWER].contains(&error.code.as_str()), "{error:?}");
                false
            }
        });
    }
    // Without the messages, calls run where they arrive.
    nats.kill(0);
    for client in others {
        client.run("count", &json!({})).unwrap();
    }
    nodes[at].start();
}

#[test]
fn the_spans_of_a_call_on_two_nodes_are_one_trace() {
    let (Some(postgres), Some(nats)) = (PostgresServer::start(ServerKind::Fast), NatsServer::start(NatsKind::Core))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (wire, (collector, exported)) = (nats.url(), start_collector());
    let variables = [
        ("TOOLCELL_SHARED_WIRE", wire.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    let nodes: [Node; 2] = start_nodes(&folder, &postgres.url(), &["--hand-over"], &variables);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let clients = [0, 1].map(|at| nodes[at].client("alice").traced(&format!("00-{trace}-b7ad6b716920333{at}-01")));
    assert_eq!(clients[0].create("secret_name", &returns(1)), Ok(1));
    wait_for_tool(&clients[1], "secret_name");
    let mut spans: Vec<Span> = Vec::new();
    let child_of = |spans: &[Span], parent: &Span, name: &str| {
        spans.iter().find(|span| span.parent_span_id == parent.span_id && span.name == name).cloned()
    };
    // Calls of each node, so that those of one are handed over to the other once they know of each other.
    wait_until("a call is handed over", || {
        for client in &clients {
            assert_eq!(client.run("secret_name", &json!({})), Ok(json!(1)));
        }
        thread::sleep(Duration::from_millis(100));
        spans.extend(exported.try_iter().flat_map(|request| request.spans()));
        let handed: Vec<&Span> = spans.iter().filter(|span| span.name == "hand over run_dynamic_tool").collect();
        handed.iter().any(|hop| child_of(&spans, hop, "tools/call run_dynamic_tool").is_some())
    });
    assert!(spans.iter().all(|span| span.trace_id == hex(trace)), "{spans:?}");
    // The client's span is the parent of the hop, whose child is the span of the other node.
    let hop = spans.iter().find(|span| child_of(&spans, span, "tools/call run_dynamic_tool").is_some()).unwrap();
    assert!([0, 1].iter().any(|at| hop.parent_span_id == hex(&format!("b7ad6b716920333{at}"))), "{hop:?}");
    assert_eq!(hop.kind(), SpanKind::Client);
    // What a call asked of the engines is below it.
    let create = spans.iter().find(|span| span.name == "tools/call create_tool").unwrap();
    for request in ["put", "append"] {
        let child = child_of(&spans, create, request).unwrap_or_else(|| panic!("{request}: {spans:?}"));
        assert_eq!(child.kind(), SpanKind::Client, "{request}");
    }
    let shown = format!("{spans:?}");
    assert!(!shown.contains("secret_name") && !shown.contains("alice"), "{shown}");

    let metrics = nodes.each_ref().map(Node::metrics).concat();
    for line in [
        r#"toolcell_hand_overs_total{outcome="answered"} "#,
        "toolcell_hand_over_seconds_bucket{",
        r#"toolcell_shared_requests_total{operation="append",outcome="ok"} "#,
        r#"toolcell_shared_requests_total{operation="lengths",outcome="ok"} "#,
        r#"toolcell_shared_request_seconds_bucket{operation="put","#,
        "toolcell_shared_audit_logs_cut 0",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

/// The bytes of hexadecimal digits.
fn hex(text: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap()
}

#[test]
fn a_message_that_no_node_sent_runs_nothing() {
    let (Some(postgres), Some(nats)) = (PostgresServer::start(ServerKind::Fast), NatsServer::start(NatsKind::Core))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let wire = nats.url();
    let nodes: [Node; 2] = start_nodes(&folder, &postgres.url(), &["--hand-over"], &[("TOOLCELL_SHARED_WIRE", &wire)]);
    let clients = [0, 1].map(|at| nodes[at].client("alice"));
    assert_eq!(clients[0].create_counter(), Ok(1));
    // What the nodes send each other, as a client of the server sees it.
    let mut tap = RawClient::connect(&nats);
    tap.subscribe("toolcell.call.>");
    let (mut count, mut sent) = (0, Vec::new());
    wait_until("a call is handed over", || {
        for client in &clients {
            count = client.run("count", &json!({})).unwrap().as_u64().unwrap();
        }
        sent.extend(tap.messages());
        !sent.is_empty()
    });
    let (subject, message) = sent[0].clone();
    let forged = |at: usize| {
        let mut forged = message.clone();
        forged[at] ^= 1;
        forged
    };
    let head = message.len() / 2;
    let altered =
        [forged(0), forged(33), forged(head), forged(message.len() - 1), message[..head].to_vec(), Vec::new()];
    // The message itself, sent again, is not new.
    for replayed in altered.into_iter().chain([message.clone(), message.clone()]) {
        tap.publish(&subject, "", &replayed);
    }
    thread::sleep(Duration::from_millis(500));
    assert_eq!(clients[1].run("count", &json!({})), Ok(json!(count + 1)));
    let refused = Node::new(&folder.path().join("wireless"), AUTO, &postgres.url(), &["--hand-over"]);
    assert_eq!(refused.try_start(), Err(Some(2)));
    assert!(refused.log().contains("--wire"), "{}", refused.log());
    let wrong = format!("{}?tls=never", nats.url());
    let refused = Node::new(&folder.path().join("wrong"), AUTO, &postgres.url(), &[])
        .with_variable("TOOLCELL_SHARED_WIRE", &wrong);
    assert_eq!(refused.try_start(), Err(Some(2)), "{}", refused.log());
}

#[test]
fn nodes_share_a_library_on_nats_alone() {
    let Some(nats) = NatsServer::start(NatsKind::Durable) else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}?replicas=1", nats.url());
    let nodes: [Node; 3] = start_nodes(&folder, &url, &[], &[]);
    let clients = [0, 1, 2].map(|at| nodes[at].client("alice"));
    assert_eq!(clients[0].create_counter(), Ok(1));
    for (client, value) in clients.iter().zip(1..) {
        wait_until("the tool is seen", || client.names().is_ok_and(|names| names == ["count"]));
        assert_eq!(client.run("count", &json!({})), Ok(json!(value)));
    }
    for number in 2..6 {
        assert_eq!(clients[number % 3].replace("count", &returns(number as u64)), Ok(number as u64));
    }
    let suspended = nodes[1].connected("alice", &["suspended", "--json"]);
    assert_eq!(suspended.status, 0, "{}{}", suspended.out, suspended.err);
    // The server is killed: what was acknowledged is there.
    assert_eq!(clients[1].create("kept", &returns(7)), Ok(1));
    nats.kill(0);
    let refused = clients[2].create("lost", &returns(8)).unwrap_err();
    assert!(["shared-unreachable", "shared-unknown"].contains(&refused.code.as_str()), "{refused:?}");
    assert_eq!(clients[1].run("kept", &json!({})), Ok(json!(7)));
    nats.start_again(0);
    wait_until("the server is used again", || clients[0].create("again", &returns(9)).is_ok());
    for client in &clients {
        wait_for_tool(client, "again");
        wait_for_tool(client, "kept");
        assert_eq!(client.run("count", &json!({})), Ok(json!(5)));
    }
    let lists = clients.each_ref().map(|client| client.list().unwrap());
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
    let status = nodes[0].cluster_status();
    assert_eq!(status.matches("ready").count(), 3, "{status}");
}
