//! NATS as an engine: histories, objects, counts and reports in `JetStream`, on one server and on three, also while servers are killed and
//! stopped; and what servers and streams are refused.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcell::store::{Appended, Blobs as _, Histories as _, SharedError};
use toolcell_cli::{NodeReports as _, SharedCounts as _};
use toolcell_cluster::{ANSWER_LIMIT, Nats, NatsCredentials, NatsError, NatsWire};
use toolcell_error::ErrorCode;

use super::engine::{
    DISTURBED, FAULT_LIMIT, ProxiedClients, check_appends_during, check_engine, check_faults, check_stopped, key,
};
use super::nats_server::{NatsKind, NatsServer, RawClient};
use super::node::{AUTO, Node, returns, wait_until};
use super::proxy::Proxy;
use super::{PATIENT, note};
use crate::mcp::server::{TIMEOUT, poll};

/// The stream of the histories.
const HISTORIES: &str = "toolcell-history";
/// The code of `JetStream` for a stream that is not there.
const STREAM_NOT_FOUND: u64 = 10_059;
/// Within this time, what should happen at once has happened, also on a machine that does other things.
const AT_ONCE: Duration = Duration::from_secs(5);

fn connect(url: &str) -> Nats {
    Nats::connect(url, None, 1, PATIENT).unwrap()
}

/// Connects several clients at once to servers without streams, and waits until each can use them all.
fn connect_all(server: &NatsServer, urls: &[String]) -> Vec<Nats> {
    let clients: Vec<Nats> = thread::scope(|scope| {
        let connecting: Vec<_> =
            urls.iter().map(|url| scope.spawn(move || Nats::connect(url, None, server.count(), PATIENT))).collect();
        connecting.into_iter().map(|client| client.join().unwrap().unwrap()).collect()
    });
    for client in &clients {
        wait_until("all streams have a leader", || {
            let has_data = client.read(&key("ready"), 0, 1).is_ok() && client.get(blake3::hash(b"ready")).is_ok();
            has_data && client.list().is_ok() && client.take("ready", 1, 1).is_ok()
        });
    }
    clients
}

/// What NATS promises as an engine.
fn check_nats(clients: &[Nats]) {
    check_engine(clients);
    no_more_than_the_limit_is_counted(clients);
    reports_are_listed_with_their_age(&clients[0], &clients[1]);
}

/// Takes one of a count, while others take of it, too.
fn take(client: &Nats, count: &str, limit: u32) -> u32 {
    let mut granted = 0;
    wait_until("the count has its turn", || {
        let Ok((taken, _)) = client.take(count, 1, limit) else { return false };
        granted = taken;
        true
    });
    granted
}

