//! The sandbox: prepares scripts once and calls them any number of times, each call in its own
//! instance.
//!
//! Invariant: the result of a call depends only on the script, the parameters, the budget and the
//! [`CallContext`]. A call leaves no state behind in the sandbox.

mod profiled;
mod resume;

use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use toolcell_i18n::Message;
use toolcell_json::{Json, Params};

use crate::backend::Backend;
use crate::call_loop::{CallStep, EarlyExit, NeverSuspend, SuspendMode, ToolShape, describe, load, run_call};
use crate::context::{CallContext, ScriptSource};
use crate::engine::{Image, ImageKind, Interruption, StartError, allocation_strategy};
use crate::error::CallError;
use crate::imports;
use crate::instance::{GuestInstance, GuestModule, HostState, ImageError, init_page_map};
use crate::limits::{AcquireError, Budget, CallDeadline, CallLimiter, CallPermit};
use crate::outcome::{Report, Stop, Usage};
use crate::prepared::{PrepareResult, Prepared, PreparedState};
use crate::suspend::{CallFuel, CallInProgress, CallStatus, ResumeError, SuspendableStatus, SuspendedCall};

/// The manifest of a script whose tool is a single function.
#[expect(clippy::expect_used, reason = "a literal, which a test parses")]
static FUNCTION_MANIFEST: LazyLock<Json> =
    LazyLock::new(|| Json::parse(r#"{"shape":"function","tools":[{}]}"#).expect("a JSON text"));

/// The configuration of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxOptions {
    /// The images that may be used, in order of preference.
    pub images: Vec<ImageKind>,
    /// The maximum number of concurrent calls; further calls wait or are refused
    /// ([`OnOverload`](crate::OnOverload)).
    pub slots: usize,
}

impl Default for SandboxOptions {
    /// Allows the images of an own process, and two calls per core.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { images: ImageKind::FOR_OWN_PROCESS.to_vec(), slots: cores * 2 }
    }
}

/// A sandbox that runs each call in its own instance of the guest.
///
/// # Examples
/// ```
/// use toolcell_host::{Budget, PrepareResult, Outcome, Params, CallContext, Sandbox, SandboxOptions, ScriptSource};
///
/// let sandbox = Sandbox::new(&SandboxOptions::default())?;
/// let script = ScriptSource { name: "twice.js", source: "const execute = ({ n }) => 2 * n" };
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
    profiling: OnceLock<Result<GuestModule, Message>>,
    kind: ImageKind,
    rejected_images: Vec<(ImageKind, String)>,
    slots: CallLimiter,
}

impl Sandbox {
    /// Creates a sandbox with the first image that works on this machine.
    ///
    /// # Errors
    /// `integrity` if an image differs from the one that was built in, `no-image` if none works,
    /// `limit-invalid` for a sandbox without slots.
    pub fn new(config: &SandboxOptions) -> Result<Self, StartError> {
        Self::with_interruption(config, Interruption::Epochs)
    }

    /// Creates a sandbox for a process that must not start threads: a call checks its deadline
    /// after each slice of fuel.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn single_threaded(config: &SandboxOptions) -> Result<Self, StartError> {
        Self::with_interruption(config, Interruption::FuelSlices)
    }

    fn with_interruption(config: &SandboxOptions, interruption: Interruption) -> Result<Self, StartError> {
        if config.slots == 0 {
            return Err(StartError::NoSlots);
        }
        init_page_map();
        let mut tried = Vec::new();
        for kind in &config.images {
            // The unpacked image is freed here: a machine with little address space needs the room
            // for the guest.
            let Some(image) = Image::for_kind(*kind) else {
                tried.push((*kind, "it is not built in".to_owned()));
                continue;
            };
            let loaded =
                image.verify()?.load(allocation_strategy(*kind, config.slots)).map_err(ImageError::Unsupported);
            match loaded.and_then(|module| GuestModule::new(*kind, interruption, imports::link(&module)?)) {
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
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult, CallError> {
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(PrepareResult::Failed(Report::not_started(stop, started))),
        };
        let _slot = &attempt.permit;
        let mut cell = self.guest.instantiate(HostState::for_run(budget, run, &attempt.deadline))?;
        cell.refuel(budget.fuel)?;

        let loaded = load(&mut cell, script, budget, run);
        self.guest.note_evaluation();
        let load_fuel = budget.fuel - cell.fuel_left();
        let ended = |end: EarlyExit, cell: GuestInstance<'_>| {
            let outcome = end.into_outcome(script, budget);
            let usage = Usage { load_fuel, memory: cell.memory_bytes(), ..Usage::default() };
            Ok(PrepareResult::Failed(cell.into_state().into_report(outcome, usage, started)))
        };
        let shape = match loaded {
            Ok(shape) => shape,
            Err(end) => return ended(end, cell),
        };
        let state = if cell.state().is_run_specific || !cell.state().logs.is_empty() {
            PreparedState::Script
        } else {
            PreparedState::Snapshot(cell.memory_delta().map_err(CallError::bug)?)
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

    fn call_inner<P: SuspendMode>(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<SuspendableStatus<P::Suspension>, CallError> {
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(SuspendableStatus::Finished(Report::not_started(stop, started))),
        };
        let (mut cell, ended, fuel) = Self::instantiate_prepared(&self.guest, prepared, budget, run, &attempt)?;
        let turn = ended.and_then(|()| run_call::<P>(&mut cell, params, budget, run, &attempt.deadline));
        if !matches!(turn, Ok(CallStep::Suspends(_))) {
            self.guest.reclaim_after_call(&mut cell);
        }
        CallInProgress::new(prepared.script(), params, budget, fuel, started).into_status(cell, turn, &attempt.deadline)
    }

    /// Creates an instance with the evaluated script. Returns it with the result of loading and the
    /// fuel of the call.
    fn instantiate_prepared<'a>(
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
            PreparedState::Snapshot(_) if prepared.load_fuel > budget.fuel => {
                Err(Stop::OutOfFuel { limit: budget.fuel }.into())
            }
            PreparedState::Snapshot(changes) if changes.memory_size() > budget.memory => {
                Err(Stop::OutOfMemory { limit: budget.memory }.into())
            }
            PreparedState::Snapshot(changes) => {
                cell.restore(changes)
                    .map_err(|error| CallError::NoInstance(Message::verbatim(format!("{error:#}"))))?;
                Ok(())
            }
            PreparedState::Script => {
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
    fn acquire_slot(&self, budget: &Budget, run: &CallContext<'_>) -> Result<Result<CallSlot<'_>, Stop>, CallError> {
        self.acquire_slot_within(budget, run.time_limit.unwrap_or(budget.deadline), run)
    }

    /// Does the same with an explicit time limit.
    fn acquire_slot_within(
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

impl Backend for Sandbox {
    type Prepared = Prepared;

    fn prepare(
        &self,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<Prepared>, CallError> {
        self.prepare(script, budget, run)
    }

    fn call(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        self.call(prepared, params, budget, run)
    }

    fn call_suspendable(
        &self,
        prepared: &Prepared,
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
        self.interruption()
    }

    fn slots(&self) -> usize {
        self.slots()
    }
}

/// The slot and the deadline of a call.
struct CallSlot<'a> {
    permit: CallPermit<'a>,
    deadline: CallDeadline,
}
