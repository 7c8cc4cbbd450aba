//! A worker, from its start to its end: it makes a sandbox, locks itself in, and does what the host asks.
//!
//! Invariant: no script is read before the process is locked in. It has one thread, and one call at a time.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::Signal;
use toolcell_host::{
    CallError, Called, ENGINE_VERSION, GUEST_DIGEST, Kind, Loaded, Params, Prepared, Sandbox, SandboxConfig, Script,
    WakeError,
};

use crate::guarded::{Granted, run};
use crate::jail::place;
use crate::lock::lock_in;
use crate::pipe::{Patient, Pipe};
use crate::wire::{Asked, Form, Hello, Patience, Said, Source, Terms, VERSION};

/// The word that makes a program a worker, alone behind its name.
pub(crate) const WORD: &str = "toolcell-jail-worker";
/// How long a worker's first frame may be, in bytes.
pub(crate) const HELLO_BYTES: usize = 64 << 10;
/// How much of evaluated scripts is kept, in bytes.
const KEPT_BYTES: usize = 64 << 20;

/// Whether this process was started to be a worker.
#[expect(clippy::disallowed_methods, reason = "a worker is told by its arguments that it is one")]
pub(crate) fn is_asked_for() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().is_some_and(|word| word == WORD) && words.next().is_none()
}

/// Serves as a worker of a jail, where this process was started to be one, and does not return then. Otherwise it does nothing.
///
/// A program whose workers are to run [itself](crate::Program::This) calls this first thing in `main`, before it starts threads,
/// opens files or reads its arguments.
///
/// # Examples
/// ```no_run
/// toolcell_jail::serve_if_worker();
/// // Whatever the program does.
/// ```
pub fn serve_if_worker() {
    if is_asked_for() {
        serve();
        leave();
    }
}

/// The end of the process. What it was to say was said.
#[expect(clippy::disallowed_methods, reason = "a worker has nothing to go back to")]
pub(crate) fn leave() -> ! {
    std::process::exit(0)
}

fn serve() {
    // It ends when the thread ends that started it. Where that is too late already, the pipe is closed, which ends it as well.
    let bound = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    close_all_but_the_pipe();
    let Ok(socket) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return };
    let open = socket.as_raw_fd();
    let mut pipe = Pipe::new(socket);
    let Ok(Asked::Begin { version, images }) = pipe.hear(HELLO_BYTES, |_| Patient::Yes) else { return };
    let begun = bound.map_err(|error| error.to_string()).and_then(|()| begin(version, &images, open));
    let (said, sandbox) = match begun {
        Ok((hello, sandbox)) => (Said::Hello(hello), Some(sandbox)),
        Err(reason) => (Said::Unable(reason), None),
    };
    let told = pipe.say(&said, || Patient::Yes);
    if let (Ok(()), Some(sandbox)) = (told, sandbox) {
        Server { sandbox, link: Arc::new(Link::new(pipe)), kept: HashMap::new(), tick: 0 }.serve();
    }
}

/// Closes what whoever started this left open. Streams are the pipe, and twice nothing.
#[expect(clippy::disallowed_methods, reason = "which descriptors are open stands in a folder")]
fn close_all_but_the_pipe() {
    let open: Vec<RawFd> = match std::fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect(),
        // Where there is no such folder: all that there may be, as far as that is not absurd.
        Err(_) => (3..65_536).collect(),
    };
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // The one that the folder was read through is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

fn begin(version: u32, images: &[u8], pipe: RawFd) -> Result<(Hello, Sandbox), String> {
    if version != VERSION {
        return Err(format!("the host speaks version {version} of the jail's protocol, the worker {VERSION}"));
    }
    let images = images.iter().filter_map(|place| Kind::ALL.get(usize::from(*place)).copied()).collect();
    let sandbox = Sandbox::single_threaded(&SandboxConfig { images, slots: 1 }).map_err(|error| error.to_string())?;
    let walls = lock_in(pipe).map_err(|error| format!("it cannot lock itself in: {error}"))?;
    let passed_over = sandbox.passed_over().iter();
    let hello = Hello {
        guest: GUEST_DIGEST.to_owned(),
        engine: ENGINE_VERSION.to_owned(),
        image: place(sandbox.image()).unwrap_or_default(),
        passed_over: passed_over.filter_map(|(kind, why)| Some((place(*kind)?, why.clone()))).collect(),
        walls,
    };
    Ok((hello, sandbox))
}

/// The pipe, for all that speaks through it.
pub(crate) struct Link {
    pipe: Mutex<Pipe>,
    /// Whether the host said, while the tool waited, that the call is over.
    over: AtomicBool,
}

impl Link {
    fn new(pipe: Pipe) -> Self {
        Self { pipe: Mutex::new(pipe), over: AtomicBool::new(false) }
    }

