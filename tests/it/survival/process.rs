//! Clerks in processes of their own.
//!
//! Invariant: none of them outlasts its test: one that does not answer in time is killed, and the test fails.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clerk::{Answer, Keeping, Order};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a clerk may take for all of its orders.
const PATIENCE: Duration = Duration::from_mins(1);

/// A clerk that waits for its orders.
pub(crate) fn clerk(folder: &Path, keeping: Keeping) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clerk"));
    command.arg(folder).arg(keeping.name()).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Tells a clerk what to do, waits for it to the end, and gives what it answered.
pub(crate) fn tell(mut clerk: Command, orders: &[Order]) -> Vec<Answer> {
    let mut child = clerk.spawn().unwrap();
    let watchdog = Watchdog::of(pid(&child));
    let told = Told::new(&mut child, orders);
    let status = child.wait().unwrap();
    watchdog.call_off();
    assert!(status.success(), "{status}");
    told.answers()
}

/// A clerk that was told everything, and is listened to.
pub(crate) struct Told {
    listening: JoinHandle<String>,
}

impl Told {
    /// It reads while it answers, and neither pipe holds all of it.
    pub(crate) fn new(clerk: &mut Child, orders: &[Order]) -> Self {
        let (mut said, mut told) = (clerk.stdout.take().unwrap(), clerk.stdin.take().unwrap());
        let lines: String = orders.iter().map(|order| serde_json::to_string(order).unwrap() + "\n").collect();
        // Who is killed does not hear everything.
        std::thread::spawn(move || told.write_all(lines.as_bytes()));
        let listening = std::thread::spawn(move || {
            let mut text = String::new();
            said.read_to_string(&mut text).unwrap();
            text
        });
        Self { listening }
    }

    /// All that it said, once it has ended.
    pub(crate) fn answers(self) -> Vec<Answer> {
        self.listening.join().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The number of a process.
pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap())
}

/// Kills a process that takes too long.
pub(crate) struct Watchdog {
    ended: Sender<()>,
    watching: JoinHandle<bool>,
}

impl Watchdog {
    pub(crate) fn of(process: Pid) -> Self {
        let (ended, end) = channel();
        let watching = std::thread::spawn(move || {
            let late = end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            late && kill(process, Signal::SIGKILL).is_ok()
        });
        Self { ended, watching }
    }

    /// The process has ended by itself.
    pub(crate) fn call_off(self) {
        drop(self.ended);
        assert!(!self.watching.join().unwrap(), "the clerk did not answer within {PATIENCE:?}");
    }
}
