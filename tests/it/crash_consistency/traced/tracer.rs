//! Fault injection between a worker process and the kernel.
//!
//! With `ptrace(2)`, each system call of any thread that could change the disk stops before it is
//! made, so that the n-th of them can fail, or be the last. This covers SQLite, the standard
//! library and everything else in the store, without any hook in its code. A seccomp filter
//! (`seccomp(2)`, `SECCOMP_RET_TRACE`) lets all other calls, which are the majority, pass without a
//! stop.
//!
//! Invariant: every run ends. A worker that exceeds its time is killed, and the test fails.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use store_worker::{StoreOrder, StoreReply, SyncMode};

use super::calls::{CallKind, InjectedFault, InterceptedCall, Syscall};
use crate::crash_consistency::process::{self, Watchdog, WorkerOutput};

/// A worker session under trace.
pub(crate) struct TracedSession<'a> {
    folder: &'a Path,
    keeping: SyncMode,
    orders: &'a [StoreOrder],
    fault: Option<(InjectedFault, usize)>,
    watch: Option<&'a mut dyn FnMut(&InterceptedCall)>,
}

/// The result of a session.
#[derive(Debug)]
pub(crate) struct TracedRun {
    /// The replies, one per order until the end.
    pub(crate) answers: Vec<StoreReply>,
    /// The first call that the fault was injected into.
    pub(crate) hit: Option<InterceptedCall>,
    /// How the process ended.
    pub(crate) end: ProcessEnd,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    Exited(i32),
    Killed(Signal),
}

impl<'a> TracedSession<'a> {
    /// Creates a session without faults.
    pub(crate) fn new(folder: &'a Path, keeping: SyncMode, orders: &'a [StoreOrder]) -> Self {
        Self { folder, keeping, orders, fault: None, watch: None }
    }

    /// Injects a fault into the n-th call that it applies to, counted from 0.
    pub(crate) fn with_fault(mut self, fault: InjectedFault, number: usize) -> Self {
        self.fault = Some((fault, number));
        self
    }

    /// Calls `watch` before each reply is sent, and after each other call.
    pub(crate) fn with_watch(mut self, watch: &'a mut dyn FnMut(&InterceptedCall)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Runs the worker.
    pub(crate) fn run(self) -> TracedRun {
        let mut child = spawn_traced(&process::worker_command(self.folder, self.keeping), CallKind::is_mutating);
        let worker = process::pid(&child);
        let replies = WorkerOutput::new(&mut child, self.orders);
        let watchdog = Watchdog::start(worker);
        let (fault, watch) = (self.fault, self.watch);
        let mut tracer = Tracer { worker, fault, watch, about: None, watched: BTreeMap::new(), points: 0, hit: None };
        let end = tracer.follow();
        watchdog.disarm();
        TracedRun { answers: replies.answers(), hit: tracer.hit, end }
    }
}

/// The result of a command with an injected fault.
#[derive(Debug)]
pub(crate) struct TracedOutput {
    /// Its standard output and standard error.
    pub(crate) output: [String; 2],
    /// The first call that the fault was injected into.
    pub(crate) hit: Option<InterceptedCall>,
    /// How the process ended.
    pub(crate) end: ProcessEnd,
}

/// Runs a command, with a fault injected into the n-th matching call, counted from 0; calls that
/// only read can match too.
#[expect(clippy::zombie_processes, reason = "the tracer waits for it")]
pub(crate) fn run_traced(
    program: &Path,
    words: &[&str],
    fault: InjectedFault,
    number: usize,
    about: &dyn Fn(&InterceptedCall) -> bool,
) -> TracedOutput {
    let mut child = spawn_traced(Command::new(program).args(words), |number| {
        CallKind::is_mutating(number) || CallKind::is_observing(number)
    });
    let worker = process::pid(&child);
    drop(child.stdin.take());
    let (out, errors) =
        (read_in_background(child.stdout.take().unwrap()), read_in_background(child.stderr.take().unwrap()));
    let watchdog = Watchdog::start(worker);
    let (fault, about) = (Some((fault, number)), Some(about));
    let mut tracer = Tracer { worker, fault, watch: None, about, watched: BTreeMap::new(), points: 0, hit: None };
    let end = tracer.follow();
    watchdog.disarm();
    TracedOutput { output: [out, errors].map(|listening| listening.join().unwrap()), hit: tracer.hit, end }
}

/// Pins this thread, and the processes that it starts from now on, to one processor.
///
/// At each system call the traced process waits for the tracer, and the tracer for it. Waking a
/// thread on another processor takes several times as long as a switch on the same one.
fn share_processor() {
    static PROCESSORS: OnceLock<Vec<usize>> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    let this_thread = Pid::from_raw(0);
    let allowed = PROCESSORS.get_or_init(|| {
        let all = sched_getaffinity(this_thread).unwrap();
        (0..CpuSet::count()).filter(|processor| all.is_set(*processor).unwrap()).collect()
    });
    let mut one = CpuSet::new();
    one.set(allowed[OWN.with(|own| own % allowed.len())]).unwrap();
    sched_setaffinity(this_thread, &one).unwrap();
}

fn read_in_background(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}

/// Starts a program whose calls with these numbers stop for this thread, from its first one on.
fn spawn_traced(program: &Command, stops: impl Fn(i64) -> bool) -> Child {
    share_processor();
    let numbers: Vec<String> = (0..1_000).filter(|number| stops(*number)).map(|number| number.to_string()).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_traced"));
    command.arg(numbers.join(",")).arg(program.get_program()).args(program.get_args());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACESECCOMP;
    ptrace::seize(process::pid(&child), options).unwrap_or_else(|error| panic!("this test needs ptrace: {error}"));
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child
}

struct Tracer<'a> {
    worker: Pid,
    fault: Option<(InjectedFault, usize)>,
    watch: Option<&'a mut dyn FnMut(&InterceptedCall)>,
    /// Selects the calls that faults apply to, including those that only read; without it, all
    /// calls that change something.
    about: Option<&'a dyn Fn(&InterceptedCall) -> bool>,
    /// The calls in progress, by thread, which are passed to `watch` once they have returned.
    watched: BTreeMap<Pid, InterceptedCall>,
    /// How many calls the fault could have been injected into.
    points: usize,
    hit: Option<InterceptedCall>,
}

