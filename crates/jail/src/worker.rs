//! One worker process, as the host holds it.
//!
//! Invariant: a worker has no environment, no descriptor of the host but its end of the pipe, and does not outlive whoever holds it.

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

use crate::pipe::Pipe;
use crate::serve::WORD;

/// How often whoever waits for a worker looks whether its call was cancelled.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// How long a worker that broke off has to be gone before it is ended.
const LEAVING: Duration = Duration::from_millis(200);
/// Where the program of a process is found, also when its file was replaced since.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Which program the workers run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Program {
    /// This one: its `main` begins with [`serve_if_worker`](crate::serve_if_worker).
    #[default]
    This,
    /// Another one whose `main` does, such as the command line tool, of the same version.
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

/// A worker.
pub(crate) struct Worker {
    process: Child,
    pub(crate) pipe: Pipe,
}

impl Worker {
    /// Starts the process. It has to say hello yet.
    fn spawn(program: &Program) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let pipe = Pipe::new(ours);
        pipe.look_up_every(TICK)?;
        let mut command = Command::new(program.path());
        command.arg0("toolcell").arg(WORD).env_clear().current_dir("/");
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        // Who interrupts the host at a terminal leaves it to the host how its calls end.
        command.process_group(0);
        let process = command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("`{}` does not start: {error}", program.path().display()))
        })?;
        Ok(Self::of(process, pipe))
    }

    pub(crate) fn of(process: Child, pipe: Pipe) -> Self {
        Self { process, pipe }
    }

    /// Whether it is there, and says nothing that nobody asked.
    pub(crate) fn is_well(&self) -> bool {
        !self.pipe.has_news()
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it has ended as what a terminal started does that is interrupted.
    pub(crate) fn was_interrupted(&mut self) -> bool {
        let signal = self.process.try_wait().ok().flatten().and_then(|status| status.signal());
        signal.is_some_and(|signal| signal == Signal::SIGINT as i32 || signal == Signal::SIGQUIT as i32)
    }

    /// How it ended, if it has, or does now.
    pub(crate) fn end(&mut self) -> String {
        let began = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return said(status),
                Ok(None) if began.elapsed() < LEAVING => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => return "it closed its pipe, and was ended".to_owned(),
                Err(error) => return format!("nothing is known of how it ended: {error}"),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that ended before cannot be ended, and is only waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn said(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(number), _) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            let why = if number == Signal::SIGSYS as i32 { ", for a system call that no worker makes" } else { "" };
            format!("signal {number} ({name}) ended it{why}")
        }
        (None, code) => format!("it exited with status {}", code.unwrap_or_default()),
    }
}

/// Starts workers, on a thread of its own: a worker ends with the thread that started it (`PR_SET_PDEATHSIG`), so that has to be
/// one that lives as long as the jail does.
pub(crate) struct Nursery {
    program: Program,
    ask: Option<Sender<Sender<io::Result<Worker>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Nursery {
    pub(crate) fn new(program: Program) -> io::Result<Self> {
        let (ask, asked) = channel::<Sender<io::Result<Worker>>>();
        let started = program.clone();
        let starts = move || {
            for answer in asked {
                // Whoever asked has gone: the worker goes as well.
                let _ = answer.send(Worker::spawn(&started));
            }
        };
        let thread = std::thread::Builder::new().name("toolcell-jail".to_owned()).spawn(starts)?;
        Ok(Self { program, ask: Some(ask), thread: Some(thread) })
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn start(&self) -> io::Result<Worker> {
        let (answer, answered) = channel();
        let asked = self.ask.as_ref().and_then(|ask| ask.send(answer).ok());
        match asked.and_then(|()| answered.recv().ok()) {
            Some(worker) => worker,
            None => Err(io::Error::other("the thread that starts workers has gone")),
        }
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