fn no_more_than_the_limit_is_counted(clients: &[Nats]) {
    let mut attempt = 0;
    wait_until("the count is taken within one minute of the server", || {
        attempt += 1;
        let count = format!("rate/a b {attempt}");
        let (first, rest) = clients[0].take(&count, 3, 10).unwrap();
        assert!(first == 3 && rest <= Duration::from_mins(1), "{first} {rest:?}");
        // Forty are asked for, and 27 are left.
        let taken: u32 = thread::scope(|scope| {
            let takers: Vec<_> = clients
                .iter()
                .cycle()
                .take(8)
                .map(|client| {
                    let count = &count;
                    scope.spawn(move || (0..5).map(|_| take(client, count, 30)).sum::<u32>())
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        let (more, rest_after) = clients[1].take(&count, 1, 30).unwrap();
        if rest_after > rest {
            return false;
        }
        assert_eq!((taken, more), (27, 0));
        true
    });
}

fn reports_are_listed_with_their_age(writer: &Nats, reader: &Nats) {
    assert!(reader.list().unwrap().is_empty());
    let began = Instant::now();
    for (node, report) in [("b", &b"old"[..]), ("b", b"first"), ("a.b", &[0; 4096]), ("large", &[0; 4097])] {
        writer.publish(node, report).unwrap();
    }
    let is_old = || reader.list().unwrap().iter().all(|report| report.age >= Duration::from_millis(300));
    wait_until("the reports have an age", is_old);
    writer.publish("c", b"").unwrap();
    let list = reader.list().unwrap();
    // One that is too large is left out.
    let found: Vec<(&str, usize)> = list.iter().map(|report| (report.node.as_str(), report.report.len())).collect();
    assert_eq!(found, [("a.b", 4096), ("b", 5), ("c", 0)]);
    assert!(list[0].age < began.elapsed() + AT_ONCE && list[2].age < list[1].age, "{list:?}");
    writer.remove("b").unwrap();
    writer.remove("unknown").unwrap();
    let list = reader.list().unwrap();
    assert_eq!(list.iter().map(|report| report.node.as_str()).collect::<Vec<_>>(), ["a.b", "c"]);
}

#[test]
fn a_nats_server_is_an_engine_of_histories_objects_counts_and_reports() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    check_nats(&connect_all(&server, &[(); 4].map(|()| server.url())));
}

#[test]
fn three_nats_servers_are_an_engine_whichever_of_them_a_client_asks() {
    let Some(server) = NatsServer::start_cluster(NatsKind::Durable) else { return };
    let began = Instant::now();
    let clients = connect_all(&server, &[server.url(), server.url_of(0), server.url_of(1), server.url_of(2)]);
    note(&format!("clients of three NATS servers were connected after {:?}", began.elapsed()));
    check_nats(&clients);
}

#[test]
fn a_nats_server_that_is_killed_and_stopped_loses_no_append_and_makes_none_twice() {
    let Some(server) = NatsServer::start(NatsKind::Durable) else { return };
    check_appends_during(&Nats::connect(&server.url(), None, 1, ANSWER_LIMIT).unwrap(), || {
        for _ in 0..2 {
            thread::sleep(Duration::from_millis(400));
            server.kill(0);
            server.start_again(0);
        }
        // Shorter and longer than an answer is waited for.
        for milliseconds in [500, 1_200] {
            thread::sleep(Duration::from_millis(400));
            server.stop(0);
            thread::sleep(Duration::from_millis(milliseconds));
            server.go_on(0);
        }
    });
}

/// Waits until another server than this one leads the histories.
fn wait_for_leader(server: &NatsServer, before: Option<usize>) -> usize {
    let mut leader = None;
    let time = wait_until("a server leads the histories", || {
        leader = server.leader_of(HISTORIES).filter(|leader| Some(*leader) != before);
        leader.is_some()
    });
    note(&format!("a server leads after {time:?}"));
    leader.unwrap()
}

#[test]
fn a_leader_that_is_killed_or_stopped_loses_no_append_and_makes_none_twice() {
    let Some(server) = NatsServer::start_cluster(NatsKind::Durable) else { return };
    drop(connect_all(&server, &[server.url()]));
    let client = Nats::connect(&server.url(), None, server.count(), ANSWER_LIMIT).unwrap();
    let history = [key(DISTURBED)];
    let wait_for_entries = |what| {
        let mut first = None;
        let time = wait_until(what, || {
            let Ok(lengths) = client.lengths(&history) else { return false };
            lengths[0] > *first.get_or_insert(lengths[0])
        });
        note(&format!("{what} after {time:?}"));
    };
    check_appends_during(&client, || {
        wait_for_entries("entries are appended");
        let leader = wait_for_leader(&server, None);
        server.kill(leader);
        wait_for_leader(&server, Some(leader));
        wait_for_entries("entries are appended without the leader that was killed");
        server.start_again(leader);

        let leader = wait_for_leader(&server, None);
        server.stop(leader);
        wait_for_leader(&server, Some(leader));
        wait_for_entries("entries are appended without the leader that is stopped");
        server.go_on(leader);
        wait_for_entries("entries are appended with all servers");
    });
}

#[test]
fn what_became_of_an_append_to_nats_is_found_out_or_not_claimed() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    drop(connect_all(&server, &[server.url()]));
    check_faults(|| {
        let proxy = Proxy::start(server.port(0));
        let through = format!("nats://127.0.0.1:{}", proxy.port());
        let through = Nats::connect(&through, None, 1, FAULT_LIMIT).unwrap();
        ProxiedClients { through, direct: connect(&server.url()), proxy }
    });
}

#[test]
fn a_nats_server_that_does_not_answer_is_waited_for_once_and_briefly() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let client = Nats::connect(&server.url(), None, 1, ANSWER_LIMIT).unwrap();
    check_stopped(&client, || server.stop(0), || server.go_on(0));
}

/// Waits, and returns how long that took.
fn timed(wait: impl FnOnce()) -> Duration {
    let began = Instant::now();
    wait();
    began.elapsed()
}

/// Makes a change while another client waits for it, and returns how long that one waited after the change.
fn delay_of_change(wait: impl Fn(Duration) + Sync, change: impl FnOnce()) -> Duration {
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            wait(TIMEOUT);
            Instant::now()
        });
        // A change before the call counts as well, so it does not matter which of them is first.
        change();
        let changed = Instant::now();
        waiting.join().unwrap().saturating_duration_since(changed)
    })
}

