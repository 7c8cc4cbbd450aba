//! Nothing leads out of a process that is locked in: whatever it tries ends it.
//!
//! This program runs itself: as a process that locks itself in and then tries one thing, and as a worker.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "what is forbidden has to be tried")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may fail, and says what it did")]

use std::fs::File;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode};

use nix::sys::signal::Signal;
use toolcell_host::{Budget, CallContext, Outcome, Params, PrepareResult, SandboxOptions, ScriptSource};
use toolcell_jail::{Jail, Program, confine, serve_if_worker};

/// A thing to try, and whether it is still there after that.
type Attempt = (&'static str, Fate, fn(&UnixStream));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lives,
    IsEnded,
}

/// Drops what came of it, if anything did.
fn tried<T>(_: T) {}

const ATTEMPTS: &[Attempt] = &[
    ("nothing", Fate::Lives, |_| ()),
    ("memory", Fate::Lives, |_| assert_eq!(vec![1_u8; 64 << 20].last(), Some(&1))),
    ("the pipe", Fate::Lives, |pipe| {
        tried(rustix::net::send(pipe, b"a", rustix::net::SendFlags::NOSIGNAL).unwrap());
    }),
    ("a file", Fate::IsEnded, |_| tried(File::open("/etc/hostname"))),
    ("a new file", Fate::IsEnded, |_| tried(File::create("/tmp/toolcell-walls"))),
    ("a folder", Fate::IsEnded, |_| tried(std::fs::read_dir("/"))),
    ("a file away", Fate::IsEnded, |_| tried(std::fs::remove_file("/tmp/toolcell-walls"))),
    ("another folder", Fate::IsEnded, |_| tried(std::env::set_current_dir("/tmp"))),
    ("a connection", Fate::IsEnded, |_| tried(TcpStream::connect("127.0.0.1:9"))),
    ("a listener", Fate::IsEnded, |_| tried(TcpListener::bind("127.0.0.1:0"))),
    ("a datagram", Fate::IsEnded, |_| tried(UdpSocket::bind("127.0.0.1:0"))),
    ("a process", Fate::IsEnded, |_| tried(Command::new("/bin/true").status())),
    ("a thread", Fate::IsEnded, |_| tried(std::thread::Builder::new().spawn(|| ()))),
    ("a signal to another one", Fate::IsEnded, |_| {
        tried(rustix::process::test_kill_process(rustix::process::Pid::INIT));
    }),
    ("to be looked into", Fate::IsEnded, |_| {
        tried(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable));
    }),
    ("more files", Fate::IsEnded, |_| {
        let more = rustix::process::Rlimit { current: Some(9), maximum: Some(9) };
        tried(rustix::process::setrlimit(rustix::process::Resource::Nofile, more));
    }),
    ("another pipe", Fate::IsEnded, |pipe| tried(pipe.try_clone())),
    ("to print", Fate::IsEnded, |_| println!("out")),
];

fn main() -> ExitCode {
    serve_if_worker();
    if let Some(name) = std::env::args().nth(1).filter(|word| ATTEMPTS.iter().any(|(name, ..)| name == word)) {
        return attempt(&name);
    }
    for (name, fate, _) in ATTEMPTS {
        let status = Command::new(std::env::current_exe().unwrap()).arg(name).status().unwrap();
        let is = match (status.code(), status.signal()) {
            (Some(0), _) => Fate::Lives,
            (_, Some(signal)) if signal == Signal::SIGSYS as i32 => Fate::IsEnded,
            _ => panic!("{name}: {status}"),
        };
        assert_eq!(is, *fate, "{name}");
    }
    a_program_may_be_its_own_worker();
    println!("{} attempts came to what they should", ATTEMPTS.len());
    ExitCode::SUCCESS
}

/// Locks this process in, and tries a thing.
fn attempt(name: &str) -> ExitCode {
    let (pipe, _other) = UnixStream::pair().unwrap();
    confine(pipe.as_raw_fd()).unwrap();
    for (_, _, tries) in ATTEMPTS.iter().filter(|(this, ..)| *this == name) {
        tries(&pipe);
    }
    ExitCode::SUCCESS
}

fn a_program_may_be_its_own_worker() {
    let jail = Jail::new(&SandboxOptions { slots: 1, ..SandboxOptions::default() }, Program::This).unwrap();
    let (budget, run) = (Budget::default(), CallContext::default());
    let script = ScriptSource { name: "sum.js", source: "const execute = ({ a, b }) => a + b" };
    let PrepareResult::Ready(prepared) = jail.prepare(&script, &budget, &run).unwrap() else { panic!("it loads") };
    let report = jail.call(&prepared, &Params::parse(r#"{"a":1,"b":2}"#).unwrap(), &budget, &run).unwrap();
    assert!(matches!(report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "3"));
}
