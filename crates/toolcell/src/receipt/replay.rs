//! The replay of a run from its receipt alone.
//!
//! Invariant: a replay performs no host calls and records nothing. The tool's host calls are
//! compared with the recorded ones, and get the recorded answers if they are equal.

mod clock;
mod host_calls;

use std::time::Duration;

use serde::Serialize;
use toolcell_analysis::Script;
use toolcell_error::ErrorCode;
use toolcell_host::{
    Budget, CallContext, CancelToken, ENGINE_VERSION, FuelScope, GUEST_DIGEST, OnOverload, Outcome, Params,
    ProfileSlot, Report, Stop,
};
use toolcell_i18n::{Localize, Message, message};

use super::Receipt;
use super::error::{ReceiptError, ReplayError};
use super::format::{HostCallTrace, ReceiptContents, RecordedOutcome, RecordedReading, RecordedResult, TracedWait};
use crate::admission::{CallAuthorization, UngrantedCall};
use crate::execution::Runtime;

use clock::replay_clock;
use host_calls::ReplayHostCalls;

/// The deadline of a replay, which is long enough for the interpreter to repeat a native run.
const REPLAY_DEADLINE: Duration = Duration::from_mins(10);
/// The maximum memory of a call in bytes.
const MAX_MEMORY_BYTES: usize = 1 << 30;
/// The maximum length of an outcome in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// The options of a replay.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The handling of runs of another guest or engine.
    pub version_policy: VersionPolicy,
    /// Cancels the replay from another thread.
    pub cancel: Option<CancelToken>,
}

/// The handling of runs of another guest or engine, whose fuel is metered differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum VersionPolicy {
    /// Refuse it with an error that names the difference.
    #[default]
    Refuse,
    /// Replay it, and add a note.
    Note,
}

/// The result of a replay.
#[derive(Debug, Clone)]
#[must_use = "a run that came out otherwise is in here as well"]
pub struct ReplayResult {
    /// The outcome.
    pub outcome: Outcome,
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// The differences from the receipt.
    pub differences: Vec<ReplayDifference>,
    /// Notes on another guest or engine, if that is not refused.
    pub notes: Vec<Message>,
}

impl ReplayResult {
    /// Returns whether the replay is identical.
    #[must_use]
    pub fn is_reproduced(&self) -> bool {
        self.differences.is_empty()
    }
}

/// A difference between a replay and its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayDifference {
    /// The part: `journal`, `clock`, `outcome`, `logs`, `warnings`, `fuel`, `load-fuel`.
    pub about: &'static str,
    /// The description.
    pub says: Message,
}

/// Replays a run and reports the differences. No host call is performed, and no hook runs. The
/// limits are those of the run, except for a deadline of 10 minutes.
pub(crate) fn replay(
    runtime: &Runtime,
    receipt: &Receipt,
    options: &ReplayOptions,
) -> Result<ReplayResult, ReplayError> {
    replay_profiled(runtime, receipt, options, None).map(|(replayed, _)| replayed)
}

/// Replays a run as [`replay`] does, and returns its report. The profile of its fuel goes to a slot.
pub(crate) fn replay_profiled(
    runtime: &Runtime,
    receipt: &Receipt,
    options: &ReplayOptions,
    profile: Option<&ProfileSlot>,
) -> Result<(ReplayResult, Report), ReplayError> {
    let run = &receipt.document.run;
    let notes = check_versions(run, options.version_policy)?;
    let waits = recorded_waits(run)?;
    let script = run.tool.script()?;
    let limits = run.policy.limits.to_budget(REPLAY_DEADLINE);
    // The script may have been loaded earlier, under larger limits than those of this call.
    let loading = Budget { fuel: limits.fuel.max(run.result.load_fuel), ..limits };
    let replay = |loading| replay_within(runtime, run, (&script, waits), loading, options, profile);
    let mut again = replay(loading)?;
    if again.is_out_of_memory() && again.report.usage.load_fuel != run.result.load_fuel {
        again = replay(Budget { memory: MAX_MEMORY_BYTES, ..loading })?;
    }
    let ReplayAttempt { report, differences } = again;
    let (outcome, usage) = (report.outcome.clone(), &report.usage);
    Ok((ReplayResult { outcome, fuel: usage.fuel, load_fuel: usage.load_fuel, differences, notes }, report))
}

/// Loads the script within these limits, and calls it within its own.
fn replay_within(
    runtime: &Runtime,
    contents: &ReceiptContents,
    (script, waits): (&Script, &[TracedWait]),
    loading: Budget,
    options: &ReplayOptions,
    profile: Option<&ProfileSlot>,
) -> Result<ReplayAttempt, ReplayError> {
    let call_within = |budget| {
        let invalid = |error: &dyn Localize| ReceiptError::Invalid(message!("the parameters: {error}", error));
        let params = Params::parse(contents.parameters.as_str()).map_err(|error| invalid(&error))?;
        let args = runtime.any_schema().check(params).map_err(|error| invalid(&error))?;
        Ok::<_, ReceiptError>(UngrantedCall::new(args, budget))
    };
    let calls = (call_within(loading)?, call_within(contents.policy.limits.to_budget(REPLAY_DEADLINE))?);
    let operations = ReplayHostCalls::new(&contents.policy.visible, waits);
    // Loading a script and calling it each start with the run's first clock reading.
    let clocks = [replay_clock(contents.readings.as_deref()), replay_clock(contents.readings.as_deref())];
    let [evaluating, calling] = clocks.each_ref().map(|clock| CallContext {
        tool: None,
        call_id: &contents.call_id,
        seed: contents.seed,
        started_at: Duration::from_nanos(contents.started_at),
        wall_clock: clock.as_ref(),
        cancel: options.cancel.as_ref(),
        partial_sink: None,
        on_overload: OnOverload::Wait,
        profile: None,
        time_limit: None,
        fuel_scope: FuelScope::LoadingAndCall,
        ..CallContext::default()
    });
    let calling = CallContext { profile, ..calling };
    let authorize = |call| CallAuthorization::Ungranted(call, &operations);
    let (evaluating, calling) = ((authorize(&calls.0), &evaluating), (authorize(&calls.1), &calling));
    let report = runtime.execute_uncached(&contents.tool.name, script, evaluating, calling)?;
    let differences = find_differences(contents, &report, operations.difference());
    Ok(ReplayAttempt { report, differences })
}

