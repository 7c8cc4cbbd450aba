//! Calls that are asleep: what they are made of, as bytes, and how they wake up in another instance or another process.
//!
//! Invariant: what wakes up has, to the byte, the memory, the fuel and the clock of what fell asleep, and with another guest,
//! engine or script nothing wakes up. The bytes are neither secret nor signed here: whoever keeps them where others can write seals
//! them.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toolcell_protocol::{ABI_VERSION, decode, encode};

use crate::ENGINE_VERSION;
use crate::budget::Budget;
use crate::conversation::{End, MaySleep, Turn, wake};
use crate::error::CallError;
use crate::image::GUEST_DIGEST;
use crate::image::fresh_line;
use crate::instance::{Cell, Changes, LINE};
use crate::json::Params;
use crate::link::Inside;
use crate::outcome::{LogLine, Outcome, Place, Reading, Report, Stop, Usage, Warning};
use crate::sandbox::{FuelOfCall, Prepared, Run, Sandbox, Script, never_began, report};
use crate::until::Until;

/// The most memory that a call can have, in bytes: the ceiling of [`Budget::memory`].
const MEMORY_MOST: usize = 1 << 30;

/// A call that was put to sleep.
#[derive(Clone, PartialEq, Eq)]
pub struct Asleep {
    kept: Kept,
    /// Fuel that it began with: that of its budget, or what loading its script left of it.
    fuel_limit: u64,
    memory: Changes,
}

/// How a call got on that could be put to sleep.
pub enum Called {
    /// It ended.
    Ended(Report),
    /// It is asleep.
    Asleep(Asleep),
}

/// The same of a call of which it is known whether it could be, and why it was.
pub(crate) enum Rested<S> {
    Ended(Report),
    Asleep(Asleep, S),
}

impl From<Rested<Duration>> for Called {
    fn from(rested: Rested<Duration>) -> Self {
        match rested {
            Rested::Ended(report) => Self::Ended(report),
            Rested::Asleep(asleep, _) => Self::Asleep(asleep),
        }
    }
}

/// A call does not wake up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeError {
    /// These are no bytes of a call that is asleep.
    #[error("these are not the bytes of a call that is asleep")]
    Malformed,
    /// It fell asleep in another guest, or under another engine.
    #[error("the call fell asleep under engine {engine} in the guest {guest}, which this is not")]
    Guest {
        /// The digest of the guest.
        guest: String,
        /// The version of the engine.
        engine: String,
    },
    /// It is a call of another script.
    #[error("the call is one of another script")]
    Script,
    /// The sandbox does not take it.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl WakeError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "integrity",
            Self::Guest { .. } => "asleep-guest",
            Self::Script => "asleep-tool",
            Self::Call(error) => error.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Malformed => "run the tool again",
            Self::Guest { .. } => "wake it with the version that put it to sleep, or run the tool again",
            Self::Script => "wake it with its own script, or run the tool again",
            Self::Call(error) => error.hint(),
        }
    }
}

/// What is kept of a call beside its memory.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    guest: String,
    engine: String,
    abi: u32,
    script: [u8; 32],
    budget: Budget,
    load_fuel: u64,
    fuel_left: u64,
    clock_nanoseconds: u64,
    /// How much of its time is left, and how much it took.
    left: Duration,
    took: Duration,
    waited: Duration,
    seed: u64,
    console_bytes: usize,
    logs: Vec<LogLine>,
    readings: Vec<Reading>,
    inexact: Vec<(String, String)>,
}

/// All of it, as it is written. Positions are told by how far they are apart, and lines by what differs in them.
#[derive(Serialize, Deserialize)]
struct Written {
    kept: Kept,
    memory_bytes: usize,
    stack_pointer: i32,
    /// Of each run of lines, how many lines after the last one it begins, and how many there are.
    runs: Vec<(u32, u32)>,
    #[serde(with = "serde_bytes")]
    differences: Vec<u8>,
}

/// The same with what was added in version 0.2: what is written lies behind what was written before.
#[derive(Serialize, Deserialize)]
struct WrittenWithLimit {
    written: Written,
    fuel_limit: u64,
}

impl std::fmt::Debug for Asleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asleep").field("fuel_left", &self.kept.fuel_left).finish_non_exhaustive()
    }
}

