//! A clerk in a process of its own, and a hand between it and the kernel.
//!
//! The seam is the kernel itself: with `ptrace(2)` each call of any thread that could change the disk stops before it is made, so
//! that the n-th of them can be let fail, or be the last. It is the same for SQLite, for the standard library and for whatever else
//! the store is made of, and the store knows nothing of it. A filter (`seccomp(2)`, `SECCOMP_RET_TRACE`) lets all other calls pass
//! without a stop: they are most of them.
//!
//! Invariant: a run ends. A clerk that does not answer in time is killed, and the test fails.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use clerk::{Answer, Keeping, Order};
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::{Call, Fault, Kind, Syscall};
use crate::survival::process::{self, Told, Watchdog};

/// A clerk who is about to work.
pub(crate) struct Session<'a> {
    folder: &'a Path,
    keeping: Keeping,
    orders: &'a [Order],
    fault: Option<(Fault, usize)>,
    watch: Option<&'a mut dyn FnMut(&Call)>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Run {
    /// What was answered, an answer for each order until the end.
    pub(crate) answers: Vec<Answer>,
    /// The call that it happened to first.
    pub(crate) hit: Option<Call>,
    /// How the process ended.
    pub(crate) end: End,
}

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Killed(Signal),
}

impl<'a> Session<'a> {
    /// One in which nothing happens.
    pub(crate) fn new(folder: &'a Path, keeping: Keeping, orders: &'a [Order]) -> Self {
        Self { folder, keeping, orders, fault: None, watch: None }
    }

    /// Something happens to the call with this number, from 0, of those that it can happen to.
    pub(crate) fn with(mut self, fault: Fault, number: usize) -> Self {
        self.fault = Some((fault, number));
        self
    }

    /// Somebody looks at the disk before each answer is given, and after each other call.
    pub(crate) fn watched(mut self, watch: &'a mut dyn FnMut(&Call)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Lets the clerk work.
    pub(crate) fn run(self) -> Run {
        let mut child = traced(&process::clerk(self.folder, self.keeping), Kind::changes);
        let clerk = process::pid(&child);
        let told = Told::new(&mut child, self.orders);
        let watchdog = Watchdog::of(clerk);
        let (fault, watch) = (self.fault, self.watch);
        let mut tracer = Tracer { clerk, fault, watch, about: None, watched: BTreeMap::new(), points: 0, hit: None };
        let end = tracer.follow();
        watchdog.call_off();
        Run { answers: told.answers(), hit: tracer.hit, end }
    }
}

/// What came of a command to which something happened.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it said, on both streams.
    pub(crate) said: [String; 2],
    /// The call that it happened to.
    pub(crate) hit: Option<Call>,
    /// How the process ended.
    pub(crate) end: End,
}

/// Runs a command, in which something happens to the call with this number, from 0, of those that this is true of; those that only
/// look are among them.
#[expect(clippy::zombie_processes, reason = "the tracer waits for it")]
pub(crate) fn run(program: &Path, words: &[&str], fault: Fault, number: usize, about: &dyn Fn(&Call) -> bool) -> Ran {
    let mut child = traced(Command::new(program).args(words), |number| Kind::changes(number) || Kind::looks(number));
    let clerk = process::pid(&child);
    drop(child.stdin.take());
    let (out, errors) = (listen(child.stdout.take().unwrap()), listen(child.stderr.take().unwrap()));
    let watchdog = Watchdog::of(clerk);
    let (fault, about) = (Some((fault, number)), Some(about));
    let mut tracer = Tracer { clerk, fault, watch: None, about, watched: BTreeMap::new(), points: 0, hit: None };
    let end = tracer.follow();
    watchdog.call_off();
    Ran { said: [out, errors].map(|listening| listening.join().unwrap()), hit: tracer.hit, end }
}

/// Keeps this thread, and the processes that it starts from now on, on one processor.
///
/// At each call to the kernel the traced process waits for the tracer, and the tracer for it. Waking a thread on another processor
/// costs several times as much as switching to it on the same one.
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

fn listen(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}

