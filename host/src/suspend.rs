//! Suspended calls: their serialised form, and how they resume in another instance or another
//! process.
//!
//! Invariant: a resumed call has exactly the memory, the fuel and the clock that it was suspended
//! with. It resumes only with the same guest, engine and script. The bytes are neither encrypted
//! nor signed here: a caller that stores them where others can write must seal them.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toolcell_json::Params;
use toolcell_protocol::{ABI_VERSION, decode, encode};

use crate::ENGINE_VERSION;
use crate::call_loop::{CallStep, EarlyExit};
use crate::context::{CallContext, ScriptSource};
use crate::engine::{BLOCK_BYTES, GUEST_DIGEST, fresh_block};
use crate::error::CallError;
use crate::instance::{GuestInstance, MemoryDelta};
use crate::limits::{Budget, CallDeadline};
use crate::outcome::{ClockReading, LogLine, Outcome, Report, Stop, Usage, ValueSide, Warning};

/// The maximum memory of a call in bytes: the ceiling of [`Budget::memory`].
const MAX_MEMORY_BYTES: usize = 1 << 30;

/// A call that was suspended while it waited for host calls.
#[derive(Clone, PartialEq, Eq)]
pub struct SuspendedCall {
    record: SuspendedRecord,
    /// Fuel that the call started with: its budget's, or what loading its script left of that.
    fuel_limit: u64,
    memory: MemoryDelta,
}

/// The status of a suspendable call.
pub enum CallStatus {
    /// The call finished.
    Finished(Report),
    /// The call is suspended.
    Suspended(SuspendedCall),
}

/// A [`CallStatus`] with a type parameter that says whether the call could be suspended (`S` is
/// uninhabited if not), and the value that the wait returned for it.
pub(crate) enum SuspendableStatus<S> {
    Finished(Report),
    Suspended(SuspendedCall, S),
}

impl From<SuspendableStatus<Duration>> for CallStatus {
    fn from(rested: SuspendableStatus<Duration>) -> Self {
        match rested {
            SuspendableStatus::Finished(report) => Self::Finished(report),
            SuspendableStatus::Suspended(suspended, _) => Self::Suspended(suspended),
        }
    }
}

/// An error that prevents a suspended call from resuming.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ResumeError {
    /// The bytes are not a suspended call.
    #[error("the bytes are not a suspended call")]
    #[code(Integrity)]
    #[hint("run the tool again")]
    Malformed,
    /// The call was suspended with another guest or another engine.
    #[error("the call was suspended by engine {engine} with guest {guest}, this engine or guest differs")]
    #[code(AsleepGuest)]
    #[hint("resume it with the version that suspended it, or run the tool again")]
    GuestMismatch {
        /// The digest of the guest that the call was suspended with.
        guest: String,
        /// The version of the engine that the call was suspended with.
        engine: String,
    },
    /// The call belongs to another script.
    #[error("the call belongs to another script")]
    #[code(AsleepTool)]
    #[hint("resume it with its own script, or run the tool again")]
    ScriptMismatch,
    /// The sandbox cannot start the call.
    #[error(transparent)]
    #[coded(transparent)]
    Call(#[from] CallError),
}

/// The state of a suspended call besides its memory.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SuspendedRecord {
    guest: String,
    engine: String,
    abi: u32,
    script: [u8; 32],
    budget: Budget,
    load_fuel: u64,
    fuel_left: u64,
    clock_nanoseconds: u64,
    /// Time until the deadline, and time that the call has run so far.
    time_left: Duration,
    elapsed: Duration,
    waited: Duration,
    seed: u64,
    console_bytes: usize,
    logs: Vec<LogLine>,
    readings: Vec<ClockReading>,
    inexact_params: Vec<(String, String)>,
}

/// The serialised form. Positions are delta-encoded, and blocks are combined by XOR with those of
/// a fresh instance.
#[derive(Serialize, Deserialize)]
struct SuspendedWire {
    record: SuspendedRecord,
    memory_bytes: usize,
    stack_pointer: i32,
    /// For each run of blocks: the gap after the previous run, and the length, both in blocks.
    runs: Vec<(u32, u32)>,
    #[serde(with = "serde_bytes")]
    differences: Vec<u8>,
}

/// The serialised form since version 0.2: the added field follows the bytes of the older form.
#[derive(Serialize, Deserialize)]
struct SuspendedWireWithLimit {
    base: SuspendedWire,
    fuel_limit: u64,
}

impl std::fmt::Debug for SuspendedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuspendedCall").field("fuel_left", &self.record.fuel_left).finish_non_exhaustive()
    }
}

