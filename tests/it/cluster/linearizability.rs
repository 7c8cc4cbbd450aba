//! What clients of a history are told is linearizable: each append and each read takes effect at one moment between its call and its
//! answer (M. P. Herlihy and J. M. Wing, *Linearizability: A Correctness Condition for Concurrent Objects*, ACM TOPLAS 12 (3), 1990).
//!
//! The checker is the one of Wing and Gong, with the improvements of Lowe, of the crate `todc-utils`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use todc_utils::{Action, History, Specification, WGLChecker};
use toolcell::store::{Appended, Histories, HistoryKey, SharedError};
use toolcell_cluster::{ANSWER_LIMIT, Listening, Nats, Postgres};

use super::nats_server::{NatsKind, NatsServer};
use super::postgres_server::{END_CONNECTIONS, PostgresServer, ServerKind};
use super::{Ending, note};

/// The number of workers. Each appends and reads, through one of two clients.
const WORKERS: usize = 6;
/// The time between two operations of a worker, and the number of operations of all: the checker's memory grows with its square.
const PAUSE: Duration = Duration::from_millis(10);
const MAX_OPERATIONS: u64 = 1_500;
/// The maximum number of entries of a read.
const LIMIT: usize = 10_000;

/// An operation on the length of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// An entry was appended to a history of this length.
    Appended { after: u64 },
    /// Nothing was appended, because the history had more entries.
    Taken { after: u64 },
    /// So many entries came after the first ones.
    Read { after: u64, count: u64 },
}

/// A history, as its length.
struct HistoryLength;

impl Specification for HistoryLength {
    type State = u64;
    type Operation = Operation;

    fn init() -> u64 {
        0
    }

    fn apply(operation: &Operation, length: &u64) -> (bool, u64) {
        match *operation {
            Operation::Appended { after } => (*length == after, *length + 1),
            Operation::Taken { after } => (*length > after, *length),
            Operation::Read { after, count } => (length.saturating_sub(after) == count, *length),
        }
    }
}

/// What happened, in the order in which it did.
#[derive(Debug)]
enum Event {
    Called,
    /// The answer; `None` if the operation did not happen.
    Answered(Option<Operation>),
    /// It is not known whether an entry was appended.
    Unknown {
        after: u64,
        entry: Vec<u8>,
    },
}

/// The events of all workers, each with the number of its operation.
#[derive(Default)]
struct Recorder {
    events: Mutex<Vec<(u64, Event)>>,
    operations: AtomicU64,
}

impl Recorder {
    fn call(&self) -> u64 {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        self.note(operation, Event::Called);
        operation
    }

    fn note(&self, operation: u64, event: Event) {
        self.events.lock().unwrap().push((operation, event));
    }

    /// The operations that happened. Those of which it was not known may have happened until the end.
    fn into_actions(self, entries: &[Vec<u8>]) -> Vec<(usize, Action<Operation>)> {
        let events = self.events.into_inner().unwrap();
        let happened = |after: u64, entry: &Vec<u8>| entries.get(usize::try_from(after).unwrap()) == Some(entry);
        let found: Vec<(u64, Operation)> = events
            .iter()
            .filter_map(|(operation, event)| match event {
                Event::Answered(Some(answer)) => Some((*operation, *answer)),
                Event::Unknown { after, entry } if happened(*after, entry) => {
                    Some((*operation, Operation::Appended { after: *after }))
                }
                Event::Called | Event::Answered(None) | Event::Unknown { .. } => None,
            })
            .collect();
        let find = |operation: u64| found.iter().position(|(known, _)| *known == operation);
        let (mut actions, mut open) = (Vec::new(), Vec::new());
        for (operation, event) in &events {
            let Some(place) = find(*operation) else { continue };
            match event {
                Event::Called => actions.push((place, Action::Call(found[place].1))),
                Event::Answered(_) => actions.push((place, Action::Response(found[place].1))),
                Event::Unknown { .. } => open.push((place, Action::Response(found[place].1))),
            }
        }
        actions.extend(open);
        actions
    }
}

fn is_linearizable(actions: Vec<(usize, Action<Operation>)>) -> bool {
    WGLChecker::<HistoryLength>::is_linearizable(History::from_actions(actions))
}