#[test]
fn a_client_hears_of_entries_that_others_append() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let [listener, writer] = [(), ()].map(|()| connect(&server.url()));
    for client in [&listener, &writer] {
        // That it listens now is news.
        assert!(timed(|| client.wait_for_change(TIMEOUT)) < TIMEOUT);
    }
    let patience = Duration::from_millis(300);
    // Without news, the patience ends.
    wait_until("there is no news", || timed(|| listener.wait_for_change(patience)) >= patience);
    let delays: Vec<Duration> = (0..5)
        .map(|after| {
            let append = || assert_eq!(writer.append(&key("heard"), after, b"entry").unwrap(), Appended::Done);
            delay_of_change(|patience| listener.wait_for_change(patience), append)
        })
        .collect();
    note(&format!("a client heard of an entry in NATS after {delays:?}"));
    assert!(delays.iter().all(|delay| *delay < AT_ONCE), "{delays:?}");
}

#[test]
fn a_wire_tells_of_changes_and_is_connected_again_after_its_server_was_killed() {
    let Some(server) = NatsServer::start(NatsKind::Core) else { return };
    let [listener, writer] = [(), ()].map(|()| NatsWire::connect(&server.url(), None, PATIENT).unwrap());
    assert!(listener.is_connected() && writer.is_connected());
    let patience = Duration::from_millis(300);
    wait_until("there is no news", || timed(|| listener.wait_for_change(patience)) >= patience);
    let tell = || writer.tell_changed(&key("library/told"));
    let delays = [(); 5].map(|()| delay_of_change(|patience| listener.wait_for_change(patience), tell));
    note(&format!("a client heard of a change over the wire after {delays:?}"));
    assert!(delays.iter().all(|delay| *delay < AT_ONCE), "{delays:?}");

    server.kill(0);
    wait_until("the connections are lost", || !listener.is_connected() && !writer.is_connected());
    // A client that starts meanwhile is no failure, and tells nothing.
    let late = NatsWire::connect(&server.url(), None, ANSWER_LIMIT).unwrap();
    late.tell_changed(&key("library/told"));
    assert!(!late.is_connected());
    server.start_again(0);
    let are_connected = || [&listener, &writer, &late].iter().all(|wire| wire.is_connected());
    let time = wait_until("the wire is connected again", are_connected);
    note(&format!("the wire was connected again after {time:?}"));
    // What happened meanwhile was not heard.
    assert!(timed(|| listener.wait_for_change(TIMEOUT)) < TIMEOUT);
}

/// The failure of a client of histories, and that of a wire.
fn failures(url: &str, credentials: Option<&NatsCredentials>) -> [NatsError; 2] {
    [
        Nats::connect(url, credentials, 1, PATIENT).map(drop).unwrap_err(),
        NatsWire::connect(url, credentials, PATIENT).map(drop).unwrap_err(),
    ]
}

fn assert_unusable(error: &NatsError) {
    assert!(matches!(error, NatsError::Unusable { .. }) && error.code() == ErrorCode::SharedInvalid, "{error:?}");
}

#[test]
fn a_wrong_password_is_refused_and_not_shown() {
    let Some(server) = NatsServer::start(NatsKind::Password("hunter2")) else { return };
    let password =
        |password: &str| NatsCredentials::Password { user: "toolcell".to_owned(), password: password.into() };
    let with_sign_in = |sign_in: &str| server.url().replace("nats://", &format!("nats://{sign_in}@"));
    let (right, wrong) = (password("hunter2"), password("hunter3"));
    // The credentials of the URL are used before the others.
    let accepted = [(server.url(), &right), (with_sign_in("toolcell:hunter2"), &wrong)];
    for (after, (url, credentials)) in (0..).zip(accepted) {
        let client = Nats::connect(&url, Some(credentials), 1, PATIENT).unwrap();
        assert_eq!(client.append(&key("signed"), after, b"entry").unwrap(), Appended::Done);
        assert!(NatsWire::connect(&url, Some(credentials), PATIENT).unwrap().is_connected());
    }
    for (url, credentials) in [
        (server.url(), None),
        (server.url(), Some(&wrong)),
        (server.url(), Some(&NatsCredentials::Token("hunter2".to_owned()))),
        (server.url(), Some(&NatsCredentials::File("hunter2".to_owned()))),
        (with_sign_in("toolcell:hunter3"), Some(&right)),
    ] {
        for error in failures(&url, credentials) {
            assert_unusable(&error);
            assert!(!format!("{error} {error:?}").contains("hunter"), "{error:?}");
        }
    }
}

