//! Gates that are commands: JSON on standard input, an answer on standard output.
//!
//! Invariant: when an answer is there, or its time is over, nothing of the command's process group is left, and nothing
//! that still holds a pipe open makes the caller wait. There is no shell in between. A process that leaves the group (`setsid`) is
//! not killed: only a supervisor of the whole host, such as a cgroup, reaches it.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::apart::{Terms, spawn};
use super::failure::{Cause, Fault, shown};
use super::program::{ProgramFiles, environment, resolved};

/// The longest answer, in bytes.
const ANSWER_LIMIT: usize = 1 << 20;
/// How much is kept of what goes to standard error, in bytes.
const STDERR_KEPT: usize = 4096;
/// What every pipe takes without a reader, in bytes (`PIPE_BUF` of Linux).
const PIPE: usize = 4096;
/// How long to wait for the pipes to close when the group is dead.
const GRACE: Duration = Duration::from_millis(100);

/// When a command is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before runs.
    Before,
    /// After runs.
    After,
    /// Before and after; `hookEventName` tells which.
    BeforeAndAfter,
}

/// A command that is a gate.
#[derive(Debug, Clone)]
pub struct GateCommand {
    /// What the gate is called in messages and records.
    pub name: String,
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// When it is asked.
    pub when: When,
    /// How long it may take.
    pub timeout: Duration,
    /// Which tools it is for: a name, or `prefix*`; without any, every tool.
    pub tools: Vec<String>,
    /// Where a program is looked for that is given as a relative path, such as `./gates/check`. A name without `/` is
    /// looked for in `PATH`. It is not the working directory, which is the host's own.
    pub folder: PathBuf,
    /// Further environment variables that it gets, by name. All get `PATH`, `HOME`, `LANG`, `LANGUAGE`, `LC_*`, `TZ` and `TMPDIR`.
    pub env: Vec<String>,
}

/// Whether a command is still the one that somebody trusted; why not, if it is not. Asked before each start.
pub type StillTrusted = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What is started.
pub(super) struct Program {
    path: PathBuf,
    command: Vec<String>,
    folder: PathBuf,
    env: Vec<String>,
    trusted: Option<StillTrusted>,
}

impl Program {
    /// The program of a command; none where the command is empty.
    pub(super) fn new(
        command: &[String],
        folder: &Path,
        env: Vec<String>,
        trusted: Option<StillTrusted>,
    ) -> Option<Self> {
        let first = command.first().filter(|first| !first.is_empty())?;
        let path = if first.contains('/') { folder.join(first) } else { PathBuf::from(first) };
        Some(Self { path, command: command.to_vec(), folder: folder.to_owned(), env, trusted })
    }

    /// The files that it is made of now, and the folder that it was named in.
    pub(super) fn files(&self) -> (ProgramFiles, &Path) {
        (ProgramFiles::of(&self.command, &self.folder), &self.folder)
    }

    /// Runs it once: what it reads, and what it prints.
    pub(super) fn answer(&self, terms: &Terms<'_>, input: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let began = Instant::now();
        if let Some(trusted) = &self.trusted {
            trusted().map_err(Cause::Untrusted)?;
        }
        let token = terms.hanging.token()?;
        let mut running = Running::start(self, &token, input)?;
        let in_time = running.collect(|| terms.timeout.saturating_sub(began.elapsed()), Running::is_decided);
        kill(&running.group);
        let killed = Instant::now();
        if !running.collect(|| GRACE.saturating_sub(killed.elapsed()), Running::is_over) {
            terms.hanging.give_up(&token);
        }
        let cause = match (running.printed, running.status) {
            (Some(Err(cause)), _) => cause,
            _ if !in_time => Cause::Timeout(terms.timeout),
            (Some(Ok(answer)), Some(Ok(status))) if status.success() => return Ok(answer),
            (_, Some(Ok(status))) => ended(status),
            (_, Some(Err(error))) => Cause::Failed(format!("its status cannot be told: {error}")),
            (_, None) => Cause::Failed("its end cannot be told".to_owned()),
        };
        let stderr = running.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Fault { cause, stderr: first_line(&stderr) })
    }
}

fn ended(status: ExitStatus) -> Cause {
    match (status.code(), status.signal()) {
        (Some(code), _) => Cause::Status(code),
        (None, Some(signal)) => Cause::Signal(signal),
        (None, None) => Cause::Failed(status.to_string()),
    }
}

fn first_line(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    text.lines().map(shown).find(|line| !line.is_empty())
}

/// The group of a command, as long as its leader is not reaped: until then its number means nobody else.
type Group = Arc<Mutex<Option<Pid>>>;

