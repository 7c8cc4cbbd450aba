//! The engine alone: what every engine of histories and objects promises, also while its server is killed and stopped.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use toolcell::store::{Appended, Blobs, Histories, HistoryKey, SharedError};
use toolcell_cluster::{ANSWER_LIMIT, Listening, Postgres};
use toolcell_error::ErrorCode;

use super::node::wait_until;
use super::postgres_server::{END_CONNECTIONS, PostgresServer, ServerKind};
use super::proxy::{MARK, Proxy, ProxyFault};
use super::{Ending, PATIENT, note};
use crate::mcp::server::TIMEOUT;

/// The number of clients that append at once.
const WRITERS: u64 = 16;
/// The number of entries that they append together.
const ENTRIES: u64 = 200;

/// How long an answer is waited for where some are lost on purpose.
pub(super) const FAULT_LIMIT: Duration = Duration::from_secs(3);
/// The number of threads that try faults: with some, an answer is waited for in vain.
const FAULT_THREADS: usize = 3;
/// The history to which writers append while the server is disturbed.
pub(super) const DISTURBED: &str = "library/disturbed";

fn connect(url: &str) -> Postgres {
    Postgres::connect(url, None, PATIENT, Listening::Yes).unwrap()
}

/// A client that waits for answers as long as it does by default.
fn connect_impatiently(url: &str) -> Postgres {
    Postgres::connect(url, None, ANSWER_LIMIT, Listening::Yes).unwrap()
}

pub(super) fn key(text: &str) -> HistoryKey {
    HistoryKey::parse(text).unwrap()
}

/// Reads a history to its end.
fn read_all(histories: &impl Histories, key: &HistoryKey) -> Vec<Vec<u8>> {
    let mut entries = Vec::new();
    loop {
        let more = histories.read(key, entries.len() as u64, 100).unwrap();
        if more.is_empty() {
            return entries;
        }
        entries.extend(more);
    }
}

/// Reads a history to its end, as soon as the server can be reached.
pub(super) fn read_all_patiently(client: &impl Histories, history: &HistoryKey) -> Vec<Vec<u8>> {
    wait_until("the history can be read", || client.read(history, 0, 1).is_ok());
    read_all(client, history)
}

/// What an engine promises. Several clients of it are as good as one.
pub(super) fn check_engine<E: Histories + Blobs>(clients: &[E]) {
    each_entry_has_one_writer(clients);
    entries_are_read_from_a_place_on(&clients[0]);
    objects_are_found_by_their_hash(clients);
}

