//! The sandbox: prepares scripts once and calls them any number of times, each call in its own
//! instance.
//!
//! Invariant: the result of a call depends only on the script, the parameters, the budget and the
//! [`CallContext`]. A call leaves no state behind in the sandbox.

use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use toolcell_json::{Json, Params};

use crate::budget::{Budget, FuelScope};
use crate::call_limiter::{AcquireError, CallLimiter, OnOverload};
use crate::call_loop::{CallStep, EarlyExit, NeverSuspend, SuspendMode, ToolShape, describe, load, run_call};
use crate::deadline::{CallDeadline, CancelToken};
use crate::dirty_pages;
use crate::engine_config::ImageKind;
use crate::error::{CallError, StartError};
use crate::host_calls::{HostCalls, NoHostCalls};
use crate::image::{Image, allocation_strategy};
use crate::imports::{HostState, PartialResultSink, WallClock};
use crate::instance::{GuestInstance, GuestModule, ImageError, MemoryDelta};
use crate::outcome::{Outcome, Report, Stop, Usage};
use crate::profile::ProfileSlot;
use crate::suspend::{CallInProgress, SuspendableStatus};
use crate::ticker::Interruption;

/// The manifest of a script whose tool is a single function.
#[expect(clippy::expect_used, reason = "a literal, which a test parses")]
static FUNCTION_MANIFEST: LazyLock<Json> =
    LazyLock::new(|| Json::parse(r#"{"shape":"function","tools":[{}]}"#).expect("a JSON text"));

/// The configuration of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The images that may be used, in order of preference.
    pub images: Vec<ImageKind>,
    /// The maximum number of concurrent calls; further calls wait or are refused ([`OnOverload`]).
    pub slots: usize,
}

impl Default for SandboxConfig {
    /// Allows all images, and two calls per core.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { images: ImageKind::ALL.to_vec(), slots: cores * 2 }
    }
}

/// A sandbox that runs each call in its own instance of the guest.
///
/// # Examples
/// ```
/// use toolcell_host::{Budget, PrepareResult, Outcome, Params, CallContext, Sandbox, SandboxConfig, Script};
///
/// let sandbox = Sandbox::new(&SandboxConfig::default())?;
/// let script = Script { name: "twice.js", source: "const execute = ({ n }) => 2 * n" };
/// let PrepareResult::Ready(twice) = sandbox.prepare(&script, &Budget::default(), &CallContext::default())? else {
///     panic!("the script loads");
/// };
/// let report = sandbox.call(&twice, &Params::parse(r#"{"n": 21}"#)?, &Budget::default(), &CallContext::default())?;
/// let Outcome::Returned(Some(value)) = report.outcome else { panic!("it returns") };
/// assert_eq!(value.as_str(), "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sandbox {
    pub(crate) guest: GuestModule,
    /// The guest for profiled calls, or the reason why none can be loaded. Loaded on first use.
    pub(crate) profiling: OnceLock<Result<GuestModule, String>>,
    kind: ImageKind,
    rejected_images: Vec<(ImageKind, String)>,
    slots: CallLimiter,
}

/// JavaScript source with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script<'a> {
    /// The name in stack traces, usually a file name.
    pub name: &'a str,
    /// The source of a script or a module that defines a tool.
    pub source: &'a str,
}

/// The inputs of one call besides its parameters and its budget.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The name of the tool, if a factory made several.
    pub tool: Option<&'a str>,
    /// The `toolCallId` that a factory's tool receives.
    pub call_id: &'a str,
    /// The seed of `Math.random()`.
    pub seed: u64,
    /// The start of the virtual clock, as time since 1970. The clock advances with the fuel that is
    /// burned.
    pub started_at: Duration,
    /// A wall clock that replaces the virtual clock. Its readings are recorded in the [`Report`].
    pub wall_clock: Option<&'a WallClock>,
    /// The implementation of the host calls, which also decides on the grants.
    pub host_calls: &'a dyn HostCalls,
    /// Cancels the call from another thread.
    pub cancel: Option<&'a CancelToken>,
    /// Receives partial results as JSON text while the tool runs.
    pub partial_sink: Option<&'a PartialResultSink>,
    /// The behaviour when all slots are in use.
    pub on_overload: OnOverload,
    /// Receives a fuel profile of the call. Suspendable calls are not profiled.
    pub profile: Option<&'a ProfileSlot>,
    /// A time limit that is shorter than the budget's, for a call that started elsewhere.
    pub time_limit: Option<Duration>,
    /// The work that the fuel limit covers.
    pub fuel_scope: FuelScope,
}

