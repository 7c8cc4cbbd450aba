//! The sandbox: scripts are prepared once and called any number of times, each call in an instance of its own.
//!
//! Invariant: what a call returns depends on the script, the parameters, the budget and the [`Run`] alone; nothing is
//! left of it in the sandbox but free slots.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::asleep::{CallSoFar, Rested};
use crate::budget::{Budget, FuelCovers};
use crate::conversation::{Awake, End, Patience, Shape, Turn, converse, describe, load};
use crate::error::{CallError, StartError};
use crate::image::{Image, strategy};
use crate::instance::{Cell, Changes, Guest, Unusable};
use crate::json::{Json, Params};
use crate::link::{Inside, PartialSink, RealClock};
use crate::operations::{NoOperations, Operations};
use crate::outcome::{Outcome, Report, Stop, Usage};
use crate::profile::ProfileSlot;
use crate::slots::{NoSlot, Slots, WhenFull};
use crate::ticker::Interruption;
use crate::touched;
use crate::tunables::Kind;
use crate::until::{CancelToken, Until};

/// What a sandbox is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Which images may be used, in the order in which they are tried.
    pub images: Vec<Kind>,
    /// How many calls run at once; further ones wait or are refused ([`WhenFull`]).
    pub slots: usize,
}

impl Default for SandboxConfig {
    /// Whatever works, and twice as many calls as the machine has cores.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { images: Kind::ALL.to_vec(), slots: cores * 2 }
    }
}

/// Runs tools, each call alone in its own instance of the guest.
///
/// # Examples
/// ```
/// use toolcell_host::{Budget, Loaded, Outcome, Params, Run, Sandbox, SandboxConfig, Script};
///
/// let sandbox = Sandbox::new(&SandboxConfig::default())?;
/// let script = Script { name: "twice.js", source: "const execute = ({ n }) => 2 * n" };
/// let Loaded::Ready(twice) = sandbox.prepare(&script, &Budget::default(), &Run::default())? else {
///     panic!("the script loads");
/// };
/// let report = sandbox.call(&twice, &Params::parse(r#"{"n": 21}"#)?, &Budget::default(), &Run::default())?;
/// let Outcome::Returned(Some(value)) = report.outcome else { panic!("it returns") };
/// assert_eq!(value.as_str(), "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sandbox {
    pub(crate) guest: Guest,
    /// The guest that profiles are taken with, or why there is none.
    pub(crate) profiling: OnceLock<Result<Guest, String>>,
    kind: Kind,
    passed_over: Vec<(Kind, String)>,
    slots: Slots,
}

/// JavaScript, and what to call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script<'a> {
    /// The name that stack traces show, usually a file's.
    pub name: &'a str,
    /// A script or a module that has a tool in it.
    pub source: &'a str,
}

/// What one call is given besides its parameters and its budget.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Which tool, where a factory made several.
    pub tool: Option<&'a str>,
    /// What a factory's tool gets as its `toolCallId`.
    pub call_id: &'a str,
    /// The seed of `Math.random()`.
    pub seed: u64,
    /// Where the virtual clock starts, since 1970. From there it moves on with the fuel that is burned.
    pub started_at: Duration,
    /// What the tool sees in place of the virtual clock. What it says is in the [`Report`].
    pub clock: Option<&'a RealClock>,
    /// What the host does for the tool.
    pub operations: &'a dyn Operations,
    /// Ends the call from another thread.
    pub cancel: Option<&'a CancelToken>,
    /// Gets partial results, as JSON text, while the tool runs.
    pub partial: Option<&'a PartialSink>,
    /// What to do where all slots are taken.
    pub when_full: WhenFull,
    /// Gets where the fuel of the call goes. Calls that may be put to sleep are not profiled.
    pub profile: Option<&'a ProfileSlot>,
    /// How much time it has, where that is less than its budget's, because it began elsewhere.
    pub time: Option<Duration>,
    /// What the limit of fuel is a limit of.
    pub fuel_covers: FuelCovers,
}

impl Default for Run<'_> {
    /// Nothing granted, seed 0, at the start of 1970: the same result every time.
    fn default() -> Self {
        Self {
            tool: None,
            call_id: "1",
            seed: 0,
            started_at: Duration::ZERO,
            clock: None,
            operations: &NoOperations,
            cancel: None,
            partial: None,
            when_full: WhenFull::Wait,
            profile: None,
            time: None,
            fuel_covers: FuelCovers::Call,
        }
    }
}

/// A script that was evaluated once: calls start where its top level ended.
pub struct Prepared {
    name: String,
    source: String,
    state: State,
    load_fuel: u64,
    manifest: Json,
}

enum State {
    /// What evaluating it changed in memory.
    Snapshot(Changes),
    /// Its top level read the clock or a random number, which belong to one run: it is evaluated in each call.
    Script,
}