fn each_entry_has_one_writer<E: Histories>(clients: &[E]) {
    let (shared, other) = (key("library/shared"), key("library/shared/other"));
    assert_eq!(clients[0].append(&other, 0, b"alone").unwrap(), Appended::Done);
    let entry = |writer: u64, number: u64| format!("entry {number} of writer {writer}").into_bytes();
    let won: Vec<(u64, u64)> = thread::scope(|scope| {
        let writers = (0..WRITERS).zip(clients.iter().cycle()).map(|(writer, client)| {
            let shared = &shared;
            scope.spawn(move || {
                let appended = (0..ENTRIES).map(|after| (after, client.append(shared, after, &entry(writer, after))));
                let done = appended.filter(|(_, appended)| *appended.as_ref().unwrap() == Appended::Done);
                done.map(|(after, _)| (after, writer)).collect::<Vec<_>>()
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let mut winners = won.clone();
    winners.sort_unstable();
    let numbers: Vec<u64> = winners.iter().map(|(after, _)| *after).collect();
    assert_eq!(numbers, (0..ENTRIES).collect::<Vec<_>>());
    let expected: Vec<Vec<u8>> = winners.iter().map(|(after, writer)| entry(*writer, *after)).collect();
    for client in clients {
        assert_eq!(read_all(client, &shared), expected);
        assert_eq!(read_all(client, &other), [b"alone"]);
    }
    assert_eq!(clients[0].append(&shared, ENTRIES - 1, b"late").unwrap(), Appended::Taken);
    assert_eq!(read_all(&clients[0], &shared), expected);
}

fn entries_are_read_from_a_place_on(histories: &impl Histories) {
    let (counted, empty) = (key("library/counted"), key("library/empty"));
    for after in 0..10 {
        assert_eq!(histories.append(&counted, after, &[u8::try_from(after).unwrap()]).unwrap(), Appended::Done);
    }
    let read = |after, limit| histories.read(&counted, after, limit).unwrap().concat();
    assert_eq!(read(0, 3), [0, 1, 2]);
    assert_eq!(read(8, 3), [8, 9]);
    assert_eq!(read(0, usize::MAX), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!((read(10, 3), read(99, 3), read(0, 0)), (vec![], vec![], vec![]));
    let both = [empty.clone(), counted.clone(), empty.clone()];
    assert_eq!((histories.lengths(&both).unwrap(), histories.lengths(&[]).unwrap()), (vec![0, 10, 0], vec![]));
    assert_eq!(histories.read(&empty, 0, 3).unwrap(), Vec::<Vec<u8>>::new());
    // An entry without the one before it: the caller knows of entries that are gone.
    for (history, after) in [(&counted, 11), (&empty, 1)] {
        let error = histories.append(history, after, b"gap").unwrap_err();
        assert_eq!(error.code(), ErrorCode::SharedInvalid, "{error}");
    }
    assert_eq!((read(10, 3), histories.read(&empty, 0, 3).unwrap().len()), (vec![], 0));
    // All bytes are allowed, and none.
    let all: Vec<u8> = (0..=u8::MAX).collect();
    for (after, entry) in [&all[..], &[], &[0]].into_iter().enumerate() {
        assert_eq!(histories.append(&empty, after as u64, entry).unwrap(), Appended::Done);
    }
    assert_eq!(histories.read(&empty, 0, 3).unwrap(), [all, vec![], vec![0]]);
}

pub(super) fn objects_are_found_by_their_hash<E: Blobs>(clients: &[E]) {
    let large: Vec<u8> = (0..8_u32 << 18).flat_map(u32::to_le_bytes).collect();
    for bytes in [&b"small"[..], &[], &large] {
        let hash = blake3::hash(bytes);
        assert_eq!(clients[0].get(hash).unwrap(), None);
        clients[0].put(hash, bytes).unwrap();
        for client in clients {
            client.put(hash, bytes).unwrap();
            assert!(client.get(hash).unwrap().is_some_and(|found| found == bytes), "{} bytes", bytes.len());
        }
    }
}

#[test]
fn postgres_is_an_engine_of_histories_and_objects() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    // The tables are created once, although all find none.
    let clients: Vec<Postgres> = thread::scope(|scope| {
        let connecting: Vec<_> =
            (0..4).map(|_| scope.spawn(|| Postgres::connect(&server.url(), None, PATIENT, Listening::Yes))).collect();
        connecting.into_iter().map(|client| client.join().unwrap().unwrap()).collect()
    });
    check_engine(&clients);
}

#[test]
fn an_entry_that_no_node_made_is_refused_before_it_is_sent() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    let (client, history) = (connect(&server.url()), key("library/planted"));
    assert_eq!(client.append(&history, 0, b"first").unwrap(), Appended::Done);
    server.query(
        "INSERT INTO toolcell.history (key, n, entry) VALUES ('library/planted', 2, decode(repeat('00', 131073), 'hex'))",
    );
    assert_eq!(client.read(&history, 0, 10).unwrap_err().code(), ErrorCode::SharedInvalid);
    assert_eq!(client.read(&history, 0, 1).unwrap(), [b"first"]);
}

#[test]
fn a_client_hears_of_changes_that_others_make() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    let [listener, writer] = [(), ()].map(|()| connect(&server.url()));
    let wait = |patience| {
        let began = Instant::now();
        listener.wait_for_change(patience);
        began.elapsed()
    };
    // That it listens now is news, because of what happened before.
    assert!(wait(Duration::from_mins(1)) < Duration::from_secs(30));
    let patience = Duration::from_millis(300);
    // Without news, the patience ends.
    wait_until("there is no news", || wait(patience) >= patience);
    let history = key("library/heard");
    let mut delays = Vec::new();
    for after in 0..5 {
        let delay = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                listener.wait_for_change(Duration::from_secs(30));
                Instant::now()
            });
            // A change before the call counts as well, so it does not matter which of them is first.
            assert_eq!(writer.append(&history, after, b"entry").unwrap(), Appended::Done);
            let appended = Instant::now();
            waiting.join().unwrap().saturating_duration_since(appended)
        });
        assert!(delay < Duration::from_secs(5), "{delay:?}");
        delays.push(delay);
    }
    note(&format!("a client heard of a change after {delays:?}"));
    // It listens again after the server was killed, and looks at what it may have missed.
    server.kill();
    server.start_again();
    wait_until("the listener is connected again", || {
        wait(patience);
        let Ok(entries) = writer.read(&history, 0, 1_000) else { return false };
        let appended = writer.append(&history, entries.len() as u64, b"entry");
        appended.is_ok() && wait(Duration::from_secs(10)) < Duration::from_secs(5)
    });
}

