//! An instance of the guest: created for one call and discarded after it.
//!
//! Invariant: the guest always runs on its own stack, whose size
//! [`engine_config`](crate::engine_config) defines, regardless of the calling thread. Every reply
//! of the guest is checked before it is used.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use toolcell_protocol::{FrameError, Reply, decode, encode};
use wasmtime::{
    Engine, Extern, Global, Instance, InstancePre, Memory, Module, ModuleExport, Store, Trap, TypedFunc,
    UpdateDeadline, Val,
};

use crate::deadline::CallDeadline;
use crate::dirty_pages::{self, ReclaimSchedule};
use crate::engine_config::ImageKind;
use crate::error::{CallError, StartError};
use crate::image::{fresh_block, is_pooled};
use crate::imports::{self, HostState, HostTrap};
use crate::outcome::Stop;
use crate::ticker::{self, Interruption, Watch};

/// Returns the fuel after which a call pauses: about 0.1 ms of native code, 0.25 ms of interpreted
/// code. A pause takes about 0.2 µs. The ticker watches a call that outlasts one slice; without a
/// ticker, the call checks its deadline after each slice.
const fn fuel_slice(kind: ImageKind) -> u64 {
    match kind {
        ImageKind::Roomy | ImageKind::Bounded => 1_000_000,
        ImageKind::Interpreted => 100_000,
    }
}

/// The number of slices after which even a watched call checks its deadline: the ticker may be late
/// on a busy machine, and a forked process has none.
const CHECK_INTERVAL_SLICES: u32 = 16;

/// An epoch deadline that is never reached.
const NO_EPOCH_DEADLINE: u64 = u64::MAX / 2;

/// The size of a block in bytes: the granularity of memory snapshots. On most pages that loading a
/// script touches, only a few bytes change, such as reference counts.
pub(crate) const BLOCK_BYTES: usize = 64;
const BLOCK_BYTES_U32: u32 = 64;

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
    /// Links the module and checks that it implements this host's version of the protocol.
    pub(crate) fn new(
        kind: ImageKind,
        interruption: Interruption,
        engine: Engine,
        module: &Module,
    ) -> Result<Self, ImageError> {
        let pre = imports::linker(&engine)?.instantiate_pre(module)?;
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
            Interruption::Epochs => ticker::interruption(),
            Interruption::FuelSlices => Interruption::FuelSlices,
        }
    }

    /// Creates a fresh instance.
    pub(crate) fn instantiate(&self, inside: HostState) -> Result<GuestInstance<'_>, CallError> {
        let no_instance = |error: wasmtime::Error| CallError::NoInstance(format!("{error:#}"));
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

/// The difference between an instance's memory and that of a fresh instance.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MemoryDelta {
    /// The start and the length of each run of changed blocks, in bytes.
    pub(crate) runs: Vec<(u32, u32)>,
    /// The contents of all runs, concatenated.
    pub(crate) bytes: Vec<u8>,
    pub(crate) memory_bytes: usize,
    pub(crate) stack_pointer: i32,
}

