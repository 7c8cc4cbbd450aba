//! Hooks that are commands: they read JSON from standard input and print an answer to standard
//! output.
//!
//! Invariant: after the answer or the timeout, no process of the command's process group is left,
//! and a process that still holds a pipe open does not block the caller. No shell is involved. A
//! process that leaves the group (`setsid`) is not killed: only a supervisor of the whole host,
//! such as a cgroup, can do that.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use toolcell_i18n::{Message, message};
use toolcell_policy::HookProtocol;

use super::error::{FailureCause, HookFault, escaped_excerpt};
use super::phase::HookPhase;
use super::program::{ProgramFiles, filtered_environment, resolve_program};
use super::worker::{InvocationContext, spawn};

/// The maximum size of an answer, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The exit status with which a hook of another host objects to a call.
const OBJECTION_STATUS: i32 = 2;
/// The number of bytes kept of standard error.
const MAX_STDERR_BYTES: usize = 4096;
/// The number of bytes that a pipe buffers without a reader (`PIPE_BUF` on Linux).
const PIPE_BUF_BYTES: usize = 4096;
/// How long to wait for the pipes to close after the process group was killed.
const PIPE_CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The definition of a hook that is a command.
#[derive(Debug, Clone)]
pub struct CommandHook {
    /// The name of the hook in messages and records.
    pub name: String,
    /// The program and its arguments. They are not passed to a shell.
    pub command: Vec<String>,
    /// The protocol: what the command reads and prints, and the meaning of its exit status.
    pub protocol: HookProtocol,
    /// When the command runs.
    pub when: HookPhase,
    /// The timeout.
    pub timeout: Duration,
    /// The tools it applies to: names, or `prefix*`. Empty for every tool.
    pub tools: Vec<String>,
    /// The folder that a relative program path such as `./hooks/check` is resolved against. A name
    /// without `/` is looked up in `PATH`. This is not the working directory, which is the host's
    /// own.
    pub folder: PathBuf,
    /// Additional environment variables to pass, by name. `PATH`, `HOME`, `LANG`, `LANGUAGE`,
    /// `LC_*`, `TZ` and `TMPDIR` are always passed.
    pub env: Vec<String>,
}

/// A check that a command is still the trusted one; the error says why it is not. Called before
/// each start.
pub type TrustCheck = Arc<dyn Fn() -> Result<(), Message> + Send + Sync>;

/// A program that a hook starts.
pub(super) struct HookProgram {
    path: PathBuf,
    command: Vec<String>,
    protocol: HookProtocol,
    folder: PathBuf,
    env: Vec<String>,
    trust_check: Option<TrustCheck>,
}

/// What a program answered.
pub(super) enum ProgramAnswer {
    /// It exited with status 0, and printed this.
    Printed(Vec<u8>),
    /// It objected by exit status 2, and wrote this to standard error. Only in the protocols of
    /// other hosts.
    Objected(String),
}

impl HookProgram {
    /// Creates the program of a command. Returns `None` if the command is empty.
    pub(super) fn new(
        command: Vec<String>,
        protocol: HookProtocol,
        folder: PathBuf,
        env: Vec<String>,
        trust_check: Option<TrustCheck>,
    ) -> Option<Self> {
        let first = command.first().filter(|first| !first.is_empty())?;
        let path = if first.contains('/') { folder.join(first) } else { PathBuf::from(first) };
        Some(Self { path, command, protocol, folder, env, trust_check })
    }

    /// Returns the protocol of the program.
    pub(super) const fn protocol(&self) -> HookProtocol {
        self.protocol
    }

    /// Returns the files that the program currently consists of, and the folder of its command.
    pub(super) fn files(&self) -> (ProgramFiles, &Path) {
        (ProgramFiles::for_command(&self.command, &self.folder), &self.folder)
    }

