//! The jail: a sandbox whose calls run in worker processes.
//!
//! Invariant: what a call comes to is what it comes to in a [`Sandbox`](toolcell_host::Sandbox) of this process, but for a worker
//! that ends before its time. A worker has one call at a time, and one that did anything unexpected is not asked again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolcell_host::{
    Asleep, Budget, CallError, Called, ENGINE_VERSION, GUEST_DIGEST, Json, Kind, NESTED, NoSlot, Params, Report, Run,
    SandboxConfig, Script, Slots, StartError, Stop, Until, WakeError,
};

use crate::call::{Came, Exchange, Lost, misfit, never_began};
use crate::lock::Walls;
use crate::pipe::{Broken, Patient};
use crate::serve::{self, HELLO_BYTES};
use crate::wire::{Asked, Form, Hello, Patience, Said, Source, VERSION};
use crate::worker::{Nursery, Program, Worker};

/// How long a worker has to come up.
const COMING_UP: Duration = Duration::from_secs(20);
/// What to do where the program that was started is no worker.
const SERVE: &str = "call `toolcell::jail::serve_if_worker()` first thing in `main`, or name a program that does";
/// What to do where a worker does not come up.
const WITHOUT: &str = "do without the jail, or give the process what it says is missing";

/// Runs calls in worker processes that are locked in.
pub struct Jail {
    nursery: Nursery,
    images: Vec<u8>,
    slots: Slots,
    /// Workers that have nothing to do.
    idle: Mutex<Vec<Worker>>,
    /// The number of the next script.
    next: AtomicU64,
    kind: Kind,
    passed_over: Vec<(Kind, String)>,
    walls: Walls,
}

/// A script that was evaluated once, in a worker. Others evaluate it when they call it first.
pub struct Prepared {
    id: u64,
    name: String,
    source: String,
    budget: Budget,
    form: Form,
    load_fuel: u64,
    manifest: Json,
}

impl Prepared {
    /// How many bytes keeping this takes here. Workers keep what they evaluated as long as there is room.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.source.len() + self.manifest.as_str().len()
    }

    /// Fuel that evaluating the script burned.
    #[must_use]
    pub fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    /// What the script says of its tools, as [`toolcell_host::Prepared::manifest`].
    #[must_use]
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }

    fn source(&self) -> Source<'_> {
        Source { name: &self.name, source: &self.source }
    }
}

/// What came of loading a script.
pub enum Loaded {
    /// It can be called.
    Ready(Prepared),
    /// It did not load.
    Ended(Report),
}

impl Jail {
    /// A jail, with its first worker, so that it is known that there can be one.
    ///
    /// # Errors
    /// `no-worker` where none comes up, and where one cannot lock itself in; `limit-invalid` for a jail without slots.
    pub fn new(config: &SandboxConfig, program: Program) -> Result<Self, StartError> {
        if config.slots == 0 {
            return Err(StartError::NoSlots);
        }
        if serve::is_asked_for() {
            return Err(no_worker("this process is one of its workers, and does not serve", SERVE));
        }
        let images: Vec<u8> = config.images.iter().filter_map(|image| place(*image)).collect();
        let nursery = Nursery::new(program).map_err(|error| no_worker(error.to_string(), WITHOUT))?;
        let (first, hello) = start(&nursery, &images)?;
        let kind = kind(hello.image)?;
        let passed_over = hello.passed_over.into_iter().map(|(place, why)| Ok((self::kind(place)?, why)));
        let passed_over = passed_over.collect::<Result<_, StartError>>()?;
        let (slots, idle, next) = (Slots::new(config.slots), Mutex::new(vec![first]), AtomicU64::new(0));
        Ok(Self { nursery, images, slots, idle, next, kind, passed_over, walls: hello.walls })
    }

    /// The image that is in use.
    #[must_use]
    pub fn image(&self) -> Kind {
        self.kind
    }

    /// The images that were tried before, and why they do not work here.
    #[must_use]
    pub fn passed_over(&self) -> &[(Kind, String)] {
        &self.passed_over
    }

