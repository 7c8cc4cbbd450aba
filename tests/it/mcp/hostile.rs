//! Tenants that take all they can: isolation of the others, and shutdown of the server.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::raw_http::WebServer;
use super::server::{BinaryFixture, poll};
use crate::fixtures::store::files_below;

fn client_of(web: &WebServer, name: &str) -> RawClient {
    web.client_with_token(&BinaryFixture::token(name)).stateless(json!({}))
}

/// A hook that does not answer for a long time: its run holds a blocking thread.
const STUCK: &str = "[[hooks]]\nname = 'stuck'\ncommand = ['/bin/sh', '-c', 'exec sleep 30']\ntimeout_ms = 60000\n";

/// Returns a source whose analysis takes a while.
fn long(number: usize) -> String {
    let lines = (0..1_500).map(|line| format!("function f{line}(a) {{ return a + {number} }}\n"));
    lines.chain(["const execute = ({ n }) => f1(n)".to_owned()]).collect()
}

#[test]
fn a_flood_of_any_verb_leaves_the_next_turn_to_another_tenant() {
    let home = BinaryFixture::new("[store]\ntools = 100000\nduplicates = 'allow'\n");
    let tokens = home.write_tokens(&["alice", "bob"], "concurrent = 1");
    let web = home.start_http(&["--tokens", &tokens]);
    let mut bob = client_of(&web, "bob");
    bob.create_tool("small", "const execute = ({ n }) => n + 1");
    let create = |n: usize| json!({ "name": format!("t{n}"), "description": "d", "code": long(n) });
    let floods: [(&str, &dyn Fn(usize) -> Value); 3] = [
        ("create_tool", &create),
        ("list_dynamic_tools", &|_| json!({ "limit": 100 })),
        (
            "tool_reflection",
            &|n| json!({ "task_description": format!("convert {n} files"), "last_tool_result": "a.csv: 3 rows\n".repeat(2_000) }),
        ),
    ];
    for (verb, arguments) in floods {
        let mut alice = client_of(&web, "alice");
        let begun: Vec<u64> = (0..64)
            .map(|n| alice.send_request("tools/call", json!({ "name": verb, "arguments": arguments(n) })))
            .collect();
        bob.run("small", json!({ "n": 1 })).returns(&json!(2));
        // The run did not wait for the other tenant's queue.
        let is_answer = |message: &Value| message.get("id").is_some();
        let answered = alice.count(is_answer);
        assert!(verb != "create_tool" || answered < 64, "{verb}: all {answered} were answered before");
        for id in begun {
            alice.wait_for_reply(id).result();
        }
    }
}

#[test]
fn verbs_of_a_tenant_wait_for_each_other() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "concurrent = 1");
    let web = home.start_http(&["--tokens", &tokens]);
    let (mut alice, mut bob) = (client_of(&web, "alice"), client_of(&web, "bob"));
    let reflection = json!({ "task_description": "convert files", "last_tool_result": "a.csv: 3 rows" });
    alice.create_tool("one", "const execute = () => 1");
    // The search index is complete after this, so the next reflection writes nothing.
    alice.call("tool_reflection", reflection.clone()).done();
    // A creation waits for this lock and keeps its permit. It has written the source by then.
    let store = home.path("store/principals/alice");
    let lock = std::fs::OpenOptions::new().write(true).open(store.join("writer")).unwrap();
    lock.lock().unwrap();
    let objects = || files_below(&store.join("objects")).len();
    let before = objects();
    let code = "const execute = () => 2";
    let arguments = json!({ "name": "two", "description": "d", "code": code });
    let create = alice.send_request("tools/call", json!({ "name": "create_tool", "arguments": arguments }));
    assert!(poll(|| (objects() > before).then_some(())).is_some());
    let list = alice.send_request("tools/call", json!({ "name": "list_dynamic_tools", "arguments": {} }));
    let reflect = alice.send_request("tools/call", json!({ "name": "tool_reflection", "arguments": &reflection }));
    bob.create_tool("one", code);
    bob.call("tool_reflection", reflection).done();
    assert_eq!(bob.call("list_dynamic_tools", json!({})).response()["total"], 1);
    assert_eq!(alice.count(|message| message.get("id").is_some()), 0);
    drop(lock);
    alice.wait_for_reply(create).done();
    // The list ran after the creation.
    assert_eq!(alice.wait_for_reply(list).response()["total"], 2);
    alice.wait_for_reply(reflect).done();
}