#[test]
fn a_user_without_the_rights_is_told_what_is_not_permitted() {
    // The text ends the password, and goes on with the rights of the user.
    let kind = NatsKind::Password(r#"hunter2", permissions: { publish: "other" } } ] } # "#);
    let Some(server) = NatsServer::start(kind) else { return };
    let credentials = NatsCredentials::Password { user: "toolcell".to_owned(), password: "hunter2".to_owned() };
    let error = Nats::connect(&server.url(), Some(&credentials), 1, ANSWER_LIMIT).map(drop).unwrap_err();
    assert_unusable(&error);
    assert!(error.to_string().contains("Permissions Violation"), "{error}");
}

#[test]
fn servers_that_cannot_hold_the_streams_are_refused() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let error = |replicas| Nats::connect(&server.url(), None, replicas, PATIENT).map(drop).unwrap_err();
    assert_eq!(error(2).code(), ErrorCode::RequestInvalid);
    let alone = error(3);
    assert_unusable(&alone);
    assert!(alone.to_string().contains("replicas"), "{alone}");
    // Without JetStream, it may be that the servers elect a leader.
    let Some(core) = NatsServer::start(NatsKind::Core) else { return };
    let client = Nats::connect(&core.url(), None, 1, ANSWER_LIMIT).unwrap();
    let error = client.read(&key("unheld"), 0, 1).unwrap_err();
    assert!(matches!(error, SharedError::Unreachable { .. }) && error.to_string().contains("JetStream"), "{error}");
}

#[test]
fn nats_is_reached_over_tls_if_its_certificate_is_trusted() {
    let (Some(server), Some(plain)) = (NatsServer::start(NatsKind::Tls), NatsServer::start(NatsKind::Fast)) else {
        return;
    };
    let url = format!("tls://127.0.0.1:{}", server.port(0));
    for error in failures(&url, None) {
        assert_unusable(&error);
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    // A server without TLS gets no password.
    for error in failures(&format!("tls://127.0.0.1:{}", plain.port(0)), None) {
        assert_unusable(&error);
    }
    let (folder, certificate) = (tempfile::tempdir().unwrap(), server.certificate());
    let node = Node::new(folder.path(), AUTO, &format!("{url}?replicas=1"), &[])
        .with_variable("SSL_CERT_FILE", certificate.to_str().unwrap())
        .with_variable("TOOLCELL_SHARED_WIRE", &url);
    node.start();
    let client = node.client("alice");
    assert_eq!((client.create("one", &returns(1)), client.run("one", &json!({}))), (Ok(1), Ok(json!(1))));
}

/// Sends a request to a server, and returns the answer.
fn ask(server: &NatsServer, subject: &str, payload: &[u8]) -> Value {
    let mut client = RawClient::connect(server);
    client.subscribe("answer");
    client.publish(subject, "answer", payload);
    let answer = poll(|| client.messages().pop()).unwrap_or_else(|| panic!("{subject} is not answered"));
    serde_json::from_slice(&answer.1).unwrap()
}

/// Asks for something that is done.
#[track_caller]
fn ask_for(server: &NatsServer, subject: &str, payload: &[u8]) {
    let answer = ask(server, subject, payload);
    assert!(answer.get("error").is_none(), "{subject}: {answer}");
}

#[test]
fn a_stream_that_may_lose_entries_is_refused_by_the_name_of_its_setting() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let create = |changed: &Value| {
        let mut config = json!({
            "name": HISTORIES, "subjects": ["toolcell.history.*.*"], "retention": "limits", "storage": "file",
            "discard": "new", "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_msgs_per_subject": -1,
            "max_msg_size": -1, "max_age": 0, "num_replicas": 1, "deny_delete": true, "deny_purge": true,
            "metadata": { "toolcell-format": "1" },
        });
        config.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        ask_for(&server, &format!("$JS.API.STREAM.CREATE.{HISTORIES}"), config.to_string().as_bytes());
    };
    for (setting, changed) in [
        ("`metadata`", json!({ "metadata": {} })),
        ("format 2", json!({ "metadata": { "toolcell-format": "2" } })),
        ("`allow_direct`", json!({ "allow_direct": true })),
        ("`max_age`", json!({ "max_age": 100_000_000_000_u64 })),
        ("`discard`", json!({ "discard": "old" })),
        ("`deny_purge`", json!({ "deny_purge": false })),
    ] {
        create(&changed);
        let error = Nats::connect(&server.url(), None, 1, PATIENT).map(drop).unwrap_err();
        assert_unusable(&error);
        let text = error.to_string();
        assert!(text.contains(setting) && text.contains(HISTORIES), "{setting}: {text}");
        ask_for(&server, &format!("$JS.API.STREAM.DELETE.{HISTORIES}"), b"");
    }
    create(&json!({}));
    assert_eq!(connect(&server.url()).append(&key("right"), 0, b"entry").unwrap(), Appended::Done);
}

