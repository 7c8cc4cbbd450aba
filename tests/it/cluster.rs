//! Many nodes, one library: the engines alone, and nodes that share them.
//!
//! Reading order: [`postgres_server`], [`nats_server`] and [`s3_server`] start servers with the help of [`server_process`], [`node`] the nodes, and [`client`] is their
//! client; the other modules are the tests.
//!
//! Invariant: the servers and the nodes are real processes, and none of them outlives its test. Where the machine has no such server, the
//! tests say so and pass, unless `TOOLCELL_TEST_POSTGRES`, `TOOLCELL_TEST_NATS` or `TOOLCELL_TEST_WEED` names it.

#![expect(clippy::disallowed_types, reason = "the servers of these tests listen and log")]

mod client;
mod nats_server;
mod node;
mod postgres_server;
mod proxy;
mod s3_server;
mod server_process;

mod backups;
mod chaos;
mod crashes;
mod decisions;
mod engine;
mod engines;
mod linearizability;
mod migration;
mod nats;
mod outages;
mod refusals;
mod restarts;
mod s3;
mod sharing;
mod tampering;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long an answer of the database is waited for, in tests that are not about that time: on a machine that does other things, too, the
/// default may not be enough.
const PATIENT: Duration = Duration::from_secs(4);

/// Prints what a test measured, or what it leaves out.
#[expect(clippy::print_stderr, reason = "a figure is for the reader, and a test that looks at nothing says so")]
fn note(text: &str) {
    eprintln!("{text}");
}

/// Ends the clients of a test when it is dropped, also by a panic.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