impl Prepared {
    pub(crate) fn script(&self) -> Script<'_> {
        Script { name: &self.name, source: &self.source }
    }

    /// A script that is evaluated in each call, as one is whose top level reads the clock. Nothing is known of its tools.
    #[must_use]
    pub fn each_call(script: &Script<'_>) -> Self {
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Self { name, source, state: State::Script, load_fuel: 0, manifest: Json::NULL }
    }

    /// Fuel that evaluating the script burned.
    #[must_use]
    pub fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    /// How many bytes keeping this takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let state = match &self.state {
            State::Snapshot(changes) => changes.size(),
            State::Script => 0,
        };
        size_of::<Self>() + self.name.len() + self.source.len() + state + self.manifest.as_str().len()
    }

    /// Whether calls start from a snapshot of the evaluated script, rather than evaluate it again.
    #[must_use]
    pub fn is_snapshot(&self) -> bool {
        matches!(self.state, State::Snapshot(_))
    }

    /// What the script says of its tools: `{"shape", "tools": [{"name", "label", "description", "parameters"}]}`.
    #[must_use]
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }
}

/// What came of loading a script.
pub enum Loaded {
    /// It can be called.
    Ready(Prepared),
    /// It did not load: a syntax error, something thrown at the top level, a limit that was hit, no tool found.
    Ended(Report),
}

