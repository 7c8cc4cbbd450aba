//! The main loop of a worker: creates a sandbox, confines the process, and serves the host's
//! requests.
//!
//! Invariant: no script is received before the process is confined. The process has one thread, and
//! runs one call at a time.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::process::Signal;
use toolcell_host::{
    CallContext, CallError, CallStatus, ENGINE_VERSION, GUEST_DIGEST, Params, PrepareResult, Prepared, ProfileSlot,
    ResumeError, Sandbox, SandboxOptions, ScriptSource,
};

use crate::channel::{Channel, WaitMode};
use crate::confine::confine;
use crate::host_link::{HostLink, exit_process};
use crate::messages::{
    CallMode, Hello, HostMessage, LoadMode, MAX_HELLO_BYTES, ScriptFrame, VERSION, WORKER_ARG, WireContext,
    WorkerMessage, image_at, image_index,
};
use crate::proxy::{ProxyContext, call_context};

/// The maximum size of cached scripts in bytes.
const MAX_CACHED_BYTES: usize = 64 << 20;

/// Returns whether this process was started as a worker.
#[expect(clippy::disallowed_methods, reason = "a worker is told by its arguments that it is one")]
pub(crate) fn is_worker_process() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().is_some_and(|word| word == WORKER_ARG) && words.next().is_none()
}

/// Runs the worker and exits, if this process was started as a worker of a jail. Otherwise it
/// returns at once.
///
/// A program whose workers run [itself](crate::Program::This) calls this first thing in `main`,
/// before it starts threads, opens files or reads its arguments.
///
/// # Examples
/// ```no_run
/// toolcell_jail::serve_if_worker();
/// // Whatever the program does.
/// ```
pub fn serve_if_worker() {
    if is_worker_process() {
        run_worker();
        exit_process();
    }
}

fn run_worker() {
    // The worker dies with the thread that started it. If that thread ended before this call, the
    // closed channel ends the worker.
    let bound = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    close_inherited_descriptors();
    let Ok(socket) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return };
    let open = socket.as_raw_fd();
    let mut pipe = Channel::new(socket);
    let Ok(HostMessage::Start { version, images }) = pipe.recv(MAX_HELLO_BYTES, |_| WaitMode::KeepWaiting) else {
        return;
    };
    let begun = bound.map_err(|error| error.to_string()).and_then(|()| initialize(version, &images, open));
    let (said, sandbox) = match begun {
        Ok((hello, sandbox)) => (WorkerMessage::Hello(hello), Some(sandbox)),
        Err(reason) => (WorkerMessage::StartFailed(reason), None),
    };
    let told = pipe.send(&said, || WaitMode::KeepWaiting);
    if let (Ok(()), Some(sandbox)) = (told, sandbox) {
        WorkerServer { sandbox, link: Arc::new(HostLink::new(pipe)), scripts: HashMap::new(), tick: 0 }.run();
    }
}

/// Closes inherited descriptors. Standard input is the channel; standard output and error lead
/// nowhere.
#[expect(clippy::disallowed_methods, reason = "which descriptors are open stands in a folder")]
fn close_inherited_descriptors() {
    let open: Vec<RawFd> = match std::fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect(),
        // Without this folder: all descriptors that are plausible.
        Err(_) => (3..65_536).collect(),
    };
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // The descriptor that read the folder is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

fn initialize(version: u32, images: &[u8], pipe: RawFd) -> Result<(Hello, Sandbox), String> {
    if version != VERSION {
        return Err(format!("the host speaks version {version} of the jail's protocol, the worker speaks {VERSION}"));
    }
    let images = images.iter().filter_map(|place| image_at(*place)).collect();
    let sandbox = Sandbox::single_threaded(&SandboxOptions { images, slots: 1 }).map_err(|error| error.to_string())?;
    let walls = confine(pipe).map_err(|error| format!("it cannot confine itself: {error}"))?;
    let passed_over = sandbox.rejected_images().iter();
    let hello = Hello {
        guest: GUEST_DIGEST.to_owned(),
        engine: ENGINE_VERSION.to_owned(),
        image: image_index(sandbox.image()).unwrap_or_default(),
        rejected_images: passed_over.filter_map(|(kind, why)| Some((image_index(*kind)?, why.clone()))).collect(),
        confinement: walls,
    };
    Ok((hello, sandbox))
}

struct WorkerServer {
    sandbox: Sandbox,
    link: Arc<HostLink>,
    /// Cached scripts by identifier, with the time of last use.
    scripts: HashMap<u64, (Prepared, u64)>,
    tick: u64,
}

