//! One instance of the guest: made for one call, and thrown away after it.
//!
//! Invariant: the guest always runs on a stack of its own, as large as [`tunables`](crate::tunables) says, whatever
//! thread the call came from; and everything it answers is checked before it is believed.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use toolcell_protocol::{FrameError, Reply, decode, encode};
use wasmtime::{
    Engine, Extern, Global, Instance, InstancePre, Memory, Module, ModuleExport, Store, Trap, TypedFunc,
    UpdateDeadline, Val,
};

use crate::error::{CallError, StartError};
use crate::image::{fresh_line, is_pooled};
use crate::link::{self, Ended, Inside};
use crate::outcome::Stop;
use crate::ticker::{self, Interruption, Watch};
use crate::touched::{self, Tidying};
use crate::tunables::Kind;
use crate::until::Until;

/// Fuel after which a call pauses: about 0.1 ms of native code, 0.25 ms of interpreted code. Pausing takes some 0.2 µs. A call that
/// outlasts one slice is watched by the ticker; where there is none, it looks after each of them whether it has to end.
const fn slice(kind: Kind) -> u64 {
    match kind {
        Kind::Roomy | Kind::Bounded => 1_000_000,
        Kind::Interpreted => 100_000,
    }
}

/// After so many slices a call looks as well where it is watched: a ticker may be late on a busy machine, and a process that was
/// forked has none.
const LOOKS_ANYWAY: u32 = 16;

/// Epochs until an instance is interrupted by them that has nothing to be interrupted for.
const NEVER: u64 = u64::MAX / 2;

/// Bytes of a line: the unit in which a prepared script is kept. Most of the pages that loading a script touches
/// change in a few bytes, such as the count of an object's users.
pub(crate) const LINE: usize = 64;
const LINE_U32: u32 = 64;

/// The guest, ready to be instantiated.
pub(crate) struct Guest {
    pub(crate) engine: Engine,
    pre: InstancePre<Inside>,
    exports: Exports,
    kind: Kind,
    /// How calls may be ended: whether the ticker may be started.
    pub(crate) interruption: Interruption,
    tidying: Tidying,
}

/// Where each export is, so that no call looks one up by name.
struct Exports {
    memory: ModuleExport,
    stack_pointer: ModuleExport,
    buffer: ModuleExport,
    load: ModuleExport,
    describe: ModuleExport,
    call: ModuleExport,
    resume: ModuleExport,
}

/// What the guest can be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verb {
    Load,
    Describe,
    Call,
    Resume,
}

impl Guest {
    /// Links the module and checks that it speaks this host's version of the protocol.
    pub(crate) fn new(
        kind: Kind,
        interruption: Interruption,
        engine: Engine,
        module: &Module,
    ) -> Result<Self, Unusable> {
        let pre = link::linker(&engine)?.instantiate_pre(module)?;
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
        let guest = Self { engine, pre, exports, kind, interruption, tidying: Tidying::default() };
        let version = guest.version()?;
        if version != toolcell_protocol::ABI_VERSION {
            let host = toolcell_protocol::ABI_VERSION;
            return Err(Unusable::Refused(StartError::Version { guest: version, host }));
        }
        Ok(guest)
    }

    /// Runs the guest for the first time; on a machine that cannot, this is what fails.
    fn version(&self) -> wasmtime::Result<u32> {
        let until = Until::new(Instant::now() + Duration::from_secs(10), None);
        let mut store = Store::try_new(&self.engine, Inside::new(usize::MAX, until.clone()))?;
        store.limiter(|inside| inside);
        store.set_fuel(1_000_000)?;
        store.set_epoch_deadline(NEVER);
        let instance = self.pre.instantiate(&mut store)?;
        let version = instance.get_typed_func::<(), u32>(&mut store, "abi_version")?;
        drive(version.call_async(&mut store, ()), &until, &mut Pauses::never_watched())
    }

    /// How its calls are ended.
    pub(crate) fn interruption(&self) -> Interruption {
        match self.interruption {
            Interruption::Epochs => ticker::interruption(),
            Interruption::FuelSlices => Interruption::FuelSlices,
        }
    }

