//! An instance of the guest: created for one call and discarded after it.
//!
//! Invariant: the guest always runs on its own stack, whose size
//! [`crate::engine`] defines, regardless of the calling thread. Every reply
//! of the guest is checked before it is used.

mod dirty_pages;
mod memory_delta;
mod sampling;
mod state;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use toolcell_i18n::Message;
use toolcell_protocol::{FrameError, Reply, decode, encode};
use wasmtime::{
    Engine, Extern, Global, Instance, InstancePre, Memory, ModuleExport, Store, Trap, TypedFunc, UpdateDeadline,
};

use crate::engine::{self, ImageKind, Interruption, StartError, Watch, is_pooled};
use crate::error::CallError;
use crate::limits::{CallDeadline, Interrupted};
use crate::outcome::Stop;
use dirty_pages::ReclaimSchedule;

pub(crate) use dirty_pages::init as init_page_map;
pub(crate) use memory_delta::MemoryDelta;
pub(crate) use state::{HostState, HostTrap};

/// Returns the fuel after which a call pauses: about 0.1 ms of native code, 0.25 ms of interpreted
/// code. A pause takes about 0.2 µs. The ticker watches a call that outlasts one slice; without a
/// ticker, the call checks its deadline after each slice.
const fn fuel_slice(kind: ImageKind) -> u64 {
    match kind {
        ImageKind::Roomy | ImageKind::Embedded | ImageKind::Bounded => 1_000_000,
        ImageKind::Interpreted => 100_000,
    }
}

/// The number of slices after which even a watched call checks its deadline: the ticker may be late
/// on a busy machine, and a forked process has none.
const CHECK_INTERVAL_SLICES: u32 = 16;

/// An epoch deadline that is never reached.
const NO_EPOCH_DEADLINE: u64 = u64::MAX / 2;

/// The linked guest module, ready to be instantiated.
pub(crate) struct GuestModule {
    pub(crate) engine: Engine,
    pre: InstancePre<HostState>,
    exports: Exports,
    kind: ImageKind,
    /// Whether calls may be interrupted by epochs, that is, whether the ticker thread may be
    /// started.
    pub(crate) interruption: Interruption,
    reclaim: ReclaimSchedule,
}

/// The indices of the exports, so that no call looks up an export by name.
struct Exports {
    memory: ModuleExport,
    stack_pointer: ModuleExport,
    buffer: ModuleExport,
    load: ModuleExport,
    describe: ModuleExport,
    call: ModuleExport,
    resume: ModuleExport,
}

/// The exports that the host calls with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GuestExport {
    Load,
    Describe,
    Call,
    Resume,
}

impl GuestModule {
    /// Takes the linked module and checks that it implements this host's version of the protocol.
    pub(crate) fn new(
        kind: ImageKind,
        interruption: Interruption,
        pre: InstancePre<HostState>,
    ) -> Result<Self, ImageError> {
        let module = pre.module();
        let export = |name: &str| {
            module.get_export_index(name).ok_or_else(|| wasmtime::format_err!("the guest exports no `{name}`"))
        };
        let exports = Exports {
            memory: export("memory")?,
            stack_pointer: export("__stack_pointer")?,
            buffer: export("buffer")?,
            load: export("load")?,
            describe: export("describe")?,
            call: export("call")?,
            resume: export("resume")?,
        };
        let engine = module.engine().clone();
        let guest = Self { engine, pre, exports, kind, interruption, reclaim: ReclaimSchedule::default() };
        let version = guest.abi_version()?;
        if version != toolcell_protocol::ABI_VERSION {
            let host = toolcell_protocol::ABI_VERSION;
            return Err(ImageError::Rejected(StartError::Version { guest: version, host }));
        }
        Ok(guest)
    }

    /// Runs the guest for the first time and returns its protocol version. Fails on a machine that
    /// cannot run this image.
    fn abi_version(&self) -> wasmtime::Result<u32> {
        let until = CallDeadline::new(Instant::now() + Duration::from_secs(10), None);
        let mut store = Store::try_new(&self.engine, HostState::new(usize::MAX, until.clone()))?;
        store.limiter(|inside| inside);
        store.set_fuel(1_000_000)?;
        store.set_epoch_deadline(NO_EPOCH_DEADLINE);
        let instance = self.pre.instantiate(&mut store)?;
        let version = instance.get_typed_func::<(), u32>(&mut store, "abi_version")?;
        poll_to_completion(version.call_async(&mut store, ()), &until, &mut PausePolicy::unwatched())
    }