#[test]
fn a_full_queue_says_that_it_is_full_and_when_to_try_again() {
    let home = BinaryFixture::new(STUCK);
    let web = home.start_http(&["--share", "1"]);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    let runs: Vec<u64> = (0..257).map(|_| peer.send_run("one", json!({}))).collect();
    let under_way = || web.metric("toolcell_requests_under_way");
    assert!(poll(|| (under_way() == 257).then_some(())).is_some(), "{}", under_way());
    let error = peer.run("one", json!({})).fails("busy");
    assert_eq!(error["retryAfterMs"], 1_000, "{error}");
    // Queued runs do not block other operations.
    assert_eq!(peer.call("list_dynamic_tools", json!({})).response()["total"], 1);
    for run in runs {
        peer.disconnect(run);
    }
}

/// Asserts that a server exited within its grace period and a second. `grace` is in seconds.
#[track_caller]
fn assert_exits_within(began: Instant, grace: u64) {
    let took = began.elapsed();
    assert!(took < Duration::from_secs(grace + 1), "it took {took:?}");
}

#[test]
fn a_server_ends_within_its_grace_and_a_second_whatever_its_tenants_do() {
    let home = BinaryFixture::new(STUCK);
    let tokens = home.write_tokens(&["alice", "bob"], "concurrent = 2");
    let mut web = home.start_http(&["--tokens", &tokens, "--grace", "1"]);
    let (mut alice, mut bob) = (client_of(&web, "alice"), client_of(&web, "bob"));
    alice.create_tool("one", "const execute = () => 1");
    bob.create_tool("one", "const execute = () => 1");
    // Blocking threads that wait for a stuck hook, and queues behind them.
    for _ in 0..20 {
        alice.send_run("one", json!({}));
        bob.send_run("one", json!({}));
    }
    for n in 0..40 {
        let arguments = json!({ "name": format!("t{n}"), "description": "d", "code": long(n) });
        alice.send_request("tools/call", json!({ "name": "create_tool", "arguments": arguments }));
    }
    // A request with an incomplete body, one with an incomplete head, and event streams.
    let hanging = web.send_incomplete(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 10\r\n\r\nx",
        BinaryFixture::token("bob")
    ));
    let head = web.send_incomplete("GET /healthz HTTP/1.1\r\n");
    let mut session = web.client_with_token(&BinaryFixture::token("alice")).in_session(json!({}));
    session.open_event_stream();
    session.send_run("one", json!({}));
    let under_way = || {
        let (_, metrics) =
            web.get("/metrics", &format!("Authorization: Bearer {}\r\n", BinaryFixture::token("metrics")));
        metrics.lines().find_map(|line| line.strip_prefix("toolcell_requests_under_way ")?.parse::<u64>().ok()).unwrap()
    };
    assert!(poll(|| (under_way() >= 41).then_some(())).is_some(), "{}", under_way());
    let began = Instant::now();
    web.process.send_signal(Signal::SIGTERM);
    assert_eq!(web.process.wait_for_exit(), Some(0));
    assert_exits_within(began, 1);
    drop((hanging, head));
    // Interrupted runs are recorded when the store is opened next.
    let listed = home.run_shell_line(&format!("toolcell --dir '{}' list", home.path("store/principals/bob").display()));
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let lines = home.principal_audit_lines("bob");
    assert!(lines.iter().any(|line| line["error"] == "interrupted" || line["error"] == "cancelled"), "{lines:#?}");
}

#[test]
fn a_server_at_pipes_ends_within_its_grace_and_a_second_beside_a_thread_that_is_stuck() {
    for signal in [Some(Signal::SIGTERM), None] {
        let home = BinaryFixture::new(STUCK);
        let mut peer = home.start_stdio(&["--grace", "1"]).stateless(json!({}));
        peer.create_tool("one", "const execute = () => 1");
        for _ in 0..12 {
            peer.send_run("one", json!({}));
        }
        peer.call("list_dynamic_tools", json!({})).done();
        let began = Instant::now();
        match signal {
            Some(signal) => peer.process().send_signal(signal),
            None => peer.close_stdin(),
        }
        assert_eq!(peer.process().wait_for_exit(), Some(0));
        assert_exits_within(began, 1);
    }
}

/// Asserts that a reply to an HTTP client names no path of the host.
#[track_caller]
fn assert_no_path(home: &BinaryFixture, reply: &Value) {
    let (text, root) = (reply.to_string(), home.path("."));
    let root = root.to_str().unwrap().trim_end_matches("/.").to_owned();
    assert!(!text.contains(&root) && !text.contains("policy.toml"), "{text}");
}