impl Default for CallContext<'_> {
    /// Grants nothing, with seed 0 and the clock at the start of 1970: the same result every time.
    fn default() -> Self {
        Self {
            tool: None,
            call_id: "1",
            seed: 0,
            started_at: Duration::ZERO,
            wall_clock: None,
            host_calls: &NoHostCalls,
            cancel: None,
            partial_sink: None,
            on_overload: OnOverload::Wait,
            profile: None,
            time_limit: None,
            fuel_scope: FuelScope::Call,
        }
    }
}

/// A script that was evaluated once. Calls start from the state after its top level.
pub struct Prepared {
    name: String,
    source: String,
    state: State,
    load_fuel: u64,
    manifest: Json,
}

enum State {
    /// The changes that evaluating the script made to memory.
    Snapshot(MemoryDelta),
    /// The script is evaluated again in each call, because its top level read the clock or a random
    /// number, which belong to one run, or wrote to the console.
    Script,
}

impl Prepared {
    pub(crate) fn script(&self) -> Script<'_> {
        Script { name: &self.name, source: &self.source }
    }

    /// Wraps a script that is evaluated in each call, without loading it now. Its manifest is
    /// `null`.
    #[must_use]
    pub fn without_snapshot(script: &Script<'_>) -> Self {
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Self { name, source, state: State::Script, load_fuel: 0, manifest: Json::NULL }
    }

    /// Returns the fuel that evaluating the script burned.
    #[must_use]
    pub fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    /// Returns the approximate heap size of this value in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let state = match &self.state {
            State::Snapshot(changes) => changes.held_bytes(),
            State::Script => 0,
        };
        size_of::<Self>() + self.name.len() + self.source.len() + state + self.manifest.as_str().len()
    }

    /// Returns whether calls start from a snapshot of the evaluated script instead of evaluating it
    /// again.
    #[must_use]
    pub fn is_snapshot(&self) -> bool {
        matches!(self.state, State::Snapshot(_))
    }

    /// Returns the script's description of its tools: `{"shape", "tools": [{"name", "label",
    /// "description", "parameters"}]}`.
    #[must_use]
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }
}

/// The result of loading a script.
pub enum PrepareResult {
    /// The script can be called.
    Ready(Prepared),
    /// The script did not load: it has a syntax error, threw at the top level, hit a limit, or
    /// defines no tool.
    Failed(Report),
}

