//! How many requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use toolcell_capabilities::{Effects, Meters, NetSessionConfig};

use crate::world::{
    Names, Raw, Server, answer, failure, get, granting, granting_with, lead, local, net, read_head, run as run_of,
    start, text,
};

#[tokio::test]
async fn a_run_makes_so_many_requests_and_redirects_count() {
    let server = Server::start(|seen| if seen.target == "/to" { lead(302, "/here") } else { answer("here") }).await;
    let url = |path: &str| format!("http://a.test:{}/{path}", server.port);
    let grant = granting_with("a.test", server.port, &json!({"calls": 3}));
    let net = net(Names::local(&["a.test"]));
    let run = start(&net, std::slice::from_ref(&grant), &[]);
    text(&run, get(&url("to"))).await;
    text(&run, get(&url("here"))).await;
    let refused = failure(&run, get(&url("here"))).await;
    assert_eq!((&*refused.code, &*refused.name), ("net-too-many-calls", "QuotaExceededError"));
    assert_eq!((refused.effects, server.seen().len()), (Effects::None, 3));
    // Another run has its own.
    let run = start(&net, &[grant], &[]);
    text(&run, get(&url("here"))).await;
    text(&run, get(&url("here"))).await;
    let refused = failure(&run, get(&url("to"))).await;
    assert_eq!((&*refused.code, refused.effects), ("net-too-many-calls", Effects::Committed));
}

#[tokio::test]
async fn two_grants_never_permit_more_than_the_wider_of_them() {
    let server = Server::start(|_| answer("here")).await;
    let grants = [
        granting_with("a.test", server.port, &json!({"calls": 2})),
        granting_with("*.test", server.port, &json!({"calls": 3, "response_bytes": 5})),
    ];
    let run = start(&net(Names::local(&["a.test"])), &grants, &[]);
    let url = format!("http://a.test:{}/", server.port);
    for _ in 0..3 {
        text(&run, get(&url)).await;
    }
    assert_eq!(failure(&run, get(&url)).await.code, "net-too-many-calls");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn requests_at_once_are_counted_one_by_one() {
    let server = Server::start(|_| answer("here")).await;
    let run =
        start(&net(Names::local(&["a.test"])), &[granting_with("a.test", server.port, &json!({"calls": 7}))], &[]);
    let (url, run) = (format!("http://a.test:{}/", server.port), Arc::new(run));
    let mut tasks = tokio::task::JoinSet::new();
    for id in 0..50 {
        let (run, url) = (run.clone(), url.clone());
        tasks.spawn(async move { run.fetch(id, get(&url)).await.is_ok() });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|done| *done).count(), 7);
    assert_eq!(server.seen().len(), 7);
}

