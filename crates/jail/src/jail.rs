//! The jail: a sandbox whose calls run in worker processes.
//!
//! Invariant: the result of a call equals that in a [`Sandbox`](toolcell_host::Sandbox) of this
//! process, unless its worker dies. A worker runs one call at a time, and is not reused after
//! unexpected behaviour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolcell_host::{
    AcquireError, Backend, Budget, CallContext, CallDeadline, CallError, CallLimiter, CallStatus, ENGINE_VERSION,
    GUEST_DIGEST, ImageKind, Interruption, Json, MAX_NESTED_CALLS, Params, PrepareResult, PreparedScript, Report,
    ResumeError, SandboxOptions, ScriptSource, StartError, Stop, SuspendedCall,
};
use toolcell_i18n::{Localize as _, Message, message, msgid};

use crate::channel::{ChannelError, WaitMode};
use crate::confine::Confinement;
use crate::messages::{
    self, CallMode, Hello, HostMessage, LoadMode, MAX_HELLO_BYTES, ScriptFrame, VERSION, WorkerMessage, image_index,
};
use crate::session::{CallReply, WorkerLost, WorkerSession, protocol_violation};
use crate::worker::{Program, Worker, WorkerSpawner};
use crate::worker_main;

/// The time limit for starting a worker.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(20);
/// The hint for a program that does not act as a worker.
const SERVE_HINT: &str =
    msgid!("call `toolcell::jail::serve_if_worker()` first in `main`, or name a program that does");
/// The hint for a worker that does not start.
const WORKER_FAILED_HINT: &str = msgid!("provide what the message says is missing, or run without the jail");

/// What a worker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Calls, in a worker of the pool.
    Call,
    /// One call that is profiled, in a worker of its own, whose image is instrumented.
    Profile,
}

/// A pool of confined worker processes that run calls.
pub struct Jail {
    spawner: WorkerSpawner,
    images: Vec<u8>,
    /// The images of workers that profile a call.
    profiling_images: Vec<u8>,
    slots: CallLimiter,
    /// The idle workers; the one used last is at the end.
    idle: Mutex<Vec<Worker>>,
    /// The identifier of the next script.
    next_script_id: AtomicU64,
    kind: ImageKind,
    rejected_images: Vec<(ImageKind, String)>,
    confinement: Confinement,
}

/// A script that one worker has evaluated. Other workers evaluate it on its first call there.
pub struct JailedScript {
    id: u64,
    name: String,
    source: String,
    budget: Budget,
    load_mode: LoadMode,
    load_fuel: u64,
    manifest: Json,
}

impl JailedScript {
    fn source(&self) -> ScriptFrame<'_> {
        ScriptFrame { name: &self.name, source: &self.source }
    }
}

impl PreparedScript for JailedScript {
    /// Returns the heap size of this value in the host, in bytes. Workers cache the evaluated
    /// script as long as there is room.
    fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.source.len() + self.manifest.as_str().len()
    }

    fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    fn manifest(&self) -> &Json {
        &self.manifest
    }
}

impl Jail {
    /// Creates a jail and starts its first worker, to verify that workers can start.
    ///
    /// # Errors
    /// `no-worker` if no worker starts or it cannot confine itself, `limit-invalid` for a jail
    /// without slots.
    pub fn new(config: &SandboxOptions, program: Program) -> Result<Self, StartError> {
        if config.slots == 0 {
            return Err(StartError::NoSlots);
        }
        if worker_main::is_worker_process() {
            return Err(no_worker(message!("this process is a worker of the jail and cannot start one"), SERVE_HINT));
        }
        let images: Vec<u8> = config.images.iter().filter_map(|image| image_index(*image)).collect();
        let nursery = WorkerSpawner::new(program)
            .map_err(|error| no_worker(Message::verbatim(error.to_string()), WORKER_FAILED_HINT))?;
        let (first, hello) = start_worker(&nursery, &images)?;
        let kind = image_at(hello.image)?;
        let passed_over = hello.rejected_images.into_iter().map(|(place, why)| Ok((image_at(place)?, why)));
        let passed_over = passed_over.collect::<Result<_, StartError>>()?;
        let (slots, idle, next) = (CallLimiter::new(config.slots), Mutex::new(vec![first]), AtomicU64::new(0));
        Ok(Self {
            spawner: nursery,
            images,
            profiling_images: ImageKind::INSTRUMENTED.into_iter().filter_map(image_index).collect(),
            slots,
            idle,
            next_script_id: next,
            kind,
            rejected_images: passed_over,
            confinement: hello.confinement,
        })
    }