#[test]
fn a_stream_that_is_gone_is_not_created_again() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let (client, history) = (Nats::connect(&server.url(), None, 1, ANSWER_LIMIT).unwrap(), key("gone"));
    assert_eq!(client.append(&history, 0, b"first").unwrap(), Appended::Done);
    ask_for(&server, &format!("$JS.API.STREAM.DELETE.{HISTORIES}"), b"");
    let wait_for_refusal = || {
        wait_until("it is told that the stream is gone", || {
            assert!(client.append(&history, 1, b"second").is_err());
            let error = client.read(&history, 0, 1).unwrap_err();
            error.code() == ErrorCode::SharedInvalid && error.to_string().contains("is gone")
        });
    };
    wait_for_refusal();
    server.kill(0);
    server.start_again(0);
    wait_for_refusal();
    let found = ask(&server, &format!("$JS.API.STREAM.INFO.{HISTORIES}"), b"");
    assert_eq!(found["error"]["err_code"], STREAM_NOT_FOUND, "{found}");
}

#[test]
fn messages_that_no_node_sent_are_refused_where_they_are_met() {
    let Some(server) = NatsServer::start(NatsKind::Fast) else { return };
    let client = connect_all(&server, &[server.url()]).remove(0);
    assert_eq!(client.append(&key("planted"), 0, b"first").unwrap(), Appended::Done);
    let large = vec![5; 3 << 20];
    let part = |bytes: &[u8]| format!("toolcell.blob.{}.0", blake3::hash(bytes).to_hex());
    let beginning = [&(3_u64 << 20).to_le_bytes()[..], &large[..512 << 10]].concat();
    let too_large = vec![0; 131_073];
    let planted: [(String, &[u8]); 8] = [
        // An entry that is too large, and two that are missing.
        ("toolcell.history.planted.2".to_owned(), &too_large),
        ("toolcell.history.gap.1".to_owned(), &[0; 10]),
        ("toolcell.history.gap.3".to_owned(), &[0; 10]),
        ("toolcell.history.gap.5".to_owned(), &[0; 10]),
        // Objects without their other parts, of an impossible size, and without a size.
        (part(&large), &beginning),
        (part(b"huge"), &u64::MAX.to_le_bytes()),
        (part(b"short"), &[1]),
        ("toolcell.count.planted".to_owned(), b"nonsense"),
    ];
    for (subject, payload) in planted {
        ask_for(&server, &subject, payload);
    }
    let read = |name: &str, after, limit| client.read(&key(name), after, limit).map_err(|error| error.code());
    // One that knows the first entry would take it for the last.
    assert_eq!(read("planted", 0, 1), Ok(vec![b"first".to_vec()]));
    for after in [0, 1] {
        assert_eq!(read("planted", after, 10), Err(ErrorCode::SharedInvalid), "{after}");
    }
    assert_eq!(read("gap", 0, 10), Ok(vec![vec![0; 10]]));
    for after in [1, 3] {
        assert_eq!(read("gap", after, 10), Err(ErrorCode::SharedInvalid), "{after}");
    }
    for object in [&large[..], b"huge", b"short"] {
        let error = client.get(blake3::hash(object)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SharedInvalid, "{error}");
    }
    // It counts as none.
    assert_eq!(client.take("planted", 2, 3).unwrap().0, 2);
}