/// What a writer was told of each entry that it tried to append. All entries differ.
#[derive(Default)]
struct Told {
    done: Vec<(u64, Vec<u8>)>,
    taken: Vec<Vec<u8>>,
    unreachable: Vec<Vec<u8>>,
    unknown: Vec<Vec<u8>>,
}

/// Appends to a history until it is told to end, and for one entry longer.
fn append_until(client: &impl Histories, history: &HistoryKey, writer: usize, is_over: &AtomicBool) -> Told {
    let (mut told, mut count, began) = (Told::default(), 0, Instant::now());
    for attempt in 0.. {
        assert!(began.elapsed() < TIMEOUT, "it does not work again");
        let entry = format!("attempt {attempt} of writer {writer}").into_bytes();
        let over = is_over.load(Ordering::Relaxed);
        match client.append(history, count, &entry) {
            Ok(Appended::Done) => {
                count += 1;
                told.done.push((count, entry));
                if over {
                    break;
                }
                continue;
            }
            Ok(Appended::Taken) => told.taken.push(entry),
            Err(SharedError::Unreachable { .. }) => told.unreachable.push(entry),
            Err(SharedError::Unknown { .. }) => told.unknown.push(entry),
            Err(error) => panic!("{error}"),
        }
        // The history may have grown, by this writer's own entry as well.
        match client.read(history, count, 1000) {
            Ok(more) => count += more.len() as u64,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    told
}

/// Lets 8 threads append while `disturb` does something to the server, and compares what they were told with the history.
pub(super) fn check_appends_during(client: &impl Histories, disturb: impl FnOnce()) {
    let (history, is_over) = (key(DISTURBED), AtomicBool::new(false));
    let told: Vec<Told> = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (history, is_over) = (&history, &is_over);
                scope.spawn(move || append_until(client, history, writer, is_over))
            })
            .collect();
        let ending = Ending(&is_over);
        disturb();
        // All of them append once more, with the same client.
        drop(ending);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let entries = read_all_patiently(client, &history);
    let all: BTreeSet<&Vec<u8>> = entries.iter().collect();
    assert_eq!(all.len(), entries.len(), "an entry is there twice");
    let mut may_be_there = BTreeSet::new();
    for told in &told {
        for (number, entry) in &told.done {
            assert_eq!(entries.get(usize::try_from(*number).unwrap() - 1), Some(entry), "entry {number}");
            may_be_there.insert(entry);
        }
        may_be_there.extend(&told.unknown);
        for absent in told.taken.iter().chain(&told.unreachable) {
            assert!(
                !all.contains(absent),
                "{}: its writer was told that it is not there",
                String::from_utf8_lossy(absent)
            );
        }
    }
    assert!(all.is_subset(&may_be_there));
    let sum = |count: fn(&Told) -> usize| told.iter().map(count).sum::<usize>();
    note(&format!(
        "{} entries; done {}, taken {}, unreachable {}, unknown {}",
        entries.len(),
        sum(|told| told.done.len()),
        sum(|told| told.taken.len()),
        sum(|told| told.unreachable.len()),
        sum(|told| told.unknown.len())
    ));
}