impl Sandbox {
    /// Creates a sandbox with the first image that works on this machine.
    ///
    /// # Errors
    /// `integrity` if an image differs from the one that was built in, `no-image` if none works,
    /// `limit-invalid` for a sandbox without slots.
    pub fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::with_interruption(config, Interruption::Epochs)
    }

    /// Creates a sandbox for a process that must not start threads: a call checks its deadline
    /// after each slice of fuel.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn single_threaded(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::with_interruption(config, Interruption::FuelSlices)
    }

    fn with_interruption(config: &SandboxConfig, interruption: Interruption) -> Result<Self, StartError> {
        if config.slots == 0 {
            return Err(StartError::NoSlots);
        }
        dirty_pages::init();
        let mut tried = Vec::new();
        for kind in &config.images {
            // The unpacked image is freed here: a machine with little address space needs the room
            // for the guest.
            let loaded = Image::for_kind(*kind)
                .verify()?
                .load(allocation_strategy(*kind, config.slots))
                .map_err(ImageError::Unsupported);
            match loaded.and_then(|(engine, module)| GuestModule::new(*kind, interruption, engine, &module)) {
                Ok(guest) => {
                    let slots = CallLimiter::new(config.slots);
                    tracing::debug!(image = kind.name(), slots = config.slots, "sandbox started");
                    let profiling = OnceLock::new();
                    return Ok(Self { guest, profiling, kind: *kind, rejected_images: tried, slots });
                }
                Err(ImageError::Unsupported(error)) => tried.push((*kind, format!("{error:#}"))),
                Err(ImageError::Rejected(error)) => return Err(error),
            }
        }
        Err(StartError::NoImage { tried })
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

    /// Returns the mechanism that stops calls at their deadline and on cancellation. This starts
    /// the ticker thread if it is needed and not running.
    #[must_use]
    pub fn interruption(&self) -> Interruption {
        self.guest.interruption()
    }

    /// Returns the maximum number of concurrent calls.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.capacity()
    }

    /// Evaluates a script once.
    ///
    /// The capabilities granted by `run` exist during evaluation and in the calls; host calls are
    /// served only in calls.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the script are reported as a
    /// [`PrepareResult`].
    pub fn prepare(
        &self,
        script: &Script<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult, CallError> {
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(PrepareResult::Failed(not_started(stop, started))),
        };
        let _slot = &attempt.permit;
        let mut cell = self.guest.instantiate(HostState::for_run(budget, run, &attempt.deadline))?;
        cell.refuel(budget.fuel)?;

        let loaded = load(&mut cell, script, budget, run);
        self.guest.note_evaluation();
        let load_fuel = budget.fuel - cell.fuel_left();
        let ended = |end: EarlyExit, cell: GuestInstance<'_>| {
            let outcome = end.into_outcome(script, &attempt.deadline, budget);
            let usage = Usage { load_fuel, memory: cell.memory_bytes(), ..Usage::default() };
            Ok(PrepareResult::Failed(build_report(outcome, cell.into_state(), usage, started)))
        };
        let shape = match loaded {
            Ok(shape) => shape,
            Err(end) => return ended(end, cell),
        };
        let state = if cell.state().is_run_specific || !cell.state().logs.is_empty() {
            State::Script
        } else {
            State::Snapshot(cell.memory_delta().map_err(|error| CallError::NoInstance(error.to_string()))?)
        };
        let manifest = match shape {
            ToolShape::Function => FUNCTION_MANIFEST.clone(),
            // The guest describes its tools after the snapshot was taken and the fuel was read.
            // Calls skip this step, so they start from the same state and burn the same fuel.
            ToolShape::Described => {
                cell.refuel(budget.fuel)?;
                match describe(&mut cell) {
                    Ok(manifest) => manifest,
                    Err(end) => return ended(end, cell),
                }
            }
        };
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Ok(PrepareResult::Ready(Prepared { name, source, state, load_fuel, manifest }))
    }

    /// Calls a prepared tool in its own instance. With [`CallContext::profile`] the call is
    /// profiled: it returns the same result and burns the same fuel, but takes longer.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. Faults of the tool are reported in the [`Report`].
    pub fn call(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        if let Some(slot) = run.profile {
            return self.call_profiled(prepared, params, budget, run, slot);
        }
        match self.call_inner::<NeverSuspend>(prepared, params, budget, run)? {
            SuspendableStatus::Finished(report) => Ok(report),
            SuspendableStatus::Suspended(_, never) => match never {},
        }
    }

    pub(crate) fn call_inner<P: SuspendMode>(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<SuspendableStatus<P::Suspension>, CallError> {
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(SuspendableStatus::Finished(not_started(stop, started))),
        };
        let (mut cell, ended, fuel) = Self::instantiate_prepared(&self.guest, prepared, budget, run, &attempt)?;
        let turn = ended.and_then(|()| run_call::<P>(&mut cell, params, budget, run, &attempt.deadline));
        if !matches!(turn, Ok(CallStep::Suspends(_))) {
            self.guest.reclaim_after_call(&mut cell);
        }
        CallInProgress::new(prepared, params, budget, fuel, started).into_status(cell, turn, &attempt.deadline)
    }

    /// Creates an instance with the evaluated script. Returns it with the result of loading and the
    /// fuel of the call.
    pub(crate) fn instantiate_prepared<'a>(
        guest: &'a GuestModule,
        prepared: &Prepared,
        budget: &Budget,
        run: &CallContext<'_>,
        attempt: &CallSlot<'_>,
    ) -> Result<(GuestInstance<'a>, Result<(), EarlyExit>, CallFuel), CallError> {
        let mut cell = guest.instantiate(HostState::for_run(budget, run, &attempt.deadline))?;
        cell.refuel(budget.fuel)?;

        let mut load_fuel = prepared.load_fuel;
        let ended = match &prepared.state {
            // The fuel of evaluating the script counts even if it was evaluated under a larger
            // budget.
            State::Snapshot(_) if prepared.load_fuel > budget.fuel => {
                Err(Stop::OutOfFuel { limit: budget.fuel }.into())
            }
            State::Snapshot(changes) if changes.memory_size() > budget.memory => {
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
        let limit = budget.fuel_for_call(run.fuel_scope, load_fuel);
        cell.refuel(limit)?;
        Ok((cell, ended, CallFuel { limit, load_fuel }))
    }

    /// Checks the budget and acquires a slot. A call that is cancelled while it waits ends with a
    /// [`Stop`], not with an error.
    pub(crate) fn acquire_slot(
        &self,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Result<CallSlot<'_>, Stop>, CallError> {
        self.acquire_slot_within(budget, run.time_limit.unwrap_or(budget.deadline), run)
    }

    /// Does the same with an explicit time limit.
    pub(crate) fn acquire_slot_within(
        &self,
        budget: &Budget,
        time: Duration,
        run: &CallContext<'_>,
    ) -> Result<Result<CallSlot<'_>, Stop>, CallError> {
        budget.check()?;
        let until = CallDeadline::new(Instant::now() + time.min(budget.deadline), run.cancel.cloned());
        match self.slots.acquire(run.on_overload, &until) {
            Ok(slot) => Ok(Ok(CallSlot { permit: slot, deadline: until })),
            Err(AcquireError::Cancelled) => Ok(Err(Stop::Cancelled)),
            Err(AcquireError::Full) => Err(CallError::Busy { slots: self.slots.capacity() }),
        }
    }
}

