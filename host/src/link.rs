//! What the guest's imports are answered with. The list of them is a test (`tests/it/guest.rs`).
//!
//! Ours are `log`, `partial` and `seed`. Of WASI, Rust's standard library and QuickJS want ten functions: the clock
//! is answered here, virtually; the others, most of which a healthy guest does not call, beside it ([`wasi`]).
//!
//! Invariant: nothing of the real world comes in here, neither time nor chance nor names, but for the readings of a clock that
//! whoever runs the tool hands in, each of which is kept; and every byte that a function copies is bounded before it is copied.

use std::sync::Arc;
use std::time::Duration;

use toolcell_protocol::{IMPORT_MODULE, Level};
use wasmtime::{Caller, Engine, Extern, Linker, ResourceLimiter, Result};

use crate::budget::Budget;
use crate::image;
use crate::json::Json;
use crate::outcome::{LogLine, Reading, Stop};
use crate::profile::Sampler;
use crate::sandbox::Run;
use crate::until::Until;
use crate::wasi::{self, FAULT, SUCCESS, WASI};

/// Fuel that the virtual clock counts as a nanosecond: about what a native image burns.
const FUEL_PER_NANOSECOND: u64 = 10;

/// WASI's number for the clock that counts from 1970.
const REALTIME: i32 = 0;

/// Gets partial results while a tool runs.
pub type PartialSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Says what time it really is, since 1970.
pub type RealClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What one instance has outside of its memory.
pub(crate) struct Inside {
    /// When the call has to end.
    pub(crate) until: Until,
    /// The most bytes of linear memory.
    pub(crate) memory_limit: usize,
    /// Whether more was asked for, and refused.
    pub(crate) memory_refused: bool,
    /// The address at which the memory begins, where it does not move.
    pub(crate) memory_begin: Option<usize>,
    /// Console lines so far.
    pub(crate) logs: Vec<LogLine>,
    pub(crate) console_bytes: usize,
    pub(crate) console_limit: usize,
    /// How long the lines are as JSON.
    pub(crate) console_json: usize,
    pub(crate) partial: Option<PartialSink>,
    pub(crate) partial_limit: usize,
    /// Start of the virtual clock in nanoseconds since 1970, and what was added to it since.
    pub(crate) clock_nanoseconds: u64,
    /// Fuel at the last time that fuel was filled up; what is missing since is time.
    pub(crate) clock_fuel: u64,
    /// How long the host was waited for.
    pub(crate) waited: Duration,
    /// The clock that the tool sees in place of the virtual one, and what it said.
    pub(crate) real_clock: Option<RealClock>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) seed: u64,
    /// Whether the guest read the clock or the seed: then its state belongs to one run alone.
    pub(crate) observed_run: bool,
    /// Why a function of the host ended the guest.
    pub(crate) stop: Option<Stop>,
    /// What samples are noted in, where the call is profiled.
    pub(crate) sampler: Option<Box<Sampler>>,
    /// What the guest's own code said when it failed.
    pub(crate) panic: Vec<u8>,
}

impl Inside {
    pub(crate) fn new(memory_limit: usize, until: Until) -> Self {
        Self {
            until,
            memory_limit,
            memory_refused: false,
            memory_begin: None,
            logs: Vec::new(),
            console_bytes: 0,
            console_limit: 0,
            console_json: 0,
            partial: None,
            partial_limit: 0,
            clock_nanoseconds: 0,
            clock_fuel: 0,
            waited: Duration::ZERO,
            real_clock: None,
            readings: Vec::new(),
            seed: 0,
            observed_run: false,
            stop: None,
            sampler: None,
            panic: Vec::new(),
        }
    }

    /// What a run has within its budget.
    pub(crate) fn of(budget: &Budget, run: &Run<'_>, until: &Until) -> Self {
        let mut inside = Self::new(budget.memory, until.clone());
        inside.console_limit = budget.console;
        inside.partial = run.partial.cloned();
        inside.partial_limit = budget.output;
        inside.clock_nanoseconds = u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX);
        inside.real_clock = run.clock.cloned();
        inside.seed = run.seed;
        inside
    }

    /// Adds the time of the fuel burned since it was last filled up, of which `left` is left.
    pub(crate) fn burn_clock(&mut self, left: u64) {
        let ran = self.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND;
        self.clock_nanoseconds = self.clock_nanoseconds.saturating_add(ran);
    }

    /// What the virtual clock says where so much fuel is left.
    pub(crate) fn virtual_time(&self, left: u64) -> u64 {
        self.clock_nanoseconds.saturating_add(self.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND)
    }

    /// Adds the time of a wait for the host.
    pub(crate) fn wait_clock(&mut self, waited: Duration) {
        self.waited += waited;
        let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.clock_nanoseconds = self.clock_nanoseconds.saturating_add(waited);
    }

    /// What the real clock says, if the tool sees it. It does not go back, and it moves on by milliseconds, so that what is
    /// kept of it is bounded by the time that the call takes, and not by how often the tool looks.
    fn read_real_clock(&mut self) -> Option<Duration> {
        let now = (self.real_clock.as_ref()?)();
        let now = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        match self.readings.last_mut() {
            Some(last) if last.at >= now => {
                last.times += 1;
                Some(last.at)
            }
            _ => {
                self.readings.push(Reading { at: now, times: 1 });
                Some(now)
            }
        }
    }

    /// What the guest's own code said when it failed.
    pub(crate) fn panic_message(&self) -> Option<String> {
        (!self.panic.is_empty()).then(|| String::from_utf8_lossy(&self.panic).trim().to_owned())
    }
}