impl SuspendedCall {
    /// Returns the budget of the whole call.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.record.budget
    }

    /// Returns the time that is left until the deadline.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.record.time_left
    }

    /// Returns the time that the call has run so far, without the time that it was suspended.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.record.elapsed
    }

    /// Returns the fuel that the call burned so far, without that of loading its script.
    #[must_use]
    pub fn fuel_used(&self) -> u64 {
        self.fuel_limit - self.record.fuel_left
    }

    /// Returns the fuel that is left.
    #[must_use]
    pub fn fuel_left(&self) -> u64 {
        self.record.fuel_left
    }

    /// Serialises the call.
    ///
    /// # Panics
    /// Never: numbers, texts and bytes always have an encoding. A fallback would lose the call.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a suspended call is never replaced with something else")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let line = u32::try_from(BLOCK_BYTES).unwrap_or(u32::MAX);
        let (mut runs, mut end) = (Vec::with_capacity(self.memory.runs.len()), 0);
        for (start, len) in &self.memory.runs {
            runs.push(((start - end) / line, len / line));
            end = start + len;
        }
        let mut differences = self.memory.bytes.clone();
        xor_with_fresh(&self.memory.runs, &mut differences);
        let (memory_bytes, stack_pointer) = (self.memory.memory_bytes, self.memory.stack_pointer);
        let written = SuspendedWire { record: self.record.clone(), memory_bytes, stack_pointer, runs, differences };
        let written = SuspendedWireWithLimit { base: written, fuel_limit: self.fuel_limit };
        encode(&written).expect("a suspended call can be encoded")
    }

    /// Parses a suspended call.
    ///
    /// # Errors
    /// `integrity` if the bytes are malformed, `asleep-guest` if the call was suspended with
    /// another guest or engine.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ResumeError> {
        let (written, fuel_limit) = if let Ok(SuspendedWireWithLimit { base: written, fuel_limit }) = decode(bytes) {
            (written, fuel_limit)
        } else {
            let written: SuspendedWire = decode(bytes).map_err(|_| ResumeError::Malformed)?;
            let fuel_limit = written.record.budget.fuel;
            (written, fuel_limit)
        };
        let kept = written.record;
        if (&*kept.guest, &*kept.engine, kept.abi) != (GUEST_DIGEST, ENGINE_VERSION, ABI_VERSION) {
            return Err(ResumeError::GuestMismatch { guest: kept.guest, engine: kept.engine });
        }
        let (runs, mut bytes) = (decode_runs(&written.runs), written.differences);
        let total: usize = written.runs.iter().map(|(_, lines)| *lines as usize * BLOCK_BYTES).sum();
        let end = runs.as_ref().and_then(|runs| runs.last()).map_or(0, |(start, len)| *start as usize + *len as usize);
        let fits = total == bytes.len() && end <= written.memory_bytes && written.memory_bytes <= MAX_MEMORY_BYTES;
        let Some(runs) = runs.filter(|_| fits && kept.fuel_left <= fuel_limit && fuel_limit <= kept.budget.fuel) else {
            return Err(ResumeError::Malformed);
        };
        xor_with_fresh(&runs, &mut bytes);
        let (memory_bytes, stack_pointer) = (written.memory_bytes, written.stack_pointer);
        Ok(Self { record: kept, fuel_limit, memory: MemoryDelta { runs, bytes, memory_bytes, stack_pointer } })
    }
}

/// Decodes runs of blocks into byte ranges. Returns `None` if a range does not fit into 32 bits.
fn decode_runs(runs: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
    let line = u32::try_from(BLOCK_BYTES).ok()?;
    let mut end = 0_u32;
    let placed = runs.iter().map(|(gap, lines)| {
        let start = end.checked_add(gap.checked_mul(line)?)?;
        let len = lines.checked_mul(line)?;
        end = start.checked_add(len)?;
        Some((start, len))
    });
    placed.collect()
}

