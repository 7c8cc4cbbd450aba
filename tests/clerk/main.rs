//! A clerk in a process of its own: `clerk DIR synced|unsynced [UID]`.
//!
//! It reads orders, a line of JSON each, and answers each with a line once the store has returned. With the number of a
//! user it becomes that user first, because no permission binds root.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test may fail, and answers are printed"
)]

use std::io::BufRead as _;

use clerk::{Clerk, Keeping, Order};
use nix::unistd::{Gid, Uid, setgid, setuid};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, keeping, user @ ..] = args.as_slice() else { panic!("usage: clerk DIR synced|unsynced [UID]") };
    if let [user] = user {
        let user = user.parse().unwrap();
        setgid(Gid::from_raw(user)).unwrap();
        setuid(Uid::from_raw(user)).unwrap();
    }
    let known = [Keeping::Synced, Keeping::Unsynced].into_iter().find(|known| known.name() == keeping);
    let mut clerk = Clerk::new(path, known.unwrap());
    for line in std::io::stdin().lock().lines() {
        let order: Order = serde_json::from_str(&line.unwrap()).unwrap();
        println!("{}", serde_json::to_string(&clerk.perform(&order)).unwrap());
    }
}