fn kill(group: &Group) {
    if let Some(leader) = *group.lock().unwrap_or_else(PoisonError::into_inner) {
        // It may be dead already.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// What the threads of a run report.
enum Event {
    Written,
    Printed(Result<Vec<u8>, Cause>),
    Complained,
    Ended(io::Result<ExitStatus>),
}

/// A command that was started, and what came of it so far.
struct Running {
    group: Group,
    events: Receiver<Event>,
    written: bool,
    printed: Option<Result<Vec<u8>, Cause>>,
    complained: bool,
    stderr: Arc<Mutex<Vec<u8>>>,
    status: Option<io::Result<ExitStatus>>,
}

impl Running {
    fn start(program: &Program, token: &Arc<()>, input: Vec<u8>) -> Result<Self, Cause> {
        // A name is looked up here. Where the environment is not the one of this process, the standard library would look it up in a
        // copy of this process (`fork`), and copying the page tables of a sandbox takes milliseconds.
        let found = resolved(&program.command[0], &program.folder);
        let mut command = Command::new(found.as_deref().unwrap_or(&program.path));
        command.arg0(&program.path).args(&program.command[1..]).process_group(0);
        command.env_clear().envs(environment(&program.env));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            let path = program.path.display().to_string();
            Cause::NotStarted(format!("`{}`: {error}", shown(&path)))
        })?;
        let group = Arc::new(Mutex::new(Some(Pid::from_child(&child))));
        let attached = Self::attach(child, Arc::clone(&group), token, input);
        if attached.is_err() {
            kill(&group);
        }
        attached
    }

    fn attach(mut child: Child, group: Group, token: &Arc<()>, input: Vec<u8>) -> Result<Self, Cause> {
        let (events, happened) = channel();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let lost = || Cause::NotStarted("it has no pipes".to_owned());
        let (stdin, stdout, mut stderr) = (stdin.ok_or_else(lost)?, stdout.ok_or_else(lost)?, stderr.ok_or_else(lost)?);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reaped = Arc::clone(&group);
        reporting(token, &events, move || Event::Ended(reap(child, &reaped)))?;
        let running = Self {
            group,
            events: happened,
            written: false,
            printed: None,
            complained: false,
            stderr: Arc::clone(&kept),
            status: None,
        };
        print_to(token, &events, stdin, input)?;
        let sender = events.clone();
        spawn(token, move || report_printed(stdout, &sender))?;
        reporting(token, &events, move || {
            drain(&mut stderr, &kept);
            Event::Complained
        })?;
        Ok(running)
    }

    /// Takes in what happens until it is enough, or no time is left.
    fn collect(&mut self, left: impl Fn() -> Duration, is_enough: impl Fn(&Self) -> bool) -> bool {
        while !is_enough(self) {
            match self.events.recv_timeout(left()) {
                Ok(Event::Written) => self.written = true,
                Ok(Event::Printed(printed)) => self.printed = Some(printed),
                Ok(Event::Complained) => self.complained = true,
                Ok(Event::Ended(status)) => self.status = Some(status),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Whether it has answered and ended, or failed.
    fn is_decided(&self) -> bool {
        match (&self.printed, &self.status) {
            (Some(Err(_)), _) | (_, Some(Err(_))) => true,
            (_, Some(Ok(status))) if !status.success() => true,
            (printed, status) => printed.is_some() && status.is_some(),
        }
    }

    /// Whether no thread of it is left.
    fn is_over(&self) -> bool {
        self.written && self.complained && self.printed.is_some() && self.status.is_some()
    }
}

fn reporting(
    token: &Arc<()>,
    events: &Sender<Event>,
    work: impl FnOnce() -> Event + Send + 'static,
) -> Result<(), Cause> {
    let events = events.clone();
    // Nobody listens any more to what comes too late.
    spawn(token, move || drop(events.send(work())))
}

/// Waits for the leader, kills what it left of its group, and only then gives its number back.
fn reap(mut child: Child, group: &Group) -> io::Result<ExitStatus> {
    let leader = WaitId::Pid(Pid::from_child(&child));
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| waitid(leader.clone(), options));
    if ended.is_ok() {
        kill(group);
    }
    let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
    *group = None;
    ended?;
    child.wait()
}

/// A short input fits into the pipe; a long one is written while the command reads. One that does not read is fine.
fn print_to(token: &Arc<()>, events: &Sender<Event>, mut stdin: ChildStdin, input: Vec<u8>) -> Result<(), Cause> {
    if input.len() <= PIPE {
        let _ = stdin.write_all(&input);
        let _ = events.send(Event::Written);
        return Ok(());
    }
    reporting(token, events, move || {
        let _ = stdin.write_all(&input);
        Event::Written
    })
}

/// Reads the answer. The pipe stays open until the report is under way, so that a command which prints too much is not
/// found dead of it before.
fn report_printed(mut stdout: ChildStdout, events: &Sender<Event>) {
    let mut answer = Vec::new();
    let read = (&mut stdout).take(ANSWER_LIMIT as u64 + 1).read_to_end(&mut answer);
    let printed = match read {
        Ok(count) if count > ANSWER_LIMIT => Err(Cause::TooMuch { limit: ANSWER_LIMIT }),
        Ok(_) => Ok(answer),
        Err(error) => Err(Cause::Failed(format!("its answer cannot be read: {error}"))),
    };
    // Nobody listens any more to what comes too late.
    let _ = events.send(Event::Printed(printed));
}

/// Reads to the end, so that nobody blocks, and keeps the beginning.
fn drain(stderr: &mut ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; STDERR_KEPT];
    loop {
        match stderr.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = STDERR_KEPT - kept.len();
                kept.extend_from_slice(&buffer[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