#[test]
fn a_server_that_is_killed_loses_no_append_and_makes_none_twice() {
    let Some(server) = PostgresServer::start(ServerKind::Durable) else { return };
    check_appends_during(&connect_impatiently(&server.url()), || {
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(400));
            server.kill();
            server.start_again();
        }
    });
}

#[test]
fn a_server_that_stops_now_and_then_loses_no_append_and_makes_none_twice() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    check_appends_during(&connect_impatiently(&server.url()), || {
        // Shorter and longer than an answer is waited for.
        for milliseconds in [100, 500, 900, 1_200, 1_500, 2_000] {
            thread::sleep(Duration::from_millis(300));
            server.stop();
            thread::sleep(Duration::from_millis(milliseconds));
            server.go_on();
        }
    });
}

#[test]
fn connections_that_are_ended_lose_no_append_and_make_none_twice() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    check_appends_during(&connect_impatiently(&server.url()), || {
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(50));
            server.query(END_CONNECTIONS);
        }
    });
}

/// Two clients of a server: one behind a proxy, and one that sees what happened.
pub(super) struct ProxiedClients<E> {
    pub(super) through: E,
    pub(super) direct: E,
    pub(super) proxy: Proxy,
}

/// Appends to a new history through a proxy with these faults, compares what the client was told with the history, and returns it.
fn append_with_faults<E: Histories>(
    clients: &ProxiedClients<E>,
    history: &HistoryKey,
    faults: &[ProxyFault],
    taken_by_another: bool,
) -> Result<Appended, ErrorCode> {
    let ProxiedClients { through, direct, proxy } = clients;
    // All that is done once is done, so that faults meet what is asked.
    assert_eq!(through.append(history, 0, b"first").unwrap(), Appended::Done);
    assert_eq!(read_all(through, history).len(), 1);
    if taken_by_another {
        assert_eq!(direct.append(history, 1, b"of another client").unwrap(), Appended::Done);
    }
    proxy.fail(faults);
    let began = Instant::now();
    let told = through.append(history, 1, MARK).map_err(|error| error.code());
    let time = began.elapsed();
    assert!(proxy.has_failed() && time < TIMEOUT, "{faults:?}: {time:?}");
    let entries = read_all(direct, history);
    let count = entries.iter().filter(|entry| *entry == MARK).count();
    let is_right = match told {
        Ok(Appended::Done) => count == 1,
        Ok(Appended::Taken) => count == 0 && taken_by_another,
        Err(ErrorCode::SharedUnreachable) => count == 0,
        Err(ErrorCode::SharedUnknown) => count <= 1 && !taken_by_another,
        Err(_) => false,
    };
    assert!(is_right, "{faults:?}: the client was told {told:?}, and the history is {entries:?}");
    let mut count = entries.len() as u64;
    wait_until("it works again", || {
        let appended = through.append(history, count, b"later");
        count = direct.read(history, 0, 1_000).map_or(count, |entries| entries.len() as u64);
        matches!(appended, Ok(Appended::Done))
    });
    told
}

/// What an engine promises of an append that is lost, or whose answer is. Each fault gets clients of its own.
pub(super) fn check_faults<E: Histories>(connect: impl Fn() -> ProxiedClients<E> + Sync) {
    use ProxyFault::{HoldAnswer, HoldWhatFollows, LoseAnswer, LoseRequest};

    let cases = [
        (&[LoseAnswer][..], false, Some(Ok(Appended::Done))),
        (&[LoseRequest], false, Some(Ok(Appended::Done))),
        (&[HoldAnswer], false, Some(Ok(Appended::Done))),
        (&[LoseAnswer, LoseAnswer], false, Some(Ok(Appended::Done))),
        (&[LoseRequest, LoseRequest, LoseRequest], false, Some(Ok(Appended::Done))),
        // The second append says that there is an entry, and whose it is cannot be read.
        (&[LoseAnswer, HoldWhatFollows], false, None),
        (&[LoseRequest, HoldAnswer], false, None),
        (&[LoseAnswer, HoldAnswer], false, None),
        (&[LoseAnswer], true, Some(Ok(Appended::Taken))),
        (&[LoseRequest], true, Some(Ok(Appended::Taken))),
        (&[LoseAnswer, LoseAnswer], true, Some(Ok(Appended::Taken))),
    ];
    thread::scope(|scope| {
        for first in 0..FAULT_THREADS {
            let (cases, connect) = (&cases, &connect);
            scope.spawn(move || {
                let cases = cases.iter().enumerate().skip(first).step_by(FAULT_THREADS);
                for (number, (faults, taken_by_another, expected)) in cases {
                    let history = key(&format!("library/faults{number}"));
                    let told = append_with_faults(&connect(), &history, faults, *taken_by_another);
                    note(&format!("{faults:?}: {told:?}"));
                    assert!(expected.as_ref().is_none_or(|expected| told == *expected), "{faults:?}: {told:?}");
                }
            });
        }
    });
}