impl MemoryDelta {
    /// Returns the size of the instance's memory in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the heap size of this value in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.runs)
    }
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
        self.store.set_fuel(fuel).map_err(|error| CallError::NoInstance(error.to_string()))
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

    /// Returns the difference from a fresh instance. The shadow stack is left out: it is empty
    /// between calls.
    pub(crate) fn memory_delta(&mut self) -> wasmtime::Result<MemoryDelta> {
        let stack_pointer = self.stack_pointer.get(&mut self.store).i32().unwrap_or(0);
        let stack = usize::try_from(stack_pointer)?;
        let memory = self.memory.data(&self.store);
        let mut changes =
            MemoryDelta { runs: Vec::new(), bytes: Vec::new(), memory_bytes: memory.len(), stack_pointer };
        let (pages, length) = dirty_pages::dirty_or_all_pages(memory);
        for page in pages.into_iter().filter(|page| page + length > stack) {
            for at in (page..page + length).step_by(BLOCK_BYTES).filter(|at| *at >= stack) {
                let line = &memory[at..at + BLOCK_BYTES];
                if line == fresh_block(at) {
                    continue;
                }
                let start = u32::try_from(at)?;
                match changes.runs.last_mut() {
                    Some((run, len)) if *run + *len == start => *len += BLOCK_BYTES_U32,
                    _ => changes.runs.push((start, BLOCK_BYTES_U32)),
                }
                changes.bytes.extend_from_slice(line);
            }
        }
        changes.runs.shrink_to_fit();
        changes.bytes.shrink_to_fit();
        Ok(changes)
    }

    /// Releases the dirty pages whose contents equal those of a fresh instance. They stem from
    /// earlier instances in the same slot of the pool and would be reset after every call. The
    /// instance must have ended.
    pub(crate) fn release_clean_pages(&mut self) {
        let memory = self.memory.data_mut(&mut self.store);
        dirty_pages::discard_clean(memory, |from, page| {
            page.chunks_exact(BLOCK_BYTES).zip((from..).step_by(BLOCK_BYTES)).all(|(line, at)| line == fresh_block(at))
        });
    }

    /// Applies a memory delta to this fresh instance.
    pub(crate) fn restore(&mut self, changes: &MemoryDelta) -> wasmtime::Result<()> {
        let missing = changes.memory_bytes.saturating_sub(self.memory.data_size(&self.store));
        if missing > 0 {
            self.memory.grow(&mut self.store, (missing as u64).div_ceil(64 << 10))?;
        }
        let memory = self.memory.data_mut(&mut self.store);
        let mut bytes = &*changes.bytes;
        for (start, len) in &changes.runs {
            let (run, rest) = bytes.split_at(*len as usize);
            memory[*start as usize..][..run.len()].copy_from_slice(run);
            bytes = rest;
        }
        self.stack_pointer.set(&mut self.store, Val::I32(changes.stack_pointer))
    }

    /// Calls an export with a request. Returns the reply of the guest, or the reason why the call
    /// was stopped.
    pub(crate) fn call_export<T: serde::Serialize>(&mut self, verb: GuestExport, request: &T) -> Result<Reply, Stop> {
        let frame = encode(request).map_err(|error| Stop::Crashed { detail: error.to_string() })?;
        self.call_export_bytes(verb, &frame)
    }

    fn call_export_bytes(&mut self, verb: GuestExport, frame: &[u8]) -> Result<Reply, Stop> {
        let until = self.store.data().deadline.clone();
        // Work that takes less than a slice never checks the deadline by itself.
        if until.is_expired() {
            return Err(Stop::Cancelled);
        }
        let asked = self.round_trip(verb, frame, &until);
        let inside = self.store.data_mut();
        if let Some(stop) = inside.stop.take() {
            return Err(stop);
        }
        if inside.memory_refused {
            return Err(Stop::OutOfMemory { limit: inside.memory_limit });
        }
        match asked {
            Ok(reply) => reply.map_err(|error| Stop::Crashed { detail: error.to_string() }),
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
    fn classify_trap(&self, error: &wasmtime::Error) -> Stop {
        let inside = self.store.data();
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Stop::OutOfFuel { limit: inside.clock_fuel },
            Some(Trap::StackOverflow) => Stop::StackOverflow,
            // The caller, who knows the deadline and the token, distinguishes a deadline from a
            // cancellation.
            Some(Trap::Interrupt) => Stop::Cancelled,
            _ => {
                let detail = inside.panic_message().unwrap_or_else(|| match error.downcast_ref::<HostTrap>() {
                    Some(ended) => ended.to_string(),
                    None => format!("{error:#}"),
                });
                tracing::warn!(detail, "the engine inside a cell failed");
                Stop::Crashed { detail }
            }
        }
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
                if let Some(watch) = engine.and_then(ticker::watch) {
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
