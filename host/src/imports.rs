//! The host functions that the guest imports. A test holds the complete list of imports
//! (`tests/it/guest.rs`).
//!
//! Toolcell defines `log`, `partial` and `seed`. Rust's standard library and QuickJS import ten
//! functions of WASI: the clock is implemented here, virtually; the others, most of which a healthy
//! guest does not call, are in [`wasi`].
//!
//! Invariant: no time, randomness or names of the real world enter here. The one exception is a
//! wall clock that the caller passes in, whose readings are all recorded. Every copy of guest bytes
//! is bounded before it is made.

use std::sync::Arc;
use std::time::Duration;

use toolcell_json::Json;
use toolcell_protocol::{IMPORT_MODULE, Level};
use wasmtime::{Caller, Engine, Extern, Linker, ResourceLimiter, Result};

use crate::budget::Budget;
use crate::deadline::CallDeadline;
use crate::image;
use crate::outcome::{ClockReading, LogLine, Stop};
use crate::profile::Sampler;
use crate::sandbox::CallContext;
use crate::wasi::{self, FAULT, SUCCESS, WASI};

/// Units of fuel that advance the virtual clock by one nanosecond: about the speed of a native
/// image.
const FUEL_PER_NANOSECOND: u64 = 10;

/// WASI's identifier of the clock that counts from 1970.
const REALTIME: i32 = 0;

/// A callback for partial results while a tool runs.
pub type PartialResultSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A source of the real time, as time since 1970.
pub type WallClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The state of an instance outside of its linear memory.
pub(crate) struct HostState {
    /// The deadline of the call.
    pub(crate) deadline: CallDeadline,
    /// The maximum size of linear memory in bytes.
    pub(crate) memory_limit: usize,
    /// Whether growing the memory was requested and refused.
    pub(crate) memory_refused: bool,
    /// The address of the memory, if it does not move.
    pub(crate) memory_base: Option<usize>,
    /// The console lines so far.
    pub(crate) logs: Vec<LogLine>,
    pub(crate) console_bytes: usize,
    pub(crate) console_limit: usize,
    /// The size of the console lines as JSON, in bytes.
    pub(crate) console_json_bytes: usize,
    pub(crate) partial_sink: Option<PartialResultSink>,
    pub(crate) max_partial_bytes: usize,
    /// The virtual clock at the last refuel, plus the waits since then, in nanoseconds since 1970.
    pub(crate) clock_nanoseconds: u64,
    /// Fuel at the last refuel. The fuel burned since then counts as time.
    pub(crate) clock_fuel: u64,
    /// Time spent waiting for host calls.
    pub(crate) waited: Duration,
    /// The wall clock that replaces the virtual one, and its readings.
    pub(crate) wall_clock: Option<WallClock>,
    pub(crate) readings: Vec<ClockReading>,
    pub(crate) seed: u64,
    /// Whether the guest read the clock or the seed. If so, its state belongs to one run and is not
    /// cached.
    pub(crate) is_run_specific: bool,
    /// The reason why a host function stopped the guest.
    pub(crate) stop: Option<Stop>,
    /// The sampler of a profiled call.
    pub(crate) sampler: Option<Box<Sampler>>,
    /// The panic message of the guest's own code.
    pub(crate) panic: Vec<u8>,
}

impl HostState {
    pub(crate) fn new(memory_limit: usize, until: CallDeadline) -> Self {
        Self {
            deadline: until,
            memory_limit,
            memory_refused: false,
            memory_base: None,
            logs: Vec::new(),
            console_bytes: 0,
            console_limit: 0,
            console_json_bytes: 0,
            partial_sink: None,
            max_partial_bytes: 0,
            clock_nanoseconds: 0,
            clock_fuel: 0,
            waited: Duration::ZERO,
            wall_clock: None,
            readings: Vec::new(),
            seed: 0,
            is_run_specific: false,
            stop: None,
            sampler: None,
            panic: Vec::new(),
        }
    }

    /// Creates the state for a call within a budget.
    pub(crate) fn for_run(budget: &Budget, run: &CallContext<'_>, until: &CallDeadline) -> Self {
        let mut inside = Self::new(budget.memory, until.clone());
        inside.console_limit = budget.console;
        inside.partial_sink = run.partial_sink.cloned();
        inside.max_partial_bytes = budget.output;
        inside.clock_nanoseconds = u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX);
        inside.wall_clock = run.wall_clock.cloned();
        inside.seed = run.seed;
        inside
    }

    /// Advances the virtual clock by the fuel burned since the last refuel; `left` is what remains.
    pub(crate) fn advance_by_fuel(&mut self, left: u64) {
        let ran = self.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND;
        self.clock_nanoseconds = self.clock_nanoseconds.saturating_add(ran);
    }

    /// Returns the virtual time when `left` units of fuel remain.
    pub(crate) fn virtual_time(&self, left: u64) -> u64 {
        self.clock_nanoseconds.saturating_add(self.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND)
    }

    /// Advances the virtual clock by the time of a wait for the host.
    pub(crate) fn advance_by_wait(&mut self, waited: Duration) {
        self.waited += waited;
        let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.clock_nanoseconds = self.clock_nanoseconds.saturating_add(waited);
    }

    /// Reads the wall clock if the tool sees it. The time never goes back and has a resolution of 1
    /// ms, so the size of the recorded readings is bounded by the duration of the call, not by the
    /// number of reads.
    fn read_wall_clock(&mut self) -> Option<Duration> {
        let now = (self.wall_clock.as_ref()?)();
        let now = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        match self.readings.last_mut() {
            Some(last) if last.at >= now => {
                last.times += 1;
                Some(last.at)
            }
            _ => {
                self.readings.push(ClockReading { at: now, times: 1 });
                Some(now)
            }
        }
    }

    /// Returns the panic message of the guest's own code, if there is one.
    pub(crate) fn panic_message(&self) -> Option<String> {
        (!self.panic.is_empty()).then(|| String::from_utf8_lossy(&self.panic).trim().to_owned())
    }
}