/// Starts a program whose calls with these numbers stop for this thread, from its first one on.
fn traced(program: &Command, stops: impl Fn(i64) -> bool) -> Child {
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
    clerk: Pid,
    fault: Option<(Fault, usize)>,
    watch: Option<&'a mut dyn FnMut(&Call)>,
    /// Which calls something may happen to, also of those that only look; all that change something, where nothing is said.
    about: Option<&'a dyn Fn(&Call) -> bool>,
    /// The calls that are being made, by their threads, and are shown once they have returned.
    watched: BTreeMap<Pid, Call>,
    /// How many calls the fault could have happened to.
    points: usize,
    hit: Option<Call>,
}

impl Tracer<'_> {
    /// Follows all threads of the clerk to its end.
    fn follow(&mut self) -> End {
        // Clerks of other tests are children of other threads.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            let (thread, signal) = match waitpid(None, Some(flags)).unwrap() {
                WaitStatus::Exited(pid, status) if pid == self.clerk => return End::Exited(status),
                WaitStatus::Signaled(pid, signal, _) if pid == self.clerk => return End::Killed(signal),
                WaitStatus::PtraceEvent(thread, _, libc::PTRACE_EVENT_SECCOMP) => {
                    let entered = self.enter(thread);
                    self.still_there(entered);
                    (thread, None)
                }
                WaitStatus::PtraceSyscall(thread) => {
                    self.leave(thread);
                    (thread, None)
                }
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                _ => continue,
            };
            let is_watched = self.watched.contains_key(&thread);
            let resumed = if is_watched { ptrace::syscall(thread, signal) } else { ptrace::cont(thread, signal) };
            self.still_there(resumed);
        }
    }

    /// A thread that was killed meanwhile has nothing to be read or written.
    fn still_there(&self, result: nix::Result<()>) {
        match result {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => panic!("{error} in {:?}", self.hit),
        }
    }

    /// A thread stands after a call.
    fn leave(&mut self, thread: Pid) {
        if let (Some(call), Some(watch)) = (self.watched.remove(&thread), &mut self.watch) {
            watch(&call);
        }
    }

    /// A thread stands before a call.
    fn enter(&mut self, thread: Pid) -> nix::Result<()> {
        let mut regs = ptrace::getregs(thread)?;
        let syscall = Syscall::from(&regs);
        let kind = Kind::of(thread, &syscall);
        let kind = if self.about.is_some() { kind.or_else(|| Kind::of_look(&syscall)) } else { kind };
        let Some(kind) = kind else { return Ok(()) };
        if self.about.is_some_and(|about| !about(&Call::new(kind, thread, &syscall))) {
            return Ok(());
        }
        if let Some(watch) = &mut self.watch {
            let call = Call::new(kind, thread, &syscall);
            if kind != Kind::Answer {
                self.watched.insert(thread, call);
                return Ok(());
            }
            watch(&call);
        }
        let Some(fault) = self.happening(kind) else { return Ok(()) };
        self.hit.get_or_insert_with(|| Call::new(kind, thread, &syscall));
        let error = match fault {
            Fault::Kill => return kill(self.clerk, Signal::SIGKILL),
            Fault::Fail(error) => error,
            Fault::Full => Errno::ENOSPC,
            Fault::Broken => Errno::EIO,
            Fault::Short => {
                regs.rdx /= 2;
                return ptrace::setregs(thread, regs);
            }
        };
        // There is no call with this number, so none is made, and it returns what stands here.
        regs.orig_rax = u64::MAX;
        regs.rax = i64::from(-(error as i32)).cast_unsigned();
        ptrace::setregs(thread, regs)
    }

    /// What happens to the call that comes now.
    fn happening(&mut self, kind: Kind) -> Option<Fault> {
        let (fault, number) = self.fault.filter(|(fault, _)| fault.hits(kind))?;
        self.points += 1;
        let stays = matches!(fault, Fault::Full | Fault::Broken);
        let hit = if stays { self.points > number } else { self.points == number + 1 };
        hit.then_some(fault)
    }
}
