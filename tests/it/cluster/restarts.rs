//! Nodes that are restarted one after another behind a load balancer, and what `node status` shows of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::client::{Client, Refused};
use super::nats_server::{NatsKind, NatsServer};
use super::node::{AUTO, Library, Node, returns, wait_until};
use super::{Ending, note};

/// How long a node answers after it was told to end. A load balancer looks more often.
const DRAIN: &str = "2";
/// How often the load balancer asks the nodes whether they are ready.
const PROBE_PERIOD: Duration = Duration::from_millis(100);
/// The number of clients, and the time between two calls of one: together 200 calls a second.
const CLIENTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(20);

/// Sends each call to a node that said that it is ready, as a load balancer does.
struct Balancer<'a> {
    nodes: &'a [Node],
    is_ready: Vec<AtomicBool>,
    is_over: AtomicBool,
    times: Mutex<Vec<Duration>>,
    failures: Mutex<Vec<Refused>>,
}

impl Balancer<'_> {
    /// Asks the nodes whether they are ready, until the end.
    fn probe(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            for (node, is_ready) in self.nodes.iter().zip(&self.is_ready) {
                is_ready.store(node.is_ready(), Ordering::Relaxed);
            }
            thread::sleep(PROBE_PERIOD);
        }
    }

    /// Sends calls to the nodes in turn, until the end.
    fn work(&self, worker: usize) {
        for round in 0_usize.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let mut turn = (0..self.nodes.len()).map(|step| (round + worker + step) % self.nodes.len());
            let ready = turn.find(|index| self.is_ready[*index].load(Ordering::Relaxed));
            let Some(ready) = ready else { panic!("no node is ready") };
            let client = self.nodes[ready].client("alice");
            let began = Instant::now();
            let answer = match round % 20 {
                0 => client.create(&format!("tool_{worker}_{round}"), &returns(1)).map(drop),
                1 => client.run("count", &json!({})).map(drop),
                _ => client.run("one", &json!({})).map(|value| assert_eq!(value, 1)),
            };
            match answer {
                Ok(()) => self.times.lock().unwrap().push(began.elapsed()),
                Err(refused) => self.failures.lock().unwrap().push(refused),
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The 99th percentile.
fn p99(times: &Mutex<Vec<Duration>>) -> Duration {
    let mut times = std::mem::take(&mut *times.lock().unwrap());
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

#[test]
fn no_call_fails_while_all_nodes_are_restarted() {
    let Some(library) = Library::start_with(AUTO, &["--drain", DRAIN]) else { return };
    restart_all(&library);
}

#[test]
fn no_call_fails_while_nodes_that_hand_calls_over_are_restarted() {
    let Some(nats) = NatsServer::start(NatsKind::Core) else { return };
    let variables = [("TOOLCELL_SHARED_WIRE", nats.url())];
    let Some(library) = Library::start_varied(AUTO, &["--drain", DRAIN, "--hand-over"], &variables) else { return };
    restart_all(&library);
    let handed = r#"toolcell_hand_overs_total{outcome="answered"} "#;
    wait_until("calls are handed over", || {
        let calls = library.clients("alice").map(|client| client.run("one", &json!({})));
        assert_eq!(calls, [(); 3].map(|()| Ok(json!(1))));
        library.nodes.iter().any(|node| node.metrics().contains(handed))
    });
}

/// Restarts the nodes one after another while clients send calls to those that are ready.
fn restart_all(library: &Library) {
    let client: Client<'_> = library.nodes[0].client("alice");
    assert_eq!((client.create("one", &returns(1)), client.create_counter()), (Ok(1), Ok(1)));
    let balancer = Balancer {
        nodes: &library.nodes,
        is_ready: library.nodes.iter().map(|node| AtomicBool::new(node.is_ready())).collect(),
        is_over: AtomicBool::new(false),
        times: Mutex::default(),
        failures: Mutex::default(),
    };
    let (quiet, restarting) = thread::scope(|scope| {
        scope.spawn(|| balancer.probe());
        for worker in 0..CLIENTS {
            let balancer = &balancer;
            scope.spawn(move || balancer.work(worker));
        }
        let _ending = Ending(&balancer.is_over);
        thread::sleep(Duration::from_secs(2));
        let quiet = p99(&balancer.times);
        for node in &library.nodes {
            node.signal(Signal::SIGTERM);
            assert_eq!(node.wait(), Some(0), "{}", node.log());
            node.start();
            wait_until("the node is ready again", || node.is_ready());
        }
        thread::sleep(Duration::from_secs(1));
        let calls = balancer.times.lock().unwrap().len();
        (quiet, (calls, p99(&balancer.times)))
    });
    let failures = balancer.failures.into_inner().unwrap();
    let (calls, restarting) = restarting;
    note(&format!("{calls} calls while three nodes were restarted: p99 {restarting:?}, {quiet:?} before"));
    assert_eq!(failures, [], "of {calls} calls");
    assert!(calls > 100, "{calls} calls");
}

/// What `node status` shows, without what is another one each time.
fn status(node: &Node, words: &[&str]) -> (i64, Vec<Value>) {
    let output = node.connected("alice", &[&["node", "status", "--json"], words].concat());
    let shown: Value =
        serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {} {}", output.out, output.err));
    (i64::from(output.status), shown["nodes"].as_array().unwrap().clone())
}

fn states(nodes: &[Value]) -> Vec<&str> {
    let mut states: Vec<&str> = nodes.iter().map(|node| node["state"].as_str().unwrap()).collect();
    states.sort_unstable();
    states
}

#[test]
fn the_status_shows_what_the_nodes_do() {
    let Some(library) = Library::start_with(AUTO, &["--drain", DRAIN]) else { return };
    let [a, b, c] = &library.nodes[..] else { unreachable!() };
    assert_eq!(a.client("alice").create("one", &returns(1)), Ok(1));
    let shows = |expected: &[&str]| states(&status(a, &[]).1) == expected;
    wait_until("all nodes are shown", || shows(&["ready", "ready", "ready"]));
    let (exit, nodes) = status(a, &[]);
    assert_eq!(exit, 0);
    let mut addresses: Vec<&str> = nodes.iter().map(|node| node["address"].as_str().unwrap()).collect();
    let mut expected = library.nodes.iter().map(Node::address).collect::<Vec<_>>();
    addresses.sort_unstable();
    expected.sort_unstable();
    assert_eq!(addresses, expected);
    assert!(nodes.iter().all(|node| node["seenMs"].as_u64().unwrap() < 10_000), "{nodes:?}");
    let hash = |node: &Value, name: &str| node[name].as_str().unwrap().len();
    assert!(nodes.iter().all(|node| (hash(node, "guest"), hash(node, "policy")) == (64, 64)), "{nodes:?}");
    let text = b.connected("alice", &["node", "status"]);
    assert!(text.out.starts_with("host\taddress\tstate\t") && text.out.lines().count() == 4, "{}", text.out);
    // One that is told to end says so, and is then no longer a node. One that was killed can say nothing.
    b.signal(Signal::SIGTERM);
    wait_until("the node drains", || shows(&["draining", "ready", "ready"]));
    assert_eq!(b.wait(), Some(0));
    assert_eq!(states(&status(a, &[]).1), ["ready", "ready"]);
    c.kill();
    wait_until("the node is silent", || shows(&["ready", "silent"]));
    assert_eq!(status(a, &[]).0, 1);
    // Reports say nothing to those who do not have the secret, and none of it is taken for a report of theirs.
    let other = "0b".repeat(32);
    let output = a.connected_with("alice", &other, &["node", "status", "--json"]);
    assert_eq!((output.status, states(output.json()["nodes"].as_array().unwrap())), (1, vec!["silent", "unknown"]));
    library.postgres.stop();
    let output = a.connected("alice", &["node", "status"]);
    library.postgres.go_on();
    assert_eq!((output.status, output.out.as_str()), (5, ""), "{}", output.err);
    assert!(output.err.contains("the shared library cannot be reached"), "{}", output.err);
}

#[test]
fn a_node_with_another_policy_is_named() {
    let Some(library) = Library::start(AUTO) else { return };
    let folder = tempfile::tempdir().unwrap();
    let other = Node::new(folder.path(), &format!("{AUTO}# another one\n"), &library.postgres.url(), &[]);
    other.start();
    wait_until("the node has compared itself with the others", || {
        other.log().matches("another node is set up otherwise").count() == 3
    });
    assert!(other.log().contains("policy"), "{}", other.log());
    let output = other.connected("alice", &["node", "status"]);
    assert_eq!((output.status, output.out.lines().count()), (1, 5), "{}", output.out);
    assert!(output.err.contains("the nodes have several policies"), "{}", output.err);
}