/// Combines blocks by XOR with those of a fresh instance; the operation is its own inverse.
fn xor_with_fresh(runs: &[(u32, u32)], bytes: &mut [u8]) {
    let places = runs.iter().flat_map(|(start, len)| (*start as usize..(start + len) as usize).step_by(BLOCK_BYTES));
    for (line, at) in bytes.chunks_exact_mut(BLOCK_BYTES).zip(places) {
        for (byte, fresh) in line.iter_mut().zip(fresh_block(at)) {
            *byte ^= fresh;
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

/// A call that has started and not finished.
pub(crate) struct CallInProgress<'a> {
    script: ScriptSource<'a>,
    budget: Budget,
    fuel: CallFuel,
    /// Parameters that were converted inexactly: the path and a message.
    inexact_params: Vec<(String, String)>,
    /// Time that the call ran before it was suspended.
    elapsed_before: Duration,
    /// The instant at which the call started or resumed.
    started: Instant,
}

impl<'a> CallInProgress<'a> {
    /// Describes a call that starts now, with its script evaluated.
    pub(crate) fn new(
        script: ScriptSource<'a>,
        params: &Params,
        budget: &Budget,
        fuel: CallFuel,
        started: Instant,
    ) -> Self {
        let (inexact, before) = (params.inexact().to_vec(), Duration::ZERO);
        Self { script, budget: *budget, fuel, inexact_params: inexact, elapsed_before: before, started }
    }

    /// Builds the report of a finished call, or serialises the state of one that is to be
    /// suspended.
    pub(crate) fn into_status<S>(
        self,
        mut cell: GuestInstance<'_>,
        turn: Result<CallStep<S>, EarlyExit>,
        until: &CallDeadline,
    ) -> Result<SuspendableStatus<S>, CallError> {
        let (outcome, of_result) = match turn {
            Ok(CallStep::Returned(value, warnings)) => (Outcome::Returned(value), warnings),
            Ok(CallStep::Suspends(sleep)) => {
                let memory = cell.memory_delta().map_err(CallError::bug)?;
                return Ok(SuspendableStatus::Suspended(self.suspend(cell, memory, until), sleep));
            }
            Err(end) => (end.into_outcome(&self.script, &self.budget), Vec::new()),
        };
        let CallFuel { limit, load_fuel } = self.fuel;
        let fuel = limit - cell.fuel_left();
        let usage = Usage { fuel, load_fuel, memory: cell.memory_bytes(), ..Usage::default() };
        let mut report = cell.into_state().into_report(outcome, usage, self.started);
        report.usage.duration += self.elapsed_before;
        let of_params = |(path, message)| Warning::new(ValueSide::Params, path, message);
        let warnings = self.inexact_params.into_iter().map(of_params).chain(of_result).collect();
        report.warnings = Warning::fit_to(warnings, self.budget.output.saturating_sub(report.usage.output));
        Ok(SuspendableStatus::Finished(report))
    }

    fn suspend(self, cell: GuestInstance<'_>, memory: MemoryDelta, until: &CallDeadline) -> SuspendedCall {
        let fuel_left = cell.fuel_left();
        let inside = cell.into_state();
        let kept = SuspendedRecord {
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            abi: ABI_VERSION,
            script: script_hash(&self.script),
            budget: self.budget,
            load_fuel: self.fuel.load_fuel,
            fuel_left,
            clock_nanoseconds: inside.clock_nanoseconds,
            time_left: until.instant().saturating_duration_since(Instant::now()),
            elapsed: self.elapsed_before + self.started.elapsed(),
            waited: inside.waited,
            seed: inside.seed,
            console_bytes: inside.console_bytes,
            logs: inside.logs,
            readings: inside.readings,
            inexact_params: self.inexact_params,
        };
        SuspendedCall { record: kept, fuel_limit: self.fuel.limit, memory }
    }
}

impl SuspendedCall {
    /// Returns whether the call was made of this script.
    pub(crate) fn is_of(&self, script: &ScriptSource<'_>) -> bool {
        self.record.script == script_hash(script)
    }

    /// Describes the call, which resumes at `started`.
    pub(crate) fn in_progress<'a>(&self, script: ScriptSource<'a>, started: Instant) -> CallInProgress<'a> {
        let kept = &self.record;
        CallInProgress {
            script,
            budget: kept.budget,
            fuel: CallFuel { limit: self.fuel_limit, load_fuel: kept.load_fuel },
            inexact_params: kept.inexact_params.clone(),
            elapsed_before: kept.elapsed,
            started,
        }
    }

    /// Restores the state of the call into a fresh instance.
    pub(crate) fn restore(
        &self,
        cell: &mut GuestInstance<'_>,
        run: &CallContext<'_>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let kept = &self.record;
        cell.restore(&self.memory)?;
        cell.restore_meters(self.fuel_limit, kept.fuel_left, kept.clock_nanoseconds)?;
        let inside = cell.state();
        let now = u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX);
        inside.clock_nanoseconds += now.saturating_sub(inside.virtual_time(kept.fuel_left));
        inside.seed = kept.seed;
        inside.waited = kept.waited;
        inside.console_bytes = kept.console_bytes;
        inside.logs.clone_from(&kept.logs);
        inside.console_json_bytes = kept.logs.iter().map(LogLine::json_bytes).sum();
        inside.readings.clone_from(&kept.readings);
        inside.is_run_specific = true;
        Ok(())
    }

    /// Returns the report of a call that was stopped before it resumed.
    #[must_use]
    pub fn stopped_report(&self, stop: Stop, started: Instant) -> Report {
        let kept = &self.record;
        let mut report = Report::not_started(stop, started);
        report.logs.clone_from(&kept.logs);
        report.readings.clone_from(&kept.readings);
        let (fuel, load_fuel, memory) = (self.fuel_used(), kept.load_fuel, self.memory.memory_size());
        let (duration, console) = (report.usage.duration + kept.elapsed, kept.console_bytes);
        report.usage = Usage { fuel, load_fuel, memory, duration, waited: kept.waited, output: 0, console };
        report
    }
}

/// Returns the digest that identifies a script.
fn script_hash(script: &ScriptSource<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-12 script of a call that is asleep");
    hasher.update(&(script.name.len() as u64).to_le_bytes()).update(script.name.as_bytes());
    *hasher.update(script.source.as_bytes()).finalize().as_bytes()
}