/// Appends and reads in turn until the end.
fn work(client: &impl Histories, history: &HistoryKey, worker: usize, recorder: &Recorder, is_over: &AtomicBool) {
    let mut length = 0;
    while !is_over.load(Ordering::Relaxed) && recorder.operations.load(Ordering::Relaxed) < MAX_OPERATIONS {
        let operation = recorder.call();
        let entry = format!("{worker} {operation}").into_bytes();
        let event = match client.append(history, length, &entry) {
            Ok(Appended::Done) => Event::Answered(Some(Operation::Appended { after: length })),
            Ok(Appended::Taken) => Event::Answered(Some(Operation::Taken { after: length })),
            Err(SharedError::Unreachable { .. }) => Event::Answered(None),
            Err(SharedError::Unknown { .. }) => Event::Unknown { after: length, entry },
            Err(error) => panic!("{error}"),
        };
        recorder.note(operation, event);
        thread::sleep(PAUSE);
        let operation = recorder.call();
        let read = client.read(history, length, LIMIT).map(|entries| entries.len() as u64);
        let answer = read.as_ref().ok().map(|count| Operation::Read { after: length, count: *count });
        recorder.note(operation, Event::Answered(answer));
        length += read.unwrap_or(0);
        thread::sleep(PAUSE);
    }
}

/// Lets workers append and read through two clients while `disturb` does something to the server, and checks what they were told.
fn check_linearizable<E: Histories>(clients: &[E; 2], disturb: impl FnOnce()) {
    let (history, recorder) = (HistoryKey::parse("library/linearizable").unwrap(), Recorder::default());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (client, history, recorder, is_over) = (&clients[worker % 2], &history, &recorder, &is_over);
            scope.spawn(move || work(client, history, worker, recorder, is_over));
        }
        let _ending = Ending(&is_over);
        disturb();
        thread::sleep(Duration::from_millis(500));
    });
    let entries = super::engine::read_all_patiently(&clients[0], &history);
    let actions = recorder.into_actions(&entries);
    note(&format!("{} entries, {} operations", entries.len(), actions.len() / 2));
    assert!(actions.len() > 100, "{}", actions.len());
    assert!(is_linearizable(actions.clone()), "{actions:?}");
}

#[test]
fn appends_and_reads_are_linearizable_while_the_server_is_killed_and_stopped() {
    let Some(server) = PostgresServer::start(ServerKind::Durable) else { return };
    let clients = [(), ()].map(|()| Postgres::connect(&server.url(), None, ANSWER_LIMIT, Listening::Yes).unwrap());
    check_linearizable(&clients, || {
        for _ in 0..2 {
            thread::sleep(Duration::from_millis(500));
            server.kill();
            server.start_again();
            thread::sleep(Duration::from_millis(500));
            server.query(END_CONNECTIONS);
            thread::sleep(Duration::from_millis(300));
            server.stop();
            thread::sleep(2 * ANSWER_LIMIT);
            server.go_on();
        }
    });
}

/// One server: what a leader of several answers that others no longer follow is not linearizable, as the module of the engine says.
#[test]
fn appends_and_reads_are_linearizable_while_a_nats_server_is_killed_and_stopped() {
    let Some(server) = NatsServer::start(NatsKind::Durable) else { return };
    let clients = [(), ()].map(|()| Nats::connect(&server.url(), None, 1, ANSWER_LIMIT).unwrap());
    check_linearizable(&clients, || {
        for _ in 0..2 {
            thread::sleep(Duration::from_millis(500));
            server.kill(0);
            server.start_again(0);
            thread::sleep(Duration::from_millis(500));
            server.stop(0);
            thread::sleep(2 * ANSWER_LIMIT);
            server.go_on(0);
        }
    });
}

#[test]
fn the_checker_refuses_what_no_order_explains() {
    use Operation::{Appended, Read, Taken};

    let sequence = |operations: &[Operation]| {
        let both = |(place, operation): (usize, &Operation)| {
            [(place, Action::Call(*operation)), (place, Action::Response(*operation))]
        };
        operations.iter().enumerate().flat_map(both).collect::<Vec<_>>()
    };
    let right = [Appended { after: 0 }, Read { after: 0, count: 1 }, Taken { after: 0 }, Appended { after: 1 }];
    assert!(is_linearizable(sequence(&right)));
    for wrong in [
        // A stale read, two appends at one place, an append that was lost, and one that was refused for no reason.
        &[Appended { after: 0 }, Read { after: 0, count: 0 }][..],
        &[Appended { after: 0 }, Appended { after: 0 }],
        &[Appended { after: 0 }, Read { after: 0, count: 1 }, Read { after: 0, count: 0 }],
        &[Taken { after: 0 }, Appended { after: 0 }],
    ] {
        assert!(!is_linearizable(sequence(wrong)), "{wrong:?}");
    }
    // At the same time, the read may come first.
    let (append, read) = (Appended { after: 0 }, Read { after: 0, count: 0 });
    let overlapping = vec![
        (0, Action::Call(append)),
        (1, Action::Call(read)),
        (0, Action::Response(append)),
        (1, Action::Response(read)),
    ];
    assert!(is_linearizable(overlapping));
}