/// One attempt at a replay.
struct ReplayAttempt {
    report: Report,
    differences: Vec<ReplayDifference>,
}

impl ReplayAttempt {
    fn is_out_of_memory(&self) -> bool {
        matches!(self.report.outcome, Outcome::Stopped(Stop::OutOfMemory { .. }))
    }
}

/// Refuses or notes a run of another version.
fn check_versions(run: &ReceiptContents, other: VersionPolicy) -> Result<Vec<Message>, ReplayError> {
    let mut notes = Vec::new();
    let mut differs = |error: ReplayError| match other {
        VersionPolicy::Refuse => Err(error),
        VersionPolicy::Note => {
            notes.push(error.localize());
            Ok(())
        }
    };
    if run.guest != GUEST_DIGEST {
        differs(ReplayError::OtherGuest { receipt: run.guest.clone(), here: GUEST_DIGEST.to_owned() })?;
    }
    if run.engine != ENGINE_VERSION {
        differs(ReplayError::OtherEngine { receipt: run.engine.clone(), here: ENGINE_VERSION.to_owned() })?;
    }
    Ok(notes)
}

/// Returns the recorded waits, if the run can be replayed.
fn recorded_waits(run: &ReceiptContents) -> Result<&[TracedWait], ReplayError> {
    if let RecordedOutcome::Stopped { code, .. } = &run.result.outcome
        && is_timing_dependent(code)
    {
        return Err(ReplayError::NotRepeatable { stop: code.clone() });
    }
    match &run.journal {
        HostCallTrace::Waits(waits) => Ok(waits),
        HostCallTrace::Missing(_) => Err(ReplayError::TooLarge),
    }
}

/// Returns whether a stop depends on timing.
fn is_timing_dependent(code: &str) -> bool {
    matches!(ErrorCode::parse(code), Some(ErrorCode::Timeout | ErrorCode::Cancelled))
}

/// Returns the differences, the earliest first.
fn find_differences(run: &ReceiptContents, report: &Report, of_journal: Option<Message>) -> Vec<ReplayDifference> {
    let (then, now) = (&run.result, RecordedResult::from_report(report));
    let mut all: Vec<ReplayDifference> =
        of_journal.map(|says| ReplayDifference { about: "journal", says }).into_iter().collect();
    let mut differs = |about, says: Message| all.push(ReplayDifference { about, says });
    let read: Vec<RecordedReading> = report.readings.iter().map(RecordedReading::from).collect();
    let before = run.readings.as_deref().unwrap_or_default();
    if read != before {
        let first = read.iter().zip(before).take_while(|(one, other)| one == other).count() + 1;
        differs("clock", message!("the clock readings differ from reading {first} on", first));
    }
    if now.outcome != then.outcome {
        differs(
            "outcome",
            message!("it {now}, in the receipt it {then}", now = now.outcome.summary(), then = then.outcome.summary()),
        );
    }
    if now.logs != then.logs {
        let first = first_difference(&now.logs, &then.logs);
        differs("logs", message!("the logs differ from line {first} on", first));
    }
    if now.warnings != then.warnings {
        let first = first_difference(&now.warnings, &then.warnings);
        differs("warnings", message!("the warnings differ from line {first} on", first));
    }
    if now.fuel != then.fuel {
        let (now, then) = (now.fuel, then.fuel);
        differs("fuel", message!("the fuel of the call is {now} units, in the receipt it is {then}", now, then));
    }
    if now.load_fuel != then.load_fuel {
        let (now, then) = (now.load_fuel, then.load_fuel);
        differs(
            "load-fuel",
            message!("the fuel of loading the script is {now} units, in the receipt it is {then}", now, then),
        );
    }
    all
}

/// Returns the number of the first entry that differs, counted from 1.
fn first_difference<T: PartialEq>(now: &[T], then: &[T]) -> usize {
    now.iter().zip(then).take_while(|(one, other)| one == other).count() + 1
}

impl RecordedOutcome {
    /// Returns a truncated description.
    fn summary(&self) -> Message {
        match self {
            Self::Returned(None) => message!("returns nothing"),
            Self::Returned(Some(value)) => message!("returns {value}", value = shortened(value)),
            Self::Threw { name, message, .. } => {
                message!("throws {error}", error = shortened(&format!("{name}: {message}")))
            }
            Self::Stopped { message, .. } => message!("is stopped: {reason}", reason = shortened(message)),
        }
    }
}

/// Returns the start of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
