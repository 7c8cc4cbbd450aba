//! A worker process, as seen from the host.
//!
//! Invariant: a worker has an empty environment, inherits no descriptor of the host except its end
//! of the channel, and does not outlive its owner.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use toolcell_i18n::{Message, message};

use crate::channel::Channel;
use crate::messages::WORKER_ARG;

/// The interval at which the host checks for cancellation while it waits for a worker.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// The time in which a worker that closed its channel must exit before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// The path of the running program, which stays valid if its file is replaced.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// The program that the workers run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Program {
    /// The current program, whose `main` begins with [`serve_if_worker`](crate::serve_if_worker).
    #[default]
    This,
    /// Another program of the same version whose `main` does, such as the command line tool.
    Other(PathBuf),
}

impl Program {
    fn path(&self) -> &Path {
        match self {
            Self::This => Path::new(THIS_PROGRAM),
            Self::Other(path) => path,
        }
    }
}

/// An error that prevents a worker process from starting.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum SpawnError {
    /// The program cannot be started.
    #[error("`{}` cannot be started: {source}", program.display())]
    Program { program: PathBuf, source: io::Error },
    /// The thread that starts workers has ended.
    #[error("the thread that starts workers has ended")]
    NoThread,
    /// The channel cannot be created.
    #[error(transparent)]
    Channel(#[from] io::Error),
}

/// A worker process with its channel.
pub(crate) struct Worker {
    process: Child,
    pub(crate) channel: Channel,
}

impl Worker {
    /// Starts the process. Its hello is still to be received.
    fn spawn(program: &Program) -> Result<Self, SpawnError> {
        let (ours, theirs) = UnixStream::pair()?;
        let pipe = Channel::new(ours);
        pipe.set_poll_interval(TICK)?;
        let mut command = Command::new(program.path());
        command.arg0("toolcell").arg(WORKER_ARG).env_clear().current_dir("/");
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        // In its own process group, an interrupt from the terminal reaches only the host, which
        // decides how calls end.
        command.process_group(0);
        let process =
            command.spawn().map_err(|source| SpawnError::Program { program: program.path().to_owned(), source })?;
        Ok(Self::from_parts(process, pipe))
    }

    pub(crate) fn from_parts(process: Child, pipe: Channel) -> Self {
        Self { process, channel: pipe }
    }

    /// Returns whether the worker is alive and has sent nothing unasked.
    pub(crate) fn is_healthy(&self) -> bool {
        !self.channel.has_pending_input()
    }

    /// Returns the process identifier.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns whether the process died of a terminal interrupt (SIGINT or SIGQUIT).
    pub(crate) fn was_interrupted(&mut self) -> bool {
        let signal = self.process.try_wait().ok().flatten().and_then(|status| status.signal());
        signal.is_some_and(|signal| signal == Signal::SIGINT as i32 || signal == Signal::SIGQUIT as i32)
    }

    /// Waits up to [`EXIT_TIMEOUT`] for the process to exit, and describes how it ended.
    pub(crate) fn wait_for_exit(&mut self) -> Message {
        let began = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return describe_exit(status),
                Ok(None) if began.elapsed() < EXIT_TIMEOUT => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => return message!("it closed its pipe and was killed"),
                Err(error) => return message!("its exit status is unknown: {error}", error),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A process that has already exited cannot be killed, and is only reaped.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn describe_exit(status: ExitStatus) -> Message {
    match (status.signal(), status.code()) {
        (Some(number), _) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            if number == Signal::SIGSYS as i32 {
                message!("it was killed by signal {number} ({name}), for a forbidden system call", number, name)
            } else {
                message!("it was killed by signal {number} ({name})", number, name)
            }
        }
        (None, code) => message!("it exited with status {status}", status = code.unwrap_or_default()),
    }
}

/// Starts workers from a dedicated thread. A worker dies with the thread that started it
/// (`PR_SET_PDEATHSIG`), so that thread must live as long as the jail.
pub(crate) struct WorkerSpawner {
    program: Program,
    requests: Option<Sender<Sender<Result<Worker, SpawnError>>>>,
    thread: Option<JoinHandle<()>>,
}

impl WorkerSpawner {
    pub(crate) fn new(program: Program) -> io::Result<Self> {
        let (ask, asked) = channel::<Sender<Result<Worker, SpawnError>>>();
        let started = program.clone();
        let starts = move || {
            for answer in asked {
                // If the requester is gone, the worker is dropped.
                let _ = answer.send(Worker::spawn(&started));
            }
        };
        let thread = std::thread::Builder::new().name("toolcell-jail".to_owned()).spawn(starts)?;
        Ok(Self { program, requests: Some(ask), thread: Some(thread) })
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn spawn_worker(&self) -> Result<Worker, SpawnError> {
        let (answer, answered) = channel();
        let asked = self.requests.as_ref().and_then(|ask| ask.send(answer).ok());
        match asked.and_then(|()| answered.recv().ok()) {
            Some(worker) => worker,
            None => Err(SpawnError::NoThread),
        }
    }
}

impl Drop for WorkerSpawner {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