impl Asleep {
    /// What it may use, all in all.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.kept.budget
    }

    /// How much of its time is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.kept.left
    }

    /// How long it was awake so far.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.kept.took
    }

    /// Fuel that it burned so far, without that of loading.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.fuel_limit - self.kept.fuel_left
    }

    /// Fuel that it has left.
    #[must_use]
    pub fn fuel_left(&self) -> u64 {
        self.kept.fuel_left
    }

    /// All of it, as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let line = u32::try_from(LINE).unwrap_or(u32::MAX);
        let (mut runs, mut end) = (Vec::with_capacity(self.memory.runs.len()), 0);
        for (start, len) in &self.memory.runs {
            runs.push(((start - end) / line, len / line));
            end = start + len;
        }
        let mut differences = self.memory.bytes.clone();
        differ(&self.memory.runs, &mut differences);
        let (memory_bytes, stack_pointer) = (self.memory.memory_bytes, self.memory.stack_pointer);
        let written = Written { kept: self.kept.clone(), memory_bytes, stack_pointer, runs, differences };
        let written = WrittenWithLimit { written, fuel_limit: self.fuel_limit };
        // Numbers, texts and bytes: there is nothing in it that cannot be written.
        encode(&written).unwrap_or_default()
    }

    /// A call from its bytes.
    ///
    /// # Errors
    /// `integrity` where they are none, `asleep-guest` where it fell asleep elsewhere.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WakeError> {
        let (written, fuel_limit) = if let Ok(WrittenWithLimit { written, fuel_limit }) = decode(bytes) {
            (written, fuel_limit)
        } else {
            let written: Written = decode(bytes).map_err(|_| WakeError::Malformed)?;
            let fuel_limit = written.kept.budget.fuel;
            (written, fuel_limit)
        };
        let kept = written.kept;
        if (&*kept.guest, &*kept.engine, kept.abi) != (GUEST_DIGEST, ENGINE_VERSION, ABI_VERSION) {
            return Err(WakeError::Guest { guest: kept.guest, engine: kept.engine });
        }
        let (runs, mut bytes) = (placed(&written.runs), written.differences);
        let total: usize = written.runs.iter().map(|(_, lines)| *lines as usize * LINE).sum();
        let end = runs.as_ref().and_then(|runs| runs.last()).map_or(0, |(start, len)| *start as usize + *len as usize);
        let fits = total == bytes.len() && end <= written.memory_bytes && written.memory_bytes <= MEMORY_MOST;
        let Some(runs) = runs.filter(|_| fits && kept.fuel_left <= fuel_limit && fuel_limit <= kept.budget.fuel) else {
            return Err(WakeError::Malformed);
        };
        differ(&runs, &mut bytes);
        let (memory_bytes, stack_pointer) = (written.memory_bytes, written.stack_pointer);
        Ok(Self { kept, fuel_limit, memory: Changes { runs, bytes, memory_bytes, stack_pointer } })
    }
}

/// Where runs of lines are that are told by how far they are apart; nothing where no memory has such.
fn placed(runs: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
    let line = u32::try_from(LINE).ok()?;
    let mut end = 0_u32;
    let placed = runs.iter().map(|(gap, lines)| {
        let start = end.checked_add(gap.checked_mul(line)?)?;
        let len = lines.checked_mul(line)?;
        end = start.checked_add(len)?;
        Some((start, len))
    });
    placed.collect()
}

/// Makes lines what differs in them from those of a fresh instance, and back.
fn differ(runs: &[(u32, u32)], bytes: &mut [u8]) {
    let places = runs.iter().flat_map(|(start, len)| (*start as usize..(start + len) as usize).step_by(LINE));
    for (line, at) in bytes.chunks_exact_mut(LINE).zip(places) {
        for (byte, fresh) in line.iter_mut().zip(fresh_line(at)) {
            *byte ^= fresh;
        }
    }
}

/// A call, as far as it got.
pub(crate) struct CallSoFar<'a> {
    pub(crate) script: Script<'a>,
    pub(crate) budget: Budget,
    pub(crate) fuel: FuelOfCall,
    /// What was not exact in its parameters.
    pub(crate) inexact: Vec<(String, String)>,
    /// How long it was awake before.
    pub(crate) before: Duration,
    /// When it began, or woke up.
    pub(crate) started: Instant,
}

impl<'a> CallSoFar<'a> {
    /// A call that began now, in which the script is evaluated.
    pub(crate) fn of(
        prepared: &'a Prepared,
        params: &Params,
        budget: &Budget,
        fuel: FuelOfCall,
        started: Instant,
    ) -> Self {
        let (inexact, before) = (params.inexact().to_vec(), Duration::ZERO);
        Self { script: prepared.script(), budget: *budget, fuel, inexact, before, started }
    }

    /// The report of a call that ended, or what is kept of one that sleeps.
    pub(crate) fn rest<S>(
        self,
        mut cell: Cell<'_>,
        turn: Result<Turn<S>, End>,
        until: &Until,
    ) -> Result<Rested<S>, CallError> {
        let (outcome, of_result) = match turn {
            Ok(Turn::Returned(value, warnings)) => (Outcome::Returned(value), warnings),
            Ok(Turn::Sleeps(sleep)) => {
                let memory = cell.changes().map_err(|error| CallError::NoInstance(error.to_string()))?;
                return Ok(Rested::Asleep(self.fall_asleep(cell, memory, until), sleep));
            }
            Err(end) => (end.outcome(&self.script, until, &self.budget), Vec::new()),
        };
        let FuelOfCall { limit, load_fuel } = self.fuel;
        let fuel = limit - cell.fuel_left();
        let usage = Usage { fuel, load_fuel, memory: cell.memory_bytes(), ..Usage::default() };
        let mut report = report(outcome, cell.into_inside(), usage, self.started);
        report.usage.duration += self.before;
        let of_params = |(path, message)| Warning::new(Place::Params, path, message);
        let warnings = self.inexact.into_iter().map(of_params).chain(of_result).collect();
        report.warnings = Warning::fitting(warnings, self.budget.output.saturating_sub(report.usage.output));
        Ok(Rested::Ended(report))
    }