    /// A fresh instance.
    pub(crate) fn instantiate(&self, inside: Inside) -> Result<Cell<'_>, CallError> {
        let no_instance = |error: wasmtime::Error| CallError::NoInstance(format!("{error:#}"));
        let mut store = Store::try_new(&self.engine, inside).map_err(no_instance)?;
        store.limiter(|inside| inside);
        // Whenever an epoch ends, the call looks.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            Ok(if store.data().until.is_over() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
        });
        let cell = self.pre.instantiate(&mut store).and_then(|instance| Cell::new(store, instance, self));
        let mut cell = cell.map_err(no_instance)?;
        if !is_pooled(self.kind) {
            cell.take_stack().map_err(no_instance)?;
        }
        Ok(cell)
    }

    /// Notes that an instance ends that scripts were evaluated in, which touches more pages than calls do.
    pub(crate) fn evaluated(&self) {
        self.tidying.begin_again();
    }

    /// Notes that a call ends, in this instance.
    pub(crate) fn called(&self, cell: &mut Cell<'_>) {
        if is_pooled(self.kind) && self.tidying.is_due() {
            cell.tidy();
        }
    }
}

/// Why an image is not used.
pub(crate) enum Unusable {
    /// It does not work on this machine; another one may.
    Here(wasmtime::Error),
    /// It must not be used at all.
    Refused(StartError),
}

impl From<wasmtime::Error> for Unusable {
    fn from(error: wasmtime::Error) -> Self {
        Self::Here(error)
    }
}

/// An instance and what the host holds of it.
pub(crate) struct Cell<'a> {
    pub(crate) store: Store<Inside>,
    pub(crate) instance: Instance,
    pub(crate) memory: Memory,
    stack_pointer: Global,
    buffer: TypedFunc<u32, u32>,
    guest: &'a Guest,
    /// Whether the call is profiled: then slices are those of the profile, and an epoch ends with each of them.
    pub(crate) is_profiled: bool,
}

/// What is different in an instance's memory from a fresh one's.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Where each run of changed lines begins, and how long it is, in bytes.
    pub(crate) runs: Vec<(u32, u32)>,
    /// The bytes of all runs.
    pub(crate) bytes: Vec<u8>,
    pub(crate) memory_bytes: usize,
    pub(crate) stack_pointer: i32,
}

impl Changes {
    /// How many bytes of memory the instance had.
    pub(crate) fn memory(&self) -> usize {
        self.memory_bytes
    }

    /// How many bytes keeping this takes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.runs)
    }
}

impl<'a> Cell<'a> {
    fn new(mut store: Store<Inside>, instance: Instance, guest: &'a Guest) -> wasmtime::Result<Self> {
        let exports = &guest.exports;
        let (Some(Extern::Memory(memory)), Some(Extern::Global(stack_pointer)), Some(Extern::Func(buffer))) = (
            instance.get_module_export(&mut store, &exports.memory),
            instance.get_module_export(&mut store, &exports.stack_pointer),
            instance.get_module_export(&mut store, &exports.buffer),
        ) else {
            wasmtime::bail!("the guest's exports have other types than the protocol says");
        };
        let buffer = buffer.typed(&store)?;
        if is_pooled(guest.kind) {
            store.data_mut().memory_begin = Some(memory.data_ptr(&store).addr());
        }
        store.fuel_async_yield_interval(Some(slice(guest.kind)))?;
        Ok(Self { store, instance, memory, stack_pointer, buffer, guest, is_profiled: false })
    }

    /// Takes the stack that the guest runs on, which a machine may have no room for: that is known before the call begins.
    fn take_stack(&mut self) -> wasmtime::Result<()> {
        // Wasmtime takes it for the first function that is called, here the smallest there is, and keeps it for the others.
        self.store.set_fuel(1_000)?;
        let until = self.store.data().until.clone();
        let version = self.instance.get_typed_func::<(), u32>(&mut self.store, "abi_version")?;
        let taken = drive(version.call_async(&mut self.store, ()), &until, &mut Pauses::never_watched());
        taken.map_err(|error| error.context("there is no room for its stack"))?;
        self.store.set_fuel(0)
    }

    pub(crate) fn inside(&mut self) -> &mut Inside {
        self.store.data_mut()
    }

    /// What is left outside of the instance, which ends here.
    pub(crate) fn into_inside(self) -> Inside {
        self.store.into_data()
    }

    /// Fills the fuel up, without stopping the virtual clock.
    pub(crate) fn refuel(&mut self, fuel: u64) -> Result<(), CallError> {
        let left = self.fuel_left();
        let inside = self.store.data_mut();
        inside.burn_clock(left);
        inside.clock_fuel = fuel;
        self.store.set_fuel(fuel).map_err(|error| CallError::NoInstance(error.to_string()))
    }