    /// Returns how calls are interrupted.
    pub(crate) fn interruption(&self) -> Interruption {
        match self.interruption {
            Interruption::Epochs => engine::interruption(),
            Interruption::FuelSlices => Interruption::FuelSlices,
        }
    }

    /// Creates a fresh instance.
    pub(crate) fn instantiate(&self, inside: HostState) -> Result<GuestInstance<'_>, CallError> {
        let no_instance = |error: wasmtime::Error| CallError::NoInstance(Message::verbatim(format!("{error:#}")));
        let mut store = Store::try_new(&self.engine, inside).map_err(no_instance)?;
        store.limiter(|inside| inside);
        // At the end of every epoch, the call checks its deadline.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            Ok(if store.data().deadline.is_expired() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
        });
        let cell = self.pre.instantiate(&mut store).and_then(|instance| GuestInstance::new(store, instance, self));
        let mut cell = cell.map_err(no_instance)?;
        if !is_pooled(self.kind) {
            cell.allocate_stack().map_err(no_instance)?;
        }
        Ok(cell)
    }

    /// Records that scripts were evaluated in an instance that ends: this touches more pages than a
    /// call.
    pub(crate) fn note_evaluation(&self) {
        self.reclaim.restart();
    }

    /// Records that a call in this instance ended, and releases its clean pages if that is due.
    pub(crate) fn reclaim_after_call(&self, cell: &mut GuestInstance<'_>) {
        if is_pooled(self.kind) && self.reclaim.is_due() {
            cell.release_clean_pages();
        }
    }
}

/// The reason why a call into the guest did not return a reply.
pub(crate) enum GuestStop {
    /// The call exceeded a limit, or the guest failed.
    Stopped(Stop),
    /// The call was interrupted from outside.
    Interrupted(Interrupted),
}

impl From<Stop> for GuestStop {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<Interrupted> for GuestStop {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}

/// A reason why an image is not used.
pub(crate) enum ImageError {
    /// The image does not work on this machine; another one may.
    Unsupported(wasmtime::Error),
    /// The image must not be used at all.
    Rejected(StartError),
}

impl From<wasmtime::Error> for ImageError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Unsupported(error)
    }
}

/// An instance of the guest with its store.
pub(crate) struct GuestInstance<'a> {
    pub(crate) store: Store<HostState>,
    pub(crate) instance: Instance,
    pub(crate) memory: Memory,
    stack_pointer: Global,
    buffer: TypedFunc<u32, u32>,
    guest: &'a GuestModule,
    /// Whether the call is profiled. If so, the profile determines the slices, and an epoch ends
    /// with each slice.
    pub(crate) is_profiled: bool,
}

impl<'a> GuestInstance<'a> {
    fn new(mut store: Store<HostState>, instance: Instance, guest: &'a GuestModule) -> wasmtime::Result<Self> {
        let exports = &guest.exports;
        let (Some(Extern::Memory(memory)), Some(Extern::Global(stack_pointer)), Some(Extern::Func(buffer))) = (
            instance.get_module_export(&mut store, &exports.memory),
            instance.get_module_export(&mut store, &exports.stack_pointer),
            instance.get_module_export(&mut store, &exports.buffer),
        ) else {
            wasmtime::bail!("the types of the guest's exports do not match the protocol");
        };
        let buffer = buffer.typed(&store)?;
        if is_pooled(guest.kind) {
            store.data_mut().memory_base = Some(memory.data_ptr(&store).addr());
        }
        store.fuel_async_yield_interval(Some(fuel_slice(guest.kind)))?;
        Ok(Self { store, instance, memory, stack_pointer, buffer, guest, is_profiled: false })
    }