    /// How many calls run at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.total()
    }

    /// The program that its workers run.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.nursery.program()
    }

    /// What is between its workers and the machine.
    #[must_use]
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// The process numbers of the workers that have nothing to do.
    #[must_use]
    pub fn idle_workers(&self) -> Vec<u32> {
        self.idle().iter().map(Worker::id).collect()
    }

    /// Evaluates a script once, as [`Sandbox::prepare`](toolcell_host::Sandbox::prepare).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. What the script does is a [`Loaded`].
    pub fn prepare(&self, script: &Script<'_>, budget: &Budget, run: &Run<'_>) -> Result<Loaded, CallError> {
        let source = Source { name: script.name, source: script.source };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let came = self.exchange(budget, run, never_began, |exchange| exchange.prepare(id, source, budget))?;
        let (load_fuel, manifest, form) = match came {
            Came::Ready { load_fuel, manifest, form } => (load_fuel, manifest, form),
            Came::Ended(report) => return Ok(Loaded::Ended(*report)),
            Came::Asleep(_) | Came::OtherScript => {
                return Err(CallError::NoInstance("that is no end of loading a script".to_owned()));
            }
        };
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Ok(Loaded::Ready(Prepared { id, name, source, budget: *budget, form, load_fuel, manifest }))
    }

    /// Calls a prepared tool, as [`Sandbox::call`](toolcell_host::Sandbox::call).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. What the tool does is in the [`Report`].
    pub fn call(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Report, CallError> {
        match self.enter(prepared, params, budget, run, Patience::Awake)? {
            Called::Ended(report) => Ok(report),
            Called::Asleep(_) => Err(CallError::NoInstance("a worker put a call to sleep that may not".to_owned())),
        }
    }

    /// Calls a prepared tool likewise, and puts it to sleep where what it waits for says so.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. What the tool does is in the [`Called`].
    pub fn call_or_sleep(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Called, CallError> {
        self.enter(prepared, params, budget, run, Patience::MaySleep)
    }

    fn enter(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
        patience: Patience,
    ) -> Result<Called, CallError> {
        let came = self.exchange(budget, run, never_began, |exchange| {
            if let Some(came) = exchange.call(prepared.id, params, patience)? {
                return Ok(came);
            }
            // This worker does not have it, or no more.
            let (id, source) = (prepared.id, prepared.source());
            match prepared.form {
                Form::EachCall => exchange.keep(id, source)?,
                Form::Snapshot => match exchange.prepare(id, source, &prepared.budget)? {
                    Came::Ready { .. } => {}
                    other => return Ok(other),
                },
            }
            exchange.call(id, params, patience)?.ok_or_else(misfit)
        })?;
        called(came)
    }

    /// Wakes a call, as [`Sandbox::wake`](toolcell_host::Sandbox::wake).
    ///
    /// # Errors
    /// `asleep-tool` where it is a call of another script, `busy`, `no-instance`. What the tool does is in the [`Called`].
    pub fn wake(&self, asleep: &Asleep, script: &Script<'_>, run: &Run<'_>) -> Result<Called, WakeError> {
        let source = Source { name: script.name, source: script.source };
        let run = Run { time: Some(asleep.left()), ..*run };
        let lost = |stop, started| asleep.stopped(stop, started);
        let came = self.exchange(asleep.budget(), &run, lost, |exchange| exchange.wake(asleep, source))?;
        if let Came::OtherScript = came {
            return Err(WakeError::Script);
        }
        Ok(called(came)?)
    }

    /// Has a worker do something, in a slot and in time.
    fn exchange(
        &self,
        budget: &Budget,
        run: &Run<'_>,
        lost: impl FnOnce(Stop, Instant) -> Report,
        talk: impl FnOnce(&mut Exchange<'_, '_>) -> Result<Came, Lost>,
    ) -> Result<Came, CallError> {
        let started = Instant::now();
        budget.check()?;
        if run.profile.is_some() {
            return Err(CallError::Unprofiled);
        }
        let time = run.time.unwrap_or(budget.deadline).min(budget.deadline);
        let until = Until::new(started + time, run.cancel.cloned());
        let _slot = match self.slots.take(run.when_full, &until) {
            Ok(slot) => slot,
            Err(NoSlot::Cancelled) => return Ok(Came::Ended(Box::new(lost(Stop::Cancelled, started)))),
            Err(NoSlot::Full) => return Err(CallError::Busy { slots: self.slots.total() }),
        };
        let mut exchange = Exchange::new(self.worker()?, budget, run, until, started);
        let done = talk(&mut exchange);
        let worker = exchange.into_worker();
        match done {
            Err(Lost::Worker(stop)) => {
                drop(worker);
                Ok(Came::Ended(Box::new(lost(stop, started))))
            }
            Err(Lost::NoInstance(reason)) => {
                self.rest(worker);
                Err(CallError::NoInstance(reason))
            }
            Ok(came) => {
                self.rest(worker);
                Ok(came)
            }
        }
    }

    /// Keeps a worker for its next call, unless there are enough: as many as there are slots, and a chain of calls below them.
    fn rest(&self, worker: Worker) {
        let mut idle = self.idle();
        if idle.len() < self.slots.total() + NESTED as usize {
            idle.push(worker);
        }
    }

    /// One that has nothing to do, the one that had something to do last; or a new one.
    fn worker(&self) -> Result<Worker, CallError> {
        loop {
            // The lock is let go before the worker is looked at.
            let worker = self.idle().pop();
            match worker {
                Some(worker) if worker.is_well() => return Ok(worker),
                // It died while it had nothing to do.
                Some(worker) => drop(worker),
                None => break,
            }
        }
        let started = start(&self.nursery, &self.images);
        started.map(|(worker, _)| worker).map_err(|error| CallError::NoInstance(error.to_string()))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a call got on.
fn called(came: Came) -> Result<Called, CallError> {
    match came {
        Came::Ended(report) => Ok(Called::Ended(*report)),
        Came::Asleep(asleep) => Ok(Called::Asleep(*asleep)),
        Came::Ready { .. } | Came::OtherScript => Err(CallError::NoInstance("that is no end of a call".to_owned())),
    }
}

/// A worker that has said hello. A terminal that interrupts the host may meet one that has not left its group yet; the next
/// one does not hear of it.
fn start(nursery: &Nursery, images: &[u8]) -> Result<(Worker, Hello), StartError> {
    match begin(nursery, images) {
        Err(Unbegun { was_interrupted: true, .. }) => begin(nursery, images),
        begun => begun,
    }
    .map_err(|unbegun| unbegun.error)
}

/// Why a worker did not say hello.
struct Unbegun {
    error: StartError,
    was_interrupted: bool,
}

impl From<StartError> for Unbegun {
    fn from(error: StartError) -> Self {
        Self { error, was_interrupted: false }
    }
}

fn begin(nursery: &Nursery, images: &[u8]) -> Result<(Worker, Hello), Unbegun> {
    let mut worker = nursery.start().map_err(|error| no_worker(error.to_string(), WITHOUT))?;
    let began = Instant::now();
    let patient = || if began.elapsed() < COMING_UP { Patient::Yes } else { Patient::No };
    let asked = worker.pipe.say(&Asked::Begin { version: VERSION, images: images.to_vec() }, patient);
    let said = asked.and_then(|()| worker.pipe.hear::<Said>(HELLO_BYTES, |_| patient()));
    match said {
        Ok(Said::Hello(hello)) if (&*hello.guest, &*hello.engine) == (GUEST_DIGEST, ENGINE_VERSION) => {
            tracing::debug!(process = worker.id(), walls = ?hello.walls, "a worker of the jail started");
            Ok((worker, hello))
        }
        Ok(Said::Unable(reason)) => Err(no_worker(reason, WITHOUT).into()),
        Ok(_) => Err(no_worker("the program that was started is another version", SERVE).into()),
        Err(Broken::Closed) => {
            let end = worker.end();
            let error = no_worker(format!("the program that was started does not serve: {end}"), SERVE);
            Err(Unbegun { error, was_interrupted: worker.was_interrupted() })
        }
        Err(broken) => Err(no_worker(format!("the program that was started does not serve: {broken}"), SERVE).into()),
    }
}

fn no_worker(reason: impl Into<String>, hint: &'static str) -> StartError {
    StartError::NoWorker { reason: reason.into(), hint }
}

/// The place of an image among all of them.
pub(crate) fn place(image: Kind) -> Option<u8> {
    Kind::ALL.iter().position(|kind| *kind == image).and_then(|place| u8::try_from(place).ok())
}

fn kind(place: u8) -> Result<Kind, StartError> {
    let kind = Kind::ALL.get(usize::from(place)).copied();
    kind.ok_or_else(|| no_worker("the program that was started is another version", SERVE))
}