    /// Returns the image in use.
    #[must_use]
    pub fn image(&self) -> ImageKind {
        self.kind
    }

    /// Returns the images that were tried before, each with the reason for its failure.
    #[must_use]
    pub fn rejected_images(&self) -> &[(ImageKind, String)] {
        &self.rejected_images
    }

    /// Returns the maximum number of concurrent calls.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns the program that the workers run.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.spawner.program()
    }

    /// Returns how far the workers are confined.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Returns the process identifiers of the idle workers.
    #[must_use]
    pub fn idle_workers(&self) -> Vec<u32> {
        self.idle().iter().map(Worker::id).collect()
    }

    /// Evaluates a script once, as [`Sandbox::prepare`](toolcell_host::Sandbox::prepare).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the script are reported
    /// as a [`PrepareResult`].
    pub fn prepare(
        &self,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<JailedScript>, CallError> {
        let source = ScriptFrame { name: script.name, source: script.source };
        let id = self.next_script_id.fetch_add(1, Ordering::Relaxed);
        let came = self.with_worker(budget, run, Purpose::Call, Report::not_started, |exchange| {
            exchange.prepare(id, source, budget)
        })?;
        let (load_fuel, manifest, form) = match came {
            CallReply::Ready { load_fuel, manifest, load_mode: form } => (load_fuel, manifest, form),
            CallReply::Finished(report) => return Ok(PrepareResult::Failed(*report)),
            CallReply::Suspended(_) | CallReply::ScriptMismatch => {
                return Err(CallError::bug("the worker sent an unexpected reply to a script"));
            }
        };
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Ok(PrepareResult::Ready(JailedScript {
            id,
            name,
            source,
            budget: *budget,
            load_mode: form,
            load_fuel,
            manifest,
        }))
    }

    /// Calls a prepared tool, as [`Sandbox::call`](toolcell_host::Sandbox::call).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the tool are reported
    /// in the [`Report`].
    pub fn call(
        &self,
        prepared: &JailedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        let mode = if run.profile.is_some() { CallMode::Profiled } else { CallMode::Plain };
        match self.call_inner(prepared, params, budget, run, mode)? {
            CallStatus::Finished(report) => Ok(report),
            CallStatus::Suspended(_) => Err(CallError::bug("a worker suspended a call that may not be suspended")),
        }
    }

    /// Calls a prepared tool, and suspends the call if its host calls ask for that.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the tool are reported
    /// in the [`CallStatus`].
    pub fn call_suspendable(
        &self,
        prepared: &JailedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        self.call_inner(prepared, params, budget, run, CallMode::Suspendable)
    }

    fn call_inner(
        &self,
        prepared: &JailedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
        mode: CallMode,
    ) -> Result<CallStatus, CallError> {
        let purpose = if mode == CallMode::Profiled { Purpose::Profile } else { Purpose::Call };
        let came = self.with_worker(budget, run, purpose, Report::not_started, |exchange| {
            if let Some(came) = exchange.call(prepared.id, params, mode)? {
                return Ok(came);
            }
            // This worker never had the script, or has evicted it.
            let (id, source) = (prepared.id, prepared.source());
            match prepared.load_mode {
                LoadMode::WithoutSnapshot => exchange.cache_script(id, source)?,
                LoadMode::Snapshot => match exchange.prepare(id, source, &prepared.budget)? {
                    CallReply::Ready { .. } => {}
                    other => return Ok(other),
                },
            }
            exchange.call(id, params, mode)?.ok_or_else(protocol_violation)
        })?;
        call_status(came)
    }

    /// Resumes a suspended call, as [`Sandbox::resume`](toolcell_host::Sandbox::resume).
    ///
    /// # Errors
    /// `asleep-tool` if the call belongs to another script, `busy`, `no-instance`.
    /// Faults of the tool are reported in the [`CallStatus`].
    pub fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        let source = ScriptFrame { name: script.name, source: script.source };
        let run = CallContext { time_limit: Some(suspended.time_left()), ..*run };
        let lost = |stop, started| suspended.stopped_report(stop, started);
        let resume = |exchange: &mut WorkerSession<'_, '_>| exchange.resume(suspended, source);
        let came = self.with_worker(suspended.budget(), &run, Purpose::Call, lost, resume)?;
        if let CallReply::ScriptMismatch = came {
            return Err(ResumeError::ScriptMismatch);
        }
        Ok(call_status(came)?)
    }

    /// Runs a conversation with a worker, in a slot and within the deadline.
    fn with_worker(
        &self,
        budget: &Budget,
        run: &CallContext<'_>,
        purpose: Purpose,
        lost: impl FnOnce(Stop, Instant) -> Report,
        talk: impl FnOnce(&mut WorkerSession<'_, '_>) -> Result<CallReply, WorkerLost>,
    ) -> Result<CallReply, CallError> {
        let started = Instant::now();
        budget.check()?;
        let time = run.time_limit.unwrap_or(budget.deadline).min(budget.deadline);
        let until = CallDeadline::new(started + time, run.cancel.cloned());
        let _slot = match self.slots.acquire(run.on_overload, &until) {
            Ok(slot) => slot,
            Err(AcquireError::Cancelled) => return Ok(CallReply::Finished(Box::new(lost(Stop::Cancelled, started)))),
            Err(AcquireError::Full) => return Err(CallError::Busy { slots: self.slots.capacity() }),
        };
        let worker = match purpose {
            Purpose::Call => self.acquire_worker()?,
            Purpose::Profile => self.start(&self.profiling_images)?,
        };
        let mut exchange = WorkerSession::new(worker, budget, run, until, started);
        let done = talk(&mut exchange);
        let worker = exchange.into_worker();
        match done {
            Err(WorkerLost::Worker(stop)) => {
                drop(worker);
                Ok(CallReply::Finished(Box::new(lost(stop, started))))
            }
            Err(WorkerLost::NoInstance(reason)) => {
                self.return_worker(worker, purpose);
                Err(CallError::NoInstance(Message::verbatim(reason)))
            }
            Err(WorkerLost::Bug(detail)) => {
                drop(worker);
                Err(CallError::bug(detail))
            }
            Ok(came) => {
                self.return_worker(worker, purpose);
                Ok(came)
            }
        }
    }

    /// Returns a worker to the pool, unless it has another image, or the pool is full: it holds one worker
    /// per slot, and a chain of nested calls.
    fn return_worker(&self, worker: Worker, purpose: Purpose) {
        if purpose == Purpose::Profile {
            return;
        }
        let mut idle = self.idle();
        if idle.len() < self.slots.capacity() + MAX_NESTED_CALLS as usize {
            idle.push(worker);
        }
    }

    /// Returns the idle worker that was used last, or starts a new one.
    fn acquire_worker(&self) -> Result<Worker, CallError> {
        loop {
            // The lock is released before the worker is checked.
            let worker = self.idle().pop();
            match worker {
                Some(worker) if worker.is_healthy() => return Ok(worker),
                // The worker died while it was idle.
                Some(worker) => drop(worker),
                None => break,
            }
        }
        self.start(&self.images)
    }

    fn start(&self, images: &[u8]) -> Result<Worker, CallError> {
        let started = start_worker(&self.spawner, images);
        started.map(|(worker, _)| worker).map_err(|error| CallError::NoInstance(error.localize()))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Jail {
    type Prepared = JailedScript;

    fn prepare(
        &self,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<JailedScript>, CallError> {
        self.prepare(script, budget, run)
    }

    fn call(
        &self,
        prepared: &JailedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        self.call(prepared, params, budget, run)
    }

    fn call_suspendable(
        &self,
        prepared: &JailedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        self.call_suspendable(prepared, params, budget, run)
    }

    fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        self.resume(suspended, script, run)
    }

    fn image(&self) -> ImageKind {
        self.image()
    }

    fn rejected_images(&self) -> &[(ImageKind, String)] {
        self.rejected_images()
    }

    fn interruption(&self) -> Interruption {
        // A worker has one thread.
        Interruption::FuelSlices
    }

    fn slots(&self) -> usize {
        self.slots()
    }
}

/// Converts a reply into the status of a call.
fn call_status(came: CallReply) -> Result<CallStatus, CallError> {
    match came {
        CallReply::Finished(report) => Ok(CallStatus::Finished(*report)),
        CallReply::Suspended(suspended) => Ok(CallStatus::Suspended(*suspended)),
        CallReply::Ready { .. } | CallReply::ScriptMismatch => {
            Err(CallError::bug("the worker sent an unexpected reply to a call"))
        }
    }
}

/// Starts a worker and waits for its hello. An interrupt from the terminal may hit a worker that is
/// still in the host's process group; a second attempt does not receive it.
fn start_worker(nursery: &WorkerSpawner, images: &[u8]) -> Result<(Worker, Hello), StartError> {
    match try_start_worker(nursery, images) {
        Err(StartFailure { was_interrupted: true, .. }) => try_start_worker(nursery, images),
        begun => begun,
    }
    .map_err(|unbegun| unbegun.error)
}

/// The reason why a worker did not start.
struct StartFailure {
    error: StartError,
    was_interrupted: bool,
}

impl From<StartError> for StartFailure {
    fn from(error: StartError) -> Self {
        Self { error, was_interrupted: false }
    }
}

fn try_start_worker(nursery: &WorkerSpawner, images: &[u8]) -> Result<(Worker, Hello), StartFailure> {
    let mut worker = nursery.spawn_worker().map_err(|error| no_worker(error.localize(), WORKER_FAILED_HINT))?;
    let began = Instant::now();
    let patient = || if began.elapsed() < STARTUP_TIMEOUT { WaitMode::KeepWaiting } else { WaitMode::GiveUp };
    let asked = worker.channel.send(&HostMessage::Start { version: VERSION, images: images.to_vec() }, patient);
    let said = asked.and_then(|()| worker.channel.recv::<WorkerMessage>(MAX_HELLO_BYTES, |_| patient()));
    match said {
        Ok(WorkerMessage::Hello(hello)) if (&*hello.guest, &*hello.engine) == (GUEST_DIGEST, ENGINE_VERSION) => {
            tracing::debug!(process = worker.id(), walls = ?hello.confinement, "a worker of the jail started");
            Ok((worker, hello))
        }
        Ok(WorkerMessage::StartFailed(reason)) => Err(no_worker(Message::verbatim(reason), WORKER_FAILED_HINT).into()),
        Ok(_) => Err(other_version().into()),
        Err(ChannelError::Closed) => {
            let end = worker.wait_for_exit();
            let error = no_worker(message!("the worker program does not act as a worker: {end}", end), SERVE_HINT);
            Err(StartFailure { error, was_interrupted: worker.was_interrupted() })
        }
        Err(broken) => {
            let reason = message!("the worker program does not act as a worker: {end}", end = broken);
            Err(no_worker(reason, SERVE_HINT).into())
        }
    }
}

fn no_worker(reason: Message, hint: &'static str) -> StartError {
    StartError::NoWorker { reason, hint }
}

fn other_version() -> StartError {
    no_worker(message!("the worker program has another version"), SERVE_HINT)
}

/// Returns the image with this index, which a worker sent.
fn image_at(index: u8) -> Result<ImageKind, StartError> {
    messages::image_at(index).ok_or_else(other_version)
}