#[test]
fn what_became_of_an_append_is_found_out_or_not_claimed() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    check_faults(|| {
        let proxy = Proxy::start(server.port());
        let through = format!("postgres://toolcell@127.0.0.1:{}/toolcell", proxy.port());
        let through = Postgres::connect(&through, None, FAULT_LIMIT, Listening::Yes).unwrap();
        ProxiedClients { through, direct: connect(&server.url()), proxy }
    });
}

#[test]
fn a_connection_that_the_server_ends_is_made_again_at_once() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    let client = connect(&server.url());
    let history = key("library/ended");
    for after in 0..10 {
        assert_eq!(client.append(&history, after, b"entry").unwrap(), Appended::Done);
        server.query(END_CONNECTIONS);
    }
}

/// What an engine promises while its server is stopped. The client waits for answers as long as [`ANSWER_LIMIT`].
pub(super) fn check_stopped<E: Histories + Blobs>(client: &E, stop: impl FnOnce(), go_on: impl FnOnce()) {
    let history = key("library/stopped");
    assert_eq!(client.append(&history, 0, b"before").unwrap(), Appended::Done);
    let hash = blake3::hash(b"object");
    client.put(hash, b"object").unwrap();
    let timed = |ask: &dyn Fn() -> Result<(), SharedError>| {
        let began = Instant::now();
        (ask().unwrap_err(), began.elapsed())
    };
    let append = || client.append(&history, 1, b"during").map(drop);
    let read = || client.read(&history, 0, 10).map(drop);
    let get = || client.get(hash).map(drop);
    stop();
    let asked = [timed(&append), timed(&append), timed(&read), timed(&get), timed(&get)];
    go_on();
    for (error, _) in &asked {
        let codes = [ErrorCode::SharedUnreachable, ErrorCode::SharedUnknown];
        assert!(codes.contains(&error.code()), "{error}");
    }
    let times = asked.each_ref().map(|(_, time)| *time);
    note(&format!("a stopped server: append, append, read, get, get were refused after {times:?}"));
    assert!(times.iter().all(|time| *time < Duration::from_secs(3)), "{times:?}");
    // The second caller does not wait again.
    assert!(times[1] < ANSWER_LIMIT, "{times:?}");
    assert!([&asked[2], &asked[3], &asked[4]].iter().all(|(error, _)| error.code() == ErrorCode::SharedUnreachable));

    let (mut after, mut appended) = (0, false);
    let time = wait_until("it works again", || {
        after = client.read(&history, 0, 10).map_or(after, |entries| entries.len() as u64);
        appended = matches!(client.append(&history, after, b"after"), Ok(Appended::Done));
        appended && client.get(hash).is_ok()
    });
    note(&format!("it worked again after {time:?}"));
    let entries = read_all(client, &history);
    // What was refused with `shared-unreachable` is not there; what is unknown may be.
    let is_unknown = asked[..2].iter().any(|(error, _)| error.code() == ErrorCode::SharedUnknown);
    let during = entries.iter().filter(|entry| *entry == b"during").count();
    assert!(entries[0] == b"before" && during <= usize::from(is_unknown), "{entries:?}");
    assert_eq!(entries.last().map(Vec::as_slice), Some(&b"after"[..]));
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_once_and_briefly() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    check_stopped(&connect_impatiently(&server.url()), || server.stop(), || server.go_on());
}
