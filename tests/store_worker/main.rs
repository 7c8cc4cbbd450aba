//! A store worker in its own process: `store_worker DIR synced|unsynced [UID]`.
//!
//! It reads orders from standard input, one line of JSON each, and replies with a line once the
//! store has returned. With a UID it switches to that user first, because root bypasses file
//! permissions.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test may fail, and answers are printed"
)]

use std::io::BufRead as _;

use nix::unistd::{Gid, Uid, setgid, setuid};
use store_worker::{StoreOrder, StoreWorker, SyncMode};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, keeping, user @ ..] = args.as_slice() else { panic!("usage: store_worker DIR synced|unsynced [UID]") };
    if let [user] = user {
        let user = user.parse().unwrap();
        setgid(Gid::from_raw(user)).unwrap();
        setuid(Uid::from_raw(user)).unwrap();
    }
    let known = [SyncMode::Synced, SyncMode::Unsynced].into_iter().find(|known| known.name() == keeping);
    let mut worker = StoreWorker::new(path, known.unwrap());
    for line in std::io::stdin().lock().lines() {
        let order: StoreOrder = serde_json::from_str(&line.unwrap()).unwrap();
        println!("{}", serde_json::to_string(&worker.perform(&order)).unwrap());
    }
}