impl ResourceLimiter for Inside {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let fits = desired <= self.memory_limit;
        self.memory_refused |= !fits;
        if fits && let Some(begin) = self.memory_begin {
            image::prefer_huge_pages(begin, current, desired);
        }
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.memory_refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> Result<bool> {
        // The table is made once, with all of the guest's functions in it.
        Ok(current == 0)
    }
}

/// Ends the guest from inside of a function of the host; why, is in [`Inside::stop`].
#[derive(Debug)]
pub(crate) struct Ended;

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ended by the host")
    }
}

impl std::error::Error for Ended {}

/// The answers to all imports of the guest.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<Inside>> {
    let mut linker = Linker::new(engine);
    wasi::add_to(&mut linker)?;
    linker.func_wrap(WASI, "clock_time_get", clock_time_get)?;
    linker.func_wrap(IMPORT_MODULE, "log", log)?;
    linker.func_wrap(IMPORT_MODULE, "partial", partial)?;
    linker.func_wrap(IMPORT_MODULE, "seed", seed)?;
    Ok(linker)
}

fn clock_time_get(mut caller: Caller<'_, Inside>, clock: i32, _precision: i64, at: i32) -> Result<i32> {
    let left = caller.get_fuel()?;
    let inside = caller.data_mut();
    inside.observed_run = true;
    let now = if let Some(now) = inside.read_real_clock() {
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

fn seed(mut caller: Caller<'_, Inside>) -> u64 {
    let inside = caller.data_mut();
    inside.observed_run = true;
    inside.seed
}

fn log(mut caller: Caller<'_, Inside>, level: u32, at: u32, len: u32) -> Result<()> {
    let inside = caller.data();
    let room = inside.console_limit - inside.console_bytes;
    let (text, whole) = read(&mut caller, at, len, room);
    let inside = caller.data_mut();
    inside.console_bytes += text.len().min(room);
    let line = LogLine { level: Level::from_number(level).unwrap_or(Level::Log), text };
    // An answer holds each line with its level and its escapes: a flood of empty lines is not free.
    inside.console_json += line.json_bytes();
    inside.logs.push(line);
    let fits = inside.console_json <= inside.console_limit.saturating_mul(LogLine::JSON_TIMES);
    if whole && fits && inside.console_bytes < inside.console_limit {
        inside.console_bytes += 1;
        return Ok(());
    }
    inside.stop = Some(Stop::ConsoleTooLarge { limit: inside.console_limit });
    Err(Ended.into())
}

fn partial(mut caller: Caller<'_, Inside>, at: u32, len: u32) -> Result<()> {
    let limit = caller.data().partial_limit;
    let (json, whole) = read(&mut caller, at, len, limit);
    let inside = caller.data_mut();
    if !whole {
        inside.stop = Some(Stop::OutputTooLarge { limit });
        return Err(Ended.into());
    }
    let Some(sink) = &inside.partial else { return Ok(()) };
    match Json::parse(json) {
        Ok(json) => {
            sink(json.as_str());
            Ok(())
        }
        Err(error) => {
            inside.stop = Some(Stop::Crashed { detail: format!("a partial result of the guest is no JSON: {error}") });
            Err(Ended.into())
        }
    }
}

/// At most `limit` bytes of text at `at`, and whether that is all of it. Bytes that are not UTF-8 are replaced.
fn read(caller: &mut Caller<'_, Inside>, at: u32, len: u32, limit: usize) -> (String, bool) {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return (String::new(), false) };
    let len = len as usize;
    let start = at as usize;
    let bytes = memory.data(&caller).get(start..start + len.min(limit)).unwrap_or_default();
    (String::from_utf8_lossy(bytes).into_owned(), len <= limit)
}
