//! The state of an instance outside of its linear memory: its meters, its clock, its console.
//!
//! Invariant: a limit that this state enforces is set before the instance runs. The virtual clock
//! advances with fuel and with waiting only.

use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, Result};

use crate::context::{CallContext, PartialResultSink, WallClock};
use crate::engine;
use crate::limits::{Budget, CallDeadline};
use crate::outcome::{ClockReading, LogLine, Outcome, Report, Stop, Usage};
use crate::profile::Sampler;

/// Units of fuel that advance the virtual clock by one nanosecond: about the speed of a native
/// image.
const FUEL_PER_NANOSECOND: u64 = 10;

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
        let ran = self.nanoseconds_since_refuel(left);
        self.clock_nanoseconds = self.clock_nanoseconds.saturating_add(ran);
    }

    /// Returns the nanoseconds that the fuel burned since the last refuel counts as; `left` is what
    /// remains.
    pub(crate) fn nanoseconds_since_refuel(&self, left: u64) -> u64 {
        self.clock_fuel.saturating_sub(left) / FUEL_PER_NANOSECOND
    }

    /// Returns the virtual time when `left` units of fuel remain.
    pub(crate) fn virtual_time(&self, left: u64) -> u64 {
        self.clock_nanoseconds.saturating_add(self.nanoseconds_since_refuel(left))
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
    pub(crate) fn read_wall_clock(&mut self) -> Option<Duration> {
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

    /// Returns the report of the call that ended with this state.
    pub(crate) fn into_report(self, outcome: Outcome, usage: Usage, started: Instant) -> Report {
        let output = match &outcome {
            Outcome::Returned(Some(value)) => value.as_str().len(),
            _ => 0,
        };
        let duration = started.elapsed();
        let usage = Usage { output, console: self.console_bytes, duration, waited: self.waited, ..usage };
        Report { outcome, logs: self.logs, warnings: Vec::new(), readings: self.readings, usage }
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
            engine::prefer_huge_pages(begin, current, desired);
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