#[tokio::test]
async fn a_tool_makes_so_many_requests_a_minute_in_all_of_its_runs() {
    let server = Server::start(|_| answer("here")).await;
    let url = format!("http://a.test:{}/", server.port);
    let grant = granting_with("a.test", server.port, &json!({"per_minute": 3, "calls": 4}));
    let net = net(Names::local(&["a.test"]));
    for _ in 0..3 {
        text(&start(&net, std::slice::from_ref(&grant), &[]), get(&url)).await;
    }
    let run = start(&net, std::slice::from_ref(&grant), &[]);
    for _ in 0..9 {
        // What is refused for its rate does not count among the calls.
        let refused = failure(&run, get(&url)).await;
        assert_eq!(
            (&*refused.code, &*refused.name, refused.effects),
            ("net-rate", "QuotaExceededError", Effects::None)
        );
    }
    assert_eq!(server.seen().len(), 3);
    // Another host process, or another tool, has its own.
    let grants = vec![serde_json::from_value(grant).unwrap()];
    let other = NetSessionConfig { run: "run-2".to_owned(), grants, ..run_of("other") };
    text(&net.start(other), get(&url)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_requests_at_once_get_their_own_answers() {
    static ANSWERED: AtomicUsize = AtomicUsize::new(0);
    let server = Server::start(|seen| {
        ANSWERED.fetch_add(1, Ordering::SeqCst);
        answer(format!("{} {}", seen.target, "x".repeat(10_000)))
    });
    let server = server.await;
    let run = Arc::new(local(server.port, &["a.test"]));
    let mut tasks = tokio::task::JoinSet::new();
    for id in 0..100 {
        let (run, url) = (run.clone(), format!("http://a.test:{}/{id}", server.port));
        tasks.spawn(async move {
            let (_, body) = text(&run, get(&url)).await;
            assert_eq!(body, format!("/{id} {}", "x".repeat(10_000)));
        });
    }
    tasks.join_all().await;
    assert_eq!(ANSWERED.load(Ordering::SeqCst), 100);
    assert!(server.connections() <= 100);
}

#[tokio::test]
async fn connections_are_used_again_within_a_run_and_by_no_other() {
    let server = Server::start(|_| answer("here")).await;
    let net = net(Names::local(&["a.test"]));
    for runs in 1..=2 {
        let run = start(&net, &[granting("a.test", server.port)], &[]);
        for _ in 0..5 {
            text(&run, get(&format!("http://a.test:{}/", server.port))).await;
        }
        assert_eq!(server.connections(), runs);
    }
}

#[tokio::test]
async fn requests_that_are_answered_only_together_all_get_there() {
    const TOGETHER: usize = 40;
    let server = Raw::start().await;
    let run = Arc::new(local(server.port, &["a.test"]));
    let url = format!("http://a.test:{}/", server.port);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..TOGETHER {
        let (run, url) = (run.clone(), url.clone());
        tasks.spawn(async move { text(&run, get(&url)).await });
    }
    let mut streams = Vec::new();
    for _ in 0..TOGETHER {
        let mut stream = server.accept().await;
        read_head(&mut stream).await.unwrap();
        streams.push(stream);
    }
    for stream in &mut streams {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere").await.unwrap();
    }
    let answers = tasks.join_all().await;
    assert!(answers.len() == TOGETHER && answers.iter().all(|(_, body)| body == "here"));
}

#[tokio::test]
async fn nested_runs_share_the_calls_of_a_grant() {
    let server = Server::start(|_| answer("")).await;
    let net = net(Names::local(&["a.test"]));
    let url = format!("http://a.test:{}/", server.port);
    let granted = |calls: u32| {
        vec![serde_json::from_value(granting_with("a.test", server.port, &json!({"calls": calls}))).unwrap()]
    };
    let meters = Meters::default();
    let root = NetSessionConfig { grants: granted(5), meters: meters.clone(), ..run_of("root") };
    let root = Arc::new(net.start(root));
    let nested = |tool: &str, calls| {
        let caller = Some(Arc::clone(&root));
        net.start(NetSessionConfig { grants: granted(calls), meters: meters.clone(), caller, ..run_of(tool) })
    };
    // Each run of the nested tool would have its two calls.
    for _ in 0..2 {
        text(&nested("two", 2), get(&url)).await;
    }
    let refused = failure(&nested("two", 2), get(&url)).await;
    assert_eq!((&*refused.code, refused.effects), ("net-too-many-calls", Effects::None));
    // What its caller has used does not count against its own cap, and what it uses counts against its caller's.
    text(&nested("one", 1), get(&url)).await;
    // A tool that calls itself counts once.
    text(&nested("root", 5), get(&url)).await;
    text(&root, get(&url)).await;
    for run in [&nested("other", 5), &nested("root", 5), &*root] {
        assert_eq!(failure(run, get(&url)).await.code, "net-too-many-calls");
    }
    assert_eq!(server.seen().len(), 5);
    // Another root run has its own.
    text(&net.start(NetSessionConfig { grants: granted(1), ..run_of("root") }), get(&url)).await;
}

#[tokio::test]
async fn a_rate_of_the_caller_holds_for_all_that_it_calls() {
    let server = Server::start(|_| answer("")).await;
    let net = net(Names::local(&["a.test"]));
    let url = format!("http://a.test:{}/", server.port);
    let grants: Vec<toolcell_tool::NetGrant> =
        vec![serde_json::from_value(granting_with("a.test", server.port, &json!({"per_minute": 3}))).unwrap()];
    let root = Arc::new(net.start(NetSessionConfig { grants: grants.clone(), ..run_of("root") }));
    for tool in ["a", "b", "c", "d"] {
        let nested = NetSessionConfig { grants: grants.clone(), caller: Some(Arc::clone(&root)), ..run_of(tool) };
        let nested = net.start(nested);
        if tool == "d" {
            assert_eq!(failure(&nested, get(&url)).await.code, "net-rate");
        } else {
            text(&nested, get(&url)).await;
        }
    }
    assert_eq!(server.seen().len(), 3);
}