    /// Allocates the stack that the guest runs on, so that a lack of address space is detected
    /// before the call starts.
    fn allocate_stack(&mut self) -> wasmtime::Result<()> {
        // Wasmtime allocates the stack for the first call of a function, here the smallest one, and
        // keeps it for the others.
        self.store.set_fuel(1_000)?;
        let until = self.store.data().deadline.clone();
        let version = self.instance.get_typed_func::<(), u32>(&mut self.store, "abi_version")?;
        let taken = poll_to_completion(version.call_async(&mut self.store, ()), &until, &mut PausePolicy::unwatched());
        taken.map_err(|error| error.context("its stack cannot be allocated"))?;
        self.store.set_fuel(0)
    }

    pub(crate) fn state(&mut self) -> &mut HostState {
        self.store.data_mut()
    }

    /// Consumes the instance and returns its host state.
    pub(crate) fn into_state(self) -> HostState {
        self.store.into_data()
    }

    /// Sets the fuel, and advances the virtual clock by the fuel that was burned before.
    pub(crate) fn refuel(&mut self, fuel: u64) -> Result<(), CallError> {
        let left = self.fuel_left();
        let inside = self.store.data_mut();
        inside.advance_by_fuel(left);
        inside.clock_fuel = fuel;
        // Fuel counting is always enabled in the engine.
        self.store.set_fuel(fuel).map_err(CallError::bug)
    }

    /// Restores the fuel limit, the remaining fuel and the virtual clock of a suspended call.
    pub(crate) fn restore_meters(&mut self, limit: u64, left: u64, clock_nanoseconds: u64) -> wasmtime::Result<()> {
        let inside = self.store.data_mut();
        inside.clock_fuel = limit;
        inside.clock_nanoseconds = clock_nanoseconds;
        self.store.set_fuel(left)
    }

    /// Charges fuel that was burned elsewhere on behalf of this instance.
    pub(crate) fn charge_fuel(&mut self, fuel: u64) -> Result<(), Stop> {
        let left = self.fuel_left();
        let limit = self.store.data().clock_fuel;
        if let Some(sampler) = &mut self.store.data_mut().sampler {
            sampler.charge_other_tool(left, fuel.min(left));
        }
        let spent = fuel < left && self.store.set_fuel(left - fuel).is_ok();
        if fuel == 0 || spent {
            return Ok(());
        }
        // All fuel is gone, and the report says so. Fuel counting is always enabled in the engine,
        // so this cannot fail.
        let _ = self.store.set_fuel(0);
        Err(Stop::OutOfFuel { limit })
    }