    /// Runs the program once with this input about a call from a folder, and returns its answer.
    pub(super) fn run(
        &self,
        terms: &InvocationContext<'_>,
        cwd: &str,
        input: Vec<u8>,
    ) -> Result<ProgramAnswer, HookFault> {
        let began = Instant::now();
        if let Some(trusted) = &self.trust_check {
            trusted().map_err(FailureCause::Untrusted)?;
        }
        let token = terms.leaked.token()?;
        let mut running = RunningCommand::start(self, cwd, &token, input)?;
        let in_time = running.collect(|| terms.timeout.saturating_sub(began.elapsed()), RunningCommand::has_outcome);
        kill_group(&running.group);
        let killed = Instant::now();
        if !running.collect(|| PIPE_CLOSE_TIMEOUT.saturating_sub(killed.elapsed()), RunningCommand::is_finished) {
            terms.leaked.add(&token);
        }
        let stderr = running.stderr_text();
        let cause = match (running.answer, running.status) {
            (Some(Err(cause)), _) => cause,
            _ if !in_time => FailureCause::Timeout(terms.timeout),
            (Some(Ok(answer)), Some(Ok(status))) if status.success() => return Ok(ProgramAnswer::Printed(answer)),
            (_, Some(Ok(status))) if status.code() == Some(OBJECTION_STATUS) && self.has_objection_status() => {
                return Ok(ProgramAnswer::Objected(stderr));
            }
            (_, Some(Ok(status))) => exit_cause(status),
            (_, Some(Err(error))) => FailureCause::Failed(message!("its exit status cannot be read: {error}", error)),
            (_, None) => FailureCause::Failed(message!("its exit status is unknown")),
        };
        Err(HookFault { cause, stderr: first_line(&stderr) })
    }

    /// Whether an exit status of 2 is an objection in the protocol.
    const fn has_objection_status(&self) -> bool {
        matches!(self.protocol, HookProtocol::Copilot | HookProtocol::Claude)
    }

    /// Returns the variables with which the hosts of other protocols name the folder of a project.
    fn project_variables(&self) -> &'static [&'static str] {
        match self.protocol {
            HookProtocol::Toolcell => &[],
            HookProtocol::Copilot => &["COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
            HookProtocol::Claude => &["CLAUDE_PROJECT_DIR"],
        }
    }
}

fn exit_cause(status: ExitStatus) -> FailureCause {
    match (status.code(), status.signal()) {
        (Some(code), _) => FailureCause::ExitStatus(code),
        (None, Some(signal)) => FailureCause::Signal(signal),
        (None, None) => FailureCause::Failed(Message::verbatim(status.to_string())),
    }
}

fn first_line(stderr: &str) -> Option<String> {
    stderr.lines().map(escaped_excerpt).find(|line| !line.is_empty())
}

/// The process group of a command, until its leader is reaped. Afterwards the process id may be
/// reused.
type ProcessGroup = Arc<Mutex<Option<Pid>>>;