    /// Sets the fuel to what was left of a limit at another time, and the virtual clock to what it said then.
    pub(crate) fn set_back(&mut self, limit: u64, left: u64, clock_nanoseconds: u64) -> wasmtime::Result<()> {
        let inside = self.store.data_mut();
        inside.clock_fuel = limit;
        inside.clock_nanoseconds = clock_nanoseconds;
        self.store.set_fuel(left)
    }

    /// Takes away fuel that was burned for this instance elsewhere.
    pub(crate) fn spend(&mut self, fuel: u64) -> Result<(), Stop> {
        let left = self.fuel_left();
        let limit = self.store.data().clock_fuel;
        if let Some(sampler) = &mut self.store.data_mut().sampler {
            sampler.spent(left, fuel.min(left));
        }
        let spent = fuel < left && self.store.set_fuel(left - fuel).is_ok();
        if fuel == 0 || spent {
            return Ok(());
        }
        // All of it is gone, and the report says so. The engine is always configured to count fuel.
        let _ = self.store.set_fuel(0);
        Err(Stop::OutOfFuel { limit })
    }

    pub(crate) fn fuel_left(&self) -> u64 {
        // The engine is always configured to count fuel.
        self.store.get_fuel().unwrap_or(0)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// What is different from a fresh instance. The shadow stack is left out: it is empty between calls.
    pub(crate) fn changes(&mut self) -> wasmtime::Result<Changes> {
        let stack_pointer = self.stack_pointer.get(&mut self.store).i32().unwrap_or(0);
        let stack = usize::try_from(stack_pointer)?;
        let memory = self.memory.data(&self.store);
        let mut changes = Changes { runs: Vec::new(), bytes: Vec::new(), memory_bytes: memory.len(), stack_pointer };
        let (pages, length) = touched::pages(memory);
        for page in pages.into_iter().filter(|page| page + length > stack) {
            for at in (page..page + length).step_by(LINE).filter(|at| *at >= stack) {
                let line = &memory[at..at + LINE];
                if line == fresh_line(at) {
                    continue;
                }
                let start = u32::try_from(at)?;
                match changes.runs.last_mut() {
                    Some((run, len)) if *run + *len == start => *len += LINE_U32,
                    _ => changes.runs.push((start, LINE_U32)),
                }
                changes.bytes.extend_from_slice(line);
            }
        }
        changes.runs.shrink_to_fit();
        changes.bytes.shrink_to_fit();
        Ok(changes)
    }

    /// Gives the pages back that this instance has of its slot's earlier ones, and has not changed: they would be put in order
    /// again after each call. It is for an instance that has ended.
    pub(crate) fn tidy(&mut self) {
        let memory = self.memory.data_mut(&mut self.store);
        touched::give_back(memory, |from, page| {
            page.chunks_exact(LINE).zip((from..).step_by(LINE)).all(|(line, at)| line == fresh_line(at))
        });
    }

    /// Makes this fresh instance the one that the changes were taken from.
    pub(crate) fn restore(&mut self, changes: &Changes) -> wasmtime::Result<()> {
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

    /// Asks the guest, and gives its answer or why it ended.
    pub(crate) fn ask<T: serde::Serialize>(&mut self, verb: Verb, request: &T) -> Result<Reply, Stop> {
        let frame = encode(request).map_err(|error| Stop::Crashed { detail: error.to_string() })?;
        self.ask_in_bytes(verb, &frame)
    }

    fn ask_in_bytes(&mut self, verb: Verb, frame: &[u8]) -> Result<Reply, Stop> {
        let until = self.store.data().until.clone();
        // What takes less than a slice never looks by itself.
        if until.is_over() {
            return Err(Stop::Cancelled);
        }
        let asked = self.exchange(verb, frame, &until);
        let inside = self.store.data_mut();
        if let Some(stop) = inside.stop.take() {
            return Err(stop);
        }
        if inside.memory_refused {
            return Err(Stop::OutOfMemory { limit: inside.memory_limit });
        }
        match asked {
            Ok(reply) => reply.map_err(|error| Stop::Crashed { detail: error.to_string() }),
            Err(error) => Err(self.why(&error)),
        }
    }

    fn exchange(&mut self, verb: Verb, frame: &[u8], until: &Until) -> wasmtime::Result<Result<Reply, FrameError>> {
        let len = u32::try_from(frame.len())?;
        let mut pauses = if self.is_profiled {
            Pauses::Profiled(&self.guest.engine)
        } else {
            Pauses::new(&self.guest.engine, self.guest.interruption)
        };
        let at = drive(self.buffer.call_async(&mut self.store, len), until, &mut pauses)?;
        self.memory.write(&mut self.store, at as usize, frame)?;
        let exports = &self.guest.exports;
        let export = match verb {
            Verb::Load => &exports.load,
            Verb::Describe => &exports.describe,
            Verb::Call => &exports.call,
            Verb::Resume => &exports.resume,
        };
        let Some(Extern::Func(function)) = self.instance.get_module_export(&mut self.store, export) else {
            wasmtime::bail!("the guest exports no function for {verb:?}");
        };
        let function = function.typed::<u32, u64>(&self.store)?;
        let packed = drive(function.call_async(&mut self.store, len), until, &mut pauses)?;
        let (at, len) = ((packed >> 32) as usize, (packed & 0xffff_ffff) as usize);
        let memory = self.memory.data(&self.store);
        let Some(bytes) = at.checked_add(len).and_then(|end| memory.get(at..end)) else {
            wasmtime::bail!("the guest's reply lies outside of its memory");
        };
        Ok(decode(bytes))
    }

    /// What ended the guest.
    fn why(&self, error: &wasmtime::Error) -> Stop {
        let inside = self.store.data();
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Stop::OutOfFuel { limit: inside.clock_fuel },
            Some(Trap::StackOverflow) => Stop::StackOverflow,
            // The caller, who knows the deadline and the token, tells the two apart.
            Some(Trap::Interrupt) => Stop::Cancelled,
            _ => {
                let detail = inside.panic_message().unwrap_or_else(|| match error.downcast_ref::<Ended>() {
                    Some(ended) => ended.to_string(),
                    None => format!("{error:#}"),
                });
                tracing::warn!(detail, "the engine inside a cell failed");
                Stop::Crashed { detail }
            }
        }
    }
}

/// What happens where a call pauses, after a slice of fuel.
enum Pauses<'a> {
    /// It is profiled: an epoch of the engine ends. That is when the guest lends its store, and whoever it is lent to looks whether
    /// the call has to end ([`profile`](crate::profile)).
    Profiled(&'a Engine),
    /// It looks whether it has to end, and is watched from then on, if there is a thread that can.
    Unwatched(Option<&'a Engine>),
    /// It looks when an epoch ends, and after so many slices.
    Watched { looks_in: u32, _watch: Watch },
}

impl<'a> Pauses<'a> {
    fn new(engine: &'a Engine, interruption: Interruption) -> Self {
        Self::Unwatched((interruption == Interruption::Epochs).then_some(engine))
    }

    const fn never_watched() -> Self {
        Self::Unwatched(None)
    }

    /// What has to be done at a pause before the call goes on.
    fn pause(&mut self, until: &Until) -> Result<(), Trap> {
        match self {
            Self::Profiled(engine) => {
                engine.increment_epoch();
                return Ok(());
            }
            Self::Watched { looks_in: looks_in @ 1.., .. } => {
                *looks_in -= 1;
                return Ok(());
            }
            Self::Watched { looks_in, .. } => *looks_in = LOOKS_ANYWAY,
            Self::Unwatched(engine) => {
                if let Some(watch) = engine.and_then(ticker::watch) {
                    *self = Self::Watched { looks_in: LOOKS_ANYWAY, _watch: watch };
                }
            }
        }
        if until.is_over() { Err(Trap::Interrupt) } else { Ok(()) }
    }
}

/// Runs a call into the guest until it ends or has to.
///
/// The guest pauses for one reason alone, the end of a slice of fuel, and is ready to go on at once: no function of the host makes it
/// wait. A call that is dropped while it pauses ends there, and its stack is unwound.
fn drive<T>(
    call: impl Future<Output = wasmtime::Result<T>>,
    until: &Until,
    pauses: &mut Pauses<'_>,
) -> wasmtime::Result<T> {
    let mut call = pin!(call);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = call.as_mut().poll(&mut context) {
            return result;
        }
        pauses.pause(until)?;
    }
}