    pub(crate) fn fuel_left(&self) -> u64 {
        // Fuel counting is always enabled in the engine.
        self.store.get_fuel().unwrap_or(0)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// Calls an export with a request. Returns the reply of the guest, or the reason why the call
    /// was stopped.
    pub(crate) fn call_export<T: serde::Serialize>(
        &mut self,
        verb: GuestExport,
        request: &T,
    ) -> Result<Reply, GuestStop> {
        let frame = encode(request).map_err(|error| Stop::Crashed { detail: error.to_string() })?;
        self.call_export_bytes(verb, &frame)
    }

    fn call_export_bytes(&mut self, verb: GuestExport, frame: &[u8]) -> Result<Reply, GuestStop> {
        let until = self.store.data().deadline.clone();
        // Work that takes less than a slice never checks the deadline by itself.
        if let Some(interrupted) = until.interrupted() {
            return Err(interrupted.into());
        }
        let asked = self.round_trip(verb, frame, &until);
        let inside = self.store.data_mut();
        if let Some(stop) = inside.stop.take() {
            return Err(stop.into());
        }
        if inside.memory_refused {
            return Err(Stop::OutOfMemory { limit: inside.memory_limit }.into());
        }
        match asked {
            Ok(reply) => Ok(reply.map_err(|error| Stop::Crashed { detail: error.to_string() })?),
            Err(error) => Err(self.classify_trap(&error)),
        }
    }

    fn round_trip(
        &mut self,
        verb: GuestExport,
        frame: &[u8],
        until: &CallDeadline,
    ) -> wasmtime::Result<Result<Reply, FrameError>> {
        let len = u32::try_from(frame.len())?;
        let mut pauses = if self.is_profiled {
            PausePolicy::Profiled(&self.guest.engine)
        } else {
            PausePolicy::new(&self.guest.engine, self.guest.interruption)
        };
        let at = poll_to_completion(self.buffer.call_async(&mut self.store, len), until, &mut pauses)?;
        self.memory.write(&mut self.store, at as usize, frame)?;
        let exports = &self.guest.exports;
        let export = match verb {
            GuestExport::Load => &exports.load,
            GuestExport::Describe => &exports.describe,
            GuestExport::Call => &exports.call,
            GuestExport::Resume => &exports.resume,
        };
        let Some(Extern::Func(function)) = self.instance.get_module_export(&mut self.store, export) else {
            wasmtime::bail!("the guest exports no function for {verb:?}");
        };
        let function = function.typed::<u32, u64>(&self.store)?;
        let packed = poll_to_completion(function.call_async(&mut self.store, len), until, &mut pauses)?;
        let (at, len) = ((packed >> 32) as usize, (packed & 0xffff_ffff) as usize);
        let memory = self.memory.data(&self.store);
        let Some(bytes) = at.checked_add(len).and_then(|end| memory.get(at..end)) else {
            wasmtime::bail!("the guest's reply lies outside of its memory");
        };
        Ok(decode(bytes))
    }

    /// Maps a Wasm trap to a stop reason.
    fn classify_trap(&self, error: &wasmtime::Error) -> GuestStop {
        let inside = self.store.data();
        let stop = match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Stop::OutOfFuel { limit: inside.clock_fuel },
            Some(Trap::StackOverflow) => Stop::StackOverflow,
            // Without a cancellation, only the deadline interrupts.
            Some(Trap::Interrupt) => return inside.deadline.interrupted().unwrap_or(Interrupted::Deadline).into(),
            _ => {
                let detail = inside.panic_message().unwrap_or_else(|| match error.downcast_ref::<HostTrap>() {
                    Some(ended) => ended.to_string(),
                    None => format!("{error:#}"),
                });
                tracing::warn!(detail, "the engine inside a cell failed");
                Stop::Crashed { detail }
            }
        };
        stop.into()
    }
}

/// The behaviour at a pause, after a slice of fuel.
enum PausePolicy<'a> {
    /// The call is profiled: the epoch of the engine ends. The guest then hands over its store, and
    /// the receiver of the store checks the deadline ([`profile`](crate::profile)).
    Profiled(&'a Engine),
    /// The call checks its deadline, and is watched from then on if a ticker thread is available.
    Unwatched(Option<&'a Engine>),
    /// The call checks its deadline at the end of an epoch, and after [`CHECK_INTERVAL_SLICES`]
    /// slices.
    Watched { checks_in: u32, _watch: Watch },
}

impl<'a> PausePolicy<'a> {
    fn new(engine: &'a Engine, interruption: Interruption) -> Self {
        Self::Unwatched((interruption == Interruption::Epochs).then_some(engine))
    }

    const fn unwatched() -> Self {
        Self::Unwatched(None)
    }

    /// Does the work that is due at a pause, before the call continues.
    fn on_pause(&mut self, until: &CallDeadline) -> Result<(), Trap> {
        match self {
            Self::Profiled(engine) => {
                engine.increment_epoch();
                return Ok(());
            }
            Self::Watched { checks_in: looks_in @ 1.., .. } => {
                *looks_in -= 1;
                return Ok(());
            }
            Self::Watched { checks_in: looks_in, .. } => *looks_in = CHECK_INTERVAL_SLICES,
            Self::Unwatched(engine) => {
                if let Some(watch) = engine.and_then(engine::watch) {
                    *self = Self::Watched { checks_in: CHECK_INTERVAL_SLICES, _watch: watch };
                }
            }
        }
        if until.is_expired() { Err(Trap::Interrupt) } else { Ok(()) }
    }
}

/// Polls a call into the guest until it finishes or must end.
///
/// The guest yields only at the end of a slice of fuel and can continue at once: no host function
/// makes it wait. Dropping a paused call ends it and unwinds its stack.
fn poll_to_completion<T>(
    call: impl Future<Output = wasmtime::Result<T>>,
    until: &CallDeadline,
    pauses: &mut PausePolicy<'_>,
) -> wasmtime::Result<T> {
    let mut call = pin!(call);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = call.as_mut().poll(&mut context) {
            return result;
        }
        pauses.on_pause(until)?;
    }
}