/// The fuel limits of a call.
#[derive(Clone, Copy)]
pub(crate) struct CallFuel {
    /// Fuel that the call starts with.
    pub(crate) limit: u64,
    /// Fuel that loading its script burned.
    pub(crate) load_fuel: u64,
}

pub(crate) struct CallSlot<'a> {
    pub(crate) permit: crate::call_limiter::CallPermit<'a>,
    pub(crate) deadline: CallDeadline,
}

/// Returns the report of a call that was stopped before it had a slot.
pub(crate) fn not_started(stop: Stop, started: Instant) -> Report {
    let usage = Usage { duration: started.elapsed(), ..Usage::default() };
    let outcome = Outcome::Stopped(stop);
    Report { outcome, logs: Vec::new(), warnings: Vec::new(), readings: Vec::new(), usage }
}

pub(crate) fn build_report(outcome: Outcome, inside: HostState, usage: Usage, started: Instant) -> Report {
    let output = match &outcome {
        Outcome::Returned(Some(value)) => value.as_str().len(),
        _ => 0,
    };
    let duration = started.elapsed();
    let usage = Usage { output, console: inside.console_bytes, duration, waited: inside.waited, ..usage };
    Report { outcome, logs: inside.logs, warnings: Vec::new(), readings: inside.readings, usage }
}