impl Tracer<'_> {
    /// Follows all threads of the worker to its end.
    fn follow(&mut self) -> ProcessEnd {
        // Workers of concurrent tests are children of other threads.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            let (thread, signal) = match waitpid(None, Some(flags)).unwrap() {
                WaitStatus::Exited(pid, status) if pid == self.worker => return ProcessEnd::Exited(status),
                WaitStatus::Signaled(pid, signal, _) if pid == self.worker => return ProcessEnd::Killed(signal),
                WaitStatus::PtraceEvent(thread, _, libc::PTRACE_EVENT_SECCOMP) => {
                    let entered = self.on_entry(thread);
                    self.ignore_gone(entered);
                    (thread, None)
                }
                WaitStatus::PtraceSyscall(thread) => {
                    self.on_exit(thread);
                    (thread, None)
                }
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                _ => continue,
            };
            let is_watched = self.watched.contains_key(&thread);
            let resumed = if is_watched { ptrace::syscall(thread, signal) } else { ptrace::cont(thread, signal) };
            self.ignore_gone(resumed);
        }
    }

    /// Ignores that a thread was killed meanwhile, so that its registers and memory are gone.
    fn ignore_gone(&self, result: nix::Result<()>) {
        match result {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => panic!("{error} in {:?}", self.hit),
        }
    }

    /// Handles a thread that returned from a call.
    fn on_exit(&mut self, thread: Pid) {
        if let (Some(call), Some(watch)) = (self.watched.remove(&thread), &mut self.watch) {
            watch(&call);
        }
    }

    /// Handles a thread that is about to make a call.
    fn on_entry(&mut self, thread: Pid) -> nix::Result<()> {
        let mut regs = ptrace::getregs(thread)?;
        let syscall = Syscall::from(&regs);
        let kind = CallKind::mutation(thread, &syscall);
        let kind = if self.about.is_some() { kind.or_else(|| CallKind::observation(&syscall)) } else { kind };
        let Some(kind) = kind else { return Ok(()) };
        if self.about.is_some_and(|about| !about(&InterceptedCall::new(kind, thread, &syscall))) {
            return Ok(());
        }
        if let Some(watch) = &mut self.watch {
            let call = InterceptedCall::new(kind, thread, &syscall);
            if kind != CallKind::Answer {
                self.watched.insert(thread, call);
                return Ok(());
            }
            watch(&call);
        }
        let Some(fault) = self.next_fault(kind) else { return Ok(()) };
        self.hit.get_or_insert_with(|| InterceptedCall::new(kind, thread, &syscall));
        let error = match fault {
            InjectedFault::Kill => return kill(self.worker, Signal::SIGKILL),
            InjectedFault::Fail(error) => error,
            InjectedFault::Full => Errno::ENOSPC,
            InjectedFault::Broken => Errno::EIO,
            InjectedFault::Short => {
                regs.rdx /= 2;
                return ptrace::setregs(thread, regs);
            }
        };
        // No system call has this number, so none is made, and the thread sees this return value.
        regs.orig_rax = u64::MAX;
        regs.rax = i64::from(-(error as i32)).cast_unsigned();
        ptrace::setregs(thread, regs)
    }

    /// Returns the fault to inject into the next call.
    fn next_fault(&mut self, kind: CallKind) -> Option<InjectedFault> {
        let (fault, number) = self.fault.filter(|(fault, _)| fault.applies_to(kind))?;
        self.points += 1;
        let stays = matches!(fault, InjectedFault::Full | InjectedFault::Broken);
        let hit = if stays { self.points > number } else { self.points == number + 1 };
        hit.then_some(fault)
    }
}