impl WorkerServer {
    /// Serves requests until the host closes the channel.
    fn run(mut self) {
        let link = Arc::clone(&self.link);
        loop {
            link.begin_request();
            // The frame is copied, because its buffer belongs to the channel, which also sends the
            // reply.
            let heard = link.channel().recv_bytes(usize::MAX, |_| WaitMode::KeepWaiting).map(<[u8]>::to_vec);
            let Ok(frame) = heard else { return };
            let said = match toolcell_protocol::decode::<HostMessage<'_>>(&frame) {
                Ok(HostMessage::Prepare { id, script, context: terms }) => self.prepare(id, &script, &terms),
                Ok(HostMessage::CacheScript { id, script }) => {
                    self.cache_script(
                        id,
                        Prepared::without_snapshot(&ScriptSource { name: script.name, source: script.source }),
                    );
                    continue;
                }
                Ok(HostMessage::Call { id, params, mode, context: terms }) => self.call(id, params, mode, &terms),
                Ok(HostMessage::Resume { suspended, script, context: terms }) => {
                    self.resume(suspended, &script, &terms)
                }
                // The call had already ended by itself.
                Ok(HostMessage::Cancel) => continue,
                Ok(HostMessage::Start { .. } | HostMessage::WaitDone(_) | HostMessage::Now(_)) | Err(_) => return,
            };
            link.send(&said);
        }
    }

    fn prepare(&mut self, id: u64, script: &ScriptFrame<'_>, terms: &WireContext<'_>) -> WorkerMessage {
        let granted = ProxyContext::new(&self.link, terms);
        let script = ScriptSource { name: script.name, source: script.source };
        match self.sandbox.prepare(&script, &terms.budget, &call_context(&granted, terms)) {
            Ok(PrepareResult::Ready(prepared)) => {
                let form = if prepared.is_snapshot() { LoadMode::Snapshot } else { LoadMode::WithoutSnapshot };
                let (load_fuel, manifest) = (prepared.load_fuel(), prepared.manifest().clone());
                self.cache_script(id, prepared);
                WorkerMessage::Ready { load_fuel, manifest, load_mode: form }
            }
            Ok(PrepareResult::Failed(report)) => WorkerMessage::Finished(Box::new(report)),
            Err(error) => call_failed(error),
        }
    }

    fn cache_script(&mut self, id: u64, prepared: Prepared) {
        self.tick += 1;
        self.scripts.insert(id, (prepared, self.tick));
        let size = |kept: &HashMap<u64, (Prepared, u64)>| kept.values().map(|(one, _)| one.held_bytes()).sum::<usize>();
        while self.scripts.len() > 1 && size(&self.scripts) > MAX_CACHED_BYTES {
            let oldest = self.scripts.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| *id);
            oldest.map(|id| self.scripts.remove(&id));
        }
    }

    fn call(&mut self, id: u64, params: &str, mode: CallMode, terms: &WireContext<'_>) -> WorkerMessage {
        self.tick += 1;
        let Some((prepared, used)) = self.scripts.get_mut(&id) else { return WorkerMessage::UnknownScript };
        *used = self.tick;
        let params = match Params::parse(params) {
            Ok(params) => params,
            // The host has validated the parameters.
            Err(error) => return WorkerMessage::Bug(error.to_string()),
        };
        let granted = ProxyContext::new(&self.link, terms);
        let slot = ProfileSlot::default();
        let run = call_context(&granted, terms);
        let run = CallContext { profile: (mode == CallMode::Profiled).then_some(&slot), ..run };
        let called = match mode {
            CallMode::Plain | CallMode::Profiled => {
                self.sandbox.call(prepared, &params, &terms.budget, &run).map(CallStatus::Finished)
            }
            CallMode::Suspendable => self.sandbox.call_suspendable(prepared, &params, &terms.budget, &run),
        };
        if let Some(profile) = slot.take() {
            self.link.send(&WorkerMessage::Profile(Box::new(profile)));
        }
        called.map_or_else(call_failed, status_message)
    }

    fn resume(&self, suspended: &[u8], script: &ScriptFrame<'_>, terms: &WireContext<'_>) -> WorkerMessage {
        let granted = ProxyContext::new(&self.link, terms);
        let script = ScriptSource { name: script.name, source: script.source };
        let woken = toolcell_host::SuspendedCall::from_bytes(suspended)
            .and_then(|suspended| self.sandbox.resume(&suspended, &script, &call_context(&granted, terms)));
        match woken {
            Ok(called) => status_message(called),
            Err(ResumeError::ScriptMismatch) => WorkerMessage::ScriptMismatch,
            Err(ResumeError::Call(error)) => call_failed(error),
            // The host sends what it has read itself, to a worker with its own guest and engine.
            Err(error) => WorkerMessage::Bug(error.to_string()),
        }
    }
}

fn status_message(called: CallStatus) -> WorkerMessage {
    match called {
        CallStatus::Finished(report) => WorkerMessage::Finished(Box::new(report)),
        CallStatus::Suspended(suspended) => WorkerMessage::Suspended(suspended.to_bytes()),
    }
}

/// Returns the message for a call that did not start.
fn call_failed(error: CallError) -> WorkerMessage {
    match error {
        CallError::NoInstance(reason) => WorkerMessage::NoInstance(reason.to_string()),
        CallError::Bug { detail } => WorkerMessage::Bug(detail),
        // The host has checked the budget, and a worker has one call at a time.
        other => WorkerMessage::Bug(other.to_string()),
    }
}