    pub(crate) fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something to a host that listens as long as it lives.
    pub(crate) fn say(&self, said: &Said) {
        if self.pipe().say(said, || Patient::Yes).is_err() {
            leave();
        }
    }

    /// Whether the call that runs is over: while it runs, the host has nothing else to say.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.pipe().has_news()
    }

    pub(crate) fn end_call(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

struct Server {
    sandbox: Sandbox,
    link: Arc<Link>,
    /// Scripts by their numbers, and when each was used last.
    kept: HashMap<u64, (Prepared, u64)>,
    tick: u64,
}

impl Server {
    /// Does what the host asks until it has gone.
    fn serve(mut self) {
        let link = Arc::clone(&self.link);
        loop {
            link.over.store(false, Ordering::Relaxed);
            // The frame lies in the pipe, which the answer goes through as well.
            let heard = link.pipe().hear_bytes(usize::MAX, |_| Patient::Yes).map(<[u8]>::to_vec);
            let Ok(frame) = heard else { return };
            let said = match toolcell_protocol::decode::<Asked<'_>>(&frame) {
                Ok(Asked::Prepare { id, script, terms }) => self.prepare(id, &script, &terms),
                Ok(Asked::Keep { id, script }) => {
                    self.keep(id, Prepared::each_call(&Script { name: script.name, source: script.source }));
                    continue;
                }
                Ok(Asked::Call { id, params, patience, terms }) => self.call(id, params, patience, &terms),
                Ok(Asked::Wake { asleep, script, terms }) => self.wake(asleep, &script, &terms),
                // The call had ended by itself.
                Ok(Asked::Cancel) => continue,
                Ok(Asked::Begin { .. } | Asked::Rested(_) | Asked::Now(_)) | Err(_) => return,
            };
            link.say(&said);
        }
    }

    fn prepare(&mut self, id: u64, script: &Source<'_>, terms: &Terms<'_>) -> Said {
        let granted = Granted::new(&self.link, terms);
        let script = Script { name: script.name, source: script.source };
        match self.sandbox.prepare(&script, &terms.budget, &run(&granted, terms)) {
            Ok(Loaded::Ready(prepared)) => {
                let form = if prepared.is_snapshot() { Form::Snapshot } else { Form::EachCall };
                let (load_fuel, manifest) = (prepared.load_fuel(), prepared.manifest().clone());
                self.keep(id, prepared);
                Said::Ready { load_fuel, manifest, form }
            }
            Ok(Loaded::Ended(report)) => Said::Ended(Box::new(report)),
            Err(error) => no_instance(&error),
        }
    }

    fn keep(&mut self, id: u64, prepared: Prepared) {
        self.tick += 1;
        self.kept.insert(id, (prepared, self.tick));
        let size = |kept: &HashMap<u64, (Prepared, u64)>| kept.values().map(|(one, _)| one.size()).sum::<usize>();
        while self.kept.len() > 1 && size(&self.kept) > KEPT_BYTES {
            let oldest = self.kept.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| *id);
            oldest.map(|id| self.kept.remove(&id));
        }
    }

    fn call(&mut self, id: u64, params: &str, patience: Patience, terms: &Terms<'_>) -> Said {
        self.tick += 1;
        let Some((prepared, used)) = self.kept.get_mut(&id) else { return Said::Unknown };
        *used = self.tick;
        let params = match Params::parse(params) {
            Ok(params) => params,
            Err(error) => return Said::NoInstance(error.to_string()),
        };
        let granted = Granted::new(&self.link, terms);
        let run = run(&granted, terms);
        let called = match patience {
            Patience::Awake => self.sandbox.call(prepared, &params, &terms.budget, &run).map(Called::Ended),
            Patience::MaySleep => self.sandbox.call_or_sleep(prepared, &params, &terms.budget, &run),
        };
        called.map_or_else(|error| no_instance(&error), said)
    }

    fn wake(&self, asleep: &[u8], script: &Source<'_>, terms: &Terms<'_>) -> Said {
        let granted = Granted::new(&self.link, terms);
        let script = Script { name: script.name, source: script.source };
        let woken = toolcell_host::Asleep::from_bytes(asleep)
            .and_then(|asleep| self.sandbox.wake(&asleep, &script, &run(&granted, terms)));
        match woken {
            Ok(called) => said(called),
            Err(WakeError::Script) => Said::OtherScript,
            Err(error) => Said::NoInstance(error.to_string()),
        }
    }
}

fn said(called: Called) -> Said {
    match called {
        Called::Ended(report) => Said::Ended(Box::new(report)),
        Called::Asleep(asleep) => Said::Asleep(asleep.to_bytes()),
    }
}

fn no_instance(error: &CallError) -> Said {
    match error {
        CallError::NoInstance(reason) => Said::NoInstance(reason.clone()),
        other => Said::NoInstance(other.to_string()),
    }
}