fn kill_group(group: &ProcessGroup) {
    if let Some(leader) = *group.lock().unwrap_or_else(PoisonError::into_inner) {
        // The group may be dead already.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// What the threads of a run report.
enum CommandEvent {
    InputWritten,
    Answered(Result<Vec<u8>, FailureCause>),
    StderrClosed,
    Exited(io::Result<ExitStatus>),
}

/// A started command and the events received so far.
struct RunningCommand {
    group: ProcessGroup,
    events: Receiver<CommandEvent>,
    is_input_written: bool,
    answer: Option<Result<Vec<u8>, FailureCause>>,
    is_stderr_closed: bool,
    stderr: Arc<Mutex<Vec<u8>>>,
    status: Option<io::Result<ExitStatus>>,
}

impl RunningCommand {
    fn start(program: &HookProgram, cwd: &str, token: &Arc<()>, input: Vec<u8>) -> Result<Self, FailureCause> {
        // Resolve the name here. If the environment differs from the one of this process, the
        // standard library resolves it in a forked child (`fork`), and copying the page tables of a
        // sandbox takes milliseconds.
        let found = resolve_program(&program.command[0], &program.folder);
        let mut command = Command::new(found.as_deref().unwrap_or(&program.path));
        command.arg0(&program.path).args(&program.command[1..]).process_group(0);
        command.env_clear().envs(filtered_environment(&program.env));
        command.envs(program.project_variables().iter().map(|name| (name, cwd)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            let path = program.path.display().to_string();
            FailureCause::NotStarted(Message::verbatim(format!("`{}`: {error}", escaped_excerpt(&path))))
        })?;
        let group = Arc::new(Mutex::new(Some(Pid::from_child(&child))));
        let attached = Self::attach(child, Arc::clone(&group), token, input);
        if attached.is_err() {
            kill_group(&group);
        }
        attached
    }

    fn attach(mut child: Child, group: ProcessGroup, token: &Arc<()>, input: Vec<u8>) -> Result<Self, FailureCause> {
        let (events, happened) = channel();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let lost = || FailureCause::NotStarted(message!("its standard streams are not piped"));
        let (stdin, stdout, mut stderr) = (stdin.ok_or_else(lost)?, stdout.ok_or_else(lost)?, stderr.ok_or_else(lost)?);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reaped = Arc::clone(&group);
        spawn_reporting(token, &events, move || CommandEvent::Exited(reap(child, &reaped)))?;
        let running = Self {
            group,
            events: happened,
            is_input_written: false,
            answer: None,
            is_stderr_closed: false,
            stderr: Arc::clone(&kept),
            status: None,
        };
        write_input(token, &events, stdin, input)?;
        let sender = events.clone();
        spawn(token, move || read_answer(stdout, &sender))?;
        spawn_reporting(token, &events, move || {
            drain_stderr(&mut stderr, &kept);
            CommandEvent::StderrClosed
        })?;
        Ok(running)
    }

    /// Processes events until `is_enough` holds. Returns `false` if the time runs out first.
    fn collect(&mut self, left: impl Fn() -> Duration, is_enough: impl Fn(&Self) -> bool) -> bool {
        while !is_enough(self) {
            match self.events.recv_timeout(left()) {
                Ok(CommandEvent::InputWritten) => self.is_input_written = true,
                Ok(CommandEvent::Answered(printed)) => self.answer = Some(printed),
                Ok(CommandEvent::StderrClosed) => self.is_stderr_closed = true,
                Ok(CommandEvent::Exited(status)) => self.status = Some(status),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Whether the command has answered and exited, or has failed.
    fn has_outcome(&self) -> bool {
        match (&self.answer, &self.status) {
            (Some(Err(_)), _) | (_, Some(Err(_))) => true,
            (_, Some(Ok(status))) if !status.success() => true,
            (printed, status) => printed.is_some() && status.is_some(),
        }
    }

    /// Returns what the command has written to standard error so far: its first bytes.
    fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Whether all threads of the run have finished.
    fn is_finished(&self) -> bool {
        self.is_input_written && self.is_stderr_closed && self.answer.is_some() && self.status.is_some()
    }
}

fn spawn_reporting(
    token: &Arc<()>,
    events: &Sender<CommandEvent>,
    work: impl FnOnce() -> CommandEvent + Send + 'static,
) -> Result<(), FailureCause> {
    let events = events.clone();
    // After a timeout the receiver is gone.
    spawn(token, move || drop(events.send(work())))
}

/// Waits for the leader to exit, kills the rest of its group, and only then reaps the leader and so
/// releases its process id.
fn reap(mut child: Child, group: &ProcessGroup) -> io::Result<ExitStatus> {
    let leader = WaitId::Pid(Pid::from_child(&child));
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| waitid(leader.clone(), options));
    if ended.is_ok() {
        kill_group(group);
    }
    let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
    *group = None;
    ended?;
    child.wait()
}

/// Writes the input to standard input. A short input fits into the pipe; a long one is written on a
/// thread while the command reads. A command that does not read its input is not an error.
fn write_input(
    token: &Arc<()>,
    events: &Sender<CommandEvent>,
    mut stdin: ChildStdin,
    input: Vec<u8>,
) -> Result<(), FailureCause> {
    if input.len() <= PIPE_BUF_BYTES {
        let _ = stdin.write_all(&input);
        let _ = events.send(CommandEvent::InputWritten);
        return Ok(());
    }
    spawn_reporting(token, events, move || {
        let _ = stdin.write_all(&input);
        CommandEvent::InputWritten
    })
}

/// Reads the answer. The pipe stays open until the event is sent, so that a command that prints too
/// much is not reported as killed by `SIGPIPE` first.
fn read_answer(mut stdout: ChildStdout, events: &Sender<CommandEvent>) {
    let mut answer = Vec::new();
    let read = (&mut stdout).take(MAX_ANSWER_BYTES as u64 + 1).read_to_end(&mut answer);
    let printed = match read {
        Ok(count) if count > MAX_ANSWER_BYTES => Err(FailureCause::TooMuchOutput { limit: MAX_ANSWER_BYTES }),
        Ok(_) => Ok(answer),
        Err(error) => Err(FailureCause::Failed(message!("its answer cannot be read: {error}", error))),
    };
    // After a timeout the receiver is gone.
    let _ = events.send(CommandEvent::Answered(printed));
}

/// Reads standard error to its end, so that the command never blocks on it, and keeps the first
/// bytes.
fn drain_stderr(stderr: &mut ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; MAX_STDERR_BYTES];
    loop {
        match stderr.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_STDERR_BYTES - kept.len();
                kept.extend_from_slice(&buffer[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