#[test]
fn no_answer_over_http_names_a_path_of_the_host() {
    let gone = "[[hooks]]\nname = 'gone'\ncommand = ['/no/such/folder/hook']\ntools = ['hooked']\n";
    let home = BinaryFixture::new(&format!("{gone}[approval]\nmode = 'ask'\n"));
    let tokens = home.write_tokens(&["alice"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let mut alice = client_of(&web, "alice");
    alice.create_tool("one", "const execute = () => 1");
    let denied = alice.run("one", json!({}));
    let error = denied.fails("permission-denied");
    assert_no_path(&home, &denied.message);
    let command = error["pending"]["command"].as_str().unwrap();
    assert!(command.starts_with("toolcell approvals grant ") && !command.contains('/'), "{error}");
    assert_eq!(error["pending"]["principal"], "alice");
    let mut asked =
        web.client_with_token(&BinaryFixture::token("alice")).stateless(super::raw_client::elicitation_capabilities());
    assert_no_path(&home, &asked.run("one", json!({})).message);
    // A local client over stdio is told the path.
    let mut local = home.start_stdio(&[]).stateless(json!({}));
    local.create_tool("one", "const execute = () => 1");
    let error = local.run("one", json!({})).fails("permission-denied");
    assert!(error["pending"]["command"].as_str().unwrap().contains(home.path("store").to_str().unwrap()), "{error}");
    // A damaged store: errors, resources, and readiness.
    std::fs::remove_dir_all(home.path("store/principals/alice/objects")).unwrap();
    for reply in [
        alice.call("create_tool", json!({ "name": "two", "description": "d", "code": "const execute = () => 2" })),
        alice.run("one", json!({})),
        alice.call("list_dynamic_tools", json!({})),
        alice.request("resources/list", json!({})),
        alice.request("resources/read", json!({ "uri": "toolcell://audit" })),
    ] {
        assert_no_path(&home, &reply.message);
    }
    let (_, ready) = web.get("/readyz", "");
    assert_no_path(&home, &json!(ready));
    // A principal whose store does not open.
    let tokens = home.write_tokens(&["carol"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    std::fs::create_dir_all(home.path("store/principals/carol")).unwrap();
    std::fs::write(home.path("store/principals/carol/toolcell-store"), "something else").unwrap();
    let mut carol = client_of(&web, "carol");
    for reply in [carol.call("list_dynamic_tools", json!({})), carol.request("resources/list", json!({}))] {
        assert_no_path(&home, &reply.message);
        assert!(reply.message.to_string().contains("(path on the server)"), "{}", reply.message);
    }
}

/// A user that no other test has processes of.
const LONELY: u32 = 61_733;

#[test]
fn a_machine_without_threads_gives_an_error_and_neither_a_panic_nor_a_server_that_hangs() {
    let home = BinaryFixture::as_user("", LONELY);
    let (mut served, mut refused) = (0, 0);
    for threads in 1..=12 {
        let mut command = home.with_thread_limit(threads, &["mcp"]);
        let mut peer = BinaryFixture::connect_stdio({
            command.arg("--grace").arg("1");
            command
        })
        .stateless(json!({}));
        if peer.responds_or_exited() {
            served += 1;
            peer.close_stdin();
            assert_eq!(peer.process().wait_for_exit(), Some(0), "with {threads}: {}", peer.describe_received());
        } else {
            refused += 1;
            assert_eq!(peer.process().wait_for_exit(), Some(5), "with {threads}: {}", peer.describe_received());
            let errors = peer.process().stderr_to_end();
            assert!(errors.contains("thread") && errors.contains("ulimit -u"), "with {threads}: {errors}");
        }
        let errors = peer.process().stderr_to_end();
        assert!(!errors.contains("panicked"), "with {threads}: {errors}");
    }
    assert!(served > 0 || refused == 12, "{served} {refused}");
}

#[test]
fn what_runs_on_a_machine_without_threads_says_so_or_is_done_on_the_one_there_is() {
    let home = BinaryFixture::as_user("", LONELY + 1);
    std::fs::write(home.path("one.ts"), "export const execute = () => 1\n").unwrap();
    let test = "[[case]]\nname = 'a'\nreturns = 1\n[[case]]\nname = 'b'\nreturns = 1\n";
    std::fs::write(home.path("one.test.toml"), test).unwrap();
    let (source, test) = (home.path("one.ts"), home.path("one.test.toml"));
    let (source, test) = (source.to_str().unwrap(), test.to_str().unwrap());
    let mut log = String::new();
    for threads in 1..=8 {
        for words in [
            &["exec", source][..],
            &["test", test, "--jobs", "4"],
            &["create", source, "--description", "d", "--replace"],
            &["verify", "--all"],
        ] {
            let output = home.with_thread_limit(threads, words).output().unwrap();
            let errors =
                String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
            assert!(!errors.contains("panicked"), "{words:?} with {threads}: {errors}");
            assert!(
                output.status.code().is_some_and(|code| code < 70),
                "{words:?} with {threads}: {:?} {errors}",
                output.status
            );
            assert!(!errors.contains("too little stack"), "{words:?} with {threads}: {errors}");
            log.push_str(&errors);
        }
    }
    assert!(log.contains("no thread can be started to analyse the source"), "{log}");
}