impl Sandbox {
    /// A sandbox with the first image that works on this machine.
    ///
    /// # Errors
    /// `integrity` where an image is not the one that was built in, `no-image` where none works, `limit-invalid` for
    /// a sandbox without slots.
    pub fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::with(config, Interruption::Epochs)
    }

    /// The same for a process that must not start a thread: a call looks whether it has to end after each slice of fuel.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn single_threaded(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::with(config, Interruption::FuelSlices)
    }

    fn with(config: &SandboxConfig, interruption: Interruption) -> Result<Self, StartError> {
        if config.slots == 0 {
            return Err(StartError::NoSlots);
        }
        touched::open();
        let mut tried = Vec::new();
        for kind in &config.images {
            // An image that was unpacked is given back here: a machine with few addresses needs them for the guest.
            let loaded = Image::of(*kind).verify()?.load(strategy(*kind, config.slots)).map_err(Unusable::Here);
            match loaded.and_then(|(engine, module)| Guest::new(*kind, interruption, engine, &module)) {
                Ok(guest) => {
                    let slots = Slots::new(config.slots);
                    tracing::debug!(image = kind.name(), slots = config.slots, "sandbox started");
                    let profiling = OnceLock::new();
                    return Ok(Self { guest, profiling, kind: *kind, passed_over: tried, slots });
                }
                Err(Unusable::Here(error)) => tried.push((*kind, format!("{error:#}"))),
                Err(Unusable::Refused(error)) => return Err(error),
            }
        }
        Err(StartError::NoImage { tried })
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

    /// How calls are ended at their deadline, and when they are cancelled. This starts the thread that it takes, or tries to.
    #[must_use]
    pub fn interruption(&self) -> Interruption {
        self.guest.interruption()
    }

    /// How many calls run at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.total()
    }

    /// Evaluates a script once.
    ///
    /// The capabilities that `run` grants exist while it is evaluated and in its calls; operations are done in calls
    /// only.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. What the script does is a [`Loaded`].
    pub fn prepare(&self, script: &Script<'_>, budget: &Budget, run: &Run<'_>) -> Result<Loaded, CallError> {
        let started = Instant::now();
        let attempt = match self.attempt(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(Loaded::Ended(never_began(stop, started))),
        };
        let _slot = &attempt.slot;
        let mut cell = self.guest.instantiate(Inside::of(budget, run, &attempt.until))?;
        cell.refuel(budget.fuel)?;

        let loaded = load(&mut cell, script, budget, run);
        self.guest.evaluated();
        let load_fuel = budget.fuel - cell.fuel_left();
        let ended = |end: End, cell: Cell<'_>| {
            let outcome = end.outcome(script, &attempt.until, budget);
            let usage = Usage { load_fuel, memory: cell.memory_bytes(), ..Usage::default() };
            Ok(Loaded::Ended(report(outcome, cell.into_inside(), usage, started)))
        };
        let shape = match loaded {
            Ok(shape) => shape,
            Err(end) => return ended(end, cell),
        };
        let state = if cell.inside().observed_run || !cell.inside().logs.is_empty() {
            State::Script
        } else {
            State::Snapshot(cell.changes().map_err(|error| CallError::NoInstance(error.to_string()))?)
        };
        let manifest = match shape {
            Shape::Function => Json::MANIFEST_OF_A_FUNCTION,
            // Tools are asked after the snapshot was taken and the fuel was read: calls, which do not ask, start from the same
            // state and burn the same.
            Shape::Described => {
                cell.refuel(budget.fuel)?;
                match describe(&mut cell) {
                    Ok(manifest) => manifest,
                    Err(end) => return ended(end, cell),
                }
            }
        };
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Ok(Loaded::Ready(Prepared { name, source, state, load_fuel, manifest }))
    }

    /// Calls a prepared tool in an instance of its own. Where [`Run::profile`] asks for it, the call is profiled: it returns the
    /// same, burns the same fuel, and takes longer.
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
        if let Some(slot) = run.profile {
            return self.call_profiled(prepared, params, budget, run, slot);
        }
        match self.enter::<Awake>(prepared, params, budget, run)? {
            Rested::Ended(report) => Ok(report),
            Rested::Asleep(_, never) => match never {},
        }
    }

    pub(crate) fn enter<P: Patience>(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Rested<P::Sleep>, CallError> {
        let started = Instant::now();
        let attempt = match self.attempt(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(Rested::Ended(never_began(stop, started))),
        };
        let (mut cell, ended, fuel) = Self::begin(&self.guest, prepared, budget, run, &attempt)?;
        let turn = ended.and_then(|()| converse::<P>(&mut cell, params, budget, run, &attempt.until));
        if !matches!(turn, Ok(Turn::Sleeps(_))) {
            self.guest.called(&mut cell);
        }
        CallSoFar::of(prepared, params, budget, fuel, started).rest(cell, turn, &attempt.until)
    }

    /// An instance in which the script is evaluated, or why that ended, and the fuel of the call.
    pub(crate) fn begin<'a>(
        guest: &'a Guest,
        prepared: &Prepared,
        budget: &Budget,
        run: &Run<'_>,
        attempt: &Attempt<'_>,
    ) -> Result<(Cell<'a>, Result<(), End>, FuelOfCall), CallError> {
        let mut cell = guest.instantiate(Inside::of(budget, run, &attempt.until))?;
        cell.refuel(budget.fuel)?;

        let mut load_fuel = prepared.load_fuel;
        let ended = match &prepared.state {
            // What evaluating the script took counts, also where it was evaluated under a larger budget.
            State::Snapshot(_) if prepared.load_fuel > budget.fuel => {
                Err(Stop::OutOfFuel { limit: budget.fuel }.into())
            }
            State::Snapshot(changes) if changes.memory() > budget.memory => {
                Err(Stop::OutOfMemory { limit: budget.memory }.into())
            }
            State::Snapshot(changes) => {
                cell.restore(changes).map_err(|error| CallError::NoInstance(format!("{error:#}")))?;
                Ok(())
            }
            State::Script => {
                let loaded = load(&mut cell, &prepared.script(), budget, run).map(drop);
                load_fuel = budget.fuel - cell.fuel_left();
                loaded
            }
        };
        let limit = budget.fuel_for_call(run.fuel_covers, load_fuel);
        cell.refuel(limit)?;
        Ok((cell, ended, FuelOfCall { limit, load_fuel }))
    }

    /// Checks the budget and takes a slot; one that somebody ends while it waits is stopped, and was not refused.
    pub(crate) fn attempt(&self, budget: &Budget, run: &Run<'_>) -> Result<Result<Attempt<'_>, Stop>, CallError> {
        self.attempt_within(budget, run.time.unwrap_or(budget.deadline), run)
    }

    /// The same with so much time.
    pub(crate) fn attempt_within(
        &self,
        budget: &Budget,
        time: Duration,
        run: &Run<'_>,
    ) -> Result<Result<Attempt<'_>, Stop>, CallError> {
        budget.check()?;
        let until = Until::new(Instant::now() + time.min(budget.deadline), run.cancel.cloned());
        match self.slots.take(run.when_full, &until) {
            Ok(slot) => Ok(Ok(Attempt { slot, until })),
            Err(NoSlot::Cancelled) => Ok(Err(Stop::Cancelled)),
            Err(NoSlot::Full) => Err(CallError::Busy { slots: self.slots.total() }),
        }
    }
}

/// The fuel of a call.
#[derive(Clone, Copy)]
pub(crate) struct FuelOfCall {
    /// How much it has.
    pub(crate) limit: u64,
    /// How much loading its script took.
    pub(crate) load_fuel: u64,
}

pub(crate) struct Attempt<'a> {
    pub(crate) slot: crate::slots::Slot<'a>,
    pub(crate) until: Until,
}

/// The report of a call that was ended before it had a slot.
pub(crate) fn never_began(stop: Stop, started: Instant) -> Report {
    let usage = Usage { duration: started.elapsed(), ..Usage::default() };
    let outcome = Outcome::Stopped(stop);
    Report { outcome, logs: Vec::new(), warnings: Vec::new(), readings: Vec::new(), usage }
}

pub(crate) fn report(outcome: Outcome, inside: Inside, usage: Usage, started: Instant) -> Report {
    let output = match &outcome {
        Outcome::Returned(Some(value)) => value.as_str().len(),
        _ => 0,
    };
    let duration = started.elapsed();
    let usage = Usage { output, console: inside.console_bytes, duration, waited: inside.waited, ..usage };
    Report { outcome, logs: inside.logs, warnings: Vec::new(), readings: inside.readings, usage }
}
