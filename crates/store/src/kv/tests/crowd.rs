//! Concurrency, and processes that are killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::*;

/// The environment variable that names the store to a child process.
const STORE: &str = "TOOLCELL_TEST_STORE";

/// Increments a counter, retrying until the commit succeeds.
fn add_one(store: &Store, limits: &KvLimits) -> u64 {
    loop {
        let seen = get(store, "n");
        let next = seen.as_ref().map_or(0, |pair| pair.value.parse::<u64>().unwrap()) + 1;
        let check = is("n", seen.map(|pair| pair.version));
        if store.kv(&notes()).commit(&[check], &[put("n", &next.to_string())], limits, at(0)).unwrap() {
            return next;
        }
    }
}

#[test]
fn no_update_is_lost_where_eight_count_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // Every two threads have a store of their own, as processes do.
    let stores: Vec<Store> = (0..4).map(|_| open(&folder)).collect();
    let mut counted: Vec<u64> = std::thread::scope(|scope| {
        let count = |store| (0..50).map(|_| add_one(store, &LIMITS)).collect::<Vec<_>>();
        let threads: Vec<_> = stores.iter().chain(&stores).map(|store| scope.spawn(move || count(store))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    counted.sort_unstable();
    assert_eq!(counted, (1..=400).collect::<Vec<_>>());
    assert_eq!(get(&stores[0], "n").unwrap().value, "400");
}

#[test]
fn eight_at_once_never_fill_a_space_beyond_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..4).map(|_| open(&folder)).collect();
    for limits in [KvLimits { bytes: 95, ..LIMITS }, KvLimits { keys: 9, ..LIMITS }] {
        stores[0].kv(&notes()).clear().unwrap();
        let fill = |store: &Store, thread: usize| {
            let write = |number| put(&format!("{thread}{number:03}"), "123456");
            let done = (0..10).map(|number| store.kv(&notes()).commit(&[], &[write(number)], &limits, at(0)));
            done.filter(|done| match done {
                Ok(held) => *held,
                Err(error) => {
                    assert_eq!(error.code(), "kv-quota", "{error}");
                    false
                }
            })
            .count()
        };
        let put: usize = std::thread::scope(|scope| {
            let fill = &fill;
            let all = stores.iter().chain(&stores).enumerate();
            let threads: Vec<_> = all.map(|(thread, store)| scope.spawn(move || fill(store, thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((put, room(&stores[1], 0)), (9, (9, 90)));
    }
}

#[test]
fn what_was_acknowledged_outlasts_a_kill() {
    if let Some(path) = std::env::var_os(STORE) {
        let store = open_at(path.as_ref());
        let wide = KvLimits { bytes: 1 << 20, ..LIMITS };
        loop {
            // Two keys written in one commit are always seen together.
            let next = add_one(&store, &wide);
            let both = [put("one", &next.to_string()), put("two", &format!("{next}{}", " ".repeat(50)))];
            store.kv(&notes()).commit(&[], &both, &wide, at(0)).unwrap();
            let mut out = std::io::stdout().lock();
            writeln!(out, "\nacknowledged {next}").unwrap();
            out.flush().unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "kv::tests::crowd::what_was_acknowledged_outlasts_a_kill"])
            .env(STORE, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let numbers = lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
        let mut acknowledged = 0;
        for (count, number) in numbers.enumerate() {
            acknowledged = number;
            if count == 5 + round * 3 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let store = open(&folder);
        let number = |key: &str| get(&store, key).unwrap().value.trim_end().parse::<u64>().unwrap();
        let (counted, one, two) = (number("n"), number("one"), number("two"));
        assert!(
            acknowledged > last && counted >= acknowledged && counted <= acknowledged + 1,
            "{acknowledged} {counted}"
        );
        assert!(one == two && one >= acknowledged, "{one} {two} {acknowledged}");
        last = counted;
        drop(store);
        let health = crate::fsck(folder.path(), crate::RepairMode::Check).unwrap();
        assert!(health.problems.is_empty(), "{:#?}", health.problems);
    }
}