impl ResourceLimiter for HostState {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let fits = desired <= self.memory_limit;
        self.memory_refused |= !fits;
        if fits && let Some(begin) = self.memory_base {
            image::prefer_huge_pages(begin, current, desired);
        }
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.memory_refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> Result<bool> {
        // The table is created once, with all functions of the guest.
        Ok(current == 0)
    }
}

/// An error that ends the guest from inside a host function. [`HostState::stop`] holds the reason.
#[derive(Debug)]
pub(crate) struct HostTrap;

impl std::fmt::Display for HostTrap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ended by the host")
    }
}

impl std::error::Error for HostTrap {}

/// Returns a linker with all imports of the guest.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<HostState>> {
    let mut linker = Linker::new(engine);
    wasi::add_to(&mut linker)?;
    linker.func_wrap(WASI, "clock_time_get", clock_time_get)?;
    linker.func_wrap(IMPORT_MODULE, "log", log)?;
    linker.func_wrap(IMPORT_MODULE, "partial", partial)?;
    linker.func_wrap(IMPORT_MODULE, "seed", seed)?;
    Ok(linker)
}

fn clock_time_get(mut caller: Caller<'_, HostState>, clock: i32, _precision: i64, at: i32) -> Result<i32> {
    let left = caller.get_fuel()?;
    let inside = caller.data_mut();
    inside.is_run_specific = true;
    let now = if let Some(now) = inside.read_wall_clock() {
        u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
    } else {
        let ran = inside.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND;
        let since = if clock == REALTIME { inside.clock_nanoseconds } else { 0 };
        since.saturating_add(ran)
    };
    let now = now.to_le_bytes();
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return Ok(FAULT) };
    let written = memory.write(&mut caller, at.cast_unsigned() as usize, &now);
    Ok(if written.is_ok() { SUCCESS } else { FAULT })
}

fn seed(mut caller: Caller<'_, HostState>) -> u64 {
    let inside = caller.data_mut();
    inside.is_run_specific = true;
    inside.seed
}

fn log(mut caller: Caller<'_, HostState>, level: u32, at: u32, len: u32) -> Result<()> {
    let inside = caller.data();
    let room = inside.console_limit - inside.console_bytes;
    let (text, whole) = read_text(&mut caller, at, len, room);
    let inside = caller.data_mut();
    inside.console_bytes += text.len().min(room);
    let line = LogLine { level: Level::from_number(level).unwrap_or(Level::Log), text };
    // A report stores each line with its level and its escapes, so empty lines count as well.
    inside.console_json_bytes += line.json_bytes();
    inside.logs.push(line);
    let fits = inside.console_json_bytes <= inside.console_limit.saturating_mul(LogLine::MAX_JSON_EXPANSION);
    if whole && fits && inside.console_bytes < inside.console_limit {
        inside.console_bytes += 1;
        return Ok(());
    }
    inside.stop = Some(Stop::ConsoleTooLarge { limit: inside.console_limit });
    Err(HostTrap.into())
}

fn partial(mut caller: Caller<'_, HostState>, at: u32, len: u32) -> Result<()> {
    let limit = caller.data().max_partial_bytes;
    let (json, whole) = read_text(&mut caller, at, len, limit);
    let inside = caller.data_mut();
    if !whole {
        inside.stop = Some(Stop::OutputTooLarge { limit });
        return Err(HostTrap.into());
    }
    let Some(sink) = &inside.partial_sink else { return Ok(()) };
    match Json::parse(json) {
        Ok(json) => {
            sink(json.as_str());
            Ok(())
        }
        Err(error) => {
            let detail = format!("a partial result of the guest is not valid JSON: {error}");
            inside.stop = Some(Stop::Crashed { detail });
            Err(HostTrap.into())
        }
    }
}

/// Reads at most `limit` bytes of text at `at`. Returns the text, and whether it is complete.
/// Invalid UTF-8 is replaced.
fn read_text(caller: &mut Caller<'_, HostState>, at: u32, len: u32, limit: usize) -> (String, bool) {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return (String::new(), false) };
    let len = len as usize;
    let start = at as usize;
    let bytes = memory.data(&caller).get(start..start + len.min(limit)).unwrap_or_default();
    (String::from_utf8_lossy(bytes).into_owned(), len <= limit)
}
