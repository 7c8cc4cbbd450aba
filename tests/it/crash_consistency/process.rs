//! Store workers in their own processes.
//!
//! Invariant: no worker outlives its test: one that exceeds its time is killed, and the test fails.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use store_worker::{StoreOrder, StoreReply, SyncMode};

/// Time that a worker may take for all of its orders.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Returns the command of a worker that reads orders.
pub(crate) fn worker_command(folder: &Path, keeping: SyncMode) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_store_worker"));
    command.arg(folder).arg(keeping.name()).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Sends orders to a worker, waits for it to exit, and returns its replies.
pub(crate) fn run_orders(mut worker: Command, orders: &[StoreOrder]) -> Vec<StoreReply> {
    let mut child = worker.spawn().unwrap();
    let watchdog = Watchdog::start(pid(&child));
    let input = WorkerOutput::new(&mut child, orders);
    let status = child.wait().unwrap();
    watchdog.disarm();
    assert!(status.success(), "{status}");
    input.answers()
}

/// The replies of a worker, read in the background.
pub(crate) struct WorkerOutput {
    listening: JoinHandle<String>,
}

impl WorkerOutput {
    /// Writes and reads on two threads, because neither pipe holds everything.
    pub(crate) fn new(worker: &mut Child, orders: &[StoreOrder]) -> Self {
        let (mut output, mut input) = (worker.stdout.take().unwrap(), worker.stdin.take().unwrap());
        let lines: String = orders.iter().map(|order| serde_json::to_string(order).unwrap() + "\n").collect();
        // A worker that is killed does not read all orders.
        std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let listening = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            text
        });
        Self { listening }
    }

    /// Returns all replies, once the worker has exited.
    pub(crate) fn answers(self) -> Vec<StoreReply> {
        self.listening.join().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns the identifier of a process.
pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap())
}

/// Kills a process that takes too long.
pub(crate) struct Watchdog {
    ended: Sender<()>,
    watching: JoinHandle<bool>,
}

impl Watchdog {
    pub(crate) fn start(process: Pid) -> Self {
        let (ended, end) = channel();
        let watching = std::thread::spawn(move || {
            let late = end.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout);
            late && kill(process, Signal::SIGKILL).is_ok()
        });
        Self { ended, watching }
    }

    /// Stops the watchdog after the process has exited.
    pub(crate) fn disarm(self) {
        drop(self.ended);
        assert!(!self.watching.join().unwrap(), "the clerk did not answer within {TIMEOUT:?}");
    }
}
