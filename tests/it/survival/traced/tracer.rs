//! A clerk in a process of its own, and a hand between it and the kernel.
//!
//! The seam is the kernel itself: with `ptrace(2)` every call of every thread stops before it is made and after, so that
//! the n-th that changes the disk can be let fail, or be the last. It is the same for SQLite, for the standard library and
//! for whatever else the store is made of, and the store knows nothing of it.
//!
//! Invariant: a run ends. A clerk that does not answer in time is killed, and the test fails.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use clerk::{Answer, Keeping, Order};
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::{Call, Fault, Kind};
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
        share_processor();
        let mut child = process::clerk(self.folder, self.keeping).spawn().unwrap();
        let clerk = process::pid(&child);
        seize(clerk);
        // Until now it could only wait for its orders.
        let told = Told::new(&mut child, self.orders);
        let watchdog = Watchdog::of(clerk);
        let (fault, watch) = (self.fault, self.watch);
        let mut tracer = Tracer { clerk, fault, watch, about: None, inside: BTreeMap::new(), points: 0, hit: None };
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
    share_processor();
    // It waits for a line before it becomes the command, so that no call of that is missed.
    let mut command = Command::new("sh");
    command.args(["-c", "read _ && exec \"$0\" \"$@\" < /dev/null"]).arg(program).args(words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let clerk = process::pid(&child);
    seize(clerk);
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let (out, errors) = (listen(child.stdout.take().unwrap()), listen(child.stderr.take().unwrap()));
    let watchdog = Watchdog::of(clerk);
    let (fault, about, inside) = (Some((fault, number)), Some(about), BTreeMap::new());
    let mut tracer = Tracer { clerk, fault, watch: None, about, inside, points: 0, hit: None };
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

fn seize(process: Pid) {
    let options = Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE;
    ptrace::seize(process, options).unwrap_or_else(|error| panic!("this test needs ptrace: {error}"));
    ptrace::interrupt(process).unwrap();
}

struct Tracer<'a> {
    clerk: Pid,
    fault: Option<(Fault, usize)>,
    watch: Option<&'a mut dyn FnMut(&Call)>,
    /// Which calls something may happen to, also of those that only look; all that change something, where nothing is said.
    about: Option<&'a dyn Fn(&Call) -> bool>,
    /// The threads that are inside of a call, and what is to be done when they leave it.
    inside: BTreeMap<Pid, Option<Leaving>>,
    /// How many calls the fault could have happened to.
    points: usize,
    hit: Option<Call>,
}

/// What is to be done when a call has returned.
enum Leaving {
    /// Say that it failed.
    Fail(Errno),
    /// Let somebody look.
    Watch(Call),
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
                WaitStatus::PtraceSyscall(thread) => {
                    // A thread that was killed meanwhile has nothing to be read.
                    match self.call(thread) {
                        Ok(()) | Err(Errno::ESRCH) => (thread, None),
                        Err(error) => panic!("{error} in {:?}", self.hit),
                    }
                }
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                _ => continue,
            };
            match ptrace::syscall(thread, signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => panic!("{error} in {:?}", self.hit),
            }
        }
    }

    /// A thread stands before a call or after it.
    fn call(&mut self, thread: Pid) -> nix::Result<()> {
        match self.inside.remove(&thread) {
            None => {
                let leaving = self.enter(thread)?;
                self.inside.insert(thread, leaving);
            }
            Some(Some(Leaving::Fail(error))) => {
                let mut regs = ptrace::getregs(thread)?;
                regs.rax = i64::from(-(error as i32)).cast_unsigned();
                ptrace::setregs(thread, regs)?;
            }
            Some(Some(Leaving::Watch(call))) => {
                if let Some(watch) = &mut self.watch {
                    watch(&call);
                }
            }
            Some(None) => {}
        }
        Ok(())
    }

    fn enter(&mut self, thread: Pid) -> nix::Result<Option<Leaving>> {
        let mut regs = ptrace::getregs(thread)?;
        let kind = Kind::of(thread, &regs);
        let kind = if self.about.is_some() { kind.or_else(|| Kind::of_look(&regs)) } else { kind };
        let Some(kind) = kind else { return Ok(None) };
        if self.about.is_some_and(|about| !about(&Call::new(kind, thread, &regs))) {
            return Ok(None);
        }
        if let Some(watch) = &mut self.watch {
            let call = Call::new(kind, thread, &regs);
            if kind != Kind::Answer {
                return Ok(Some(Leaving::Watch(call)));
            }
            watch(&call);
        }
        let Some(fault) = self.happening(kind) else { return Ok(None) };
        self.hit.get_or_insert_with(|| Call::new(kind, thread, &regs));
        let error = match fault {
            Fault::Kill => {
                kill(self.clerk, Signal::SIGKILL)?;
                None
            }
            Fault::Fail(error) => Some(error),
            Fault::Full => Some(Errno::ENOSPC),
            Fault::Broken => Some(Errno::EIO),
            Fault::Short => {
                regs.rdx /= 2;
                ptrace::setregs(thread, regs)?;
                return Ok(None);
            }
        };
        // There is no call with this number, so none is made.
        regs.orig_rax = u64::MAX;
        ptrace::setregs(thread, regs)?;
        Ok(error.map(Leaving::Fail))
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