    fn fall_asleep(self, cell: Cell<'_>, memory: Changes, until: &Until) -> Asleep {
        let fuel_left = cell.fuel_left();
        let inside = cell.into_inside();
        let kept = Kept {
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            abi: ABI_VERSION,
            script: hash(&self.script),
            budget: self.budget,
            load_fuel: self.fuel.load_fuel,
            fuel_left,
            clock_nanoseconds: inside.clock_nanoseconds,
            left: until.deadline().saturating_duration_since(Instant::now()),
            took: self.before + self.started.elapsed(),
            waited: inside.waited,
            seed: inside.seed,
            console_bytes: inside.console_bytes,
            logs: inside.logs,
            readings: inside.readings,
            inexact: self.inexact,
        };
        Asleep { kept, fuel_limit: self.fuel.limit, memory }
    }
}

impl Sandbox {
    /// Calls a prepared tool likewise, and puts it to sleep where what it waits for says so
    /// ([`OperationsOfCall::wait_or_sleep`](crate::OperationsOfCall::wait_or_sleep)).
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`. What the tool does is in the [`Report`].
    pub fn call_or_sleep(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Called, CallError> {
        self.enter::<MaySleep>(prepared, params, budget, run).map(Called::from)
    }

    /// Wakes a call in an instance of its own, with what it has left of its budget, and goes on with it. The operations that it waits
    /// for are those that [`Operations::start`](crate::Operations::start) gives.
    ///
    /// Its virtual clock goes on from where [`Run::started_at`] says that it is now, and does not go back. Of the rest of the run,
    /// the tool, the identifier of the call and the seed are those that it was called with.
    ///
    /// # Errors
    /// `asleep-tool` where it is a call of another script, `busy`, `no-instance`. What the tool does is in the [`Called`].
    pub fn wake(&self, asleep: &Asleep, script: &Script<'_>, run: &Run<'_>) -> Result<Called, WakeError> {
        let started = Instant::now();
        let Kept { budget, .. } = &asleep.kept;
        if asleep.kept.script != hash(script) {
            return Err(WakeError::Script);
        }
        let attempt = match self.attempt_within(budget, asleep.kept.left, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(Called::Ended(asleep.stopped(stop, started))),
        };
        let _slot = &attempt.slot;
        let mut cell = self.guest.instantiate(Inside::of(budget, run, &attempt.until))?;
        asleep.restore(&mut cell, run).map_err(|error| CallError::NoInstance(format!("{error:#}")))?;
        let turn = wake::<MaySleep>(&mut cell, budget, run, &attempt.until);
        let Kept { load_fuel, took: before, .. } = asleep.kept;
        let inexact = asleep.kept.inexact.clone();
        let fuel = FuelOfCall { limit: asleep.fuel_limit, load_fuel };
        let so_far = CallSoFar { script: *script, budget: *budget, fuel, inexact, before, started };
        Ok(so_far.rest(cell, turn, &attempt.until)?.into())
    }
}

impl Asleep {
    /// Makes a fresh instance this call.
    fn restore(&self, cell: &mut Cell<'_>, run: &Run<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let kept = &self.kept;
        cell.restore(&self.memory)?;
        cell.set_back(self.fuel_limit, kept.fuel_left, kept.clock_nanoseconds)?;
        let inside = cell.inside();
        let now = u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX);
        inside.clock_nanoseconds += now.saturating_sub(inside.virtual_time(kept.fuel_left));
        inside.seed = kept.seed;
        inside.waited = kept.waited;
        inside.console_bytes = kept.console_bytes;
        inside.logs.clone_from(&kept.logs);
        inside.console_json = kept.logs.iter().map(LogLine::json_bytes).sum();
        inside.readings.clone_from(&kept.readings);
        inside.observed_run = true;
        Ok(())
    }

    /// The report of a call that was ended before it woke up.
    #[must_use]
    pub fn stopped(&self, stop: Stop, started: Instant) -> Report {
        let kept = &self.kept;
        let mut report = never_began(stop, started);
        report.logs.clone_from(&kept.logs);
        report.readings.clone_from(&kept.readings);
        let (fuel, load_fuel, memory) = (self.fuel(), kept.load_fuel, self.memory.memory());
        let (duration, console) = (report.usage.duration + kept.took, kept.console_bytes);
        report.usage = Usage { fuel, load_fuel, memory, duration, waited: kept.waited, output: 0, console };
        report
    }
}

/// What a script is known by.
fn hash(script: &Script<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-12 script of a call that is asleep");
    hasher.update(&(script.name.len() as u64).to_le_bytes()).update(script.name.as_bytes());
    *hasher.update(script.source.as_bytes()).finalize().as_bytes()
}
